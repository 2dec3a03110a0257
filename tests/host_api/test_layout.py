"""Layouts in host memory against an index formula, and against what the device's formats hold."""

import itertools

import numpy as np
import pytest

import tensim as tt
from tensim.sim.cores.numerics import host_formats
from tensim.sim.errors import UsageError

LAYOUTS = list(tt.TensorLayoutType)


def place(layout, row, column, width):
    """Index of an element of a matrix `width` elements wide."""
    tile = (row // 32) * (width // 32) + column // 32
    r, c = row % 32, column % 32
    if layout == tt.TensorLayoutType.LIN_ROW_MAJOR:
        return row * width + column
    if layout == tt.TensorLayoutType.TILED_SWIZZLED:
        return tile * 1024 + r * 32 + c
    return tile * 1024 + (r // 16 * 2 + c // 16) * 256 + r % 16 * 16 + c % 16


@pytest.mark.parametrize("source, target", list(itertools.product(LAYOUTS, LAYOUTS)))
def test_an_element_is_where_its_layout_says(source, target):
    height, width = 64, 96
    data = np.arange(height * width, dtype=np.uint32)
    result = tt.convert_layout(data, (height, width), source, target)
    assert result.dtype == np.uint32
    for row, column in itertools.product(range(0, height, 5), range(0, width, 7)):
        assert result[place(target, row, column, width)] == data[place(source, row, column, width)]


def test_tiles_are_those_of_the_device():
    matrix = np.arange(64 * 96, dtype=np.float32).reshape(64, 96)
    tiles = tt.tilize(matrix, 64, 96)
    assert tiles.tobytes() == host_formats.encode(matrix, tt.DataFormat.Float32)
    assert np.array_equal(tt.untilize(tiles, 64, 96), matrix.ravel())


def test_several_matrices_one_after_the_other():
    pair = np.arange(2 * 1024, dtype=np.int32)
    expected = [*tt.tilize(pair[:1024], 32, 32), *tt.tilize(pair[1024:], 32, 32)]
    assert list(tt.tilize(list(pair), 32, 32)) == expected


def test_faces_of_tiles():
    tile = np.arange(1024)
    faces = tt.convert_to_tile_layout(tile)
    assert [int(faces[index]) for index in (0, 15, 16, 256, 512, 768)] == [0, 15, 32, 16, 512, 528]
    assert np.array_equal(tt.convert_to_flat_layout(faces), tile)


@pytest.mark.parametrize("shape, size", [((33, 32), 33 * 32), ((0, 32), 0), ((32, 32), 1000), ((32, 32), 0)])
def test_data_that_is_not_made_of_tiles(shape, size):
    with pytest.raises(UsageError, match="tile|matrices"):
        tt.tilize(np.zeros(size), *shape)
