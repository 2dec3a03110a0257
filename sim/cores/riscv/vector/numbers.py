"""Numbers in vector registers: what loads them, and which a register holds anyway."""

CONSTANTS = {0: "L9", 0x3F800000: "L10", 0xBF800000: "L11", 0x3F56594B: "L8"}  # 0, 1, -1, 0.8373
FLOATB, FLOATA, USHORT, SHORT, UPPER, LOWER = 0, 1, 2, 4, 8, 10


def signed(bits):
    return bits - (1 << 32) if bits >> 31 else bits


def immediates(bits):
    """[(mode, 16 bits)] of the SFPLOADI that give all lanes a number: one if its format has one, else two."""
    if bits & 0xFFFF == 0:
        return [(FLOATB, bits >> 16)]
    if bits <= 0xFFFF:
        return [(USHORT, bits)]
    if -0x8000 <= signed(bits) < 0:
        return [(SHORT, bits & 0xFFFF)]
    exponent = (bits >> 23 & 255) - 112
    if 0 <= exponent <= 31 and bits & 0x1FFF == 0:
        return [(FLOATA, bits >> 31 << 15 | exponent << 10 | bits >> 13 & 0x3FF)]
    return [(FLOATB, bits >> 16), (LOWER, bits & 0xFFFF)]


def negated(bits):
    """The floating-point number of the other sign."""
    return bits ^ 0x80000000


def is_bfloat(bits):
    return bits & 0xFFFF == 0


def fits_12_bits(value):
    return -2048 <= value <= 2047
