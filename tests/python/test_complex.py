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


@pytest.mark.parametrize(
    "compute",
    [
        lambda z: torch.cat([z, z.flip(0)], -1),
        lambda z: torch.stack([z, z * z]).sum(0),
        lambda z: z[torch.tensor([0, 3, 3], device=z.device), 1:],
        lambda z: z[:, torch.tensor([True, False] * 3 + [True], device=z.device)],
        lambda z: z.roll(2, 1).tril(1),
        lambda z: torch.nn.functional.pad(z, (1, 2)),
        lambda z: z.gather(1, torch.tensor([[6, 0], [1, 1]], device=z.device)),
        lambda z: z.clone().index_put_((torch.tensor([1, 1], device=z.device),), z[:2], accumulate=True),
        lambda z: z.mean(1) - z.cumsum(1)[:, 2],
        lambda z: torch.where(z.real > 0, z, -z),
        lambda z: z.masked_fill(z.real > 0, 2.0),
        lambda z: z / (z.flip(1) + 1) + z.reciprocal(),
        lambda z: z + z.real - z.imag,
        lambda z: torch.complex(z.abs(), z.angle()),
        lambda z: z.exp() @ z.mT,
        lambda z: z.sgn(),
        lambda z: torch.stack([z == z.flip(0), z != z]),
        lambda z: torch.zeros_like(z).fill_(3.0),
    ],
)
def test_more_like_the_cpu(numbers, compute):
    device, host = numbers
    torch.testing.assert_close(compute(device).cpu(), compute(host), rtol=1e-5, atol=1e-5)


def test_complex_numbers_of_the_host(numbers):
    for compute in (
        lambda z: z * 2j,
        lambda z: 1j + z,
        lambda z: z.real * (1 - 2j),
        lambda z: z / 2j,
        lambda z: z * 0.5,
    ):
        torch.testing.assert_close(compute(numbers[0]).cpu(), compute(numbers[1]))


def test_products_of_conjugated_views(numbers):
    for compute in (
        lambda z: z.mH @ z,
        lambda z: z @ z.conj().T,
        lambda z: torch.bmm(z[None].mH, z[None]),
        lambda z: z.mH.contiguous() @ z.imag.to(z.dtype),
        lambda z: z.conj().resolve_conj() + z.conj().conj_physical(),
    ):
        z = [n.reshape(-1)[:16].reshape(4, 4) for n in numbers]
        torch.testing.assert_close(compute(z[0]).cpu(), compute(z[1]), rtol=1e-5, atol=1e-5)


def test_polar_has_gradients():
    def gradient(device):
        size, turn = (torch.linspace(0.5, 2, 6, device=device, requires_grad=True) for _ in range(2))
        torch.view_as_real(torch.polar(size, turn) * (1 + 2j)).square()[..., 0].sum().backward()
        return size.grad.cpu(), turn.grad.cpu()

    torch.testing.assert_close(gradient("neuron"), gradient("cpu"), rtol=1e-5, atol=1e-5)
