"""The vector unit's functions on Dst tiles, by mathematical definition in float32 (`numerics=fast`).

Names and argument order are tt-metal's (reference sections 2.11 and 2.12).  Parameters are 32-bit patterns: float bits,
or integers where the function says so.  `_INT32` functions work on the int32 bit patterns of the same words.
"""

import math
from enum import IntEnum

import numba as nb
import numpy as np

from sim.cores.tile_formats import bits_of_float, float_of_bits

TILE = 1024

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
}  # fmt: skip
_UNARY_INT = {
    "abs_int32": 0, "negative_int32": 0, "signbit_int32": 0, "unary_max_int32": 1, "unary_min_int32": 1, "bitwise_not": 0,
    "bitwise_and": 1, "bitwise_or": 1, "bitwise_xor": 1, "left_shift": 1, "right_shift": 1, "fill_bitcast": 1, "fill_int": 1,
    "relu_max_int32": 1, "eqz_int32": 0, "nez_int32": 0,
}  # fmt: skip
_BINARY = {
    "add_binary": 0, "sub_binary": 0, "mul_binary": 0, "div_binary": 0, "rsub_binary": 0, "power_binary": 0,
    "eq_binary": 0, "ne_binary": 0, "lt_binary": 0, "gt_binary": 0, "le_binary": 0, "ge_binary": 0, "binary_max": 0,
    "binary_min": 0, "xlogy_binary": 0,
}  # fmt: skip
_BINARY_INT = {
    "add_int": 0, "sub_int": 0, "mul_int": 0, "add_int32": 0, "sub_int32": 0, "mul_int32": 0, "add_uint32": 0,
    "sub_uint32": 0, "mul_uint32": 0, "add_uint16": 0, "sub_uint16": 0, "mul_uint16": 0, "bitwise_and_binary": 0,
    "bitwise_or_binary": 0, "bitwise_xor_binary": 0, "binary_left_shift": 0, "binary_right_shift": 0,
    "binary_logical_right_shift": 0, "binary_max_int32": 0, "binary_min_int32": 0, "gcd": 0, "lcm": 0, "div_int32": 0,
    "div_int32_floor": 0, "lt_int32": 0, "gt_int32": 0, "le_int32": 0, "ge_int32": 0,
}  # fmt: skip

SfpuUnary = IntEnum("SfpuUnary", [name.upper() for name in (*_UNARY, *_UNARY_INT)], start=0)
SfpuBinary = IntEnum("SfpuBinary", [name.upper() for name in (*_BINARY, *_BINARY_INT)], start=0)
FIRST_UNARY_INT, FIRST_BINARY_INT = len(_UNARY), len(_BINARY)

# API base name (X of X_tile and X_tile_init) -> (function, number of extra parameters)
SFPU_API = {name: (SfpuUnary[name.upper()], extra) for name, extra in (_UNARY | _UNARY_INT).items()} | {
    name: (SfpuBinary[name.upper()], extra) for name, extra in (_BINARY | _BINARY_INT).items()
}

_U = {function.name: int(function) for function in SfpuUnary}
_B = {function.name: int(function) for function in SfpuBinary}


@nb.njit(cache=True)
def sigmoid(x):
    return 1.0 / (1.0 + math.exp(-x))


@nb.njit(cache=True)
def log_or_limit(x):
    """Natural logarithm with the limits -inf at 0 and NaN below."""
    if x > 0:
        return math.log(x)
    return -math.inf if x == 0 else math.nan


@nb.njit(cache=True)
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


@nb.njit(cache=True)
def bessel(order, x):
    """Modified Bessel function of the first kind, order 0 or 1, by its power series."""
    quarter = x * x / 4
    term = 1.0 if order == 0 else x / 2
    total = term
    for k in range(1, 60):
        term *= quarter / (k * (k + order))
        total += term
    return total


@nb.njit(cache=True)
def power(x, y):
    if x < 0 and y != math.floor(y):
        return math.nan
    if x == 0 and y < 0:
        return math.inf
    return math.pow(x, y)


@nb.njit(cache=True)
def modulo(x, y, floored):
    """fmod (sign of x) or, floored, remainder (sign of y)."""
    if y == 0:
        return math.nan
    if floored:
        return x - math.floor(x / y) * y
    return x - math.trunc(x / y) * y


