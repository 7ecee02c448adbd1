"""Compares an op on the device with the same op on the CPU."""

import copy

import torch
from torch.utils._pytree import tree_map

NEURON = "neuron"
TOLERANCE = {
    torch.float32: dict(rtol=2e-5, atol=2e-6),
    torch.bfloat16: dict(rtol=1.6e-2, atol=1e-2),
    torch.float16: dict(rtol=2e-3, atol=1e-3),
}


def sample(*shape, dtype=torch.float32, low=-3.0, high=3.0, seed=0):
    """Numbers that every test repeats. Integers and booleans come from the same draw."""
    g = torch.Generator().manual_seed(seed + sum(shape))
    x = torch.rand(shape, generator=g) * (high - low) + low
    if dtype == torch.bool:
        return x > (low + high) / 2
    return x.to(dtype)


def to_device(value):
    return tree_map(lambda v: v.to(NEURON) if isinstance(v, torch.Tensor) else v, value)


def assert_same(got, want, **tolerance):
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want)
        for g, w in zip(got, want):
            assert_same(g, w, **tolerance)
        return
    if not isinstance(want, torch.Tensor):
        assert got == want
        return
    assert got.device.type == NEURON
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    limits = TOLERANCE.get(want.dtype, {}) | tolerance
    limits = {"rtol": limits.get("rtol", 0), "atol": limits.get("atol", 0)}
    torch.testing.assert_close(got.cpu(), want, equal_nan=True, **limits)


def check(function, *args, tolerance=None, **kwargs):
    """function(*args) on both devices."""
    want = function(*copy.deepcopy(args), **kwargs)
    got = function(*to_device(args), **to_device(kwargs))
    assert_same(got, want, **(tolerance or {}))


def programs_compiled():
    import torch_neuronx._C as native

    return native.program_statistics()["programs_compiled"] + native.program_statistics()["disk_hits"]
