"""What a simulated Trainium2 has beyond the hardware's own stack: modes, timelines, counters, the instruction table.

with trnsim.profile() as run:
    ...                             # any work on the neuron device
run.duration_us, run.active_us      # simulated time on the modelled machine
run.write_perfetto("trace.pftrace")
run.write_html("report.html")
"""

from trnsim import _C
from trnsim._machine import counters, machine, mode, set_threads
from trnsim._recompiles import Recompiles, recompiles
from trnsim._replay import Replay, replay
from trnsim._run import Run, fidelity, last_run, profile

Error = _C.Error

__all__ = [
    "Error",
    "Recompiles",
    "Replay",
    "Run",
    "counters",
    "fidelity",
    "last_run",
    "machine",
    "mode",
    "profile",
    "recompiles",
    "replay",
    "set_threads",
]
