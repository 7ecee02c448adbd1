"""Lets safetensors open a file for "neuron" and "neuron:1", which its core refuses; an index it leaves to torch."""

import functools

import torch


def register(safetensors) -> None:
    core = safetensors.safe_open

    @functools.wraps(core, updated=())
    def safe_open(filename, framework, device="cpu", **more):
        return core(filename, framework, _index(device), **more)

    safetensors.safe_open = safe_open


def _index(device):
    if not isinstance(device, str) or device.partition(":")[0] != "neuron":
        return device
    index = torch.device(device).index
    return torch.neuron.current_device() if index is None else index
