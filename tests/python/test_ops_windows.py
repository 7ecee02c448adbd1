"""Images read at places, windows, resampling, Fourier transforms, bags of embeddings, special functions."""

import pytest
import torch
import torch.nn.functional as F
from ops import check, sample
from test_ops_tensor import LOOSE, gradients


def on_both(function, *args, tolerance=LOOSE):
    """Values and gradients."""
    check(lambda *t: gradients(function, *t), *args, tolerance=tolerance)


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("corners", [False, True])
def test_grid_sample(mode, padding, corners):
    options = dict(mode=mode, padding_mode=padding, align_corners=corners)
    grid = sample(2, 4, 3, 2, low=-1.7, high=1.6)
    on_both(lambda x, g: F.grid_sample(x, g, **options), sample(2, 3, 5, 7), grid)
    if mode != "bicubic":
        grid = sample(1, 2, 4, 3, 3, low=-1.7, high=1.6)
        on_both(lambda x, g: F.grid_sample(x, g, **options), sample(1, 2, 3, 4, 5), grid)


@pytest.mark.parametrize("size", [(7, 9), (3, 4), (1, 13)])
def test_resampling(size):
    x = sample(2, 3, 5, 6)
    for corners in (False, True):
        on_both(lambda t: F.interpolate(t, size, mode="bicubic", align_corners=corners), x)
        for mode in ("bilinear", "bicubic"):
            on_both(lambda t: F.interpolate(t, size, mode=mode, align_corners=corners, antialias=True), x)
    on_both(lambda t: F.interpolate(t, size[0], mode="nearest-exact"), sample(2, 3, 5))


def test_windows():
    x = sample(2, 3, 7, 8)
    on_both(lambda t: F.adaptive_max_pool2d(t, (3, 5)), x)
    on_both(lambda t: F.adaptive_max_pool3d(t, (2, 3, 3)), sample(2, 4, 5, 6))
    check(lambda t: F.adaptive_max_pool2d(t, (3, 5), return_indices=True), x)
    random = sample(2, 3, 2, low=0, high=1)
    on_both(lambda t: torch.ops.aten.fractional_max_pool2d(t, [2, 3], [4, 3], random.to(t.device)), x)
    on_both(lambda t: F.unfold(t, (2, 3), dilation=2, padding=1, stride=2), x)
    on_both(lambda t: F.fold(t, (5, 6), (2, 3), padding=1, stride=2), sample(2, 18, 9))

    def unpool(t):
        return F.max_unpool2d(*F.max_pool2d(t, 2, return_indices=True), 2)

    check(unpool, sample(2, 3, 8, 8))


@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
@pytest.mark.parametrize("n", [1, 5, 12])
def test_fourier(n, norm):
    x = sample(4, 12)
    for function in (torch.fft.fft, torch.fft.ifft, torch.fft.rfft, torch.fft.ihfft):
        check(
            lambda t: torch.view_as_real(function(t, n, norm=norm).resolve_conj()),
            x,
            tolerance=dict(rtol=1e-4, atol=1e-4),
        )
    z = torch.complex(x, sample(4, 12, seed=1))
    for function in (torch.fft.irfft, torch.fft.hfft):
        check(lambda t: function(t, n, norm=norm), z, tolerance=dict(rtol=1e-4, atol=2e-4))


def test_fourier_of_several_dims_and_gradients():
    loose = dict(rtol=1e-4, atol=2e-4)
    check(lambda t: torch.view_as_real(torch.fft.fft2(t)), sample(3, 6, 5), tolerance=loose)
    check(lambda t: torch.fft.irfft2(torch.fft.rfft2(t), s=t.shape[-2:]), sample(3, 6, 5), tolerance=loose)
    on_both(lambda t: torch.fft.rfft(t).abs(), sample(2, 9), tolerance=loose)
    on_both(lambda t: torch.view_as_real(torch.stft(t, 8, window=torch.ones(8).to(t), return_complex=True)), sample(40))


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_embedding_bag(mode):
    table, indices, offsets = sample(7, 5), torch.tensor([1, 3, 3, 6, 0, 2]), torch.tensor([0, 2, 2, 5])
    on_both(lambda w, i, o: F.embedding_bag(i, w, o, mode=mode), table, indices, offsets)
    on_both(lambda w, i, o: F.embedding_bag(i, w, o, mode=mode, padding_idx=3), table, indices, offsets)
    on_both(lambda w, i: F.embedding_bag(i, w, mode=mode), table, indices.view(2, 3))
    if mode == "sum":
        each = sample(6, seed=3)
        on_both(
            lambda w, s, i, o: F.embedding_bag(i, w, o, mode=mode, per_sample_weights=s), table, each, indices, offsets
        )


def test_whole_numbers():
    a, b = (
        sample(40, dtype=torch.int32, low=-99999, high=99999),
        sample(40, dtype=torch.int32, low=-50, high=50, seed=1),
    )
    check(torch.gcd, a * 6, b * 6)
    check(torch.gcd, torch.tensor([1836311903, 0, 0, -12]), torch.tensor([1134903170, 5, 0, 18]))
    check(torch.lcm, b, b.flip(0))
    check(lambda t: t.to(torch.int8).gcd(t.to(torch.int8).flip(0)), b)


def test_special_functions():
    x = sample(60, low=-6, high=6)
    for function in (torch.i0, torch.special.i0e, torch.special.i1, torch.special.i1e):
        check(function, x, tolerance=dict(rtol=2e-6, atol=2e-6))
    check(torch.special.entr, torch.cat([x, torch.tensor([0.0, float("inf"), float("nan")])]))
    check(lambda t: F.channel_shuffle(t.view(2, 6, 5), 3), x)
    for n in (0, 1, 2, 3):
        check(lambda t: torch.polygamma(n, t), x, tolerance=dict(rtol=2e-4, atol=1e-4))


