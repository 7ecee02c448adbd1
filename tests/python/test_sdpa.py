"""scaled_dot_product_attention: every way to call it, forward and backward, as on the CPU."""

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention as sdpa

HEADS, QUERIES, KEYS, WIDTH = 4, 33, 65, 16
TOLERANCE = {torch.float32: 2e-5, torch.bfloat16: 4e-2, torch.float16: 4e-3}


def qkv(queries=QUERIES, keys=KEYS, key_heads=HEADS, dtype=torch.float32):
    g = torch.Generator().manual_seed(0)
    shapes = [(2, HEADS, queries, WIDTH), (2, key_heads, keys, WIDTH), (2, key_heads, keys, WIDTH)]
    return [torch.randn(shape, generator=g).to(dtype) for shape in shapes]


def run(device: str, tensors, mask, **options) -> list[torch.Tensor]:
    leaves = [x.detach().to(device).requires_grad_() for x in tensors]
    out = sdpa(*leaves, attn_mask=None if mask is None else mask.to(device), **options)
    out.backward(torch.ones_like(out))
    return [x.detach().cpu() for x in (out, *(leaf.grad for leaf in leaves))]


def same(tensors, mask=None, tolerance=2e-5, **options) -> None:
    reference = [x.float() for x in tensors]
    for here, there in zip(
        run("cpu", reference, mask, **options), run("neuron", tensors, mask, **options), strict=True
    ):
        torch.testing.assert_close(there.float(), here, rtol=tolerance, atol=tolerance)


def test_plain_and_scaled():
    same(qkv())
    same(qkv(), scale=0.5)


@pytest.mark.parametrize(("queries", "keys"), [(64, 64), (33, 65), (1, 130)])
def test_causal(queries, keys):
    same(qkv(queries, keys), is_causal=True)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_whole_tiles_of_queries_over_more_keys_than_one_chunk(causal, dtype):
    same(qkv(140, 1100, key_heads=2, dtype=dtype), is_causal=causal, enable_gqa=True, tolerance=TOLERANCE[dtype])


def test_masks_over_whole_tiles_of_queries():
    g = torch.Generator().manual_seed(1)
    keep = torch.rand(2, 1, 140, 150, generator=g) > 0.3
    keep[0, 0, 7] = False  # may see nothing
    same(qkv(140, 150), keep)
    same(qkv(140, 150), torch.randn(140, 150, generator=g))
    same(qkv(140, 150), torch.randn(2, HEADS, 1, 150, generator=g), scale=-0.5)


def test_masks():
    g = torch.Generator().manual_seed(1)
    keep = torch.rand(2, 1, QUERIES, KEYS, generator=g) > 0.3
    same(qkv(), keep)
    same(qkv(), torch.randn(QUERIES, KEYS, generator=g))


def test_a_query_that_may_see_nothing_gives_zeros_as_on_the_cpu():
    keep = torch.ones(QUERIES, KEYS, dtype=torch.bool)
    keep[3] = False
    q, k, v = qkv()
    here, there = sdpa(q, k, v, keep), sdpa(q.neuron(), k.neuron(), v.neuron(), keep.neuron()).cpu()
    torch.testing.assert_close(there, here, rtol=2e-5, atol=2e-5)


def test_grouped_queries():
    same(qkv(key_heads=2), enable_gqa=True)


def test_bfloat16():
    same(qkv(dtype=torch.bfloat16), tolerance=3e-2)


def test_dropout_keeps_the_expectation_and_the_seed():
    q, k, v = (x.neuron() for x in qkv())
    v = torch.ones_like(v)
    torch.manual_seed(3)
    a = sdpa(q, k, v, dropout_p=0.5)
    torch.manual_seed(3)
    assert torch.equal(sdpa(q, k, v, dropout_p=0.5), a)
    assert abs(a.mean().item() - 1) < 0.1  # 264 rows of 65 weights: the mean's deviation is about 0.01


def test_the_math_backend_may_be_asked_for():
    with sdpa_kernel(SDPBackend.MATH):
        same(qkv())
