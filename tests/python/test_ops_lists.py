"""Operators on lists of tensors, and optimizer steps made of them: one Program for the whole list."""

import copy

import pytest
import torch
from ops import check, programs_compiled, sample, to_device


def tensors(seed=0, low=0.5):
    return [sample(3, 4, seed=seed, low=low), sample(5, seed=seed, low=low), sample(2, 1, 3, seed=seed, low=low)]


def in_place(function):
    def run(first, *others):
        first = [t.clone() for t in first]
        function(first, *others)
        return first

    return run


UNARY = "abs ceil cos exp floor log neg reciprocal round rsqrt sigmoid sign sin sqrt tanh trunc zero_".split()


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    function = getattr(torch, f"_foreach_{name}")
    check(in_place(function) if name.endswith("_") else function, tensors())


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "maximum", "minimum", "clamp_min", "pow"])
def test_with_numbers_and_lists(name):
    function, target = getattr(torch, f"_foreach_{name}"), getattr(torch, f"_foreach_{name}_")
    close = dict(rtol=1e-5, atol=1e-5)
    check(function, tensors(), 1.5, tolerance=close)
    check(function, tensors(), tensors(1), tolerance=close)
    check(function, tensors(), [1.5, 1.5, 1.5], tolerance=close)
    check(function, tensors(), [1.5, 2.0, 0.5], tolerance=close)
    check(in_place(target), tensors(), tensors(1), tolerance=close)
    check(in_place(target), tensors(), [0.5, 0.25, 2.0], tolerance=close)


def test_ternary():
    lists = tensors(), tensors(1), tensors(2)
    for name in ("addcmul", "addcdiv"):
        function, target = getattr(torch, f"_foreach_{name}"), getattr(torch, f"_foreach_{name}_")
        check(lambda a, b, c: function(a, b, c, 0.5), *lists)
        check(in_place(lambda a, b, c: target(a, b, c, [0.5, 0.5, 0.5])), *lists)
        check(in_place(lambda a, b, c: target(a, b, c, [0.5, 1.0, -2.0])), *lists)
    check(lambda a, b: torch._foreach_lerp(a, b, 0.25), *lists[:2])
    check(torch._foreach_lerp, *lists)


def test_others():
    check(torch._foreach_norm, tensors())
    check(lambda a: torch._foreach_norm(a, 1), tensors())
    check(lambda a, s: torch._foreach_mul(a, s), tensors(), torch.tensor(3.0))
    check(lambda a: torch._foreach_add(a, a, alpha=2), tensors())
    check(lambda a: torch._foreach_add([t.to(torch.int64) for t in a], 2), tensors())
    with pytest.raises(RuntimeError, match="same number of elements"):
        torch._foreach_add(to_device(tensors()), [1.0])


def test_changed_numbers_reuse_the_program():
    values = to_device(tensors())
    torch._foreach_add(values, [0.5, 0.5, 0.5])
    before = programs_compiled()
    for number in (0.25, 7.0):
        torch._foreach_add(values, [number] * 3)
        torch._foreach_add(values, number)
    assert programs_compiled() == before


OPTIMIZERS = [
    (torch.optim.AdamW, dict(lr=0.1, weight_decay=0.1)),
    (torch.optim.AdamW, dict(lr=0.1, amsgrad=True, maximize=True)),
    (torch.optim.Adam, dict(lr=0.1, weight_decay=0.1)),
    (torch.optim.SGD, dict(lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.1)),
    (torch.optim.SGD, dict(lr=0.1)),
    (torch.optim.SGD, dict(lr=0.1, momentum=0.5, dampening=0.25, maximize=True)),
    (torch.optim.Adagrad, dict(lr=0.1, lr_decay=0.1, weight_decay=0.1)),
]


@pytest.mark.parametrize("way", [{}, {"foreach": True}, {"fused": True}])
@pytest.mark.parametrize("optimizer, settings", OPTIMIZERS)
def test_optimizers(optimizer, settings, way):
    def run(parameters, gradients):
        parameters = [p.clone() for p in parameters]
        step = optimizer(parameters, **settings, **(way if parameters[0].device.type == "neuron" else {}))
        for factor in (1.0, -0.5, 2.0):
            for p, g in zip(parameters, gradients):
                p.grad = g * factor
            step.step()
        return parameters

    check(run, tensors(low=-3), tensors(1, low=-3), tolerance=dict(rtol=1e-4, atol=1e-5))


def test_a_tensor_as_learning_rate():
    def run(parameters, gradients):
        parameters = [p.clone() for p in parameters]
        device = parameters[0].device
        step = torch.optim.AdamW(parameters, lr=torch.tensor(0.1, device=device), fused=device.type == "neuron")
        for p, g in zip(parameters, gradients):
            p.grad = g.clone()
        step.step()
        return parameters

    check(run, tensors(), tensors(1), tolerance=dict(rtol=1e-4, atol=1e-5))


@pytest.mark.parametrize("way", [{"foreach": True}, {"fused": True}])
def test_gradient_scaling_skips_what_is_not_finite(way):
    start = tensors()
    parameters = [torch.nn.Parameter(t.to("neuron")) for t in start]
    step = torch.optim.AdamW(parameters, lr=0.1, **way)
    scaler = torch.amp.GradScaler("neuron", init_scale=8.0, growth_interval=1)
    gradients = tensors(1)
    for p, g in zip(parameters, gradients):
        p.grad = (g * 8).to("neuron")
    parameters[1].grad[2] = float("inf")
    scaler.scale(torch.ones((), device="neuron"))
    scaler.step(step)
    scaler.update()
    for p, t in zip(parameters, start):
        assert torch.equal(p.detach().cpu(), t)
    assert scaler.get_scale() == 4.0
    for p, g in zip(parameters, gradients):
        p.grad = (g * 4).to("neuron")
    scaler.step(step)
    scaler.update()
    assert scaler.get_scale() == 8.0
    want = [torch.nn.Parameter(t.clone()) for t in start]
    for p, g in zip(want, gradients):
        p.grad = copy.deepcopy(g)
    torch.optim.AdamW(want, lr=0.1).step()
    for p, t in zip(parameters, want):
        torch.testing.assert_close(p.detach().cpu(), t.detach(), rtol=1e-4, atol=1e-5)
