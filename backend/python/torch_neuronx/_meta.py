"""PyTorch's shape functions, which the device asks for every new call."""

import importlib
import signal
import threading


def load() -> None:
    """Imports what they import when first called. A Ctrl-C meanwhile is raised afterwards: a module that is left half
    imported would fail for the rest of the process."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        importlib.import_module("torch._dynamo")
        return
    pressed = []
    signal.signal(signal.SIGINT, lambda *event: pressed.append(event))
    try:
        importlib.import_module("torch._dynamo")
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        before(*pressed[-1])
