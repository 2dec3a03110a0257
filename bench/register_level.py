"""A chip at register level: what tiles cost whose firmware waits, beside one that works."""

import time

from tensim.sim.arch import load_arch
from tensim.sim.register_level import niu
from tensim.sim.register_level.chip import RegisterChip
from tensim.sim.register_level.core_sets import TENSIX

IDLE, CYCLES = 64, 400_000
SOFT_RESET, BRISC_ALONE = 0xFFB121B0, TENSIX.in_reset & ~(1 << TENSIX.reset_bits[TENSIX.names.index("BRISC")])
SOURCE, FLAG = 0x10000, 0x20000  # in L1
A0, A1, A2 = 10, 11, 12


def _lui(register, value):
    return (value & 0xFFFFF000) | register << 7 | 0x37


def _addi(register, source, value):
    return (value & 0xFFF) << 20 | source << 15 | register << 7 | 0x13


def _load(register, source, offset=0):
    return (offset & 0xFFF) << 20 | source << 15 | 2 << 12 | register << 7 | 0x03


def _store(value, address, offset=0):
    return (offset >> 5 & 0x7F) << 25 | value << 20 | address << 15 | 2 << 12 | (offset & 31) << 7 | 0x23


def _branch(kind, one, other, offset):
    bits = (offset >> 12 & 1) << 31 | (offset >> 5 & 0x3F) << 25 | (offset >> 1 & 15) << 8 | (offset >> 11 & 1) << 7
    return bits | other << 20 | one << 15 | kind << 12 | 0x63


def _li(register, value):
    """A register's value by two instructions."""
    low = (value & 0xFFF) - (0x1000 if value & 0x800 else 0)
    return [_lui(register, value - low & 0xFFFFFFFF), _addi(register, register, low)]


def _waits():
    """Firmware that waits for a change of a word of L1."""
    return [*_li(A1, FLAG), _load(A0, A1), _branch(0, A0, 0, -4)]


def _reads(source):
    """A program that reads 64 bytes of another tile again and again and waits for them by its NIU's counters."""
    _, _, go, *_ = niu.LAYOUTS["wormhole_b0"]
    command = []
    for place, value in (
        (niu.TARGET, SOURCE), (niu.TARGET + 4, source << 4), (niu.RETURN, SOURCE), (niu.RETURN + 4, source << 4),
        (niu.CONTROL, niu.MARKED), (niu.LENGTH, 64), (go, 1),
    ):  # fmt: skip
        command += [*_li(A1, niu.NIUS + place), *_li(A0, value), _store(A0, A1)]
    counters = [*_li(A1, niu.NIUS + niu.STATUS + 4 * niu.OUTSTANDING), _load(A0, A1), _branch(1, A0, 0, -4)]
    return [*command, *counters, _branch(0, 0, 0, -4 * len(command + counters))]


def seconds(idle):
    """Processor time of one tile's program while `idle` others wait."""
    arch = load_arch("wormhole_b0")
    chip = RegisterChip(arch, [[(0, 0)]], [], [], report=print)
    names = list(arch.kernel_coords)
    worker, others = names[0], names[-idle:] if idle else []
    target = names[1][0] | names[1][1] << 6
    for name, program in [(other, _waits()) for other in others] + [(worker, _reads(target))]:
        chip.write(*name, 0, b"".join(word.to_bytes(4, "little") for word in program))
        chip.write(*name, SOFT_RESET, BRISC_ALONE.to_bytes(4, "little"))
    chip.run(2000)
    begun = time.process_time()
    chip.run(CYCLES)
    return time.process_time() - begun


def idle_cost():
    """How many times longer a program takes beside IDLE tiles that wait than alone."""
    alone, beside = (min(seconds(idle) for _ in range(3)) for idle in (0, IDLE - 1))
    return beside / alone
