"""What torch._dynamo asks of a device."""

import torch

from . import neuron


class _Worker:
    set_device = staticmethod(neuron.set_device)
    current_device = staticmethod(neuron.current_device)
    get_device_properties = staticmethod(neuron.get_device_properties)


def _set_stream_by_id(stream_id: int, device_index: int, device_type: int) -> None:
    neuron.set_stream(torch.Stream(stream_id=stream_id, device_index=device_index, device_type=device_type))


def _is_dtype_supported(dtype: torch.dtype, including_emulation: bool = False) -> bool:
    return dtype in torch.accelerator.get_device_capability()["supported_dtypes"]


def register(device_interface) -> None:
    """`device_interface` is torch._dynamo.device_interface."""

    class NeuronInterface(device_interface.DeviceInterface):
        device = neuron.device
        Event = neuron.Event
        Stream = neuron.Stream
        Worker = _Worker

        current_device = staticmethod(neuron.current_device)
        set_device = staticmethod(neuron.set_device)
        exchange_device = staticmethod(neuron._exchange_device)
        maybe_exchange_device = staticmethod(neuron._maybe_exchange_device)
        device_count = staticmethod(neuron.device_count)
        is_available = staticmethod(neuron.is_available)
        stream = staticmethod(neuron.stream)
        current_stream = staticmethod(neuron.current_stream)
        set_stream = staticmethod(neuron.set_stream)
        _set_stream_by_id = staticmethod(_set_stream_by_id)
        get_raw_stream = staticmethod(lambda device_index: neuron.current_stream(device_index).stream_id)
        synchronize = staticmethod(neuron.synchronize)
        get_compute_capability = staticmethod(lambda device=None: neuron.get_device_properties(device).name)
        is_bf16_supported = staticmethod(neuron.is_bf16_supported)
        is_dtype_supported = staticmethod(_is_dtype_supported)
        memory_allocated = staticmethod(neuron.memory_allocated)

    device_interface.register_interface_for_device("neuron", NeuronInterface)
    for index in range(neuron.device_count()):
        device_interface.register_interface_for_device(f"neuron:{index}", NeuronInterface)
