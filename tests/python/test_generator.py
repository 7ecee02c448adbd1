import pytest
import torch


def test_state_is_seed_and_offset():
    torch.neuron.manual_seed(0x0102)
    state = torch.neuron.get_rng_state()
    assert state.dtype == torch.uint8 and state.device.type == "cpu"
    assert state.tolist() == [2, 1] + [0] * 14
    assert torch.neuron.initial_seed() == 0x0102


def test_state_layout_is_cudas():
    generator = torch.Generator("neuron")
    generator.manual_seed(7)
    generator.set_offset(12)
    state = generator.get_state()
    assert state.view(torch.int64).tolist() == [7, 12]
    other = torch.Generator("neuron")
    other.set_state(state)
    assert other.initial_seed() == 7 and other.get_offset() == 12
    assert generator.clone_state().get_state().equal(state) if hasattr(generator, "clone_state") else True


def test_torch_manual_seed_reaches_every_device():
    torch.manual_seed(11)
    assert all(state.view(torch.int64).tolist() == [11, 0] for state in torch.neuron.get_rng_state_all())
    assert len(torch.neuron.get_rng_state_all()) == torch.neuron.device_count()


def test_restore_all():
    torch.neuron.manual_seed_all(3)
    states = torch.neuron.get_rng_state_all()
    torch.neuron.seed_all()
    seeds = {state.view(torch.int64)[0].item() for state in torch.neuron.get_rng_state_all()}
    assert len(seeds) == 1 and seeds != {3}
    torch.neuron.set_rng_state_all(states)
    assert all(a.equal(b) for a, b in zip(states, torch.neuron.get_rng_state_all(), strict=True))


def test_one_device_alone():
    torch.neuron.manual_seed_all(1)
    with torch.neuron.device(1):
        torch.neuron.manual_seed(2)
        torch.neuron.seed()
    assert torch.neuron.get_rng_state("neuron:0").view(torch.int64)[0] == 1
    torch.neuron.set_rng_state(torch.neuron.get_rng_state(0), "neuron:1")
    assert torch.neuron.get_rng_state(torch.device("neuron", 1)).view(torch.int64)[0] == 1


def test_fork_rng_restores():
    torch.manual_seed(5)
    with torch.random.fork_rng(devices=[0], device_type="neuron"):
        torch.neuron.manual_seed(6)
    assert torch.neuron.initial_seed() == 5


@pytest.mark.parametrize(
    "state",
    [torch.zeros(5, dtype=torch.uint8), torch.zeros(4), torch.tensor([0] * 8 + [1] + [0] * 7, dtype=torch.uint8)],
)
def test_bad_states_are_refused(state):
    with pytest.raises((RuntimeError, TypeError)):
        torch.Generator("neuron").set_state(state)


def test_generators_are_per_device():
    assert torch.Generator("neuron:1").device == torch.device("neuron", 1)
    assert torch.neuron.default_generators[1].device.index == 1
