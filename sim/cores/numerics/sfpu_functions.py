"""The vector unit's functions by name: their numbers, their parameters, and which one a data format chooses.

Names and argument order are tt-metal's (docs/hardware/kernel_api.md#unary-sfpu-calls and
docs/hardware/kernel_api.md#binary-sfpu-calls).  Parameters are 32-bit patterns: float bits, or integers where the function
says so.  Functions of integers work on the int32 bit patterns of the same words; a uint16 is such a word, too.
"""

from enum import IntEnum

from tensim.sim.cores.numerics.data_format import DataFormat

# name -> (number of extra parameters, its value for a datum x of Dst, as the pages of the kernel API show it: a, b, c are param0,
# param1, param2 as floats, n is param0 as an integer); the order gives the function numbers
_UNARY = {
    "exp": (0, "exp(x)"),
    "exp2": (0, "2 ** x"),
    "expm1": (0, "exp(x) - 1"),
    "log": (0, "ln(x)"),
    "log_with_base": (1, "ln(x) * a"),
    "log1p": (0, "ln(1 + x)"),
    "sqrt": (0, "sqrt(x)"),
    "rsqrt": (0, "1 / sqrt(x)"),
    "recip": (0, "1 / x"),
    "cbrt": (0, "cube root of x"),
    "square": (0, "x * x"),
    "power": (1, "x ** a"),
    "rpow": (1, "a ** x"),
    "abs": (0, "|x|"),
    "sign": (0, "-1, 0 or 1"),
    "signbit": (0, "1 if the sign is set, else 0"),
    "negative": (0, "-x"),
    "sin": (0, "sin(x)"),
    "cos": (0, "cos(x)"),
    "tan": (0, "tan(x)"),
    "asin": (0, "asin(x)"),
    "acos": (0, "acos(x)"),
    "atan": (0, "atan(x)"),
    "sinh": (0, "sinh(x)"),
    "cosh": (0, "cosh(x)"),
    "tanh": (0, "tanh(x)"),
    "asinh": (0, "asinh(x)"),
    "acosh": (0, "acosh(x)"),
    "atanh": (0, "atanh(x)"),
    "sigmoid": (0, "1 / (1 + exp(-x))"),
    "logsigmoid": (0, "ln(sigmoid(x))"),
    "gelu": (0, "x * (1 + erf(x / sqrt(2))) / 2"),
    "quickgelu": (0, "x * sigmoid(1.702 * x)"),
    "silu": (0, "x * sigmoid(x)"),
    "relu": (0, "max(x, 0)"),
    "relu_max": (1, "min(max(x, 0), a)"),
    "relu_min": (1, "max(x, a)"),
    "leaky_relu": (1, "x if x >= 0 else a * x"),
    "prelu": (1, "x if x >= 0 else a * x"),
    "elu": (1, "x if x >= 0 else a * (exp(x) - 1)"),
    "selu": (2, "a * (x if x >= 0 else b * (exp(x) - 1))"),
    "celu": (2, "max(x, 0) + min(0, a * (exp(x / a) - 1))"),
    "softplus": (3, "x if a * x > c else ln(1 + exp(a * x)) * b"),
    "softsign": (0, "x / (1 + |x|)"),
    "softshrink": (1, "x - a above a, x + a below -a, else 0"),
    "hardtanh": (2, "x limited to [a, b]"),
    "hardsigmoid": (0, "x / 6 + 0.5 limited to [0, 1]"),
    "hardmish": (0, "x * (x / 2 + 1 limited to [0, 1])"),
    "hardgelu": (0, "x * (x / 2 + 0.5 limited to [0, 1])"),
    "clamp": (2, "x limited to [a, b]"),
    "threshold": (2, "x if x > a else b"),
    "heaviside": (1, "0 below 0, 1 above 0, a at 0"),
    "erf": (0, "erf(x)"),
    "erfc": (0, "1 - erf(x)"),
    "erfinv": (0, "inverse of erf"),
    "i0": (0, "modified Bessel function I0(x)"),
    "i1": (0, "modified Bessel function I1(x)"),
    "floor": (0, "x rounded down"),
    "ceil": (0, "x rounded up"),
    "trunc": (0, "x rounded towards 0"),
    "round": (1, "x rounded to n decimals, half to even"),
    "frac": (0, "x - trunc(x)"),
    "eqz": (0, "x == 0"),
    "nez": (0, "x != 0"),
    "ltz": (0, "x < 0"),
    "gtz": (0, "x > 0"),
    "lez": (0, "x <= 0"),
    "gez": (0, "x >= 0"),
    "unary_eq": (1, "x == a"),
    "unary_ne": (1, "x != a"),
    "unary_gt": (1, "x > a"),
    "unary_lt": (1, "x < a"),
    "unary_ge": (1, "x >= a"),
    "unary_le": (1, "x <= a"),
    "isinf": (0, "1 if x is infinite, else 0"),
    "isposinf": (0, "x == +inf"),
    "isneginf": (0, "x == -inf"),
    "isnan": (0, "1 if x is NaN, else 0"),
    "isfinite": (0, "1 if x is finite, else 0"),
    "logical_not_unary": (0, "x == 0"),
    "fill": (1, "a"),
    "identity": (0, "x"),
    "add_unary": (1, "x + a"),
    "sub_unary": (1, "x - a"),
    "mul_unary": (1, "x * a"),
    "div_unary": (1, "x * a (a is the reciprocal of the divisor)"),
    "rsub_unary": (1, "a - x"),
    "rsub": (1, "a - x"),
    "rdiv": (1, "a / x"),
    "remainder": (1, "x mod a, with the sign of a"),
    "fmod": (1, "x mod a, with the sign of x"),
    "unary_max": (1, "max(x, a)"),
    "unary_min": (1, "min(x, a)"),
    "tanhshrink": (0, "x - tanh(x)"),
    "hardshrink": (1, "x if |x| > a else 0"),
    "hardswish": (0, "x * (x / 6 + 0.5 limited to [0, 1])"),
    "mish": (0, "x * tanh(ln(1 + exp(x)))"),
    "rdiv_trunc": (1, "a / x, rounded towards 0"),
    "rdiv_floor": (1, "a / x, rounded down"),
    "typecast": (2, "x of format `in_dtype` as one of `out_dtype`"),
}
_UNARY_INT = {
    "abs_int32": (0, "|x|"),
    "negative_int32": (0, "-x"),
    "signbit_int32": (0, "1 if x < 0, else 0"),
    "unary_max_int32": (1, "max(x, n)"),
    "unary_min_int32": (1, "min(x, n)"),
    "bitwise_not": (0, "~x"),
    "bitwise_and": (1, "x & n"),
    "bitwise_or": (1, "x | n"),
    "bitwise_xor": (1, "x ^ n"),
    "left_shift": (1, "x << n"),
    "right_shift": (1, "x >> n, with the sign"),
    "fill_bitcast": (1, "the 32 bits of param0"),
    "fill_int": (1, "n"),
    "relu_max_int32": (1, "min(max(x, 0), n)"),
    "eqz_int32": (0, "x == 0"),
    "nez_int32": (0, "x != 0"),
    "relu_int32": (0, "max(x, 0)"),
    "relu_min_int32": (1, "max(x, n)"),
    "ltz_int32": (0, "x < 0"),
    "gtz_int32": (0, "x > 0"),
    "lez_int32": (0, "x <= 0"),
    "gez_int32": (0, "x >= 0"),
    "unary_eq_int32": (1, "x == n"),
    "unary_ne_int32": (1, "x != n"),
    "unary_gt_int32": (1, "x > n"),
    "unary_lt_int32": (1, "x < n"),
    "unary_ge_int32": (1, "x >= n"),
    "unary_le_int32": (1, "x <= n"),
    "clamp_int32": (2, "x limited to [param0, param1]"),
    "add_unary_int32": (1, "x + n"),
    "sub_unary_int32": (1, "x - n"),
    "rsub_unary_int32": (1, "n - x"),
    "logical_right_shift": (1, "x >> n, zeros shifted in"),
    "unary_max_uint32": (1, "max(x, n), without sign"),
    "unary_min_uint32": (1, "min(x, n), without sign"),
    "relu_max_uint32": (1, "min(x, n), without sign"),
    "relu_min_uint32": (1, "max(x, n), without sign"),
    "relu_max_uint16": (1, "min(x, n), without sign"),
    "relu_min_uint16": (1, "max(x, n), without sign"),
    "eqz_uint32": (0, "x == 0"),
    "nez_uint32": (0, "x != 0"),
    "eqz_uint16": (0, "x == 0 in 16 bits"),
    "nez_uint16": (0, "x != 0 in 16 bits"),
    "remainder_unary_uint32": (1, "x mod n, without sign"),
    "identity_uint32": (0, "x"),
}
_BINARY = {
    "add_binary": (0, "x + y"),
    "sub_binary": (0, "x - y"),
    "mul_binary": (0, "x * y"),
    "div_binary": (0, "x / y"),
    "rsub_binary": (0, "y - x"),
    "power_binary": (0, "x ** y"),
    "eq_binary": (0, "x == y"),
    "ne_binary": (0, "x != y"),
    "lt_binary": (0, "x < y"),
    "gt_binary": (0, "x > y"),
    "le_binary": (0, "x <= y"),
    "ge_binary": (0, "x >= y"),
    "binary_max": (0, "max(x, y)"),
    "binary_min": (0, "min(x, y)"),
    "xlogy_binary": (0, "x * ln(y)"),
    "mask_binary": (0, "x if y != 0 else 0"),
    "fmod_binary": (0, "x mod y, with the sign of x"),
    "remainder_binary": (0, "x mod y, with the sign of y"),
    "atan2_binary": (0, "angle of the point (y, x)"),
    "logaddexp_binary": (0, "ln(exp(x) + exp(y))"),
    "logaddexp2_binary": (0, "log2(2**x + 2**y)"),
}
_BINARY_INT = {
    "add_int": (0, "x + y"),
    "sub_int": (0, "x - y"),
    "mul_int": (0, "x * y"),
    "add_int32": (0, "x + y"),
    "sub_int32": (0, "x - y"),
    "mul_int32": (0, "x * y"),
    "add_uint32": (0, "x + y"),
    "sub_uint32": (0, "x - y"),
    "mul_uint32": (0, "x * y"),
    "add_uint16": (0, "x + y modulo 2**16"),
    "sub_uint16": (0, "x - y modulo 2**16"),
    "mul_uint16": (0, "x * y modulo 2**16"),
    "bitwise_and_binary": (0, "x & y"),
    "bitwise_or_binary": (0, "x | y"),
    "bitwise_xor_binary": (0, "x ^ y"),
    "binary_left_shift": (0, "x << y"),
    "binary_right_shift": (0, "x >> y, with the sign"),
    "binary_logical_right_shift": (0, "x >> y, zeros shifted in"),
    "binary_max_int32": (0, "max(x, y)"),
    "binary_min_int32": (0, "min(x, y)"),
    "gcd": (0, "greatest common divisor"),
    "lcm": (0, "least common multiple"),
    "div_int32_floor": (0, "x / y, rounded down"),
    "lt_int32": (0, "x < y"),
    "gt_int32": (0, "x > y"),
    "le_int32": (0, "x <= y"),
    "ge_int32": (0, "x >= y"),
    "eq_int32": (0, "x == y"),
    "ne_int32": (0, "x != y"),
    "lt_uint32": (0, "x < y, without sign"),
    "gt_uint32": (0, "x > y, without sign"),
    "le_uint32": (0, "x <= y, without sign"),
    "ge_uint32": (0, "x >= y, without sign"),
    "binary_max_uint32": (0, "max(x, y), without sign"),
    "binary_min_uint32": (0, "min(x, y), without sign"),
    "binary_clamped_right_shift": (0, "x >> min(y, 31), zeros shifted in"),
    "div_int32_trunc": (0, "x / y, rounded towards 0"),
    "remainder_int32": (0, "x mod y, with the sign of y"),
    "remainder_uint32": (0, "x mod y, without sign"),
    "fmod_int32": (0, "x mod y, with the sign of x"),
    "rsub_int32": (0, "y - x"),
    "rsub_uint16": (0, "y - x modulo 2**16"),
}
# of integers, whose result is a number
_BINARY_QUOTIENT = {"div_int32": (0, "x / y of integers, a float32")}
_TERNARY = {
    "where": (0, "y if x != 0 else z"),
    "addcmul": (1, "x + a * y * z"),
    "addcdiv": (1, "x + a * y / z"),
    "lerp": (0, "x + z * (y - x)"),
    "mac": (0, "x * y + z"),
    "where_int32": (0, "y if x != 0 else z, x an integer"),
}

