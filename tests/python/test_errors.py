"""Errors of queued work: what they say, when they surface, and that the device stays usable."""

import inspect
import os

import pytest
import torch


def bad_lookup(table):
    return torch.index_select(table, 0, torch.tensor([1, 99]).neuron())


def line_of_bad_lookup() -> str:
    lines, first = inspect.getsourcelines(bad_lookup)
    return f"{__file__}:{first + len(lines) - 1}"


WAITS = [torch.neuron.synchronize, torch.accelerator.synchronize, lambda: torch.ones(1).neuron().item()]


@pytest.mark.parametrize("wait", WAITS)
def test_the_next_wait_names_stage_op_and_line(wait):
    host = torch.arange(8.0).reshape(4, 2)
    table = host.neuron()
    bad_lookup(table)
    with pytest.raises(RuntimeError, match="NRT EXECUTION FAILED") as error:
        wait()
    assert "aten::index_select" in str(error.value)
    assert line_of_bad_lookup() in str(error.value)
    assert "status=1006" in str(error.value)
    torch.neuron.synchronize()
    assert torch.equal(torch.index_select(table, 0, torch.tensor([3, 0]).neuron()).cpu(), host[[3, 0]])


def test_the_first_of_several_is_reported_once():
    table = torch.ones(4, 2).neuron()
    bad_lookup(table)
    bad_lookup(table)
    with pytest.raises(RuntimeError, match="1006"):
        torch.neuron.synchronize()
    torch.neuron.synchronize()


def test_the_error_belongs_to_its_device():
    with torch.neuron.device(1):
        torch.index_select(torch.ones(4, 2).to(1), 0, torch.tensor([7]).to(1))
    torch.neuron.synchronize(0)
    with pytest.raises(RuntimeError, match="1006"):
        torch.neuron.synchronize(1)


def test_launch_blocking_raises_at_the_op(fresh_python):
    script = """
import torch
table, index = torch.ones(4, 2).neuron(), torch.tensor([9]).neuron()
try:
    torch.index_select(table, 0, index)
except RuntimeError as error:
    print("NRT EXECUTION FAILED" in str(error))
"""
    assert fresh_python(script, NEURON_LAUNCH_BLOCKING="1").strip() == "True"


def test_the_whole_stack_on_request(fresh_python):
    script = """
import torch
def inner():
    return torch.index_select(torch.ones(4, 2).neuron(), 0, torch.tensor([9]).neuron())
def outer():
    return inner()
outer()
try:
    torch.neuron.synchronize()
except RuntimeError as error:
    print(error)
"""
    assert "<string>:4 < <string>:6 < <string>:7" in fresh_python(script, TORCH_NEURONX_ENABLE_STACK_TRACE="1")
    assert "<string>:4" in (plain := fresh_python(script)) and "<string>:6" not in plain


def test_interrupt_leaves_the_device_usable(fresh_python):
    script = """
import os, signal, threading, time, torch
a = torch.ones(1024, 1024).neuron()
a @ a, a + 1
torch.neuron.synchronize()
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells start background jobs without
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
start = time.time()
try:
    while time.time() - start < 60:
        for _ in range(50):
            b = a @ a
        torch.neuron.synchronize()
except KeyboardInterrupt:
    print("interrupted")
print((torch.ones(2).neuron() + 1).cpu().tolist())
"""
    assert fresh_python(script).split("\n")[:2] == ["interrupted", "[2.0, 2.0]"]


def test_mixed_devices_are_refused():
    with pytest.raises(RuntimeError, match=r"[Dd]evice"):
        torch.ones(2).neuron() + torch.ones(2)
    with pytest.raises(RuntimeError, match=r"[Dd]evice"):
        torch.ones(2).to("neuron:0") + torch.ones(2).to("neuron:1")


