"""The vector unit's functions on Dst tiles, by mathematical definition in float32 (`numerics=fast`).

Names and argument order are tt-metal's (docs/hardware/kernel_api.md#unary-sfpu-calls and
docs/hardware/kernel_api.md#binary-sfpu-calls).  Parameters are 32-bit patterns: float bits, or integers where the function
says so.  `_INT32` functions work on the int32 bit patterns of the same words.
"""

import math
from enum import IntEnum

import numpy as np

from tensim.sim.cores.numerics.tile import TILE_DATUMS
from tensim.sim.cores.numerics.tile_formats import bits_of_float, float_of_bits, is_integer
from tensim.sim.cores.numerics.tile_math import reduce_tile
from tensim.sim.cores.numerics.unpacker import UINT8, UINT16, UINT32
from tensim.sim.cores.operations import Approximation
from tensim.sim.engine.compiled import compiled

ONE = np.ones(1, np.float32)  # the scaler of a reduction that has none
# The approximate exponential: steps of its integer per unit of x, 2^8 / ln 2; the integer of exp(0), 127 * 2^8, less what
# halves the largest error; places by which it is shifted; below -88.5 there is nothing but zero
EXP_PER_ONE, EXP_OF_ZERO = np.float32(369.329925537109375), 32500.818359375
EXP_SHIFT, EXP_LOWEST, SMALLEST_NORMAL = 15, np.float32(-88.5), 1 << 23

# name -> number of extra parameters; the order gives the function numbers
_UNARY = {
    "exp": 0, "exp2": 0, "expm1": 0, "log": 0, "log_with_base": 1, "log1p": 0, "sqrt": 0, "rsqrt": 0, "recip": 0,
    "cbrt": 0, "square": 0, "power": 1, "rpow": 1, "abs": 0, "sign": 0, "signbit": 0, "negative": 0, "sin": 0, "cos": 0,
    "tan": 0, "asin": 0, "acos": 0, "atan": 0, "sinh": 0, "cosh": 0, "tanh": 0, "asinh": 0, "acosh": 0, "atanh": 0,
    "sigmoid": 0, "logsigmoid": 0, "gelu": 0, "quickgelu": 0, "silu": 0, "relu": 0, "relu_max": 1, "relu_min": 1,
    "leaky_relu": 1, "prelu": 1, "elu": 1, "selu": 2, "celu": 2, "softplus": 3, "softsign": 0, "softshrink": 1,
    "hardtanh": 2, "hardsigmoid": 0, "hardmish": 0, "hardgelu": 0, "clamp": 2, "threshold": 2, "heaviside": 1, "erf": 0,
    "erfc": 0, "erfinv": 0, "i0": 0, "i1": 0, "floor": 0, "ceil": 0, "trunc": 0, "round": 1, "frac": 0, "eqz": 0,
    "nez": 0, "ltz": 0, "gtz": 0, "lez": 0, "gez": 0, "unary_eq": 1, "unary_ne": 1, "unary_gt": 1, "unary_lt": 1,
    "unary_ge": 1, "unary_le": 1, "isinf": 0, "isposinf": 0, "isneginf": 0, "isnan": 0, "isfinite": 0,
    "logical_not_unary": 0, "fill": 1, "identity": 0, "add_unary": 1, "sub_unary": 1, "mul_unary": 1, "div_unary": 1,
    "rsub_unary": 1, "rsub": 1, "rdiv": 1, "remainder": 1, "fmod": 1, "unary_max": 1, "unary_min": 1, "tanhshrink": 0,
    "typecast": 2,
}  # fmt: skip
_UNARY_INT = {
    "abs_int32": 0, "negative_int32": 0, "signbit_int32": 0, "unary_max_int32": 1, "unary_min_int32": 1, "bitwise_not": 0,
    "bitwise_and": 1, "bitwise_or": 1, "bitwise_xor": 1, "left_shift": 1, "right_shift": 1, "fill_bitcast": 1, "fill_int": 1,
    "relu_max_int32": 1, "eqz_int32": 0, "nez_int32": 0,
}  # fmt: skip
_BINARY = {
    "add_binary": 0, "sub_binary": 0, "mul_binary": 0, "div_binary": 0, "rsub_binary": 0, "power_binary": 0,
    "eq_binary": 0, "ne_binary": 0, "lt_binary": 0, "gt_binary": 0, "le_binary": 0, "ge_binary": 0, "binary_max": 0,
    "binary_min": 0, "xlogy_binary": 0, "mask_binary": 0,
}  # fmt: skip
_BINARY_INT = {
    "add_int": 0, "sub_int": 0, "mul_int": 0, "add_int32": 0, "sub_int32": 0, "mul_int32": 0, "add_uint32": 0,
    "sub_uint32": 0, "mul_uint32": 0, "add_uint16": 0, "sub_uint16": 0, "mul_uint16": 0, "bitwise_and_binary": 0,
    "bitwise_or_binary": 0, "bitwise_xor_binary": 0, "binary_left_shift": 0, "binary_right_shift": 0,
    "binary_logical_right_shift": 0, "binary_max_int32": 0, "binary_min_int32": 0, "gcd": 0, "lcm": 0, "div_int32": 0,
    "div_int32_floor": 0, "lt_int32": 0, "gt_int32": 0, "le_int32": 0, "ge_int32": 0,
}  # fmt: skip

