import os
import subprocess
import sys
import tempfile

import pytest
import torch

# Each test process has a machine of its own, because cores belong to one process at a time (libnrt's claims live here).
os.environ["TRNSIM_RUNTIME_DIR"] = tempfile.mkdtemp(prefix="trnsim-tests-")
os.environ.setdefault("TRNSIM_STRICT", "1")


@pytest.fixture(autouse=True)
def neuron_stays_usable():
    """A test leaves the device as it found it: first device, default stream, no work queued, no error pending."""
    yield
    torch.neuron.synchronize()
    assert torch.neuron.current_device() == 0
    assert torch.neuron.current_stream().stream_id == 0


@pytest.fixture
def fresh_python(tmp_path):
    """Runs a script in a new interpreter, on a machine of its own, and returns what it printed."""

    def run(script: str, **environment: str) -> str:
        environment = os.environ | {"TRNSIM_RUNTIME_DIR": str(tmp_path)} | environment
        result = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=300
        )
        assert result.returncode == 0, result.stderr
        return result.stdout

    return run
