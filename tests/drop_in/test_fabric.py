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
TRACE = Path(__file__).with_name("programs_mesh_trace.py")
LIBRARY = library_with_torch()
EVERY = os.environ.get("TENSIM_LIBRARY_CASES") == "every"  # as `make test-library` does
CASES = {  # mesh, rows, columns, operations, places of routers
    "Blackhole": ("p150_x2", 1, 2, "point_to_point", {f"{x}-25" for x in range(20, 24)}),
    "Wormhole": ("n300", 1, 2, "all_gather", {"25-16", "18-16"}),
}
pytestmark = pytest.mark.skipif(LIBRARY is None, reason="no interpreter that has ttnn and torch")


def run(report, mesh, program, dispatch="slow"):
    """What a program and its arguments print, and the device's part of the report."""
    options = ["--mesh", mesh, "--dispatch", dispatch, "--json", str(report)]
    command = [sys.executable, "-m", "tensim", "device", *options, "--", LIBRARY.python, *map(str, program)]
    environment = os.environ | {"TENSIM_LIBRARY_PYTHON": LIBRARY.python}
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, env=environment)
    assert done.returncode == 0, done.stderr
    device = json.loads(report.read_text())["device"]
    assert not device["errors"]
    return done.stdout, device


@pytest.mark.parametrize("case", CASES)
def test_routers_carry_tensors_between_chips(case, tmp_path):
    mesh, rows, columns, names, places = CASES[case]
    said, device = run(tmp_path / "device.json", mesh, [PROGRAM, "FABRIC_1D", rows, columns, *names.split()])
    assert all(f"{name} True" in said for name in names.split())
    chips = rows * columns
    routers = [tile for tile in device["tiles"] if tile["place"] in places]
    assert device["chips"] == chips and len(routers) == chips * len(places)
    assert all(sum(tile["cores"].values()) > 10_000 for tile in routers)
    assert sum(link["bytes"] for link in device["links"]) > 32 * 128 * 2


def test_a_trace_of_all_chips_by_fast_dispatch(tmp_path):
    """Each chip's prefetcher reads queues of its own in the host's memory; an operation and a collective one replay."""
    said, device = run(tmp_path / "device.json", "p150_x2", [TRACE, 2], "fast")
    assert "gathered sums True" in said and "replays [True, True, True]" in said
    for chip in (0, 1):
        ended = [one for one in device["launches"] if one["chip"] == chip and one["end_cycles"] is not None]
        assert len(ended) >= 2 + 2 * 3  # the first time, and of three replays


@pytest.mark.parametrize("mesh", ["n300", "p150_x2"] if EVERY else ["n300"])
def test_the_timed_model_is_near_the_firmware(mesh):
    """The model's steps are fitted to silicon's rates, the firmware's are executed instructions."""
    firmware, model = measured(mesh, 4352, LIBRARY.python)
    for size, row in firmware.items():
        told = model[size]
        assert row["right"] and told["right"]
        assert told["round_trip"] == pytest.approx(row["round_trip"], rel=0.08)
        assert told["both"] == pytest.approx(row["both"], rel=0.18)
