"""The simple and round sub-units: integers, bits, fields, flags, conversions, roundings (ISA: the page of each instruction).

What is Blackhole's own: vendor's simulator (ttsim 1.10, tensix.cpp).
"""

from tensim.sim.cores.coprocessor.faults import UNKNOWN_INSTRUCTION, UNKNOWN_MODE, stop
from tensim.sim.cores.coprocessor.opcodes import opcodes
from tensim.sim.cores.coprocessor.state import BLACKHOLE, chip_of
from tensim.sim.cores.coprocessor.vector_arithmetic import HIDDEN, MAGNITUDE
from tensim.sim.cores.coprocessor.vector_config import configure, special_register
from tensim.sim.cores.coprocessor.vector_flags import (
    complement_flags,
    enable_flags,
    flags_of_sign,
    pop_flags,
    push_flags,
    refresh_enabled,
    set_flags,
)
from tensim.sim.cores.coprocessor.vector_operations import (
    absolute,
    absolute_integer,
    add_exponent,
    add_immediate,
    add_integers,
    approximate_reciprocal,
    bits_and,
    bits_not,
    bits_or,
    bits_xor,
    cast,
    cast_at_random,
    cast_complement,
    descale_to_signed,
    descale_to_unsigned,
    greater,
    leading_zeros,
    less_or_equal,
    move,
    negate,
    not_zero_masked,
    put,
    put_exponent,
    put_mantissa,
    put_sign,
    read_exponent,
    read_mantissa,
    round_to_bf16,
    round_to_fp16,
    round_to_signed,
    round_to_unsigned,
    shift,
    shift_arithmetic,
    shift_immediate,
    shift_immediate_arithmetic,
    step_random,
    subtract_integers,
    take_exponent,
    take_integer_exponent,
    take_mantissa,
    take_sign,
    threshold,
)
from tensim.sim.cores.coprocessor.vector_shuffles import swap, transpose
from tensim.sim.cores.coprocessor.vector_state import ALL_ON, ENABLED, FIRST_CONSTANT, FLAGS, RANDOM, SPARE, row_at
from tensim.sim.engine.compiled import compiled

SFPDIVP2, SFPEXEXP, SFPEXMAN, SFPIADD, SFPSHFT, SFPSETCC, SFPMOV, SFPABS, SFPAND, SFPOR, SFPNOT, SFPLZ = opcodes(
    "SFPDIVP2 SFPEXEXP SFPEXMAN SFPIADD SFPSHFT SFPSETCC SFPMOV SFPABS SFPAND SFPOR SFPNOT SFPLZ"
)
SFPSETEXP, SFPSETMAN, SFPPUSHC, SFPPOPC, SFPSETSGN, SFPENCC, SFPCOMPC, SFPTRANSP, SFPXOR, SFPCAST = opcodes(
    "SFPSETEXP SFPSETMAN SFPPUSHC SFPPOPC SFPSETSGN SFPENCC SFPCOMPC SFPTRANSP SFPXOR SFPCAST"
)
SFPCONFIG, SFPSWAP, SFPLE, SFPGT, SFPARECIP = opcodes("SFPCONFIG SFPSWAP SFPLE SFPGT SFPARECIP")
BIASED = 127
ALL_BITS = 0xFFFFFFFF
TO_FP16, TO_BF16, TO_UINT8, TO_INT8, DESCALE_UINT8, DESCALE_INT8, TO_UINT16, TO_INT16 = range(8)  # SFPSTOCHRND's modes
RANDOM_NUMBERS = 9  # what SFPMOV calls them
IMMEDIATE = 1  # bit of many modes: an operand is the instruction's immediate


@compiled(inline="always")
def signed_12(word):
    """An instruction's 12-bit immediate, signed."""
    return ((word >> 12 & 0xFFF) ^ 0x800) - 0x800


@compiled()
def next_random_numbers(v, mask):
    """Move the random numbers of lanes on."""
    numbers = row_at(v, RANDOM)
    step_random(numbers, mask, numbers, numbers, numbers, 0)


@compiled()
def integers(c, v, code, word, mode, b, operand, d, target):
    """SFPIADD, SFPSHFT, SFPABS, SFPLZ."""
    mask, immediate = row_at(v, ENABLED), signed_12(word)
    if code == SFPIADD:
        if mode & IMMEDIATE:
            add_immediate(target, mask, operand, operand, operand, immediate)
        elif mode & 2:
            subtract_integers(target, mask, operand, b, operand, 0)
        else:
            add_integers(target, mask, operand, b, operand, 0)
        if d < FIRST_CONSTANT:
            flags_of_sign(v, target, mask, mode & 4 == 0, mode & 8 != 0)
    elif code == SFPSHFT:
        right = chip_of(c) == BLACKHOLE and mode & 2 != 0
        value = operand if chip_of(c) == BLACKHOLE and mode & 4 != 0 else b
        if mode & IMMEDIATE and right:
            shift_immediate_arithmetic(target, mask, operand, value, operand, immediate)
        elif mode & IMMEDIATE:
            shift_immediate(target, mask, operand, value, operand, immediate)
        elif right:
            shift_arithmetic(target, mask, operand, value, operand, 0)
        else:
            shift(target, mask, operand, value, operand, 0)
    elif code == SFPABS:
        if mode & 1:
            absolute(target, mask, operand, operand, operand, 0)
        else:
            absolute_integer(target, mask, operand, operand, operand, 0)
    else:
        count_zeros(v, mode, operand, d, target)


