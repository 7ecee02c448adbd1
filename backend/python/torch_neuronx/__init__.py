"""The "neuron" device for PyTorch, and the helpers of TorchNeuron.

`import torch` alone loads the device (entry point `torch.backends`).
"""

import os

# The defaults that the real package sets when it is imported; what the user has set stays.
_ENVIRONMENT = {
    "NEURON_LAUNCH_BLOCKING": "0",
    "TORCH_NEURONX_FALLBACK_ONLY_FOR_UNIMPLEMENTED_OPS": "1",
    "TORCH_NEURONX_MLIR_ATEN_OPS": "1",
    "TORCH_NEURONX_RETAIN_DEVICE_MODE": "0",
    "TORCH_NEURONX_ENABLE_ASYNC_NRT": "1",
    "TORCH_NEURONX_ENABLE_STACK_TRACE": "0",
    "NEURON_RT_ALLOW_LEGACY_NEFF": "1",
    "NEURON_RT_DBG_ZEROCOPY": "1",
}

_loaded = False


def _autoload() -> None:
    """Registers the device. Cheap: no runtime is started, nothing heavy is imported."""
    global _loaded
    if _loaded:
        return
    _loaded = True
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)

    from . import _registration

    _registration.register()


# Imports torch, whose entry point calls _autoload again when this module was the first of the two.
_autoload()

from ._C import clear_op_tracking, executed_ops, fallback_ops  # noqa: E402
from .neuron import (  # noqa: E402
    Event,
    Stream,
    StreamContext,
    get_device_properties,
    memory,
    stream,
    synchronize,
)
from .neuron import is_initialized as is_neuron_runtime_initialized  # noqa: E402
from .neuron.memory import (  # noqa: E402
    empty_cache,
    max_memory_allocated,
    max_memory_reserved,
    memory_allocated,
    memory_reserved,
    memory_stats,
    memory_summary,
    reset_accumulated_memory_stats,
    reset_peak_memory_stats,
)


def get_fallback_ops() -> list[str]:
    """Names of the ops that ran on the host since the last clear_op_tracking()."""
    return sorted(fallback_ops())


def get_executed_ops() -> list[str]:
    """Names of the ops that ran on the device since the last clear_op_tracking()."""
    return sorted(executed_ops())


_LAZY = ("metrics",)


def __getattr__(name: str):
    if name in _LAZY:
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "Event",
    "Stream",
    "StreamContext",
    "clear_op_tracking",
    "empty_cache",
    "executed_ops",
    "fallback_ops",
    "get_device_properties",
    "get_executed_ops",
    "get_fallback_ops",
    "is_neuron_runtime_initialized",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "memory_summary",
    "reset_accumulated_memory_stats",
    "reset_peak_memory_stats",
    "stream",
    "synchronize",
]
