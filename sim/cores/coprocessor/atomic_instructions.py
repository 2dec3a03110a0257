"""Atomic instructions on L1 of Blackhole's RISC-V cores: those of the extension Zaamo (RISC-V unprivileged ISA, "Zaamo").

tt-metal and tt-llk lock what cores share by them on this chip (assert.h, device_print_common.h of ttnn 0.81.1).
"""

from enum import IntEnum

from tensim.sim.cores.riscv.decode import record
from tensim.sim.engine.compiled import compiled


class AtomicCode(IntEnum):
    """Codes beside those of `tensim.sim.cores.riscv.decode.Code` and of the other extensions."""

    ADD = 80
    SWAP = 81
    XOR = 82
    AND = 83
    OR = 84
    MIN = 85
    MAX = 86
    MINU = 87
    MAXU = 88


FIRST, LAST = int(AtomicCode.ADD), int(AtomicCode.MAXU)
ADD, SWAP, XOR, AND, OR, MIN, MAX, MINU, MAXU = map(int, AtomicCode)
_BY_FUNCTION = {0: ADD, 1: SWAP, 4: XOR, 8: OR, 12: AND, 16: MIN, 20: MAX, 24: MINU, 28: MAXU}
WORD = 0xFFFFFFFF


def atomic_record(word):
    """Record of an atomic instruction, None for any other one.  Cores execute in order, so the bits of ordering mean nothing."""
    code = _BY_FUNCTION.get(word >> 27)
    if word & 0x7F != 0x2F or word >> 12 & 7 != 2 or code is None:
        return None
    return record(code, word >> 7 & 31, word >> 15 & 31, word >> 20 & 31)


@compiled()
def atomic_result(code, old, value):
    """What an atomic instruction leaves in memory; `old`: what it finds there, both signed."""
    if code == ADD:
        return old + value
    if code == XOR:
        return old ^ value
    if code == AND:
        return old & value
    if code == OR:
        return old | value
    if code == MIN:
        return min(old, value)
    if code == MAX:
        return max(old, value)
    if code == MINU:
        return min(old & WORD, value & WORD)
    return max(old & WORD, value & WORD) if code == MAXU else value