@compiled()
def count_zeros(v, mode, operand, d, target):
    """SFPLZ: leading zeros, of all 32 bits or of a magnitude; flags of whether it is 0."""
    mask, flags, bits = row_at(v, ENABLED), row_at(v, FLAGS), MAGNITUDE if mode & 4 else ALL_BITS
    spare = row_at(v, SPARE)
    not_zero_masked(spare, row_at(v, ALL_ON), operand, operand, operand, bits)
    leading_zeros(target, mask, operand, operand, operand, bits)
    if d < FIRST_CONSTANT and mode & 10 != 0:
        if mode & 2:
            move(flags, mask, spare, spare, spare, 0)
        if mode & 8:
            bits_not(flags, mask, flags, flags, flags, 0)
        refresh_enabled(v)


@compiled()
def fields_of_float(v, code, word, mode, b, operand, d, target):
    """SFPDIVP2, SFPEXEXP, SFPEXMAN, SFPSETEXP, SFPSETMAN, SFPSETSGN."""
    mask, immediate = row_at(v, ENABLED), word >> 12 & 0xFFF
    if code == SFPDIVP2:
        if mode & 1:
            add_exponent(target, mask, operand, operand, operand, immediate & 0xFF)
        else:
            put_exponent(target, mask, operand, operand, operand, immediate & 0xFF)
    elif code == SFPEXEXP:
        read_exponent(target, mask, operand, operand, operand, 0 if mode & 1 else BIASED)
        if d < FIRST_CONSTANT:
            flags_of_sign(v, target, mask, mode & 2 != 0, mode & 8 != 0)
    elif code == SFPEXMAN:
        read_mantissa(target, mask, operand, operand, operand, 0 if mode & 1 else HIDDEN)
    elif code == SFPSETEXP:
        if mode & IMMEDIATE:
            put_exponent(target, mask, operand, operand, operand, immediate & 0xFF)
        elif mode & 2:
            take_exponent(target, mask, operand, b, operand, 0)
        else:
            take_integer_exponent(target, mask, operand, b, operand, 0)
    elif code == SFPSETMAN:
        if mode & IMMEDIATE:
            put_mantissa(target, mask, operand, operand, operand, immediate)
        else:
            take_mantissa(target, mask, operand, b, operand, 0)
    elif mode & IMMEDIATE:
        put_sign(target, mask, operand, operand, operand, immediate & 1)
    else:
        take_sign(target, mask, operand, b, operand, 0)


@compiled()
def copy(v, mode, number, operand, target):
    """SFPMOV.  `number`: VC, which names a part of the configuration in one mode."""
    mask = row_at(v, ALL_ON) if mode == 2 else row_at(v, ENABLED)
    if mode & 8:
        row = special_register(number)
        if number == RANDOM_NUMBERS:
            numbers = row_at(v, RANDOM)
            move(target, mask, numbers, numbers, numbers, 0)
            next_random_numbers(v, mask)
        elif row >= 0:
            move(target, mask, target, target, row_at(v, row), 0)
        else:
            put(target, mask, target, target, target, 0)
    elif mode & 1:
        negate(target, mask, operand, operand, operand, 0)
    else:
        move(target, mask, operand, operand, operand, 0)


@compiled()
def convert(c, v, thread, word, mode, operand, target):
    """SFPCAST.  Blackhole's mode 2 takes the absolute value, 3 converts between the two kinds of signed integers."""
    mask = row_at(v, ENABLED)
    if mode == 0:
        cast(target, mask, operand, operand, operand, 0)
    elif mode == 1:
        numbers = row_at(v, RANDOM)
        cast_at_random(target, mask, operand, numbers, operand, 0)
        next_random_numbers(v, mask)
    elif chip_of(c) == BLACKHOLE and mode == 2:
        absolute_integer(target, mask, operand, operand, operand, 0)
    elif chip_of(c) == BLACKHOLE and mode == 3:
        cast_complement(target, mask, operand, operand, operand, 0)
    else:
        stop(c, UNKNOWN_MODE, thread, word, mode, 0)


