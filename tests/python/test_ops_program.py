"""What a call costs in Programs, and what happens to ops without a lowering."""

import warnings

import pytest
import torch
import torch_neuronx
from ops import programs_compiled, sample


def test_changed_scalars_reuse_the_program():
    x = sample(4, 4).to("neuron")
    for run in (
        lambda t, v: t + v,
        lambda t, v: t * v,
        lambda t, v: t == v,
        lambda t, v: t.clamp(min=v),
        lambda t, v: t.masked_fill(t > 0, v),
    ):
        run(x, 0.25)
        before = programs_compiled()
        for v in (0.5, 0.75, 3.25):
            torch.testing.assert_close(run(x, v).cpu(), run(x.cpu(), v))
        assert programs_compiled() == before


def test_token_position_reuses_the_program():
    torch.arange(3, 5, device="neuron")
    before = programs_compiled()
    for start in range(4, 9):
        assert torch.arange(start, start + 2, device="neuron").tolist() == [start, start + 1]
    assert programs_compiled() == before


def test_optimizer_step_size_reuses_the_program():
    p, m, v = (sample(8, 8, seed=i, low=0.5).to("neuron") for i in range(3))
    p.addcdiv_(m, v, value=-0.1)
    before = programs_compiled()
    want = p.cpu()
    for step in (0.2, 0.3):
        p.addcdiv_(m, v, value=-step)
        want.addcdiv_(m.cpu(), v.cpu(), value=-step)
    torch.testing.assert_close(p.cpu(), want)
    assert programs_compiled() == before


def test_storage_offset_is_not_part_of_the_key():
    x = sample(8, 16).to("neuron")
    torch.exp(x[0])
    before = programs_compiled()
    for i in range(1, 8):
        torch.testing.assert_close(torch.exp(x[i]).cpu(), torch.exp(x[i].cpu()), rtol=1e-5, atol=1e-6)
    assert programs_compiled() == before


def test_mixed_devices_are_refused():
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        sample(3).to("neuron") + sample(3)
    assert (sample(3).to("neuron") + torch.tensor(1.0)).shape == (3,)


def test_unsupported_dtype_is_refused():
    with pytest.raises(RuntimeError, match="not supported on neuron"):
        torch.ones(3, device="neuron").to(torch.complex128) + 1


def test_shape_errors_are_pytorchs():
    with pytest.raises(RuntimeError, match="must match"):
        sample(3).to("neuron") + sample(4).to("neuron")
    with pytest.raises(RuntimeError, match="mat1 and mat2"):
        sample(3, 4).to("neuron") @ sample(3, 4).to("neuron")


def test_fallback_warns_once_and_is_recorded():
    torch_neuronx.clear_op_tracking()
    x = sample(3, 3).to("neuron")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        first = torch.linalg.eigvalsh(x @ x.t())
        torch.linalg.eigvalsh(x @ x.t())
    told = [w for w in caught if "executed via CPU fallback" in str(w.message)]
    assert len(told) == 1 and "OPERATOR_FALLBACK" in str(told[0].message)
    assert any("eigh" in op for op in torch_neuronx.get_fallback_ops())
    torch.testing.assert_close(first.cpu(), torch.linalg.eigvalsh(x.cpu() @ x.cpu().t()), rtol=1e-4, atol=1e-5)


def test_fallback_can_be_an_error(monkeypatch):
    monkeypatch.setenv("TRNSIM_FALLBACK", "error")
    x = sample(3, 3).to("neuron")
    with pytest.raises(NotImplementedError, match=r"eigh.*TRNSIM_FALLBACK=error"):
        torch.linalg.eigvalsh(x)
    assert (x + 1).shape == (3, 3)


def test_executed_ops_are_recorded():
    torch_neuronx.clear_op_tracking()
    x = sample(3).to("neuron")
    x + 1
    assert "aten::add.Tensor" in torch_neuronx.get_executed_ops()
    assert torch_neuronx.get_fallback_ops() == []


def test_programs_are_found_on_disk(fresh_python, tmp_path):
    script = """
import torch, torch_neuronx._C as native
x = torch.arange(12., device="neuron").reshape(3, 4)
print((x * 2 + 1).sum().item())
s = native.program_statistics()
print(s["programs_compiled"], s["disk_hits"])
"""
    first = fresh_python(script, TORCH_NEURONX_NEFF_CACHE_DIR=str(tmp_path)).split()
    second = fresh_python(script, TORCH_NEURONX_NEFF_CACHE_DIR=str(tmp_path)).split()
    assert first[0] == second[0] == "144.0"
    assert int(first[1]) > 0 and second[1:] == ["0", first[1]]
    for file in tmp_path.iterdir():
        file.write_bytes(file.read_bytes()[:-100])
    third = fresh_python(script, TORCH_NEURONX_NEFF_CACHE_DIR=str(tmp_path)).split()
    assert third == first
