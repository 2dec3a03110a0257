"""What `numerics=fast` computes better than the chip is told in a result's warnings, and only that."""

import numpy as np
import pytest

import tensim as tt
from tensim.sim.cores.numerics.host_formats import decode, encode
from tests.cores.tensix.test_compute import run, scaler_tiles, section, tiles

BF16 = tt.DataFormat.Float16_b
LOAD = "copy_tile(0, 0, 0)"
EXP = ("exp_tile_init()", "exp_tile(0)")
MANY, FEW = 16, 15


def warnings(lines, numerics="fast", data_format=BF16, fp32_dest=False):
    device = tt.create_device(0, numerics=numerics, max_cycles=5_000_000)
    try:
        inputs = {0: tiles(1, data_format)[1], 1: tiles(2, data_format)[1], 2: scaler_tiles(data_format)}
        with tt.measure(device) as measured:
            run(device, lines, inputs, 1, data_format, fp32_dest)
        return measured.result.warnings
    finally:
        tt.close_device(device)


SENSITIVE = {
    "exp of a difference": ("sub_tiles(0, 1, 0, 0, 0)", *EXP),
    "exp of a product": ("mul_tiles(0, 1, 0, 0, 0)", *EXP),
    "exp of a matrix product": ("matmul_tiles(0, 1, 0, 0, 0)", *EXP),
    "approximate, too": ("sub_tiles(0, 1, 0, 0, 0)", "exp_tile_init(approx=1)", "exp_tile(0, approx=1)"),
    "log of a sum": (LOAD, *EXP, "add_unary_tile(0, 0x3F800000)", "log_tile_init()", "log_tile(0)"),
    "exp of a copy inside Dst": ("sub_tiles(0, 1, 0, 0, 1)", "copy_dest_values(1, 0)", *EXP),
    "exp2 of a scaled number": (LOAD, "mul_unary_tile(0, 0x3FB8AA3B)", "exp2_tile_init()", "exp2_tile(0)"),
}  # fmt: skip
LONG = {
    "matrix products": ("for _ in range({n}):", "    matmul_tiles(0, 1, 0, 0, 0)"),
    "products": ("for _ in range({n}):", "    mul_tiles(0, 1, 0, 0, 0)"),
    "reductions": ("for _ in range({n}):", "    reduce_tile(0, 2, 0, 0, 0)"),
    "sums with a tile from L1": ("for _ in range({n}):", "    binary_dest_reuse_tiles(0, 0, 0)"),
    "sums in the vector unit": ("copy_tile(0, 0, 1)", "for _ in range({n}):", "    add_binary_tile(0, 1, 0)"),
}
QUIET = {
    "exp of what was copied": (LOAD, *EXP),
    "exp of a maximum": ("reduce_tile(0, 2, 0, 0, 0, pool=PoolType.MAX, dim=ReduceDim.REDUCE_ROW)", *EXP),
    "exp of a magnitude": (LOAD, "abs_tile(0)", *EXP),
    "functions in a chain": (LOAD, "abs_tile(0)", "sqrt_tile_init()", "sqrt_tile(0)", "recip_tile_init()", "recip_tile(0)"),
    "exp behind another section's product": (
        "matmul_tiles(0, 1, 0, 0, 0)", "tile_regs_commit()", "tile_regs_wait()", "tile_regs_release()", "tile_regs_acquire()",
        LOAD, *EXP,
    ),
    "a tile that is written again": ("mul_tiles(0, 1, 0, 0, 0)", LOAD, *EXP),
}  # fmt: skip


@pytest.mark.parametrize("name", SENSITIVE)
def test_sensitive_functions_of_rounded_numbers(name):
    (text,) = warnings(section(*SENSITIVE[name]))
    assert "exponentials or logarithms of numbers computed in a 16-bit Dst" in text and "1 tiles" in text


@pytest.mark.parametrize("name", LONG)
def test_long_sums(name):
    many, few = (section(*(line.format(n=n) for line in LONG[name])) for n in (MANY, FEW))
    (text,) = warnings(many)
    assert "sums of more than 15 tiles in a 16-bit Dst (1 tiles beyond these)" in text
    assert warnings(few) == []


@pytest.mark.parametrize("name", QUIET)
def test_what_fast_hides_little_of(name):
    assert warnings(section(*QUIET[name])) == []


@pytest.mark.parametrize(
    "lines", [SENSITIVE["exp of a difference"], tuple(x.format(n=40) for x in LONG["matrix products"])]
)
def test_no_word_where_nothing_is_hidden(lines):
    assert warnings(section(*lines), numerics="exact") == []
    assert warnings(section(*lines), numerics="off") == []
    assert warnings(section(*lines), data_format=tt.DataFormat.Float32, fp32_dest=True) == []


def test_an_interval_has_its_own():
    device = tt.create_device(0, numerics="fast", max_cycles=5_000_000)
    try:
        inputs = {0: tiles(1, BF16)[1], 1: tiles(2, BF16)[1], 2: scaler_tiles(BF16)}
        found = []
        for lines in (SENSITIVE["exp of a difference"], QUIET["exp of what was copied"]):
            with tt.measure(device) as measured:
                run(device, section(*lines), inputs, 1, BF16, False)
            found.append(len(measured.result.warnings))
        assert found == [1, 0]
    finally:
        tt.close_device(device)


def test_how_far_off_the_chip_is():
    """The figures of docs/numerics.md: exp(x - largest of a row), and 32 products in a sum."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(32, 32)).astype(np.float32) * 4
    errors = {}
    for numerics in ("fast", "exact"):
        device = tt.create_device(0, numerics=numerics, max_cycles=5_000_000)
        try:
            data = encode(x, BF16)
            held = decode(data, BF16, (32, 32)).astype(np.float64)
            largest = held.max(1, keepdims=True)
            inputs = {0: data, 1: encode(np.repeat(largest, 32, 1).astype(np.float32), BF16), 2: scaler_tiles(BF16)}
            lines = section("sub_tiles_bcast_cols(0, 1, 0, 0, 0)", *EXP)
            found = decode(run(device, lines, inputs, 1, BF16, False), BF16, (32, 32)).astype(np.float64)
            errors[numerics] = np.abs(found / np.exp(held - largest) - 1).max()
        finally:
            tt.close_device(device)
    assert errors["fast"] < 0.004 and 0.03 < errors["exact"] < 0.15
