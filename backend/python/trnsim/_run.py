"""What a profiled stretch of work looked like on the simulated machine."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from os import PathLike, fspath

from trnsim import _C


class Run:
    """The launches between entering and leaving `profile()`. Times are simulated microseconds, never this machine's."""

    def __init__(self, session: _C.Session | None = None):
        self._session = session
        self._fidelity: dict | None = None

    @property
    def _seen(self) -> _C.Session:
        if self._session is None:
            raise RuntimeError("this run is still being recorded: read it after the `with trnsim.profile()` block")
        return self._session

    def __getattr__(self, name: str):
        """duration_us, device_us, launch_gap_us, program_overhead_us, active_us (by engine; the mean of a Program's
        physical cores), launches, instructions, flops, hbm_bytes, machine."""
        if name.startswith("_"):
            raise AttributeError(name)
        totals = self._seen.totals()
        if name not in totals:
            raise AttributeError(f"a Run has no {name!r}; it has {', '.join(totals)}")
        return totals[name]

    def __dir__(self):
        return [*super().__dir__(), *self._seen.totals()]

    def top_waits(self, count: int = 10) -> list[dict]:
        """The largest groups of waits: engine, reason, waiter, blocker, us, count."""
        return self._seen.top_waits(count)

    def programs(self) -> list[dict]:
        """Launches grouped by op and Program, longest first: op, program, launches, us, flops, hbm_bytes."""
        return self._seen.programs()

    def fidelity(self) -> dict:
        """What the predicted time rests on: `share` of the duration on documented, measured and assumed numbers,
        `instructions` by how well they are known, `numbers` (largest share first, with the change of the duration that
        10 % more of each would make), `largest_assumption`, and `examined`, the part of the device time that was
        re-timed for it. Re-times the Programs; the answer is kept."""
        if self._fidelity is None:
            self._fidelity = json.loads(self._seen.fidelity_json())
        return self._fidelity

    def summary(self) -> dict:
        """neuron-profile's summary fields (seconds, bytes, shares), with is_simulation = True and fidelity()."""
        return json.loads(self._seen.summary_json()) | {"fidelity": self.fidelity()}

    def write_perfetto(self, path: str | PathLike) -> None:
        """A trace for the Perfetto UI (ui.perfetto.dev)."""
        self._seen.write_perfetto(fspath(path))

    def write_html(self, path: str | PathLike, title: str = "trnsim report") -> None:
        """One self-contained page: timeline, engine activity, roofline, waits, Programs."""
        data = json.loads(self._seen.report_json())
        data |= {"title": title, "fidelity": self.fidelity()}
        # Inside a script element only "</" could end the data early.
        text = json.dumps(data, separators=(",", ":")).replace("</", "<\\/")
        page = files("trnsim").joinpath("report.html").read_text(encoding="utf-8")
        with open(path, "w", encoding="utf-8") as out:
            out.write(page.replace("/*DATA*/", text))


@contextmanager
def profile() -> Iterator[Run]:
    """Records every launch in the block; leaving it waits for the device. One at a time."""
    if profile.active:
        raise RuntimeError("trnsim.profile() is active already; it does not nest")
    profile.active = True
    run = Run()
    recording = _C.start_recording()
    try:
        yield run
    finally:
        profile.active = False
        run._session = recording.finish()


profile.active = False


def last_run() -> Run:
    """The newest launch of a Program, alone."""
    return Run(_C.last_launch())


def fidelity() -> dict:
    """last_run().fidelity()"""
    return last_run().fidelity()