_TERNARY = {"where": 0, "addcmul": 1, "addcdiv": 1}

SfpuUnary = IntEnum("SfpuUnary", [name.upper() for name in (*_UNARY, *_UNARY_INT)], start=0)
SfpuBinary = IntEnum("SfpuBinary", [name.upper() for name in (*_BINARY, *_BINARY_INT)], start=0)
SfpuTernary = IntEnum("SfpuTernary", [name.upper() for name in _TERNARY], start=0)
FIRST_UNARY_INT, FIRST_BINARY_INT = len(_UNARY), len(_BINARY)
N_UNARY, N_BINARY, N_TERNARY = len(SfpuUnary), len(SfpuBinary), len(SfpuTernary)

# API base name (X of X_tile and X_tile_init) -> (function, number of extra parameters)
SFPU_API = {
    name: (functions[name.upper()], extra)
    for functions, names in (
        (SfpuUnary, _UNARY | _UNARY_INT),
        (SfpuBinary, _BINARY | _BINARY_INT),
        (SfpuTernary, _TERNARY),
    )
    for name, extra in names.items()
}


@compiled()
def sigmoid(x):
    return 1.0 / (1.0 + math.exp(-x))


@compiled()
def log_or_limit(x):
    """Natural logarithm with the limits -inf at 0 and NaN below."""
    if x > 0:
        return math.log(x)
    return -math.inf if x == 0 else math.nan


@compiled()
def erfinv(x):
    """Inverse error function: Winitzki's start, two Newton steps."""
    if abs(x) >= 1:
        return math.copysign(math.inf, x) if abs(x) == 1 else math.nan
    log_term = math.log(1 - x * x)
    half = 2 / (math.pi * 0.147) + log_term / 2
    y = math.copysign(math.sqrt(math.sqrt(half * half - log_term / 0.147) - half), x)
    for _ in range(2):
        y -= (math.erf(y) - x) * math.sqrt(math.pi) / 2 * math.exp(y * y)
    return y


@compiled()
def bessel(order, x):
    """Modified Bessel function of the first kind, order 0 or 1, by its power series."""
    quarter = x * x / 4
    term = 1.0 if order == 0 else x / 2
    total = term
    for k in range(1, 60):
        term *= quarter / (k * (k + order))
        total += term
    return total


@compiled()
def power(x, y):
    if x < 0 and y != math.floor(y):
        return math.nan
    if x == 0 and y < 0:
        return math.inf
    return math.pow(x, y)


@compiled()
def modulo(x, y, floored):
    """fmod (sign of x) or, floored, remainder (sign of y)."""
    if y == 0:
        return math.nan
    if floored:
        return x - math.floor(x / y) * y
    return x - math.trunc(x / y) * y


@compiled()
def round_to(x, decimals):
    """Round half to even at a number of decimals."""
    scale = 10.0**decimals
    scaled = x * scale
    low = math.floor(scaled)
    rest = scaled - low
    if rest > 0.5 or (rest == 0.5 and low % 2 != 0):
        low += 1
    return low / scale


