"""Launches of a program that is cached: what the host spends on one besides the simulation, and what stays of it in memory."""
# ruff: noqa: F403, F405

import gc
import time
from pathlib import Path

import tensim as tt
from tensim.examples.common import create_circular_buffer, grid_cores, grid_range
from tensim.kernel_api import *
from tensim.sim.chip.launch_work import MAX_DETAILED
from tensim.sim.cores.numerics.data_format import DataFormat

GRID = (8, 8)
PAGE = 4096
BATCHES = 25  # of launches whose memory is looked at: what is enqueued and has not run takes some, too


@kernel
def move(first, second):
    """A data-movement kernel with nothing to do."""


@kernel
def compute(first):
    """A compute kernel with nothing to do."""


def _program():
    """Three kernels on 64 cores with arguments of each core's own, and three circular buffers."""
    program, cores = tt.create_program(), grid_range(GRID)
    for index in range(3):
        create_circular_buffer(program, cores, index, 2, DataFormat.Float16_b)
    kernels = [
        tt.create_kernel(program, move, cores, tt.ReaderDataMovementConfig()),
        tt.create_kernel(program, move, cores, tt.WriterDataMovementConfig()),
        tt.create_kernel(program, compute, cores, tt.ComputeConfig()),
    ]
    for core in grid_cores(GRID):
        for handle, words in zip(kernels, ([core.x, core.y], [core.y, core.x], [core.x]), strict=True):
            tt.set_runtime_args(program, handle, core, words)
    return program


def costs(count, rounds=5):
    """(processor seconds of a launch, the fastest of some rounds; bytes that stay of one beyond those kept in detail)."""
    with tt.create_device(0, numerics="off") as device:
        queue, program = device.command_queue(0), _program()

        def launch(times):
            begun = time.process_time()
            for _ in range(times):
                tt.enqueue_program(queue, program)
            tt.finish(queue)
            return (time.process_time() - begun) / times

        launch(10)
        seconds = min(launch(count) for _ in range(rounds))
        for _ in range(MAX_DETAILED // count):
            launch(count)
        gc.collect()
        before = _resident_bytes()
        for _ in range(BATCHES):
            launch(count)
        gc.collect()
        return seconds, (_resident_bytes() - before) / (BATCHES * count)


def _resident_bytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE
