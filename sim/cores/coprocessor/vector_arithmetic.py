"""Arithmetic of the vector unit on lanes of 32 bits: multiply-add, conversions, rounding, fields of float32.

The functions take and give `Lanes` (16 values) and a scalar immediate as Lanes.  Sources: ISA (the page of each instruction);
of the multiply-add the ISA names the properties only, its steps and all that is Blackhole's are facts of the vendor's functional
simulator (ttsim 1.10, src/fma.cpp and tensix.cpp).
"""

from tensim.sim.cores.coprocessor.vector_lanes import SIGN, select
from tensim.sim.cores.numerics.matrix_unit import exponent_of

INFINITY, QUIET_NAN, LEAKING_NAN = 0x7F800000, 0x7FC00000, 0x7F800001
HIDDEN, MANTISSA, MAGNITUDE = 1 << 23, (1 << 23) - 1, (1 << 31) - 1
EXTRA_BITS = 3  # below a mantissa's last bit: guard, round, sticky
HALF = 1 << 22  # of the 23 bits behind the point that a rounding looks at


# --- multiply and add


def _significand(word):
    """The 24-bit significand; 0 for zero and denormals."""
    return exponent_of(word).equals(0).choose(0, (word & MANTISSA) | HIDDEN)


def _product(x, y):
    """Product of two significands with `EXTRA_BITS` behind the point, the last of them sticky: 27 or 28 bits."""
    x_high, x_low, y_high, y_low = x.shift_right(12), x & 4095, y.shift_right(12), y & 4095
    low = x_low * y_low
    middle = x_high * y_low + x_low * y_high + low.shift_right(12)
    lost = (middle & 255) | (low & 4095)
    return ((x_high * y_high) << 4) + middle.shift_right(8) | lost.equals(0).choose(0, 1)


def _aligned(value, distance):
    """Shifted right, with a sticky last bit as long as anything is left."""
    distance = distance.min(31)
    kept = value.shift_right(distance)
    exact = (kept << distance).equals(value) | kept.equals(0)
    return kept | exact.choose(0, 1)


def _sum(x, y, z):
    """Steps that both chips share.

    (sign of the product, of z, exponent of the product, significands of x y and z, exponent of the sum before and its magnitude,
    sign of the sum)
    """
    x_value, y_value, z_value = _significand(x), _significand(y), _significand(z)
    product_sign, z_sign = (x ^ y) & SIGN, z & SIGN
    exponent = exponent_of(x) + exponent_of(y) - 127
    return x_value, y_value, z_value, product_sign, z_sign, exponent


def _added(product, exponent, z_value, z, product_sign, z_sign):
    """(exponent, magnitude, sign) of product + z before they are normalised."""
    z_exponent = exponent_of(z)
    top = exponent.max(z_exponent)
    differ = (product_sign ^ z_sign) >> 31
    term = _aligned(z_value << EXTRA_BITS, top - z_exponent)
    total = _aligned(product, top - exponent) + term.negative_if(differ)
    return top, total.negative_if(total >> 31), product_sign ^ (total & SIGN)


def _rounded(exponent, value):
    """Word without sign of a significand with `EXTRA_BITS`: nearest, ties to even; a carry goes into the exponent."""
    word = (exponent << 23) + (value.shift_right(EXTRA_BITS) & MANTISSA)
    return word + (((value & 7) + (word & 1)) > 4).choose(1, 0)


def multiply_add_blackhole(x, y, z):
    """x * y + z on Blackhole."""
    x_value, y_value, z_value, product_sign, z_sign, exponent = _sum(x, y, z)
    product = _product(x_value, y_value)
    top, magnitude, sign = _added(product, exponent, z_value, z, product_sign, z_sign)
    shift = magnitude.leading_zeros() - 5
    result = top - shift
    tiny = result <= 0
    shift = tiny.choose(shift - 1, shift)
    right = (-shift).max(0).min(31)
    lost = (right > 0).choose(magnitude & (right | 1), 0)
    value = (magnitude << shift.max(0).min(31)).shift_right(right) | lost.equals(0).choose(0, 1)
    word = _rounded(tiny.choose(0, result), value)
    word = sign | word.shift_right(23).equals(0).choose(0, word)
    word = (result >= 255).choose(sign | INFINITY, word)
    both = z_sign & product_sign
    word = magnitude.equals(0).choose(both, word)
    none = product.equals(0) | (exponent < 0)
    word = none.choose(z_value.equals(0).choose(both, z), word)
    return _special_blackhole(word, x, y, z, (x_value, y_value, z_value), product_sign, z_sign, exponent)


