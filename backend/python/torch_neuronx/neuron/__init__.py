"""torch.neuron."""

from .. import _C
from . import amp, memory, random, streams
from ._utils import _get_device_index
from .amp import get_amp_supported_dtype
from .memory import (
    empty_cache,
    max_memory_allocated,
    max_memory_reserved,
    memory_allocated,
    memory_reserved,
    memory_snapshot,
    memory_stats,
    memory_summary,
    reset_accumulated_memory_stats,
    reset_peak_memory_stats,
)
from .random import (
    get_rng_state,
    get_rng_state_all,
    initial_seed,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    set_rng_state,
    set_rng_state_all,
)
from .streams import (
    Event,
    Stream,
    StreamContext,
    current_stream,
    default_stream,
    query,
    record_event,
    set_stream,
    stream,
    synchronize,
    wait_event,
    wait_stream,
)


def init() -> None:
    """Starts the Neuron runtime now rather than at the first use of a device."""
    _C.init()


def is_initialized() -> bool:
    return _C.is_initialized()


def _is_in_bad_fork() -> bool:
    return _C.in_bad_fork()


def is_available() -> bool:
    return device_count() > 0


def device_count() -> int:
    """Logical NeuronCores that this process sees. Does not start the runtime."""
    return _C.device_count()


def current_device() -> int:
    return _C.current_device()


def set_device(device) -> None:
    """Makes `device` (an index, a string or a torch.device) this thread's device. Does not start the runtime."""
    index = _get_device_index(device)
    if index >= 0:
        _C.exchange_device(index)


def _exchange_device(device: int) -> int:
    return _C.exchange_device(device) if device >= 0 else -1


_maybe_exchange_device = _exchange_device


class device:
    """Context manager: `with torch.neuron.device(1):`. None or a negative index changes nothing."""

    def __init__(self, device):
        self.idx = _get_device_index(device) if device is not None else -1
        self.prev_idx = -1

    def __enter__(self):
        self.prev_idx = _exchange_device(self.idx)

    def __exit__(self, *exception):
        _exchange_device(self.prev_idx)
        return False


class device_of(device):
    """The device of a tensor, as a context manager; changes nothing for a tensor of another kind of device."""

    def __init__(self, tensor):
        super().__init__(tensor.device if tensor.device.type == "neuron" else None)


class _DeviceProperties:
    """`name` is the chip family, `total_memory` the bytes of HBM of this logical core."""

    def __init__(self, index: int):
        self._index = index
        self.name = _C.device_name()

    @property
    def total_memory(self) -> int:
        return _C.memory_info(self._index)[1]

    def __repr__(self) -> str:
        return f"_NeuronDeviceProperties(name={self.name!r}, total_memory={self.total_memory >> 20}MB)"


def get_device_properties(device=None) -> _DeviceProperties:
    return _DeviceProperties(_C.checked_device(_get_device_index(device, optional=True)))


def get_device_name(device=None) -> str:
    return f"neuron:{_get_device_index(device, optional=True)}"


def get_device_capability(device=None) -> tuple[int, int]:
    """A Neuron core has no compute capability in CUDA's sense."""
    return (0, 0)


def is_bf16_supported(including_emulation: bool = True) -> bool:
    return True


def get_dynamo_metrics() -> list[dict]:
    """One record per graph that torch.compile has given to this device."""
    from .. import _compile

    return _compile.metrics()


def reset_dynamo_metrics() -> None:
    from .. import _compile

    _compile.reset_metrics()


def _sleep(cycles: int) -> None:
    """Nothing: a simulated core has no reason to be kept busy."""


def __getattr__(name: str):
    if name == "default_generators":
        return tuple(_C.default_generator(index) for index in range(device_count()))
    if name == "_initialized":
        return is_initialized()
    raise AttributeError(f"module 'torch.neuron' has no attribute {name!r}")


__all__ = [
    "Event",
    "Stream",
    "StreamContext",
    "amp",
    "current_device",
    "current_stream",
    "default_stream",
    "device",
    "device_count",
    "device_of",
    "empty_cache",
    "get_amp_supported_dtype",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_dynamo_metrics",
    "get_rng_state",
    "get_rng_state_all",
    "init",
    "initial_seed",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory",
    "memory_allocated",
    "memory_reserved",
    "memory_snapshot",
    "memory_stats",
    "memory_summary",
    "query",
    "random",
    "record_event",
    "reset_accumulated_memory_stats",
    "reset_dynamo_metrics",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_device",
    "set_rng_state",
    "set_rng_state_all",
    "set_stream",
    "stream",
    "streams",
    "synchronize",
    "wait_event",
    "wait_stream",
]
