import pytest

FORK = """
import torch, os, sys
torch.ones(2).neuron()
pid = os.fork()
if pid == 0:
    assert torch.neuron._is_in_bad_fork()
    assert torch.manual_seed(1) is not None
    try:
        torch.ones(2).neuron()
    except RuntimeError as error:
        os._exit(0 if "spawn" in str(error) and "forked subprocess" in str(error) else 2)
    os._exit(3)
_, status = os.waitpid(pid, 0)
print(os.waitstatus_to_exitcode(status), torch.ones(2).neuron().cpu().tolist())
"""

BEFORE = """
import torch, os
pid = os.fork()
if pid == 0:
    assert not torch.neuron._is_in_bad_fork()
    os._exit(0 if torch.ones(2).neuron().cpu().tolist() == [1, 1] else 1)
_, status = os.waitpid(pid, 0)
print(os.waitstatus_to_exitcode(status))
"""

SPAWN = """
import torch
import torch.multiprocessing as mp

if __name__ == "__main__":
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.arange(4.0)), batch_size=2, num_workers=1)
    torch.ones(2).neuron()
    print([batch.neuron().cpu().tolist() for (batch,) in loader])
"""


def test_a_child_forked_after_the_start_is_told_to_spawn(fresh_python):
    assert fresh_python(FORK).strip() == "0 [1.0, 1.0]"


def test_a_child_forked_before_may_use_the_device(fresh_python):
    assert fresh_python(BEFORE).strip() == "0"


def test_data_loader_workers_stay_on_the_host(fresh_python):
    assert fresh_python(SPAWN).strip() == "[[0.0, 1.0], [2.0, 3.0]]"


@pytest.mark.parametrize("call", ["torch.neuron.init()", "torch.neuron.synchronize()"])
def test_nothing_to_wait_for_is_fine(fresh_python, call):
    assert fresh_python(f"import torch; {call}; print('fine')").strip() == "fine"
