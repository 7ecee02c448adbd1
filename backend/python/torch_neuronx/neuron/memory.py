"""torch.neuron.memory: the caching allocator's statistics, snapshots and reports."""

import pickle
from collections import OrderedDict

import torch

from .. import _C
from ._utils import _get_device_index

_BYTES = ("allocated_bytes", "reserved_bytes", "active_bytes")


def empty_cache() -> None:
    """Gives segments that hold no tensor back to the runtime."""
    torch.accelerator.empty_cache()


def memory_stats(device=None) -> dict:
    """Nested (`["allocated_bytes"]["current"]`) and flat (`["allocated_bytes.all.current"]`) keys at once.

    Empty before the first allocation.
    """
    flat = torch.accelerator.memory_stats(_get_device_index(device, optional=True))
    if not flat:
        return OrderedDict()
    stats = OrderedDict(flat)
    for group in _BYTES:
        stats[group] = {key: flat[f"{group}.all.{key}"] for key in ("current", "peak", "allocated", "freed")}
    stats["allocation_requests"] = flat["allocation.all.allocated"]
    stats["num_tensor_frees"] = flat["allocation.all.freed"]
    return stats


def _bytes(group: str, key: str, device) -> int:
    return torch.accelerator.memory_stats(_get_device_index(device, optional=True)).get(f"{group}.all.{key}", 0)


def memory_allocated(device=None) -> int:
    return _bytes("allocated_bytes", "current", device)


def max_memory_allocated(device=None) -> int:
    return _bytes("allocated_bytes", "peak", device)


def memory_reserved(device=None) -> int:
    return _bytes("reserved_bytes", "current", device)


def max_memory_reserved(device=None) -> int:
    return _bytes("reserved_bytes", "peak", device)


def reset_peak_memory_stats(device=None) -> None:
    torch.accelerator.reset_peak_memory_stats(_get_device_index(device, optional=True))


def reset_accumulated_memory_stats(device=None) -> None:
    torch.accelerator.reset_accumulated_memory_stats(_get_device_index(device, optional=True))


def memory_snapshot() -> list[dict]:
    """Every segment with its blocks, in the form that torch.cuda.memory_snapshot() has."""
    return _C.segments()


def _dump_snapshot(filename: str = "dump_snapshot.pickle") -> None:
    """Writes a file for the PyTorch memory visualizer (https://pytorch.org/memory_viz)."""
    with open(filename, "wb") as file:
        pickle.dump({"segments": memory_snapshot(), "device_traces": []}, file)


def fragmentation_report(device=None) -> list[dict]:
    """Per pool: segments, bytes reserved, bytes free, and the largest request that fits without a new segment."""
    index = _get_device_index(device, optional=True)
    report = []
    for pool in ("small", "large"):
        segments = [s for s in memory_snapshot() if s["device"] == index and s["segment_type"] == pool]
        free = [b["size"] for s in segments for b in s["blocks"] if b["state"] == "inactive"]
        reserved = sum(s["total_size"] for s in segments)
        report.append(
            {
                "pool": pool,
                "segments": len(segments),
                "reserved": reserved,
                "free": sum(free),
                "largest_free": max(free, default=0),
            }
        )
    return report


def _human(count: int) -> str:
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            break
        size /= 1024
    return f"{count} B" if unit == "B" else f"{size:.1f} {unit}"


def memory_summary(device=None, abbreviated: bool = False) -> str:
    """A table of the statistics; `abbreviated` leaves the two pools out."""
    index = _get_device_index(device, optional=True)
    stats = torch.accelerator.memory_stats(index)
    groups = [
        ("allocated_bytes", "Allocated memory"),
        ("active_bytes", "Active memory"),
        ("requested_bytes", "Requested memory"),
        ("reserved_bytes", "Reserved memory"),
        ("allocation", "Allocations"),
        ("segment", "Segments"),
    ]
    pools = (
        [("all", "")] if abbreviated else [("all", ""), ("large_pool", "  large pool"), ("small_pool", "  small pool")]
    )
    line = "| {:<18} | {:>11} | {:>11} | {:>11} | {:>11} |"
    rule = "|" + "-" * 74 + "|"
    counters = f"retries {stats.get('num_alloc_retries', 0)}, out of memory {stats.get('num_ooms', 0)}"
    rows = [rule, f"| {f'neuron:{index} memory; {counters}':<72} |", rule]
    rows += [line.format("", "current", "peak", "allocated", "freed"), rule]
    for group, title in groups:
        show = _human if group.endswith("bytes") else str
        for pool, name in pools:
            values = [show(stats.get(f"{group}.{pool}.{key}", 0)) for key in ("current", "peak", "allocated", "freed")]
            rows.append(line.format(name or title, *values))
        rows.append(rule)
    return "\n".join(rows) + "\n"