SfpuUnary = IntEnum("SfpuUnary", [name.upper() for name in (*_UNARY, *_UNARY_INT)], start=0)
SfpuBinary = IntEnum("SfpuBinary", [name.upper() for name in (*_BINARY, *_BINARY_INT, *_BINARY_QUOTIENT)], start=0)
SfpuTernary = IntEnum("SfpuTernary", [name.upper() for name in _TERNARY], start=0)
FIRST_UNARY_INT, FIRST_BINARY_INT = len(_UNARY), len(_BINARY)
FIRST_BINARY_QUOTIENT = len(_BINARY) + len(_BINARY_INT)
N_UNARY, N_BINARY, N_TERNARY = len(SfpuUnary), len(SfpuBinary), len(SfpuTernary)

_FUNCTIONS = (
    (SfpuUnary, _UNARY | _UNARY_INT),
    (SfpuBinary, _BINARY | _BINARY_INT | _BINARY_QUOTIENT),
    (SfpuTernary, _TERNARY),
)
# API base name (X of X_tile and X_tile_init) -> (function, number of extra parameters)
SFPU_API = {
    name: (functions[name.upper()], extra) for functions, table in _FUNCTIONS for name, (extra, _) in table.items()
}


def formulas():
    """{API base name: its value}."""
    return {name: formula for _, table in _FUNCTIONS for name, (_, formula) in table.items()}


