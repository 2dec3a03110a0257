"""`tensim debug` as its users see it: commands, standard input, JSON, exit codes."""

import json
import signal
import subprocess
import sys
import time

import pytest

from tests.commands import tensim

TENSIM = [sys.executable, "-m", "tensim"]


def debug(capsys, *arguments):
    return tensim(capsys, "debug", *arguments)


def test_commands_and_json(program, capsys):
    code, out, _ = debug(capsys, program, "-c", "break taker.cpp:8; continue", "-c", "cbs", "--json")
    told = json.loads(out)
    assert code == 0 and told["ended"] == "left" and told["not_run"] == []
    assert [one["reason"] for one in told["stops"]] == ["start", "breakpoint"]
    assert [one["command"] for one in told["answers"]] == ["break taker.cpp:8", "continue", "cbs"]


def test_a_comment_among_commands_is_passed_over(program, capsys):
    code, out, _ = debug(capsys, program, "-c", "threads; # where they stand", "--json")
    assert code == 0 and json.loads(out)["answers"][1]["answer"] is None


def test_a_deadlock(program, capsys, tmp_path):
    script = tmp_path / "commands"
    script.write_text("# to the end\ncontinue\n")
    code, out, err = debug(capsys, program, "--param", "taken=4", "-x", script, "-c", "why")
    assert code == 1 and "taker.cpp:6 for cb_wait_front(0, 1)" in out and err.startswith("error: deadlock")


def test_a_mistake_is_reported_with_what_was_not_run(program, capsys):
    code, out, err = debug(capsys, program, "-c", "bogus; continue", "--json")
    told = json.loads(out)
    assert code == 2 and told["error"]["kind"] == "usage" and told["not_run"] == ["bogus", "continue"]
    assert "no command 'bogus'" in err


def test_commands_that_are_left(program, capsys):
    code, _, err = debug(capsys, program, "-c", "break taker.cpp:8 if cycle < 0; continue; continue; cbs")
    assert code == 0 and "2 commands were not run: the program has ended" in err


def test_a_trace(program, capsys, tmp_path):
    file = tmp_path / "trace.txt"
    code, out, _ = debug(capsys, program, "--trace-instructions", "1,2:BRISC", file, "--json")
    assert code == 0 and json.loads(out)["traced_instructions"] == len(file.read_text().splitlines()) - 1 > 20


@pytest.mark.parametrize(
    "arguments",
    [
        ("--json",),
        ("-x", "nowhere"),
        ("--trace-instructions", "BRISC", "f"),
        ("--trace-instructions", "0,0:BRISC", "no/where"),
    ],
)
def test_wrong_usage(program, capsys, arguments):
    assert debug(capsys, program, *arguments)[0] == 2


def test_commands_of_standard_input(program):
    text = "break taker.cpp:8\nc\nbogus\nprint cb[0]\n\nc\n"
    done = subprocess.run([*TENSIM, "debug", program], input=text, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "error: there is no command 'bogus'" in done.stdout and "cb[0] = 1" in done.stdout
    assert done.stdout.count("breakpoint 1, taker.cpp:8") == 2


def test_ctrl_c_stops_a_loop_without_end(program):
    taker = program.with_name("taker.cpp")
    taker.write_text(
        '#include "dataflow_api.h"\nvoid kernel_main() {\n    get_arg_val<uint32_t>(0);\n    while (1) {\n    }\n}\n'
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen([*TENSIM, "debug", program, "--no-check"], text=True, **pipes)
    process.stdin.write("continue\n")
    process.stdin.flush()
    assert process.stdout.readline().startswith("cycle")
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate("threads\nquit\n", timeout=60)
    assert process.returncode == 0 and "interrupted" in out and "taker.cpp:4" in out


MESH = """
import numpy as np
import tensim as tt
from tensim.examples import ExampleResult
from tensim.kernel_api import *

MESH = {"board": "n300", "fabric": None}


@kernel
def wait_for_nobody(hangs):
    if hangs:
        noc_semaphore_wait(get_semaphore(0), 1)


def run(mesh, *, shape, dtype, fidelity, grid, rng):
    for number, device in enumerate(mesh.devices):
        program, core = tt.create_program(), tt.CoreCoord(0, 0)
        tt.create_semaphore(program, core, 0)
        handle = tt.create_kernel(program, wait_for_nobody, core, tt.ReaderDataMovementConfig())
        tt.set_runtime_args(program, handle, core, [number])
        tt.enqueue_program(device.command_queue(), program, False)
    for device in mesh.devices:
        tt.finish(device.command_queue())
    return ExampleResult(np.zeros(1), np.zeros(1), 0, 0, 0, "done")
"""


def test_the_chip_of_a_mesh_that_fails_is_named_and_can_be_looked_at(capsys, tmp_path):
    (tmp_path / "two_chips.py").write_text(MESH)
    code, _, err = debug(capsys, tmp_path / "two_chips.py", "-c", "continue; why")
    assert code == 1 and "[device 1, cycle" in err and "chip 1 failed, and these commands looked at chip 0" in err
    code, out, _ = debug(capsys, tmp_path / "two_chips.py", "--chip", 1, "-c", "continue; why", "--json")
    told = json.loads(out)
    assert code == 1 and told["error"]["where"]["device"] == 1 and told["not_run"] == []
    code, _, err = debug(capsys, tmp_path / "two_chips.py", "--chip", 2, "-c", "continue")
    assert code == 2 and "there is no chip 2: the program has 2" in err