def _special_blackhole(word, x, y, z, values, product_sign, z_sign, exponent):
    x_value, y_value, z_value = values
    x_top, y_top, z_top = (exponent_of(w).equals(255) for w in (x, y, z))
    infinite = x_top | y_top
    nan = x_top & ((x_value > HIDDEN) | y_value.equals(0)) | y_top & ((y_value > HIDDEN) | x_value.equals(0))
    nan = nan | z_top & ((z_value > HIDDEN) | infinite & ((product_sign ^ z_sign) < 0))
    word = (infinite | (exponent >= 255)).choose(product_sign | INFINITY, word)
    return nan.choose(QUIET_NAN, z_top.choose(z, word))


def multiply_add_wormhole(x, y, z):
    """x * y + z on Wormhole: no -0, and bits of the operands leak into a NaN."""
    x_value, y_value, z_value, product_sign, z_sign, exponent = _sum(x, y, z)
    x_top, y_top, z_top = (exponent_of(w).equals(255) for w in (x, y, z))
    infinite = x_top | y_top | (exponent >= 255)
    nan = x_top & ((x_value > HIDDEN) | y_value.equals(0)) | y_top & ((y_value > HIDDEN) | x_value.equals(0))
    nan = nan | z_top & z_value.equals(HIDDEN) & infinite & ((product_sign ^ z_sign) < 0)
    leaking = nan.choose(product_sign | LEAKING_NAN, (z_top & (z_value > HIDDEN)).choose(z_sign | LEAKING_NAN, 0))
    product, clipped = _product(x_value, y_value), exponent.min(255)
    none = product.equals(0) | (clipped < 0)
    top, magnitude, sign = _added(none.choose(0, product), none.choose(0, clipped), z_value, z, product_sign, z_sign)
    shift = magnitude.leading_zeros() - 5
    result = top - shift
    right = (-shift).max(0).min(31)
    value = (magnitude << shift.max(0).min(31)).shift_right(right) | magnitude & (right > 0).choose(1, 0)
    word = _rounded(result.max(0), value)
    is_nan = leaking.equals(0).choose(0, -1)
    word = word.shift_right(23).equals(0).choose(leaking, word | select(is_nan, leaking, sign))
    over = select(is_nan, leaking, sign | INFINITY)
    word = (result >= 255).choose(over, word)
    word = ((result < 0) | magnitude.equals(0)).choose(leaking, word)
    finite = (none & leaking.equals(0)).choose(z_value.equals(0).choose(0, z), word)
    special = z_top.choose(z, infinite.choose(product_sign | INFINITY, finite))
    return select(is_nan, word, special)


# --- float32 to and from other formats


def from_sign_magnitude(word):
    """(float32 rounded towards zero, discarded bits at the top of a word's low byte and what lies below) of an integer."""
    magnitude = word & MAGNITUDE
    zeros = magnitude.equals(0).choose(157, magnitude.leading_zeros())
    normal = magnitude << (zeros & 31)
    return (word & SIGN) + ((-zeros + 157) << 23) + normal.shift_right(8), normal


def to_float(c):
    """SFPCAST to float32, ties to even."""
    word, normal = from_sign_magnitude(c)
    up = ((normal & 0x80) > 0) & ((normal & 0x17F) > 0)
    return word + up.choose(1, 0)


def to_float_at_random(c, random):
    """SFPCAST to float32 by seven random bits."""
    word, normal = from_sign_magnitude(c)
    return word + ((normal & 0xFE) > (random.shift_right(9) & 0xFE)).choose(1, 0)


def complement(word):
    """Between sign and magnitude and two's complement; both keep -2**31, which is -0 in the former."""
    return (word < 0).choose(-word | SIGN, word)


def shortened(word, threshold, dropped):
    """SFPSTOCHRND to fewer mantissa bits: up when what is dropped, in 23 bits, reaches the threshold."""
    tail = word & ((1 << dropped) - 1)
    up = ((tail << (23 - dropped)) >= threshold).choose(1 << dropped, 0)
    exponent = exponent_of(word)
    result = exponent.equals(255).choose(word & (SIGN | INFINITY), word - tail + up)
    return exponent.equals(0).choose(0, result)


