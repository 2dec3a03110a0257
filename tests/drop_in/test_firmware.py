"""tt-metal's firmware, and the vendor's library above it, on a chip at register level; its wheel is at hand where
TENSIM_LIBRARY_PYTHON names an interpreter that has it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("programs_ttnn.py")
PYTHON = os.environ.get("TENSIM_LIBRARY_PYTHON")
pytestmark = pytest.mark.skipif(PYTHON is None, reason="no interpreter that has ttnn")


@pytest.mark.parametrize("chip", ["wormhole_b0", "blackhole"])
def test_the_library_computes_on_its_own_firmware(chip, tmp_path):
    report = tmp_path / "device.json"
    command = [
        sys.executable,
        "-m",
        "tensim",
        "device",
        "--arch",
        chip,
        "--json",
        str(report),
        "--",
        PYTHON,
        str(PROGRAM),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    assert "sums True products True" in done.stdout
    result = json.loads(report.read_text())
    assert result["status"] == 0 and not result["device"]["errors"]
    tiles = result["device"]["tiles"]
    assert len(tiles) > 64 and all(sum(tile["cores"].values()) > 100 for tile in tiles)
    assert any(tile["units"].get("packers", tile["units"].get("pack")) for tile in tiles)
