import numpy
import pytest
import torch


def test_a_capsule_shares_memory():
    there = torch.arange(6.0).neuron()
    capsule = torch.utils.dlpack.to_dlpack(there)
    again = torch.from_dlpack(capsule)
    assert again.device == there.device and again.data_ptr() == there.data_ptr()
    again.copy_(torch.zeros(6))
    del again
    assert torch.equal(there.cpu(), torch.zeros(6))


def test_from_numpy_and_back_through_the_host():
    there = torch.from_dlpack(numpy.arange(4, dtype=numpy.float32)).neuron()
    assert numpy.from_dlpack(there.cpu()).tolist() == [0, 1, 2, 3]


def test_a_host_library_is_told_no():
    with pytest.raises((ValueError, BufferError, RuntimeError, TypeError)):
        numpy.from_dlpack(torch.ones(2).neuron())
    with pytest.raises(TypeError, match="neuron"):
        torch.ones(2).neuron().numpy()
