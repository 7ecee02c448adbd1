"""Strict mode and `trnsim check`: what is wrong with a Program, and where."""

import json
import warnings

import pytest
import torch
from trnsim.__main__ import main

ADD = """program "add" target "trn2" cores 1
slot 0 input "a" float32 32768 [128,64]
slot 1 output "c" float32 32768 [128,64]
source 1 "kernel.py:12"
c0.sync dma_copy dst=sbuf.float32@p0+0[1x128,1x64] src=hbm.float32@s0+0[64x128,1x64] queue=0 post=s0 from=1
c0.vector tensor_copy dst=sbuf.float32@p0+256[1x128,1x64] src=sbuf.float32@p0+0[1x128,1x64] wait=s0>=1 post=s1 from=1
c0.scalar dma_copy dst=hbm.float32@s1+0[64x128,1x64] src=sbuf.float32@p0+256[1x128,1x64] queue=1 wait=s1>=1 from=1
"""


@pytest.fixture
def check(tmp_path, capsys):
    def run(text: str, *options: str) -> tuple[int, str]:
        file = tmp_path / "program.asm"
        file.write_text(text, encoding="utf-8")
        return int(main(["check", str(file), *options])), capsys.readouterr().out

    return run


def test_a_legal_program(check):
    code, out = check(ADD)
    assert code == 0
    assert out.endswith("legal\n")


def test_a_race_is_explained(check):
    code, out = check(ADD.replace(" wait=s0>=1", ""))
    assert code == 1
    assert "race: #1 tensor_copy (vector) reads what #0 dma_copy (DMA queue 0) may still be writing" in out
    assert "bytes 0..255 of sbuf partitions 0..127 (256 of each)" in out
    assert "missing: wait=s0>=1 of #1" in out
    assert out.count("kernel.py:12") == 2


def test_findings_as_json(check):
    code, out = check(ADD.replace("wait=s1>=1", "wait=s1>=2"), "--json")
    assert code == 1
    (finding,) = json.loads(out)
    assert finding["kind"] == "semaphore underflow"
    assert "only 1 instruction posts s1" in finding["rule"]
    assert not finding["advice"]


def test_nan_is_a_value_in_pytorch_and_news_in_strict_mode():
    x = torch.tensor([1.0, -1.0]).to("neuron")
    with pytest.warns(UserWarning, match=r"NRT_EXEC_COMPLETED_WITH_NUM_ERR.*produced NaN in output.*aten::log"):
        y = torch.log(x).cpu()
    assert y[0] == 0 and torch.isnan(y[1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch.isnan(torch.exp(y.to("neuron")).cpu()[1])  # it was there before
