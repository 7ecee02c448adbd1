"""Makes "neuron" a device of PyTorch: its name, torch.neuron, generated methods, what other libraries ask for later."""

import sys

import torch


def register() -> None:
    torch.utils.rename_privateuse1_backend("neuron")
    from . import _C, _multiprocessing, _on_import, neuron  # noqa: F401  (_C registers kernels, hooks, guard and allocators)

    torch._register_device_module("neuron", neuron)
    # So that `import torch.neuron.memory` finds this module, not a copy of it.
    for part in ("memory", "random", "streams", "amp"):
        sys.modules[f"torch.neuron.{part}"] = getattr(neuron, part)
    torch.utils.generate_methods_for_privateuse1_backend(for_tensor=True, for_module=True, for_storage=True)

    _on_import.call_after("torch._dynamo.device_interface", _register_dynamo)
    _multiprocessing.register(torch.multiprocessing.reductions)
    _on_import.call_after("torch._dynamo.backends.registry", _register_backend)
    _on_import.call_after("safetensors", _register_safetensors)


def _register_dynamo(device_interface) -> None:
    from . import _dynamo

    _dynamo.register(device_interface)


def _register_backend(registry) -> None:
    from . import _compile

    registry.register_backend(_compile.neuron, name="neuron")
    _compile.make_default(registry)


def _register_safetensors(safetensors) -> None:
    from . import _safetensors

    _safetensors.register(safetensors)
