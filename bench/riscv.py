"""RISC-V cores: instructions and operations per second of processor time, on a program that keeps 64 cores busy.

Every core runs the same C++ kernel: a hash over a table in its local memory, and an operation after each stretch of it.
"""

import time

from tensim.sim.arch import load_arch
from tensim.sim.chip.chip import Chip
from tensim.sim.chip.launch import KernelLaunch, Launch
from tensim.sim.cores.riscv.compiler import Build, Processor, compile_kernel
from tensim.sim.cores.riscv.program import RiscvKernel
from tensim.sim.cores.slots import BRISC

CORES = 64
NO_LIMIT = 1 << 60
SOURCE = """
void kernel_main() {
    uint32_t rounds = get_arg_val<uint32_t>(0), work = get_arg_val<uint32_t>(1), hash = 1;
    volatile uint32_t table[64];
    for (uint32_t i = 0; i < 64; i++) table[i] = i;
    for (uint32_t round = 0; round < rounds; round++) {
        for (uint32_t i = 0; i < work; i++) {
            hash ^= table[i & 63];
            hash = hash * 0x9e3779b1u + (hash >> 13);
            table[i & 63] = hash;
        }
        riscv_wait(hash & 15);
    }
}
"""
LONG, SHORT = (40, 4000), (20_000, 4)  # (rounds, turns of the inner loop): 11 instructions a turn, 6 around them


def run(rounds, work):
    """(instructions, operations, seconds of processor time) of the kernel on CORES cores."""
    arch = load_arch("wormhole_b0")
    kernel = RiscvKernel(
        "hash", "hash.cpp", {BRISC: compile_kernel(Build(Processor.BRISC, arch, text=SOURCE)).elf}, arch
    )
    chip = Chip(arch)
    cores = list(range(CORES))
    args = {core: [rounds, work] for core in cores}
    chip.launch(Launch("hash", [KernelLaunch(kernel, BRISC, 0, cores, args)]), 0)
    begun = time.process_time()
    while not chip.advance(NO_LIMIT):
        pass
    seconds = time.process_time() - begun
    return int(chip.machine["instructions"]), int(chip.machine["operations"]), seconds


def rates():
    """(instructions per second with rare operations, operations per second with few instructions between them, how many)."""
    run(1, 1)
    instructions, _, seconds = min((run(*LONG) for _ in range(3)), key=lambda one: one[2])
    between, operations, short_seconds = min((run(*SHORT) for _ in range(3)), key=lambda one: one[2])
    return instructions / seconds, operations / short_seconds, between / operations
