import pytest
import torch

DTYPES = [
    torch.float32,
    torch.bfloat16,
    torch.float16,
    torch.int8,
    torch.uint8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.bool,
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (1,), (7,), (3, 4, 5), (0, 3)])
def test_round_trip_keeps_every_bit(dtype, shape):
    host = torch.randint(0, 2, shape).to(dtype)
    assert torch.equal(host.to("neuron").cpu(), host)


def test_large_round_trip_is_not_staged():
    host = torch.randint(0, 2**31 - 1, (3 << 20,), dtype=torch.int32)
    assert torch.equal(host.neuron().cpu(), host)


@pytest.mark.parametrize(
    "view", [lambda t: t.t(), lambda t: t[1], lambda t: t[:, 2], lambda t: t[1:, ::2], lambda t: t[:1].expand(5, 6)]
)
def test_strided_reads(view):
    host = torch.arange(24.0).reshape(4, 6)
    assert torch.equal(view(host.neuron()).cpu(), view(host))


def test_channels_last_keeps_its_strides():
    host = torch.arange(48.0).reshape(1, 3, 4, 4).to(memory_format=torch.channels_last)
    there = host.to("neuron")
    assert there.stride() == host.stride() and there.is_contiguous(memory_format=torch.channels_last)
    assert torch.equal(there.cpu(), host) and there.cpu().stride() == host.stride()


@pytest.mark.parametrize("target", [torch.bfloat16, torch.int32, torch.float64])
def test_a_host_copy_converts_the_type(target):
    host = torch.arange(-4.0, 4.0)
    assert torch.equal(torch.empty(8, dtype=target, device="neuron").copy_(host).cpu(), host.to(target))
    assert torch.equal(torch.empty(8, dtype=target).copy_(host.neuron()), host.to(target))


def test_broadcast_from_host():
    assert torch.equal(
        torch.empty(2, 3, device="neuron").copy_(torch.tensor([1.0, 2.0, 3.0])).cpu(),
        torch.tensor([[1.0, 2.0, 3.0]] * 2),
    )


def test_source_may_change_after_a_blocking_copy():
    host = torch.ones(64)
    there = host.neuron()
    host.fill_(5)
    assert torch.equal(there.cpu(), torch.ones(64))


def test_pinned_memory():
    host = torch.arange(1000.0).pin_memory()
    assert host.is_pinned() and not torch.empty(3).is_pinned()
    there = host.to("neuron", non_blocking=True)
    back = torch.empty(1000, pin_memory=True)
    back.copy_(there, non_blocking=True)
    torch.neuron.synchronize()
    assert torch.equal(back, host)
    with pytest.raises(RuntimeError, match="pinned"):
        torch.empty(2, device="neuron", pin_memory=True)


def test_pinned_source_may_die_at_once():
    there = torch.full((1 << 16,), 3.0).pin_memory().to("neuron", non_blocking=True)
    for _ in range(4):
        torch.zeros(1 << 16).pin_memory()
    assert torch.equal(there.cpu(), torch.full((1 << 16,), 3.0))


def test_between_devices():
    host = torch.arange(12.0).reshape(3, 4)
    first = host.to("neuron:0")
    assert torch.equal(first.to("neuron:1").cpu(), host)
    assert torch.equal(first.t().to("neuron:2").cpu(), host.t())
    assert torch.empty(3, 4, device="neuron:1").copy_(first).device.index == 1


def test_same_device_copy_is_a_copy():
    there = torch.arange(6.0).neuron()
    clone = there.clone()
    there.copy_(torch.zeros(6))
    assert torch.equal(clone.cpu(), torch.arange(6.0))


def test_into_a_view():
    there = torch.zeros(4, 4).neuron()
    there[1].copy_(torch.arange(4.0))
    assert torch.equal(there.cpu()[1], torch.arange(4.0)) and there.cpu()[0].sum() == 0


def test_overlapping_copy_onto_itself():
    there = torch.arange(4.0).neuron()
    assert there.copy_(there) is there
    assert torch.equal(there.cpu(), torch.arange(4.0))


@pytest.mark.parametrize("value", [1.5, -2, True, 2**40])
def test_item(value):
    host = torch.tensor(value)
    assert host.neuron().item() == value and type(host.neuron().item()) is type(value)


def test_item_of_a_view():
    assert torch.arange(10.0).neuron()[3].item() == 3.0


def test_printing():
    assert repr(torch.tensor([1.0, 2.0]).neuron()) == "tensor([1., 2.], device='neuron:0')"
