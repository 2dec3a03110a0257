"""The vector unit on Dst tiles: functions of one, two and three tiles, reductions, casts (`numerics=fast`, and the middle of
`exact`).

Parameters are 32-bit patterns: float bits, or integers where the function says so.
"""

import math

import numpy as np

from tensim.sim.cores.numerics.number_order import larger, smaller
from tensim.sim.cores.numerics.sfpu_functions import (
    FIRST_BINARY_INT,
    FIRST_BINARY_QUOTIENT,
    FIRST_UNARY_INT,
    SfpuBinary,
    SfpuTernary,
    SfpuUnary,
)
from tensim.sim.cores.numerics.sfpu_integers import WORD, int_binary, int_unary
from tensim.sim.cores.numerics.sfpu_numbers import (
    activation,
    circular,
    compared,
    divided,
    elementary,
    float_binary,
    float_unary,
    special,
    with_number,
)
from tensim.sim.cores.numerics.tile import TILE_DATUMS, TILE_SIDE
from tensim.sim.cores.numerics.tile_formats import bits_of_float, float_of_bits, is_integer, signed_word
from tensim.sim.cores.numerics.tile_math import element
from tensim.sim.cores.numerics.unpacker import INT32, UINT8, UINT16, UINT32
from tensim.sim.cores.operations import Approximation, Pool, ReduceDim
from tensim.sim.engine.compiled import compiled

# The approximate exponential: steps of its integer per unit of x, 2^8 / ln 2; the integer of exp(0), 127 * 2^8, less what
# halves the largest error; places by which it is shifted; below -88.5 there is nothing but zero
EXP_PER_ONE, EXP_OF_ZERO = np.float32(369.329925537109375), 32500.818359375
EXP_SHIFT, EXP_LOWEST, SMALLEST_NORMAL = 15, np.float32(-88.5), 1 << 23
AVERAGE_SHIFT = 5  # an average of integers: 32 of them


@compiled()
def integer_word(word, data_format):
    """The integer in a Dst word, with the sign that its format has."""
    if data_format == INT32:
        return signed_word(word)
    return bits_of_float(word) & 0xFFFF if data_format == UINT16 else bits_of_float(word)


@compiled()
def to_integer(word, target):
    """A float32 as an integer (docs/hardware/numerics.md#vector-unit, casts): cut towards zero, for uint16 rounded to nearest with
    halves away from zero; saturating, NaN as the infinity of its sign, but for uint8, which wraps.
    """
    value, negative = float(word), signed_word(word) < 0
    if target == UINT8:
        return int(value) & 255 if abs(value) < 2.0**31 else 0
    high = 2147483647.0 if target == INT32 else 4294967295.0 if target == UINT32 else 65535.0
    low = -2147483648.0 if target == INT32 else 0.0
    if value != value:
        value = -math.inf if negative else math.inf
    if target == UINT16:
        value = np.floor(value + 0.5)
    return int(min(max(value, low), high))


@compiled()
def typecast(word, source, target):
    """A Dst word of format `source` as one of `target`.  Integers of 32 bits keep their bits, a uint16 saturates."""
    if not is_integer(source):
        return float_of_bits(to_integer(word, target)) if is_integer(target) else word
    value = integer_word(word, source)
    if not is_integer(target):
        return np.float32(value)
    if target == UINT16:
        return float_of_bits(min(max(value, 0), 0xFFFF))
    return float_of_bits(value & 255 if target == UINT8 else value & WORD)


@compiled()
def approximate_exp(x, scale, clamped):
    """exp(scale * x) as the vector unit approximates it: the bits of a float32, read as an integer, grow with the logarithm of
    its value, and along a straight line between powers of two (docs/hardware/numerics.md#approximate-exponential).

    A multiply-add gives the upper bits, which are rounded to an integer and shifted to their place.  `clamped`: the integer is
    unsigned, as large negative inputs are limited first; else it has a sign, and 15 bits, so that results end below 2.
    """
    if clamped:
        limit = EXP_LOWEST / scale
        if x < limit or (x != x and bits_of_float(x) >> 31):  # NaN is ordered by its sign
            x = limit
    largest = 0xFFFF if clamped else 0x7FFF
    upper = np.float32(np.float64(EXP_PER_ONE * scale) * np.float64(x) + EXP_OF_ZERO)
    integer = largest  # NaN, too
    if abs(upper) < largest:
        integer = int(math.floor(np.float64(abs(upper)) + 0.5))  # the sum is exact: `upper` has 24 significant bits
    word = integer << EXP_SHIFT
    if word < SMALLEST_NORMAL or (clamped and upper < 0):
        return np.float32(0)
    return float_of_bits(word | (1 << 31 if upper < 0 else 0))


@compiled()
def sfpu_unary(function, form, dst, off, p0, p1, p2):
    """Apply a unary function to dst[off:off + 1024]; parameters are 32-bit patterns.

    `form`: an `Approximation` that is known; the exponential alone computes approximately, exp(p0 * x), 0 meaning 1.
    """
    if function == SfpuUnary.EXP and form != Approximation.ACCURATE:
        scale = float_of_bits(p0) if p0 != 0 else np.float32(1)
        for i in range(off, off + TILE_DATUMS):
            dst[i] = approximate_exp(dst[i], scale, form == Approximation.APPROXIMATE)
        return
    a, b, c = float_of_bits(p0), float_of_bits(p1), float_of_bits(p2)
    p, q = signed_word(a), signed_word(b)
    if function == SfpuUnary.TYPECAST:
        for i in range(off, off + TILE_DATUMS):
            dst[i] = typecast(dst[i], p0, p1)
        return
    for i in range(off, off + TILE_DATUMS):
        if function >= FIRST_UNARY_INT:
            dst[i] = float_of_bits(int_unary(function, signed_word(dst[i]), p, q))
        else:
            dst[i] = np.float32(float_unary(function, dst[i], a, b, c, p))


