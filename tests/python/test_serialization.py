import io

import torch


def saved(value) -> io.BytesIO:
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return file


def test_round_trip_stays_on_the_device():
    host = torch.arange(12.0).reshape(3, 4)
    loaded = torch.load(saved(host.neuron()))
    assert loaded.device == torch.device("neuron", 0) and torch.equal(loaded.cpu(), host)


def test_shared_storage_stays_shared():
    base = torch.arange(6.0).neuron()
    loaded = torch.load(saved({"base": base, "view": base[2:]}))
    assert loaded["view"].untyped_storage().data_ptr() == loaded["base"].untyped_storage().data_ptr()
    assert torch.equal(loaded["view"].cpu(), torch.arange(2.0, 6.0))


def test_map_location():
    host = torch.arange(3.0)
    assert torch.load(saved(host.neuron()), map_location="cpu").equal(host)
    assert torch.load(saved(host), map_location="neuron").device == torch.device("neuron", 0)
    assert torch.load(saved(host), map_location=torch.device("neuron", 1)).device.index == 1
    assert torch.load(saved(host.to("neuron:1"))).device.index == 1
    assert torch.load(saved(host.neuron()), map_location={"neuron:0": "neuron:1"}).device.index == 1


def test_module_state_dict():
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 3).neuron()
    other = torch.nn.Linear(4, 3).neuron()
    other.load_state_dict(torch.load(saved(model.state_dict()), weights_only=True))
    assert torch.equal(other.weight.cpu(), model.weight.cpu())


def test_mmap_from_a_file(tmp_path):
    path = tmp_path / "tensors.pt"
    torch.save({"a": torch.arange(5.0)}, path)
    assert torch.load(path, map_location="neuron", mmap=True)["a"].cpu().equal(torch.arange(5.0))


def test_parameters_and_requires_grad():
    parameter = torch.nn.Parameter(torch.ones(2).neuron())
    loaded = torch.load(saved(parameter), weights_only=False)
    assert isinstance(loaded, torch.nn.Parameter) and loaded.requires_grad and loaded.is_neuron


def test_pickle_and_numpy_form():
    import pickle

    there = torch.arange(4, dtype=torch.int32).neuron()
    assert torch.equal(pickle.loads(pickle.dumps(there)).cpu(), torch.arange(4, dtype=torch.int32))
    assert there.cpu().numpy().tolist() == [0, 1, 2, 3]


def test_safetensors(tmp_path):
    import pytest

    safetensors = pytest.importorskip("safetensors.torch")
    host = torch.arange(6.0).reshape(2, 3)
    safetensors.save_file({"w": host.neuron()}, tmp_path / "w.safetensors")
    assert torch.equal(safetensors.load_file(tmp_path / "w.safetensors")["w"].to("neuron").cpu(), host)
    for device, index in ((0, 0), ("neuron", 0), ("neuron:0", 0), ("neuron:1", 1)):
        there = safetensors.load_file(tmp_path / "w.safetensors", device=device)["w"]
        assert there.device == torch.device("neuron", index) and torch.equal(there.cpu(), host)


def test_safetensors_opens_a_file_for_the_current_device(tmp_path):
    import pytest

    safetensors = pytest.importorskip("safetensors")
    from safetensors.torch import save_file

    host = torch.arange(6.0).reshape(2, 3)
    save_file({"w": host}, tmp_path / "w.safetensors", metadata={"format": "pt"})
    with torch.neuron.device(1), safetensors.safe_open(tmp_path / "w.safetensors", "pt", device="neuron") as file:
        assert file.keys() == ["w"] and file.metadata() == {"format": "pt"}
        assert torch.equal(file.get_slice("w")[1:].cpu(), host[1:])
        assert file.get_tensor("w").device == torch.device("neuron", 1)
