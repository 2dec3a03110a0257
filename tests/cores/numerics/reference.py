"""The arithmetic of docs/hardware/numerics.md written a second time, in Python integers and
fractions, datum by datum.

Nothing here is shared with the simulator, and nothing is vectorised: alignment is a product with a power of two, rounding is
a floor, normalising is a bit length.  Words are those of `tensim.sim.cores.numerics.matrix_unit`.
"""

from fractions import Fraction
from math import floor

HALF = Fraction(1, 2)


def fields(word):
    """(sign, exponent, mantissa) of a 32-bit word."""
    return word >> 31, word >> 23 & 255, word & 0x7FFFFF


def word_of(sign, exponent, mantissa=0):
    return sign << 31 | exponent << 23 | mantissa


def half_away(value):
    """Nearest integer, halves away from zero."""
    return floor(value + HALF) if value >= 0 else -floor(HALF - value)


def half_up(value):
    """Nearest integer, halves towards +infinity."""
    return floor(value + HALF)


class Unit:
    """A matrix unit: sources with 5-bit exponents or not, 16- or 32-bit Dst, Wormhole's renormalisation quirk or not."""

    def __init__(self, narrow=False, wide_dst=False, quirk=False):
        self.narrow, self.wide_dst, self.quirk = narrow, wide_dst, quirk
        self.kept_bits = 24 if wide_dst else 11 if narrow else 8
        self.half_dst = narrow and not wide_dst

    def offset(self, phase):
        base = (97 if self.wide_dst else -15) if self.narrow else -127
        return base - 5 * (phase & 1) - 7 * (phase >> 1)

    def product(self, a, b, phase):
        """(exponent, signed product of the mantissa bits that the phase sees)."""
        (sa, ea, ma), (sb, eb, mb) = fields(a), fields(b)
        if ea == 0 or eb == 0:
            return max(self.offset(phase), 0), 0
        left, right = 1024 + (ma >> 13), 1024 + (mb >> 13)
        left = left // 2 % 32 if phase & 1 else left // 64
        right = right % 16 * 8 if phase & 2 else right // 16
        return ea + eb + self.offset(phase), (-1) ** (sa ^ sb) * left * right

    def group(self, products):
        """Eight products aligned and summed."""
        top = max(exponent for exponent, _ in products)
        if top <= 0:
            return 0, 0
        return top, sum(half_away(Fraction(p, 2 ** min(top - e, 30))) for e, p in products)

    def dot(self, column, row, phase, old):
        """A word of Dst after 16 products of an MVMUL have been added."""
        products = [self.product(a, b, phase) for a, b in zip(column, row, strict=True)]
        return self.add([self.group(products[:8]), self.group(products[8:])], old)

    def multiply(self, a, b, phase, old):
        """A word of Dst after ELWMUL."""
        exponent, product = self.product(a, b, phase)
        if exponent <= 0:
            exponent, product = max(self.offset(phase), 0), 0
        return self.add([(exponent, product)], old)

    def plus(self, a, b, old=0, subtract=False):
        """A word of Dst after ELWADD or ELWSUB."""
        terms = []
        for word, flip in ((a, False), (b, subtract)):
            sign, exponent, mantissa = fields(word)
            significand = 1024 + (mantissa >> 13) if exponent else 0
            terms.append((exponent if significand else 0, significand, -1 if sign ^ flip else 1))
        terms.sort(key=lambda term: term[:2], reverse=True)
        (exponent, large, sign), (low, small, other) = terms
        distance = exponent - low
        small = half_up(Fraction(small, 2**distance)) if distance < 12 else 0
        if self.narrow and self.wide_dst:
            exponent = exponent + 112 if exponent else 97
        return self.add([(exponent, sign * large + other * small)], old)

    def add(self, terms, old):
        """ACC: `terms` [(exponent, signed mantissa with hidden bit 10)] and a word of Dst -> a word of Dst."""
        sign, exponent, mantissa = fields(old)
        own = (-1) ** sign * (2**23 + mantissa) if exponent else 0
        top = max(exponent, *(e for e, _ in terms))
        if top <= 0:
            return 0
        parts = [(e, m * 2**13, half_up) for e, m in terms] + [(exponent, own, half_away)]
        total = 0
        for e, value, rounded in parts:
            value = rounded(Fraction(value, 2 ** (top - e))) if top - e < 31 else 0
            total += value if self.wide_dst else 2**13 * rounded(Fraction(value, 2**13))
        return self.normalised(top, total)

    def normalised(self, exponent, total):
        if total == 0:
            return 0
        sign, magnitude = int(total < 0), abs(total)
        places = 24 - magnitude.bit_length()
        if self.quirk and total == -1:
            places -= 27
        exponent -= places
        scaled = half_up(Fraction(magnitude) * Fraction(2) ** (places - 24 + self.kept_bits)) << 24 - self.kept_bits
        if scaled >> 24 & 1:
            exponent += 1
        if exponent <= 0:
            return 0
        if self.half_dst and exponent >= 32:
            return word_of(sign, 31, 1023 << 13)
        return word_of(sign, 255) if not self.half_dst and exponent >= 255 else word_of(sign, exponent, scaled % 2**23)


