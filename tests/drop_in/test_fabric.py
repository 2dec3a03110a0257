"""The vendor's fabric on chips at register level: its routers run as their firmware, and packets go over Ethernet links."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.library.interpreters import library_with_torch

PROGRAM = Path(__file__).parents[1] / "library" / "mesh_program.py"
LIBRARY = library_with_torch()


@pytest.mark.skipif(LIBRARY is None, reason="no interpreter that has ttnn and torch")
def test_routers_carry_a_tensor_to_the_other_chip(tmp_path):
    report = tmp_path / "device.json"
    command = [sys.executable, "-m", "tensim", "device", "--mesh", "p150_x2", "--json", str(report), "--"]
    done = subprocess.run(
        [*command, LIBRARY.python, str(PROGRAM), "FABRIC_1D", "1", "2", "point_to_point"],
        capture_output=True,
        text=True,
        timeout=500,
        env=os.environ | {"TENSIM_LIBRARY_PYTHON": LIBRARY.python},
    )
    assert done.returncode == 0, done.stderr
    assert "point_to_point True" in done.stdout
    device = json.loads(report.read_text())["device"]
    assert not device["errors"] and device["chips"] == 2
    assert sum(link["bytes"] for link in device["links"] if link["chip"] == 0) > 32 * 128 * 2
    routers = [tile for tile in device["tiles"] if tile["place"] in {f"{x}-25" for x in range(20, 24)}]
    assert len(routers) == 8 and all(sum(tile["cores"].values()) > 10_000 for tile in routers)
