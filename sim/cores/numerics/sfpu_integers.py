"""The vector unit's functions of integers, in two's complement.

Sources: docs/hardware/kernel_api.md#data-formats-of-vector-calls.
"""

import math

from tensim.sim.cores.numerics.sfpu_functions import SfpuBinary, SfpuUnary
from tensim.sim.engine.compiled import compiled

WORD, HALF = 0xFFFFFFFF, 0xFFFF


@compiled()
def int_unary(f, x, p, q):
    """A unary function of one int32; `p`, `q`: its parameters, with sign."""
    u, limit = x & WORD, p & WORD  # without sign
    if f == SfpuUnary.ABS_INT32:
        return abs(x)
    if f == SfpuUnary.NEGATIVE_INT32:
        return -x
    if f == SfpuUnary.SIGNBIT_INT32:
        return 1 if x < 0 else 0
    if f == SfpuUnary.UNARY_MAX_INT32:
        return max(x, p)
    if f == SfpuUnary.UNARY_MIN_INT32:
        return min(x, p)
    if f == SfpuUnary.BITWISE_NOT:
        return ~x
    if f == SfpuUnary.BITWISE_AND:
        return x & p
    if f == SfpuUnary.BITWISE_OR:
        return x | p
    if f == SfpuUnary.BITWISE_XOR:
        return x ^ p
    if f == SfpuUnary.LEFT_SHIFT:
        return x << p if 0 <= p < 32 else 0
    if f == SfpuUnary.RIGHT_SHIFT:
        return x >> min(limit, 31)
    if f == SfpuUnary.LOGICAL_RIGHT_SHIFT:
        return u >> min(limit, 31)
    if f == SfpuUnary.FILL_BITCAST or f == SfpuUnary.FILL_INT:
        return p
    if f == SfpuUnary.RELU_INT32:
        return max(x, 0)
    if f == SfpuUnary.RELU_MAX_INT32:
        return min(max(x, 0), p)
    if f == SfpuUnary.RELU_MIN_INT32:
        return max(x, p)
    if f == SfpuUnary.RELU_MAX_UINT32 or f == SfpuUnary.RELU_MAX_UINT16 or f == SfpuUnary.UNARY_MIN_UINT32:
        return min(u, limit)
    if f == SfpuUnary.RELU_MIN_UINT32 or f == SfpuUnary.RELU_MIN_UINT16 or f == SfpuUnary.UNARY_MAX_UINT32:
        return max(u, limit)
    if f == SfpuUnary.EQZ_INT32 or f == SfpuUnary.EQZ_UINT32:
        return 1 if x == 0 else 0
    if f == SfpuUnary.NEZ_INT32 or f == SfpuUnary.NEZ_UINT32:
        return 1 if x != 0 else 0
    if f == SfpuUnary.EQZ_UINT16:
        return 1 if x & HALF == 0 else 0
    if f == SfpuUnary.NEZ_UINT16:
        return 1 if x & HALF != 0 else 0
    if f == SfpuUnary.LTZ_INT32:
        return 1 if x < 0 else 0
    if f == SfpuUnary.GTZ_INT32:
        return 1 if x > 0 else 0
    if f == SfpuUnary.LEZ_INT32:
        return 1 if x <= 0 else 0
    if f == SfpuUnary.GEZ_INT32:
        return 1 if x >= 0 else 0
    if f == SfpuUnary.UNARY_EQ_INT32:
        return 1 if x == p else 0
    if f == SfpuUnary.UNARY_NE_INT32:
        return 1 if x != p else 0
    if f == SfpuUnary.UNARY_GT_INT32:
        return 1 if x > p else 0
    if f == SfpuUnary.UNARY_LT_INT32:
        return 1 if x < p else 0
    if f == SfpuUnary.UNARY_GE_INT32:
        return 1 if x >= p else 0
    if f == SfpuUnary.UNARY_LE_INT32:
        return 1 if x <= p else 0
    if f == SfpuUnary.CLAMP_INT32:
        return min(max(x, p), q)
    if f == SfpuUnary.ADD_UNARY_INT32:
        return x + p
    if f == SfpuUnary.SUB_UNARY_INT32:
        return x - p
    if f == SfpuUnary.RSUB_UNARY_INT32:
        return p - x
    if f == SfpuUnary.REMAINDER_UNARY_UINT32:
        return u % limit if limit != 0 else 0
    if f == SfpuUnary.IDENTITY_UINT32:
        return x
    return 0  # no such function: `check_complete`


