"""torch.profiler with the neuron device: kernels at simulated times, linked to the ops that asked for them."""

import json

import torch
import trnsim
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile, record_function, schedule

BOTH = (ProfilerActivity.CPU, ProfilerActivity.PrivateUse1)


def work(size: int = 64) -> torch.Tensor:
    a = torch.ones(size, size).to("neuron")
    with record_function("my block"):
        b = a @ a
    return torch.relu(b).cpu()


def kernels(prof: profile) -> list:
    return [e for e in prof.events() if e.device_type == DeviceType.PrivateUse1]


def test_kernels_take_the_time_that_the_simulator_predicts():
    work()
    with trnsim.profile() as run, profile(activities=BOTH) as prof:
        work()
    launched = {p["program"]: p["us"] for p in run.programs()}
    seen = {e.name: e.time_range.elapsed_us() for e in kernels(prof) if not e.name.startswith("Memcpy")}
    assert seen.keys() == launched.keys() and len(seen) == 2
    for name, us in launched.items():
        assert abs(seen[name] - us) < 0.01  # a nanosecond in either


def test_key_averages_have_device_columns_by_op():
    work()
    with profile(activities=BOTH) as prof:
        work()
    rows = {e.key: e for e in prof.key_averages()}
    total = sum(e.time_range.elapsed_us() for e in kernels(prof))
    assert rows["aten::mm"].device_time_total > 0
    assert rows["aten::relu"].device_time_total > 0
    assert rows["my block"].device_time_total == rows["aten::matmul"].device_time_total > 0
    assert sum(e.self_device_time_total for e in kernels(prof)) == total
    assert "Self NEURON" in prof.key_averages().table(sort_by="self_device_time_total").replace("neuron", "NEURON")


def test_the_chrome_trace_names_op_line_and_engines(tmp_path):
    work()
    with profile(activities=BOTH, with_stack=True) as prof:
        work()
    path = tmp_path / "trace.json"
    prof.export_chrome_trace(str(path))
    events = json.loads(path.read_text())["traceEvents"]
    mm = next(e for e in events if e.get("cat") == "kernel" and e["args"]["op"] == "aten::mm")
    assert "test_profiler.py:" in mm["args"]["source"]
    assert mm["args"]["engine"] in ("tensor", "dma")
    assert mm["args"]["tensor busy us"] > 0
    copies = {e["name"]: e["args"]["bytes"] for e in events if e.get("cat") == "gpu_memcpy"}
    assert copies == {"Memcpy HtoD": 64 * 64 * 4, "Memcpy DtoH": 64 * 64 * 4}
    labels = {e["args"]["name"] for e in events if e.get("name") == "process_name"}
    assert "neuron:0" in labels
    starts = {e["id"] for e in events if e.get("ph") == "s" and e["cat"] == "ac2g"}
    assert starts == {e["id"] for e in events if e.get("ph") == "f" and e["cat"] == "ac2g"} != set()


def test_a_schedule_gives_each_active_step():
    traces = []
    with profile(
        activities=BOTH,
        schedule=schedule(wait=1, warmup=1, active=1, repeat=2),
        on_trace_ready=lambda p: traces.append([e.name for e in kernels(p)]),
    ) as prof:
        for _ in range(6):
            work()
            prof.step()
    assert len(traces) == 2 and traces[0] == traces[1]
    assert len(traces[0]) == 4  # two Programs, two copies


def test_backward_kernels_belong_to_their_ops():
    a = torch.ones(8, 8, device="neuron", requires_grad=True)
    with profile(activities=BOTH) as prof:
        (a @ a).sum().backward()
        torch.neuron.synchronize()
    linked = {e.key for e in prof.key_averages() if e.device_type == DeviceType.CPU and e.device_time_total > 0}
    assert {"aten::mm", "aten::sum", "MmBackward0"} <= linked


def test_nothing_is_recorded_without_the_device_activity():
    with profile(activities=[ProfilerActivity.CPU]) as prof:
        work()
    assert kernels(prof) == []
