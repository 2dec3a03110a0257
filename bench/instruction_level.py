"""Compute kernels at the instruction level: simulated cycles per second of processor time, and how much longer than the operation
level a program takes.  It runs where TENSIM_LLK names the sources of a release.
"""

import os
import time

import numpy as np

import tensim as tt
from tensim.running.options import Options
from tensim.running.runnable import find_program
from tensim.sim.arch import load_arch
from tensim.sim.chip.statistics import program_cycles
from tensim.sim.cores.riscv.kernel import INSTRUCTION_LEVEL

CHIP = "blackhole"
BUSY = Options(shape="512x512", parameters={"kernels": "cpp"})  # sums on one core
PRODUCT = Options(shape="128x128x128", parameters={"kernels": "cpp"}, fidelity="HiFi4")
MANY = Options(shape="512x512x512", parameters={"kernels": "cpp"}, grid="8x8")


def run(name, options, level, numerics):
    """(cycles, seconds of processor time) of a program, kernels built before."""
    device = tt.create_device(0, arch=load_arch(CHIP, {INSTRUCTION_LEVEL: level}), numerics=numerics)
    try:
        program = find_program(name)
        program.run_on(device, options)  # builds and compiles
        before, begun = program_cycles(device.chip), time.process_time()
        program.run_on(device, options)
        return program_cycles(device.chip) - before, time.process_time() - begun
    finally:
        tt.close_device(device)


def best(*case, times=3):
    """The fastest of some runs."""
    return min((run(*case) for _ in range(times)), key=lambda one: one[1])


def rates():
    """(cycles a second of one busy core, time only; how many times the operation level's time: a product with exact bits, 64 cores
    timing only); None without the LLK sources."""
    if "TENSIM_LLK" not in os.environ:
        return None
    cycles, seconds = best("eltwise_add", BUSY, 1, "off")
    ratios = [
        best(name, options, 1, numerics)[1] / best(name, options, 0, numerics)[1]
        for name, options, numerics in (("matmul_single_core", PRODUCT, "exact"), ("matmul_multicast", MANY, "off"))
    ]
    return cycles / seconds, *ratios


if __name__ == "__main__":
    found = rates()
    print("TENSIM_LLK names no sources" if found is None else np.round(found, 2))