def test_a_core_belongs_to_one_process(fresh_python):
    torch.neuron.init()
    script = """
import torch
try:
    torch.ones(1).neuron()
except RuntimeError as error:
    print(error)
"""
    message = fresh_python(script, TRNSIM_RUNTIME_DIR=os.environ["TRNSIM_RUNTIME_DIR"])
    assert "nrt_init failed with status 4" in message and f"in use by process {os.getpid()}" in message
    assert "NEURON_RT_VISIBLE_CORES" in message


def test_visible_cores(fresh_python):
    script = "import torch; print(torch.neuron.device_count(), torch.ones(1).neuron().device)"
    assert fresh_python(script, NEURON_RT_VISIBLE_CORES="2").split() == ["1", "neuron:0"]
    assert fresh_python(script, NEURON_RT_VISIBLE_CORES="1-2").split() == ["2", "neuron:0"]


def test_integers_beyond_32_bits_are_exact_enough_beside_floats():
    x = torch.tensor([1.0, 2.0])
    for number in (2**31, 10**10, 2**40, -(2**33)):
        for compute in (
            lambda t: t * number,
            lambda t: t + number,
            lambda t: number / t,
            lambda t: torch.where(t > 1, t, torch.tensor(number)),
            lambda t: t // number,
        ):
            torch.testing.assert_close(compute(x.neuron()).cpu(), compute(x))


def test_integers_beyond_32_bits_saturate_among_integers():
    x = torch.tensor([1, 2]).neuron()
    assert torch.minimum(x, torch.tensor(2**40)).tolist() == [1, 2]
    assert torch.maximum(x, torch.tensor(-(2**40))).tolist() == [1, 2]


def test_more_elements_than_an_access_pattern_counts_are_refused():
    x = torch.ones(1, dtype=torch.uint8).neuron()
    with pytest.raises(RuntimeError, match=r"more than 2\^31"):
        x.expand(2**32 + 16).contiguous()
    with pytest.raises(RuntimeError, match=r"more than 2\^31"):
        x.float().expand(2**34).sum()
    with pytest.raises(torch.OutOfMemoryError):
        x.expand(2**40) + 1
    assert (x + 1).item() == 2


def test_a_target_of_another_shape_is_refused_in_pytorchs_words():
    x, y = torch.ones(1, 3).neuron(), torch.ones(2, 3).neuron()
    for write in (x.ge_, x.add_, x.atan2_, x.fmod_, x.pow_):
        with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
            write(y)


def test_out_that_must_grow_cannot_be_an_operand():
    empty, y = torch.empty(0).neuron(), torch.ones(4, 6).neuron()
    with pytest.raises(RuntimeError, match="single memory location"):
        torch.cat([empty, y], out=empty)


def test_a_shape_error_of_huge_operands_takes_no_host_memory():
    x = torch.ones(3).neuron()
    with pytest.raises(RuntimeError):
        x[:1].expand(2**40) + x


def test_bad_settings_are_named(fresh_python):
    for setting in (
        {"TRNSIM_INSTANCE": "trn9"},
        {"NEURON_LOGICAL_NC_CONFIG": "3"},
        {"NEURON_RT_VISIBLE_CORES": "99"},
        {"TRNSIM_SPEC": "/nowhere.json"},
    ):
        name = next(iter(setting))
        said = fresh_python(
            "import torch\ntry: torch.ones(1, device='neuron')\nexcept RuntimeError as e: print(e)", **setting
        )
        assert name in said or setting[name] in said, said  # a Spec is named by its file
    said = fresh_python(
        "import torch\ntry: torch.linalg.eigvalsh(torch.eye(2).neuron())\nexcept RuntimeError as e: print(e)",
        TRNSIM_FALLBACK="maybe",
    )
    assert "must be warn or error" in said


def test_an_interrupt_during_the_first_op_leaves_the_process_whole(fresh_python):
    said = fresh_python(
        """
import os, signal, threading, torch
x = torch.ones(4).neuron()
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells start background jobs without
threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    for _ in range(10**6):
        y = x + x
except KeyboardInterrupt:
    print("interrupted")
print((x + 1).tolist())
"""
    )
    assert said.split("\n")[:2] == ["interrupted", "[2.0, 2.0, 2.0, 2.0]"]
