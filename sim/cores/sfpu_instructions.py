"""Arithmetic instructions of the vector unit on one lane: the multiply-add and the look-up tables built on it.

A lane is a float32 word (an integer of 32 bits).  The multiply-add is that of docs/hardware/numerics.md#vector-unit: only
partly fused, as the product is cut to the grid of the addend before both are added and rounded once.  SFPADD, SFPMUL and
their immediate forms are the same with a factor or an addend of one or zero.  SFPLUT and SFPLUTFP32 evaluate a x |v| + c
with the coefficients of the piece that |v| falls into; section 8.9 says that they use this multiply-add.  Limits of the
pieces and formats of the coefficients are those of the vendor's public instruction descriptions, which the reference does
not repeat; no golden case shows them.
"""

from tensim.sim.engine.compiled import compiled

GUARD_BITS = 3  # below the 24 bits of a significand while terms are added
INFINITY, QUIET_NAN, WORMHOLE_NAN, SIGN = 0x7F800000, 0x7FC00000, 0x7F800001, 1 << 31
HALF, ONE, THREE_HALVES, TWO, THREE, FOUR = 0x3F000000, 0x3F800000, 0x3FC00000, 0x40000000, 0x40400000, 0x40800000

# Modes of SFPLUTFP32: pieces of three float32 pairs, of three pairs of 16 bits, of six 16-bit pairs ending at 3 or at 4
FP32_3_ENTRIES, FP16_3_ENTRIES, FP16_6_ENTRIES_TO_3, FP16_6_ENTRIES_TO_4 = range(4)


@compiled()
def significand(word):
    """24 bits with the hidden one; denormals are zero."""
    return word & 0x7FFFFF | 0x800000 if word >> 23 & 255 else 0


@compiled()
def is_nan(word):
    return word & 0x7FFFFFFF > INFINITY


@compiled()
def jammed(value, shift):
    """value >> shift with the lost bits in the last one; once nothing else remains, they are lost too."""
    kept = value >> shift if shift < 63 else 0
    return kept | (kept << shift != value) if kept else 0


@compiled()
def rounded_word(sign, exponent, value, wormhole):
    """`value` x 2**(exponent - 127 - 26) as a float32 word: nearest even, below the normal numbers zero."""
    length = 0
    while value >> length:
        length += 1
    exponent += length - 24 - GUARD_BITS
    drop = length - 24
    if drop > 0:
        half, low = 1 << drop - 1, value & (1 << drop) - 1
        value >>= drop
        value += low > half or (low == half and value & 1 == 1)
        exponent += value >> 24
    else:
        value <<= -drop
    if exponent >= 255:
        return sign | INFINITY
    if exponent <= 0:
        return 0 if wormhole else sign
    return sign | exponent << 23 | value & 0x7FFFFF


@compiled()
def multiply_add(x, y, z, wormhole):
    """SFPMAD: x * y + z on float32 words; `wormhole`: its NaN, its unsigned zeros, and products that may pass 2**128."""
    nan = WORMHOLE_NAN if wormhole else QUIET_NAN
    left, right, addend = significand(x), significand(y), significand(z)
    sign, exponent, low = (x ^ y) & SIGN, (x >> 23 & 255) + (y >> 23 & 255) - 127, z >> 23 & 255
    x_infinite, y_infinite = x & INFINITY == INFINITY, y & INFINITY == INFINITY
    if is_nan(x) or is_nan(y) or is_nan(z) or (x_infinite and right == 0) or (y_infinite and left == 0):
        return nan
    if x_infinite or y_infinite or (not wormhole and left != 0 and right != 0 and exponent >= 255):
        return nan if low == 255 and (z & SIGN) != sign else sign | INFINITY
    if low == 255:
        return z
    product = jammed(left * right << GUARD_BITS, 23) if exponent >= 0 else 0
    addend <<= GUARD_BITS
    if product == 0 and addend == 0:
        return 0 if wormhole else sign & z
    top = max(exponent if product else 0, low if addend else 0)
    product, addend = jammed(product, top - exponent), jammed(addend, top - low)
    total = (-product if sign else product) + (-addend if z & SIGN else addend)
    if total == 0:
        return 0
    return rounded_word(SIGN if total < 0 else 0, top, abs(total), wormhole)


@compiled()
def coefficient8(code):
    """A coefficient of SFPLUT: sign, three bits of negative exponent, four of mantissa; all ones are zero."""
    return 0 if code == 255 else code >> 7 << 31 | (127 - (code >> 4 & 7)) << 23 | (code & 15) << 19


@compiled()
def coefficient16(code):
    """A 16-bit coefficient of SFPLUTFP32: five bits of exponent; its highest exponent is zero, its lowest ordinary."""
    exponent = code >> 10 & 31
    return 0 if exponent == 31 else code >> 15 << 31 | exponent + 112 << 23 | (code & 1023) << 13


@compiled()
def with_sign(result, value, keeps_sign):
    return result & 0x7FFFFFFF | value & SIGN if keeps_sign else result


@compiled()
def lut(value, tables, keeps_sign, wormhole):
    """SFPLUT: `tables`: three words, for |value| below 1, below 2 and above, (a << 8 | c) in their low 16 bits each."""
    magnitude = value & 0x7FFFFFFF
    pair = tables[0 if magnitude < ONE else 1 if magnitude < TWO else 2]
    result = multiply_add(coefficient8(pair >> 8 & 255), magnitude, coefficient8(pair & 255), wormhole)
    return with_sign(result, value, keeps_sign)


@compiled()
def lut_fp32(value, slopes, offsets, mode, keeps_sign, wormhole):
    """SFPLUTFP32: `slopes` and `offsets`: three words each.

    With three entries of 16 bits a word of `slopes` holds (a << 16 | c) and `offsets` are not used; with six entries
    the lower half of each word serves the lower half of its piece.
    """
    magnitude = value & 0x7FFFFFFF
    piece = 0 if magnitude < ONE else 1 if magnitude < TWO else 2
    slope, offset = slopes[piece], offsets[piece]
    if mode == FP16_3_ENTRIES:
        slope, offset = coefficient16(slope >> 16), coefficient16(slope & 0xFFFF)
    elif mode != FP32_3_ENTRIES:
        middle = HALF if piece == 0 else THREE_HALVES
        if piece == 2:
            middle = THREE if mode == FP16_6_ENTRIES_TO_3 else FOUR
        shift = 0 if magnitude < middle else 16
        slope, offset = coefficient16(slope >> shift & 0xFFFF), coefficient16(offset >> shift & 0xFFFF)
    return with_sign(multiply_add(slope, magnitude, offset, wormhole), value, keeps_sign)
