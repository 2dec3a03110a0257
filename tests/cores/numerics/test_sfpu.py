"""The vector unit's functions against their mathematical definitions in float64."""

import math

import numpy as np
import pytest

from tensim.sim.cores.numerics.data_format import DataFormat
from tensim.sim.cores.numerics.sfpu import sfpu_binary, sfpu_reduce, sfpu_ternary, sfpu_unary
from tensim.sim.cores.numerics.sfpu_functions import (
    _BINARY,
    _BINARY_INT,
    _TERNARY,
    _UNARY,
    _UNARY_INT,
    BY_FORMAT,
    SFPU_API,
    SfpuBinary,
    SfpuTernary,
    SfpuUnary,
)
from tensim.sim.cores.numerics.tile_order import tilize, untilize
from tensim.sim.cores.operations import Approximation, Pool, ReduceDim
from tests.cores.numerics.sfpu_definitions import BINARY, UNARY, A, B, C

TILE = 1024


def bits(value):
    return int(np.float32(value).view(np.uint32))


def words(values):
    """int32 patterns in float32 words, as Dst holds integers."""
    return np.asarray(values, np.int64).astype(np.uint32).view(np.float32)


def integers(tile):
    return tile.view(np.int32).astype(np.int64)


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
    sfpu_unary(SfpuUnary[name.upper()], Approximation.ACCURATE, tile, 0, bits(A), bits(B), bits(C))
    expected = np.array([float(definition(float(value))) for value in x])
    np.testing.assert_allclose(tile, expected, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "expected"), [("isinf", 3), ("isposinf", 2), ("isneginf", 1), ("isnan", 1), ("isfinite", 1020)]
)
def test_classification_of_special_values(name, expected):
    tile = np.zeros(TILE, np.float32)
    tile[:4] = np.inf, np.inf, -np.inf, np.nan
    sfpu_unary(SfpuUnary[name.upper()], Approximation.ACCURATE, tile, 0, 0, 0, 0)
    assert tile.sum() == expected


@pytest.mark.parametrize("decimals", [-1, 0, 2])
def test_round(decimals):
    x = spread(-50, 50)
    tile = x.copy()
    sfpu_unary(SfpuUnary.ROUND, Approximation.ACCURATE, tile, 0, decimals & 0xFFFFFFFF, 0, 0)
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
    expected = {
        "where": np.where(x != 0, y, z), "addcmul": x + A * y * z, "addcdiv": x + A * y / z, "lerp": x + z * (y - x),
        "mac": x * y + z, "where_int32": np.where(x.view(np.int32) != 0, y, z),
    }  # fmt: skip
    assert set(expected) == set(_TERNARY)
    for name, values in expected.items():
        dst = np.concatenate([x, y, z, np.zeros(TILE, np.float32)])
        sfpu_ternary(SfpuTernary[name.upper()], dst, 0, TILE, 2 * TILE, 3 * TILE, bits(A))
        np.testing.assert_allclose(dst[3 * TILE :], values, rtol=1e-6)


FLOAT, INT, UINT, SHORT = DataFormat.Float32, DataFormat.Int32, DataFormat.UInt32, DataFormat.UInt16
BYTE = DataFormat.UInt8


@pytest.mark.parametrize(
    ("source", "target", "value", "expected"),
    [
        (FLOAT, INT, -3.7, -3), (FLOAT, INT, 1e12, 2**31 - 1), (FLOAT, SHORT, -5.0, 0), (FLOAT, SHORT, 1e6, 65535),
        (FLOAT, INT, -1e12, -(2**31)), (FLOAT, UINT, -1.0, 0), (FLOAT, UINT, 4e9, 4e9), (FLOAT, UINT, 1e12, 2**32 - 1),
        (FLOAT, INT, math.nan, 2**31 - 1), (FLOAT, INT, -math.nan, -(2**31)), (FLOAT, SHORT, math.nan, 65535),
        (FLOAT, SHORT, 2.5, 3), (FLOAT, SHORT, 3.49, 3), (FLOAT, BYTE, -1.0, 255), (FLOAT, BYTE, 300.7, 44),
        (INT, SHORT, 70_000, 65535), (INT, SHORT, -4, 0), (UINT, SHORT, -4, 65535), (INT, SHORT, 123, 123), (INT, BYTE, 257, 1),
        (UINT, INT, -1, 2**32 - 1), (INT, UINT, -7, 2**32 - 7), (SHORT, INT, 65535, 65535),
    ],
)  # fmt: skip
def test_typecast_to_integers(source, target, value, expected):
    """Of floats a uint16 is rounded (SFPSTOCHRND), the others are cut; integers of 32 bits keep their bits."""
    tile = np.full(TILE, value, np.float32) if source == FLOAT else words(np.full(TILE, value))
    sfpu_unary(SfpuUnary.TYPECAST, Approximation.ACCURATE, tile, 0, source, target, 0)
    assert set(tile.view(np.uint32).astype(np.int64)) == {int(expected) % 2**32}


