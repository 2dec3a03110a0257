"""Compute kernels at the instruction level: simulated cycles per second of processor time, of a core that works in every cycle and
of a program on one core, and how much longer than the operation level a program takes.

It runs where TENSIM_LLK names the sources of a release.  Those of 0.81.1 build the busy core, those of 0.66, whose words the
examples' kernels use, the programs: what does not build is left out.
"""

import os
import sys
import time

import tensim as tt
from tensim.running.options import Options
from tensim.running.runnable import find_program
from tensim.sim.arch import load_arch
from tensim.sim.chip.statistics import program_cycles
from tensim.sim.cores.numerics.data_format import DataFormat
from tensim.sim.cores.riscv.kernel import INSTRUCTION_LEVEL
from tensim.sim.errors import KernelCompileError
from tensim.validation.instruction.lone_core import Buffer, LoneCore, programs

CHIP = "blackhole"
BUSY = Options(shape="512x512", parameters={"kernels": "cpp"})  # sums on one core
PRODUCT = Options(shape="128x128x128", parameters={"kernels": "cpp"}, fidelity="HiFi4")
MANY = Options(shape="512x512x512", parameters={"kernels": "cpp"}, grid="8x8")
# A kernel whose tiles are there from the start, so that nobody waits for data: unpacking, mathematics and packing overlap
KERNEL = """#include <cstdint>
#include "api/compute/common.h"
#include "api/compute/compute_kernel_hw_startup.h"
#include "api/compute/matmul.h"
#include "api/compute/eltwise_binary.h"
#include "api/compute/tile_move_copy.h"
#include "api/compute/eltwise_unary/exp.h"
void kernel_main() {
    const uint32_t times = get_arg_val<uint32_t>(0);
    @PREPARE
    for (uint32_t i = 0; i < times; i++) {
        tile_regs_acquire();
        @WORK
        tile_regs_commit();
        tile_regs_wait();
        pack_tile(0, 2, 0);
        tile_regs_release();
    }
}
"""
TILES = 8  # of each buffer
WORK = {
    "products": ("compute_kernel_hw_startup<SrcOrder::Reverse>(0, 1, 2); matmul_init(0, 1);",
                 "for (uint32_t k = 0; k < 8; k++) matmul_tiles(0, 1, k, k, 0);", 600),
    "sums": ("compute_kernel_hw_startup(0, 1, 2); add_init(0, 1);", "add_tiles(0, 1, 0, 0, 0); add_tiles(0, 1, 1, 1, 1);", 1500),
    "exponentials": ("compute_kernel_hw_startup(0, 2); copy_init(0); exp_tile_init();", "copy_tile(0, 0, 0); exp_tile(0);", 600),
}  # fmt: skip


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


def work(name):
    """(cycles, seconds of processor time) of a lone core whose units work in every cycle, time only."""
    prepare, calls, times = WORK[name]
    text = KERNEL.replace("@PREPARE", prepare).replace("@WORK", calls)
    buffers = [Buffer(index, DataFormat.Float16_b, TILES, filled) for index, filled in enumerate((TILES, TILES, 0))]
    core = LoneCore(CHIP, programs(CHIP, text, buffers, math_fidelity=4), buffers, arguments=[times], data=False)
    begun = time.process_time()
    return core.run(), time.process_time() - begun


def best(measure, *case, times=5):
    """The fastest of some runs."""
    return min((measure(*case) for _ in range(times)), key=lambda one: one[1])


def busy_rate():
    """Cycles a second, time only, of a busy core that does what is slowest."""
    return min(cycles / seconds for cycles, seconds in (best(work, name) for name in WORK))


def program_rate():
    """Cycles a second, time only, of a program on one core with its preparation."""
    cycles, seconds = best(run, "eltwise_add", BUSY, 1, "off")
    return cycles / seconds


def times_as_long(name, options, numerics):
    """How many times the operation level's processor time a program takes."""
    return best(run, name, options, 1, numerics)[1] / best(run, name, options, 0, numerics)[1]


MEASURES = {
    "cycles of a busy core, time only": busy_rate,
    "cycles of a program on one core": program_rate,
    "HiFi4 product, exact bits": lambda: times_as_long("matmul_single_core", PRODUCT, "exact"),
    "64 cores, time only": lambda: times_as_long("matmul_multicast", MANY, "off"),
}


def measured():
    """{name: figure} of what the release builds that TENSIM_LLK names, {} where it names none."""
    found = {}
    for name, measure in MEASURES.items() if "TENSIM_LLK" in os.environ else ():
        try:
            found[name] = measure()
        except KernelCompileError as error:
            print(f"left out, the release does not build it: {name} ({str(error).splitlines()[0]})", file=sys.stderr)
    return found


if __name__ == "__main__":
    for name, figure in measured().items():
        print(f"{name}: {figure:.4g}")
