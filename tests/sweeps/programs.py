"""Programs that sweeps of tests run; each is written into a folder of its own."""

COPY = '''
"""A program of a user's own."""
import os
from pathlib import Path

import numpy as np

import tensim as tt
from tensim.examples import ExampleResult
from tensim.kernel_api import *

AXES, SHAPE = "N", "16"
HERE = Path(__file__).parent


@kernel
def spends(n):
    for i in range(n * get_compile_time_arg_val(0)):
        noc_async_read_barrier()


def run(device, *, shape, dtype, fidelity, grid, rng, steps: int = 3, unlucky: int | None = None, deadly: int | None = None):
    if steps == unlucky and not (HERE / "died").exists():
        (HERE / "died").write_text("")
        os.kill(os.getpid(), 9)
    if steps == deadly:
        os.kill(os.getpid(), 9)
    with open(HERE / "ran.txt", "a") as file:
        file.write(f"{steps}\\n")
    program = tt.create_program()
    config = tt.DataMovementConfig(
        processor=tt.DataMovementProcessor.RISCV_0, noc=tt.NOC.RISCV_0_default, compile_args=[1]
    )
    kernel = tt.create_kernel(program, spends, tt.CoreCoord(0, 0), config)
    tt.set_runtime_args(program, kernel, tt.CoreCoord(0, 0), [steps])
    tt.enqueue_program(device.command_queue(), program, blocking=True)
    same = np.zeros(1, np.float32)
    return ExampleResult(same, same, tolerance=0.0, flops=0, bytes_moved=0, description="steps")
'''


def write(folder, text=COPY):
    """The path of the program in a folder."""
    (folder / "steps.py").write_text(text)
    return folder / "steps.py"


def ran(folder):
    """The `steps` of the runs, in their order."""
    file = folder / "ran.txt"
    return [int(line) for line in file.read_text().split()] if file.exists() else []
