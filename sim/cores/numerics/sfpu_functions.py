"""The vector unit's functions by name: their numbers, their parameters, and which one a data format chooses.

Names and argument order are tt-metal's (docs/hardware/kernel_api.md#unary-sfpu-calls and
docs/hardware/kernel_api.md#binary-sfpu-calls).  Parameters are 32-bit patterns: float bits, or integers where the function
says so.  Functions of integers work on the int32 bit patterns of the same words; a uint16 is such a word, too.
"""

from enum import IntEnum

from tensim.sim.cores.numerics.data_format import DataFormat

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
    "hardshrink": 1, "hardswish": 0, "mish": 0, "rdiv_trunc": 1, "rdiv_floor": 1,
    "typecast": 2,
}  # fmt: skip
_UNARY_INT = {
    "abs_int32": 0, "negative_int32": 0, "signbit_int32": 0, "unary_max_int32": 1, "unary_min_int32": 1, "bitwise_not": 0,
    "bitwise_and": 1, "bitwise_or": 1, "bitwise_xor": 1, "left_shift": 1, "right_shift": 1, "fill_bitcast": 1, "fill_int": 1,
    "relu_max_int32": 1, "eqz_int32": 0, "nez_int32": 0, "relu_int32": 0, "relu_min_int32": 1, "ltz_int32": 0, "gtz_int32": 0,
    "lez_int32": 0, "gez_int32": 0, "unary_eq_int32": 1, "unary_ne_int32": 1, "unary_gt_int32": 1, "unary_lt_int32": 1,
    "unary_ge_int32": 1, "unary_le_int32": 1, "clamp_int32": 2, "add_unary_int32": 1, "sub_unary_int32": 1,
    "rsub_unary_int32": 1, "logical_right_shift": 1, "unary_max_uint32": 1, "unary_min_uint32": 1, "relu_max_uint32": 1,
    "relu_min_uint32": 1, "relu_max_uint16": 1, "relu_min_uint16": 1, "eqz_uint32": 0, "nez_uint32": 0, "eqz_uint16": 0,
    "nez_uint16": 0, "remainder_unary_uint32": 1, "identity_uint32": 0,
}  # fmt: skip
_BINARY = {
    "add_binary": 0, "sub_binary": 0, "mul_binary": 0, "div_binary": 0, "rsub_binary": 0, "power_binary": 0,
    "eq_binary": 0, "ne_binary": 0, "lt_binary": 0, "gt_binary": 0, "le_binary": 0, "ge_binary": 0, "binary_max": 0,
    "binary_min": 0, "xlogy_binary": 0, "mask_binary": 0, "fmod_binary": 0, "remainder_binary": 0, "atan2_binary": 0,
    "logaddexp_binary": 0, "logaddexp2_binary": 0,
}  # fmt: skip
_BINARY_INT = {
    "add_int": 0, "sub_int": 0, "mul_int": 0, "add_int32": 0, "sub_int32": 0, "mul_int32": 0, "add_uint32": 0,
    "sub_uint32": 0, "mul_uint32": 0, "add_uint16": 0, "sub_uint16": 0, "mul_uint16": 0, "bitwise_and_binary": 0,
    "bitwise_or_binary": 0, "bitwise_xor_binary": 0, "binary_left_shift": 0, "binary_right_shift": 0,
    "binary_logical_right_shift": 0, "binary_max_int32": 0, "binary_min_int32": 0, "gcd": 0, "lcm": 0,
    "div_int32_floor": 0, "lt_int32": 0, "gt_int32": 0, "le_int32": 0, "ge_int32": 0, "eq_int32": 0, "ne_int32": 0,
    "lt_uint32": 0, "gt_uint32": 0, "le_uint32": 0, "ge_uint32": 0, "binary_max_uint32": 0, "binary_min_uint32": 0,
    "binary_clamped_right_shift": 0, "div_int32_trunc": 0, "remainder_int32": 0, "remainder_uint32": 0, "fmod_int32": 0,
    "rsub_int32": 0, "rsub_uint16": 0,
}  # fmt: skip
_BINARY_QUOTIENT = {"div_int32": 0}  # of integers, whose result is a number
_TERNARY = {"where": 0, "addcmul": 1, "addcdiv": 1, "lerp": 0, "mac": 0, "where_int32": 0}

SfpuUnary = IntEnum("SfpuUnary", [name.upper() for name in (*_UNARY, *_UNARY_INT)], start=0)
SfpuBinary = IntEnum("SfpuBinary", [name.upper() for name in (*_BINARY, *_BINARY_INT, *_BINARY_QUOTIENT)], start=0)
SfpuTernary = IntEnum("SfpuTernary", [name.upper() for name in _TERNARY], start=0)
FIRST_UNARY_INT, FIRST_BINARY_INT = len(_UNARY), len(_BINARY)
FIRST_BINARY_QUOTIENT = len(_BINARY) + len(_BINARY_INT)
N_UNARY, N_BINARY, N_TERNARY = len(SfpuUnary), len(SfpuBinary), len(SfpuTernary)

# API base name (X of X_tile and X_tile_init) -> (function, number of extra parameters)
SFPU_API = {
    name: (functions[name.upper()], extra)
    for functions, names in (
        (SfpuUnary, _UNARY | _UNARY_INT),
        (SfpuBinary, _BINARY | _BINARY_INT | _BINARY_QUOTIENT),
        (SfpuTernary, _TERNARY),
    )
    for name, extra in names.items()
}

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