@pytest.mark.parametrize(
    ("source", "value", "expected"), [(INT, -7, -7.0), (UINT, -1, 2.0**32), (SHORT, 65535, 65535.0)]
)
def test_typecast_to_floats(source, value, expected):
    tile = words(np.full(TILE, value))
    sfpu_unary(SfpuUnary.TYPECAST, Approximation.ACCURATE, tile, 0, source, FLOAT, 0)
    assert set(tile) == {expected}


# --- integers: definitions in Python's own, of which the low 32 bits count

ENDS = [0, 1, -1, 2, -2, 7, 31, 32, 65535, 65536, 2**31 - 1, -(2**31), -(2**31) + 1, 2**24 + 1]


def trunc_div(x, y):
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1) if y else 0


def unsigned(function):
    return lambda *operands: function(*(value % 2**32 for value in operands))


def shift_within(function):
    """No shift by a negative distance, or by 32 and more."""
    return lambda x, y: function(x, y) if 0 <= y < 32 else 0


INTEGER_BINARY = {
    "add_int": lambda x, y: x + y, "sub_int": lambda x, y: x - y, "mul_int": lambda x, y: x * y,
    "add_int32": lambda x, y: x + y, "sub_int32": lambda x, y: x - y, "mul_int32": lambda x, y: x * y,
    "add_uint32": lambda x, y: x + y, "sub_uint32": lambda x, y: x - y, "mul_uint32": lambda x, y: x * y,
    "add_uint16": lambda x, y: (x + y) % 2**16, "sub_uint16": lambda x, y: (x - y) % 2**16,
    "mul_uint16": lambda x, y: (x * y) % 2**16, "rsub_int32": lambda x, y: y - x, "rsub_uint16": lambda x, y: (y - x) % 2**16,
    "bitwise_and_binary": lambda x, y: x & y, "bitwise_or_binary": lambda x, y: x | y,
    "bitwise_xor_binary": lambda x, y: x ^ y, "gcd": math.gcd, "lcm": math.lcm,
    "binary_left_shift": shift_within(lambda x, y: x << y), "binary_right_shift": shift_within(lambda x, y: x >> y),
    "binary_logical_right_shift": shift_within(lambda x, y: x % 2**32 >> y),
    "binary_clamped_right_shift": unsigned(lambda x, y: x >> min(y, 31)),
    "div_int32_trunc": trunc_div, "div_int32_floor": lambda x, y: x // y if y else 0,
    "remainder_int32": lambda x, y: x % y if y else 0, "fmod_int32": lambda x, y: x - trunc_div(x, y) * y if y else 0,
    "remainder_uint32": unsigned(lambda x, y: x % y if y else 0),
    "eq_int32": lambda x, y: x == y, "ne_int32": lambda x, y: x != y, "lt_int32": lambda x, y: x < y,
    "gt_int32": lambda x, y: x > y, "le_int32": lambda x, y: x <= y, "ge_int32": lambda x, y: x >= y,
    "lt_uint32": unsigned(lambda x, y: x < y), "gt_uint32": unsigned(lambda x, y: x > y),
    "le_uint32": unsigned(lambda x, y: x <= y), "ge_uint32": unsigned(lambda x, y: x >= y),
    "binary_max_int32": max, "binary_min_int32": min, "binary_max_uint32": unsigned(max), "binary_min_uint32": unsigned(min),
}  # fmt: skip
P, Q = -3, 40_000  # parameters of functions of one integer
INTEGER_UNARY = {
    "abs_int32": abs, "negative_int32": lambda x: -x, "signbit_int32": lambda x: x < 0, "unary_max_int32": lambda x: max(x, P),
    "unary_min_int32": lambda x: min(x, P), "bitwise_not": lambda x: ~x, "bitwise_and": lambda x: x & P,
    "bitwise_or": lambda x: x | P, "bitwise_xor": lambda x: x ^ P, "fill_bitcast": lambda x: P, "fill_int": lambda x: P,
    "relu_int32": lambda x: max(x, 0), "relu_max_int32": lambda x: min(max(x, 0), P), "relu_min_int32": lambda x: max(x, P),
    "eqz_int32": lambda x: x == 0, "nez_int32": lambda x: x != 0, "ltz_int32": lambda x: x < 0, "gtz_int32": lambda x: x > 0,
    "lez_int32": lambda x: x <= 0, "gez_int32": lambda x: x >= 0, "unary_eq_int32": lambda x: x == P,
    "unary_ne_int32": lambda x: x != P, "unary_gt_int32": lambda x: x > P, "unary_lt_int32": lambda x: x < P,
    "unary_ge_int32": lambda x: x >= P, "unary_le_int32": lambda x: x <= P, "clamp_int32": lambda x: min(max(x, P), Q),
    "add_unary_int32": lambda x: x + P, "sub_unary_int32": lambda x: x - P, "rsub_unary_int32": lambda x: P - x,
    "unary_max_uint32": lambda x: max(x % 2**32, P % 2**32), "unary_min_uint32": lambda x: min(x % 2**32, P % 2**32),
    "relu_max_uint32": lambda x: min(x % 2**32, P % 2**32), "relu_min_uint32": lambda x: max(x % 2**32, P % 2**32),
    "relu_max_uint16": lambda x: min(x % 2**32, P % 2**32), "relu_min_uint16": lambda x: max(x % 2**32, P % 2**32),
    "eqz_uint32": lambda x: x == 0, "nez_uint32": lambda x: x != 0, "eqz_uint16": lambda x: x % 2**16 == 0,
    "nez_uint16": lambda x: x % 2**16 != 0, "remainder_unary_uint32": lambda x: x % 2**32 % (P % 2**32),
    "identity_uint32": lambda x: x, "left_shift": lambda x: 0, "right_shift": lambda x: x >> 31,
    "logical_right_shift": lambda x: x % 2**32 >> 31,
}  # fmt: skip


