"""The vector unit between loads from and stores to Dst (`numerics=exact`, docs/hardware/numerics.md#vector-unit)."""

from pathlib import Path

import numpy as np
import pytest

from tensim.sim.cores.numerics.data_format import DataFormat
from tensim.sim.cores.numerics.matrix_unit import INTEGER, NARROW, OPAQUE, WIDE
from tensim.sim.cores.numerics.sfpu_exact import (
    sfpu_binary_exact,
    sfpu_reduce_exact,
    sfpu_ternary_exact,
    sfpu_unary_exact,
)
from tensim.sim.cores.numerics.sfpu_functions import _BINARY, _UNARY, SfpuBinary, SfpuTernary, SfpuUnary
from tensim.sim.cores.numerics.tensix_exact import dst_kind, set_dst_kind
from tensim.sim.cores.numerics.tile_order import tilize, untilize
from tensim.sim.cores.operations import Approximation, Pool, ReduceDim
from tensim.sim.cores.tensix.queue_state import QUEUE

TILE = 1024
SMALLEST = np.float32(2.0**-126)
PAGE = Path(__file__).parents[3] / "docs" / "numerics.md"


def core(wide=False, kinds=(WIDE, WIDE, WIDE, WIDE)):
    record = np.zeros(1, QUEUE)[0]
    record["fp32_dest"] = wide
    for tile, kind in enumerate(kinds):
        set_dst_kind(record, tile, kind)
    return record


def apply(record, name, x, *parameters):
    """A unary function of 1024 words; returns the words that Dst holds afterwards."""
    dst = np.asarray(x, np.uint32).view(np.float32).copy()
    words = (*parameters, 0, 0, 0)[:3]
    sfpu_unary_exact(record, int(SfpuUnary[name]), int(Approximation.ACCURATE), dst, 0, 0, *words)
    return dst.view(np.uint32)


def words(values):
    return np.resize(np.asarray(values, np.float32), TILE).view(np.uint32)


def half_words(values):
    """fp16 patterns in Dst words: exponent in the lower five bits of its field."""
    bits = np.resize(np.asarray(values, np.float16), TILE).view(np.uint16).astype(np.uint32)
    return bits >> 15 << 31 | (bits & 0x7FFF) << 13


def test_a_16_bit_dst_takes_results_by_truncation():
    x = words(np.linspace(-3, 3, TILE)) & 0xFFFF0000
    whole, cut = apply(core(wide=True), "SQUARE", x), apply(core(), "SQUARE", x)
    assert np.array_equal(cut, whole & 0xFFFF0000) and not np.array_equal(cut, whole)


@pytest.mark.parametrize("dim, kept", [(ReduceDim.ROW, (32, 1)), (ReduceDim.COL, (1, 32)), (ReduceDim.SCALAR, (1, 1))])
def test_a_tile_is_reduced_in_place_and_cut_to_a_16_bit_dst(dim, kept):
    values = np.random.default_rng(5).standard_normal((32, 32)).astype(np.float32)
    axis = {ReduceDim.ROW: 1, ReduceDim.COL: 0, ReduceDim.SCALAR: None}[dim]
    expected = np.zeros((32, 32))
    expected[: kept[0], : kept[1]] = values.sum(axis=axis, keepdims=True)
    whole, cut = tilize(values, 32, 32).copy(), tilize(values, 32, 32).view(np.uint32) & 0xFFFF0000
    sfpu_reduce_exact(
        core(wide=True), int(Pool.SUM), int(dim), int(DataFormat.Float32), whole, 0, 0, np.zeros(1024, np.float32), 0
    )
    assert np.allclose(untilize(whole, 32, 32).reshape(32, 32), expected, atol=1e-4)
    cut = cut.view(np.float32)
    sfpu_reduce_exact(
        core(), int(Pool.SUM), int(dim), int(DataFormat.Float32), cut, 0, 0, np.zeros(1024, np.float32), 0
    )
    assert not (cut.view(np.uint32) & 0xFFFF).any() and cut.any()


