"""Layouts of matrices in host memory: row-major, and the two orders of a matrix cut into tiles.

A tile is 32x32, its four 16x16 faces lie one after the other (docs/hardware/host_api.md#profiler-tile-layouts-and-ttnn-names).
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from tensim.sim.cores.numerics.tile import FACE_SIDE, TILE_SIDE
from tensim.sim.cores.numerics.tile_order import check_tiles, tilize, untilize

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = [
    "TensorLayoutType", "convert_layout", "convert_to_flat_layout", "convert_to_tile_layout", "tilize", "untilize",
]  # fmt: skip


class TensorLayoutType(IntEnum):
    """LIN_ROW_MAJOR: rows; TILED_SWIZZLED: tiles, rows inside; TILED_NFACES: tiles as the device holds them."""

    LIN_ROW_MAJOR = 0
    TILED_SWIZZLED = 1
    TILED_NFACES = 2


def _flat(data: ArrayLike) -> np.ndarray:
    return np.asarray(data).reshape(-1)


def _blocks(data: np.ndarray, height: int, width: int, block: int) -> np.ndarray:
    """Flat (height, width) matrices as flat blocks of `block` x `block`, both in row-major order."""
    return data.reshape(-1, height // block, block, width // block, block).swapaxes(2, 3).reshape(-1)


def _unblocks(data: np.ndarray, height: int, width: int, block: int) -> np.ndarray:
    """The inverse of `_blocks`."""
    return data.reshape(-1, height // block, width // block, block, block).swapaxes(2, 3).reshape(-1)


def convert_to_tile_layout(data: ArrayLike) -> np.ndarray:
    """TILED_SWIZZLED -> TILED_NFACES: a flat array of whole 32x32 tiles."""
    data = _flat(data)
    check_tiles(data, TILE_SIDE, TILE_SIDE)
    return _blocks(data, TILE_SIDE, TILE_SIDE, FACE_SIDE)


def convert_to_flat_layout(data: ArrayLike) -> np.ndarray:
    """TILED_NFACES -> TILED_SWIZZLED: a flat array of whole 32x32 tiles."""
    data = _flat(data)
    check_tiles(data, TILE_SIDE, TILE_SIDE)
    return _unblocks(data, TILE_SIDE, TILE_SIDE, FACE_SIDE)


def convert_layout(
    data: ArrayLike, shape: tuple[int, int], source: TensorLayoutType, target: TensorLayoutType
) -> np.ndarray:
    """Matrices of `shape` (height, width) elements, one after the other, from one TensorLayoutType to another.

    Returns a flat array.  UsageError when the shape is not made of tiles or the data not of such matrices.
    """
    height, width = shape
    found = _flat(data)
    check_tiles(found, height, width)
    if source == TensorLayoutType.TILED_NFACES:
        found = convert_to_flat_layout(found)
    if source != TensorLayoutType.LIN_ROW_MAJOR:
        found = _unblocks(found, height, width, TILE_SIDE)
    if target != TensorLayoutType.LIN_ROW_MAJOR:
        found = _blocks(found, height, width, TILE_SIDE)
    if target == TensorLayoutType.TILED_NFACES:
        found = convert_to_tile_layout(found)
    return found
