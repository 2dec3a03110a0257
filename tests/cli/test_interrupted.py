"""Runs that do not end well: what kernels printed is shown, and where each thread stands."""

import json
import signal
import subprocess
import sys
import time

import pytest

import tensim as tt
from tensim.sim.chip import chip as chips
from tensim.sim.errors import CycleLimitError, DeadlockError, ProgramError

PROGRAM = '''
import numpy as np
import tensim as tt
from tensim.examples.result import ExampleResult

AXES, SHAPE = "N", "16"
KERNEL = """
#include "dataflow_api.h"
#include "debug/dprint.h"
void kernel_main() {
    DPRINT << "hello " << 5 << ENDL();
    DPRINT << "the rest";
    {
        DeviceZoneScopedN("ZONE");
        WAYPOINT("ABCD");
        BODY
    }
}
"""


def run(device, *, shape, dtype, fidelity, grid, rng):
    program, core = tt.create_program(), tt.CoreCoord(0, 0)
    tt.create_semaphore(program, core, 0)
    config = tt.DataMovementConfig(processor=tt.DataMovementProcessor.RISCV_0, noc=tt.NOC.RISCV_0_default)
    kernel = tt.create_kernel_from_string(program, KERNEL, core, config)
    if "get_arg_val" in KERNEL:
        tt.set_runtime_args(program, kernel, core, [3])
    tt.enqueue_program(device.command_queue(), program, blocking=True)
    return ExampleResult(np.zeros(1), np.zeros(1), 0, 0, 0, "prints")
'''
DEADLOCK = "noc_semaphore_wait((volatile tt_l1_ptr uint32_t*)get_semaphore(0), 1);"
PRINTED = "(0,0) BRISC: hello 5\n(0,0) BRISC: the rest\n"


@pytest.fixture
def program(tmp_path):
    def written(body):
        file = tmp_path / "prints.py"
        file.write_text(PROGRAM.replace("BODY", body))
        return file

    return written


def test_prints_survive_a_deadlock_whose_report_names_the_waypoint(program, capfd):
    with pytest.raises(DeadlockError, match="behind WAYPOINT ABCD") as found:
        tt.run(program(DEADLOCK))
    assert capfd.readouterr().err == PRINTED
    assert found.value.where["waiting"][0]["waypoint"] == "ABCD"


def test_prints_survive_the_limit_of_cycles_whose_error_names_the_line(program, capfd):
    with pytest.raises(CycleLimitError, match=r"core \(0,0\) BRISC: \S*:10"):
        tt.run(program("while (1) {}"), max_cycles=200_000)
    assert capfd.readouterr().err == PRINTED


def test_a_loop_that_does_nothing_ends_early(program, monkeypatch):
    monkeypatch.setattr(chips, "SPINNING", 1_000_000)
    with pytest.raises(CycleLimitError, match=r"no kernel has done anything for .*\n  core \(0,0\) BRISC: \S*:10"):
        tt.run(program("while (1) {}"))
    assert tt.run(program("for (volatile int i = 0; i < 100000; ++i) {}")).cycles > 100_000


def test_ctrl_c_says_where_the_threads_stand(program):
    command = [sys.executable, "-c", "from tensim.cli.main import main; main()", "run", program("while (1) {}")]
    process = subprocess.Popen(
        [*map(str, command), "--max-cycles", str(1 << 60)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    time.sleep(8)  # it runs by then; told earlier it ends as well, but knows no place
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1 and PRINTED in errors
    assert "interrupted in cycle" in errors and "core (0,0) BRISC: kernel.cpp:10" in errors


def test_a_division_by_zero_that_the_compiler_sees_names_the_kernel(program):
    body = (
        "uint32_t n = get_arg_val<uint32_t>(0); for (uint32_t i = 0; i < 10 / (n - n); ++i) noc_async_read_barrier();"
    )
    with pytest.raises(ProgramError, match="division by zero") as found:
        tt.run(program(body))
    assert found.value.where["file"] == "kernel.cpp" and 5 <= found.value.where["line"] <= 10


def test_files_are_written_before_the_report(program, tmp_path):
    """Whoever reads the report may have enough before its end."""
    out, page = tmp_path / "out.json", tmp_path / "out.html"
    command = [sys.executable, "-c", "from tensim.cli.main import main; main()", "run", program("")]
    process = subprocess.Popen(
        [*map(str, command), "--json", out, "--html", page], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    process.stdout.close()
    process.wait(timeout=120)
    assert json.loads(out.read_text())["cycles"] > 0 and page.exists()


def test_a_report_in_a_pipe_breaks_no_sentence_and_shows_zones(program, capfd, monkeypatch):
    from tensim.cli.main import main

    monkeypatch.delenv("COLUMNS", raising=False)  # by which a user says the width

    with pytest.raises(SystemExit):
        main(["run", str(program("")), "--zones"])
    text = capfd.readouterr().out
    assert "of device time; verified against numpy" in text
    row = next(line for line in text.partition("Profiler zones")[2].splitlines() if "ZONE" in line)
    assert "BRISC" in row
