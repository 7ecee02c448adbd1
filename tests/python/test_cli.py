"""The command `trnsim`: tables, pages, and files good and bad."""

import json
import os
import subprocess
import sys

import pytest
from trnsim import _C

PROGRAM = """program "copy" target "{target}" cores 1
slot 0 input "a" float32 16384 [64,64]
slot 1 output "b" float32 16384 [64,64]
c0.sync dma_copy dst=sbuf.float32@p0+0[1x64,1x64] src=hbm.float32@s0+0[64x64,1x64] post=s0
{middle}
c0.sync dma_copy dst=hbm.float32@s1+0[64x64,1x64] src=sbuf.float32@p0+512[1x64,1x64] wait=s1>=1
"""
COPY = "c0.vector tensor_copy dst=sbuf.float32@p0+512[1x64,1x64] src=sbuf.float32@p0+0[1x64,1x64] wait=s0>=1 post=s1"
EXPONENTIAL = COPY.replace("tensor_copy", "exponential")


def trnsim(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "trnsim", *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )


@pytest.fixture
def program(tmp_path):
    def write(middle=COPY, target="trn2", name="program.asm"):
        path = tmp_path / name
        path.write_text(PROGRAM.format(middle=middle, target=target))
        return path

    return write


def test_isa_prints_the_table_in_three_formats():
    names = [i["name"] for i in json.loads(trnsim("isa", "--format", "json").stdout)["instructions"]]
    text, markdown = trnsim("isa").stdout, trnsim("isa", "--format", "markdown").stdout
    assert "nc_matmul" in names and "rng" in names
    for name in names:
        assert f"\n  {name} " in text and f"\n## {name}\n" in markdown


def test_isa_prints_one_card():
    done = trnsim("isa", "nc_matmul")
    assert done.returncode == 0 and "Arguments" in done.stdout and "Refused on trn2" in done.stdout
    assert "needs trn3" in trnsim("isa", "exponential").stdout
    assert "needs trn3" not in trnsim("isa", "exponential", "--target", "trn3").stdout
    assert "needs trn3" not in trnsim("isa", "exponential", TRNSIM_SPEC="trn3").stdout
    missing = trnsim("isa", "nc_matmull")
    assert missing.returncode == 2 and "nc_matmull" in missing.stderr and "Traceback" not in missing.stderr


def test_asm_disasm_and_check_go_round(program, tmp_path):
    source, executable = program(), tmp_path / "program.neff"
    assert trnsim("asm", source, "-o", executable).returncode == 0
    text = trnsim("disasm", executable)
    assert text.returncode == 0
    (tmp_path / "again.asm").write_text(text.stdout)
    assert trnsim("asm", tmp_path / "again.asm", "-o", tmp_path / "again.neff").returncode == 0
    assert (tmp_path / "again.neff").read_bytes() == executable.read_bytes()
    checked = trnsim("check", source, executable)
    assert checked.returncode == 0 and checked.stdout.count(": legal") == 2


def test_check_goes_by_the_programs_target(program):
    old, fresh = trnsim("check", program(EXPONENTIAL)), trnsim("check", program(EXPONENTIAL, "trn3"))
    assert old.returncode == 1 and "exponential needs trn3" in old.stdout
    assert fresh.returncode == 0
    unknown = trnsim("check", program(target="trn9"))
    assert unknown.returncode == 2 and "trn9" in unknown.stderr


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda b: b[:100], "shorter than a NEFF header"),
        (lambda b: b[:-8], "truncated"),
        (lambda b: b[:2000] + bytes([b[2000] ^ 1]) + b[2001:], "damaged"),
        (lambda b: bytes(1024) + b[1024:], "no NEFF"),
    ],
)
def test_damaged_executables_are_named(program, tmp_path, damage, message):
    good = _C.assemble(program().read_text())
    bad = tmp_path / "bad.neff"
    bad.write_bytes(damage(good))
    for command in ("disasm", "check"):
        done = trnsim(command, bad)
        assert done.returncode == 2 and message in done.stderr and "bad.neff" in done.stderr
        assert "Traceback" not in done.stderr


def test_bad_text_names_line_and_column(program, tmp_path):
    done = trnsim("asm", program("c0.vector tensor_kopy"), "-o", tmp_path / "x.neff")
    assert done.returncode == 2 and "line 5" in done.stderr and "tensor_kopy" in done.stderr
    assert not (tmp_path / "x.neff").exists()
    illegal = trnsim("asm", program(EXPONENTIAL), "-o", tmp_path / "x.neff")
    assert illegal.returncode == 1 and "needs trn3" in illegal.stderr and not (tmp_path / "x.neff").exists()
    assert trnsim("asm", "--unchecked", program(EXPONENTIAL), "-o", tmp_path / "x.neff").returncode == 0
    nothing = trnsim("check", tmp_path / "nothing.asm")
    assert nothing.returncode == 2 and "nothing.asm" in nothing.stderr


def test_time_says_how_long_and_streams_the_timeline(program, tmp_path):
    trace = tmp_path / "t.pftrace"
    told = trnsim("time", program(), "--trace", trace)
    assert told.returncode == 0 and "3 instructions" in told.stdout and "vector" in told.stdout
    assert b"tensor_copy" in trace.read_bytes()
    quiet = json.loads(trnsim("time", program(), "--json").stdout)
    assert f"{quiet['duration_us']:.3f} us" in told.stdout
    assert quiet["instructions"] == 3 and quiet["active_us"]["vector"] > 0
    refused = trnsim("time", program(EXPONENTIAL))
    assert refused.returncode == 2 and "Traceback" not in refused.stderr


def test_ops_lists_what_becomes_of_an_operator():
    done = trnsim("ops", "add", "--format", "json")
    rows = {row["op"]: row for row in json.loads(done.stdout)}
    assert rows["add.Tensor"]["status"] == rows["add.out"]["status"] == "device"
    assert rows["add.out"]["lowering"] == "add.Tensor" and rows["add.Tensor"]["schema"].startswith("aten::add.Tensor(")
    assert " device " in trnsim("ops", "mm").stdout and "1 device" in trnsim("ops", "add.Tensor").stdout
    assert "| linalg_svd | composite |" in trnsim("ops", "linalg_svd", "--format", "markdown").stdout
    assert trnsim("ops", "_linalg_svd.U").stdout.split()[1] == "host"


def test_ops_knows_no_other_names():
    done = trnsim("ops", "nonsense")
    assert done.returncode == 2 and "nonsense" in done.stderr