@nb.njit(cache=True)
def round_to(x, decimals):
    """Round half to even at a number of decimals."""
    scale = 10.0**decimals
    scaled = x * scale
    low = math.floor(scaled)
    rest = scaled - low
    if rest > 0.5 or (rest == 0.5 and low % 2 != 0):
        low += 1
    return low / scale


def _cases(table, value="x"):
    """Source of an if-chain: one return per function, so that the table below reads as a list of definitions."""
    lines = []
    for name, expression in table.items():
        lines.append(f"    if f == {name}:\n        return {expression}")
    return "\n".join(lines) + f"\n    return {value}\n"


# Definitions.  x: the datum; a, b, c: parameters as floats; p: the first parameter as an integer.
_FLOAT_UNARY = {
    "EXP": "math.exp(min(x, 709.0))", "EXP2": "2.0 ** min(x, 1023.0)", "EXPM1": "math.expm1(min(x, 709.0))",
    "LOG": "log_or_limit(x)", "LOG_WITH_BASE": "log_or_limit(x) * a", "LOG1P": "log_or_limit(1.0 + x)",
    "SQRT": "math.sqrt(x) if x >= 0 else math.nan",
    "RSQRT": "1.0 / math.sqrt(x) if x > 0 else (math.inf if x == 0 else math.nan)",
    "RECIP": "1.0 / x if x != 0 else math.copysign(math.inf, x)",
    "CBRT": "math.copysign(abs(x) ** (1.0 / 3.0), x)", "SQUARE": "x * x", "POWER": "power(x, a)", "RPOW": "power(a, x)",
    "ABS": "abs(x)", "SIGN": "(1.0 if x > 0 else (-1.0 if x < 0 else 0.0))",
    "SIGNBIT": "(1.0 if math.copysign(1.0, x) < 0 else 0.0)", "NEGATIVE": "-x",
    "SIN": "math.sin(x)", "COS": "math.cos(x)", "TAN": "math.tan(x)",
    "ASIN": "math.asin(x) if abs(x) <= 1 else math.nan", "ACOS": "math.acos(x) if abs(x) <= 1 else math.nan",
    "ATAN": "math.atan(x)", "SINH": "math.sinh(x) if abs(x) < 700 else math.copysign(math.inf, x)",
    "COSH": "math.cosh(x) if abs(x) < 700 else math.inf", "TANH": "math.tanh(x)", "ASINH": "math.asinh(x)",
    "ACOSH": "math.acosh(x) if x >= 1 else math.nan",
    "ATANH": "math.atanh(x) if abs(x) < 1 else (math.copysign(math.inf, x) if abs(x) == 1 else math.nan)",
    "SIGMOID": "sigmoid(max(x, -700.0))", "LOGSIGMOID": "min(x, 0.0) - math.log1p(math.exp(-abs(x)))",
    "GELU": "0.5 * x * (1.0 + math.erf(x / math.sqrt(2.0)))", "QUICKGELU": "x * sigmoid(max(1.702 * x, -700.0))",
    "SILU": "x * sigmoid(max(x, -700.0))", "RELU": "max(x, 0.0)", "RELU_MAX": "min(max(x, 0.0), a)",
    "RELU_MIN": "max(x, a)", "LEAKY_RELU": "x if x >= 0 else a * x", "PRELU": "x if x >= 0 else a * x",
    "ELU": "x if x >= 0 else a * math.expm1(x)", "SELU": "(a * x if x >= 0 else a * b * math.expm1(x))",
    "CELU": "max(x, 0.0) + min(0.0, a * math.expm1(min(x, 0.0) / a))",
    "SOFTPLUS": "x if a * x > c else math.log1p(math.exp(a * x)) * b", "SOFTSIGN": "x / (1.0 + abs(x))",
    "SOFTSHRINK": "(x - a if x > a else (x + a if x < -a else 0.0))", "HARDTANH": "min(max(x, a), b)",
    "HARDSIGMOID": "min(max(x / 6.0 + 0.5, 0.0), 1.0)", "HARDMISH": "x * min(max(x + 2.8, 0.0), 5.0) * 0.2",
    "HARDGELU": "x * min(max(x / 2.0 + 0.5, 0.0), 1.0)", "CLAMP": "min(max(x, a), b)", "THRESHOLD": "x if x > a else b",
    "HEAVISIDE": "(0.0 if x < 0 else (1.0 if x > 0 else a))", "ERF": "math.erf(x)", "ERFC": "math.erfc(x)",
    "ERFINV": "erfinv(x)", "I0": "bessel(0, x)", "I1": "bessel(1, x)", "FLOOR": "float(math.floor(x))",
    "CEIL": "float(math.ceil(x))", "TRUNC": "float(math.trunc(x))", "ROUND": "round_to(x, p)", "FRAC": "x - math.trunc(x)",
    "EQZ": "1.0 if x == 0 else 0.0", "NEZ": "1.0 if x != 0 else 0.0", "LTZ": "1.0 if x < 0 else 0.0",
    "GTZ": "1.0 if x > 0 else 0.0", "LEZ": "1.0 if x <= 0 else 0.0", "GEZ": "1.0 if x >= 0 else 0.0",
    "UNARY_EQ": "1.0 if x == a else 0.0", "UNARY_NE": "1.0 if x != a else 0.0", "UNARY_GT": "1.0 if x > a else 0.0",
    "UNARY_LT": "1.0 if x < a else 0.0", "UNARY_GE": "1.0 if x >= a else 0.0", "UNARY_LE": "1.0 if x <= a else 0.0",
    "ISINF": "1.0 if math.isinf(x) else 0.0", "ISPOSINF": "1.0 if x == math.inf else 0.0",
    "ISNEGINF": "1.0 if x == -math.inf else 0.0", "ISNAN": "1.0 if math.isnan(x) else 0.0",
    "ISFINITE": "1.0 if math.isfinite(x) else 0.0", "LOGICAL_NOT_UNARY": "1.0 if x == 0 else 0.0", "FILL": "a",
    "ADD_UNARY": "x + a", "SUB_UNARY": "x - a", "MUL_UNARY": "x * a", "DIV_UNARY": "x * a", "RSUB_UNARY": "a - x",
    "RSUB": "a - x", "RDIV": "(a / x if x != 0 else math.copysign(math.inf, x) * a)", "REMAINDER": "modulo(x, a, True)",
    "FMOD": "modulo(x, a, False)", "UNARY_MAX": "max(x, a)", "UNARY_MIN": "min(x, a)", "TANHSHRINK": "x - math.tanh(x)",
}  # fmt: skip
_INT_UNARY = {
    "ABS_INT32": "abs(x)", "NEGATIVE_INT32": "-x", "SIGNBIT_INT32": "1 if x < 0 else 0", "UNARY_MAX_INT32": "max(x, p)",
    "UNARY_MIN_INT32": "min(x, p)", "BITWISE_NOT": "~x", "BITWISE_AND": "x & p", "BITWISE_OR": "x | p",
    "BITWISE_XOR": "x ^ p", "LEFT_SHIFT": "x << p if 0 <= p < 32 else 0", "RIGHT_SHIFT": "x >> min(max(p, 0), 31)",
    "FILL_BITCAST": "p", "FILL_INT": "p", "RELU_MAX_INT32": "min(max(x, 0), p)", "EQZ_INT32": "1 if x == 0 else 0",
    "NEZ_INT32": "1 if x != 0 else 0",
}  # fmt: skip
_FLOAT_BINARY = {
    "ADD_BINARY": "x + y", "SUB_BINARY": "x - y", "MUL_BINARY": "x * y",
    "DIV_BINARY": "(x / y if y != 0 else (math.nan if x == 0 else math.copysign(math.inf, x)))", "RSUB_BINARY": "y - x",
    "POWER_BINARY": "power(x, y)", "EQ_BINARY": "1.0 if x == y else 0.0", "NE_BINARY": "1.0 if x != y else 0.0",
    "LT_BINARY": "1.0 if x < y else 0.0", "GT_BINARY": "1.0 if x > y else 0.0", "LE_BINARY": "1.0 if x <= y else 0.0",
    "GE_BINARY": "1.0 if x >= y else 0.0", "BINARY_MAX": "max(x, y)", "BINARY_MIN": "min(x, y)",
    "XLOGY_BINARY": "(0.0 if x == 0 else x * log_or_limit(y))",
}  # fmt: skip
_INT_BINARY = {
    "ADD": "x + y", "SUB": "x - y", "MUL": "x * y",
}  # fmt: skip
_INT_BINARY_ALL = {
    f"{operation}_{kind}": text for kind in ("INT", "INT32", "UINT32") for operation, text in _INT_BINARY.items()
} | {f"{operation}_UINT16": f"({text}) & 0xFFFF" for operation, text in _INT_BINARY.items()} | {
    "BITWISE_AND_BINARY": "x & y", "BITWISE_OR_BINARY": "x | y", "BITWISE_XOR_BINARY": "x ^ y",
    "BINARY_LEFT_SHIFT": "x << y if 0 <= y < 32 else 0", "BINARY_RIGHT_SHIFT": "x >> min(max(y, 0), 31)",
    "BINARY_LOGICAL_RIGHT_SHIFT": "(x & 0xFFFFFFFF) >> y if 0 <= y < 32 else 0", "BINARY_MAX_INT32": "max(x, y)",
    "BINARY_MIN_INT32": "min(x, y)", "GCD": "math.gcd(x, y)",
    "LCM": "abs(x * y) // math.gcd(x, y) if x != 0 and y != 0 else 0",
    "DIV_INT32": "(abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1) if y != 0 else 0)",
    "DIV_INT32_FLOOR": "x // y if y != 0 else 0", "LT_INT32": "1 if x < y else 0", "GT_INT32": "1 if x > y else 0",
    "LE_INT32": "1 if x <= y else 0", "GE_INT32": "1 if x >= y else 0",
}  # fmt: skip


