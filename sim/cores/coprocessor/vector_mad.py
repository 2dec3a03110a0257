"""The MAD sub-unit: multiply-add in its forms and piecewise linear functions (ISA: SFPMAD.md, SFPADDI.md, SFPMULI.md, SFPLUT*.md).

Blackhole adds signs to SFPMAD, SFPADD and SFPMUL, and SFPMUL24 (ttsim 1.10, tensix.cpp).
"""

from tensim.sim.cores.coprocessor.opcodes import opcodes
from tensim.sim.cores.coprocessor.state import BLACKHOLE, chip_of, words
from tensim.sim.cores.coprocessor.vector_operations import (
    copy_sign,
    from_8_bits,
    from_16_bits,
    from_either_16_bits,
    in_upper_part,
    magnitude_of,
    move,
    multiply_add_b,
    multiply_add_w,
    multiply_high,
    multiply_low,
    pick_first,
    pick_second,
    put,
)
from tensim.sim.cores.coprocessor.vector_state import ALL_ON, BONUS_LREG, ENABLED, LANES, SPARE, row_at
from tensim.sim.engine.compiled import compiled

SFPMULI, SFPADDI, SFPLUT, SFPLUTFP32, SFPMUL24 = opcodes("SFPMULI SFPADDI SFPLUT SFPLUTFP32 SFPMUL24")
ONE, THREE, FOUR = 0x3F800000, 0x40400000, 0x40800000
INDIRECT_A, INDIRECT_D, KEEP_SIGN = 4, 8, 4  # bits of the mode; the last of the tables'
SIX_ENTRIES, CUT_AT_FOUR, THREE_HALVES = 2, 3, 10  # of SFPLUTFP32's mode; THREE_HALVES shares a bit with INDIRECT_D
RESULT, X, FACTOR, TERM, CHOICE, NAMED = range(SPARE, SPARE + 6)


@compiled()
def multiply_add(c, target, mask, a, b, addend, signs):
    """target = a * b + addend by the chip's arithmetic.  `signs`: Blackhole's, bit 0 negates the product, bit 1 the addend."""
    if chip_of(c) == BLACKHOLE:
        multiply_add_b(target, mask, a, b, addend, signs)
    else:
        multiply_add_w(target, mask, a, b, addend, signs)


@compiled()
def named_by_lreg_7(v):
    """Row of the values of the LRegs that lanes name in LReg 7."""
    at, names = row_at(v, NAMED), words(row_at(v, 7))
    for lane in range(LANES):
        words(at)[lane] = words(row_at(v, names[lane] & 15))[lane]
    return at


@compiled()
def store_by_lreg_7(v, source, mask):
    """Put lanes of a row into the LRegs that they name in LReg 7, below 8."""
    names = words(row_at(v, 7))
    for lane in range(LANES):
        number = names[lane] & 15
        if words(mask)[lane] != 0 and number < 8:
            words(row_at(v, number))[lane] = words(source)[lane]


@compiled()
def third_of_table(v, target, base):
    """For each lane, of three LRegs from `base` on the one for |x| below 1, below 2 or above."""
    every, x = row_at(v, ALL_ON), row_at(v, X)
    pick_second(target, every, row_at(v, base + 1), row_at(v, base + 2), x, 0)
    pick_first(target, every, row_at(v, base), target, x, 0)


@compiled()
def look_up(c, v, opcode, mode, target, mask):
    """SFPLUT and SFPLUTFP32: a piecewise linear function of LReg 3."""
    every, x, factor, term, choice = (
        row_at(v, ALL_ON),
        row_at(v, X),
        row_at(v, FACTOR),
        row_at(v, TERM),
        row_at(v, CHOICE),
    )
    given = row_at(v, NAMED)
    move(given, every, x, x, row_at(v, 3), 0)  # which may be the target
    magnitude_of(x, every, x, x, given, 0)
    third_of_table(v, factor, 0)
    if opcode == SFPLUT:
        from_8_bits(term, every, factor, factor, factor, 0)
        from_8_bits(factor, every, factor, factor, factor, 8)
    elif mode & SIX_ENTRIES == 0:
        third_of_table(v, term, 4)
    elif mode & THREE_HALVES == THREE_HALVES:
        from_16_bits(term, every, factor, factor, factor, 0)
        from_16_bits(factor, every, factor, factor, factor, 16)
    else:
        in_upper_part(choice, every, x, x, x, FOUR if mode & 3 == CUT_AT_FOUR else THREE)
        third_of_table(v, term, 4)
        from_either_16_bits(factor, every, factor, choice, factor, 0)
        from_either_16_bits(term, every, term, choice, term, 0)
    multiply_add(c, target, mask, factor, x, term, 0)
    if mode & KEEP_SIGN:
        copy_sign(target, mask, target, target, given, 0)


@compiled()
def execute_mad(c, v, opcode, word, mode, a, b, addend, d, target):
    """Carry out an instruction of the MAD sub-unit.

    `a`: number of LReg VA; `b`, `addend`: host addresses of LRegs VB and VC; `target`: where LReg `d` is to be written.
    """
    mask, every = row_at(v, ENABLED), row_at(v, ALL_ON)
    indirect = mode & INDIRECT_D != 0 and d != BONUS_LREG
    if indirect:
        target, mask = row_at(v, RESULT), every
    if opcode == SFPLUT or opcode == SFPLUTFP32:
        look_up(c, v, opcode, mode, target, mask)
    elif opcode == SFPADDI or opcode == SFPMULI:
        immediate, other = row_at(v, FACTOR), row_at(v, TERM)
        put(immediate, every, immediate, immediate, immediate, (word >> 8 & 0xFFFF) << 16)
        if opcode == SFPADDI:
            put(other, every, other, other, other, ONE)
            multiply_add(c, target, mask, immediate, other, addend, 0)
        else:
            put(other, every, other, other, other, 0)
            multiply_add(c, target, mask, immediate, addend, other, 0)
    else:
        first = named_by_lreg_7(v) if mode & INDIRECT_A else row_at(v, a)
        if opcode == SFPMUL24:
            if mode & 1:
                multiply_high(target, mask, first, b, b, 0)
            else:
                multiply_low(target, mask, first, b, b, 0)
        else:
            multiply_add(c, target, mask, first, b, addend, mode & 3)
    if indirect:
        store_by_lreg_7(v, row_at(v, RESULT), row_at(v, ENABLED))
