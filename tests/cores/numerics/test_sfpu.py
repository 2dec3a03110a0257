"""The vector unit's functions against their mathematical definitions in float64."""

import math

import numpy as np
import pytest

from tensim.sim.cores.numerics.data_format import DataFormat
from tensim.sim.cores.numerics.sfpu import (
    _BINARY,
    _UNARY,
    SfpuBinary,
    SfpuTernary,
    SfpuUnary,
    sfpu_binary,
    sfpu_ternary,
    sfpu_unary,
)
from tensim.sim.cores.operations import Approximation
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
    sfpu_unary(SfpuUnary.TYPECAST, Approximation.ACCURATE, tile, 0, source, target, 0)
    assert set(integers(tile)) == {expected}


@pytest.mark.parametrize(
    ("source", "value", "expected"), [(INT, -7, -7.0), (UINT, -1, 2.0**32), (SHORT, 65535, 65535.0)]
)
def test_typecast_to_floats(source, value, expected):
    tile = words(np.full(TILE, value))
    sfpu_unary(SfpuUnary.TYPECAST, Approximation.ACCURATE, tile, 0, source, FLOAT, 0)
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
