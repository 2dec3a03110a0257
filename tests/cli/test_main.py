"""The `tensim` command as its users and their programs see it."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tensim.cli.groups import explicit_json
from tensim.examples import EXAMPLES
from tests.commands import tensim

SUMMARY_KEYS = {
    "arch", "cycles", "device_seconds", "host_seconds", "verified", "numerics", "noc_model", "seed", "breakdown", "noc", "dram",
    "flops", "flops_utilization", "warnings", "bounded_by",
}  # fmt: skip


def test_examples_are_listed(capsys):
    code, out, _ = tensim(capsys, "examples")
    assert code == 0 and [line.split()[0] for line in out.splitlines()] == list(EXAMPLES)


def test_json_of_a_run_has_the_stable_keys_and_nothing_else_is_printed(capsys):
    code, out, _ = tensim(capsys, "run", "matmul_multicast", "--shape", "128x128x128", "--grid", "2x2", "--json")
    summary = json.loads(out)
    assert code == 0 and set(summary) >= SUMMARY_KEYS
    assert summary["verified"] is True and isinstance(summary["cycles"], int)
    assert summary["flops"] == 2 * 128**3
    for part in summary["breakdown"].values():
        assert part["busy"] + sum(part["stalled"].values()) + part["other"] == pytest.approx(1)
    utilizations = [link["utilization"] for link in summary["noc"]["links"]]
    assert utilizations == sorted(utilizations, reverse=True)
    channels = summary["dram"]["channels"]
    assert summary["dram"]["read_bytes"] == sum(channel["read_bytes"] for channel in channels)


def test_a_whole_program_runs_on_flit_routers(capsys):
    """Reads, multicasts, semaphores and writes of a matmul: the right product, within 10 % of the packet model's cycles,
    the same bytes on each NoC, and timing that does not depend on numerics.
    """
    arguments = ("run", "matmul_multicast", "--shape", "128x128x128", "--grid", "2x2", "--json", "--noc")
    packet, flit, off = (
        json.loads(tensim(capsys, *arguments, *model)[1])
        for model in (["packet"], ["flit"], ["flit", "--numerics", "off"])
    )
    assert (packet["noc_model"], flit["noc_model"], flit["verified"]) == ("packet", "flit", True)
    assert flit["cycles"] == pytest.approx(packet["cycles"], rel=0.1) and flit["cycles"] == off["cycles"]
    assert flit["noc"]["bytes"] == packet["noc"]["bytes"]


def test_json_to_a_file_and_a_report_on_the_terminal(capsys, tmp_path):
    target = tmp_path / "result.json"
    code, out, _ = tensim(capsys, "run", "--json", str(target), "eltwise_add", "--shape", "64x64")
    assert code == 0 and "verified against numpy" in " ".join(out.split()) and "eltwise_add" in out
    assert json.loads(target.read_text())["name"] == "eltwise_add"


def test_a_roofline_is_drawn_of_a_run_with_arithmetic_on_dram_data(capsys, tmp_path):
    picture = tmp_path / "roofline.png"
    product = ("matmul_multicast", "--shape", "128x128x128", "--grid", "2x2", "--numerics", "off")
    code, out, _ = tensim(capsys, "run", *product, "--roofline", str(picture), "--json")
    line = json.loads(out)["roofline"]
    assert code == 0 and picture.read_bytes().startswith(b"\x89PNG")
    assert line["flops_per_second"] <= line["roofs"]["HiFi4"] == line["roofs"]["LoFi"] / 4
    code, _, err = tensim(capsys, "run", "dram_loopback", "--roofline", str(picture))
    assert code == 2 and "does no arithmetic" in err


@pytest.mark.parametrize(
    ("arguments", "expected", "target"),
    [
        (["run", "x", "--json"], ["run", "x", "--json=-"], "-"),
        (["run", "--json", "x"], ["run", "--json=-", "x"], "-"),
        (["run", "--json", "out.json", "x"], ["run", "--json=out.json", "x"], "out.json"),
        (["run", "x", "--json=file"], ["run", "x", "--json=file"], "file"),
        (["run", "x"], ["run", "x"], None),
    ],
)
def test_what_json_refers_to(arguments, expected, target):
    assert explicit_json(arguments) == (expected, target)


def test_timing_without_data_is_not_verified(capsys):
    code, out, _ = tensim(capsys, "run", "eltwise_add", "--numerics", "off", "--json")
    assert code == 0 and json.loads(out)["verified"] is None


def test_image_hash_tells_results_apart(capsys):
    hashes = [
        json.loads(tensim(capsys, "run", "add_integers", "--image-hash", "--json", "--seed", seed)[1])["image_sha256"]
        for seed in ("1", "1", "2")
    ]
    assert hashes[0] == hashes[1] and hashes[0]["dram"] != hashes[2]["dram"]


@pytest.mark.parametrize("name", ["t.json", "t.json.gz"])
def test_timeline_opens_as_a_trace(capsys, tmp_path, name):
    path = tmp_path / name
    code, _, _ = tensim(capsys, "run", "eltwise_add", "--shape", "64x64", "--timeline", str(path))
    text = gzip.open(path, "rt").read() if name.endswith(".gz") else path.read_text()
    events = json.loads(text)["traceEvents"]
    assert code == 0
    tracks = {event["args"]["name"] for event in events if event["name"] == "thread_name"}
    assert tracks == {"BRISC", "NCRISC", "TRISC0", "TRISC1", "TRISC2"}
    spans = [event for event in events if event["ph"] == "X"]
    assert {"math_binary", "pack"} <= {span["name"] for span in spans}
    assert any(span["name"].startswith("wait: ") for span in spans)
    assert all(span["dur"] > 0 and span["ts"] >= 0 for span in spans)
    assert any(event["ph"] == "C" and event["name"].startswith("DRAM") for event in events)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "Missing argument"),
        (["nope"], "unknown example 'nope'"),
        (["missing.py"], "no such program file"),
        (["add_integers", "--arch", "quasar"], "unknown architecture"),
        (["add_integers", "--arch", "none.yaml"], "none.yaml"),
        (["add_integers", "--shape", "1x2"], "not of the form N"),
        (["add_integers", "--shape", "-3"], "shape"),
        (["matmul_multicast", "--grid", "9x9"], "larger than the device"),
        (["matmul_multicast", "--fidelity", "HiFi9"], "unknown math fidelity"),
        (["matmul_multicast", "--dtype", "bf17"], "bf17"),
        (["matmul_multicast", "--param", "in0_block_q=3"], "in0_block_q"),
        (["add_integers", "--set", "noc.hop"], "KEY=VALUE"),
        (["add_integers", "--set", "noc.hop=3"], "no parameter 'noc.hop'"),
        (["add_integers", "--set", "noc.hop_cycles=[1"], "not a YAML scalar"),
        (["add_integers", "--numerics", "exactly"], "numerics 'exactly'"),
        (["add_integers", "--noc", "torus"], "'torus' is not one of 'packet', 'flit'"),
        (["add_integers", "--max-cycles", "0"], "0 is not in the range"),
        (["add_integers", "--timeline", "/nowhere/at/all.json"], "folder does not exist"),
    ],
)
def test_bad_input_is_refused_clearly(capsys, arguments, words):
    code, out, err = tensim(capsys, "run", *arguments)
    assert code == 2 and words in err and "Traceback" not in err and out == ""


def test_errors_as_json(capsys):
    code, out, err = tensim(capsys, "run", "add_integers", "--max-cycles", "10", "--json")
    error = json.loads(out)["error"]
    assert code == 1 and error["kind"] and error["where"]["cycle"] == 10 and error["message"] in err


PROGRAM = '''
"""A program of the user's own."""
import tensim as tt
import numpy as np
from tensim.kernel_api import *
from tensim.examples import ExampleResult

