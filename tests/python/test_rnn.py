"""torch.nn's recurrent modules: outputs, states and gradients as on the CPU."""

import copy

import pytest
import torch
from torch import nn

TIME, BATCH, INPUTS, HIDDEN = 5, 3, 4, 6


def outputs(module: nn.RNNBase | nn.RNNCellBase, *inputs) -> list[torch.Tensor]:
    """Everything that the module gives, and the gradients of its parameters."""
    flat = []

    def flatten(value):
        if isinstance(value, torch.Tensor):
            flat.append(value)
        elif isinstance(value, nn.utils.rnn.PackedSequence):
            flat.append(value.data)
        else:
            for part in value:
                flatten(part)

    flatten(module(*inputs))
    sum((x * x).sum() for x in flat).backward()
    return [x.detach().cpu() for x in flat] + [p.grad.cpu() for p in module.parameters()]


def same(module, *inputs) -> None:
    there = copy.deepcopy(module).to("neuron")
    moved = [x.to("neuron") if x is not None else None for x in inputs]
    for x, y in zip(outputs(module, *inputs), outputs(there, *moved), strict=True):
        torch.testing.assert_close(y, x, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", [nn.RNN, nn.LSTM, nn.GRU])
@pytest.mark.parametrize(
    "options", [{}, {"num_layers": 2, "bidirectional": True}, {"batch_first": True, "bias": False}]
)
def test_layers(kind, options):
    torch.manual_seed(0)
    same(kind(INPUTS, HIDDEN, **options), torch.randn(TIME, BATCH, INPUTS))


def test_relu_and_projection():
    torch.manual_seed(0)
    same(nn.RNN(INPUTS, HIDDEN, nonlinearity="relu"), torch.randn(TIME, BATCH, INPUTS))
    same(nn.LSTM(INPUTS, HIDDEN, proj_size=2), torch.randn(TIME, BATCH, INPUTS))


@pytest.mark.parametrize("kind", [nn.RNNCell, nn.LSTMCell, nn.GRUCell])
def test_cells(kind):
    torch.manual_seed(0)
    same(kind(INPUTS, HIDDEN), torch.randn(BATCH, INPUTS))


def test_packed_sequences():
    torch.manual_seed(0)
    packed = nn.utils.rnn.pack_padded_sequence(torch.randn(TIME, BATCH, INPUTS), torch.tensor([5, 3, 1]))
    same(nn.LSTM(INPUTS, HIDDEN), packed)
