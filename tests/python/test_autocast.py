import pytest
import torch


def test_supported_types():
    assert torch.neuron.get_amp_supported_dtype() == [torch.float32, torch.float16, torch.bfloat16]
    assert torch.neuron.amp.get_amp_supported_dtype() == torch.neuron.get_amp_supported_dtype()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_products_run_in_lower_precision(dtype):
    a, b = torch.ones(4, 4).neuron(), torch.ones(4, 4).neuron()
    with torch.autocast("neuron", dtype=dtype):
        assert torch.mm(a, b).dtype == dtype
        assert (a @ b).dtype == dtype
        assert torch.nn.functional.linear(a, b).dtype == dtype
    assert torch.mm(a, b).dtype == torch.float32


def test_reductions_run_in_float32():
    a = torch.ones(4, 4).to("neuron", torch.bfloat16)
    with torch.autocast("neuron", dtype=torch.bfloat16):
        assert torch.nn.functional.softmax(a, -1).dtype == torch.float32
        assert a.exp().dtype == torch.float32
        assert a.sum().dtype == torch.float32


def test_mixed_arguments_take_the_widest():
    a, b = torch.ones(4).neuron(), torch.ones(4).to("neuron", torch.bfloat16)
    with torch.autocast("neuron", dtype=torch.bfloat16):
        assert torch.cat([a, b]).dtype == torch.float32


def test_off_inside():
    a = torch.ones(4, 4).neuron()
    with torch.autocast("neuron"), torch.autocast("neuron", enabled=False):
        assert torch.mm(a, a).dtype == torch.float32
    assert torch.amp.is_autocast_available("neuron")


def test_the_module_spelling():
    a = torch.ones(4, 4).neuron()
    with torch.neuron.amp.autocast():
        assert torch.mm(a, a).dtype == torch.get_autocast_dtype("neuron")
    with torch.neuron.amp.autocast(dtype=torch.bfloat16):
        assert torch.mm(a, a).dtype == torch.bfloat16
    assert torch.neuron.amp.GradScaler(init_scale=4.0).get_scale() == 4.0


def test_unsafe_loss_is_refused():
    a = torch.full((4,), 0.5).neuron()
    with torch.autocast("neuron"), pytest.raises(RuntimeError, match="unsafe to autocast"):
        torch.nn.functional.binary_cross_entropy(a, a)
