import pytest
import torch


def test_views_share_storage():
    base = torch.arange(12.0).reshape(3, 4).neuron()
    for view in (
        base.view(4, 3),
        base.t(),
        base[1:],
        base.as_strided((2, 2), (4, 1)),
        base.unfold(1, 2, 1),
        base.reshape(12),
        base.unsqueeze(0),
    ):
        assert view.untyped_storage().data_ptr() == base.untyped_storage().data_ptr()
        assert view.is_neuron


@pytest.mark.parametrize(
    "view",
    [
        lambda t: t.view(4, 3),
        lambda t: t.unfold(0, 2, 1),
        lambda t: t.as_strided((2, 3), (1, 2), 3),
        lambda t: t.view(torch.int32),
    ],
)
def test_views_read_as_on_cpu(view):
    host = torch.arange(12.0).reshape(3, 4)
    assert torch.equal(view(host.neuron()).cpu(), view(host))


def test_view_as_complex_is_a_view():
    host = torch.arange(8.0).reshape(4, 2)
    there = torch.view_as_complex(host.neuron())
    assert there.dtype == torch.complex64
    assert torch.equal(torch.view_as_real(there).cpu(), host)


def test_resize_keeps_data_and_grows():
    there = torch.arange(4.0).neuron()
    there.resize_(2, 3)
    assert there.shape == (2, 3) and torch.equal(there.cpu().flatten()[:4], torch.arange(4.0))
    there.resize_(0)
    assert there.numel() == 0
    there.resize_(3)
    assert torch.equal(there.cpu(), torch.arange(3.0))


def test_resize_to_the_same_sizes_keeps_strides():
    view = torch.arange(12.0).reshape(3, 4).neuron().t()
    strides = view.stride()
    assert view.resize_(4, 3).stride() == strides


def test_set():
    source = torch.arange(6.0).neuron()
    target = torch.empty(0, device="neuron")
    target.set_(source)
    assert target.is_set_to(source)
    target.set_(source.untyped_storage(), 2, (2, 2), (2, 1))
    assert torch.equal(target.cpu(), torch.tensor([[2.0, 3.0], [4.0, 5.0]]))
    target.set_()
    assert target.numel() == 0
    with pytest.raises(RuntimeError):
        target.set_(torch.arange(3.0).untyped_storage(), 0, (3,), (1,))


def test_storage_methods():
    there = torch.arange(6.0).neuron()
    storage = there.untyped_storage()
    assert storage.is_neuron and storage.nbytes() == 24 and storage.device == torch.device("neuron", 0)
    assert bytes(storage.cpu()) == bytes(torch.arange(6.0).untyped_storage())
    assert torch.arange(6.0).untyped_storage().neuron().device == torch.device("neuron", 0)
    clone = storage.clone()
    assert clone.data_ptr() != storage.data_ptr()
    storage.resize_(40)
    assert storage.nbytes() == 40
    assert torch.equal(there.cpu(), torch.arange(6.0))


def test_deepcopy_keeps_sharing():
    import copy

    base = torch.arange(6.0).neuron()
    first, second = copy.deepcopy([base, base[2:]])
    assert first.data_ptr() != base.data_ptr()
    assert second.untyped_storage().data_ptr() == first.untyped_storage().data_ptr()
    assert torch.equal(first.cpu(), torch.arange(6.0)) and torch.equal(second.cpu(), torch.arange(2.0, 6.0))


def test_empty_permuted_and_strided():
    there = torch.empty_strided((2, 3), (1, 2), device="neuron")
    assert there.stride() == (1, 2)
    assert (
        torch.empty_permuted((2, 3, 4), (2, 0, 1), device="neuron").stride()
        == torch.empty_permuted((2, 3, 4), (2, 0, 1)).stride()
    )


def test_no_compressed_sparse_tensors():
    with pytest.raises((RuntimeError, NotImplementedError)):
        torch.empty(2, 2, layout=torch.sparse_csr, device="neuron")
