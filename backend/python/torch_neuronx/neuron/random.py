"""torch.neuron's random numbers: one Philox generator per device. Nothing here starts the runtime."""

import torch

from .. import _C
from ._utils import _get_device_index


def _generator(device) -> torch.Generator:
    return _C.default_generator(_get_device_index(device, optional=True))


def _generators():
    return [_C.default_generator(index) for index in range(_C.device_count())]


def get_rng_state(device="neuron") -> torch.Tensor:
    """The generator's state: a CPU tensor of 16 bytes, seed and offset."""
    return _generator(device).get_state()


def set_rng_state(new_state: torch.Tensor, device="neuron") -> None:
    _generator(device).set_state(new_state.cpu())


def get_rng_state_all() -> list[torch.Tensor]:
    return [generator.get_state() for generator in _generators()]


def set_rng_state_all(new_states) -> None:
    for generator, state in zip(_generators(), new_states, strict=True):
        generator.set_state(state.cpu())


def manual_seed(seed: int) -> None:
    _generator(None).manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    for generator in _generators():
        generator.manual_seed(int(seed))


def seed() -> None:
    """A random seed for the current device."""
    _generator(None).seed()


def seed_all() -> None:
    """The same random seed for every device."""
    if generators := _generators():
        manual_seed_all(generators[0].seed())


def initial_seed() -> int:
    return _generator(None).initial_seed()