def integers_of_both_signs(seed):
    rng = np.random.default_rng(seed)
    drawn = np.where(rng.random(TILE) < 0.5, rng.integers(-100, 100, TILE), rng.integers(-(2**31), 2**31, TILE))
    ends = np.resize(ENDS, len(ENDS) ** 2) if seed else np.repeat(ENDS, len(ENDS))
    drawn[: len(ends)] = ends
    return drawn


def test_every_function_of_integers_is_covered():
    assert set(INTEGER_UNARY) == set(_UNARY_INT) and set(INTEGER_BINARY) == set(_BINARY_INT)


@pytest.mark.parametrize("name", INTEGER_UNARY)
def test_integer_unary(name):
    x = integers_of_both_signs(0)
    tile = words(x)
    sfpu_unary(SfpuUnary[name.upper()], Approximation.ACCURATE, tile, 0, P % 2**32, Q, 0)
    assert [int(INTEGER_UNARY[name](int(value))) % 2**32 for value in x] == list(tile.view(np.uint32))


@pytest.mark.parametrize("name", INTEGER_BINARY)
def test_integer_binary(name):
    x, y = integers_of_both_signs(0), integers_of_both_signs(1)
    dst = np.concatenate([words(x), words(y), words(np.zeros(TILE))])
    sfpu_binary(SfpuBinary[name.upper()], dst, 0, TILE, 2 * TILE, True)
    expected = [int(INTEGER_BINARY[name](int(a), int(b))) % 2**32 for a, b in zip(x, y, strict=True)]
    assert list(dst[2 * TILE :].view(np.uint32)) == expected