@compiled()
def place(dim, line, i):
    """Position in a tile of the datum i of a line that is reduced."""
    if dim == ReduceDim.SCALAR:
        return i
    return element(line, i) if dim == ReduceDim.ROW else element(i, line)


@compiled()
def reduced_integer(pool, dim, data_format, tile, at, line, count):
    """A line of integers reduced; an average cuts towards zero."""
    value = integer_word(tile[at + place(dim, line, 0)], data_format)
    for i in range(1, count):
        word = integer_word(tile[at + place(dim, line, i)], data_format)
        value = max(value, word) if pool == Pool.MAX else min(value, word) if pool == Pool.MIN else value + word
    if pool == Pool.AVG:
        value = integer_word(float_of_bits(value & WORD), data_format)
        value = -(-value >> AVERAGE_SHIFT) if value < 0 else value >> AVERAGE_SHIFT
    return value & (0xFFFF if data_format == UINT16 else WORD)


@compiled()
def reduced_number(pool, dim, tile, at, line, count):
    """A line of float32 reduced."""
    value = tile[at + place(dim, line, 0)]
    for i in range(1, count):
        word = tile[at + place(dim, line, i)]
        if pool == Pool.MAX:
            value = larger(value, word)
        elif pool == Pool.MIN:
            value = smaller(value, word)
        else:
            value += word
    return value / np.float32(count) if pool == Pool.AVG else value


@compiled()
def sfpu_reduce(pool, dim, data_format, dst, off, spare, so):
    """Reduce dst[off:off + 1024], a tile in face order, in place: rows into column 0, columns into row 0, all into element 0.

    spare[so:so + 1024] takes a copy of the tile; what is not a result becomes 0.
    """
    for i in range(TILE_DATUMS):
        spare[so + i] = dst[off + i]
        dst[off + i] = 0.0
    lines, count = (1, TILE_DATUMS) if dim == ReduceDim.SCALAR else (TILE_SIDE, TILE_SIDE)
    for line in range(lines):
        target = off + place(dim, line, 0)
        if is_integer(data_format):
            dst[target] = float_of_bits(reduced_integer(pool, dim, data_format, spare, so, line, count))
        else:
            dst[target] = reduced_number(pool, dim, spare, so, line, count)


@compiled()
def quotient_of_integers(x, y):
    """x / y as a float32: the chip's operands are float32, too."""
    return np.float32(divided(np.float64(np.float32(x)), np.float64(np.float32(y))))


@compiled()
def sfpu_binary(function, dst, o0, o1, oo, wide):
    """Combine two tiles of dst into a third: dst[oo + i] = f(dst[o0 + i], dst[o1 + i]).

    `wide`: Dst has 32 bits.  With 16 a product with 0 is 0, as that of the matrix unit is.
    """
    for i in range(TILE_DATUMS):
        x, y = dst[o0 + i], dst[o1 + i]
        if function >= FIRST_BINARY_QUOTIENT:
            dst[oo + i] = quotient_of_integers(signed_word(x), signed_word(y))
        elif function >= FIRST_BINARY_INT:
            dst[oo + i] = float_of_bits(int_binary(function, signed_word(x), signed_word(y)))
        elif function == SfpuBinary.MUL_BINARY and not wide and (x == 0 or y == 0):
            dst[oo + i] = 0.0
        else:
            dst[oo + i] = np.float32(float_binary(function, x, y))


@compiled()
def sfpu_ternary(function, dst, o0, o1, o2, oo, p0):
    """Combine three tiles of dst into a fourth; `p0`: the factor of addcmul and addcdiv as float bits."""
    factor = float_of_bits(p0)
    for i in range(TILE_DATUMS):
        x, y, z = dst[o0 + i], dst[o1 + i], dst[o2 + i]
        if function == SfpuTernary.WHERE:
            dst[oo + i] = y if x != 0 else z
        elif function == SfpuTernary.WHERE_INT32:
            dst[oo + i] = y if signed_word(x) != 0 else z
        elif function == SfpuTernary.ADDCMUL:
            dst[oo + i] = x + factor * y * z
        elif function == SfpuTernary.ADDCDIV:
            dst[oo + i] = x + np.float32(divided(factor * y, z))
        elif function == SfpuTernary.LERP:
            dst[oo + i] = x + z * (y - x)
        elif function == SfpuTernary.MAC:
            dst[oo + i] = x * y + z


def check_complete(functions, *members):
    """Whether compiled `functions`, chains of comparisons, name every one of `members`; TypeError if they forget some."""
    named = {name for function in functions for name in function.py_func.__code__.co_names}
    forgotten = {member.name for member in members} - named
    if forgotten:
        raise TypeError(f"{functions[0].__name__} does not compute {', '.join(sorted(forgotten))}")


UNARY_KINDS = (elementary, circular, activation, special, compared, with_number)
check_complete(UNARY_KINDS, *(f for f in SfpuUnary if f < FIRST_UNARY_INT and f != SfpuUnary.TYPECAST))
check_complete((int_unary,), *(f for f in SfpuUnary if f >= FIRST_UNARY_INT))
check_complete((float_binary,), *(f for f in SfpuBinary if f < FIRST_BINARY_INT))
check_complete((int_binary,), *(f for f in SfpuBinary if FIRST_BINARY_INT <= f < FIRST_BINARY_QUOTIENT))
check_complete((sfpu_ternary,), *SfpuTernary)