# --- data formats

NUMBERS = tuple(DataFormat[name] for name in "Float32 Float16 Float16_b Bfp8_b Bfp4_b Bfp2_b Tf32".split())
INTEGERS = (DataFormat.Int32, DataFormat.UInt32, DataFormat.UInt16)
# What a vector-unit cast converts: numbers arrive as float32 whatever their format
CASTS = (*NUMBERS, *INTEGERS, DataFormat.UInt8)


def _whole(int32, uint32=None, uint16=None):
    return dict(zip(INTEGERS, (int32, uint32 or int32, uint16 or uint32 or int32), strict=True))


def _numbers(name):
    return dict.fromkeys(NUMBERS, name)


# Calls that a data format, a template argument there, chooses a function for: {API base name: {format: function}}.  A format
# that is not listed has no such call (docs/hardware/kernel_api.md#data-formats-of-vector-calls).
BY_FORMAT = {
    "logical_not": _numbers("logical_not_unary") | _whole("eqz_int32", "eqz_uint32", "eqz_uint16"),
    "add_int": _whole("add_int", uint16="add_uint16"),
    "sub_int": _whole("sub_int", uint16="sub_uint16"),
    "rsub_int": _whole("rsub_int32", uint16="rsub_uint16"),
    "mul_int": _whole("mul_int", uint16="mul_uint16"),
    "fill_int": _whole("fill_int"),
    "bitwise_and": _whole("bitwise_and"),
    "bitwise_or": _whole("bitwise_or"),
    "bitwise_xor": _whole("bitwise_xor"),
    "bitwise_and_binary": _whole("bitwise_and_binary"),
    "bitwise_or_binary": _whole("bitwise_or_binary"),
    "bitwise_xor_binary": _whole("bitwise_xor_binary"),
    "left_shift": _whole("left_shift"),
    "right_shift": _whole("right_shift", "logical_right_shift"),
    "binary_left_shift": _whole("binary_left_shift"),
    "binary_right_shift": _whole("binary_right_shift", "binary_clamped_right_shift", "binary_right_shift"),
    "binary_logical_right_shift": _whole("binary_logical_right_shift"),
    "eq_int": _whole("eq_int32"),
    "ne_int": _whole("ne_int32"),
    "lt_int": _whole("lt_int32", "lt_uint32"),
    "gt_int": _whole("gt_int32", "gt_uint32"),
    "le_int": _whole("le_int32", "le_uint32"),
    "ge_int": _whole("ge_int32", "ge_uint32"),
    "where": _numbers("where") | _whole("where_int32"),
    "addcmul": _numbers("addcmul"),
    "addcdiv": _numbers("addcdiv"),
    "lerp": _numbers("lerp"),
    "mac": _numbers("mac"),
}
