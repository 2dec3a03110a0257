"""The vector unit's operations on lanes as intrinsics: (target, mask, a, b, c, immediate), see `lane_operation`.

`a`, `b`, `c` are what the ISA calls VA, VB and VC unless an operation says otherwise.  Shift amounts, table numbers and the like
come as the immediate.
"""

from tensim.sim.cores.coprocessor.vector_arithmetic import (
    HALF,
    MAGNITUDE,
    MANTISSA,
    absolute_float,
    coefficient_8,
    coefficient_16,
    complement,
    descaled,
    multiply_add_blackhole,
    multiply_add_wormhole,
    next_random,
    product_high,
    product_low,
    reciprocal,
    shifted,
    shifted_arithmetic,
    shortened,
    to_float,
    to_float_at_random,
    to_integer,
)
from tensim.sim.cores.coprocessor.vector_lanes import SIGN, bit, lane_operation, ordered, truth
from tensim.sim.cores.numerics.matrix_unit import exponent_of
from tensim.sim.cores.numerics.packer import signed_flush

ONE, TWO = 0x3F800000, 0x40000000
FIELDS_BUT_EXPONENT = SIGN | MANTISSA


# --- plain bits and integers

move = lane_operation(lambda a, b, c, i: c)
negate = lane_operation(lambda a, b, c, i: c ^ SIGN)
put = lane_operation(lambda a, b, c, i: i)
put_low = lane_operation(lambda a, b, c, i: (c & 0xFFFF0000) | i)
put_high = lane_operation(lambda a, b, c, i: (c & 0xFFFF) | (i << 16))
bits_and = lane_operation(lambda a, b, c, i: b & c)
bits_or = lane_operation(lambda a, b, c, i: b | c)
bits_xor = lane_operation(lambda a, b, c, i: b ^ c)
bits_not = lane_operation(lambda a, b, c, i: c ^ -1)
add_integers = lane_operation(lambda a, b, c, i: c + b)
subtract_integers = lane_operation(lambda a, b, c, i: c - b)
add_immediate = lane_operation(lambda a, b, c, i: c + i)
shift = lane_operation(lambda a, b, c, i: shifted(b, c))
shift_arithmetic = lane_operation(lambda a, b, c, i: shifted_arithmetic(b, c))
shift_immediate = lane_operation(lambda a, b, c, i: shifted(b, i))
shift_immediate_arithmetic = lane_operation(lambda a, b, c, i: shifted_arithmetic(b, i))
absolute_integer = lane_operation(lambda a, b, c, i: c.negative_if(c >> 31))
absolute = lane_operation(lambda a, b, c, i: absolute_float(c))
leading_zeros = lane_operation(lambda a, b, c, i: (c & i).leading_zeros())
multiply_low = lane_operation(lambda a, b, c, i: product_low(a, b))
multiply_high = lane_operation(lambda a, b, c, i: product_high(a, b))
greater = lane_operation(lambda a, b, c, i: truth(ordered(b) > ordered(c)))
less_or_equal = lane_operation(lambda a, b, c, i: truth(ordered(b) <= ordered(c)))

# --- flags: results are masks

negative = lane_operation(lambda a, b, c, i: c >> 31)
not_negative = lane_operation(lambda a, b, c, i: (c >> 31) ^ -1)
zero = lane_operation(lambda a, b, c, i: truth(c.equals(0)))
not_zero = lane_operation(lambda a, b, c, i: truth(c.equals(0)) ^ -1)
not_zero_masked = lane_operation(lambda a, b, c, i: truth((c & i).equals(0)) ^ -1)

# --- fields of float32

add_exponent = lane_operation(
    lambda a, b, c, i: exponent_of(c).equals(255).choose(
        c, (c & FIELDS_BUT_EXPONENT) | (((exponent_of(c) + i) & 255) << 23)
    )
)  # fmt: skip
put_exponent = lane_operation(lambda a, b, c, i: (c & FIELDS_BUT_EXPONENT) | (i << 23))
take_exponent = lane_operation(lambda a, b, c, i: (c & FIELDS_BUT_EXPONENT) | (exponent_of(b) << 23))
take_integer_exponent = lane_operation(lambda a, b, c, i: (c & FIELDS_BUT_EXPONENT) | ((b & 255) << 23))
put_mantissa = lane_operation(lambda a, b, c, i: (c & 0xFF800000) | (i << 11))
take_mantissa = lane_operation(lambda a, b, c, i: (c & 0xFF800000) | (b & MANTISSA))
put_sign = lane_operation(lambda a, b, c, i: (c & MAGNITUDE) | (i << 31))
take_sign = lane_operation(lambda a, b, c, i: (c & MAGNITUDE) | (b & SIGN))
read_exponent = lane_operation(lambda a, b, c, i: exponent_of(c) - i)
read_mantissa = lane_operation(lambda a, b, c, i: (c & MANTISSA) | i)

# --- conversions and roundings; `b` is the row of random numbers where an operation is named so

cast = lane_operation(lambda a, b, c, i: to_float(c))
cast_at_random = lane_operation(lambda a, b, c, i: to_float_at_random(c, b))
cast_complement = lane_operation(lambda a, b, c, i: complement(c))
step_random = lane_operation(lambda a, b, c, i: next_random(c))
threshold = lane_operation(lambda a, b, c, i: i.equals(0).choose(HALF, c & MANTISSA))
round_to_fp16 = lane_operation(lambda a, b, c, i: shortened(c, a, 13))
round_to_bf16 = lane_operation(lambda a, b, c, i: shortened(c, a, 16))
round_to_unsigned = lane_operation(lambda a, b, c, i: to_integer(c, a, False, i))
round_to_signed = lane_operation(lambda a, b, c, i: to_integer(c, a, True, i))
descale_to_unsigned = lane_operation(lambda a, b, c, i: descaled(c, b & 31, a, False, 255))
descale_to_signed = lane_operation(lambda a, b, c, i: descaled(c, b & 31, a, True, 127))

