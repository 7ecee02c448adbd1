"""The demo itself: every claim it makes holds, and it writes what a person looks at."""

import os
import subprocess
import sys


def test_demo(tmp_path):
    environment = os.environ | {"TRNSIM_RUNTIME_DIR": str(tmp_path / "machine")}
    result = subprocess.run(
        [sys.executable, "demo/demo.py", "--out", str(tmp_path)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "Everything held." in result.stdout and "FAIL" not in result.stdout
    assert (tmp_path / "demo.pftrace").stat().st_size > 1000
    assert '"machine":"trn2"' in (tmp_path / "demo.html").read_text()
