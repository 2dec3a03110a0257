"""Numbers of the vector unit in Python integers, written from the public pages of its instructions."""

M32 = 0xFFFFFFFF
SIGN = 1 << 31


def signed(x, bits=32):
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x


def fields(x):
    return x >> 31, x >> 23 & 255, x & 0x7FFFFF


def float_word(sign, exponent, mantissa):
    return sign << 31 | exponent << 23 | mantissa


def significand(x):
    _, exponent, mantissa = fields(x)
    return mantissa | 0x800000 if exponent else 0


def shifted_sticky(value, distance):
    kept = value >> distance
    return kept | (kept > 0 and kept << distance != value)


def nearest_even(value, dropped):
    """value / 2**dropped."""
    kept, tail, half = value >> dropped, value & ((1 << dropped) - 1), 1 << dropped >> 1
    return kept + (dropped > 0 and (tail > half or (tail == half and kept & 1 == 1)))


def is_nan(x):
    return x & 0x7FFFFFFF > 0x7F800000


def is_inf(x):
    return x & 0x7FFFFFFF == 0x7F800000


def multiply_add(x, y, z, blackhole):
    """The chip's x * y + z; NaNs of Wormhole by their sign and last bit only."""
    product_sign, z_sign = (x ^ y) >> 31, z >> 31
    exponent = fields(x)[1] + fields(y)[1] - 127
    product, addend = significand(x) * significand(y), significand(z)
    infinite = is_inf(x) or is_inf(y)
    if (
        any(map(is_nan, (x, y, z)))
        or (is_inf(x) and not significand(y)) or (is_inf(y) and not significand(x))
        or (is_inf(z) and product_sign != z_sign and (infinite or (exponent >= 255 and not blackhole)))
    ):  # fmt: skip
        return 0x7FC00000 if blackhole else "nan"
    if is_inf(z):
        return z
    if infinite or exponent >= 255:
        return product_sign << 31 | 0x7F800000
    minus_zero = (product_sign & z_sign) << 31 if blackhole else 0
    if product == 0 or exponent < 0:
        return z if addend else minus_zero
    product = product >> 20 | (product & 0xFFFFF != 0)  # three bits behind the last one
    top = max(exponent, fields(z)[1])
    product = shifted_sticky(product, top - exponent)
    addend = shifted_sticky(addend << 3, top - fields(z)[1])
    total = (-product if product_sign else product) + (-addend if z_sign else addend)
    if total == 0:
        return minus_zero
    sign, magnitude = int(total < 0), abs(total)
    return finite_result(sign, magnitude, top + magnitude.bit_length() - 27, blackhole)


def finite_result(sign, magnitude, exponent, blackhole):
    """A magnitude whose highest bit stands for 2**(exponent - 127)."""
    if exponent >= 255:
        return sign << 31 | 0x7F800000
    excess = magnitude.bit_length() - 27
    if blackhole:
        tiny = exponent <= 0
        excess, exponent = excess + tiny, max(exponent, 0)
        if excess > 0:
            lost = magnitude & (excess | 1)
            magnitude = magnitude >> excess | (lost != 0)
    else:
        if exponent < 0:
            return 0
        if excess > 0:
            magnitude = magnitude >> excess | magnitude & 1
    if excess <= 0:
        magnitude <<= -excess
    rest = magnitude if exponent == 0 and magnitude >> 26 == 0 else magnitude - (1 << 26)
    word = nearest_even((exponent << 26) + rest, 3)
    if word >> 23 == 0:
        return sign << 31 if blackhole else 0
    return sign << 31 | word


def order(x):
    return -(x & 0x7FFFFFFF) - 1 if x >> 31 else x


def swap_bf16(high):
    return high & 0x8000 | (high & 127) << 8 | (high >> 7 & 255)


def unswap_bf16(high):
    return high & 0x8000 | (high & 255) << 7 | (high >> 8 & 127)


def from_sign_magnitude(x):
    return -(x & 0x7FFFFFFF) & M32 if x >> 31 else x


def to_sign_magnitude(x):
    return SIGN | (-x & 0x7FFFFFFF) if x >> 31 else x


def coefficient_8(x):
    x &= 255
    return 0 if x == 255 else float_word(x >> 7, 127 - (x >> 4 & 7), (x & 15) << 19)


def coefficient_16(x):
    exponent = x >> 10 & 31
    return float_word(x >> 15 & 1, 0 if exponent == 31 else exponent + 112, (x & 1023) << 13)


def shift(value, amount):
    return (value << (amount & 31)) & M32 if amount >= 0 else value >> (-amount & 31)


def advance(state):
    taps = bin(state & 0x80200003).count("1")
    return (~taps & 1) << 31 | state >> 1
