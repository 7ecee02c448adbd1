"""Which Programs were made again for other shapes or constants, what hardware would have paid, and what helps."""

import re
import sys
from dataclasses import dataclass
from itertools import pairwise

# Hardware compiles with neuronx-cc, which is not modelled. These two are assumed: AWS's "autoport" tutorial has models
# above 70B (some 80 layers of 60 operators) take 30 to 60 minutes, and a single operator takes seconds.
SECONDS_A_PROGRAM, SECONDS_AN_OPERATOR = 2.0, 0.5
PROVENANCE = "assumed"


@dataclass
class Place:
    """One op or compiled function at one Python line, and the Programs it made, oldest first."""

    op: str
    line: str
    arguments: list[list[str]]
    operators: list[int]

    @property
    def again(self) -> int:
        """Programs after the first."""
        return len(self.arguments) - 1

    @property
    def seconds(self) -> float:
        """What hardware would have spent on the Programs after the first; assumed."""
        return sum(SECONDS_A_PROGRAM + SECONDS_AN_OPERATOR * count for count in self.operators[1:])

    def changes(self) -> dict[str, list[str]]:
        """Arguments that differ between the Programs, with their values in order: {"self": ["[1, 7]", "[1, 8]"]}."""
        named = [dict(_split(text) for text in arguments) for arguments in self.arguments]
        names = list(dict.fromkeys(name for arguments in named for name in arguments))
        values = {name: list(dict.fromkeys(a.get(name, "absent") for a in named)) for name in names}
        return {name: seen for name, seen in values.items() if len(seen) > 1}

    def advice(self) -> str:
        return "; ".join(dict.fromkeys(_advice(seen) for seen in self.changes().values())) or (
            "the layout in memory differs: make it the same with .contiguous()"
        )

    def __str__(self) -> str:
        where = f" at {self.line}" if self.line else ""
        lines = [f"{self.op}{where}: {self.again} again, about {self.seconds:.0f} s ({PROVENANCE})"]
        for name, seen in self.changes().items():
            shown = seen if len(seen) <= 6 else [*seen[:5], f"... {len(seen) - 6} more ...", seen[-1]]
            lines.append(f"    {name}: {', '.join(shown)}")
        return "\n".join([*lines, f"    -> {self.advice()}"])


class Recompiles(list):
    """Places that made more than one Program, the costliest first."""

    @property
    def seconds(self) -> float:
        return sum(place.seconds for place in self)

    def __str__(self) -> str:
        if not self:
            return "no op and no compiled function has made a second Program"
        again = sum(place.again for place in self)
        head = (
            f"{again} Programs were made again for other shapes or constants; hardware would have compiled about "
            f"{self.seconds:.0f} s for them ({PROVENANCE}: {SECONDS_A_PROGRAM:g} s a Program and "
            f"{SECONDS_AN_OPERATOR:g} s an operator, its caches cold)"
        )
        return "\n".join([head, *map(str, self)])


def recompiles() -> Recompiles:
    """The places whose shapes or constants changed from call to call since the process started, eager and compiled;
    print it to read it."""
    plugin = sys.modules.get("torch_neuronx._C")
    places: dict[tuple[str, str], Place] = {}
    for op, line, arguments, operators in plugin.made_programs() if plugin else []:
        place = places.setdefault((op, line), Place(op, line, [], []))
        place.arguments.append(arguments)
        place.operators.append(operators)
    return Recompiles(sorted((p for p in places.values() if p.again), key=lambda p: -p.seconds))


def _split(text: str) -> tuple[str, str]:
    name, _, value = text.partition(" ")
    return name, value


def _advice(values: list[str]) -> str:
    shapes = [re.search(r"\[([\d, ]*)\]", value) for value in values]
    if not all(shapes):
        return "a constant changes: pass it as a 0-dim tensor, or keep it the same"
    sizes = [[int(n) for n in shape[1].split(", ") if n] for shape in shapes]
    if len({len(size) for size in sizes}) > 1:
        return "the number of dims changes: keep it the same"
    for dim, along in enumerate(zip(*sizes)):
        steps = [b - a for a, b in pairwise(along)]
        if len(set(along)) > 2 and set(steps) == {steps[0]} and 0 < steps[0] <= 8:
            return f"dim {dim} grows by {steps[0]} from call to call: allocate its full length once (a static cache)"
    changing = [dim for dim, along in enumerate(zip(*sizes)) if len(set(along)) > 1]
    if not changing:
        return "a dtype changes: convert once, outside of the loop"
    dims = "dim " + ", ".join(map(str, changing))
    if len(values) <= 3:
        return f"{dims} changes: pad to the largest, or drop the last smaller batch"
    return f"{dims} takes {len(values)} sizes: pad to a few lengths (buckets)"
