"""What `numerics=fast` hides: roundings of a 16-bit Dst, which `fast` keeps in float32, where they decide the result.

A Dst tile counts the terms that were added to it since it was written, up to 15, and notes whether the chip would have rounded
it.  The engine counts the operations whose result those roundings spoil: terms beyond these, and functions whose result is
far more sensitive than their operand (docs/numerics.md#bound-of-fast).
"""

from tensim.sim.cores.numerics.sfpu_functions import FIRST_BINARY_INT, SfpuBinary, SfpuUnary
from tensim.sim.engine.compiled import compiled

TERM_BITS, MOST_TERMS = 4, 15  # of a tile
# An error of the operand x becomes one of x times its size (exponentials), or is divided by a result near 0 (logarithms)
SENSITIVE = tuple(int(SfpuUnary[name]) for name in "EXP EXP2 EXPM1 RPOW SINH COSH LOG LOG_WITH_BASE".split())
# Functions that return numbers of Dst or small integers
ROUNDLESS = tuple(
    int(SfpuUnary[name])
    for name in "ABS NEGATIVE SIGN SIGNBIT RELU RELU_MAX RELU_MIN FLOOR CEIL TRUNC UNARY_MAX UNARY_MIN IDENTITY".split()
)
SELECTING = (int(SfpuBinary.BINARY_MAX), int(SfpuBinary.BINARY_MIN), int(SfpuBinary.MASK_BINARY))


@compiled()
def written(record, tile, rounded):
    """A Dst tile gets new numbers, which the chip rounds or not."""
    record.dst_terms &= ~(MOST_TERMS << TERM_BITS * tile)
    record.dst_rounded = record.dst_rounded & ~(1 << tile) | rounded << tile


@compiled()
def added(record, tile):
    """A term is added to a Dst tile."""
    record.dst_rounded |= 1 << tile
    if (record.dst_terms >> TERM_BITS * tile) & MOST_TERMS < MOST_TERMS:
        record.dst_terms += 1 << TERM_BITS * tile
    elif record.fp32_dest == 0:
        record.long_sums += 1


@compiled()
def is_rounded(record, tile):
    return (record.dst_rounded >> tile) & 1


@compiled()
def function_of_one(record, function, tile):
    if function in SENSITIVE and is_rounded(record, tile) and record.fp32_dest == 0:
        record.sensitive_functions += 1
    if function not in ROUNDLESS:
        written(record, tile, 1)


@compiled()
def function_of_two(record, function, a, b, out):
    if function in SELECTING or function >= FIRST_BINARY_INT:
        written(record, out, is_rounded(record, a) | is_rounded(record, b))
    elif (out == a or out == b) and (function == SfpuBinary.ADD_BINARY or function == SfpuBinary.SUB_BINARY):
        added(record, out)
    else:
        written(record, out, 1)
