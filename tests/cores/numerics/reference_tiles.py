"""The matrix product of docs/hardware/numerics.md over whole tiles in numpy int64: a reference fast enough for many tiles."""

import numpy as np


def split(words, phase, is_a):
    """(exponent or 0, signed mantissa) of a (32, 32) array of source words."""
    words = words.astype(np.int64)
    exponent, full = words >> 23 & 255, 1024 | words >> 13 & 1023
    low = phase & 1 if is_a else phase >> 1
    mantissa = (full // 2 % 32 if low else full // 64) if is_a else (full % 16 * 8 if low else full // 16)
    return exponent, np.where(exponent == 0, 0, np.where(words >> 31, -mantissa, mantissa))


def away(value, shift):
    """value / 2**shift to nearest, halves away from zero."""
    return np.sign(value) * ((2 * np.abs(value) + (1 << shift)) >> shift + 1)


def up(value, shift):
    """value / 2**shift to nearest, halves towards +infinity."""
    return (2 * value + (1 << shift)) >> shift + 1


def group_terms(exponents, products):
    """Exponent and sum of groups of eight products (last axis)."""
    top = exponents.max(-1, keepdims=True)
    total = away(products, np.minimum(top - exponents, 30)).sum(-1)
    top = top[..., 0]
    return np.where(top > 0, top, 0), np.where(top > 0, total, 0)


def add_terms(terms, old, narrow, wide, quirk):
    """Dst words after two terms per datum are added to `old`."""
    old = old.astype(np.int64)
    exponent = old >> 23 & 255
    own = np.where(exponent == 0, 0, (old & 0x7FFFFF | 0x800000) * np.where(old >> 31, -1, 1))
    top = np.maximum(exponent, np.maximum(terms[0][0], terms[1][0]))
    total = 0
    for e, value, rounded in [*((e, s << 13, up) for e, s in terms), (exponent, own, away)]:
        value = np.where(top - e >= 31, 0, rounded(value, np.minimum(top - e, 31)))
        total = total + (value if wide else rounded(value, np.int64(13)) << 13)
    magnitude = np.abs(total)
    length = np.frexp(magnitude.astype(np.float64))[1]
    places = 24 - length - np.where((total == -1) & quirk, 27, 0)
    kept = 24 if wide else 11 if narrow else 8
    shift = 24 - kept - places
    scaled = np.where(shift > 0, (2 * magnitude + (1 << np.maximum(shift, 0))) >> np.maximum(shift, 0) + 1, magnitude)
    scaled = np.where(shift < 0, magnitude << np.maximum(-shift, 0), scaled) << 24 - kept
    result = top - places + (scaled >> 24 & 1)
    half = narrow and not wide
    limit, saturated = (32, 31 << 23 | 1023 << 13) if half else (255, 255 << 23)
    word = np.where(result >= limit, saturated, (result << 23) + (scaled & 0x7FFFFF)) | np.where(total < 0, 1 << 31, 0)
    return np.where((result <= 0) | (total == 0) | (top <= 0), 0, word).astype(np.uint32)


def matmul(in0, in1, dst, phases, narrow, wide, quirk):
    """Dst words (32, 32) after dst += in0 @ in1."""
    base = (97 if wide else -15) if narrow else -127
    for phase in range(phases):
        offset = base - 5 * (phase & 1) - 7 * (phase >> 1)
        (eb, mb), (ea, ma) = split(in0, phase, False), split(in1, phase, True)
        for inner in (0, 16):
            terms = []
            for first in (inner, inner + 8):
                k = slice(first, first + 8)
                left, right = eb[:, None, k], ea[k].T[None]
                exponents = np.where((left == 0) | (right == 0), max(offset, 0), left + right + offset)
                terms.append(group_terms(exponents, mb[:, None, k] * ma[k].T[None]))
            dst = add_terms(terms, dst, narrow, wide, quirk)
    return dst
