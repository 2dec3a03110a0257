"""The trace of launches that `tensim device --timeline` writes."""

import json
import subprocess
import sys

from tensim.drop_in.timeline import write_timeline

LAUNCHES = [
    {"chip": 0, "id": 0, "by": "host", "cores": 2, "begin_cycles": 2000, "end_cycles": None},
    {"chip": 0, "id": 7, "by": "dispatcher", "cores": 64, "begin_cycles": 5000, "end_cycles": 6000},
    {"chip": 1, "id": 7, "by": "dispatcher", "cores": 64, "begin_cycles": 5500, "end_cycles": 6500},
]
RESULT = {"arch": "wormhole_b0", "board": "n300", "chips": 2, "clock_mhz": 1000, "cycles": 9000, "launches": LAUNCHES}


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
        ("program 7", 0, "launched by the dispatcher", 5.0, 1.0),
        ("program 7", 1, "launched by the dispatcher", 5.5, 1.0),
    ]
    assert {one["args"]["name"] for one in events if one["name"] == "process_name"} == {
        "wormhole_b0 n300, chip 0",
        "wormhole_b0 n300, chip 1",
    }


def test_a_command_that_opens_no_device_leaves_an_empty_trace(tmp_path):
    assert events_of(None, tmp_path / "nothing.json") == []


def test_a_trace_that_cannot_be_written_is_refused_before_the_work(tmp_path):
    trace = tmp_path / "no_folder" / "trace.json"
    command = [sys.executable, "-m", "tensim", "device", "--timeline", trace, "--", "true"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 2 and "its folder does not exist" in done.stderr
