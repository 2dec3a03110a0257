"""The vector unit's functions against their mathematical definitions in float64."""

import math

import numpy as np
import pytest

from sim.cores.data_format import DataFormat
from sim.cores.sfpu import (
    _BINARY,
    _UNARY,
    SfpuBinary,
    SfpuTernary,
    SfpuUnary,
    sfpu_binary,
    sfpu_ternary,
    sfpu_unary,
)

TILE = 1024
A, B, C = 0.75, 1.5, 20.0  # parameters of the functions that take some


def bits(value):
    return int(np.float32(value).view(np.uint32))


def words(values):
    """int32 patterns in float32 words, as Dst holds integers."""
    return np.asarray(values, np.int64).astype(np.uint32).view(np.float32)


def integers(tile):
    return tile.view(np.int32).astype(np.int64)


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def bessel(order, x):
    return sum((x / 2) ** (2 * k + order) / (math.factorial(k) * math.factorial(k + order)) for k in range(60))


def inverse_erf(y):
    low, high = -6.0, 6.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if math.erf(middle) < y else (low, middle)
    return middle


# name -> (definition, smallest x, largest x)
UNARY = {
    "exp": (math.exp, -10, 10), "exp2": (lambda x: 2.0**x, -10, 10), "expm1": (math.expm1, -5, 5),
    "log": (math.log, 0.01, 50), "log_with_base": (lambda x: math.log(x) * A, 0.01, 50), "log1p": (math.log1p, -0.9, 50),
    "sqrt": (math.sqrt, 0, 50), "rsqrt": (lambda x: 1 / math.sqrt(x), 0.01, 50), "recip": (lambda x: 1 / x, 0.1, 50),
    "cbrt": (lambda x: math.copysign(abs(x) ** (1 / 3), x), -50, 50), "square": (lambda x: x * x, -50, 50),
    "power": (lambda x: x**A, 0.1, 50), "rpow": (lambda x: A**x, -5, 5), "abs": (abs, -5, 5),
    "sign": (lambda x: math.copysign(x != 0, x), -5, 5), "signbit": (lambda x: x < 0, -5, 5),
    "negative": (lambda x: -x, -5, 5), "sin": (math.sin, -7, 7), "cos": (math.cos, -7, 7), "tan": (math.tan, -1.4, 1.4),
    "asin": (math.asin, -1, 1), "acos": (math.acos, -1, 1), "atan": (math.atan, -9, 9), "sinh": (math.sinh, -5, 5),
    "cosh": (math.cosh, -5, 5), "tanh": (math.tanh, -5, 5), "asinh": (math.asinh, -50, 50), "acosh": (math.acosh, 1, 50),
    "atanh": (math.atanh, -0.99, 0.99), "sigmoid": (sigmoid, -9, 9), "logsigmoid": (lambda x: math.log(sigmoid(x)), -9, 9),
    "gelu": (lambda x: x * (1 + math.erf(x / math.sqrt(2))) / 2, -5, 5), "quickgelu": (lambda x: x * sigmoid(1.702 * x), -5, 5),
    "silu": (lambda x: x * sigmoid(x), -9, 9), "relu": (lambda x: max(x, 0), -5, 5),
    "relu_max": (lambda x: min(max(x, 0), A), -5, 5), "relu_min": (lambda x: max(x, A), -5, 5),
    "leaky_relu": (lambda x: x if x >= 0 else A * x, -5, 5), "prelu": (lambda x: x if x >= 0 else A * x, -5, 5),
    "elu": (lambda x: x if x >= 0 else A * math.expm1(x), -5, 5),
    "selu": (lambda x: A * x if x >= 0 else A * B * math.expm1(x), -5, 5),
    "celu": (lambda x: max(x, 0) + min(0, A * math.expm1(x / A)), -5, 5),
    "softplus": (lambda x: math.log1p(math.exp(A * x)) * B, -5, 5), "softsign": (lambda x: x / (1 + abs(x)), -5, 5),
    "softshrink": (lambda x: math.copysign(max(abs(x) - A, 0), x), -5, 5), "hardtanh": (lambda x: min(max(x, A), B), -5, 5),
    "hardsigmoid": (lambda x: min(max(x / 6 + 0.5, 0), 1), -5, 5), "clamp": (lambda x: min(max(x, A), B), -5, 5),
    "hardmish": (lambda x: x * min(max(x + 2.8, 0), 5) / 5, -5, 5),
    "hardgelu": (lambda x: x * min(max(x / 2 + 0.5, 0), 1), -5, 5), "threshold": (lambda x: x if x > A else B, -5, 5),
    "heaviside": (lambda x: (x > 0) if x != 0 else A, -5, 5), "erf": (math.erf, -3, 3), "erfc": (math.erfc, -3, 3),
    "erfinv": (inverse_erf, -0.99, 0.99), "i0": (lambda x: bessel(0, x), -5, 5), "i1": (lambda x: bessel(1, x), -5, 5),
    "floor": (math.floor, -9, 9), "ceil": (math.ceil, -9, 9), "trunc": (math.trunc, -9, 9),
    "frac": (lambda x: x - math.trunc(x), -9, 9), "eqz": (lambda x: x == 0, -2, 2), "nez": (lambda x: x != 0, -2, 2),
    "ltz": (lambda x: x < 0, -2, 2), "gtz": (lambda x: x > 0, -2, 2), "lez": (lambda x: x <= 0, -2, 2),
    "gez": (lambda x: x >= 0, -2, 2), "unary_eq": (lambda x: x == A, -2, 2), "unary_ne": (lambda x: x != A, -2, 2),
    "unary_gt": (lambda x: x > A, -2, 2), "unary_lt": (lambda x: x < A, -2, 2), "unary_ge": (lambda x: x >= A, -2, 2),
    "unary_le": (lambda x: x <= A, -2, 2), "isinf": (math.isinf, -2, 2), "isposinf": (lambda x: x == math.inf, -2, 2),
    "isneginf": (lambda x: x == -math.inf, -2, 2), "isnan": (math.isnan, -2, 2), "isfinite": (math.isfinite, -2, 2),
    "logical_not_unary": (lambda x: x == 0, -2, 2), "fill": (lambda x: A, -2, 2), "identity": (lambda x: x, -2, 2),
    "add_unary": (lambda x: x + A, -2, 2), "sub_unary": (lambda x: x - A, -2, 2), "mul_unary": (lambda x: x * A, -2, 2),
    "div_unary": (lambda x: x * A, -2, 2),  # the host passes the reciprocal
    "rsub_unary": (lambda x: A - x, -2, 2), "rsub": (lambda x: A - x, -2, 2),
    "rdiv": (lambda x: A / x, 0.1, 2), "remainder": (lambda x: x - math.floor(x / A) * A, -2, 2),
    "fmod": (lambda x: math.fmod(x, A), -2, 2), "unary_max": (lambda x: max(x, A), -2, 2),
    "unary_min": (lambda x: min(x, A), -2, 2), "tanhshrink": (lambda x: x - math.tanh(x), -5, 5),
}  # fmt: skip
BINARY = {
    "add_binary": lambda x, y: x + y, "sub_binary": lambda x, y: x - y, "mul_binary": lambda x, y: x * y,
    "div_binary": lambda x, y: x / y, "rsub_binary": lambda x, y: y - x, "power_binary": lambda x, y: x**y,
    "eq_binary": lambda x, y: x == y, "ne_binary": lambda x, y: x != y, "lt_binary": lambda x, y: x < y,
    "gt_binary": lambda x, y: x > y, "le_binary": lambda x, y: x <= y, "ge_binary": lambda x, y: x >= y,
    "binary_max": max, "binary_min": min, "xlogy_binary": lambda x, y: x * math.log(y),
    "mask_binary": lambda x, y: x if y != 0 else 0,
}  # fmt: skip
ELSEWHERE = {"typecast", "round"}


