"""A program of two C++ kernels: one makes pages, the other adds up what is in them."""

import pytest

from tensim.debugger.prompt import Script, split
from tensim.debugger.run import debug_program
from tensim.running.programs import Settings

PROGRAM = """
import numpy as np
import tensim as tt
from tensim.examples.result import ExampleResult

AXES, SHAPE = "N", "16"


def run(device, *, shape, dtype, fidelity, grid, rng, made=3, taken=3):
    program, core = tt.create_program(), tt.CoreCoord(1, 2)
    tt.create_semaphore(program, core, 0)
    buffer = tt.CircularBufferConfig(2 * 2048, {0: tt.DataFormat.Float16_b}).set_page_size(0, 2048)
    tt.create_circular_buffer(program, core, buffer)
    for name, config, pages in (
        ("maker.cpp", tt.ReaderDataMovementConfig(), made),
        ("taker.cpp", tt.WriterDataMovementConfig(), taken),
    ):
        kernel = tt.create_kernel(program, name, core, config)
        tt.set_runtime_args(program, kernel, core, [pages])
    tt.enqueue_program(device.command_queue(), program, blocking=True)
    return ExampleResult(np.zeros(1), np.zeros(1), 0, 0, 0, "adds up")
"""
MAKER = """#include "dataflow_api.h"

void kernel_main() {
    uint32_t pages = get_arg_val<uint32_t>(0);
    for (uint32_t i = 0; i < pages; i++) {
        cb_reserve_back(0, 1);
        volatile tt_l1_ptr uint32_t* page = (volatile tt_l1_ptr uint32_t*)get_write_ptr(0);
        page[0] = 17 * i;
        cb_push_back(0, 1);
    }
}
"""
TAKER = """#include "dataflow_api.h"

void kernel_main() {
    uint32_t pages = get_arg_val<uint32_t>(0), sum = 0;
    for (uint32_t i = 0; i < pages; i++) {
        cb_wait_front(0, 1);
        volatile tt_l1_ptr uint32_t* page = (volatile tt_l1_ptr uint32_t*)get_read_ptr(0);
        sum += page[0];
        cb_pop_front(0, 1);
    }
    noc_semaphore_set((volatile tt_l1_ptr uint32_t*)get_semaphore(0), sum);
}
"""


@pytest.fixture
def program(tmp_path):
    """The program's file."""
    file = tmp_path / "adds_up.py"
    file.write_text(PROGRAM)
    (tmp_path / "maker.cpp").write_text(MAKER)
    (tmp_path / "taker.cpp").write_text(TAKER)
    return file


@pytest.fixture
def debugged():
    """debugged(program, commands, **settings): (how it ended, its result, its error, the driver)."""

    def debugged(program, commands, trace=None, **settings):
        driver = Script(split(commands))
        ended, result, error = debug_program(Settings(program, **settings), driver, trace, trace is None)
        return ended, result, driver.error or error, driver

    return debugged


def answers(driver, name):
    """Answers of the commands that begin with a word."""
    return [one["answer"] for one in driver.record["answers"] if one["command"].split()[0] == name]
