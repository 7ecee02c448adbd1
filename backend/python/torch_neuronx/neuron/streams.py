"""torch.neuron's streams and events. A core has one compute queue: streams order work, they do not overlap."""

import torch

from .. import _C
from ._utils import _get_device_index


def _device(device) -> torch.device:
    return torch.device("neuron", _get_device_index(device, optional=True))


class Event(torch.Event):
    """A point in a device's queue; elapsed_time() is simulated device time."""

    def __new__(cls, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False):
        return super().__new__(cls, "neuron", enable_timing=enable_timing, blocking=blocking, interprocess=interprocess)

    def elapsed_time(self, end_event: torch.Event) -> float:
        """Milliseconds of simulated device time. (torch.Event.elapsed_time accepts no subclass of itself.)"""
        return _C.elapsed_ms(self.event_id, end_event.event_id)

    def __repr__(self) -> str:
        return f"<torch.neuron.Event {self.event_id:#x}>" if self.event_id else "<torch.neuron.Event uninitialized>"


class Stream(torch.Stream):
    def __new__(cls, device=None, priority: int = 0, **identity):
        if identity:  # stream_id, device_index, device_type: a stream that exists
            return super().__new__(cls, **identity)
        return super().__new__(cls, _device(device), priority=priority)

    def record_event(self, event: torch.Event | None = None) -> torch.Event:
        if event is None:
            event = Event()
        event.record(self)
        return event

    def __repr__(self) -> str:
        return f"<torch.neuron.Stream device={self.device} stream_id={self.stream_id}>"


def _as_neuron(stream: torch.Stream) -> Stream:
    return Stream(stream_id=stream.stream_id, device_index=stream.device_index, device_type=stream.device_type)


def current_stream(device=None) -> Stream:
    return _as_neuron(torch.accelerator.current_stream(_device(device)))


def default_stream(device=None) -> Stream:
    current = torch.accelerator.current_stream(_device(device))
    return Stream(stream_id=0, device_index=current.device_index, device_type=current.device_type)


def set_stream(stream: torch.Stream | None) -> None:
    if stream is not None:
        torch.accelerator.set_stream(stream)


class StreamContext:
    """Makes `stream` and its device current; None changes nothing."""

    def __init__(self, stream: torch.Stream | None):
        self.stream = stream

    def __enter__(self):
        if self.stream is None:
            return
        self._device_before = _C.current_device()
        self._before = current_stream(self.stream.device)
        torch.accelerator.set_stream(self.stream)
        _C.exchange_device(self.stream.device_index)

    def __exit__(self, *exception):
        if self.stream is None:
            return
        torch.accelerator.set_stream(self._before)
        _C.exchange_device(self._device_before)


def stream(stream: torch.Stream | None) -> StreamContext:
    return StreamContext(stream)


def synchronize(device=None) -> None:
    """Waits until a device has done everything queued on it, and raises what went wrong there."""
    _C.synchronize(_get_device_index(device, optional=True))


def wait_stream(stream: torch.Stream) -> None:
    current_stream().wait_stream(stream)


def wait_event(event: torch.Event) -> None:
    current_stream().wait_event(event)


def record_event(event: torch.Event | None = None) -> torch.Event:
    return current_stream().record_event(event)


def query() -> bool:
    return current_stream().query()
