"""`trnsim replay`: hardware profiles timed again."""

import gzip
import json

import pytest
import trnsim
from trnsim.__main__ import main

TABLE = """timestamp,duration,label,opcode,operands,subgraph,pc,instruction_type
10,5,Sync,NOP,cycle=1,sg00,1,
1000,517,Sync,DMA_DIRECT2D,"semaphore=8 sem_increment=16 src_elem_size=512 dst_elem_size=512 \
src_pattern=[512,1][128,1] dst_pattern=[262144,1][128,1] src_addr_imm=0x8005c03c0000 \
dst_addr_imm=0x802000037e00",sg00,2,REGULAR
3200,585,Scalar,COPY,"S[8] (qSyncDynamicHW)>=16 S[4] (Scalar)++@complete src=fp32@0x2000000[1,1][512,1] \
dst=fp32@0x4000[1,1][512,1] channels=128",sg00,7,REGULAR
"""


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "small.instructions.csv.gz"
    path.write_bytes(gzip.compress(TABLE.encode()))
    return path


def test_replay_prints_and_writes(table, tmp_path, capsys):
    written = [tmp_path / "p.json", tmp_path / "p.html"]
    options = ["--instructions", "--json", str(written[0]), "--html", str(written[1])]
    assert main(["replay", str(table), *options]) == 0
    out = capsys.readouterr().out
    assert "predicted" in out and "DMA_DIRECT2D" in out and "throttle phase unknown" in out
    rows = json.loads(written[0].read_text())
    assert [row["opcode"] for row in rows] == ["DMA_DIRECT2D", "COPY"]
    assert set(rows[1]) == {"pc", "subgraph", "engine", "opcode", "start_ns", "end_ns"}
    assert rows[0]["done_ns"] > rows[0]["end_ns"] > rows[0]["start_ns"] == 1000
    page = written[1].read_text()
    assert "/*DATA*/" not in page and "small" in page


def test_numbers_of_the_spec_can_be_changed(table):
    before, after = (trnsim.replay(table, numbers=n).rows[0] for n in (None, {"dma_trigger_1d_ns": 1000}))
    assert after["end_ns"] - before["end_ns"] == pytest.approx(
        1000 - trnsim.machine()["spec"]["dma_trigger_1d_ns"][0], abs=1
    )
    with pytest.raises(trnsim.Error, match="no number of this name"):
        trnsim.replay(table, numbers={"warp_ns": 1})


def test_a_damaged_table_is_one_clear_line(tmp_path, capsys):
    path = tmp_path / "cut.instructions.csv.gz"
    path.write_bytes(gzip.compress(TABLE.encode())[:-20])
    assert main(["replay", str(path)]) == 2
    assert "damaged or cut off" in capsys.readouterr().err