@compiled()
def quotient(x, y):
    """x / y towards zero; a divisor of 0 counts as infinite."""
    if y == 0:
        return 0
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


@compiled()
def int_binary(f, x, y):
    """A binary function of two int32."""
    u, v = x & WORD, y & WORD
    if f == SfpuBinary.ADD_INT or f == SfpuBinary.ADD_INT32 or f == SfpuBinary.ADD_UINT32:
        return x + y
    if f == SfpuBinary.SUB_INT or f == SfpuBinary.SUB_INT32 or f == SfpuBinary.SUB_UINT32:
        return x - y
    if f == SfpuBinary.MUL_INT or f == SfpuBinary.MUL_INT32 or f == SfpuBinary.MUL_UINT32:
        return x * y
    if f == SfpuBinary.RSUB_INT32:
        return y - x
    if f == SfpuBinary.ADD_UINT16:
        return (x + y) & HALF
    if f == SfpuBinary.SUB_UINT16:
        return (x - y) & HALF
    if f == SfpuBinary.RSUB_UINT16:
        return (y - x) & HALF
    if f == SfpuBinary.MUL_UINT16:
        return (x * y) & HALF
    if f == SfpuBinary.BITWISE_AND_BINARY:
        return x & y
    if f == SfpuBinary.BITWISE_OR_BINARY:
        return x | y
    if f == SfpuBinary.BITWISE_XOR_BINARY:
        return x ^ y
    if f == SfpuBinary.BINARY_LEFT_SHIFT:
        return x << y if 0 <= y < 32 else 0
    if f == SfpuBinary.BINARY_RIGHT_SHIFT:
        return x >> y if 0 <= y < 32 else 0
    if f == SfpuBinary.BINARY_LOGICAL_RIGHT_SHIFT:
        return u >> y if 0 <= y < 32 else 0
    if f == SfpuBinary.BINARY_CLAMPED_RIGHT_SHIFT:
        return u >> min(v, 31)
    if f == SfpuBinary.BINARY_MAX_INT32:
        return max(x, y)
    if f == SfpuBinary.BINARY_MIN_INT32:
        return min(x, y)
    if f == SfpuBinary.BINARY_MAX_UINT32:
        return max(u, v)
    if f == SfpuBinary.BINARY_MIN_UINT32:
        return min(u, v)
    if f == SfpuBinary.GCD:
        return math.gcd(x, y)
    if f == SfpuBinary.LCM:
        return abs(x * y) // math.gcd(x, y) if x != 0 and y != 0 else 0
    if f == SfpuBinary.DIV_INT32_TRUNC:
        return quotient(x, y)
    if f == SfpuBinary.DIV_INT32_FLOOR:
        return x // y if y != 0 else 0
    if f == SfpuBinary.REMAINDER_INT32:
        return x - x // y * y if y != 0 else 0
    if f == SfpuBinary.FMOD_INT32:
        return x - quotient(x, y) * y if y != 0 else 0
    if f == SfpuBinary.REMAINDER_UINT32:
        return u % v if v != 0 else 0
    if f == SfpuBinary.EQ_INT32:
        return 1 if x == y else 0
    if f == SfpuBinary.NE_INT32:
        return 1 if x != y else 0
    if f == SfpuBinary.LT_INT32:
        return 1 if x < y else 0
    if f == SfpuBinary.GT_INT32:
        return 1 if x > y else 0
    if f == SfpuBinary.LE_INT32:
        return 1 if x <= y else 0
    if f == SfpuBinary.GE_INT32:
        return 1 if x >= y else 0
    if f == SfpuBinary.LT_UINT32:
        return 1 if u < v else 0
    if f == SfpuBinary.GT_UINT32:
        return 1 if u > v else 0
    if f == SfpuBinary.LE_UINT32:
        return 1 if u <= v else 0
    if f == SfpuBinary.GE_UINT32:
        return 1 if u >= v else 0
    return 0  # no such function: `check_complete`
