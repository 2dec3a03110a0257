"""What the library refuses in slow dispatch and has below tensim, metal traces and managers of one sub-device; signposts.

Of traces: what is captured, what a replay runs and takes, and what a card refuses.
"""

import csv
import json
import os
import subprocess
import sys
import textwrap

import pytest

from tensim.library.traces import Traces
from tensim.sim.errors import UsageError
from tests.library.test_device import COPY, FAULT, launches
from tests.library.test_wheel import CHIPS, LIBRARY

CAPTURED = """
copies = ttnn.decorators.FastOperation("ttnn.copy", copy)
copies(tensor)
trace = ttnn.begin_trace_capture(device, cq_id=0)
assert ttnn.is_trace_capture_active(device)
copies(tensor)
ttnn.decorators.FastOperation("ttnn.again", copy)(tensor)
ttnn.end_trace_capture(device, trace, cq_id=0)
assert not ttnn.is_trace_capture_active(device)
"""


def traced(behind, kernel=COPY, captured=CAPTURED):
    return launches(kernel, more=captured + textwrap.dedent(behind))


def test_a_replay_runs_what_was_captured_on_what_is_there_then(library, tmp_path):
    """While the trace is captured nothing runs; each replay reads its input anew."""
    behind = """
    device.write(*target, 0x200000, bytes(256))
    device.write(*bank, 0x200000, struct.pack("<16I", *range(200, 216)))
    assert device.read(*target, 0x200000, 256) == bytes(256)
    ttnn.execute_trace(device, trace, cq_id=0, blocking=False)
    assert struct.unpack("<2I", device.read(*target, 0x200000, 8)) == (1200, 207)
    device.write(*bank, 0x200000, struct.pack("<16I", *range(100, 116)))
    ttnn.execute_trace(device, trace)
    ttnn.release_trace(device, trace)
    """
    program, file = traced(behind), tmp_path / "out.json"
    done = library.run(program, options=("--json", str(file), "--tt-report", str(tmp_path / "report")))
    assert done.returncode == 0, done.stderr
    found = json.loads(file.read_text())
    names = [(one["library"]["name"], one.get("trace")) for one in found["operations"]]
    replays = [("ttnn.copy", "ttnn.again"), ("ttnn.copy", "ttnn.again")]
    assert names == [("ttnn.copy", None)] + [
        (name, [0, number]) for number, both in enumerate(replays, 1) for name in both
    ]
    (trace,) = found["traces"]
    assert (trace["trace"], trace["replays"], trace["launches"]) == (0, 2, 2)
    alone = sum(one["ns"] for one in found["operations"][1:]) / 2
    assert trace["alone_ns"] == pytest.approx(alone, abs=0.01) and trace["traced_ns"] > alone
    assert "metal trace 0: a replay takes" in done.stderr and "trace 0, replay 2: ttnn.again" in done.stderr
    (table,) = (tmp_path / "report").glob("ops_perf_results_*.csv")
    rows = list(csv.DictReader(table.open()))
    told = [(row["METAL TRACE ID"], row["METAL TRACE REPLAY SESSION ID"]) for row in rows]
    assert told == [("", ""), ("0", "1"), ("0", "1"), ("0", "2"), ("0", "2")]


def test_equal_launches_of_replays_are_sampled(library, tmp_path):
    program = traced("for _ in range(10):\n    ttnn.execute_trace(device, trace)\n").split("for number in range(4):")[0]
    done = library.run(program + "device.close()\n", options=("--sample", "--json", str(tmp_path / "out.json")))
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "out.json").read_text())
    assert (found["sampled"]["simulated"], found["sampled"]["stood_for"]) == (6, 15)
    assert found["traces"][0]["replays"] == 10 and found["operations"][-1]["trace"] == [0, 10]


REFUSED = {
    "ttnn.execute_trace(device, 7)": "there is no trace 7",
    "ttnn.release_trace(device, trace); ttnn.execute_trace(device, trace)": "there is no trace 0",
    "ttnn.end_trace_capture(device, trace)": "trace 0 ends, which is not being captured",
    "ttnn.begin_trace_capture(device); ttnn.begin_trace_capture(device)": "trace 2 begins while trace 1 is captured",
    "ttnn.begin_trace_capture(device); ttnn.execute_trace(device, trace)": "asked for while trace 1 is captured",
    "ttnn.begin_trace_capture(device); device.write(*bank, 64, bytes(4)); copies(tensor)": "writes a tensor",
    "one = ttnn.begin_trace_capture(device); device.read(*cores[0], 0x20000, 4); copies(tensor)": "reads a tensor",
}


@pytest.mark.parametrize("calls", REFUSED)
def test_what_a_card_refuses_is_an_error_of_the_call(library, calls):
    behind = f"""
    try:
        {calls}
    except RuntimeError as error:
        assert {REFUSED[calls]!r} in str(error), error
    else:
        raise AssertionError("it went through")
    device.close()
    sys.exit(4)
    """
    done = library.run(traced(behind))
    assert done.returncode == 4, done.stderr


def test_a_program_that_has_not_run_before_is_captured_with_a_warning(library):
    untried = CAPTURED.replace("copies(tensor)\ntrace", "trace")
    done = library.run(traced("ttnn.execute_trace(device, trace)", captured=untried))
    assert done.returncode == 0, done.stderr
    assert "warning: ttnn.copy is captured before it has run" in done.stderr


