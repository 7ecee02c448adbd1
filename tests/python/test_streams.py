import threading

import pytest
import torch


def test_default_stream_is_zero_and_current():
    assert torch.neuron.current_stream() == torch.neuron.default_stream()
    assert torch.neuron.default_stream().stream_id == 0


def test_streams_come_from_a_pool():
    ids = [torch.neuron.Stream().stream_id for _ in range(32)]
    assert len(set(ids)) == 32 and 0 not in ids
    high = torch.neuron.Stream(priority=-1).stream_id
    assert high not in ids and high != 0


@pytest.mark.parametrize("make", [torch.neuron.Stream, lambda: torch.Stream("neuron")])
def test_context(make):
    stream = make()
    with torch.neuron.stream(stream):
        assert torch.neuron.current_stream() == stream
    with stream:
        assert torch.accelerator.current_stream() == stream
    with torch.neuron.stream(None):
        assert torch.neuron.current_stream().stream_id == 0


def test_set_stream():
    stream = torch.neuron.Stream()
    torch.neuron.set_stream(stream)
    assert torch.neuron.current_stream() == stream
    torch.accelerator.set_stream(torch.neuron.default_stream())


def test_a_stream_of_another_device_brings_its_device():
    stream = torch.neuron.Stream("neuron:1")
    with torch.neuron.stream(stream):
        assert torch.neuron.current_device() == 1
        assert torch.empty(1, device="neuron").device.index == 1
    assert stream.device == torch.device("neuron", 1) and stream.device_index == 1


def test_threads_have_their_own_stream():
    seen = []
    with torch.neuron.stream(torch.neuron.Stream()):
        thread = threading.Thread(target=lambda: seen.append(torch.neuron.current_stream().stream_id))
        thread.start()
        thread.join()
    assert seen == [0]


def test_work_on_two_streams_keeps_submission_order():
    stream = torch.neuron.Stream()
    there = torch.zeros(1000).neuron()
    with torch.neuron.stream(stream):
        there.copy_(torch.ones(1000))
    there.copy_(torch.full((1000,), 2.0))
    stream.synchronize()
    assert stream.query()
    assert torch.equal(there.cpu(), torch.full((1000,), 2.0))


def test_wait_for_each_other():
    stream, event = torch.neuron.Stream(), torch.neuron.Event()
    stream.wait_stream(torch.neuron.current_stream())
    event = stream.record_event(event)
    torch.neuron.wait_event(event)
    torch.neuron.wait_stream(stream)
    torch.neuron.current_stream().wait_event(stream.record_event())
    torch.neuron.synchronize()
    assert event.query() and torch.neuron.query() and torch.neuron.record_event().query() in (True, False)


def test_identity():
    first = torch.neuron.Stream()
    again = torch.neuron.Stream(
        stream_id=first.stream_id, device_index=first.device_index, device_type=first.device_type
    )
    assert first == again and hash(first) == hash(again) and first != torch.neuron.default_stream()
    assert "stream_id" in repr(first)
