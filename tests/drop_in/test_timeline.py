"""The trace of launches that `tensim device --timeline` writes."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from tensim.drop_in.device import spans_as_json
from tensim.drop_in.timeline import write_timeline
from tensim.sim.cores.coprocessor.units import MATRIX, PACK, SPAN

PYTHON = os.environ.get("TENSIM_LIBRARY_PYTHON")
LAUNCHES = [
    {"chip": 0, "id": 0, "by": "host", "cores": 2, "begin_cycles": 2000, "end_cycles": None, "operation": None},
    {
        "chip": 0,
        "id": 7,
        "by": "dispatcher",
        "cores": 64,
        "begin_cycles": 5000,
        "end_cycles": 6000,
        "operation": "ttnn.add",
    },
    {"chip": 1, "id": 7, "by": "dispatcher", "cores": 64, "begin_cycles": 5500, "end_cycles": 6500, "operation": None},
]
RESULT = {
    "arch": "wormhole_b0", "board": "n300", "chips": 2, "clock_mhz": 1000, "cycles": 9000, "launches": LAUNCHES, "units_told": [],
}  # fmt: skip


def events_of(result, path):
    write_timeline(result, path)
    return json.loads(path.read_text())["traceEvents"]


def test_each_launch_is_a_span_of_its_chip_and_of_who_launched_it(tmp_path):
    events = events_of(RESULT, tmp_path / "launches.json")
    tracks = {(one["pid"], one["tid"]): one["args"]["name"] for one in events if one["name"] == "thread_name"}
    spans = [one for one in events if one["ph"] == "X"]
    found = [(one["name"], one["pid"], tracks[one["pid"], one["tid"]], one["ts"], one["dur"]) for one in spans]
    assert found == [
        ("program 0, not ended", 0, "launched by the host", 2.0, 7.0),
        ("program 7, ttnn.add", 0, "launched by the dispatcher", 5.0, 1.0),
        ("program 7", 1, "launched by the dispatcher", 5.5, 1.0),
    ]
    assert {one["args"]["name"] for one in events if one["name"] == "process_name"} == {
        "wormhole_b0 n300, chip 0",
        "wormhole_b0 n300, chip 1",
    }


def test_a_tile_that_tells_is_a_process_with_a_track_for_each_unit(tmp_path):
    spans = np.array([(MATRIX, 1, 0x26, 5000, 5008), (PACK, 2, 0x41, 5010, 5030), (MATRIX, 1, 0x26, 5020, 5024)], SPAN)
    told = [{"chip": 1, "place": "18-20", "spans": spans_as_json("wormhole_b0", spans)}]
    events = events_of(RESULT | {"units_told": told}, tmp_path / "units.json")
    (process,) = (one["pid"] for one in events if one["args"].get("name") == "chip 1, tile 18-20")
    tracks = {
        one["tid"]: one["args"]["name"] for one in events if one["pid"] == process and one["name"] == "thread_name"
    }
    found = [
        (tracks[one["tid"]], one["name"], one["ts"], one["dur"], one["args"]["thread"])
        for one in events if one["pid"] == process and one["ph"] == "X"
    ]  # fmt: skip
    assert found == [
        ("matrix", "MVMUL", 5, 0.008, 1),
        ("packers", "PACR", 5.01, 0.02, 2),
        ("matrix", "MVMUL", 5.02, 0.004, 1),
    ]


def refusal(*options, folder):
    """What `tensim device` says when it does not start."""
    command = [sys.executable, "-m", "tensim", "device", "--arch", "blackhole", *options, "--", "true"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, cwd=folder)
    assert done.returncode == 2
    return done.stderr


def test_units_without_a_timeline_are_refused(tmp_path):
    assert "name its file" in refusal("--timeline-units", "1-2", folder=tmp_path)


@pytest.mark.skipif(PYTHON is None, reason="no interpreter that has ttnn")
def test_units_of_what_is_no_worker_are_refused(tmp_path):
    said = refusal("--timeline", "t.json", "--timeline-units", "1-2,99-2", folder=tmp_path)
    assert "'99-2' is no worker of blackhole, which go from 1-2 to" in said


def test_a_command_that_opens_no_device_leaves_an_empty_trace(tmp_path):
    assert events_of(None, tmp_path / "nothing.json") == []


def test_a_trace_that_cannot_be_written_is_refused_before_the_work(tmp_path):
    trace = tmp_path / "no_folder" / "trace.json"
    command = [sys.executable, "-m", "tensim", "device", "--timeline", trace, "--", "true"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 2 and "its folder does not exist" in done.stderr


@pytest.mark.parametrize("option", ["--sample", "--check", "--dispach"])
def test_an_option_that_a_device_does_not_have_is_no_command(option):
    command = [sys.executable, "-m", "tensim", "device", option, "flit", "--", "true"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2 and f"No such option '{option}'" in done.stderr
