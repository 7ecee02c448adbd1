"""Corners of values: what integers, NaN, infinities, 0-dim tensors and empty tensors give, against the CPU."""

import pytest
import torch
import torch.nn.functional as F
import torch_neuronx
from ops import check, sample

NAN, INF = float("nan"), float("inf")
LOOSE = dict(rtol=1e-4, atol=2e-4)


def t(values, **options):
    return torch.tensor(values, **options)


def test_logcumsumexp_keeps_what_is_far_below_the_largest():
    check(lambda x: x.logcumsumexp(0), t([-200.0, -100.0, 0.0, 100.0, 50.0]))
    check(lambda x: x.logcumsumexp(1), sample(3, 37, low=-90, high=90), tolerance=LOOSE)
    check(lambda x: x.logcumsumexp(0), t([-INF, -INF, 1.0, INF, 2.0]))
    check(lambda x: x.logcumsumexp(0), t([1.0, NAN, 2.0]))


def test_median_and_nan():
    x = t([[1.0, NAN, 0.0, NAN], [3.0, 2.0, 1.0, 0.0]])
    check(lambda v: v.median(1), x)
    check(lambda v: v.median(0), x)
    check(torch.median, x)
    check(torch.median, torch.empty(0))
    check(lambda v: v.median(0), t(3.0))


@pytest.mark.parametrize("name", ["cummax", "cummin"])
def test_running_extremes_and_nan(name):
    check(lambda v: getattr(v, name)(0), t([NAN, 1.0, 2.0, NAN, 3.0]))
    check(lambda v: getattr(v, name)(0), t([2.0, 1.0, 1.0, NAN, 3.0, NAN]))


def test_products_of_integers_take_whole_factors():
    i, v = torch.arange(4).reshape(2, 2), t([3, 4])
    factors = dict(alpha=1.5, beta=2.5)
    check(lambda a, b: torch.addmv(b, a, b, **factors), i, v)
    check(lambda a: torch.addmm(a, a, a, **factors), i)
    check(lambda a: torch.addbmm(a, a[None], a[None], **factors), i)
    check(lambda a: torch.baddbmm(a[None], a[None], a[None], **factors), i)
    check(lambda a, b: torch.addr(a, b, b, alpha=3, beta=2), i, v)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8])
def test_products_of_integers_are_exact(dtype):
    for m, k, n in ((3, 5, 4), (2, 300, 3), (2, 513, 2)):
        limit = 2**15 if dtype in (torch.int64, torch.int32) else torch.iinfo(dtype).max
        a = torch.randint(-limit if dtype.is_signed else 0, limit, (m, k), generator=torch.Generator().manual_seed(1))
        b = torch.randint(-1000, 1000, (k, n), generator=torch.Generator().manual_seed(2))
        a, b = a.to(dtype), b.to(dtype)
        check(torch.mm, a, b)
        check(lambda x, y: x @ y[:, 0], a, b)
        check(lambda x, y: torch.bmm(x[None], y[None]), a, b)
    check(torch.mm, t([[2**24 + 1, -(2**31)]], dtype=torch.int32), t([[1], [3]], dtype=torch.int32))


def test_beta_zero_ignores_what_is_there():
    x, y, nan = t([[1.0]]), t([[2.0]]), t([[NAN]])
    for beta in (0, 0.0):
        check(lambda n, a, b: torch.addmm(n, a, b, beta=beta), nan, x, y)
        check(lambda n, a, b: torch.addr(n, a[0], b[0], beta=beta), nan, x, y)
        check(lambda n, a, b: torch.baddbmm(n[None], a[None], b[None], beta=beta), nan, x, y)


def test_booleans():
    a, b = t([False, True, False]), t([True, True, False])
    for alpha in (False, True):
        check(lambda x, y: torch.add(x, y, alpha=alpha), a, b)
    for mode in ("amax", "amin"):
        for include in (False, True):
            check(lambda x, k, s: x.scatter_reduce(0, k, s, mode, include_self=include), a, t([0, 1, 0]), b)


