import torch

from .. import _C


def _get_device_index(device, optional: bool = False, allow_cpu: bool = False) -> int:
    """The index that `device` (int, str, torch.device or None) means.

    Without one: the current device if `optional`, else an error.
    """
    if isinstance(device, int):
        return device
    if isinstance(device, str):
        device = torch.device(device)
    if isinstance(device, torch.device):
        if allow_cpu and device.type == "cpu":
            return -1
        if device.type != "neuron":
            raise ValueError(f"Expected a neuron device, but got: {device}")
        if device.index is not None:
            return device.index
        device = None
        optional = True
    if device is not None:
        raise TypeError(f"Expected an int, a string or a torch.device, but got: {device!r}")
    if not optional:
        raise ValueError("Expected a neuron device with a specified index, but got None")
    return _C.current_device()
