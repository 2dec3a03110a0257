"""A chip at register level: what tiles cost whose firmware waits, beside one that works."""

import time

from tensim.sim.arch import load_arch
from tensim.sim.register_level import niu
from tensim.sim.register_level.chip import RegisterChip
from tensim.sim.register_level.core_sets import TENSIX
from tests.cores.riscv.assembler import A0, A1, ZERO, branch, li, load, store

IDLE, CYCLES = 64, 400_000
SOFT_RESET, BRISC_ALONE = 0xFFB121B0, TENSIX.in_reset & ~(1 << TENSIX.reset_bits[TENSIX.names.index("BRISC")])
SOURCE, FLAG = 0x10000, 0x20000  # in L1


def _waits():
    """Firmware that waits for a change of a word of L1."""
    return [*li(A1, FLAG), load("lw", A0, A1), branch("beq", A0, ZERO, "")[0](-4)]


def _reads(source):
    """A program that reads 64 bytes of another tile again and again and waits for them by its NIU's counters."""
    _, _, go, *_ = niu.LAYOUTS["wormhole_b0"]
    command = []
    for place, value in (
        (niu.TARGET, SOURCE), (niu.TARGET + 4, source << 4), (niu.RETURN, SOURCE), (niu.RETURN + 4, source << 4),
        (niu.CONTROL, niu.MARKED), (niu.LENGTH, 64), (go, 1),
    ):  # fmt: skip
        command += [*li(A1, niu.NIUS + place), *li(A0, value), store("sw", A0, A1)]
    counters = [
        *li(A1, niu.NIUS + niu.STATUS + 4 * niu.OUTSTANDING),
        load("lw", A0, A1),
        branch("bne", A0, ZERO, "")[0](-4),
    ]
    return [*command, *counters, branch("beq", ZERO, ZERO, "")[0](-4 * len(command + counters))]


def started(idle):
    """(chip, its tile whose program runs) while `idle` other tiles wait."""
    arch = load_arch("wormhole_b0")
    chip = RegisterChip(arch, [[(0, 0)]], [], [], report=_fail)
    names = list(arch.kernel_coords)
    worker, others = names[0], names[-idle:] if idle else []
    target = names[1][0] | names[1][1] << 6
    for name, program in [(other, _waits()) for other in others] + [(worker, _reads(target))]:
        chip.write(*name, 0, b"".join(word.to_bytes(4, "little") for word in program))
        chip.write(*name, SOFT_RESET, BRISC_ALONE.to_bytes(4, "little"))
    chip.run(2000)
    return chip, chip.tile(*worker)


def _fail(error):
    raise error


def seconds(idle):
    """Processor time of one tile's program while `idle` others wait."""
    chip, _ = started(idle)
    begun = time.process_time()
    chip.run(CYCLES)
    return time.process_time() - begun


def idle_cost():
    """How many times longer a program takes beside IDLE tiles that wait than alone."""
    alone, beside = (min(seconds(idle) for _ in range(3)) for idle in (0, IDLE - 1))
    return beside / alone
