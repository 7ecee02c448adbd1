"""Reductions, products, movement, indexing, normalisation, losses, attention."""

import pytest
import torch
import torch.nn.functional as F
from ops import check, sample

FLOATS = [torch.float32, torch.bfloat16]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("dim", [None, 0, 1, -1, (0, 2)])
@pytest.mark.parametrize("name", ["sum", "mean", "amax", "amin"])
def test_reductions(name, dim, dtype):
    x = sample(4, 7, 33, dtype=dtype)
    kwargs = {} if dim is None else {"dim": dim}
    check(
        getattr(torch, name),
        x,
        **kwargs,
        tolerance=dict(rtol=2e-2, atol=5e-2) if dtype == torch.bfloat16 else dict(rtol=2e-5, atol=2e-5),
    )
    if dim is not None:
        check(
            getattr(torch, name),
            x,
            **kwargs,
            keepdim=True,
            tolerance=dict(rtol=2e-2, atol=5e-2) if dtype == torch.bfloat16 else dict(rtol=2e-5, atol=2e-5),
        )


def test_integer_reductions():
    x = sample(5, 9, dtype=torch.int64, low=-100, high=100)
    for f in (torch.sum, torch.max, torch.min, torch.prod):
        check(f, x % 5)
    check(lambda t: t.sum(0), x)
    check(lambda t: t.max(1), x)
    check(lambda t: t.argmax(), x)
    check(lambda t: t.argmax(-1), x)
    check(lambda t: t.argmin(0, keepdim=True), x)
    check(lambda t: torch.all(t > -1000), x)
    check(lambda t: torch.any(t > 99, dim=1), x)
    check(lambda t: t.cumsum(1), x)
    check(lambda t: (t > 0).cumsum(0), x)
    check(torch.aminmax, x)


def test_float_reductions():
    x = sample(5, 40)
    for f in (torch.var, torch.std, torch.logsumexp):
        check(lambda t: f(t, 1), x)
    check(lambda t: torch.var_mean(t, dim=0, correction=0), x)
    check(lambda t: torch.linalg.vector_norm(t, dim=1), x)
    check(lambda t: torch.linalg.vector_norm(t, 3), x, tolerance=dict(rtol=1e-4))
    check(lambda t: t.cumsum(-1), x, tolerance=dict(rtol=1e-4, atol=1e-5))
    check(lambda t: t.cumprod(0), x)
    check(lambda t: t.cummax(1), x)
    check(lambda t: torch.histc(t, 10, -3, 3), x)
    check(torch.sum, torch.empty(0))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("m,k,n", [(1, 1, 1), (5, 7, 3), (64, 64, 64), (130, 200, 260), (1, 384, 1536)])
def test_mm(m, k, n, dtype):
    loose = dict(rtol=2e-2, atol=3e-1) if dtype == torch.bfloat16 else dict(rtol=1e-5, atol=1e-4)
    check(torch.mm, sample(m, k, dtype=dtype), sample(k, n, dtype=dtype, seed=1), tolerance=loose)
    check(lambda a, b: a @ b.t(), sample(m, k, dtype=dtype), sample(n, k, dtype=dtype, seed=1), tolerance=loose)


def test_products():
    loose = dict(rtol=1e-5, atol=1e-4)
    check(torch.bmm, sample(3, 5, 17), sample(3, 17, 9), tolerance=loose)
    check(torch.addmm, sample(9), sample(5, 17), sample(17, 9), tolerance=loose)
    check(
        lambda c, a, b: torch.addmm(c, a, b, beta=0.5, alpha=2.0),
        sample(5, 9),
        sample(5, 17),
        sample(17, 9),
        tolerance=loose,
    )
    check(torch.baddbmm, sample(3, 5, 9), sample(3, 5, 17), sample(3, 17, 9), tolerance=loose)
    check(torch.mv, sample(5, 17), sample(17), tolerance=loose)
    check(torch.dot, sample(17), sample(17, seed=1), tolerance=loose)
    check(F.linear, sample(2, 3, 17), sample(9, 17), sample(9), tolerance=loose)
    check(torch.matmul, sample(2, 4, 5, 17), sample(2, 4, 17, 6), tolerance=loose)
    check(torch.mm, torch.empty(3, 0), torch.empty(0, 4))


