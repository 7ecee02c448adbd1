import subprocess
import sys

import pytest
import torch


@pytest.fixture(autouse=True)
def neuron_stays_usable():
    """A test leaves the device as it found it: first device, default stream, no work queued, no error pending."""
    yield
    torch.neuron.synchronize()
    assert torch.neuron.current_device() == 0
    assert torch.neuron.current_stream().stream_id == 0


@pytest.fixture
def fresh_python():
    """Runs a script in a new interpreter and returns what it printed."""

    def run(script: str, **environment: str) -> str:
        import os

        result = subprocess.run(
            [sys.executable, "-c", script], env=os.environ | environment, capture_output=True, text=True, timeout=300
        )
        assert result.returncode == 0, result.stderr
        return result.stdout

    return run
