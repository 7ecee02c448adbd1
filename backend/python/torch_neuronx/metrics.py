"""torch_neuronx.metrics: counters of what the device did, in the shape of TorchNeuron's module."""

from . import _C

_enabled = True


def is_enabled() -> bool:
    return _enabled


def set_enabled(enabled: bool) -> None:
    """Whether report() prints anything; counting itself is free and always on."""
    global _enabled
    _enabled = bool(enabled)


_baseline: dict[str, float] = {}


def _counters() -> dict[str, float]:
    return {name: value - _baseline.get(name, 0) for name, value in _C.counters().items()}


def get_counter_names() -> list[str]:
    return sorted(_counters())


def get_counter_value(name: str):
    return _counters().get(name)


def get_metric_names() -> list[str]:
    return ["device_ns"]


def get_metric_data(name: str):
    """(samples, sum) of a metric; None if there is no such one."""
    if name not in get_metric_names():
        return None
    counters = _counters()
    return int(counters["launches"]), counters[name]


def clear_counters() -> None:
    _baseline.update(_C.counters())


clear_metrics = clear_counters


def clear_all() -> None:
    clear_counters()
    _C.clear_op_tracking()


def report() -> str:
    return report_filtered()


def report_filtered(names=None) -> str:
    """One line per counter and per op; `names` keeps those that contain one of the given words."""
    if not _enabled:
        return ""
    values = dict(_counters())
    values |= {f"op {name}": count for name, count in _C.executed_ops().items()}
    values |= {f"fallback {name}": count for name, count in _C.fallback_ops().items()}
    kept = [name for name in sorted(values) if not names or any(word in name for word in names)]
    return "".join(f"{name}: {values[name]:g}\n" for name in kept)
