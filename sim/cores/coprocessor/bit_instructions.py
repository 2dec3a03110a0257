"""Instructions of RISC-V's extensions Zba and Zbb, which the cores of a Blackhole have (docs/hardware/riscv.md): their records
and what they calculate."""

from enum import IntEnum

from tensim.sim.cores.riscv.decode import record
from tensim.sim.engine.compiled import compiled

WORD_MASK = 0xFFFFFFFF


class BitCode(IntEnum):
    """Codes beside those of `tensim.sim.cores.riscv.decode.Code`."""

    SH1ADD = 52
    SH2ADD = 53
    SH3ADD = 54
    ANDN = 55
    ORN = 56
    XNOR = 57
    MIN = 58
    MINU = 59
    MAX = 60
    MAXU = 61
    ROL = 62
    ROR = 63
    RORI = 64
    CLZ = 65
    CTZ = 66
    CPOP = 67
    SEXT_B = 68
    SEXT_H = 69
    ZEXT_H = 70
    ORC_B = 71
    REV8 = 72


FIRST, LAST = int(BitCode.SH1ADD), int(BitCode.REV8)
(SH1ADD, SH2ADD, SH3ADD, ANDN, ORN, XNOR, MIN, MINU, MAX, MAXU, ROL, ROR, RORI, CLZ, CTZ, CPOP, SEXT_B, SEXT_H, ZEXT_H, ORC_B,
 REV8) = map(int, BitCode)  # fmt: skip

# By function codes (funct7, funct3) of instructions on two registers, and by immediate of those on one
_TWO = {
    (0x10, 2): SH1ADD, (0x10, 4): SH2ADD, (0x10, 6): SH3ADD, (0x20, 7): ANDN, (0x20, 6): ORN, (0x20, 4): XNOR,
    (0x05, 4): MIN, (0x05, 5): MINU, (0x05, 6): MAX, (0x05, 7): MAXU, (0x30, 1): ROL, (0x30, 5): ROR,
}  # fmt: skip
_ONE = {(1, 0x600): CLZ, (1, 0x601): CTZ, (1, 0x602): CPOP, (1, 0x604): SEXT_B, (1, 0x605): SEXT_H, (5, 0x287): ORC_B,
        (5, 0x698): REV8}  # fmt: skip


def bit_record(word):
    """Record of an instruction of the extensions, None for any other one."""
    major, rd, f3, rs1, rs2, f7 = (
        word & 0x7F,
        word >> 7 & 31,
        word >> 12 & 7,
        word >> 15 & 31,
        word >> 20 & 31,
        word >> 25,
    )
    if major == 0x33:
        if (f7, f3, rs2) == (0x04, 4, 0):
            return record(ZEXT_H, rd, rs1)
        code = _TWO.get((f7, f3))
        return None if code is None else record(code, rd, rs1, rs2)
    if major == 0x13:
        code = _ONE.get((f3, word >> 20))
        if code is not None:
            return record(code, rd, rs1)
        if (f7, f3) == (0x30, 5):
            return record(RORI, rd, rs1, immediate=rs2)
    return None


@compiled()
def rotated(a, count):
    """A 32-bit number rotated to the right."""
    a, count = a & WORD_MASK, count & 31
    return (a >> count | a << (32 - count)) & WORD_MASK


@compiled()
def ones(a):
    """Number of ones of a 32-bit number."""
    a, count = a & WORD_MASK, 0
    while a != 0:
        a &= a - 1
        count += 1
    return count


@compiled()
def bytes_of(code, a):
    """Result of ORC_B, each byte 0xFF unless it is 0, or REV8, the bytes in the other order."""
    result = 0
    for i in range(4):
        byte = a >> 8 * i & 0xFF
        if code == REV8:
            result |= byte << (24 - 8 * i)
        elif byte != 0:
            result |= 0xFF << 8 * i
    return result


@compiled()
def bit_result(code, a, b, immediate):
    """Result of an instruction; `a`, `b`: its registers as signed numbers.  Bits above 32 mean nothing."""
    if code <= SH3ADD:
        return (a << (code - SH1ADD + 1)) + b
    if code == ANDN:
        return a & ~b
    if code == ORN:
        return a | ~b
    if code == XNOR:
        return ~(a ^ b)
    if code == MIN:
        return min(a, b)
    if code == MAX:
        return max(a, b)
    if code == MINU:
        return min(a & WORD_MASK, b & WORD_MASK)
    if code == MAXU:
        return max(a & WORD_MASK, b & WORD_MASK)
    if code == ROL:
        return rotated(a, 32 - (b & 31))
    if code == ROR:
        return rotated(a, b)
    if code == RORI:
        return rotated(a, immediate)
    if code == CPOP:
        return ones(a)
    if code == CTZ:
        return ones(~a & (a - 1)) if a & WORD_MASK != 0 else 32
    if code == CLZ:
        count, left = 32, a & WORD_MASK
        while left != 0:
            left >>= 1
            count -= 1
        return count
    if code == SEXT_B:
        return ((a & 0xFF) ^ 0x80) - 0x80
    if code == SEXT_H:
        return ((a & 0xFFFF) ^ 0x8000) - 0x8000
    if code == ZEXT_H:
        return a & 0xFFFF
    return bytes_of(code, a)
