"""Tensors that go to another process through torch.multiprocessing."""

import warnings

import torch


def register(reductions) -> None:
    """Extends PyTorch's pickling of storages, which knows CUDA's and the CPU's memory only."""

    def reduce_storage(storage):
        if storage.device.type != "neuron":
            return reductions.reduce_storage(storage)
        warnings.warn(
            "a neuron core and its memory belong to one process: the other process gets a copy of this tensor on a "
            "core of its own, and neither sees what the other writes later",
            stacklevel=2,
        )
        return _rebuild, (storage.cpu(), storage.device.index)

    reductions.reduction.register(torch.UntypedStorage, reduce_storage)


def _rebuild(host: torch.UntypedStorage, index: int) -> torch.UntypedStorage:
    return host.to(device=torch.device("neuron", index))