def test_integer_quotients_at_the_ends():
    low, high = -(2**31), 2**31 - 1
    a = t([low, low, low, low, 5, low, 7, -7, high, high, high, low + 1, 0, 2**24 + 1], dtype=torch.int32)
    b = t([2, 3, 1, high, low, low, low, low, 1, -1, low, 10, low, 3], dtype=torch.int32)
    check(lambda x, y: x // y, a, b)
    check(lambda x, y: x % y, a, b)
    check(lambda x, y: torch.div(x, y, rounding_mode="trunc"), a, b)
    check(lambda x: x // 7, a)


def test_0_dim_operands_take_the_others_dtype_first():
    wide, narrow = t(300, dtype=torch.int32), t([10, 44, 200], dtype=torch.uint8)
    for f in (torch.maximum, torch.minimum, torch.eq, torch.lt, torch.ge, torch.floor_divide, torch.remainder):
        check(f, wide, narrow)
        check(f, narrow, wide)
    for f in (torch.eq, torch.gt, torch.floor_divide, torch.remainder, torch.add, torch.bitwise_or):
        check(lambda x: f(x, 300), narrow)


def test_ranges_of_integers():
    for f in (
        lambda d: torch.arange(1.5, 7.9, 1.5, dtype=torch.int64, device=d),
        lambda d: torch.arange(1.5, 7.9, 1.5, dtype=torch.int32, device=d),
        lambda d: torch.linspace(-5, 5, 7, dtype=torch.int64, device=d),
        lambda d: torch.linspace(-5.7, 5.7, 7, dtype=torch.int32, device=d),
        lambda d: torch.linspace(0, 3, 50, dtype=torch.int64, device=d),
        lambda d: torch.linspace(2.7, 3, 1, dtype=torch.int64, device=d),
        lambda d: torch.linspace(0, 2**30, 5, dtype=torch.int64, device=d),
    ):
        want, got = f("cpu"), f("neuron")
        assert got.dtype == want.dtype and got.tolist() == want.tolist()


def test_heaviside_of_nan():
    check(torch.heaviside, t([NAN, 0.0, -1.0, 2.0]), t(NAN))


def test_composed_ops_keep_their_gradient():
    def run(f, x):
        x = x.detach().requires_grad_()
        f(x).square().sum().backward()
        return x.grad

    for f in (lambda x: +x, torch.positive, torch.conj_physical):
        check(lambda x: run(f, x), sample(3, 4))
    check(lambda x: torch.argsort(x, dim=1, stable=True), sample(3, 9))


def test_masked_scatter_of_nothing():
    check(lambda x, m, s: x.masked_scatter_(m, s), sample(3), t([False] * 3), torch.empty(0))
    check(lambda x, m, s: x.masked_scatter(m, s), sample(4), t([True, False, True, True]), sample(3, seed=2))


def test_transposed_convolution_with_more_output_padding_than_stride():
    def run(x, w, **kwargs):
        x, w = x.detach().requires_grad_(), w.detach().requires_grad_()
        y = F.conv_transpose2d(x, w, **kwargs)
        y.backward(torch.linspace(-1, 1, y.numel(), device=y.device).reshape(y.shape))
        return y.detach(), x.grad, w.grad

    x, w = sample(2, 4, 4, 4), sample(4, 2, 4, 5)
    for kwargs in (
        dict(stride=(3, 2), padding=(1, 2), output_padding=(2, 3), groups=2, dilation=(4, 4)),
        dict(stride=2, padding=3, output_padding=1, dilation=2),
        dict(padding=(3, 4), groups=4),
    ):
        check(lambda a, b: run(a, b, **kwargs), x, w, tolerance=LOOSE)


def test_native_batch_norm_without_statistics():
    for weight in (None, sample(3)):
        check(
            lambda x, w: torch.native_batch_norm(x, w, None, None, None, True, 0.1, 1e-5),
            sample(4, 3, 5),
            weight,
            tolerance=LOOSE,
        )
    with pytest.raises(RuntimeError, match="running statistics"):
        torch.native_batch_norm(sample(4, 3).neuron(), None, None, None, None, False, 0.1, 1e-5)


def test_bincount_weights():
    for weights in (t([3, 4]), t([3.0, 4.0]), t([3.0, 4.0]).half()):
        check(lambda x, w: torch.bincount(x, w), t([1, 2]), weights)


def test_searchsorted_through_a_sorter():
    check(lambda e, v, s: torch.searchsorted(e, v, sorter=s), t([3.0, 1.0, 2.0]), t([1.5, 2.5]), t([1, 2, 0]))


def test_multinomial_draws_only_what_can_be_drawn():
    p = t([0.0, 1.0, 0.0, 3.0, 0.0]).neuron()
    drawn = torch.multinomial(p, 2000, replacement=True).cpu()
    assert set(drawn.unique().tolist()) == {1, 3} and abs((drawn == 3).float().mean() - 0.75) < 0.05
    assert sorted(torch.multinomial(p, 2).tolist()) == [1, 3]


ZERO_DIM = {
    "unfold": lambda x: x.unfold(0, 1, 1),
    "select": lambda x: x[None][0],
    "gather": lambda x: x.gather(0, torch.zeros((), dtype=torch.int64, device=x.device)),
    "scatter": lambda x: x.scatter(0, torch.zeros((), dtype=torch.int64, device=x.device), x * 2),
    "index_select": lambda x: x.index_select(0, torch.zeros(1, dtype=torch.int64, device=x.device)),
    "index_add": lambda x: x.index_add(0, torch.zeros(1, dtype=torch.int64, device=x.device), x * 3),
    "index_fill": lambda x: x.index_fill(0, torch.zeros(1, dtype=torch.int64, device=x.device), 2.0),
    "cumsum": lambda x: x.cumsum(0),
    "cumprod": lambda x: x.cumprod(0),
    "logcumsumexp": lambda x: x.logcumsumexp(0),
    "cummax": lambda x: x.cummax(0)[0],
    "softmax": lambda x: x.softmax(0),
    "log_softmax": lambda x: x.log_softmax(-1),
    "logsumexp": lambda x: x.logsumexp(0),
    "sort": lambda x: x.sort(0)[0],
    "topk": lambda x: x.topk(1)[0],
    "kthvalue": lambda x: x.kthvalue(1)[0],
    "median": lambda x: x.median(0)[0],
    "max": lambda x: x.max(0)[0],
    "var": lambda x: x.var(0, correction=0),
    "prod": lambda x: x.prod(0),
    "norm": lambda x: x.norm(dim=0),
    "flip": lambda x: x.flip(()),
    "roll": lambda x: x.reshape(1).roll(1),
    "diff": lambda x: x.expand(3).diff(),
    "take": lambda x: x.take(torch.zeros(2, dtype=torch.int64, device=x.device)),
    "repeat": lambda x: x.repeat(2, 3),
    "masked_fill": lambda x: x.masked_fill(x > 100, 1.0),
    "index": lambda x: x[x > -100],
    "stack": lambda x: torch.stack([x, x]),
    "var_mean": lambda x: torch.var_mean(x.expand(2))[1],
    "glu": lambda x: F.glu(x.expand(2)),
    "softplus": lambda x: F.softplus(x),
}


@pytest.mark.parametrize("name", ZERO_DIM)
def test_0_dim_tensors_and_their_gradients(name):
    def run(x):
        x = x.detach().requires_grad_()
        y = ZERO_DIM[name](x)
        y.sum().backward()
        return y.detach(), x.grad

    check(run, torch.tensor(1.75), tolerance=LOOSE)


def gradients(function, *tensors):
    leaves = [x.detach().requires_grad_() for x in tensors]
    out = function(*leaves)
    out.backward(torch.linspace(-1, 1, out.numel(), device=out.device).reshape(out.shape))
    return [out.detach()] + [x.grad for x in leaves]


IMAGES = {
    "avg_pool2d": lambda x: F.avg_pool2d(x, 3, 2, 1),
    "avg_pool2d, ceil": lambda x: F.avg_pool2d(x, (3, 2), (2, 3), ceil_mode=True, count_include_pad=False),
    "avg_pool2d, divisor": lambda x: F.avg_pool2d(x, 2, 1, divisor_override=3),
    "avg_pool2d, mostly padding": lambda x: F.avg_pool2d(x[..., :1], (3, 5), 1, (1, 2)),
    "avg_pool3d": lambda x: F.avg_pool3d(x, 2, 2, 1),
    "max_pool3d": lambda x: F.max_pool3d(x, 2, 1, 1),
    "adaptive_avg_pool3d": lambda x: F.adaptive_avg_pool3d(x, (2, 3, 1)),
    "linear": lambda x: F.interpolate(x[0], size=11, mode="linear"),
    "bilinear, up": lambda x: F.interpolate(x, size=(9, 5), mode="bilinear"),
    "bilinear, down": lambda x: F.interpolate(x, size=(3, 3), mode="bilinear", align_corners=True),
    "bilinear, scaled": lambda x: F.interpolate(x, scale_factor=1.7, mode="bilinear"),
}


@pytest.mark.parametrize("name", IMAGES)
def test_images_and_their_gradients_run_on_the_device(name):
    torch_neuronx.clear_op_tracking()
    check(lambda x: gradients(IMAGES[name], x), sample(2, 3, 6, 8), tolerance=LOOSE)
    assert torch_neuronx.get_fallback_ops() == []


@pytest.mark.parametrize("p", [0.5, 1.0, 2.0, 3.0, INF])
def test_distances(p):
    torch_neuronx.clear_op_tracking()
    check(
        lambda x, y: gradients(lambda a, b: torch.cdist(a, b, p), x, y),
        sample(5, 3),
        sample(4, 3, seed=5),
        tolerance=LOOSE,
    )
    check(lambda x, y: torch.cdist(x, y, p), sample(2, 5, 3), sample(2, 4, 3, seed=5), tolerance=LOOSE)
    assert torch_neuronx.get_fallback_ops() == []
