"""Executes operations with arguments that no compiler makes: each ends, or is refused with an error that names it.

What an ELF posts is untrusted: whatever it asks for, nothing outside its chip's memory may be read or written.
`python -m tests.cores.riscv.operation_fuzz [COUNT] [FIRST]` runs 20,000 programs from number 0 on without these; the test runs a
few hundred.  The number of a program decides what is in it: where a process dies, the number printed last says in which one.
"""

import random
import sys

from tensim.sim.arch import load_arch
from tensim.sim.chip.chip import Chip
from tensim.sim.chip.launch import CircularBufferLaunch, ComputeSettings, SemaphoreLaunch
from tensim.sim.cores.numerics.data_format import DataFormat
from tensim.sim.cores.operations import ARGUMENTS, Op, belongs
from tensim.sim.cores.slots import BRISC, MATH_SLOT, PACK_SLOT, UNPACK_SLOT
from tensim.sim.errors import SimulatorError, TensimError
from tests.cores.riscv.assembler import T0, kernel_elf, li, operation
from tests.cores.riscv.machine import finish, launch_of

PROGRAMS = 20_000
OPERATIONS = 4  # of a thread at most: some take what the ones before have left
PLAIN = (0, 0, 0, 1, 1, 1, 2, 4, 16, 32, 64, 0x20000)  # what many operations take
EXTREME = (
    3, 5, 8, 15, 31, 33, 0x800, 63, 127, 255, 0x7FF, 0xFFF, 0x7FFF, 0xFFFF, 0x20000, 0x150000, 0x16DFFC, 0x170000, 0x1FFFFF,
    0x100000, 0x10000000, 0x7FFFFFFC, 0x7FFFFFFF, 0x80000000, 0xC0000000, 0xFFFFFFE0, 0xFFFFFFFC, 0xFFFFFFFF,
)  # fmt: skip
COLUMNS, ROWS = 8, 8  # of the tiles that NoC addresses name
MAX_CYCLES = 100_000
HOLDS_DST = {MATH_SLOT: (Op.DST_ACQUIRE, Op.DST_COMMIT), PACK_SLOT: (Op.DST_WAIT, Op.DST_RELEASE)}


def posted(choose, slot):
    """The instructions that post an operation of the slot's thread; a few of its arguments are extreme."""
    op = choose.choice([op for op in Op if op in ARGUMENTS and op != Op.FAIL and belongs(op, slot)])
    values, arguments, register, extreme = [], [], T0, choose.choice((0, 0.2, 0.5))
    for kind in ARGUMENTS[op]:
        low = choose.choice(EXTREME if choose.random() < extreme else PLAIN)
        values.append(low)
        if kind == "q":  # a NoC address: of 36 bits, then x and y
            place = choose.randrange(1, COLUMNS) << 4 | choose.randrange(1, ROWS) << 10
            values.append(choose.choice(EXTREME) if choose.random() < extreme else place)
        arguments.append(("q", register, register + 1) if kind == "q" else ("x", register))
        register = T0 + len(values)
    return [*(li(T0 + i, value) for i, value in enumerate(values)), operation(op, *arguments)]


def program(choose, slot):
    """A few operations; those of the math and pack threads more often than not where they have tiles of Dst."""
    operations = [posted(choose, slot) for _ in range(choose.randrange(1, OPERATIONS + 1))]
    if slot in HOLDS_DST and choose.random() < 0.8:
        begin, end = HOLDS_DST[slot]
        operations = [operation(begin), *operations, operation(end)]
    return kernel_elf(*operations)


def buffers(cores):
    """A circular buffer of pages that are tiles, one of block floats, and one of rows."""
    rows = (
        (0, 4096, 2048, DataFormat.Float16_b),
        (1, 2176, 1088, DataFormat.Bfp8_b),
        (16, 512, 64, DataFormat.Float32),
    )
    return [
        CircularBufferLaunch(cores, index, 0x30000 + 0x4000 * index, size, page, int(data_format))
        for index, size, page, data_format in rows
    ]


def run(number, arches):
    """Run program `number`; returns the error that refused it, or None."""
    choose = random.Random(number)
    arch, numerics = choose.choice(arches), choose.choice(("off", "fast", "exact"))
    chip = Chip(arch, numerics=numerics, max_cycles=MAX_CYCLES, check=choose.random() < 0.3)
    kernels = {(BRISC, 0): program(choose, BRISC)}
    if choose.random() < 0.6:
        kernels = {(None, 0): [program(choose, slot) for slot in (UNPACK_SLOT, MATH_SLOT, PACK_SLOT)]}
    options = {"semaphores": [SemaphoreLaunch([0], 0, 1)], "compute": ComputeSettings()}
    try:
        chip.launch(launch_of(arch, kernels, circular_buffers=buffers([0]), **options), 0)
        finish(chip)
    except SimulatorError:
        raise
    except TensimError as error:
        return error
    return None


def main(count=PROGRAMS, first=0):
    arches, refused = [load_arch(name) for name in ("wormhole_b0", "blackhole")], {}
    for number in range(first, first + count):
        print(number, end="\r", flush=True)
        error = run(number, arches)
        refused[type(error).__name__] = refused.get(type(error).__name__, 0) + 1
    print(refused)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