@compiled()
def float_unary(f, x, a, b, c, p):
    """A unary function of one datum; a, b, c: its parameters as floats, p: the first one as an integer."""
    if f == SfpuUnary.EXP:
        return math.exp(min(x, 709.0))
    if f == SfpuUnary.EXP2:
        return 2.0 ** min(x, 1023.0)
    if f == SfpuUnary.EXPM1:
        return math.expm1(min(x, 709.0))
    if f == SfpuUnary.LOG:
        return log_or_limit(x)
    if f == SfpuUnary.LOG_WITH_BASE:
        return log_or_limit(x) * a
    if f == SfpuUnary.LOG1P:
        return log_or_limit(1.0 + x)
    if f == SfpuUnary.SQRT:
        return math.sqrt(x) if x >= 0 else math.nan
    if f == SfpuUnary.RSQRT:
        return 1.0 / math.sqrt(x) if x > 0 else (math.inf if x == 0 else math.nan)
    if f == SfpuUnary.RECIP:
        return 1.0 / x if x != 0 else math.copysign(math.inf, x)
    if f == SfpuUnary.CBRT:
        return math.copysign(abs(x) ** (1.0 / 3.0), x)
    if f == SfpuUnary.SQUARE:
        return x * x
    if f == SfpuUnary.POWER:
        return power(x, a)
    if f == SfpuUnary.RPOW:
        return power(a, x)
    if f == SfpuUnary.ABS:
        return abs(x)
    if f == SfpuUnary.SIGN:
        return 1.0 if x > 0 else (-1.0 if x < 0 else 0.0)
    if f == SfpuUnary.SIGNBIT:
        return 1.0 if math.copysign(1.0, x) < 0 else 0.0
    if f == SfpuUnary.NEGATIVE:
        return -x
    if f == SfpuUnary.SIN:
        return math.sin(x)
    if f == SfpuUnary.COS:
        return math.cos(x)
    if f == SfpuUnary.TAN:
        return math.tan(x)
    if f == SfpuUnary.ASIN:
        return math.asin(x) if abs(x) <= 1 else math.nan
    if f == SfpuUnary.ACOS:
        return math.acos(x) if abs(x) <= 1 else math.nan
    if f == SfpuUnary.ATAN:
        return math.atan(x)
    if f == SfpuUnary.SINH:
        return math.sinh(x) if abs(x) < 700 else math.copysign(math.inf, x)
    if f == SfpuUnary.COSH:
        return math.cosh(x) if abs(x) < 700 else math.inf
    if f == SfpuUnary.TANH:
        return math.tanh(x)
    if f == SfpuUnary.ASINH:
        return math.asinh(x)
    if f == SfpuUnary.ACOSH:
        return math.acosh(x) if x >= 1 else math.nan
    if f == SfpuUnary.ATANH:
        return math.atanh(x) if abs(x) < 1 else (math.copysign(math.inf, x) if abs(x) == 1 else math.nan)
    if f == SfpuUnary.SIGMOID:
        return sigmoid(max(x, -700.0))
    if f == SfpuUnary.LOGSIGMOID:
        return min(x, 0.0) - math.log1p(math.exp(-abs(x)))
    if f == SfpuUnary.GELU:
        return 0.5 * x * (1.0 + math.erf(x / math.sqrt(2.0)))
    if f == SfpuUnary.QUICKGELU:
        return x * sigmoid(max(1.702 * x, -700.0))
    if f == SfpuUnary.SILU:
        return x * sigmoid(max(x, -700.0))
    if f == SfpuUnary.RELU:
        return max(x, 0.0)
    if f == SfpuUnary.RELU_MAX:
        return min(max(x, 0.0), a)
    if f == SfpuUnary.RELU_MIN:
        return max(x, a)
    if f == SfpuUnary.LEAKY_RELU:
        return x if x >= 0 else a * x
    if f == SfpuUnary.PRELU:
        return x if x >= 0 else a * x
    if f == SfpuUnary.ELU:
        return x if x >= 0 else a * math.expm1(x)
    if f == SfpuUnary.SELU:
        return a * x if x >= 0 else a * b * math.expm1(x)
    if f == SfpuUnary.CELU:
        return max(x, 0.0) + min(0.0, a * math.expm1(min(x, 0.0) / a))
    if f == SfpuUnary.SOFTPLUS:
        return x if a * x > c else math.log1p(math.exp(a * x)) * b
    if f == SfpuUnary.SOFTSIGN:
        return x / (1.0 + abs(x))
    if f == SfpuUnary.SOFTSHRINK:
        return x - a if x > a else (x + a if x < -a else 0.0)
    if f == SfpuUnary.HARDTANH:
        return min(max(x, a), b)
    if f == SfpuUnary.HARDSIGMOID:
        return min(max(x / 6.0 + 0.5, 0.0), 1.0)
    if f == SfpuUnary.HARDMISH:
        return x * min(max(x + 2.8, 0.0), 5.0) * 0.2
    if f == SfpuUnary.HARDGELU:
        return x * min(max(x / 2.0 + 0.5, 0.0), 1.0)
    if f == SfpuUnary.CLAMP:
        return min(max(x, a), b)
    if f == SfpuUnary.THRESHOLD:
        return x if x > a else b
    if f == SfpuUnary.HEAVISIDE:
        return 0.0 if x < 0 else (1.0 if x > 0 else a)
    if f == SfpuUnary.ERF:
        return math.erf(x)
    if f == SfpuUnary.ERFC:
        return math.erfc(x)
    if f == SfpuUnary.ERFINV:
        return erfinv(x)
    if f == SfpuUnary.I0:
        return bessel(0, x)
    if f == SfpuUnary.I1:
        return bessel(1, x)
    if f == SfpuUnary.FLOOR:
        return float(math.floor(x))
    if f == SfpuUnary.CEIL:
        return float(math.ceil(x))
    if f == SfpuUnary.TRUNC:
        return float(math.trunc(x))
    if f == SfpuUnary.ROUND:
        return round_to(x, p)
    if f == SfpuUnary.FRAC:
        return x - math.trunc(x)
    if f == SfpuUnary.EQZ:
        return 1.0 if x == 0 else 0.0
    if f == SfpuUnary.NEZ:
        return 1.0 if x != 0 else 0.0
    if f == SfpuUnary.LTZ:
        return 1.0 if x < 0 else 0.0
    if f == SfpuUnary.GTZ:
        return 1.0 if x > 0 else 0.0
    if f == SfpuUnary.LEZ:
        return 1.0 if x <= 0 else 0.0
    if f == SfpuUnary.GEZ:
        return 1.0 if x >= 0 else 0.0
    if f == SfpuUnary.UNARY_EQ:
        return 1.0 if x == a else 0.0
    if f == SfpuUnary.UNARY_NE:
        return 1.0 if x != a else 0.0
    if f == SfpuUnary.UNARY_GT:
        return 1.0 if x > a else 0.0
    if f == SfpuUnary.UNARY_LT:
        return 1.0 if x < a else 0.0
    if f == SfpuUnary.UNARY_GE:
        return 1.0 if x >= a else 0.0
    if f == SfpuUnary.UNARY_LE:
        return 1.0 if x <= a else 0.0
    if f == SfpuUnary.ISINF:
        return 1.0 if math.isinf(x) else 0.0
    if f == SfpuUnary.ISPOSINF:
        return 1.0 if x == math.inf else 0.0
    if f == SfpuUnary.ISNEGINF:
        return 1.0 if x == -math.inf else 0.0
    if f == SfpuUnary.ISNAN:
        return 1.0 if math.isnan(x) else 0.0
    if f == SfpuUnary.ISFINITE:
        return 1.0 if math.isfinite(x) else 0.0
    if f == SfpuUnary.LOGICAL_NOT_UNARY:
        return 1.0 if x == 0 else 0.0
    if f == SfpuUnary.FILL:
        return a
    if f == SfpuUnary.ADD_UNARY:
        return x + a
    if f == SfpuUnary.SUB_UNARY:
        return x - a
    if f == SfpuUnary.MUL_UNARY:
        return x * a
    if f == SfpuUnary.DIV_UNARY:
        return x * a
    if f == SfpuUnary.RSUB_UNARY:
        return a - x
    if f == SfpuUnary.RSUB:
        return a - x
    if f == SfpuUnary.RDIV:
        return a / x if x != 0 else math.copysign(math.inf, x) * a
    if f == SfpuUnary.REMAINDER:
        return modulo(x, a, True)
    if f == SfpuUnary.FMOD:
        return modulo(x, a, False)
    if f == SfpuUnary.UNARY_MAX:
        return max(x, a)
    if f == SfpuUnary.UNARY_MIN:
        return min(x, a)
    if f == SfpuUnary.TANHSHRINK:
        return x - math.tanh(x)
    if f == SfpuUnary.IDENTITY:
        return x
    return math.nan  # no such function: `check_complete`


