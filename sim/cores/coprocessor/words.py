"""How values lie in SrcA, SrcB and Dst, against the words of `tensim.sim.cores.numerics.matrix_unit`.

A word has sign, exponent and mantissa in IEEE's order (bits 31, 23-30, 22-0; 5-bit exponents in the lower five).  The
registers hold sign, mantissa, exponent (ISA: UNPACR_Regular.md, Dst.md).
"""

from tensim.sim.engine.compiled import compiled


@compiled(inline="always")
def src_of_word(word):
    """19 bits of a source register: of tf32, bf16 and fp16 alike."""
    return (word >> 13 & 0x40000) | (word >> 13 & 0x3FF) << 8 | (word >> 23 & 0xFF)


@compiled(inline="always")
def dst16_of_bf16(bits):
    """bf16 in a 16-bit Dst."""
    return (bits & 0x8000) | (bits & 0x7F) << 8 | (bits >> 7 & 0xFF)


@compiled(inline="always")
def bf16_of_dst16(value):
    """A 16-bit Dst's bf16."""
    return (value & 0x8000) | (value & 0xFF) << 7 | (value >> 8 & 0x7F)


@compiled(inline="always")
def dst16_of_fp16(bits):
    """fp16 in a 16-bit Dst."""
    return (bits & 0x8000) | (bits & 0x3FF) << 5 | (bits >> 10 & 31)


@compiled(inline="always")
def fp16_of_dst16(value):
    """A 16-bit Dst's fp16."""
    return (value & 0x8000) | (value & 31) << 10 | (value >> 5 & 0x3FF)


@compiled(inline="always")
def dst32_of_fp32(bits):
    """float32, or a 32-bit integer, in a 32-bit Dst."""
    return dst16_of_bf16(bits >> 16 & 0xFFFF) << 16 | (bits & 0xFFFF)


@compiled(inline="always")
def fp32_of_dst32(value):
    """A 32-bit Dst's float32 or integer."""
    return bf16_of_dst16(value >> 16 & 0xFFFF) << 16 | (value & 0xFFFF)