def spread(low, high):
    """Values over a range, the ends, 0 and the parameters among them where they lie inside."""
    values = np.linspace(low, high, TILE)
    inside = [special for special in (0.0, A, B) if low <= special <= high]
    values[1 : 1 + len(inside)] = inside
    return values.astype(np.float32)


def test_every_function_is_covered():
    assert set(UNARY) | ELSEWHERE == set(_UNARY) and set(BINARY) == set(_BINARY)


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    definition, low, high = UNARY[name]
    x = spread(low, high)
    tile = x.copy()
    sfpu_unary(SfpuUnary[name.upper()], tile, 0, bits(A), bits(B), bits(C))
    expected = np.array([float(definition(float(value))) for value in x])
    np.testing.assert_allclose(tile, expected, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "expected"), [("isinf", 3), ("isposinf", 2), ("isneginf", 1), ("isnan", 1), ("isfinite", 1020)]
)
def test_classification_of_special_values(name, expected):
    tile = np.zeros(TILE, np.float32)
    tile[:4] = np.inf, np.inf, -np.inf, np.nan
    sfpu_unary(SfpuUnary[name.upper()], tile, 0, 0, 0, 0)
    assert tile.sum() == expected


@pytest.mark.parametrize("decimals", [-1, 0, 2])
def test_round(decimals):
    x = spread(-50, 50)
    tile = x.copy()
    sfpu_unary(SfpuUnary.ROUND, tile, 0, decimals & 0xFFFFFFFF, 0, 0)
    np.testing.assert_allclose(tile, np.round(x.astype(np.float64), decimals), rtol=1e-6)


