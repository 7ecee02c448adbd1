"""Sparse COO tensors on the device, against the CPU."""

import pytest
import torch
from ops import NEURON, TOLERANCE

INDICES = torch.tensor([[3, 0, 3, 1], [2, 4, 2, 0]])  # [3, 2] twice


def matrix(device, dtype=torch.float32, seed=0):
    values = torch.randn(4, generator=torch.Generator().manual_seed(seed)).to(dtype)
    return torch.sparse_coo_tensor(INDICES.to(device), values.to(device), (5, 6))


def dense(device, *shape, seed=1):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(device)


def same(function, **tolerance):
    """function(device) on both devices: dense, and sparse where the CPU's is."""
    want, got = function("cpu"), function(NEURON)
    assert got.device.type == NEURON and got.layout == want.layout and got.dtype == want.dtype
    assert got.shape == want.shape
    if want.is_sparse:
        assert got.is_coalesced() == want.is_coalesced() and got._nnz() == want._nnz()
        torch.testing.assert_close(got._indices().cpu(), want._indices())
        got, want = got._values(), want._values()
    limits = TOLERANCE.get(want.dtype, dict(rtol=0, atol=0)) | tolerance
    torch.testing.assert_close(got.cpu(), want, **limits)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64])
def test_made_moved_and_made_dense(dtype):
    same(lambda d: matrix(d, dtype))
    same(lambda d: matrix(d, dtype).to_dense())
    same(lambda d: matrix("cpu", dtype).to(d).coalesce())
    assert matrix(NEURON, dtype).cpu().to_dense().equal(matrix("cpu", dtype).to_dense())
    assert torch.empty(2, 3, layout=torch.sparse_coo, device=NEURON)._nnz() == 0


def test_coalesce_orders_indices_and_adds_what_meets():
    same(lambda d: matrix(d).coalesce())
    same(lambda d: matrix(d).coalesce().indices())
    with pytest.raises(RuntimeError, match="uncoalesced"):
        matrix(NEURON).indices()
    three = torch.tensor([[1, 0, 1, 1], [0, 2, 0, 1], [4, 3, 4, 0]])
    same(lambda d: torch.sparse_coo_tensor(three.to(d), dense(d, 4, 2), (2, 3, 5, 2)).coalesce())
    same(
        lambda d: torch.sparse_coo_tensor(torch.zeros(2, 0, dtype=torch.long, device=d), dense(d, 0), (2, 3)).coalesce()
    )


def test_sums():
    same(lambda d: (matrix(d) + matrix(d, seed=2)).coalesce())
    same(lambda d: (matrix(d) - matrix(d, seed=2)).coalesce())
    same(lambda d: dense(d, 5, 6) + matrix(d))
    same(lambda d: dense(d, 5, 6).sub(matrix(d), alpha=0.5))
    same(lambda d: dense(d, 5, 6).add_(matrix(d), alpha=-2))
    same(lambda d: matrix(d).add_(matrix(d, seed=2)).to_dense())


def test_numbers_scale_values():
    same(lambda d: matrix(d) * 3)
    same(lambda d: matrix(d).mul_(0.5))
    same(lambda d: matrix(d).coalesce() / 4)
    same(lambda d: -matrix(d))
    with pytest.raises(RuntimeError, match="takes a number"):
        matrix(NEURON) * dense(NEURON, 5, 6)


def test_products():
    same(lambda d: torch.sparse.mm(matrix(d), dense(d, 6, 3)))
    same(lambda d: torch.sparse.addmm(dense(d, 5, 3), matrix(d), dense(d, 6, 3), beta=0.5, alpha=2))
    same(lambda d: matrix(d) @ dense(d, 6, 3))
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        torch.sparse.mm(matrix(NEURON), dense(NEURON, 5, 3))


def test_mask():
    same(lambda d: dense(d, 5, 6).sparse_mask(matrix(d).coalesce()))


@pytest.mark.parametrize("optimizer", [torch.optim.SGD, torch.optim.SparseAdam, torch.optim.Adagrad])
def test_embedding_with_sparse_gradients_learns_alike(optimizer):
    def rows(device):
        torch.manual_seed(0)
        table = torch.nn.Embedding(10, 4, sparse=True).to(device)
        step = optimizer(table.parameters(), lr=0.1)
        for _ in range(3):
            step.zero_grad()
            table(torch.tensor([1, 3, 3, 7], device=device)).square().sum().backward()
            assert table.weight.grad.is_sparse
            step.step()
        return table.weight.detach()

    same(rows, rtol=1e-5, atol=1e-6)


def test_gradient_of_values():
    def gradient(device):
        values = dense(device, 4).requires_grad_()
        x = torch.sparse_coo_tensor(INDICES.to(device), values, (5, 6))
        torch.sparse.mm(x, dense(device, 6, 3)).square().sum().backward()
        return values.grad

    same(gradient)


def test_saved_and_loaded(tmp_path):
    torch.save(matrix(NEURON), tmp_path / "x.pt")
    back = torch.load(tmp_path / "x.pt")
    assert back.device.type == NEURON and back.is_sparse
    assert back.to_dense().cpu().equal(matrix("cpu").to_dense())
