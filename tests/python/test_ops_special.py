"""Special functions, spacing of floats, losses over alignments and margins, histograms, segments: against the CPU."""

import pytest
import torch
import torch.nn.functional as F
from ops import NEURON, check, sample

NAN, INF = float("nan"), float("inf")
S = torch.special
NEAR_CPU = dict(rtol=5e-5, atol=1e-6)


def near_exact(function, *args, rtol=1e-5, atol=1e-6):
    """The device in float32 against the CPU in float64."""
    got = function(*(a.to(NEURON) for a in args)).cpu()
    want = function(*(a.double() if a.is_floating_point() else a for a in args))
    torch.testing.assert_close(got, want.float(), rtol=rtol, atol=atol, equal_nan=True)


LINE = torch.cat([torch.linspace(-30, 30, 241), torch.tensor([-3.75, -2.0, 1e-4, -0.5, 0.5, 2.0, 2.09, -2.09, 3.0])])


@pytest.mark.parametrize(
    "name", ["bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "spherical_bessel_j0", "airy_ai", "erfcx", "log_ndtr"]
)
def test_functions_of_the_line(name):
    x = LINE[LINE > -9] if name == "erfcx" else LINE
    near_exact(getattr(S, name), x, rtol=1e-5, atol=3e-6)
    check(getattr(S, name), torch.tensor([NAN, 0.0]))


@pytest.mark.parametrize("name", ["modified_bessel_k0", "modified_bessel_k1"])
@pytest.mark.parametrize("scaled", ["", "scaled_"])
def test_modified_bessel_functions_of_the_second_kind(name, scaled):
    near_exact(getattr(S, scaled + name), LINE)
    check(getattr(S, scaled + name), torch.tensor([NAN, 0.0, -1.0, INF]))


def test_quantiles_of_the_normal_distribution():
    near_exact(S.ndtri, torch.tensor([1e-30, 1e-10, 1e-4, 0.0199, 0.02, 0.3, 0.5, 0.7, 0.98, 0.99, 0.9999]))
    check(S.ndtri, torch.tensor([0.0, 1.0, -0.1, 1.1, NAN]))


@pytest.mark.parametrize("function", [torch.igamma, torch.igammac])
def test_incomplete_gamma_functions(function):
    a = torch.tensor([0.1, 0.9, 1.0, 3.5, 12.0, 31.0, 33.0, 80.0, 500.0, 1e4])[:, None]
    x = a * torch.tensor([0.01, 0.5, 0.9, 0.99, 1.0, 1.01, 1.1, 1.5, 3.0])
    near_exact(function, a.expand_as(x).contiguous(), x, rtol=2e-4, atol=2e-6)
    edges = torch.tensor([0.0, 1.0, INF, -1.0, NAN])
    check(function, edges[:, None], edges[None])


def test_zeta():
    near_exact(S.zeta, torch.tensor([1.1, 2.0, 3.5, 20.0])[:, None], torch.tensor([0.3, 1.0, 7.0, 300.0]))
    s, q = torch.tensor([0.5, 1.0, 2.0, 3.0, 2.5, NAN]), torch.tensor([-2.0, -1.5, 0.0, 1.0])
    check(S.zeta, s[:, None], q[None], tolerance=NEAR_CPU)


@pytest.mark.parametrize("kind", "tuvw")
@pytest.mark.parametrize("shifted", ["", "shifted_"])
def test_chebyshev_polynomials(kind, shifted):
    function = getattr(S, f"{shifted}chebyshev_polynomial_{kind}")
    x = torch.tensor([-3.0, -1.5, -1.0, -0.999, -0.3, 0.0, 0.25, 0.5, 0.999, 1.0, 1.001, 2.5])
    n = torch.arange(-1, 10).float()
    near_exact(function, x[:, None], n[None], rtol=3e-5, atol=2e-5)
    check(lambda v: function(v, 4), x, tolerance=dict(rtol=3e-5, atol=2e-5))


@pytest.mark.parametrize(
    "name", ["hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p"]
)
def test_polynomials_by_recurrence(name):
    x, n = torch.tensor([-2.0, -1.0, -0.4, 0.0, 0.7, 1.0, 3.0]), torch.arange(-1, 12).float()
    check(getattr(S, name), x[:, None], n[None], tolerance=dict(rtol=1e-5, atol=1e-4))


FLOATS = torch.tensor([0.0, -0.0, 1.0, -1.0, 3.0, -0.75, 65504.0, 1e-3, 2.0**-14, 2.0**100, -(2.0**-100), INF, -INF])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_frexp(dtype):
    check(torch.frexp, FLOATS.to(dtype))
    assert torch.frexp(torch.tensor([NAN]).to(NEURON)).mantissa.isnan().item()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_nextafter(dtype):
    x = FLOATS[2:].to(dtype)
    exact = dict(rtol=0, atol=0)
    for to in (0.0, INF, -INF, 1.0, NAN):
        check(torch.nextafter, x, torch.full_like(x, to), tolerance=exact)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_margin_losses(reduction):
    x = sample(4, 6)
    label, weight = torch.tensor([2, 0, 5, 2]), sample(6, low=0.1, high=2)

    def gradient(loss):
        def run(v, *rest):
            v = v.detach().requires_grad_()
            y = loss(v, *rest)
            y.backward(torch.ones_like(y) * 0.5)
            return y.detach(), v.grad

        return run

    for p in (1, 2):
        options = dict(p=p, margin=0.7, reduction=reduction)
        check(gradient(lambda v, t, w, o=options: F.multi_margin_loss(v, t, weight=w, **o)), x, label, weight)
        check(gradient(lambda v, t, o=options: F.multi_margin_loss(v, t, **o)), x, label)
    lists = torch.tensor([[1, 3, -1, 0, 0, 0], [-1, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [2, -1, 2, 2, 2, 2]])
    check(gradient(lambda v, t: F.multilabel_margin_loss(v, t, reduction=reduction)), x, lists)
    check(gradient(lambda v, t: F.multilabel_margin_loss(v, t, reduction=reduction)), x[0], lists[0])


@pytest.mark.parametrize("zero_infinity", [False, True])
@pytest.mark.parametrize("joined", [False, True])
def test_ctc_loss(zero_infinity, joined):
    scores = sample(9, 4, 6).log_softmax(2)
    labels = torch.tensor([[1, 1, 2, 3, 0], [2, 3, 4, 5, 1], [5, 1, 0, 0, 0], [3, 3, 3, 3, 1]])
    lengths, steps = [4, 3, 0, 4], [9, 7, 5, 4]  # the last needs 7 steps: no alignment
    targets = torch.cat([row[:n] for row, n in zip(labels, lengths)]) if joined else labels

    def run(x, t):
        x = x.detach().requires_grad_()
        y = F.ctc_loss(x, t, steps, lengths, reduction="none", zero_infinity=zero_infinity)
        return y.detach(), *torch.autograd.grad(y, x, torch.arange(1.0, 5.0).to(y.device))

    check(run, scores, targets, tolerance=dict(rtol=1e-4, atol=1e-5))


def test_histograms():
    x = torch.cat([sample(50), torch.tensor([-1.0, 1.0, 0.5])])
    weight = sample(53, low=0, high=1)
    check(lambda v: tuple(torch.histogram(v, 7)), x)
    check(lambda v, w: tuple(torch.histogram(v, 4, range=(-1.0, 1.0), weight=w, density=True)), x, weight)
    check(lambda v, e: tuple(torch.histogram(v, e)), x, torch.tensor([-2.0, 0.0, 0.5, 1.0]))
    check(lambda v: tuple(torch.histogram(v, 3)), torch.ones(4))

    def both(v, bins, **options):
        hist, edges = torch.histogramdd(v, bins, **options)
        return hist, *edges

    check(lambda v: both(v, [3, 4]), sample(20, 2))
    check(lambda v: both(v, [2, 2], range=[-1.0, 1.0, 0.0, 2.0], density=True), sample(20, 2))


@pytest.mark.parametrize("reduce", ["sum", "mean", "max", "min", "prod"])
@pytest.mark.parametrize("initial", [None, 0.5])
def test_segment_reduce(reduce, initial):
    data = sample(2, 7, 3)
    data[0, 1], data[1, 4:6] = 0, 0
    lengths = torch.tensor([[3, 0, 4], [2, 4, 1]])

    def run(x, n, name, made):
        x = x.detach().requires_grad_()
        y = torch._segment_reduce(x, reduce, **{name: made(n)}, axis=1, unsafe=True, initial=initial)
        return y.detach(), *torch.autograd.grad(y, x, torch.ones_like(y))

    check(lambda x, n: run(x, n, "lengths", lambda v: v), data, lengths)
    check(lambda x, n: run(x, n, "offsets", lambda v: F.pad(v.cumsum(1), (1, 0))), data, lengths)


@pytest.mark.parametrize("p", [0.0, 1.0, 2.0, 3.5, INF])
def test_pdist(p):
    x = sample(5, 4)
    x[3] = x[1]

    def run(v):
        v = v.detach().requires_grad_()
        y = F.pdist(v, p)
        return y.detach(), *torch.autograd.grad(y, v, torch.ones_like(y))

    check(run, x)
    check(lambda v: F.pdist(v, p), x[:1])


def test_no_gradient_is_zeros_of_the_device():
    x = sample(4, 4).requires_grad_()
    y = x.detach().to(NEURON).requires_grad_()
    torch.sgn(y).sum().backward()
    assert y.grad.device.type == NEURON and not y.grad.any()