@pytest.mark.parametrize("name", BINARY)
def test_binary(name):
    x, y = spread(0.1, 4), spread(0.1, 4)[::-1].copy()
    y[5:9] = x[5:9]
    dst = np.concatenate([x, y, np.zeros(TILE, np.float32)])
    sfpu_binary(SfpuBinary[name.upper()], dst, 0, TILE, 2 * TILE, 0)
    expected = [float(BINARY[name](float(a), float(b))) for a, b in zip(x, y, strict=True)]
    np.testing.assert_allclose(dst[2 * TILE :], expected, rtol=2e-6, atol=1e-6)


def test_ternary():
    rng = np.random.default_rng(0)
    x, y, z = (rng.uniform(0.5, 2, TILE).astype(np.float32) for _ in range(3))
    x[::3] = 0
    expected = {"where": np.where(x != 0, y, z), "addcmul": x + A * y * z, "addcdiv": x + A * y / z}
    for name, values in expected.items():
        dst = np.concatenate([x, y, z, np.zeros(TILE, np.float32)])
        sfpu_ternary(SfpuTernary[name.upper()], dst, 0, TILE, 2 * TILE, 3 * TILE, bits(A))
        np.testing.assert_allclose(dst[3 * TILE :], values, rtol=1e-6)


FLOAT, INT, UINT, SHORT = DataFormat.Float32, DataFormat.Int32, DataFormat.UInt32, DataFormat.UInt16


@pytest.mark.parametrize(
    ("source", "target", "value", "expected"),
    [
        (FLOAT, INT, -3.7, -3), (FLOAT, INT, 1e12, 2**31 - 1), (FLOAT, SHORT, -5.0, 0), (FLOAT, SHORT, 1e6, 65535),
        (INT, SHORT, 70_000, 65535), (INT, SHORT, 123, 123), (UINT, INT, -1, 2**31 - 1),
    ],
)  # fmt: skip
def test_typecast_to_integers(source, target, value, expected):
    tile = np.full(TILE, value, np.float32) if source == FLOAT else words(np.full(TILE, value))
    sfpu_unary(SfpuUnary.TYPECAST, tile, 0, source, target, 0)
    assert set(integers(tile)) == {expected}


@pytest.mark.parametrize(
    ("source", "value", "expected"), [(INT, -7, -7.0), (UINT, -1, 2.0**32), (SHORT, 65535, 65535.0)]
)
def test_typecast_to_floats(source, value, expected):
    tile = words(np.full(TILE, value))
    sfpu_unary(SfpuUnary.TYPECAST, tile, 0, source, FLOAT, 0)
    assert set(tile) == {expected}


def trunc_div(x, y):
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


INTEGER_BINARY = {
    "add_int32": lambda x, y: x + y, "sub_int32": lambda x, y: x - y, "mul_int32": lambda x, y: x * y,
    "bitwise_and_binary": lambda x, y: x & y, "bitwise_or_binary": lambda x, y: x | y,
    "bitwise_xor_binary": lambda x, y: x ^ y, "gcd": math.gcd, "lcm": math.lcm, "div_int32": trunc_div,
    "div_int32_floor": lambda x, y: x // y, "lt_int32": lambda x, y: x < y, "ge_int32": lambda x, y: x >= y,
    "binary_max_int32": max, "binary_min_int32": min,
}  # fmt: skip


@pytest.mark.parametrize("name", INTEGER_BINARY)
def test_integer_binary(name):
    rng = np.random.default_rng(1)
    x, y = (rng.integers(-1000, 1000, TILE) for _ in range(2))
    y[y == 0] = 1
    dst = np.concatenate([words(x), words(y), words(np.zeros(TILE))])
    sfpu_binary(SfpuBinary[name.upper()], dst, 0, TILE, 2 * TILE, 0)
    expected = [int(INTEGER_BINARY[name](int(a), int(b))) for a, b in zip(x, y, strict=True)]
    assert list(integers(dst[2 * TILE :])) == expected