def largest(words, old=0xFFFFFFFF):
    """GMPOOL over words: sign-and-magnitude order, denormals as +0, -infinity of all ones to begin with."""
    key = lambda w: -(w & 0x7FFFFFFF) - 1 if w >> 31 else w  # noqa: E731
    return max([old, *(word if fields(word)[1] else 0 for word in words)], key=key)


# --- unpacker


def unpacked(name, bits, exponent=0, cut=None):
    """The word of a datum: `bits` of format `name`, `exponent` of its block, `cut` of fp32 ("bf16", "tf32" or None)."""
    if name == "fp32":
        sign, power, mantissa = fields(bits)
        if cut == "bf16":
            return word_of(sign, power, mantissa >> 16 << 16) if power else word_of(sign, 0)
        return bits >> 13 << 13 if cut == "tf32" else bits
    if name == "bf16":
        return bits << 16
    if name == "fp16":
        return word_of(bits >> 15, bits >> 10 & 31, (bits & 1023) << 13)
    if name == "fp8":
        return word_of(bits >> 7, bits >> 2 & 31, (bits & 3) << 21)
    if name == "int8":
        return (bits >> 7) << 31 | bits & 127
    size, narrow = int(name[3]), name.endswith("a")
    sign, magnitude, top = bits >> size - 1, bits % 2 ** (size - 1) * 2 ** (8 - size), 31 if narrow else 255
    if magnitude == 0:
        return word_of(1, top) if sign else 0
    lost = 7 - magnitude.bit_length()
    return word_of(sign, (exponent - lost) & top, (magnitude << lost + 1) % 128 << 16)


# --- packer


def finite(word):
    sign, exponent, mantissa = fields(word)
    return word_of(sign, 255) if exponent == 255 and mantissa else word


def flushed(word):
    return word if fields(word)[1] else 0


def rounded(word, bits):
    """The magnitude rounded to nearest, halves away from zero, `bits` low bits dropped."""
    sign, magnitude = word >> 31, word % 2**31
    return sign << 31 | half_up(Fraction(magnitude, 2**bits)) << bits


def to_half(word):
    """fp32 -> fp16 word."""
    sign, exponent, mantissa = fields(flushed(rounded(finite(word), 13)))
    if exponent < 112:
        return word_of(sign, 0)
    return word_of(sign, 31, 1023 << 13) if exponent > 143 else word_of(sign, exponent - 112, mantissa)


def relu(word, mode, limit):
    """ReLU of an intermediate word."""
    positive = word if word < 2**31 else 0
    if mode == 1:
        return positive
    if mode == 2:
        return positive if positive > limit else 0
    return min(positive, limit) if mode == 3 else word


def intermediate(word, name, wide_dst=True, precise=False):
    """Early conversion of a Dst word with an 8-bit exponent; `precise`: block floats see 7 bits of it, cut, and of a 32-bit Dst
    NaN as a number."""
    if precise and name.startswith("bfp") and not name.endswith("a"):
        return flushed((word if wide_dst else finite(word)) >> 16 << 16)
    if name == "bf16" or (name == "fp32" and not wide_dst):
        return flushed(rounded(finite(word), 16))
    if name in ("fp16", "bfp8a"):
        if name == "fp16" and wide_dst:  # tt-metal has the packer read bf16 there
            word = flushed(rounded(finite(word), 16))
        half = to_half(word)
        if name == "fp16":
            return half
        clamped = rounded(half, 17)
        return flushed(word_of(word >> 31, 31, 0x3F0 << 13) if fields(clamped)[1] > 31 else clamped)
    if name.startswith("bfp"):
        bits = (finite(word) >> 16) + 1 & 0xFFFE
        return flushed(bits << 16)
    return word


def packed(words, name, wide_dst=True, mode=0, limit=0, precise=False):
    """(exponent of the block, datums) of 16 Dst words with 8-bit exponents."""
    values = [relu(intermediate(word, name, wide_dst, precise), mode, limit) for word in words]
    if not name.startswith("bfp"):
        shift = {"fp32": 0, "bf16": 16, "fp16": 13}[name]
        return 0, [(v >> shift) & 0x7FFF | v >> 31 << 15 if name == "fp16" else v >> shift for v in values]
    size, top, datums = int(name[3]), max(fields(value)[1] for value in values), []
    for value in values:
        sign, exponent, mantissa = fields(value)
        significand = (mantissa >> 16) + (128 if exponent else 0)
        magnitude = min(half_up(Fraction(significand, 2 ** (top - exponent + 1))), 127) if top - exponent < 8 else 0
        magnitude >>= 8 - size
        datums.append(magnitude | sign << size - 1 if magnitude else 0)
    return top, datums