@compiled()
def int_unary(f, x, p):
    """A unary function of one int32."""
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
        return x >> min(max(p, 0), 31)
    if f == SfpuUnary.FILL_BITCAST:
        return p
    if f == SfpuUnary.FILL_INT:
        return p
    if f == SfpuUnary.RELU_MAX_INT32:
        return min(max(x, 0), p)
    if f == SfpuUnary.EQZ_INT32:
        return 1 if x == 0 else 0
    if f == SfpuUnary.NEZ_INT32:
        return 1 if x != 0 else 0
    return 0


@compiled()
def float_binary(f, x, y):
    """A binary function of two datums."""
    if f == SfpuBinary.ADD_BINARY:
        return x + y
    if f == SfpuBinary.SUB_BINARY:
        return x - y
    if f == SfpuBinary.MUL_BINARY:
        return x * y
    if f == SfpuBinary.DIV_BINARY:
        return x / y if y != 0 else (math.nan if x == 0 else math.copysign(math.inf, x))
    if f == SfpuBinary.RSUB_BINARY:
        return y - x
    if f == SfpuBinary.POWER_BINARY:
        return power(x, y)
    if f == SfpuBinary.EQ_BINARY:
        return 1.0 if x == y else 0.0
    if f == SfpuBinary.NE_BINARY:
        return 1.0 if x != y else 0.0
    if f == SfpuBinary.LT_BINARY:
        return 1.0 if x < y else 0.0
    if f == SfpuBinary.GT_BINARY:
        return 1.0 if x > y else 0.0
    if f == SfpuBinary.LE_BINARY:
        return 1.0 if x <= y else 0.0
    if f == SfpuBinary.GE_BINARY:
        return 1.0 if x >= y else 0.0
    if f == SfpuBinary.BINARY_MAX:
        return max(x, y)
    if f == SfpuBinary.BINARY_MIN:
        return min(x, y)
    if f == SfpuBinary.XLOGY_BINARY:
        return 0.0 if x == 0 else x * log_or_limit(y)
    if f == SfpuBinary.MASK_BINARY:
        return 0.0 if y == 0 else x
    return math.nan