def test_zeros_keep_their_signs():
    """-0 in Dst, a negative denormal on its way in, and one on its way out."""
    below = words([-0.0, -SMALLEST / 2, 0.0])
    assert np.array_equal(apply(core(wide=True), "SIGNBIT", below), words([1, 1, 0]))
    half = int(np.float32(0.5).view(np.uint32))
    assert np.array_equal(apply(core(wide=True), "MUL_UNARY", words([-SMALLEST, SMALLEST]), half), words([-0.0, 0.0]))


def test_denormals_are_zero_on_both_ways():
    tiny = words([SMALLEST / 2, SMALLEST, -SMALLEST])
    two = int(np.float32(2.0).view(np.uint32))
    found = apply(core(wide=True), "MUL_UNARY", tiny, two)
    assert np.array_equal(found.view(np.float32)[:3], [0, 2 * SMALLEST, -2 * SMALLEST])
    half = int(np.float32(0.5).view(np.uint32))
    assert not (apply(core(wide=True), "MUL_UNARY", tiny, half) & 0x7FFFFFFF).any()


def test_fp16_tiles_are_widened_cut_and_saturate():
    """+65536 and more is an ordinary binade of this fp16; beyond it, the largest number."""
    record = core(kinds=[NARROW])
    assert np.array_equal(apply(record, "NEGATIVE", half_words([1.5, -0.25, 300])), half_words([-1.5, 0.25, -300]))
    assert dst_kind(record, 0) == NARROW
    found = apply(core(kinds=[NARROW]), "SQUARE", half_words([2.0**8, 2.0**10]))
    assert found[0] == 31 << 23 and found[1] == (31 << 23 | 1023 << 13)


@pytest.mark.parametrize(("kind", "word"), [(INTEGER, 1 << 31 | 5), (OPAQUE, -5 & 0xFFFFFFFF)])
def test_integers_are_twos_complement_inside(kind, word):
    record = core(kinds=[kind])
    assert set(apply(record, "ABS_INT32", np.full(TILE, word, np.uint32))) == {5} and dst_kind(record, 0) == OPAQUE


def test_typecast_changes_what_a_tile_holds():
    record = core()
    found = apply(record, "TYPECAST", words([-3.5, 7.0]), int(DataFormat.Float16_b), int(DataFormat.Int32))
    assert list(found[:2].view(np.int32)) == [-3, 7] and dst_kind(record, 0) == OPAQUE
    found = apply(record, "TYPECAST", found, int(DataFormat.Int32), int(DataFormat.Float16_b))
    assert list(found[:2].view(np.float32)) == [-3, 7] and dst_kind(record, 0) == WIDE


@pytest.mark.parametrize("tiles", [(0, 1, 2), (0, 0, 1), (0, 1, 0), (1, 1, 1)])
def test_operands_of_fp16_keep_their_bits(tiles):
    """Two tiles into a third, or into one of themselves."""
    a, b, out = tiles
    record = core(kinds=[NARROW] * 3)
    values = [np.full(TILE, value) for value in (1.5, 2.25, 9.0)]
    dst = np.concatenate([half_words(value) for value in values]).view(np.float32)
    sfpu_binary_exact(record, int(SfpuBinary.ADD_BINARY), dst, 0, a, b, out, 0)
    values[out] = values[a] + values[b]
    assert np.array_equal(dst.view(np.uint32), np.concatenate([half_words(value) for value in values]))
    assert all(dst_kind(record, tile) == NARROW for tile in {a, b, out})


def test_where_takes_a_condition_of_integers():
    record = core(kinds=[OPAQUE, WIDE, WIDE, WIDE])
    dst = np.zeros(4 * TILE, np.float32)
    dst[:TILE].view(np.uint32)[::2] = 1
    dst[TILE : 2 * TILE], dst[2 * TILE : 3 * TILE] = 3.0, 4.0
    sfpu_ternary_exact(record, int(SfpuTernary.WHERE), dst, 0, 0, 1, 2, 3, 0)
    assert set(dst[3 * TILE :: 2]) == {3.0} and set(dst[3 * TILE + 1 :: 2]) == {4.0}


def test_the_table_of_errors_has_every_function():
    rows = {line.split("|")[1].strip() for line in PAGE.read_text().splitlines() if line.startswith("| ")}
    assert set(_UNARY) | set(_BINARY) <= rows | {"typecast", "round"}
