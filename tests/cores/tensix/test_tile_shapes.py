"""Tiles that are not 32x32: operations number by number compute with all, those that move numbers within a tile refuse theirs."""

import numpy as np
import pytest

import tensim as tt
from tensim.sim.cores.numerics.host_formats import encode
from tensim.sim.errors import ProgramError
from tests.cores.tensix.test_compute import IN0, IN1, SCALERS, run, section

BF16 = tt.DataFormat.Float16_b
OTHERS = [(8, 32), (32, 16), (16, 16), (1, 32)]


@pytest.fixture(params=["fast", "exact"])
def device(request):
    device = tt.create_device(0, numerics=request.param, max_cycles=5_000_000)
    yield device
    tt.close_device(device)


def tile_of(value, shape):
    return encode(np.full((32, 32), value), BF16)[: 2 * shape[0] * shape[1]]


def outcome(device, shape, *calls, pack="pack_tile(0, 16)"):
    """Bytes of the tile that a section packs; operands are full of 1 and 2."""
    inputs = {IN0: tile_of(1.0, shape), IN1: tile_of(2.0, shape), SCALERS: tile_of(1.0, shape)}
    return run(device, section(*calls, pack=pack), inputs, 1, BF16, False, tile=shape)


@pytest.mark.parametrize("shape", [*OTHERS, (16, 32), (32, 32)])
def test_a_sum_number_by_number_is_right_in_all_shapes(device, shape):
    assert outcome(device, shape, "add_tiles(0, 1, 0, 0, 0)") == tile_of(3.0, shape)


@pytest.mark.parametrize("shape", OTHERS)
@pytest.mark.parametrize(
    ("call", "pack"),
    [
        ("matmul_tiles(0, 1, 0, 0, 0)", "pack_tile(0, 16)"),
        ("matmul_block(0, 1, 0, 0, 0, 0, 1, 1, 1)", "pack_tile(0, 16)"),
        ("reduce_tile(0, 2, 0, 0, 0, dim=ReduceDim.REDUCE_ROW)", "pack_tile(0, 16)"),
        ("add_tiles_bcast(0, 1, 0, 0, 0, dim=BroadcastType.COL)", "pack_tile(0, 16)"),
        ("unary_bcast(0, 0, 0, bcast_type=BroadcastType.ROW)", "pack_tile(0, 16)"),
        ("transpose_wh_tile(0, 0, 0)", "pack_tile(0, 16)"),
        ("copy_tile(0, 0, 0)", "pack_untilize_dest(16)"),
    ],
)
def test_what_moves_numbers_within_a_tile_names_the_buffer(device, shape, call, pack):
    with pytest.raises(ProgramError, match=rf"circular buffer \d+ has tiles of {shape[0] * shape[1]} datums") as error:
        outcome(device, shape, call, pack=pack)
    assert error.value.where["thread"].startswith("TRISC") and error.value.where["line"]


@pytest.mark.parametrize("shape", OTHERS)
def test_rows_are_not_tilized(device, shape):
    inputs = {IN0: tile_of(1.0, shape), IN1: tile_of(2.0, shape), SCALERS: tile_of(1.0, shape)}
    with pytest.raises(ProgramError, match=f"circular buffer 0 has tiles of {shape[0] * shape[1]} datums"):
        run(device, ["tilize_init(0, 1, 16)", "tilize_block(0, 1, 16)"], inputs, 1, BF16, False, tile=shape)


def test_without_numbers_all_shapes_have_their_time():
    device = tt.create_device(0, numerics="off", max_cycles=5_000_000)
    outcome(device, (8, 32), "matmul_tiles(0, 1, 0, 0, 0)")
    assert device.chip.cycle > 0
    tt.close_device(device)
