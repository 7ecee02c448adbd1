"""Tensors sent to another process: it has cores of its own, so it gets copies."""

from multiprocessing.reduction import ForkingPickler

import pytest
import torch
import torch.multiprocessing


def receive(inbox, outbox):
    t = inbox.get()
    outbox.put((str(t.device), t.stride(), t.storage_offset(), t.requires_grad, t.detach().cpu().tolist()))
    t.detach().zero_()
    outbox.put("written")


@pytest.fixture
def other_process(monkeypatch, tmp_path):
    torch.ones(1).neuron()  # this process holds all cores of its machine: the other one gets its own
    monkeypatch.setenv("TRNSIM_RUNTIME_DIR", str(tmp_path))
    context = torch.multiprocessing.get_context("spawn")
    inbox, outbox = context.Queue(), context.Queue()
    process = context.Process(target=receive, args=(inbox, outbox), daemon=True)
    process.start()
    yield inbox, outbox
    process.join(60)
    assert process.exitcode == 0


@pytest.mark.filterwarnings("ignore:a neuron core")
def test_a_tensor_arrives_with_its_values_layout_and_device(other_process):
    inbox, outbox = other_process
    base = torch.arange(8.0).neuron().requires_grad_()
    inbox.put(base.detach()[1::2].requires_grad_())
    assert outbox.get(timeout=60) == ("neuron:0", (2,), 1, True, [1, 3, 5, 7])
    assert outbox.get(timeout=60) == "written"
    assert base.tolist() == [0, 1, 2, 3, 4, 5, 6, 7]  # the other process wrote to its copy


def test_the_sender_is_told_that_it_is_a_copy():
    with pytest.warns(UserWarning, match="belong to one process"):
        ForkingPickler.dumps(torch.ones(3).neuron())


def test_a_tensor_with_history_is_refused_as_pytorch_does():
    with pytest.raises(RuntimeError, match="non-leaf tensor"):
        ForkingPickler.dumps(torch.ones(3, device="neuron", requires_grad=True) * 2)
