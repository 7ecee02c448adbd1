"""complex64 as rotary embeddings use it: polar, products, lazy conjugates, views as pairs of float32."""

import pytest
import torch


@pytest.fixture
def numbers():
    torch.manual_seed(0)
    angle = torch.randn(5, 7)
    size = angle.abs()
    return torch.polar(size.neuron(), angle.neuron()), torch.polar(size, angle)


@pytest.mark.parametrize(
    "compute",
    [
        lambda z: z,
        lambda z: z * z,
        lambda z: z * 2.5,
        lambda z: z[:, :1] * z.T.contiguous()[:1, :5],
        lambda z: z * torch.view_as_real(z)[..., 0],
        lambda z: z * z.conj(),
        lambda z: z.conj().resolve_conj(),
        lambda z: z.conj().clone(),
        lambda z: z.conj().imag,
        lambda z: (z.conj() * 2.0).real,
        lambda z: torch.view_as_real(z).flatten(1),
        lambda z: torch.view_as_complex(torch.view_as_real(z) + 1),
        lambda z: torch.empty_like(z).conj().copy_(z),
    ],
)
def test_like_the_cpu(numbers, compute):
    device, host = numbers
    torch.testing.assert_close(compute(device).cpu(), compute(host))


def test_gradients_go_through_a_product():
    torch.manual_seed(0)
    x, angle = torch.randn(3, 8), torch.randn(3, 4)

    def gradient(device):
        leaf = x.to(device).requires_grad_()
        turn = torch.polar(torch.ones_like(angle, device=device), angle.to(device))
        turned = torch.view_as_complex(leaf.unflatten(-1, (4, 2))) * turn
        torch.view_as_real(turned).square().sum().backward()
        return leaf.grad.cpu()

    torch.testing.assert_close(gradient("neuron"), gradient("cpu"))


def test_an_operator_that_does_not_take_complex_says_so(numbers):
    with pytest.raises(RuntimeError, match="ComplexFloat is not supported on neuron"):
        torch.softmax(numbers[0], -1)
