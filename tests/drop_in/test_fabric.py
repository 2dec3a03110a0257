"""The vendor's fabric on chips at register level: its routers run as their firmware, and packets go over Ethernet links."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.drop_in.fabric_levels import measured
from tests.library.interpreters import library_with_torch

PROGRAM = Path(__file__).parents[1] / "library" / "mesh_program.py"
LIBRARY = library_with_torch()
EVERY = os.environ.get("TENSIM_LIBRARY_CASES") == "every"  # as `make test-library` does
CASES = {  # mesh, rows, columns, operations, places of routers
    "Blackhole": ("p150_x2", 1, 2, "point_to_point", {f"{x}-25" for x in range(20, 24)}),
    "Wormhole": ("n300", 1, 2, "all_gather", {"25-16", "18-16"}),
}
pytestmark = pytest.mark.skipif(LIBRARY is None, reason="no interpreter that has ttnn and torch")


def run(report, mesh, rows, columns, names):
    """The device's part of the report of operations, all of which gave the right bits."""
    command = [sys.executable, "-m", "tensim", "device", "--mesh", mesh, "--json", str(report), "--", LIBRARY.python]
    command += [str(PROGRAM), "FABRIC_1D", str(rows), str(columns), *names.split()]
    environment = os.environ | {"TENSIM_LIBRARY_PYTHON": LIBRARY.python}
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, env=environment)
    assert done.returncode == 0, done.stderr
    assert all(f"{name} True" in done.stdout for name in names.split())
    device = json.loads(report.read_text())["device"]
    assert not device["errors"]
    return device


@pytest.mark.parametrize("case", CASES)
def test_routers_carry_tensors_between_chips(case, tmp_path):
    mesh, rows, columns, names, places = CASES[case]
    device = run(tmp_path / "device.json", mesh, rows, columns, names)
    chips = rows * columns
    routers = [tile for tile in device["tiles"] if tile["place"] in places]
    assert device["chips"] == chips and len(routers) == chips * len(places)
    assert all(sum(tile["cores"].values()) > 10_000 for tile in routers)
    assert sum(link["bytes"] for link in device["links"]) > 32 * 128 * 2


@pytest.mark.parametrize("mesh", ["n300", "p150_x2"] if EVERY else ["n300"])
def test_the_timed_model_is_near_the_firmware(mesh):
    """The model's steps are fitted to silicon's rates, the firmware's are executed instructions."""
    firmware, model = measured(mesh, 4352, LIBRARY.python)
    for size, row in firmware.items():
        told = model[size]
        assert row["right"] and told["right"]
        assert told["round_trip"] == pytest.approx(row["round_trip"], rel=0.08)
        assert told["both"] == pytest.approx(row["both"], rel=0.18)
