"""The simulated machine: what it is, what it is asked to do, what it has done."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from trnsim import _C

_MODES = ("function", "time", "both")


def machine() -> dict:
    """instance, lnc, chips, total_cores, visible_cores, hbm_bytes_per_core, spec {name: (value, provenance, source)}.

    Chosen by the environment before the device's first use: TRNSIM_INSTANCE, NEURON_LOGICAL_NC_CONFIG, TRNSIM_SPEC.
    """
    return _C.machine()


@contextmanager
def mode(name: str) -> Iterator[None]:
    """What launches queued in the block do: "function" (results), "time" (time; memory is not touched) or "both"."""
    if name not in _MODES:
        raise ValueError(f"mode must be one of {', '.join(_MODES)}, not {name!r}")
    before = _C.mode()
    _C.set_mode(_MODES.index(name))
    try:
        yield
    finally:
        _C.set_mode(before)


def set_threads(count: int) -> None:
    """Host threads that one large instruction may use; 0: all. No result depends on it."""
    if count < 0:
        raise ValueError("the number of threads is 0 (all) or more")
    _C.set_threads(count)


def counters() -> dict:
    """Counts since the process started: launches, Programs, transfers; with torch loaded also aten_calls,
    programs_compiled, memory_hits, disk_hits, fallbacks (calls), compile_ns."""
    plugin = sys.modules.get("torch_neuronx._C")
    return _C.counters() | (plugin.program_statistics() if plugin else {})