def _function(name, arguments, table, numbers, signature):
    source = f"def {name}(f, {arguments}):\n" + _cases({str(numbers[key]): text for key, text in table.items()})
    scope = {
        "math": math, "sigmoid": sigmoid, "log_or_limit": log_or_limit, "erfinv": erfinv, "bessel": bessel,
        "power": power, "modulo": modulo, "round_to": round_to,
    }  # fmt: skip
    exec(source, scope)  # the chain of definitions above, one function for the compiled lane
    return nb.njit(signature)(scope[name])


_f64, _i64 = nb.types.float64, nb.types.int64
float_unary = _function("float_unary", "x, a, b, c, p", _FLOAT_UNARY, _U, _f64(_i64, _f64, _f64, _f64, _f64, _i64))
int_unary = _function("int_unary", "x, p", _INT_UNARY, _U, _i64(_i64, _i64, _i64))
float_binary = _function("float_binary", "x, y", _FLOAT_BINARY, _B, _f64(_i64, _f64, _f64))
int_binary = _function("int_binary", "x, y", _INT_BINARY_ALL, _B, _i64(_i64, _i64, _i64))


@nb.njit(cache=True)
def signed_word(value):
    """The int32 in a float32 word."""
    bits = bits_of_float(value)
    return bits - 0x100000000 if bits >= 0x80000000 else bits


@nb.njit(cache=True)
def sfpu_unary(function, dst, off, p0, p1, p2):
    """Apply a unary function to dst[off:off + 1024]; parameters are 32-bit patterns."""
    a, b, c = float_of_bits(p0), float_of_bits(p1), float_of_bits(p2)
    p = p0 - 0x100000000 if p0 >= 0x80000000 else p0
    for i in range(off, off + TILE):
        if function >= FIRST_UNARY_INT:
            dst[i] = float_of_bits(int_unary(function, signed_word(dst[i]), p))
        else:
            dst[i] = np.float32(float_unary(function, dst[i], a, b, c, p))


@nb.njit(cache=True)
def sfpu_binary(function, dst, o0, o1, oo, p0):
    """Combine two tiles of dst into a third: dst[oo + i] = f(dst[o0 + i], dst[o1 + i])."""
    for i in range(TILE):
        if function >= FIRST_BINARY_INT:
            x, y = signed_word(dst[o0 + i]), signed_word(dst[o1 + i])
            dst[oo + i] = float_of_bits(int_binary(function, x, y))
        else:
            dst[oo + i] = np.float32(float_binary(function, dst[o0 + i], dst[o1 + i]))
