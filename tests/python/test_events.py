import pytest
import torch


def test_never_recorded():
    event = torch.neuron.Event()
    assert event.query()
    event.synchronize()
    with pytest.raises(ValueError, match="recorded"):
        torch.neuron.Event(enable_timing=True).elapsed_time(torch.neuron.Event(enable_timing=True))


def test_record_and_wait():
    there = torch.ones(100).neuron()
    event = torch.neuron.Event()
    event.record()
    event.synchronize()
    assert event.query()
    event.wait()
    event.record(torch.neuron.Stream())
    event.wait(torch.neuron.Stream())
    assert there.is_neuron


@pytest.mark.parametrize(
    "make", [torch.neuron.Event, lambda enable_timing: torch.Event("neuron", enable_timing=enable_timing)]
)
def test_elapsed_time_is_simulated(make):
    start, middle, end = (make(enable_timing=True) for _ in range(3))
    host = torch.ones(1 << 20)
    start.record()
    middle.record()
    there = host.neuron()
    end.record()
    assert start.elapsed_time(middle) >= 0
    assert start.elapsed_time(end) > start.elapsed_time(middle)
    assert end.elapsed_time(start) == -start.elapsed_time(end)
    assert there.is_neuron


def test_equal_work_takes_equal_time():
    host = torch.ones(1 << 18)

    def measure():
        start, end = (torch.neuron.Event(enable_timing=True) for _ in range(2))
        torch.neuron.synchronize()
        start.record()
        host.neuron()
        end.record()
        return start.elapsed_time(end)

    measure()
    assert measure() == pytest.approx(measure(), rel=1e-9)


def test_timing_must_be_asked_for():
    first, second = torch.neuron.Event(), torch.neuron.Event(enable_timing=True)
    first.record(), second.record()
    with pytest.raises(ValueError, match="enable_timing"):
        first.elapsed_time(second)


def test_across_devices():
    event = torch.neuron.Event(enable_timing=True)
    other = torch.neuron.Event(enable_timing=True)
    event.record()
    with torch.neuron.device(1):
        torch.neuron.current_stream().wait_event(event)
        other.record()
    with pytest.raises(ValueError, match="no common clock"):
        event.elapsed_time(other)
    torch.neuron.synchronize(1)
