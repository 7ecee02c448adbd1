"""Published measurements that name an instruction or a DMA size, timed by replaying the table a profile would show."""

import csv
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

import trnsim

HERE = Path(__file__).parent
HEADER = "timestamp,duration,label,opcode,operands,subgraph,pc,instruction_type\n"


@dataclass
class Figure:
    what: str
    source: str
    measured: float
    predicted: float
    unit: str


def timed(label: str, opcode: str, operands: str, repeats: int) -> list[dict]:
    """Rows of a replay of `repeats` such instructions, one after another; the tensor engine at full rate."""
    lines = [f'{100 * i},50,{label},{opcode},"{operands}",sg00,{i},REGULAR\n' for i in range(repeats)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "figure.instructions.csv")
        path.write_text(HEADER + "".join(lines), encoding="utf-8")
        rate = {"timestamp": 0, "duration": 1000000, "k": 4 if "throttled" in operands else 8, "n": 8}
        Path(folder, "figure.meta.json").write_text(json.dumps({"throttle_events": [rate]}), encoding="utf-8")
        return trnsim.replay(path).rows


def predicted(row: dict[str, str]) -> float:
    metric, label, opcode, operands = (row[key] for key in ("metric", "label", "opcode", "operands"))
    if metric == "duration":
        (only,) = timed(label, opcode, operands, 1)
        return only["end_ns"] - only["start_ns"]
    if metric == "done":
        (only,) = timed(label, opcode, operands, 1)
        return only["done_ns"] - only["start_ns"]
    rows = timed(label, opcode, operands, 6)  # metric "interval": of ends, once they follow each other
    return rows[5]["end_ns"] - rows[4]["end_ns"]


def scored() -> list[Figure]:
    with open(HERE / "figures.csv", newline="", encoding="utf-8") as table:
        return [
            Figure(row["what"], row["id"], float(row["value"]), predicted(row), "ns") for row in csv.DictReader(table)
        ]
