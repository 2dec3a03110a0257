"""Layouts of matrices in host memory: row-major, and the two orders of a matrix cut into tiles.

A tile is 32x32, its four 16x16 faces lie one after the other (docs/hardware/host_api.md#profiler-tile-layouts-and-ttnn-names).
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from tensim.sim.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

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


def _check(data, height, width, tile=(TILE, TILE)):
    if min(height, width) <= 0 or height % tile[0] or width % tile[1]:
        raise UsageError(f"shape {height}x{width} is not a multiple of the {tile[0]}x{tile[1]} tile")
    if not len(data) or len(data) % (height * width):
        raise UsageError(f"{len(data)} elements do not form matrices of {height}x{width}")


def convert_to_tile_layout(data: ArrayLike) -> np.ndarray:
    """TILED_SWIZZLED -> TILED_NFACES: a flat array of whole 32x32 tiles."""
    data = _flat(data)
    _check(data, TILE, TILE)
    return _blocks(data, TILE, TILE, FACE)


def convert_to_flat_layout(data: ArrayLike) -> np.ndarray:
    """TILED_NFACES -> TILED_SWIZZLED: a flat array of whole 32x32 tiles."""
    data = _flat(data)
    _check(data, TILE, TILE)
    return _unblocks(data, TILE, TILE, FACE)


def convert_layout(
    data: ArrayLike, shape: tuple[int, int], source: TensorLayoutType, target: TensorLayoutType
) -> np.ndarray:
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


def tilize(data: ArrayLike, m: int, n: int, tile: tuple[int, int] = (TILE, TILE)) -> np.ndarray:
    """Row-major matrices of (m, n) elements as the tiles that a device holds: a flat array.

    `tile`: (height, width) of a tile; its faces are 16 wide and at most 16 high.  UsageError as `convert_layout`.
    """
    data = _flat(data)
    _check(data, m, n, tile)
    (height, width), face = tile, min(FACE, tile[0])
    rows = data.reshape(-1, height // face, face, n // width, width // FACE, FACE)
    return rows.transpose(0, 3, 1, 4, 2, 5).reshape(-1)


def untilize(data: ArrayLike, m: int, n: int, tile: tuple[int, int] = (TILE, TILE)) -> np.ndarray:
    """The inverse of `tilize`."""
    data = _flat(data)
    _check(data, m, n, tile)
    (height, width), face = tile, min(FACE, tile[0])
    tiles = data.reshape(-1, n // width, height // face, width // FACE, face, FACE)
    return tiles.transpose(0, 2, 4, 1, 3, 5).reshape(-1)
