"""The vector unit's multiply-add and look-up tables against fractions (docs/hardware/numerics.md#vector-unit)."""

from fractions import Fraction
from math import floor

import numpy as np
import pytest

from tensim.sim.cores.sfpu_instructions import (
    FP16_3_ENTRIES,
    FP16_6_ENTRIES_TO_3,
    FP16_6_ENTRIES_TO_4,
    FP32_3_ENTRIES,
    lut,
    lut_fp32,
    multiply_add,
)

COUNT = 20_000
NAN, INFINITY, LARGEST, SMALLEST = 0x7FC00000, 0x7F800000, 0x7F7FFFFF, 0x00800000


def number(word):
    """Exact value of a finite float32 word, denormals as zero."""
    exponent = word >> 23 & 255
    magnitude = Fraction(2**23 + (word & 0x7FFFFF)) * Fraction(2) ** (exponent - 150) if exponent else Fraction(0)
    return -magnitude if word >> 31 else magnitude


def bits(value):
    return int(np.float32(value).view(np.uint32))


def on_grid(value, unit):
    """`value` in units, towards zero, the last bit set if anything was lost and something is left."""
    scaled = abs(value) / unit
    whole = floor(scaled)
    if whole and whole != scaled:
        whole |= 1
    return -whole if value < 0 else whole


def reference_sum(x, y, z):
    """Exact sum of the cut terms of x * y + z of finite words."""
    exponent = (x >> 23 & 255) + (y >> 23 & 255) - 127
    product = number(x) * number(y) if exponent >= 0 else Fraction(0)
    # 26 places below the exponent's own: a significand's 23 and three guard bits
    grid = Fraction(2) ** (exponent - 127 - 26)
    product = on_grid(product, grid) * grid
    top = max(exponent if product else 0, (z >> 23 & 255) if number(z) else 0)
    grid = Fraction(2) ** (top - 127 - 26)
    return (on_grid(product, grid) + on_grid(number(z), grid)) * grid


def word_of(value):
    """Nearest float32 word, ties to even; results without a normal number become zero with their sign."""
    if value == 0:
        return 0
    exponent = 0
    while abs(value) >= Fraction(2) ** (exponent + 1):
        exponent += 1
    while abs(value) < Fraction(2) ** exponent:
        exponent -= 1
    units = round(abs(value) / Fraction(2) ** (exponent - 23))
    exponent += units >> 24
    sign = 1 << 31 if value < 0 else 0
    if exponent > 127:
        return sign | INFINITY
    return sign | exponent + 127 << 23 | units & 0x7FFFFF if exponent >= -126 else sign


def operands(rng, kind):
    """Three words each, finite: any exponents, near ones, or an addend that cancels most of the product."""
    words = rng.integers(0, 1 << 32, (COUNT, 3), dtype=np.int64)
    if kind != "any":
        words = words & 0x807FFFFF | rng.integers(112, 142, words.shape) << 23
    if kind == "cancelling":
        product = words[:, 0].astype(np.uint32).view(np.float32) * words[:, 1].astype(np.uint32).view(np.float32)
        words[:, 2] = (product.view(np.uint32) ^ 0x80000000) + rng.integers(-2, 3, COUNT)
    words[:, :2] &= np.where(rng.random((COUNT, 2)) < 0.3, 0xFFFFF000, 0xFFFFFFFF)  # short factors give ties
    infinite = words >> 23 & 255 == 255
    return np.where(infinite, words & 0x807FFFFF, words).tolist()


@pytest.mark.parametrize("kind", ["any", "near", "cancelling"])
def test_multiply_add_equals_fractions(kind):
    """On Blackhole, away from the products beyond 2**128 that it makes infinite and from zeros of both signs."""
    for x, y, z in operands(np.random.default_rng(7), kind):
        if (x >> 23 & 255) + (y >> 23 & 255) - 127 >= 255:
            continue
        wanted = word_of(reference_sum(x, y, z))
        found = multiply_add(x, y, z, False)
        assert found == wanted or found & 0x7FFFFFFF == wanted & 0x7FFFFFFF == 0, (hex(x), hex(y), hex(z))
        if wanted & 0x7FFFFFFF:
            assert multiply_add(x, y, z, True) == wanted


