"""The allocator's statistics. Each test looks at differences: other tests of the process hold segments."""

import gc
from itertools import pairwise

import pytest
import torch

MIB = 1 << 20


@pytest.fixture(autouse=True)
def clean():
    gc.collect()
    torch.neuron.synchronize()
    torch.neuron.empty_cache()
    torch.neuron.reset_peak_memory_stats()
    torch.neuron.reset_accumulated_memory_stats()


def allocated() -> int:
    return torch.neuron.memory_allocated()


@pytest.mark.parametrize(
    "request_bytes, counted",
    [
        (1, 256),
        (256, 256),
        (257, 512),
        (4096, 4096),
        (4097, 4608),
        (MIB, MIB),
        (MIB + 1, MIB + MIB // 8),
        (16 * MIB + 1, 16 * MIB + 1),
    ],
)
def test_size_classes(request_bytes, counted):
    before = allocated()
    tensor = torch.empty(request_bytes, dtype=torch.uint8, device="neuron")
    assert allocated() - before == counted
    del tensor
    assert allocated() == before


def test_current_peak_allocated_freed():
    before = allocated()
    tensors = [torch.empty(MIB, dtype=torch.uint8, device="neuron") for _ in range(3)]
    del tensors[1:]
    assert allocated() - before == MIB
    assert torch.neuron.max_memory_allocated() - before == 3 * MIB
    stats = torch.neuron.memory_stats()
    assert stats["allocated_bytes"]["allocated"] == 3 * MIB and stats["allocated_bytes"]["freed"] == 2 * MIB
    assert (
        stats["allocated_bytes.large_pool.allocated"] == 3 * MIB and stats["allocated_bytes.small_pool.allocated"] == 0
    )
    assert stats["allocation_requests"] == 3 and stats["num_tensor_frees"] == 2
    torch.neuron.reset_peak_memory_stats()
    assert torch.neuron.max_memory_allocated() - before == MIB


def test_reserved_covers_allocated_covers_active():
    tensors = [torch.empty(n, dtype=torch.uint8, device="neuron") for n in (10, 3 * MIB, 20 * MIB, 100)]
    stats = torch.neuron.memory_stats()
    for key in ("current", "peak"):
        assert stats["reserved_bytes"][key] >= stats["allocated_bytes"][key] >= stats["active_bytes"][key] > 0
    assert len(tensors) == 4


def test_a_freed_block_is_used_again():
    first = torch.empty(3 * MIB, dtype=torch.uint8, device="neuron")
    address, reserved = first.data_ptr(), torch.neuron.memory_reserved()
    del first
    assert torch.neuron.memory_reserved() == reserved
    assert torch.empty(3 * MIB, dtype=torch.uint8, device="neuron").data_ptr() == address


def test_neighbours_join():
    tensors = [torch.empty(8 * MIB, dtype=torch.uint8, device="neuron") for _ in range(4)]
    reserved = torch.neuron.memory_reserved()
    del tensors
    whole = torch.empty(32 * MIB, dtype=torch.uint8, device="neuron")
    assert torch.neuron.memory_reserved() == reserved and whole.numel() == 32 * MIB


def test_empty_cache_returns_segments():
    before = torch.neuron.memory_reserved()
    kept, dropped = (
        torch.empty(20 * MIB, dtype=torch.uint8, device="neuron"),
        torch.empty(40 * MIB, dtype=torch.uint8, device="neuron"),
    )
    del dropped
    torch.neuron.empty_cache()
    assert torch.neuron.memory_reserved() - before == 20 * MIB == kept.numel()
    free, total = torch.accelerator.get_memory_info()
    assert 0 < free < total


def test_zero_bytes_cost_nothing():
    before = torch.neuron.memory_stats()["allocation_requests"]
    assert torch.empty(0, 5, device="neuron").numel() == 0
    assert torch.neuron.memory_stats()["allocation_requests"] == before


def test_out_of_memory_names_what_users_grep_for_and_recovers():
    host = torch.arange(5.0)
    there = host.neuron()
    total = torch.neuron.get_device_properties().total_memory
    cached = torch.empty(64 * MIB, dtype=torch.uint8, device="neuron")
    del cached
    before = torch.neuron.memory_stats()
    with pytest.raises(torch.OutOfMemoryError) as error:
        torch.empty(total + 1, dtype=torch.uint8, device="neuron")
    for words in ("dmem_alloc_internal", "Failed to allocate", "nrt_tensor_allocate status=4", "(OOM)"):
        assert words in str(error.value)
    assert isinstance(error.value, RuntimeError)
    after = torch.neuron.memory_stats()
    assert after["num_ooms"] - before["num_ooms"] == 1 and after["num_alloc_retries"] - before["num_alloc_retries"] == 1
    assert after["reserved_bytes"]["current"] <= before["reserved_bytes"]["current"] - 64 * MIB
    assert torch.equal(there.cpu(), host)


def test_a_flush_makes_room():
    total = torch.accelerator.get_memory_info()[0]
    half = total // 2 + MIB
    first = torch.empty(half, dtype=torch.uint8, device="neuron")
    del first  # its segment stays cached: the next request fits only after a flush
    second = torch.empty(half + MIB, dtype=torch.uint8, device="neuron")
    stats = torch.neuron.memory_stats()
    assert second.numel() == half + MIB and stats["num_alloc_retries"] == 1 and stats["num_ooms"] == 0


def test_per_device():
    there = torch.empty(2 * MIB, dtype=torch.uint8, device="neuron:1")
    assert torch.neuron.memory_allocated(1) >= 2 * MIB == there.numel()
    assert torch.neuron.memory_allocated("neuron:1") == torch.accelerator.memory_allocated(1)


def test_the_same_numbers_through_torch_accelerator():
    tensor = torch.empty(MIB, dtype=torch.uint8, device="neuron")
    assert torch.accelerator.memory_allocated() == allocated() >= tensor.numel()
    assert torch.accelerator.memory_reserved() == torch.neuron.memory_reserved()
    assert torch.accelerator.max_memory_allocated() == torch.neuron.max_memory_allocated()
    assert torch.accelerator.max_memory_reserved() == torch.neuron.max_memory_reserved()
    torch.accelerator.reset_peak_memory_stats()
    torch.accelerator.empty_cache()
    torch.accelerator.empty_host_cache()


def test_snapshot_adds_up():
    tensor = torch.empty(5 * MIB, dtype=torch.uint8, device="neuron")
    segments = [s for s in torch.neuron.memory_snapshot() if s["device"] == 0]
    assert sum(s["total_size"] for s in segments) == torch.neuron.memory_reserved()
    for segment in segments:
        assert sum(b["size"] for b in segment["blocks"]) == segment["total_size"]
        addresses = [b["address"] for b in segment["blocks"]]
        assert addresses == sorted(addresses) and addresses[0] == segment["address"]
    owners = [b for s in segments for b in s["blocks"] if b["address"] == tensor.data_ptr()]
    assert owners[0]["state"] == "active_allocated" and owners[0]["requested_size"] == 5 * MIB


def test_snapshot_file_and_reports(tmp_path):
    import pickle

    torch.neuron.memory._dump_snapshot(str(tmp_path / "snapshot.pickle"))
    with open(tmp_path / "snapshot.pickle", "rb") as file:
        assert set(pickle.load(file)) == {"segments", "device_traces"}
    pools = torch.neuron.memory.fragmentation_report()
    assert [p["pool"] for p in pools] == ["small", "large"] and all(
        p["reserved"] >= p["free"] >= p["largest_free"] for p in pools
    )
    full, short = torch.neuron.memory_summary(), torch.neuron.memory_summary(abbreviated=True)
    assert "large pool" in full and "large pool" not in short and "Allocated memory" in short


def test_record_stream_is_accepted():
    tensor = torch.empty(10, device="neuron")
    tensor.record_stream(torch.neuron.Stream())


def test_pinned_host_cache_reuses_blocks():
    first = torch.empty(5000, dtype=torch.uint8, pin_memory=True)
    address = first.data_ptr()
    del first
    assert torch.empty(6000, dtype=torch.uint8, pin_memory=True).data_ptr() == address


def test_random_requests_never_overlap():
    import random

    choose = random.Random(0)
    live: list[torch.Tensor] = []
    for _ in range(400):
        if live and choose.random() < 0.45:
            live.pop(choose.randrange(len(live)))
        else:
            size = int(2 ** choose.uniform(0, 24.5))
            live.append(torch.empty(size, dtype=torch.uint8, device="neuron"))
    spans = sorted((t.data_ptr(), t.data_ptr() + t.numel()) for t in live)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
    assert all(start % 256 == 0 for start, _ in spans)
    live.clear()
    torch.neuron.empty_cache()
    for segment in torch.neuron.memory_snapshot():  # what is left holds tensors of others, and no two free neighbours
        states = [block["state"] for block in segment["blocks"]]
        assert "active_allocated" in states
        assert all(a != b or a != "inactive" for a, b in pairwise(states))
