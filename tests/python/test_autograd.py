"""Autograd over the device: what torch's engine promises must hold for neuron tensors, with the CPU's values."""

import pytest
import torch
from torch.autograd.functional import hessian, jacobian
from torch.utils.checkpoint import checkpoint


def grads(device: str, function, *inputs: torch.Tensor) -> list[torch.Tensor]:
    leaves = [x.detach().to(device).requires_grad_() for x in inputs]
    return [g.cpu() for g in torch.autograd.grad(function(*leaves), leaves)]


def same_grads(function, *inputs: torch.Tensor) -> None:
    for here, there in zip(grads("cpu", function, *inputs), grads("neuron", function, *inputs), strict=True):
        torch.testing.assert_close(there, here)


A, B = torch.linspace(-1, 1, 12).reshape(3, 4), torch.linspace(2, -2, 12).reshape(4, 3)


def test_gradients_through_shared_and_broadcast_values():
    same_grads(lambda a, b: ((a @ b).tanh() * a.sum() + b.mean(1)[:3]).sum(), A, B)


def test_gradients_accumulate_in_the_leaf():
    x = A.neuron().requires_grad_()
    for _ in range(3):
        (x * x).sum().backward()
    assert x.grad.device.type == "neuron"
    torch.testing.assert_close(x.grad.cpu(), 6 * A)


def test_second_derivatives():
    def f(x):
        return (x**3).sum() + x.prod()

    x = torch.tensor([1.0, 2.0, 3.0])
    torch.testing.assert_close(hessian(f, x.neuron()).cpu(), hessian(f, x))
    torch.testing.assert_close(
        jacobian(lambda v: torch.softmax(v, 0), x.neuron()).cpu(), jacobian(lambda v: torch.softmax(v, 0), x)
    )


def test_forward_mode():
    tangent = torch.ones(3, 4)
    here = torch.func.jvp(torch.sin, (A,), (tangent,))
    there = torch.func.jvp(torch.sin, (A.neuron(),), (tangent.neuron(),))
    for x, y in zip(here, there, strict=True):
        torch.testing.assert_close(y.cpu(), x)


def test_vmap_over_gradients():
    gradient = torch.func.vmap(torch.func.grad(lambda v: (v.exp() * v).sum()))
    torch.testing.assert_close(gradient(A.neuron()).cpu(), gradient(A))


def test_a_write_to_a_saved_tensor_is_noticed():
    x = A.neuron().requires_grad_()
    y = x.exp()
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_hooks_see_device_gradients():
    x, seen = A.neuron().requires_grad_(), []
    y = x * 2
    y.register_hook(lambda g: seen.append(g.device.type) or g * 10)
    y.sum().backward()
    assert seen == ["neuron"]
    torch.testing.assert_close(x.grad.cpu(), torch.full((3, 4), 20.0))


def test_checkpointing_repeats_dropout():
    torch.manual_seed(0)
    x = torch.ones(256).neuron().requires_grad_()
    y = checkpoint(lambda v: torch.nn.functional.dropout(v, 0.5), x, use_reentrant=False)
    y.sum().backward()
    assert torch.equal(x.grad.cpu(), y.detach().cpu())  # the mask of the second run is the first's


def test_a_custom_function_and_no_grad():
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = A.neuron().requires_grad_()
    Double.apply(x).sum().backward()
    torch.testing.assert_close(x.grad.cpu(), torch.full((3, 4), 2.0))
    with torch.no_grad():
        assert not (x * 2).requires_grad


def test_gradients_cross_devices():
    x = A.clone().requires_grad_()
    (x.to("neuron") * 3).sum().backward()
    assert x.grad.device.type == "cpu"
    torch.testing.assert_close(x.grad, torch.full((3, 4), 3.0))


def test_anomaly_mode_names_the_forward_line():
    x = torch.zeros(2).neuron().requires_grad_()
    with (
        pytest.warns(UserWarning, match="Error detected in SqrtBackward0"),
        pytest.raises(RuntimeError, match="nan"),
        torch.autograd.detect_anomaly(check_nan=True),
    ):
        (torch.sqrt(x) * 0).sum().backward()
