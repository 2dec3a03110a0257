"""tt-metal's firmware, and the vendor's library above it, on a chip at register level; its wheel is at hand where
TENSIM_LIBRARY_PYTHON names an interpreter that has it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SUMS, QUEUES, ENDS = (Path(__file__).with_name(f"programs_{name}.py") for name in ("ttnn", "queues", "ends"))
PYTHON = os.environ.get("TENSIM_LIBRARY_PYTHON")
pytestmark = pytest.mark.skipif(PYTHON is None, reason="no interpreter that has ttnn")
GRIDS = {"wormhole_b0": 64, "blackhole": 110}  # workers, all of which run the kernels of a sum
EVERY = os.environ.get("TENSIM_LIBRARY_CASES") == "every"  # of both chips, as `make test-library` does


def run(chip, dispatch, program, report, *arguments, status=0, options=()):
    """What a program prints, and the device's part of the report."""
    options = ["--arch", chip, "--dispatch", dispatch, "--json", str(report), *options]
    command = [sys.executable, "-m", "tensim", "device", *options, "--", PYTHON, str(program), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500)
    assert done.returncode == status, done.stderr
    result = json.loads(report.read_text())
    assert result["status"] == status and not result["device"]["errors"]
    return done.stdout, result["device"]


@pytest.mark.parametrize("chip", list(GRIDS) if EVERY else ["wormhole_b0"])
def test_the_library_computes_on_its_own_firmware(chip, tmp_path):
    said, device = run(chip, "slow", SUMS, tmp_path / "device.json")
    assert "sums True products True" in said
    tiles = device["tiles"]
    assert len(tiles) > 64 and all(sum(tile["cores"].values()) > 100 for tile in tiles)
    assert any(tile["units"].get("packers", tile["units"].get("pack")) for tile in tiles)
    launches = device["launches"]
    assert len(launches) == 2 and all(
        one["cores"] == GRIDS[chip] and one["begin_cycles"] < one["end_cycles"] for one in launches
    )


@pytest.mark.parametrize("chip", list(GRIDS) if EVERY else ["blackhole"])
def test_two_queues_events_and_a_trace_by_fast_dispatch(chip, tmp_path):
    """Prefetchers and dispatchers run as the kernels they are, and read queues in the host's memory."""
    said, device = run(chip, "fast", QUEUES, tmp_path / "device.json")
    assert "replays [True, True, True, True, True]" in said
    ended = [one for one in device["launches"] if one["end_cycles"] is not None]
    assert len(ended) >= 1 + 2 * 5 and all(one["begin_cycles"] < one["end_cycles"] for one in ended)
    dispatchers, *programs = device["launches"]
    assert [one["by"] for one in device["launches"]] == ["host"] + ["dispatcher"] * len(programs)
    assert dispatchers["cores"] < 8 and all(one["cores"] >= 64 for one in programs)
    # the two programs of a trace follow each other without the host
    pairs = [
        after["begin_cycles"] - before["end_cycles"] for before, after in zip(ended[-10::2], ended[-9::2], strict=True)
    ]
    assert all(0 < gap < 5000 for gap in pairs)


def test_by_flits_a_trace_takes_nearly_the_cycles_that_it_takes_by_packets(tmp_path):
    """With the same results; the programs of five replays, which the host does not touch."""
    cycles = {}
    for noc in ("packet", "flit"):
        said, device = run("blackhole", "fast", QUEUES, tmp_path / f"{noc}.json", options=["--noc", noc])
        assert "replays [True, True, True, True, True]" in said
        ended = [one for one in device["launches"] if one["end_cycles"] is not None][-10:]
        cycles[noc] = sum(one["end_cycles"] - one["begin_cycles"] for one in ended)
    assert cycles["flit"] != cycles["packet"]
    assert cycles["flit"] == pytest.approx(cycles["packet"], rel=0.03)


def test_a_program_may_end_in_the_middle_of_fast_dispatch(tmp_path):
    """The chip reads and writes memory of a process that is there no more: the report is made, the status is the program's."""
    _, device = run("blackhole", "fast", ENDS, tmp_path / "device.json", "3", status=3)
    assert device["cycles"] > 0 and device["tiles"]