# --- multiply and add, for Wormhole and Blackhole

multiply_add_w = lane_operation(lambda a, b, c, i: multiply_add_wormhole(a, b, c))
multiply_add_b = lane_operation(lambda a, b, c, i: multiply_add_blackhole(a, b ^ ((i & 1) << 31), c ^ ((i & 2) << 30)))
copy_sign = lane_operation(lambda a, b, c, i: (b & MAGNITUDE) | (c & SIGN))
approximate_reciprocal = lane_operation(lambda a, b, c, i: reciprocal(c))


# Coefficients of the piecewise functions; `c`: |x|, `i`: their place in the word

pick_first = lane_operation(lambda a, b, c, i: (c < ONE).choose(a, b))
pick_second = lane_operation(lambda a, b, c, i: (c < TWO).choose(a, b))
magnitude_of = lane_operation(lambda a, b, c, i: c & MAGNITUDE)
from_8_bits = lane_operation(lambda a, b, c, i: coefficient_8(c.shift_right(i)))
from_16_bits = lane_operation(lambda a, b, c, i: coefficient_16(c.shift_right(i)))
# SFPLUTFP32 with six entries: x lies in the upper part of its third; `i`: where the last third is cut
in_upper_part = lane_operation(
    lambda a, b, c, i: truth((c >= 0x3F000000) & (c < ONE) | (c >= 0x3FC00000) & (c < TWO) | (c >= i))
)
from_either_16_bits = lane_operation(lambda a, b, c, i: coefficient_16(c.shift_right(b & 16)))


# --- formats of Dst; `c`: its value as it lies there, or the lane


def _from_fp16(value, infinity):
    exponent, mantissa = value & 31, value.shift_right(5) & 1023
    word = (exponent.equals(0).choose(0, exponent + 112) << 23) | (mantissa << 13)
    top = exponent.equals(31) & mantissa.equals(1023) & (infinity < 0)
    return ((value & 0x8000) << 16) | top.choose(0x7F800000, word)


def _to_fp16(word):
    exponent = exponent_of(word) - 112
    magnitude = (word.shift_right(13) & 1023) << 5 | exponent
    magnitude = (exponent > 31).choose(0x7FFF, (exponent <= 0).choose(0, magnitude))
    return (word.shift_right(16) & 0x8000) | magnitude


def _swapped_fields(high):
    """bf16 as Dst has it (sign, mantissa, exponent) of one in the order of LRegs (sign, exponent, mantissa)."""
    return (high & 0x8000) | ((high & 127) << 8) | (high.shift_right(7) & 255)


def _unswapped_fields(high):
    return (high & 0x8000) | ((high & 255) << 7) | (high.shift_right(8) & 127)


load_fp16 = lane_operation(lambda a, b, c, i: _from_fp16(c, bit(b, 0)))
load_bf16 = lane_operation(lambda a, b, c, i: _unswapped_fields(c) << 16)
load_32 = lane_operation(lambda a, b, c, i: (_unswapped_fields(c.shift_right(16)) << 16) | (c & 0xFFFF))
load_magnitude = lane_operation(lambda a, b, c, i: ((c & 0x8000) << 16) | (c.shift_right(5) & i))
load_int16 = lane_operation(lambda a, b, c, i: ((c & 0x8000) << 16) | (c & 0x7FFF))
load_low = lane_operation(lambda a, b, c, i: (b & 0xFFFF0000) | c)
load_high = lane_operation(lambda a, b, c, i: (b & 0xFFFF) | (c << 16))
load_upper = lane_operation(lambda a, b, c, i: c << 16)
to_complement = lane_operation(lambda a, b, c, i: (c & MAGNITUDE).negative_if(c >> 31))
to_sign_magnitude = lane_operation(lambda a, b, c, i: (c & SIGN) | (c.negative_if(c >> 31) & MAGNITUDE))
join_halves = lane_operation(lambda a, b, c, i: (b << 16) | c)
store_fp16 = lane_operation(lambda a, b, c, i: _to_fp16(c))
store_bf16 = lane_operation(lambda a, b, c, i: _swapped_fields(signed_flush(c).shift_right(16)))
store_32 = lane_operation(lambda a, b, c, i: (_swapped_fields(c.shift_right(16)) << 16) | (c & 0xFFFF))
flush_denormals = lane_operation(lambda a, b, c, i: signed_flush(c))
store_int8 = lane_operation(lambda a, b, c, i: (c.shift_right(16) & 0x8000) | ((c & 1023) << 5) | 16)
store_int16 = lane_operation(lambda a, b, c, i: (c.shift_right(16) & 0x8000) | (c & 0x7FFF))
rotate_halves = lane_operation(lambda a, b, c, i: (c << 16) | c.shift_right(16))
upper_half = lane_operation(lambda a, b, c, i: c.shift_right(16))
and_not_bit = lane_operation(lambda a, b, c, i: b & (truth(((c.shift_right(i)) & 1).equals(0))))
or_bit = lane_operation(lambda a, b, c, i: b | (truth(((c.shift_right(i)) & 1).equals(0)) ^ -1))
and_bit = lane_operation(lambda a, b, c, i: b & (truth(((c.shift_right(i)) & 1).equals(0)) ^ -1))
and_not = lane_operation(lambda a, b, c, i: b & (c ^ -1))
or_not = lane_operation(lambda a, b, c, i: b | (c ^ -1))