AXES = "N"
SHAPE = "3"


@kernel
def {name}(rounds):
    for _ in range(rounds):
        riscv_wait({wait})


def run(device, *, shape, dtype, fidelity, grid, rng):
    program, core = tt.create_program(), tt.CoreCoord(0, 0)
    handle = tt.create_kernel(program, {name}, core, tt.ReaderDataMovementConfig())
    tt.set_runtime_args(program, handle, core, [shape[0]])
    tt.enqueue_program(device.command_queue(0), program, blocking=True)
    return ExampleResult(np.ones(1), np.ones(1), 0.0, 0, 0, "waits")
'''


def test_a_file_of_the_users_own(capsys, tmp_path):
    path = tmp_path / "waiting.py"
    path.write_text(PROGRAM.format(name="count", wait=1000))
    code, out, err = tensim(capsys, "run", str(path), "--json", "--shape", "5")
    assert code == 0, err
    assert 5_000 < json.loads(out)["cycles"] < 5_100


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1\n", "no function run"),
        ("def run(:\n", "waiting.py"),
        ("import nothing_of_that_name\n", "nothing_of_that_name"),
        (PROGRAM.format(name="count", wait="print(1)"), "print"),
    ],
)
def test_a_file_that_is_wrong(capsys, tmp_path, text, words):
    path = tmp_path / "waiting.py"
    path.write_text(text)
    code, _, err = tensim(capsys, "run", str(path))
    assert code == 2 and words in err and "Traceback" not in err


def test_hash_seed_changes_nothing(tmp_path):
    results = []
    for seed in ("0", "17"):
        command = [sys.executable, "-m", "tensim", "run", "reduction_tree", "--image-hash", "--json"]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONHASHSEED": seed})
        summary = json.loads(done.stdout)
        results.append({key: value for key, value in summary.items() if key != "host_seconds"})
    assert results[0] == results[1]


def test_the_guides_program_runs(tmp_path):
    """The program in docs/python_programs.md, as its reader would save and run it."""
    text = (Path(__file__).parents[2] / "docs" / "python_programs.md").read_text()
    program = text.split("```python\n")[1].split("```")[0]
    (tmp_path / "copy_pages.py").write_text(program)
    done = subprocess.run(
        [sys.executable, str(tmp_path / "copy_pages.py")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "cycles on the device" in done.stdout


def save_readme_kernels(folder):
    """The README's C++ kernels and their program, as its reader would save them."""
    text = (Path(__file__).parents[2] / "README.md").read_text()
    for block in text.split("```cpp\n// ")[1:]:
        name, code = block.split("```")[0].split("\n", 1)
        (folder / name).write_text(code)
    (folder / "square.py").write_text(text.split("```py\n")[1].split("```")[0])


def test_readme_cpp_kernels_run(tmp_path, monkeypatch, capsys):
    save_readme_kernels(tmp_path)
    monkeypatch.chdir(tmp_path)
    code, out, err = tensim(capsys, "run", "square.py", "--json")
    assert code == 0, err
    lines = json.loads(out)["lines"]
    assert {Path(line["file"]).name for line in lines} >= {"reader.cpp", "compute.cpp", "writer.cpp"}


def test_a_missing_push_in_a_cpp_kernel_names_the_line_that_waits(tmp_path, monkeypatch, capsys):
    save_readme_kernels(tmp_path)
    reader = tmp_path / "reader.cpp"
    reader.write_text(reader.read_text().replace("        cb_push_back(0, 1);\n", ""))
    monkeypatch.chdir(tmp_path)
    code, _, err = tensim(capsys, "run", "square.py")
    assert code != 0 and "deadlock" in err and "compute.cpp" in err and "cb_wait_front" in err


def test_the_instructions_of_a_cpp_kernel(tmp_path, monkeypatch, capsys):
    """Each instruction once, below its line; the cycles of a thread are those of its instructions."""
    save_readme_kernels(tmp_path)
    monkeypatch.chdir(tmp_path)
    code, out, err = tensim(capsys, "disassemble", "compute.cpp", "square.py", "--json")
    assert code == 0, err
    threads = json.loads(out)["disassembly"]
    assert [thread["thread"] for thread in threads] == ["TRISC0", "TRISC1", "TRISC2"]
    for thread in threads:
        addresses = [instruction["pc"] for instruction in thread["instructions"]]
        assert addresses == sorted(set(addresses))
    math = [instruction for instruction in threads[1]["instructions"] if instruction["text"].startswith("math_binary(")]
    assert math and math[0]["operations"] == 4 and math[0]["busy"] > 0 and math[0]["source"].startswith("mul_tiles")
    code, out, _ = tensim(capsys, "disassemble", "writer.cpp", "square.py")
    assert code == 0 and "writer.cpp:9" in out and "noc_write(" in out
    code, _, err = tensim(capsys, "disassemble", "other.cpp", "square.py")
    assert code == 2 and "it runs compute.cpp, reader.cpp, writer.cpp" in err
    code, _, err = tensim(capsys, "disassemble", "reader", "add_integers")
    assert code == 2 and "kernels=cpp" in err


def test_checks_of_kernels_are_on_unless_told_otherwise(capsys, tmp_path):
    program = tmp_path / "forgets_a_barrier.py"
    program.write_text(FORGETS_A_BARRIER)
    code, _, err = tensim(capsys, "run", str(program))
    assert code == 1 and "writes in flight" in err and "hint: noc_async_writes_flushed()" in err
    assert tensim(capsys, "run", str(program), "--no-check")[0] == 0


FORGETS_A_BARRIER = """
import numpy as np
import tensim as tt
from tensim.examples.result import ExampleResult
from tensim.kernel_api import *


@kernel
def write_a_page(address):
    noc_async_write(600000, get_noc_addr_from_bank_id(0, address), 64)


def run(device, *, shape, dtype, fidelity, grid, rng):
    program, core = tt.create_program(), tt.CoreCoord(0, 0)
    config = tt.InterleavedBufferConfig(device=device, size=64, page_size=64, buffer_type=tt.BufferType.DRAM)
    buffer = tt.create_buffer(config)
    handle = tt.create_kernel(program, write_a_page, core, tt.WriterDataMovementConfig())
    tt.set_runtime_args(program, handle, core, [buffer])
    tt.enqueue_program(device.command_queue(0), program)
    actual = np.frombuffer(tt.enqueue_read_buffer(device.command_queue(0), buffer), np.uint8)
    return ExampleResult(
        expected=np.zeros(64), actual=actual, tolerance=0.0, flops=0, bytes_moved=64, description="a page"
    )
"""
