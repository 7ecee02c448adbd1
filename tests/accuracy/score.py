"""Scores the simulator against hardware profiles and published figures: scores.csv and the README's accuracy table."""

import argparse
import csv
import os
import sys
from pathlib import Path

import figures
import fit
import trnsim

HERE = Path(__file__).parent
README = HERE.parents[1] / "README.md"
BEGIN, END = "<!-- accuracy: written by tests/accuracy/score.py -->", "<!-- end of accuracy -->"
COLUMNS = (
    "what",
    "how",
    "measured",
    "predicted",
    "unit",
    "error %",
    "duration median %",
    "duration p90 %",
    "drift median %",
    "drift most %",
    "DMA median %",
    "DMA p90 %",
    "activity points",
)


def percent(x: float) -> str:
    return f"{100 * x:.2f}"


def profile_row(path: Path, how: str, numbers: dict[str, float] | None) -> dict[str, str]:
    r = trnsim.replay(path, numbers=numbers)
    compared = [a for a in r.activity if a["engine"] in ("Tensor", "Vector", "Scalar", "DMA")]
    values = (
        r.profile,
        how,
        f"{r.makespan_ns['measured']:.0f}",
        f"{r.makespan_ns['predicted']:.0f}",
        "ns",
        f"{100 * r.makespan_error:+.2f}",
        percent(r.duration_error["median"]),
        percent(r.duration_error["p90"]),
        percent(r.drift["median"]),
        percent(r.drift["most"]),
        percent(r.transfer_error["median"]),
        percent(r.transfer_error["p90"]),
        f"{max(100 * abs(a['predicted'] - a['measured']) for a in compared):.1f}",
    )
    return dict(zip(COLUMNS, values, strict=True))


def rows(folder: Path, steps: int) -> list[dict[str, str]]:
    paths = fit.profiles(folder)
    out = [profile_row(path, "fitted", None) for path in paths]
    for path in paths:
        others = [other for other in paths if other != path]
        out.append(profile_row(path, "left out", fit.fit(others, steps)))
    for f in figures.scored():
        error = f"{100 * (f.predicted / f.measured - 1):+.2f}"
        values = (f.what, f.source, f"{f.measured:g}", f"{f.predicted:.1f}", f.unit, error)
        out.append(dict(zip(COLUMNS, values, strict=False)))
    return out


def table(scores: list[dict[str, str]]) -> str:
    shown = [row for row in scores if row.get("duration median %")]
    heads = [c for c in COLUMNS if c != "unit"]
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(row[head] for head in heads) + " |" for row in shown]
    errors = sorted(abs(float(row["error %"])) for row in scores if not row.get("duration median %"))
    if errors:
        middle, ninth = errors[len(errors) // 2], errors[int(0.9 * (len(errors) - 1))]
        lines.append("")
        lines.append(
            f"Published figures ({len(errors)} that name an instruction or a DMA size): median error {middle:.1f} %, "
            f"90th percentile {ninth:.1f} %, largest {errors[-1]:.1f} %."
        )
    return "\n".join(lines)


def write_readme(text: str) -> None:
    page = README.read_text(encoding="utf-8")
    if BEGIN not in page:
        return
    head, rest = page.split(BEGIN)
    README.write_text(f"{head}{BEGIN}\n{text}\n{END}{rest.split(END)[1]}", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=os.environ.get("TRNSIM_PROFILES"))
    parser.add_argument("--steps", type=int, default=400, help="trials of each leave-one-out fit")
    args = parser.parse_args()
    if not args.folder or not fit.profiles(Path(args.folder)):
        print("no hardware profiles: name a folder, or set TRNSIM_PROFILES", file=sys.stderr)
        return 2
    scores = rows(Path(args.folder), args.steps)
    with open(HERE / "scores.csv", "w", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, COLUMNS)
        writer.writeheader()
        writer.writerows(scores)
    write_readme(table(scores))
    print(table(scores))
    return 0


if __name__ == "__main__":
    sys.exit(main())
