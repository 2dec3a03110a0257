"""Layouts of matrices in host memory: row-major, and the two orders of a matrix cut into tiles.

A tile is 32x32, its four 16x16 faces lie one after the other (reference section 1.14).
"""

from enum import IntEnum

import numpy as np

from sim.errors import UsageError

TILE, FACE = 32, 16


class TensorLayoutType(IntEnum):
    """LIN_ROW_MAJOR: rows; TILED_SWIZZLED: tiles, rows inside; TILED_NFACES: tiles as the device holds them."""

    LIN_ROW_MAJOR = 0
    TILED_SWIZZLED = 1
    TILED_NFACES = 2


def _flat(data):
    return np.asarray(data).reshape(-1)


def _blocks(data, height, width, block):
    """Flat (height, width) matrices as flat blocks of `block` x `block`, both in row-major order."""
    return data.reshape(-1, height // block, block, width // block, block).swapaxes(2, 3).reshape(-1)


def _unblocks(data, height, width, block):
    """The inverse of `_blocks`."""
    return data.reshape(-1, height // block, width // block, block, block).swapaxes(2, 3).reshape(-1)


def _check(data, height, width):
    if min(height, width) <= 0 or height % TILE or width % TILE:
        raise UsageError(f"shape {height}x{width} is not a multiple of the {TILE}x{TILE} tile")
    if not len(data) or len(data) % (height * width):
        raise UsageError(f"{len(data)} elements are not matrices of {height}x{width}")


def convert_to_tile_layout(data):
    """TILED_SWIZZLED -> TILED_NFACES: a flat array of whole 32x32 tiles."""
    data = _flat(data)
    _check(data, TILE, TILE)
    return _blocks(data, TILE, TILE, FACE)


def convert_to_flat_layout(data):
    """TILED_NFACES -> TILED_SWIZZLED: a flat array of whole 32x32 tiles."""
    data = _flat(data)
    _check(data, TILE, TILE)
    return _unblocks(data, TILE, TILE, FACE)


def convert_layout(data, shape, source, target):
    """Matrices of `shape` (height, width) elements, one after the other, from one TensorLayoutType to another.

    Returns a flat array.  UsageError when the shape is not made of tiles or the data not of such matrices.
    """
    height, width = shape
    data = _flat(data)
    _check(data, height, width)
    if source == TensorLayoutType.TILED_NFACES:
        data = convert_to_flat_layout(data)
    if source != TensorLayoutType.LIN_ROW_MAJOR:
        data = _unblocks(data, height, width, TILE)
    if target != TensorLayoutType.LIN_ROW_MAJOR:
        data = _blocks(data, height, width, TILE)
    if target == TensorLayoutType.TILED_NFACES:
        data = convert_to_tile_layout(data)
    return data


def tilize(data, m, n):
    """Row-major matrices of (m, n) elements as the tiles that a device holds: a flat array."""
    return convert_layout(data, (m, n), TensorLayoutType.LIN_ROW_MAJOR, TensorLayoutType.TILED_NFACES)


def untilize(data, m, n):
    """The inverse of `tilize`."""
    return convert_layout(data, (m, n), TensorLayoutType.TILED_NFACES, TensorLayoutType.LIN_ROW_MAJOR)