def test_movement():
    x, y = sample(3, 4, 5), sample(3, 2, 5)
    check(lambda a, b: torch.cat([a, b], 1), x, y)
    check(lambda a, b: torch.cat([a, b], dim=0), x, sample(1, 4, 5, dtype=torch.float64).double())
    check(lambda a: torch.stack([a, a + 1], 1), x)
    check(lambda a: a.permute(2, 0, 1).contiguous(), x)
    check(lambda a: a.transpose(0, 2).reshape(-1), x)
    check(lambda a: a.flip(0, 2), x)
    check(lambda a: a.roll(2, 1), x)
    check(lambda a: a.repeat(2, 1, 3), x)
    check(lambda a: a.repeat_interleave(2, dim=1), x)
    check(lambda a: F.pad(a, (1, 2, 0, 3), value=1.5), x)
    check(lambda a: F.pad(a, (-1, 1)), x)
    check(torch.tril, sample(5, 7))
    check(lambda a: torch.triu(a, 1), sample(2, 5, 7))
    check(lambda a: torch.diag_embed(a), sample(2, 5))
    check(lambda a: a.unfold(2, 3, 1).sum(-1), x)
    check(lambda a: a.double().float(), x)
    for mode in ("reflect", "replicate"):
        check(lambda a: F.pad(a, (2, 1), mode=mode), x)


def test_view_gradients():
    def run(x):
        x = x.detach().requires_grad_()
        (x[1:, ::2].sum() + x.select(1, 2).square().sum() + x.t()[3:].sum() * 2).backward()
        return x.grad

    check(run, sample(4, 6))


def test_views_alias():
    x = torch.zeros(4, 4, device="neuron")
    x.view(16)[5] = 1
    x.t()[0, 3] = 2
    x.diagonal().add_(10)
    x.unfold(0, 2, 2)[0, 0, 0] = 7
    want = torch.zeros(4, 4)
    want.view(16)[5] = 1
    want.t()[0, 3] = 2
    want.diagonal().add_(10)
    want.unfold(0, 2, 2)[0, 0, 0] = 7
    assert torch.equal(x.cpu(), want)


def test_indexing():
    x = sample(6, 5, 4)
    i, j = torch.tensor([0, -1, 3]), torch.tensor([[1], [2]])
    check(lambda a, k: a[k], x, i)
    check(lambda a, k: a[:, k], x, i)
    check(lambda a, p, q: a[p, q], x, j, i)
    check(lambda a, p, q: a[p, :, q], x, j, i % 4)
    check(lambda a: a[a > 1], x)
    check(lambda a: a[:, a[0, :, 0] > 0], x)
    check(lambda a, k: a.index_select(1, k), x, torch.tensor([4, 0, 0]))
    check(lambda w, k: F.embedding(k, w), sample(10, 8), torch.tensor([[1, 2], [9, 1]]))
    check(torch.nonzero, torch.tensor([[0, 1, 0], [2, 0, 3]]))
    check(torch.gather, sample(3, 5), 1, torch.tensor([[0, 4], [2, 2], [1, 0]]))
    check(torch.take, sample(3, 5), torch.tensor([0, -1, 7]))
    with pytest.raises(IndexError):
        sample(3).to("neuron")[torch.tensor([True, False], device="neuron")]


def test_index_writes():
    def put(a, k, v):
        a[k] = v
        return a

    check(put, sample(6, 4), torch.tensor([0, 5]), sample(2, 4))
    check(put, sample(6, 4), torch.tensor([0, 5]), 3.0)
    check(lambda a: put(a, a > 0, -1.0), sample(6, 4))
    check(lambda a, k, v: a.index_put((k,), v, accumulate=True), sample(6, 4), torch.tensor([1, 1, 2]), sample(3, 4))
    check(lambda a, k, v: a.index_add(0, k, v), sample(6, 4), torch.tensor([1, 1, 2]), sample(3, 4))
    check(lambda a, k, v: a.index_copy(0, k, v), sample(6, 4), torch.tensor([1, 3]), sample(2, 4))
    check(lambda a, k: a.index_fill(1, k, 2.0), sample(6, 4), torch.tensor([1, 3]))
    check(lambda a, k, v: a.scatter(1, k, v), sample(3, 5), torch.tensor([[0, 4], [2, 1], [1, 0]]), sample(3, 2))
    check(lambda a, k: a.scatter(1, k, 1.0), sample(3, 5), torch.tensor([[0, 4], [2, 1], [1, 0]]))
    check(
        lambda a, k, v: a.scatter_add(0, k, v),
        sample(3, 5),
        torch.tensor([[0, 1, 2, 2, 0], [0, 0, 0, 1, 1]]),
        sample(2, 5),
    )
    check(
        lambda a, k, v: a.scatter_reduce(0, k, v, "amax"),
        sample(3, 5),
        torch.tensor([[0, 1, 2, 2, 0], [0, 0, 0, 1, 1]]),
        sample(2, 5),
    )
    check(lambda a, m, v: a.masked_scatter(m, v), sample(3, 4), sample(3, 4) > 0, sample(12, seed=9))


