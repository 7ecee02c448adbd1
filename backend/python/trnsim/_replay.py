"""Hardware profiles timed again: prediction beside measurement."""

import json
from importlib.resources import files
from os import PathLike, fspath

from trnsim import _C

_ERRORS = {
    "duration_error": "duration of compute instructions",
    "drift": "start, of the makespan",
    "transfer_error": "DMA, trigger to semaphore",
}
_OPCODES = "{:<13} {:<22} {:>6} {:>12} {:>13} {:>8}"
_INSTRUCTIONS = "{:<13} {:<22} {:>6} {:>10} {:>11} {:>9} {:>10} {:>10} {:>11}"


class Replay:
    """One profile and its prediction. Times are nanoseconds of the profile's clock; errors are shares."""

    def __init__(self, report: str, predictions: str):
        self.report = json.loads(report)
        self._predictions = predictions

    def __getattr__(self, name: str):
        """profile, makespan_ns, makespan_error, phase_known, duration_error, drift, transfer_error, activity, opcodes,
        notes, rows."""
        if name.startswith("_") or name not in self.report:
            raise AttributeError(name)
        return self.report[name]

    def write_json(self, path: str | PathLike) -> None:
        """A list of {pc, subgraph, engine, opcode, start_ns, end_ns, done_ns for DMA}, in the profile's own order."""
        with open(path, "w", encoding="utf-8") as out:
            out.write(self._predictions)

    def write_html(self, path: str | PathLike) -> None:
        """One self-contained page: both timelines above one another, opcodes, activity."""
        # Inside a script element only "</" could end the data early.
        data = json.dumps(self.report, separators=(",", ":")).replace("</", "<\\/")
        page = files("trnsim").joinpath("replay.html").read_text(encoding="utf-8")
        with open(path, "w", encoding="utf-8") as out:
            out.write(page.replace("/*DATA*/", data))

    def summary(self) -> str:
        """Makespan, errors, activity and a line for each opcode, as text."""
        us = {name: f"{ns / 1e3:.2f} us" for name, ns in self.makespan_ns.items()}
        error = f"{100 * self.makespan_error:+.2f} %"
        lines = [f"{self.profile}: {us['measured']} measured, {us['predicted']} predicted ({error})"]
        if not self.phase_known:
            lines.append(f"throttle phase unknown: {us['least']} to {us['most']} over its phases")
        for name, what in _ERRORS.items():
            s = self.report[name]
            shares = ", ".join(f"{key} {100 * s[key]:.2f} %" for key in ("median", "p90", "most"))
            lines.append(f"  {what:<33} {s['count']:6} rows: {shares}")
        for a in self.activity:
            shares = ", ".join(f"{100 * a[key]:6.2f} % {key}" for key in ("measured", "predicted"))
            lines.append(f"  {a['engine'] + ' active':<33} {shares}")
        lines.append("\n" + _OPCODES.format("engine", "opcode", "rows", "measured us", "predicted us", "median"))
        for o in self.opcodes:
            times = [f"{o[key] / 1e3:.3f}" for key in ("measured_ns", "predicted_ns")]
            median = f"{100 * o['error']['median']:.2f} %" + (" unmodelled" if o["unmodelled"] else "")
            lines.append(_OPCODES.format(o["engine"], o["opcode"], o["count"], *times, median))
        return "\n".join(lines + [f"note: {note}" for note in self.notes])

    def instructions(self) -> str:
        """A line for each instruction: both starts and durations in nanoseconds, and a transfer's completion."""
        heads = ("engine", "opcode", "pc", "start", "predicted", "duration", "predicted", "done", "predicted")
        lines = [_INSTRUCTIONS.format(*heads)]
        for r in self.rows:
            start, end = r["measured_start_ns"], r["measured_end_ns"]
            done = [f"{r[key]:.1f}" if key in r else "" for key in ("measured_done_ns", "done_ns")]
            durations = [end - start, f"{r['end_ns'] - r['start_ns']:.1f}"]
            line = _INSTRUCTIONS.format(r["engine"], r["opcode"], r["pc"], start, r["start_ns"], *durations, *done)
            lines.append(line.rstrip())
        return "\n".join(lines)


def replay(path: str | PathLike, unknown_phase: bool = False, numbers: dict[str, float] | None = None) -> Replay:
    """Times a hardware profile again and compares.

    path: NAME.instructions.csv[.gz] (with NAME.dma, NAME.semaphores and NAME.meta.json beside it) or the JSON export of
    neuron-profile / neuron-explorer. unknown_phase: ignore what the profile says of the tensor engine's throttle; the
    prediction is then an interval over its phases. numbers: other values for numbers of the Spec.
    """
    return Replay(*_C.replay(fspath(path), unknown_phase, numbers or {}))
