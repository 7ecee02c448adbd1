"""torch.compile on the device against eager PyTorch on the CPU."""

import copy

import pytest
import torch
import torch.nn.functional as F
import torch_neuronx
from ops import NEURON, assert_same, programs_compiled, sample, to_device
from torch import nn


@pytest.fixture(autouse=True)
def fresh_dynamo():
    torch._dynamo.reset()
    torch.neuron.reset_dynamo_metrics()
    yield
    torch._dynamo.reset()


def compiled(function, **kwargs):
    return torch.compile(function, backend="neuron", dynamic=False, **({"fullgraph": True} | kwargs))


def check(function, *args, tolerance=None, **kwargs):
    """function(*args), compiled on the device and eager on the CPU; returns the compiled function."""
    want = function(*copy.deepcopy(args))
    made = compiled(function, **kwargs)
    assert_same(made(*to_device(args)), want, **(tolerance or {}))
    return made


def programs() -> list[int]:
    return [graph["programs"] for graph in torch.neuron.get_dynamo_metrics()]


class Block(nn.Module):
    """A small transformer block: norms, attention, an MLP, residuals."""

    def __init__(self, width=32, heads=4, dropout=0.0):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(batch, length, width)
        x = x + self.dropout(self.out(y))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


def block(**kwargs) -> Block:
    torch.manual_seed(0)
    return Block(**kwargs)


def test_is_a_backend_by_name():
    assert "neuron" in torch._dynamo.list_backends()


def test_pointwise_is_one_launch():
    made = check(lambda x, y: torch.tanh(x) * y + 2.0, sample(5, 7), sample(7))
    before = torch_neuronx._C.counters()["launches"]
    made(sample(5, 7).to(NEURON), sample(7).to(NEURON))
    torch.neuron.synchronize()
    assert torch_neuronx._C.counters()["launches"] == before + 1
    assert programs() == [1]


def test_default_backend_follows_the_tensors():
    double = torch.compile(lambda x: x * 2 + 1, dynamic=False)
    assert_same(double(sample(4).to(NEURON)), sample(4) * 2 + 1)
    assert programs() == [1]


def test_what_the_user_has_chosen_as_default_stays():
    from torch._dynamo.backends import registry

    chosen = registry.get_default_backend()
    registry.set_default_backend("eager")
    try:
        torch.compile(lambda x: x + 1)(sample(3).to(NEURON))
        assert programs() == []
    finally:
        registry.set_default_backend(chosen)


def test_module_in_inference():
    module = block()
    with torch.no_grad():
        want = module(sample(2, 9, 32))
        on_device = copy.deepcopy(module).to(NEURON)
        assert_same(compiled(on_device)(sample(2, 9, 32).to(NEURON)), want)
    assert programs() == [1]


def test_gradients():
    host = block()
    device = copy.deepcopy(host).to(NEURON)
    x = sample(2, 9, 32)
    x_host, x_device = x.clone().requires_grad_(), x.to(NEURON).requires_grad_()
    host(x_host).square().mean().backward()
    compiled(device)(x_device).square().mean().backward()
    tolerance = dict(rtol=1e-4, atol=1e-6)
    assert_same(x_device.grad, x_host.grad, **tolerance)
    for p, q in zip(host.parameters(), device.parameters()):
        assert_same(q.grad, p.grad, **tolerance)
    assert programs() == [1, 1]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.view(3, 2, 4).permute(2, 0, 1).contiguous(),
        lambda x: x.t()[1:3].unsqueeze(0).expand(2, 2, 6),
        lambda x: torch.cat(x.split(2, 0)[::-1], 1),
        lambda x: torch.stack(x.unbind(1), 0) + x.select(0, -1)[:, None],
        lambda x: x.diagonal(1) * 2,
        lambda x: x.unfold(1, 2, 1).sum(-1),
        lambda x: x[::2, 1:].flatten() - 1,
        lambda x: x.to(torch.int64).to(torch.bfloat16),
        lambda x: torch.full((2,), 3.0, device=x.device) + torch.arange(2, device=x.device) + x.new_ones(2),
        lambda x: torch.where(x > 0, x, torch.zeros_like(x)).masked_fill(x > 1, 5.0),
        lambda x: (x.amax(1), x.argmax(1), x.topk(2, 1).values),
        lambda x: x.as_strided((2, 3), (1, 5)) * 2,
    ],
)
def test_views_and_factories(function):
    check(function, sample(6, 4))


def test_complex_numbers():
    def rotate(x, angle):
        z = torch.view_as_complex(x.reshape(3, 4, 2)) * torch.polar(torch.ones_like(angle), angle)[:, None]
        return torch.view_as_real(z).flatten(1)

    check(rotate, sample(3, 8), sample(3))


def test_outputs_that_share_memory_share_it():
    def pair(x):
        y = x * 2
        return y, y.t(), y[1]

    whole, turned, row = compiled(pair)(sample(3, 4).to(NEURON))
    whole.zero_()
    assert not turned.cpu().any() and not row.cpu().any()


def test_inputs_are_written():
    def step(state, x):
        state.mul_(0.5).add_(x)
        return state.sum()

    state, x = sample(4), sample(4, seed=1)
    on_device = state.to(NEURON)
    total = compiled(step)(on_device, x.to(NEURON))
    assert_same(total, step(state, x))
    assert_same(on_device, state)