@compiled()
def compare(c, v, thread, word, mode, b, operand, d, target):
    """SFPLE and SFPGT of Blackhole: VD against VC, into the flags (mode 1) or as all bits or none into VD (mode 8)."""
    mask, result = row_at(v, ENABLED), row_at(v, SPARE)
    if mode != 1 and mode != 8:
        stop(c, UNKNOWN_MODE, thread, word, mode, 0)
        return
    if word >> 24 == SFPGT:
        greater(result, row_at(v, ALL_ON), b, b, operand, 0)
    else:
        less_or_equal(result, row_at(v, ALL_ON), b, b, operand, 0)
    if mode == 1:
        move(row_at(v, FLAGS), mask, result, result, result, 0)
        refresh_enabled(v)
    else:
        move(target, mask, result, result, result, 0)


@compiled()
def execute_simple(c, v, thread, code, word, mode, b_number, c_number, d, target):
    """Carry out an instruction of the simple sub-unit.

    `b_number`, `c_number`: of LRegs VB and VC; `target`: where LReg `d` is to be written.
    """
    mask, b, operand = row_at(v, ENABLED), row_at(v, b_number), row_at(v, c_number)
    if code == SFPIADD or code == SFPSHFT or code == SFPABS or code == SFPLZ:
        integers(c, v, code, word, mode, b, operand, d, target)
    elif SFPDIVP2 <= code <= SFPEXMAN or code == SFPSETEXP or code == SFPSETMAN or code == SFPSETSGN:
        fields_of_float(v, code, word, mode, b, operand, d, target)
    elif code == SFPMOV:
        copy(v, mode, c_number, operand, target)
    elif code == SFPAND:
        bits_and(target, mask, operand, b, operand, 0)
    elif code == SFPOR:
        bits_or(target, mask, operand, b, operand, 0)
    elif code == SFPXOR:
        bits_xor(target, mask, operand, b, operand, 0)
    elif code == SFPNOT:
        bits_not(target, mask, operand, operand, operand, 0)
    elif code == SFPCAST:
        convert(c, v, thread, word, mode, operand, target)
    elif code == SFPSETCC:
        set_flags(v, mode, word >> 12, operand)
    elif code == SFPENCC:
        enable_flags(v, mode, word >> 12)
    elif code == SFPPUSHC:
        push_flags(c, v, thread, word, mode)
    elif code == SFPPOPC:
        pop_flags(c, v, thread, word, mode)
    elif code == SFPCOMPC:
        complement_flags(v)
    elif code == SFPSWAP:
        swap(v, mode, b_number, c_number, d)
    elif code == SFPTRANSP:
        transpose(v)
    elif code == SFPCONFIG:
        configure(v, mode, d, word >> 8 & 0xFFFF)
    elif chip_of(c) == BLACKHOLE and (code == SFPLE or code == SFPGT):
        compare(c, v, thread, word, mode, b, operand, d, target)
    elif chip_of(c) == BLACKHOLE and code == SFPARECIP:
        if mode == 0:
            approximate_reciprocal(target, mask, operand, operand, operand, 0)
        else:
            stop(c, UNKNOWN_MODE, thread, word, mode, 0)
    else:
        stop(c, UNKNOWN_INSTRUCTION, thread, word, 0, 0)


@compiled()
def execute_rounding(v, word, mode, b, operand, target):
    """SFPSTOCHRND.  `b`: host address of LReg VB, whose low bits are a shift amount in two of the modes.

    Bit 3 of the mode takes the shift amount from the instruction; the other modes do not shift, and tt-llk sets it in one of them
    (the exponential's template of a rounding to 16 bits, mode 14).
    """
    mask, limits, distance, numbers = row_at(v, ENABLED), row_at(v, SPARE), row_at(v, SPARE + 1), row_at(v, RANDOM)
    kind, at_random = mode & 7, word >> 21 & 1
    threshold(limits, row_at(v, ALL_ON), limits, limits, numbers, at_random)
    if kind == DESCALE_UINT8 or kind == DESCALE_INT8:
        if mode & 8:
            put(distance, row_at(v, ALL_ON), b, b, b, word >> 16 & 31)
        else:
            distance = b
        if kind == DESCALE_UINT8:
            descale_to_unsigned(target, mask, limits, distance, operand, 0)
        else:
            descale_to_signed(target, mask, limits, distance, operand, 0)
    elif kind == TO_FP16:
        round_to_fp16(target, mask, limits, b, operand, 0)
    elif kind == TO_BF16:
        round_to_bf16(target, mask, limits, b, operand, 0)
    elif kind == TO_UINT8 or kind == TO_UINT16:
        round_to_unsigned(target, mask, limits, b, operand, 255 if kind == TO_UINT8 else 65535)
    else:
        round_to_signed(target, mask, limits, b, operand, 127 if kind == TO_INT8 else 32767)
    next_random_numbers(v, mask)