def to_integer(word, threshold, keep_sign, largest):
    """SFPSTOCHRND to a sign-and-magnitude integer of at most `largest`; below 1/2 always 0."""
    exponent = exponent_of(word) - 127
    significand = (word & MANTISSA) | HIDDEN
    whole = significand.shift_right((-exponent + 23).max(0).min(31))
    behind = (exponent < 0).choose(significand.shift_right(1), significand << exponent.max(0).min(31)) & MANTISSA
    whole = (exponent < 0).choose(0, whole) + (behind >= threshold).choose(1, 0)
    magnitude = (exponent >= 16).choose(largest, whole.min(largest))
    magnitude = (exponent < -1).choose(0, magnitude)
    if not keep_sign:
        return magnitude
    small = (exponent < -1) | (magnitude.equals(0) & (exponent < 16))
    return small.choose(0, (word & SIGN) + magnitude)


def descaled(word, distance, threshold, keep_sign, largest):
    """SFPSTOCHRND of a sign-and-magnitude integer: shifted right, rounded, at most `largest`."""
    magnitude = word & MAGNITUDE
    whole = magnitude.shift_right(distance)
    tail = magnitude - (whole << distance)
    wide = distance > 23
    behind = wide.choose(tail.shift_right((distance - 23).max(0)), tail << (-distance + 23).max(0))
    magnitude = whole + (behind >= threshold).choose(1, 0)
    magnitude = (magnitude < 0).choose(largest, magnitude.min(largest))
    return magnitude.equals(0).choose(0, (word & SIGN) + magnitude) if keep_sign else magnitude


# --- tables of SFPLUT and SFPLUTFP32


def coefficient_8(word):
    """An 8-bit coefficient of SFPLUT as float32: sign, three bits of exponent downwards from 127, four of mantissa."""
    value = ((word & 0x80) << 24) | ((-(word.shift_right(4) & 7) + 127) << 23) | ((word & 15) << 19)
    return (word & 255).equals(255).choose(0, value)


def coefficient_16(word):
    """A 16-bit coefficient of SFPLUTFP32 as float32: fp16 whose exponent 31 stands for 0 and 0 for 2**-15."""
    exponent = word.shift_right(10) & 31
    exponent = exponent.equals(31).choose(0, exponent + 112)
    return ((word & 0x8000) << 16) | (exponent << 23) | ((word & 1023) << 13)


# --- small ones


def absolute_float(c):
    """SFPABS of float32: a negative NaN stays."""
    nan = (c < 0) & ((c & MAGNITUDE) > INFINITY)
    return nan.choose(c, c & MAGNITUDE)


def shifted(value, amount):
    """`value` shifted left by `amount` modulo 32, or right by -`amount` when that is negative."""
    return (amount < 0).choose(value.shift_right(-amount & 31), value << (amount & 31))


def shifted_arithmetic(value, amount):
    """As `shifted`, keeping the sign to the right."""
    return (amount < 0).choose(value >> (-amount & 31), value << (amount & 31))


def next_random(state):
    """The number after this one of a lane (ISA: VectorUnit.md, PRNG)."""
    taps = state.shift_right(31) ^ state.shift_right(21) ^ state.shift_right(1) ^ state
    return ((taps ^ 1) << 31) | state.shift_right(1)


def reciprocal(c):
    """SFPARECIP: seven bits of the reciprocal in the middle of each of 128 intervals, to nearest; of denormals infinity."""
    magnitude = c & MAGNITUDE
    middle = (magnitude.shift_right(15) & 254) + 257  # of 1 + mantissa, times 256
    fraction = ((middle + (1 << 17)).quotient(middle << 1) - 128) << 16
    word = ((-magnitude.shift_right(23) + 253) << 23) | fraction
    word = (magnitude < 0x7E800000).choose(word, 0)
    return (c & SIGN) | (magnitude < HIDDEN).choose(INFINITY, word)


def product_low(a, b):
    """SFPMUL24: low 23 bits of the product of two 23-bit integers."""
    return (a * b) & MANTISSA


def product_high(a, b):
    """SFPMUL24: the product of two 23-bit integers without its low 23 bits."""
    a, b = a & MANTISSA, b & MANTISSA
    a_high, a_low, b_high, b_low = a.shift_right(12), a & 4095, b.shift_right(12), b & 4095
    middle = a_high * b_low + a_low * b_high + (a_low * b_low).shift_right(12)
    return ((a_high * b_high) << 1) + middle.shift_right(11)