def test_a_fault_in_a_replay_is_an_error_of_its_call_and_others_run(library):
    behind = """
    faulty = ttnn.compiled(FAULT, name="faulty")
    wrong = ttnn.begin_trace_capture(device)
    device.run(cores, {0: faulty}, {0: [0]})
    copies(tensor)
    ttnn.end_trace_capture(device, wrong)
    try:
        ttnn.execute_trace(device, wrong)
    except RuntimeError as error:
        assert "circular buffer 7 is not configured" in str(error)
    else:
        raise AssertionError("it went through")
    ttnn.execute_trace(device, trace)
    """
    done = library.run(traced(behind.replace("FAULT", repr(FAULT))))
    assert done.returncode == 0, done.stderr


def test_a_capture_that_an_error_breaks_off_ends_with_its_device(library):
    """The next test of a process opens its device anew."""
    behind = """
    broken_off = ttnn.begin_trace_capture(device)
    copies(tensor)
    assert ttnn.is_trace_capture_active(device)
    ttnn._ttnn.device.close_device(device)
    device = ttnn.open_device()
    assert not ttnn.is_trace_capture_active(device)
    copies(tensor)
    try:
        ttnn.execute_trace(device, broken_off)
    except RuntimeError as error:
        assert "there is no trace 1" in str(error)
    else:
        raise AssertionError("it went through")
    """
    done = library.run(traced(behind))
    assert done.returncode == 0, done.stderr


def test_traces_are_known_from_their_capture_to_their_release():
    traces = Traces()
    traces.begin(3)
    assert traces.capturing
    traces.add("launch")
    traces.end(3)
    assert traces.next_replay(3) == (["launch"], (3, 1)) and traces.next_replay(3)[1] == (3, 2)
    traces.release(3)
    with pytest.raises(UsageError, match="there is no trace 3"):
        traces.next_replay(3)


def test_a_manager_of_one_sub_device_is_loaded(library):
    behind = """
    mesh = ttnn.MeshDevice()
    one, two = mesh.create_sub_device_manager(["all"], 0), mesh.create_sub_device_manager(["left", "right"], 0)
    mesh.load_sub_device_manager(one)
    mesh.clear_loaded_sub_device_manager()
    try:
        mesh.load_sub_device_manager(two)
    except RuntimeError as error:
        assert "slow dispatch" in str(error)
    else:
        raise AssertionError("it went through")
    operation(tensor, 3)
    """
    done = library.run(launches(COPY, more=textwrap.dedent(behind)))
    assert done.returncode == 0, done.stderr


SIGNPOSTS = """
from tracy import signpost

operation(tensor, 3)
signpost("warm up", "the first\\nof two")
signpost("measured")
operation(tensor, 3)
operation(tensor, 3)
ttnn.tracy_message("no signpost")
"""


def test_signposts_part_the_report_and_the_table(library, tmp_path):
    options = ("--json", str(tmp_path / "out.json"), "--tt-report", str(tmp_path / "report"))
    done = library.run(launches(COPY, more=SIGNPOSTS), options=options)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "out.json").read_text())
    assert [one.get("signpost") for one in found["operations"]] == [None, "measured", "measured"]
    assert [(one["signpost"], one["launches"]) for one in found["by_signpost"]] == [(None, 1), ("measured", 2)]
    assert "     signpost measured" in done.stderr and "the program's begin" in done.stderr
    (table,) = (tmp_path / "report").glob("ops_perf_results_*.csv")
    rows = [(row["OP TYPE"], row["OP CODE"], row["ATTRIBUTES"]) for row in csv.DictReader(table.open())]
    assert rows[1:3] == [("signpost", "warm up", "the first of two"), ("signpost", "measured", "")]
    assert [kind for kind, _, _ in rows].count("tt_dnn_device") == 3


WITH_THE_WHEEL = """
import ttnn

device = ttnn.open_device(device_id=0, trace_region_size=1 << 20)
values = [float(number % 7 - 3) for number in range(64 * 64)]
host = lambda values: ttnn.Tensor(values, [1, 1, 64, 64], ttnn.bfloat16, ttnn.TILE_LAYOUT)
x = host(values).to(device)
step = lambda: ttnn.relu(ttnn.matmul(x, ttnn.add(x, x)))
expected = ttnn.to_layout(step().cpu(), ttnn.ROW_MAJOR_LAYOUT)
ttnn.copy_host_to_device_tensor(host([0.0] * 64 * 64), x)
trace = ttnn.begin_trace_capture(device, cq_id=0)
found = step()
ttnn.end_trace_capture(device, trace, cq_id=0)
for begin in (values, [0.0] * 64 * 64, values):
    ttnn.copy_host_to_device_tensor(host(begin), x)
    ttnn.execute_trace(device, trace, cq_id=0, blocking=False)
ttnn.synchronize_device(device)
assert str(ttnn.to_layout(found.cpu(), ttnn.ROW_MAJOR_LAYOUT)) == str(expected)
ttnn.close_device(device)
"""


@pytest.mark.skipif(LIBRARY is None, reason="no interpreter that has ttnn")
@pytest.mark.parametrize("arch", CHIPS)
def test_the_librarys_own_operations_in_a_trace(tmp_path, arch):
    program, file = tmp_path / "program.py", tmp_path / "out.json"
    program.write_text(WITH_THE_WHEEL)
    words = [sys.executable, "-m", "tensim", "ttnn", "--library", "--arch", arch, "--json", str(file), str(program)]
    done = subprocess.run(words, capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0, done.stderr
    (trace,) = json.loads(file.read_text())["traces"]
    assert (trace["replays"], trace["launches"]) == (3, 3)