def test_embedding_gradient():
    def run(w, k):
        w = w.detach().requires_grad_()
        F.embedding(k, w, padding_idx=1).square().sum().backward()
        return w.grad

    check(run, sample(7, 5), torch.tensor([[0, 1, 3], [3, 3, 6]]))


def test_order():
    x = sample(4, 19)
    check(lambda t: t.sort(1), x)
    check(lambda t: t.sort(0, descending=True), x)
    check(lambda t: t.topk(3, dim=1), x)
    check(lambda t: t.topk(2, dim=0, largest=False), x)
    check(torch.argsort, x)
    check(torch.median, x)
    check(lambda t: t.kthvalue(3, 1), x)
    check(torch.bucketize, x, torch.tensor([-1.0, 0.0, 2.0]))
    check(lambda t: torch.unique(t, return_inverse=True, return_counts=True), torch.tensor([3, 1, 3, 2, 1]))
    check(torch.isin, torch.tensor([1, 2, 3]), torch.tensor([2, 9]))
    check(torch.bincount, torch.tensor([1, 0, 3, 1]))


def gradients(function, *tensors):
    leaves = [t.detach().requires_grad_() if t.is_floating_point() else t for t in tensors]
    out = function(*leaves)
    out = out if isinstance(out, torch.Tensor) else out[0]
    out.backward(
        torch.linspace(-1, 1, max(out.numel(), 2), device=out.device)[: out.numel()].reshape(out.shape).to(out.dtype)
    )
    return [out.detach()] + [t.grad for t in leaves if t.is_floating_point()]


LOOSE = dict(rtol=1e-4, atol=2e-5)


def test_normalisation_and_gradients():
    check(
        lambda *t: gradients(lambda x, w, b: F.layer_norm(x, (24,), w, b), *t),
        sample(3, 5, 24),
        sample(24),
        sample(24, seed=1),
        tolerance=LOOSE,
    )
    check(
        lambda *t: gradients(lambda x, w, b: F.group_norm(x, 2, w, b), *t),
        sample(3, 4, 6),
        sample(4),
        sample(4, seed=1),
        tolerance=LOOSE,
    )
    check(
        lambda *t: gradients(lambda x, w: F.rms_norm(x, (24,), w, 1e-6), *t),
        sample(3, 5, 24),
        sample(24),
        tolerance=LOOSE,
    )


def test_batch_norm():
    def run(x, w, b, mean, var):
        mean, var = mean.clone(), var.clone()
        grads = gradients(lambda x, w, b: F.batch_norm(x, mean, var, w, b, training=True), x, w, b)
        return *grads, mean, var, F.batch_norm(x, mean, var, w, b)

    check(run, sample(4, 3, 5, 5), sample(3), sample(3, seed=1), torch.zeros(3), torch.ones(3), tolerance=LOOSE)


@pytest.mark.parametrize("dim", [0, -1])
def test_softmax_and_gradients(dim):
    check(lambda t: gradients(lambda x: F.softmax(x, dim), t), sample(6, 21), tolerance=LOOSE)
    check(lambda t: gradients(lambda x: F.log_softmax(x, dim), t), sample(6, 21), tolerance=LOOSE)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_losses(reduction):
    target = torch.tensor([0, 6, -100, 2])
    check(
        lambda t, y: gradients(lambda x, y: F.cross_entropy(x, y, reduction=reduction), t, y),
        sample(4, 7),
        target,
        tolerance=LOOSE,
    )
    for loss in (F.mse_loss, F.smooth_l1_loss, F.huber_loss, F.l1_loss):
        check(
            lambda a, b: gradients(lambda x, y: loss(x, y, reduction=reduction), a, b),
            sample(4, 7),
            sample(4, 7, seed=1),
            tolerance=LOOSE,
        )
    p, t = sample(4, 7, low=0.1, high=0.9), sample(4, 7, low=0.0, high=1.0)
    check(lambda a, b: gradients(lambda x: F.binary_cross_entropy(x, b, reduction=reduction), a), p, t, tolerance=LOOSE)
    check(
        lambda a, b: gradients(lambda x: F.binary_cross_entropy_with_logits(x, b, reduction=reduction), a),
        sample(4, 7),
        t,
        tolerance=LOOSE,
    )


@pytest.mark.parametrize("kind", ["plain", "mask", "bool", "causal", "gqa", "scale"])
def test_attention_and_gradients(kind):
    q, k, v = sample(2, 4, 6, 8), sample(2, 4, 9, 8, seed=1), sample(2, 4, 9, 8, seed=2)
    kwargs = {}
    extra = []
    if kind == "mask":
        extra = [sample(2, 1, 6, 9)]
    if kind == "bool":
        extra = [sample(2, 1, 6, 9, dtype=torch.bool)]
    if kind == "causal":
        kwargs = {"is_causal": True}
    if kind == "gqa":
        k, v, kwargs = k[:, :2].contiguous(), v[:, :2].contiguous(), {"enable_gqa": True}
    if kind == "scale":
        kwargs = {"scale": 0.3}

    def run(q, k, v, *mask):
        return gradients(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, *mask, **kwargs), q, k, v)

    check(run, q, k, v, *extra, tolerance=LOOSE)


