"""What `trnsim` says of a run: times, waits, exports, modes."""

import json

import pytest
import torch
import trnsim


@pytest.fixture
def operands():
    g = torch.Generator().manual_seed(5)
    return [torch.randn(256, 256, generator=g).to("neuron") for _ in range(2)]


@pytest.fixture
def run(operands):
    a, b = operands
    torch.neuron.synchronize()
    with trnsim.profile() as run:
        a @ b
    return run


def test_a_matrix_product_is_one_launch_with_its_flops(run):
    assert run.launches == 1
    # PE transposes are no arithmetic: exactly the product's multiply-adds count.
    assert run.flops == 2 * 256**3
    assert run.duration_us >= run.device_us > 0
    assert 0 < run.active_us["tensor"] < run.device_us


def test_hbm_traffic_covers_operands_and_result(run):
    assert run.hbm_bytes >= 3 * 256 * 256 * 4


def test_waits_have_engine_and_reason(run):
    waits = run.top_waits(5)
    assert waits and all(w["us"] > 0 and w["reason"] and w["engine"] for w in waits)
    assert [w["us"] for w in waits] == sorted((w["us"] for w in waits), reverse=True)


def test_the_same_program_takes_the_same_time(operands):
    a, b = operands
    durations = set()
    for _ in range(3):
        with trnsim.profile() as run:
            a @ b
        durations.add(run.programs()[0]["us"])
    assert len(durations) == 1


def test_summary_has_neuron_profiles_names(run):
    summary = run.summary()
    assert summary["is_simulation"] is True
    for name in (
        "total_time",
        "tensor_engine_active_time_percent",
        "hbm_read_bytes",
        "dma_transfer_count",
        "hfu_estimated_percent",
    ):
        assert summary[name] >= 0
    assert summary["matmul_instruction_count"] > 0


def fields(message: bytes):
    """(number, value) of a protobuf message: varints as ints, the rest as bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        else:
            assert key & 7 == 2
            size = varint()
            yield key >> 3, message[at : at + size]
            at += size


def test_perfetto_slices_nest_on_every_track(run, tmp_path):
    run.write_perfetto(tmp_path / "t.pftrace")
    open_slices, names = {}, set()
    for number, packet in fields((tmp_path / "t.pftrace").read_bytes()):
        assert number == 1  # Trace.packet
        packet = dict(fields(packet))
        if 11 not in packet:  # TracePacket.track_event
            continue
        event = dict(fields(packet[11]))
        stack = open_slices.setdefault(event[11], [])
        if event[9] == 1:  # TYPE_SLICE_BEGIN
            assert not stack or packet[8] >= stack[-1]
            stack.append(packet[8])
            names.add(event[23].decode())
        else:
            assert packet[8] >= stack.pop()
    assert all(not stack for stack in open_slices.values())
    assert {"nc_matmul", "dma_copy"} <= names


def test_html_is_one_file_with_its_data(run, tmp_path):
    run.write_html(tmp_path / "r.html", title="</script> is not the end")
    page = (tmp_path / "r.html").read_text()
    start = page.index('type="application/json">') + len('type="application/json">')
    data = json.loads(page[start : page.index("</script>", start)])
    assert data["launches"] == 1 and data["title"] == "</script> is not the end"
    assert "http://" not in page and "src=" not in page


def test_a_run_is_read_after_its_block():
    with trnsim.profile() as run:
        with pytest.raises(RuntimeError, match="after the `with"):
            run.duration_us
        with pytest.raises(RuntimeError, match="does not nest"), trnsim.profile():
            pass


def test_time_alone_leaves_memory_alone(operands):
    a, b = operands
    a + b  # compiled and loaded
    out = torch.full((256, 256), 7.0).to("neuron")
    with trnsim.mode("time"), trnsim.profile() as run:
        torch.add(a, b, out=out)
        torch.neuron.synchronize()
    assert run.device_us > 0
    assert torch.equal(out.cpu(), torch.full((256, 256), 7.0))


def test_an_unknown_mode_is_refused():
    with pytest.raises(ValueError, match="function, time, both"), trnsim.mode("fast"):
        pass


def test_the_machine_says_where_its_numbers_come_from():
    spec = trnsim.machine()["spec"]
    assert spec["tensor_ghz"][0] == 2.4
    assert {provenance for _, provenance, _ in spec.values()} == {"documented", "measured", "assumed"}


TIMES = """
import torch, trnsim

for n in (128, 4096):
    a, b = (torch.empty(n, n, dtype=torch.bfloat16, device="neuron") for _ in range(2))
    with trnsim.profile() as run:
        a @ b
    print(run.device_us)
"""


def test_physical_cores_share_a_large_product_and_leave_a_small_one_to_one_of_them(fresh_python):
    small, large = zip(
        *(
            map(float, fresh_python(TIMES, TRNSIM_MODE="time", NEURON_LOGICAL_NC_CONFIG=cores).split())
            for cores in ("1", "2")
        )
    )
    assert small[0] == small[1]
    assert 0.5 <= large[1] / large[0] < 0.6  # half, and what both load
