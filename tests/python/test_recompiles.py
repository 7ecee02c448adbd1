"""trnsim.recompiles(): which shapes and constants made Programs again, where, at what cost, and what helps."""

import json

SCRIPT = """
import json, torch, trnsim

def grow(length):
    return torch.ones(2, length, device="neuron").exp()  # the line that the report names

for length in (8, 9, 10, 11):
    grow(length)
for width in (4, 6):
    torch.ones(width, 3, device="neuron").sin()
for _ in range(3):
    torch.ones(5, device="neuron").cos()
report = trnsim.recompiles()
print(json.dumps([[p.op, p.line, p.again, p.seconds, p.changes(), p.advice()] for p in report]))
print(str(report).splitlines()[0])
"""


def test_the_report(fresh_python):
    places, head = fresh_python(SCRIPT, TORCH_NEURONX_NEFF_DISABLE_CACHE="1").splitlines()
    found = {op: rest for op, *rest in json.loads(places)}
    assert "aten::cos" not in found  # the same shape thrice is one Program

    line, again, seconds, changes, advice = found["aten::exp"]
    assert line.endswith(":5")
    assert again == 3
    assert seconds == 3 * 2.5  # two seconds a Program and half a second for its operator
    assert list(changes.values()) == [["float32[2, 8]", "float32[2, 9]", "float32[2, 10]", "float32[2, 11]"]]
    assert "static cache" in advice

    _, again, _, _, advice = found["aten::sin"]
    assert again == 1
    assert "pad" in advice
    assert "assumed" in head


def test_nothing_to_report(fresh_python):
    script = "import torch, trnsim; torch.ones(2, device='neuron').exp(); print(len(trnsim.recompiles()))"
    assert fresh_python(script).strip() == "0"