@pytest.mark.parametrize("kwargs", [{}, {"stride": 2, "padding": 1}, {"groups": 2}, {"dilation": 2, "padding": 2}])
def test_convolution(kwargs):
    w = sample(6, 4 // kwargs.get("groups", 1), 3, 3)
    check(
        lambda x, w, b: gradients(lambda x, w, b: F.conv2d(x, w, b, **kwargs), x, w, b),
        sample(2, 4, 9, 8),
        w,
        sample(6),
        tolerance=dict(rtol=1e-4, atol=2e-4),
    )


def test_other_convolutions():
    loose = dict(rtol=1e-4, atol=2e-4)
    check(lambda x, w: gradients(F.conv1d, x, w), sample(2, 3, 11), sample(5, 3, 4), tolerance=loose)
    check(
        lambda x, w: gradients(lambda x, w: F.conv_transpose2d(x, w, stride=2, padding=1, output_padding=1), x, w),
        sample(2, 3, 4, 5),
        sample(3, 5, 3, 3),
        tolerance=loose,
    )
    check(F.conv3d, sample(1, 2, 4, 5, 6), sample(3, 2, 2, 2, 2), tolerance=loose)


def test_images():
    x = sample(2, 3, 6, 8)
    check(lambda t: F.max_pool2d(t, 2, return_indices=True), x)
    check(lambda t: gradients(lambda a: F.max_pool2d(a, 3, 2, 1), t), x)
    check(lambda t: F.avg_pool2d(t, 3, 2, 1), x)
    check(lambda t: gradients(lambda a: F.adaptive_avg_pool2d(a, (2, 3)), t), x)
    check(lambda t: gradients(lambda a: F.interpolate(a, scale_factor=2), t), x)
    check(lambda t: F.interpolate(t, size=(9, 5), mode="bilinear"), x, tolerance=dict(rtol=1e-4, atol=1e-4))


def test_creation():
    for f in (
        lambda d: torch.arange(7, device=d),
        lambda d: torch.arange(1, 3, 0.25, device=d),
        lambda d: torch.arange(5, -5, -2, device=d),
        lambda d: torch.linspace(-1, 1, 11, device=d),
        lambda d: torch.eye(4, 6, device=d),
        lambda d: torch.full((2, 3), 7, device=d),
        lambda d: torch.ones(2, dtype=torch.bfloat16, device=d),
        lambda d: torch.zeros(3, dtype=torch.bool, device=d),
        lambda d: torch.tensor([1, 2, 3], device=d),
        lambda d: torch.scalar_tensor(3.5, device=d),
        lambda d: torch.tril_indices(3, 3, device=d),
    ):
        want, got = f("cpu"), f("neuron")
        assert got.dtype == want.dtype
        torch.testing.assert_close(got.cpu(), want)


def test_random_numbers():
    torch.manual_seed(7)
    a = torch.randn(200, 100, device="neuron")
    u = torch.rand(200, 100, device="neuron")
    torch.manual_seed(7)
    assert torch.equal(a.cpu(), torch.randn(200, 100, device="neuron").cpu())
    assert not torch.equal(a.cpu(), torch.randn(200, 100, device="neuron").cpu())
    a, u = a.cpu(), u.cpu()
    assert abs(a.mean()) < 0.03 and abs(a.std() - 1) < 0.03
    assert u.min() >= 0 and u.max() < 1 and abs(u.mean() - 0.5) < 0.01
    keep = torch.empty(10000, device="neuron").bernoulli_(0.3).cpu()
    assert set(keep.unique().tolist()) == {0, 1} and abs(keep.mean() - 0.3) < 0.03
    assert torch.randperm(50, device="neuron").sort().values.tolist() == list(range(50))
    whole = torch.randint(-3, 4, (1000,), device="neuron").cpu()
    assert whole.min() == -3 and whole.max() == 3
    dropped = F.dropout(torch.ones(10000, device="neuron"), 0.25).cpu()
    assert abs((dropped == 0).float().mean() - 0.25) < 0.03 and abs(dropped.mean() - 1) < 0.03
    picked = torch.multinomial(torch.tensor([[0.0, 0.5, 0.5, 0.0]], device="neuron").expand(500, 4), 1).cpu()
    assert set(picked.unique().tolist()) == {1, 2}
