import pytest
import torch
from torch import nn


class Tied(nn.Module):
    """An embedding and a head with one weight, as in GPT-2."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(10, 4)
        self.head = nn.Linear(4, 10, bias=False)
        self.head.weight = self.embedding.weight
        self.register_buffer("scale", torch.tensor(2.0))


@pytest.mark.parametrize(
    "move", [lambda m: m.to("neuron"), lambda m: m.neuron(), lambda m: m.to(0), lambda m: m.to(torch.device("neuron"))]
)
def test_tied_weights_stay_one_object(move):
    model = Tied()
    weight = model.embedding.weight
    moved = move(model)
    assert moved is model and model.head.weight is model.embedding.weight is weight
    assert weight.is_neuron and model.scale.is_neuron


def test_back_to_the_cpu():
    model = Tied()
    before = model.embedding.weight.detach().clone()
    model.neuron().cpu()
    assert model.head.weight is model.embedding.weight
    assert not model.embedding.weight.is_neuron and torch.equal(model.embedding.weight, before)


def test_an_optimizer_keeps_its_parameters():
    model = Tied()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model.neuron()
    assert optimizer.param_groups[0]["params"][0] is model.embedding.weight


def test_gradients_move_along():
    model = nn.Linear(3, 2)
    model(torch.ones(1, 3)).sum().backward()
    gradient = model.weight.grad.clone()
    model.neuron()
    assert model.weight.grad.is_neuron and torch.equal(model.weight.grad.cpu(), gradient)


def test_a_hook_and_a_weak_reference_do_not_hinder():
    import weakref

    model = nn.Linear(3, 2)
    reference = weakref.ref(model.weight)
    model.weight.register_hook(lambda g: g)
    model.neuron()
    assert reference() is model.weight


def test_dtype_and_device_at_once():
    model = nn.Linear(3, 2).to("neuron", torch.bfloat16)
    assert model.weight.is_neuron and model.weight.dtype == torch.bfloat16


def test_data_assignment():
    parameter = nn.Parameter(torch.zeros(3))
    parameter.data = torch.ones(3).neuron()
    assert parameter.is_neuron and torch.equal(parameter.cpu(), torch.ones(3))


def test_meta_modules_materialise():
    with torch.device("meta"):
        model = nn.Linear(3, 2)
    model.to_empty(device="neuron")
    assert model.weight.is_neuron
    model.load_state_dict(nn.Linear(3, 2).state_dict())


def test_created_in_place():
    with torch.device("neuron"):
        assert torch.empty(2).is_neuron
    torch.set_default_device("neuron")
    try:
        assert torch.empty(2).is_neuron
    finally:
        torch.set_default_device(None)


def test_packed_sequence_and_dataloader_pinning():
    from torch.utils.data import DataLoader, TensorDataset

    loader = DataLoader(TensorDataset(torch.arange(8.0)), batch_size=4, pin_memory=True)
    batches = [batch for (batch,) in loader]
    assert all(batch.is_pinned() for batch in batches)
    assert torch.equal(batches[1].to("neuron", non_blocking=True).cpu(), torch.arange(4.0, 8.0))