@pytest.mark.parametrize(
    ("x", "y", "expected"), [(7, 2, 3.5), (-9, 4, -2.25), (6, 3, 2.0), (5, 0, math.inf), (-5, 0, -math.inf)]
)
def test_quotient_of_integers_is_a_number(x, y, expected):
    dst = np.concatenate([words(np.full(TILE, x)), words(np.full(TILE, y)), words(np.zeros(TILE))])
    sfpu_binary(SfpuBinary.DIV_INT32, dst, 0, TILE, 2 * TILE, True)
    assert set(dst[2 * TILE :]) == {expected}


# --- what data formats choose, reductions


def test_every_format_chooses_a_function_of_the_table():
    assert {name for functions in BY_FORMAT.values() for name in functions.values()} <= set(SFPU_API)


def test_order_of_special_numbers():
    """By sign and magnitude: -0 below +0, NaN beyond infinity."""
    numbers = np.array([np.float32(-np.nan), -np.inf, -1, -0.0, 0.0, 1, np.inf, np.nan], np.float32)
    for low, x in enumerate(numbers):
        for high in range(low, len(numbers)):
            dst = np.concatenate([np.full(TILE, x), np.full(TILE, numbers[high]), np.zeros(TILE)]).astype(np.float32)
            for function, expected in ((SfpuBinary.BINARY_MAX, numbers[high]), (SfpuBinary.BINARY_MIN, x)):
                sfpu_binary(function, dst, 0, TILE, 2 * TILE, True)
                assert dst[2 * TILE].view(np.uint32) == expected.view(np.uint32)


def reduced(pool, dim, data_format, tile):
    """What the vector unit makes of a 32 x 32 array of words: the line of results."""
    dst, spare = tilize(tile, 32, 32).copy(), np.zeros(TILE, np.float32)
    sfpu_reduce(pool, dim, data_format, dst, 0, spare, 0)
    array = untilize(dst, 32, 32).reshape(32, 32)
    return (array[:, 0] if dim == ReduceDim.ROW else array[0]).copy()


@pytest.mark.parametrize("dim", [ReduceDim.ROW, ReduceDim.COL])
@pytest.mark.parametrize("pool", list(Pool))
def test_reduction_of_numbers(pool, dim):
    tile = np.random.default_rng(3).normal(size=(32, 32)).astype(np.float32)
    axis = 1 if dim == ReduceDim.ROW else 0
    expected = {Pool.SUM: np.sum, Pool.AVG: np.mean, Pool.MAX: np.max, Pool.MIN: np.min}[pool](tile, axis=axis)
    np.testing.assert_allclose(reduced(pool, dim, FLOAT, tile), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dim", [ReduceDim.ROW, ReduceDim.COL])
@pytest.mark.parametrize("pool", list(Pool))
@pytest.mark.parametrize(("form", "low", "high"), [(INT, -(2**31), 2**31), (UINT, 0, 2**32), (SHORT, 0, 2**16)])
def test_reduction_of_integers(form, low, high, pool, dim):
    """Signs and both ends of the range; sums wrap, an average of a column cuts towards zero."""
    if pool == Pool.AVG and dim == ReduceDim.ROW:
        pytest.skip("no such reduction (tests/cores/tensix/test_values.py)")
    whole = np.random.default_rng(4).integers(low, high, (32, 32))
    whole[0, :2], whole[1, 1] = (low, high - 1), low
    axis = 1 if dim == ReduceDim.ROW else 0
    sums = (whole.sum(axis) - low) % (high - low) + low
    average = np.where(sums < 0, -(-sums // 32), sums // 32)
    expected = {Pool.SUM: sums, Pool.AVG: average, Pool.MAX: whole.max(axis), Pool.MIN: whole.min(axis)}[pool]
    found = reduced(pool, dim, form, words(whole.reshape(-1)).reshape(32, 32))
    assert list(found.view(np.uint32).astype(np.int64)) == list(expected % 2**32)