@compiled()
def int_binary(f, x, y):
    """A binary function of two int32."""
    if f == SfpuBinary.ADD_INT:
        return x + y
    if f == SfpuBinary.SUB_INT:
        return x - y
    if f == SfpuBinary.MUL_INT:
        return x * y
    if f == SfpuBinary.ADD_INT32:
        return x + y
    if f == SfpuBinary.SUB_INT32:
        return x - y
    if f == SfpuBinary.MUL_INT32:
        return x * y
    if f == SfpuBinary.ADD_UINT32:
        return x + y
    if f == SfpuBinary.SUB_UINT32:
        return x - y
    if f == SfpuBinary.MUL_UINT32:
        return x * y
    if f == SfpuBinary.ADD_UINT16:
        return (x + y) & 0xFFFF
    if f == SfpuBinary.SUB_UINT16:
        return (x - y) & 0xFFFF
    if f == SfpuBinary.MUL_UINT16:
        return (x * y) & 0xFFFF
    if f == SfpuBinary.BITWISE_AND_BINARY:
        return x & y
    if f == SfpuBinary.BITWISE_OR_BINARY:
        return x | y
    if f == SfpuBinary.BITWISE_XOR_BINARY:
        return x ^ y
    if f == SfpuBinary.BINARY_LEFT_SHIFT:
        return x << y if 0 <= y < 32 else 0
    if f == SfpuBinary.BINARY_RIGHT_SHIFT:
        return x >> min(max(y, 0), 31)
    if f == SfpuBinary.BINARY_LOGICAL_RIGHT_SHIFT:
        return (x & 0xFFFFFFFF) >> y if 0 <= y < 32 else 0
    if f == SfpuBinary.BINARY_MAX_INT32:
        return max(x, y)
    if f == SfpuBinary.BINARY_MIN_INT32:
        return min(x, y)
    if f == SfpuBinary.GCD:
        return math.gcd(x, y)
    if f == SfpuBinary.LCM:
        return abs(x * y) // math.gcd(x, y) if x != 0 and y != 0 else 0
    if f == SfpuBinary.DIV_INT32:
        return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1) if y != 0 else 0
    if f == SfpuBinary.DIV_INT32_FLOOR:
        return x // y if y != 0 else 0
    if f == SfpuBinary.LT_INT32:
        return 1 if x < y else 0
    if f == SfpuBinary.GT_INT32:
        return 1 if x > y else 0
    if f == SfpuBinary.LE_INT32:
        return 1 if x <= y else 0
    if f == SfpuBinary.GE_INT32:
        return 1 if x >= y else 0
    return 0