@pytest.mark.parametrize(
    ("x", "y", "z", "blackhole", "wormhole"),
    [
        (INFINITY, bits(0), bits(1), NAN, 0x7F800001),
        (INFINITY, bits(1), INFINITY | 1 << 31, NAN, 0x7F800001),
        (NAN, bits(1), bits(1), NAN, 0x7F800001),
        (bits(-2), INFINITY, bits(1), INFINITY | 1 << 31, INFINITY | 1 << 31),
        (LARGEST, LARGEST, bits(1), INFINITY, INFINITY),
        (bits(1), bits(1), INFINITY, INFINITY, INFINITY),
        (SMALLEST, bits(-0.5), bits(0), 1 << 31, 0),
        (bits(-1), bits(0), 1 << 31, 1 << 31, 0),
        (bits(1), bits(1), bits(-1), 0, 0),
        (SMALLEST - 1, bits(1), bits(3), bits(3), bits(3)),
        (SMALLEST, bits(0.25), bits(3), bits(3), bits(3)),
    ],
)
def test_multiply_add_at_the_limits(x, y, z, blackhole, wormhole):
    """NaN, infinities, underflow, zeros and their signs, denormals as zero, products below the smallest exponent."""
    assert multiply_add(x, y, z, False) == blackhole
    assert multiply_add(x, y, z, True) == wormhole


def test_a_product_is_not_fully_fused():
    """The addend vanishes without a trace when its bits fall below the grid: the tie stays a tie."""
    x, y = bits(1 + 2.0**-23), bits(1.5)  # 1.5 + 1.5 * 2**-23 is half way between two numbers
    assert multiply_add(x, y, bits(2.0**-60), False) == bits(1.5 + 2.0**-22)
    assert multiply_add(x, y, bits(-(2.0**-60)), False) == bits(1.5 + 2.0**-22)
    assert multiply_add(x, y, bits(-(2.0**-26)), False) == bits(1.5 + 2.0**-23)


def small(code):
    """Value of an 8-bit coefficient."""
    return Fraction(0) if code == 255 else (-1) ** (code >> 7) * Fraction(16 + code % 16, 16) / 2 ** (code >> 4 & 7)


def half(code):
    """Value of a 16-bit coefficient."""
    exponent = code >> 10 & 31
    return (
        Fraction(0)
        if exponent == 31
        else (-1) ** (code >> 15) * Fraction(1024 + code % 1024, 1024) * Fraction(2) ** (exponent - 15)
    )


def evaluated(slope, offset, value, keeps_sign):
    """slope * |value| + offset as the multiply-add computes it."""
    result = word_of(reference_sum(word_of(slope), value & 0x7FFFFFFF, word_of(offset)))
    return result & 0x7FFFFFFF | value & 1 << 31 if keeps_sign else result


def values(rng):
    """Words around the limits of the pieces, and the limits themselves."""
    limits = [bits(limit) for limit in (0, 0.5, 1, 1.5, 2, 3, 4)]
    scattered = rng.uniform(-6, 6, 3000).astype(np.float32).view(np.uint32).tolist()
    return [word for limit in limits for word in (limit, limit | 1 << 31, max(limit - 1, 0))] + scattered


@pytest.mark.parametrize("keeps_sign", [False, True])
def test_lut_of_8_bit_coefficients(keeps_sign):
    rng = np.random.default_rng(3)
    for value in values(rng):
        tables = rng.integers(0, 1 << 16, 3)
        tables[rng.random(3) < 0.2] |= 0xFF
        pair = int(tables[sum(abs(number(value)) >= limit for limit in (1, 2))])
        wanted = evaluated(small(pair >> 8), small(pair & 255), value, keeps_sign)
        assert lut(value, tables, keeps_sign, False) == wanted


PIECES = {
    FP32_3_ENTRIES: (1, 2),
    FP16_3_ENTRIES: (1, 2),
    FP16_6_ENTRIES_TO_3: (Fraction(1, 2), 1, Fraction(3, 2), 2, 3),
    FP16_6_ENTRIES_TO_4: (Fraction(1, 2), 1, Fraction(3, 2), 2, 4),
}


@pytest.mark.parametrize("keeps_sign", [False, True])
@pytest.mark.parametrize("mode", sorted(PIECES))
def test_lut_of_wider_coefficients(mode, keeps_sign):
    rng = np.random.default_rng(4)
    for value in values(rng):
        slopes, offsets = rng.integers(0, 1 << 32, (2, 3))
        if mode == FP32_3_ENTRIES:
            slopes, offsets = (words & 0x807FFFFF | 125 << 23 for words in (slopes, offsets))
        piece = sum(abs(number(value)) >= limit for limit in PIECES[mode])
        if mode == FP32_3_ENTRIES:
            slope, offset = number(int(slopes[piece])), number(int(offsets[piece]))
        elif mode == FP16_3_ENTRIES:
            slope, offset = half(int(slopes[piece]) >> 16), half(int(slopes[piece]) & 0xFFFF)
        else:
            slope, offset = (half(int(words[piece // 2]) >> 16 * (piece % 2) & 0xFFFF) for words in (slopes, offsets))
        wanted = evaluated(slope, offset, value, keeps_sign)
        assert lut_fp32(value, slopes, offsets, mode, keeps_sign, False) == wanted
