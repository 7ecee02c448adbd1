"""Indices and values that an op cannot take: refused at the call where the host knows, else at the next wait."""

import pytest
import torch
import torch.nn.functional as F

NAN, INF = float("nan"), float("inf")


def n(values, **options):
    return torch.tensor(values, **options).neuron()


def table():
    return torch.arange(12.0).reshape(3, 4).neuron()


def write(function):
    x = table()
    function(x)
    return x


OUTSIDE = {
    "index of two dims": lambda: table()[n([0]), n([7])],
    "index below": lambda: table()[n([1]), n([-5])],
    "index of the first dim": lambda: table()[n([3]), n([0])],
    "index far": lambda: table()[n([2**30]), n([0])],
    "index_put_": lambda: write(lambda x: x.index_put_((n([0]), n([4])), n([1.0]))),
    "index_put_ accumulating": lambda: table().index_put((n([0]), n([4])), n([1.0]), accumulate=True),
    "index_select": lambda: table().index_select(1, n([4])),
    "index_select of a 0-dim": lambda: n(3.0).index_select(0, n(1)),
    "index_add": lambda: table().index_add(1, n([4]), torch.ones(3, 1).neuron()),
    "index_copy": lambda: table().index_copy(1, n([-5]), torch.ones(3, 1).neuron()),
    "index_fill": lambda: table().index_fill(1, n([4]), 1.0),
    "gather": lambda: torch.gather(table(), 1, n([[4]])),
    "gather below": lambda: torch.gather(table(), 1, n([[0], [-1]])),
    "gather of rows": lambda: torch.gather(table(), 0, n([[0, 3]])),
    "gather of one dim": lambda: torch.gather(n([1.0, 2.0]), 0, n([2])),
    "scatter_": lambda: write(lambda x: x.scatter_(1, n([[4]]), n([[1.0]]))),
    "scatter_ of a value": lambda: write(lambda x: x.scatter_(1, n([[-1]]), 1.0)),
    "scatter_add": lambda: table().scatter_add(1, n([[4]]), n([[1.0]])),
    "scatter_reduce": lambda: table().scatter_reduce(1, n([[5]]), n([[1.0]]), "amax"),
    "take": lambda: table().take(n([12])),
    "put_": lambda: write(lambda x: x.put_(n([-13]), n([1.0]))),
    "embedding": lambda: F.embedding(n([3]), table()),
    "nll_loss": lambda: F.nll_loss(table(), n([0, 4, 1])),
    "nll_loss, weighted": lambda: F.nll_loss(table(), n([0, -1, 1]), torch.ones(4).neuron()),
    "nll_loss of images": lambda: F.nll_loss(torch.ones(1, 2, 3, 3).neuron(), torch.full((1, 3, 3), 2).neuron()),
    "masked_scatter_": lambda: torch.zeros(3).neuron().masked_scatter_(n([True, True, False]), n([1.0])),
    "masked_scatter_ of nothing": lambda: (
        torch.zeros(3).neuron().masked_scatter_(n([True] * 3), torch.empty(0).neuron())
    ),
    "searchsorted": lambda: torch.searchsorted(n([1.0, 2.0]), n([1.5]), sorter=n([0, 2])),
    "multinomial, negative": lambda: torch.multinomial(n([1.0, -2.0]), 1),
    "multinomial, nan": lambda: torch.multinomial(n([[1.0, 2.0], [1.0, NAN]]), 2),
    "multinomial, inf": lambda: torch.multinomial(n([1.0, INF]), 3, replacement=True),
    "multinomial, nothing": lambda: torch.multinomial(n([0.0, 0.0]), 1),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_an_index_outside_its_dim_is_an_error_of_the_device(name):
    OUTSIDE[name]()
    with pytest.raises(RuntimeError, match="1006"):
        torch.neuron.synchronize()


@pytest.mark.parametrize("far", [2**32, 2**32 + 1, -(2**32), 2**63 - 1, 2**31])
def test_an_index_beyond_32_bits_is_outside_too(far):
    index = torch.tensor([far]).neuron()  # copies keep 64 bits
    for use in (
        lambda: table()[index],
        lambda: table()[n([0]), index],
        lambda: F.embedding(index, table()),
        lambda: table().gather(1, index.reshape(1, 1)),
        lambda: table().index_select(1, index),
        lambda: F.nll_loss(table()[:1], index),
    ):
        use()
        with pytest.raises(RuntimeError, match="1006"):
            torch.neuron.synchronize()


def both(function):
    """The call on both devices, which must raise the same error."""
    with pytest.raises(Exception) as want:
        function("cpu")
    with pytest.raises(type(want.value)) as got:
        function("neuron")
    assert str(want.value).split("\n")[0] in str(got.value)


def on(device, values, **options):
    return torch.tensor(values, **options).to(device)


REFUSED = {
    "randint of nothing": lambda d: torch.randint(5, 5, (2,), device=d),
    "random_ to 0": lambda d: torch.empty(2, device=d).random_(0),
    "random_ past the dtype": lambda d: torch.empty(2, dtype=torch.int8, device=d).random_(0, 300),
    "uniform_": lambda d: torch.empty(2, device=d).uniform_(2, 1),
    "normal_": lambda d: torch.empty(2, device=d).normal_(0, -1),
    "normal": lambda d: torch.normal(on(d, [1.0]), -1.0),
    "exponential_": lambda d: torch.empty(2, device=d).exponential_(-1),
    "geometric_": lambda d: torch.empty(2, device=d).geometric_(1.5),
    "cauchy_": lambda d: torch.empty(2, device=d).cauchy_(0, -1),
    "log_normal_": lambda d: torch.empty(2, device=d).log_normal_(0, -1),
    "bernoulli_": lambda d: torch.empty(2, device=d).bernoulli_(2.0),
    "multinomial of integers": lambda d: torch.multinomial(on(d, [1, 2]), 1),
    "multinomial of no samples": lambda d: torch.multinomial(on(d, [1.0, 2.0]), 0),
    "multinomial of too many": lambda d: torch.multinomial(on(d, [1.0, 2.0]), 3),
    "bucketize": lambda d: torch.bucketize(on(d, [1.0]), on(d, [[1.0]])),
    "searchsorted": lambda d: torch.searchsorted(on(d, [[1.0], [2.0]]), on(d, [[1.0]])),
    "max": lambda d: torch.empty(0, device=d).max(),
    "argmax": lambda d: torch.empty(0, device=d).argmax(),
    "aminmax": lambda d: torch.empty(0, device=d).aminmax(),
    "min.dim": lambda d: torch.empty(0, 7, 0, device=d).min(-1),
    "amax.dim": lambda d: torch.empty(0, 7, 0, device=d).amax(-1),
    "median.dim": lambda d: torch.empty(0, 3, device=d).median(0),
    "kthvalue": lambda d: torch.empty(0, device=d).kthvalue(1),
    "logit_": lambda d: on(d, [1, 2]).logit_(),
    "fill_": lambda d: torch.empty(2, dtype=torch.int8, device=d).fill_(300),
    "fill_ of nan": lambda d: torch.empty(2, dtype=torch.int32, device=d).fill_(NAN),
    "full": lambda d: torch.full((2,), 300, dtype=torch.int8, device=d),
    "masked_fill_": lambda d: on(d, [1, 2], dtype=torch.uint8).masked_fill_(on(d, [True, False]), 300),
    "masked_fill of half": lambda d: on(d, [1.0, 2.0]).half().masked_fill(on(d, [True, False]), -1e9),
    "index_fill_": lambda d: on(d, [1, 2], dtype=torch.int8).index_fill_(0, on(d, [0]), 300),
    "scatter_": lambda d: on(d, [1, 2], dtype=torch.int8).scatter_(0, on(d, [0]), 300),
    "pad": lambda d: F.pad(on(d, [1, 2], dtype=torch.int8), (0, 1), value=300),
    "clamp": lambda d: on(d, [1, 2], dtype=torch.int8).clamp(max=300),
    "// 0": lambda d: on(d, [1, 2]) // 0,
    "// 0 of a 0-dim": lambda d: on(d, [1, 2]) // torch.tensor(0),
    "% 0": lambda d: on(d, [1, 2]) % 0,
    "fmod": lambda d: on(d, [1, 2]).fmod(0),
    "div": lambda d: torch.div(on(d, [1, 2]), 0, rounding_mode="trunc"),
    "bincount": lambda d: torch.bincount(on(d, [1, 2]), on(d, [3.0])),
    "arange": lambda d: torch.arange(0, 4, 0.5, dtype=torch.int64, device=d),
    "mm of two dtypes": lambda d: on(d, [[1.0]]).half() @ on(d, [[1.0]]),
    "mv of two dtypes": lambda d: torch.mv(on(d, [[1.0]]).half(), on(d, [1.0])),
    "addmm of two dtypes": lambda d: torch.addmm(on(d, [[1.0]]), on(d, [[1.0]]).half(), on(d, [[1.0]])),
    "addmm to another dtype": lambda d: torch.addmm(on(d, [[1.0]]).half(), on(d, [[1.0]]), on(d, [[1.0]])),
    "addbmm of two dtypes": lambda d: torch.addbmm(on(d, [[1.0]]), on(d, [[[1.0]]]).half(), on(d, [[[1.0]]])),
    "addr": lambda d: torch.addr(on(d, [[1]]), on(d, [1]), on(d, [2]), alpha=1.5),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_host_knows_is_refused_in_pytorchs_words(name):
    both(REFUSED[name])


def test_convolutions_of_two_dtypes_are_refused():
    x, w = n([[[1.0]]]), n([[[1.0]]])
    with pytest.raises(RuntimeError, match=r"Input type \(Half\) and weight type \(Float\) should be the same"):
        F.conv1d(x.half(), w)
    with pytest.raises(RuntimeError, match=r"Input type \(float\) and bias type \(c10::Half\) should be the same"):
        F.conv1d(x, w, n([1.0]).half())


def test_large_products_of_two_dtypes_are_refused():
    a = torch.empty(2048, 1024, device="neuron")
    with pytest.raises(RuntimeError, match="expected m1 and m2 to have the same dtype"):
        a.half() @ a.t()


def test_the_hosts_generator_is_not_drawn_from():
    torch.manual_seed(3)
    want = torch.rand(4)
    torch.manual_seed(3)
    torch.empty(5, device="neuron").uniform_(0, 1)
    torch.empty(5, device="neuron").normal_(0, 1)
    assert torch.equal(torch.rand(4), want)


def test_true_division_by_zero_is_a_number():
    assert (n([1, -2, 3]) / 0).tolist() == [INF, -INF, INF]
    assert (n([1.0]) // 0).tolist() == [INF]