@compiled()
def signed_word(value):
    """The int32 in a float32 word."""
    bits = bits_of_float(value)
    return bits - 0x100000000 if bits >= 0x80000000 else bits


@compiled()
def typecast(word, source, target):
    """A Dst word of format `source` as one of `target`: floats lose their fraction, integers saturate."""
    from_int, to_int = is_integer(source), is_integer(target)
    if not to_int:
        if not from_int:
            return word
        bits = bits_of_float(word)
        return np.float32(bits if source == UINT32 else signed_word(word))
    value = float(word)
    if from_int:
        value = float(bits_of_float(word) if source == UINT32 else signed_word(word))
    low, high = -2147483648.0, 2147483647.0
    if target == UINT32 or target == UINT16 or target == UINT8:
        low, high = 0.0, 4294967295.0 if target == UINT32 else (65535.0 if target == UINT16 else 255.0)
    if value != value:
        value = 0.0
    return float_of_bits(int(min(max(value, low), high)))


@compiled()
def sfpu_ternary(function, dst, o0, o1, o2, oo, p0):
    """Combine three tiles of dst into a fourth; `p0`: the factor of addcmul and addcdiv as float bits."""
    factor = float_of_bits(p0)
    for i in range(TILE_DATUMS):
        x, y, z = dst[o0 + i], dst[o1 + i], dst[o2 + i]
        if function == SfpuTernary.WHERE:
            dst[oo + i] = y if x != 0 else z
        elif function == SfpuTernary.ADDCMUL:
            dst[oo + i] = x + factor * y * z
        elif function == SfpuTernary.ADDCDIV:
            dst[oo + i] = x + factor * y / z if z != 0 else x + factor * y * math.copysign(math.inf, z)


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
    p = p0 - 0x100000000 if p0 >= 0x80000000 else p0
    if function == SfpuUnary.TYPECAST:
        for i in range(off, off + TILE_DATUMS):
            dst[i] = typecast(dst[i], p0, p1)
        return
    for i in range(off, off + TILE_DATUMS):
        if function >= FIRST_UNARY_INT:
            dst[i] = float_of_bits(int_unary(function, signed_word(dst[i]), p))
        else:
            dst[i] = np.float32(float_unary(function, dst[i], a, b, c, p))


@compiled()
def sfpu_reduce(pool, dim, dst, off, spare, so):
    """Reduce dst[off:off + 1024], a tile in face order, in place; the reduced positions are those of `reduce_tile`.

    spare[so:so + 1024] takes a copy of the tile.
    """
    for i in range(TILE_DATUMS):
        spare[so + i] = dst[off + i]
    reduce_tile(pool, dim, spare, so, ONE, 0, dst, off, 1)


@compiled()
def sfpu_binary(function, dst, o0, o1, oo, p0):
    """Combine two tiles of dst into a third: dst[oo + i] = f(dst[o0 + i], dst[o1 + i])."""
    for i in range(TILE_DATUMS):
        if function >= FIRST_BINARY_INT:
            x, y = signed_word(dst[o0 + i]), signed_word(dst[o1 + i])
            dst[oo + i] = float_of_bits(int_binary(function, x, y))
        else:
            dst[oo + i] = np.float32(float_binary(function, dst[o0 + i], dst[o1 + i]))


def check_complete(function, *members):
    """Whether compiled `function`, a chain of comparisons, names every one of `members`; TypeError if it forgets some."""
    forgotten = {member.name for member in members} - set(function.py_func.__code__.co_names)
    if forgotten:
        raise TypeError(f"{function.__name__} does not compute {', '.join(sorted(forgotten))}")


check_complete(float_unary, *(f for f in SfpuUnary if f < FIRST_UNARY_INT and f != SfpuUnary.TYPECAST))
check_complete(int_unary, *(f for f in SfpuUnary if f >= FIRST_UNARY_INT))
check_complete(float_binary, *(f for f in SfpuBinary if f < FIRST_BINARY_INT))
check_complete(int_binary, *(f for f in SfpuBinary if f >= FIRST_BINARY_INT))
check_complete(sfpu_ternary, *SfpuTernary)
