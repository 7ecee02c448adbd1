import pytest
import torch
import torch.nn.functional as F
from ops import assert_same, check, sample

FLOATS = [torch.float32, torch.bfloat16, torch.float16]
ALL = FLOATS + [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool]

UNARY = """neg abs sign exp expm1 sin cos tanh sigmoid erf floor ceil trunc round relu frac reciprocal isnan
asinh sinh atan square""".split()
POSITIVE = "log log2 log10 log1p sqrt rsqrt lgamma digamma".split()
UNIT = "asin acos atanh erfinv logit".split()


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", UNARY)
def test_unary(name, dtype):
    check(getattr(torch, name), sample(5, 37, dtype=dtype))


@pytest.mark.parametrize("name", POSITIVE)
def test_unary_of_positive_numbers(name):
    check(getattr(torch, name), sample(5, 37, low=0.1, high=4.0), tolerance=dict(rtol=2e-5, atol=1e-5))


@pytest.mark.parametrize("name", UNIT)
def test_unary_of_unit_interval(name):
    check(getattr(torch, name), sample(5, 37, low=0.05, high=0.95), tolerance=dict(rtol=3e-5, atol=1e-5))


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int8, torch.uint8])
@pytest.mark.parametrize("name", ["neg", "abs", "sign", "bitwise_not", "floor", "square"])
def test_unary_of_integers(name, dtype):
    low = 0 if dtype == torch.uint8 else -50
    check(getattr(torch, name), sample(4, 9, dtype=dtype, low=low, high=50))


@pytest.mark.parametrize("dtype", FLOATS + [torch.int64, torch.int32])
@pytest.mark.parametrize("name", ["add", "sub", "mul", "maximum", "minimum"])
def test_binary(name, dtype):
    check(getattr(torch, name), sample(6, 20, dtype=dtype), sample(6, 20, dtype=dtype, seed=1))


@pytest.mark.parametrize(
    "name", ["div", "pow", "atan2", "hypot", "logaddexp", "copysign", "xlogy", "fmod", "remainder", "floor_divide"]
)
def test_binary_floats(name):
    a = (
        sample(6, 20)
        if name in ("div", "atan2", "hypot", "copysign", "logaddexp", "fmod", "remainder", "floor_divide")
        else sample(6, 20, low=0.1)
    )
    check(getattr(torch, name), a, sample(6, 20, seed=1, low=0.2), tolerance=dict(rtol=3e-5, atol=1e-5))


@pytest.mark.parametrize("mode", ["floor", "trunc"])
@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
def test_integer_division_is_exact(mode, dtype):
    a = torch.tensor([7, -7, 7, -7, 2147483647, -2147483647, 123456789, 0, 1, -1], dtype=dtype)
    b = torch.tensor([2, 2, -2, -2, 3, 7, -1000, 5, 2147483647, 2], dtype=dtype)
    check(lambda x, y: torch.div(x, y, rounding_mode=mode), a, b)
    check(torch.remainder, a, b)


@pytest.mark.parametrize("shapes", [((3, 1, 5), (4, 1)), ((5,), (2, 3, 5)), ((), (3, 4)), ((1, 1), (7,))])
def test_broadcasting(shapes):
    check(torch.add, sample(*shapes[0]), sample(*shapes[1], seed=2))
    check(torch.lt, sample(*shapes[0]), sample(*shapes[1], seed=2))


@pytest.mark.parametrize("left", [torch.float32, torch.bfloat16, torch.int64, torch.int32, torch.uint8, torch.bool])
@pytest.mark.parametrize("right", [torch.float32, torch.bfloat16, torch.int64, torch.bool])
def test_type_promotion(left, right):
    a, b = sample(3, 8, dtype=left, low=0, high=9), sample(3, 8, dtype=right, low=0, high=9, seed=3)
    check(torch.add, a, b)
    check(torch.mul, a, b)
    check(torch.eq, a, b)
    check(torch.true_divide, a, b + 1)


@pytest.mark.parametrize("scalar", [2, 0.3, True])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.bool])
def test_python_scalars(dtype, scalar):
    x = sample(3, 8, dtype=dtype)
    check(lambda t: t + scalar, x)
    check(lambda t: t * scalar, x)
    check(lambda t: t == scalar, x)
    check(lambda t: t > scalar, x)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool])
def test_comparisons_and_logic(dtype):
    a, b = sample(4, 10, dtype=dtype), sample(4, 10, dtype=dtype, seed=5)
    for op in (
        torch.eq,
        torch.ne,
        torch.lt,
        torch.le,
        torch.gt,
        torch.ge,
        torch.logical_and,
        torch.logical_or,
        torch.logical_xor,
    ):
        check(op, a, b)
    check(torch.logical_not, a)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8, torch.bool])