def test_batch_norm_updates_its_statistics():
    host = nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.ReLU()).train()
    device = copy.deepcopy(host).to(NEURON)
    x = sample(2, 2, 6, 6)
    assert_same(compiled(device)(x.to(NEURON)).detach(), host(x).detach(), rtol=1e-4, atol=1e-5)
    assert_same(device[1].running_mean, host[1].running_mean, rtol=1e-4, atol=1e-5)
    assert_same(device[1].running_var, host[1].running_var, rtol=1e-4, atol=1e-5)
    assert_same(device[1].num_batches_tracked, host[1].num_batches_tracked)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.rand_like(x),
        lambda x: torch.randn(3, 4, device=x.device),
        lambda x: torch.randint(2, 9, (5,), device=x.device),
        lambda x: torch.bernoulli(x.abs().clamp(max=1)),
        lambda x: (F.dropout(x, 0.5), F.dropout(x, 0.25)),
        lambda x: torch.empty_like(x).uniform_(-1, 1),
    ],
)
def test_random_numbers_are_those_of_eager(function):
    x = sample(4, 8).to(NEURON)
    torch.manual_seed(7)
    want = function(x)
    torch.manual_seed(7)
    got = compiled(function)(x)
    for g, w in zip(got if isinstance(got, tuple) else [got], want if isinstance(want, tuple) else [want]):
        assert torch.equal(g.cpu(), w.cpu())


def test_random_numbers_differ_from_call_to_call():
    noise = compiled(lambda x: torch.rand_like(x))
    x = sample(16).to(NEURON)
    assert not torch.equal(noise(x).cpu(), noise(x).cpu())


def test_dropout_keeps_its_mask_for_the_backward_pass():
    x = torch.ones(64, device=NEURON, requires_grad=True)
    y = compiled(lambda x: F.dropout(x * 1.0, 0.5))(x)
    y.sum().backward()
    assert torch.equal(y.detach().cpu(), x.grad.cpu())


def test_attention_with_a_dropout_runs_by_itself():
    q = sample(2, 2, 8, 4).to(NEURON).requires_grad_()
    torch.manual_seed(3)
    want = F.scaled_dot_product_attention(q, q, q, dropout_p=0.5)
    torch.manual_seed(3)
    got = compiled(lambda x: F.scaled_dot_product_attention(x, x, x, dropout_p=0.5))(q)
    assert torch.equal(got.detach().cpu(), want.detach().cpu())
    (gradient,) = torch.autograd.grad(got.sum(), q)
    assert gradient.isfinite().all()


def test_host_numbers_are_inputs():
    scale = compiled(lambda x, a: x * a)
    x = sample(4)
    for a in (2.0, 3.0):
        assert_same(scale(x.to(NEURON), torch.tensor(a)), x * a)
    assert programs() == [1]


def test_an_operator_without_a_lowering_cuts_the_graph():
    torch_neuronx.clear_op_tracking()

    def solve(a, b):
        return torch.linalg.solve(a + 4 * torch.eye(3, device=a.device), b * 2) + 1

    check(solve, sample(3, 3), sample(3, 2), tolerance=dict(rtol=1e-4, atol=1e-5))
    assert programs() == [2]
    assert torch_neuronx.get_fallback_ops() != []


def test_graph_breaks():
    def branches(x):
        y = x * 2
        return y + 1 if y.sum() > 0 else y - 1

    made = compiled(branches, fullgraph=False)
    for sign in (1, -1):
        assert_same(made((sign * sample(4).abs()).to(NEURON)), branches(sign * sample(4).abs()))


def test_a_decode_step_compiles_once_for_all_positions():
    cache = torch.zeros(2, 8, 4, device=NEURON)

    def step(cache, x, position):
        cache.index_copy_(1, position, x)
        seen = torch.arange(8, device=x.device) <= position
        return torch.where(seen[None, :, None], cache, 0.0).sum(1)

    made = compiled(step)
    want, counts = torch.zeros(2, 8, 4), []
    for at in range(3):
        x = sample(2, 1, 4, seed=at)
        got = made(cache, x.to(NEURON), torch.tensor([at], device=NEURON))
        assert_same(got, step(want, x, torch.tensor([at])))
        counts.append(programs_compiled())
    assert counts == [counts[0]] * 3
    assert programs() == [1]


def test_new_shapes_are_new_programs_also_when_dynamo_makes_them_symbols():
    made = torch.compile(lambda x: x.softmax(-1).sum(0) * x.shape[0], backend="neuron")
    for rows in (2, 3, 5):
        x = sample(rows, 4)
        assert_same(made(x.to(NEURON)), x.softmax(-1).sum(0) * rows)


def test_options_and_modes_that_the_device_has_not_are_named():
    with pytest.warns(UserWarning, match="max-autotune"):
        torch.compile(lambda x: x + 1, backend="neuron", mode="max-autotune")(sample(2).to(NEURON))


def test_errors_name_the_graph():
    lookup = compiled(lambda table, index: table[index] * 2)
    with pytest.raises(RuntimeError, match=r"graph_.*status=1006"):
        lookup(sample(4, 3).to(NEURON), torch.tensor([9], device=NEURON)).cpu()