def test_order():
    x = torch.tensor([[2.0, 1, 2, 1, 5], [float("nan"), 3, 3, -1, 0], [4, 4, 4, 0, 0]])
    check(lambda t: t.mode(1), x[::2])
    check(torch.nanmedian, x)
    check(lambda t: t.nanmedian(1), x)
    check(lambda t: t.nanmedian(0), torch.full((3, 2), float("nan")))
    check(lambda t: t.to(torch.int64).mode(0), sample(9, 4))
    rows = torch.tensor([[1, 2], [0, 5], [1, 2], [0, 1], [1, 2]])
    for dim in (0, 1):
        options = dict(dim=dim, return_inverse=True, return_counts=True)
        check(lambda t: torch.unique(t, **options), rows)
        check(lambda t: torch.unique_consecutive(t, **options), rows)
    check(lambda t: torch.nonzero_static(t, size=4), rows)
    check(lambda t: torch.nonzero_static(t, size=12, fill_value=-7), rows)
    check(lambda t: torch.tril_indices(4, 3, 1, device=t.device), rows)
    check(lambda t: torch.triu_indices(4, 3, -1, device=t.device), rows)


@pytest.mark.parametrize("mode", ["prod", "mean", "amax", "amin"])
@pytest.mark.parametrize("include_self", [True, False])
def test_index_reduce(mode, include_self):
    index = torch.tensor([0, 4, 4, 2])
    check(lambda x, i, s: x.index_reduce(1, i, s, mode, include_self=include_self), sample(3, 5), index, sample(3, 4))


def test_small_movements():
    check(torch.linalg.cross, sample(4, 3), sample(1, 3, seed=1))
    check(lambda a, b: torch.linalg.cross(a, b, dim=0), sample(3, 4), sample(3, 4, seed=1))
    check(lambda x, i: x.scatter(1, i, 2.0, reduce="multiply"), sample(3, 5), torch.tensor([[0, 4], [2, 1], [1, 0]]))
    check(lambda w, i: F.embedding(i, w.clone(), max_norm=1.0), sample(6, 4), torch.tensor([0, 3, 3]))
    on_both(lambda a, b: torch.cdist(a, b), sample(2, 1, 4, 3), sample(3, 5, 3, seed=1))
    x = sample(50)
    check(lambda t: F.rrelu(t, 0.1, 0.3), x)
    noisy = F.rrelu(x.to("neuron"), 0.1, 0.3, training=True).cpu()
    slope = (noisy / x)[x < 0]
    assert torch.equal(noisy[x >= 0], x[x >= 0]) and 0.1 <= slope.min() < slope.max() <= 0.3
    for name, dtype in (("logspace", torch.int64), ("logspace", torch.float32), ("linspace", torch.int32)):
        check(lambda t: getattr(torch, name)(-0.5, 2.3, 7, dtype=dtype, device=t.device), x, tolerance=dict(rtol=1e-5))


def test_extremes_of_int64_stand_for_the_lowest_and_highest():
    x = torch.tensor([[3, -4, 5], [-7, 1, 2]])
    mask = torch.tensor([[True, False, True], [True, True, False]])
    check(lambda t, m: torch.where(m, t, torch.iinfo(t.dtype).min).amax(1), x, mask)
    check(lambda t, m, low: torch.where(m, t, low).amax(0), x, mask, torch.tensor(torch.iinfo(torch.int64).min))
    check(lambda t, m, high: t.masked_fill(~m, high).amin(0), x, mask, torch.tensor(torch.iinfo(torch.int64).max))


def test_rows_without_elements():
    empty = torch.empty(5, 0, 5)
    check(lambda t: torch.unique(t, dim=1, return_inverse=True, return_counts=True), empty)
    with pytest.raises(RuntimeError, match="0 sized dimensions"):
        torch.unique(empty.to("neuron"), dim=0)


def test_a_first_program_without_operands(fresh_python):
    script = "import torch\nx = torch.empty(0, device='neuron')\nprint(torch.linalg.vecdot(x, x).item())"
    assert fresh_python(script).split()[-1] == "0.0"


def attention_parts(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, dropout_p=0.4)


def test_attention_dropout_drops_the_same_in_backward():
    q, k = (sample(2, 4, 6, 8, seed=i).to("neuron") for i in range(2))
    identity = torch.eye(6).expand(2, 4, 6, 6)
    torch.manual_seed(3)
    kept = attention_parts(q, k, identity.to("neuron")).cpu()  # the weights themselves
    full = torch.softmax(q.cpu() @ k.cpu().mT / 8**0.5, -1)
    mask = (kept != 0).float() / 0.6
    torch.testing.assert_close(kept, full * mask, rtol=1e-4, atol=1e-5)
    assert 0.45 < (kept != 0).float().mean() < 0.75

    value = sample(2, 4, 6, 6, seed=5)
    leaves = [t.clone().requires_grad_() for t in (q, k, value.to("neuron"))]
    torch.manual_seed(3)
    attention_parts(*leaves).square().sum().backward()
    wanted = [t.detach().cpu().requires_grad_() for t in leaves]
    weights = torch.softmax(wanted[0] @ wanted[1].mT / 8**0.5, -1) * mask
    (weights @ wanted[2]).square().sum().backward()
    for leaf, want in zip(leaves, wanted):
        torch.testing.assert_close(leaf.grad.cpu(), want.grad, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("shape", [(6, 8), (3, 6, 8), (2, 2, 3, 6, 8)])
def test_attention_of_any_rank(shape):
    on_both(lambda q, k, v: F.scaled_dot_product_attention(q, k, v), *(sample(*shape, seed=i) for i in range(3)))