def test_bits(dtype):
    a, b = sample(4, 10, dtype=dtype, low=0, high=100), sample(4, 10, dtype=dtype, low=0, high=100, seed=5)
    for op in (torch.bitwise_and, torch.bitwise_or, torch.bitwise_xor):
        check(op, a, b)
    if dtype in (torch.int64, torch.int32):
        check(torch.bitwise_left_shift, a, b % 5)
        check(torch.bitwise_right_shift, a - 50, b % 5)


def test_ternary():
    a, b, c = sample(4, 6), sample(4, 6, seed=1), sample(4, 6, seed=2, low=0.5)
    mask = a > 0
    check(torch.where, mask, a, b)
    check(torch.addcmul, a, b, c, value=0.7)
    check(torch.addcdiv, a, b, c, value=-0.7)
    check(torch.lerp, a, b, 0.25)
    check(torch.lerp, a, b, c)
    check(torch.clamp, a, -1.0, 1.0)
    check(torch.clamp, a, min=0.5)
    check(lambda x, m: x.masked_fill(m, float("-inf")), a, mask)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(
    "function",
    [
        F.silu,
        F.gelu,
        F.relu,
        F.softplus,
        F.mish,
        F.elu,
        F.leaky_relu,
        F.hardswish,
        F.hardsigmoid,
        F.hardtanh,
        F.logsigmoid,
        F.softshrink,
        F.relu6,
        lambda x: F.gelu(x, approximate="tanh"),
        lambda x: F.threshold(x, 0.1, 2.0),
        lambda x: F.glu(x, -1),
    ],
)
def test_activation_and_its_gradient(function, dtype):
    def run(x):
        x = x.detach().requires_grad_()
        y = function(x)
        y.backward(torch.ones_like(y))
        return y.detach(), x.grad

    check(run, sample(6, 20, dtype=dtype), tolerance=None if dtype == torch.bfloat16 else dict(rtol=5e-5, atol=1e-5))


@pytest.mark.parametrize("dtype", ALL)
def test_conversions(dtype):
    for source in ALL:
        check(lambda t: t.to(dtype), sample(4, 11, dtype=source, low=0, high=100))


def test_in_place_writes_through_views():
    def run(x):
        x[:, 1::2].add_(1)
        x.t()[2].mul_(3)
        x[0].copy_(x[1])
        x[:2].zero_()
        return x

    check(run, sample(5, 8))


def test_partial_overlap_is_refused_as_on_the_cpu():
    for device in ("cpu", "neuron"):
        x = sample(6, 3).to(device)
        for run in (lambda: x[1:].add_(x[:-1]), lambda: x.add_(x[0]), lambda: x.expand(2, 6, 3).add_(1)):
            with pytest.raises(RuntimeError, match="single memory location"):
                run()


def test_in_place_where_other_elements_are_still_needed():
    check(lambda x: x.cumsum_(0), sample(6, 3))
    check(lambda x: x.t().cumsum_(0), sample(6, 3))
    check(lambda x: x.tril_(), sample(6, 6))
    check(lambda x: torch.cumsum(x, 0, out=x), sample(6, 3))


def test_in_place_casts_to_self():
    check(lambda a, b: a.mul_(b), sample(3, 4, dtype=torch.bfloat16), sample(3, 4))
    check(lambda a, b: a.add_(b), sample(3, 4, dtype=torch.float32), sample(3, 4, dtype=torch.int64))
    with pytest.raises(RuntimeError, match="can't be cast"):
        sample(3, dtype=torch.int64).to("neuron").add_(0.5)


def test_out_variants():
    a, b = sample(3, 4), sample(3, 4, seed=1)

    def run(x, y):
        out = torch.empty(0, device=x.device)
        torch.add(x, y, out=out)
        strided = torch.zeros(4, 3, device=x.device).t()
        torch.mul(x, y, out=strided)
        return out, strided

    check(run, a, b)


def test_out_is_returned_itself():
    a = sample(3).to("neuron")
    out = torch.empty(3, device="neuron")
    assert torch.neg(a, out=out) is out
    assert a.add_(1) is a


@pytest.mark.parametrize("shape", [(0,), (0, 4), (3, 0)])
def test_empty_tensors(shape):
    check(torch.add, torch.empty(shape), torch.empty(shape))
    check(torch.exp, torch.empty(shape))


def test_zero_dim():
    check(torch.add, torch.tensor(1.5), torch.tensor(2))
    check(lambda x, y: x * y, sample(3, 3), torch.tensor(2.0))


def test_strided_operands():
    x = sample(6, 8)
    check(lambda t: t.t() + t.t().contiguous(), x)
    check(lambda t: t[::2, 1::3] * 2, x)
    check(lambda t: t[:, :1].expand(6, 5) + 1, x)
    assert (x.to("neuron").t() + 1).stride() == (x.t() + 1).stride()


def test_channels_last_result_keeps_its_strides():
    x = sample(2, 3, 4, 5).to(memory_format=torch.channels_last)
    y = x.to("neuron") * 2
    assert y.stride() == (x * 2).stride()
    assert_same(y, x * 2)
