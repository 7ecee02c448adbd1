"""Results are what the cards wrote: a fault injected into a card changes them, and nothing else does."""

import pytest

EMBED = """
import sys
sys.path.insert(0, "demo")
import embed, hashlib, torch, trnsim
trnsim.set_threads({threads})
_, batches = embed.batches()
vectors = embed.embed(embed.load("neuron", torch.float32), batches[:1])
print(hashlib.sha256(vectors.numpy().tobytes()).hexdigest())
"""


@pytest.fixture(scope="module")
def clean(module_python):
    return module_python(EMBED.format(threads=0))


@pytest.fixture(scope="module")
def module_python(tmp_path_factory):
    import os
    import subprocess
    import sys

    def run(script: str, **environment: str) -> str:
        environment = os.environ | {"TRNSIM_RUNTIME_DIR": str(tmp_path_factory.mktemp("machine"))} | environment
        return subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True, timeout=300
        ).stdout

    return run


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_embeddings_are_the_same_bits_in_every_run_and_for_any_number_of_threads(module_python, clean, threads):
    assert module_python(EMBED.format(threads=threads)) == clean


@pytest.mark.parametrize("fault", ["nc_matmul:30", "nc_matmul:0:30", "activation:30"])
def test_an_injected_fault_changes_the_embeddings(module_python, clean, fault):
    assert module_python(EMBED.format(threads=0), TRNSIM_INJECT=fault) != clean
