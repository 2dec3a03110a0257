"""The order of a tile's datums: faces of 16 columns one after the other, tiles row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tensim.sim.cores.numerics.tile import FACE_SIDE, TILE_SIDE
from tensim.sim.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def check_tiles(data, height, width, tile=(TILE_SIDE, TILE_SIDE)):
    """UsageError when the shape is not made of tiles or the data not of such matrices."""
    if min(height, width) <= 0 or height % tile[0] or width % tile[1]:
        raise UsageError(f"shape {height}x{width} is not a multiple of the {tile[0]}x{tile[1]} tile")
    if not len(data) or len(data) % (height * width):
        raise UsageError(f"{len(data)} elements do not form matrices of {height}x{width}")


def tilize(data: ArrayLike, m: int, n: int, tile: tuple[int, int] = (TILE_SIDE, TILE_SIDE)) -> np.ndarray:
    """Row-major matrices of (m, n) elements as the tiles that a device holds: a flat array.

    `tile`: (height, width) of a tile; its faces are 16 wide and at most 16 high.  UsageError as `check_tiles`.
    """
    data = np.asarray(data).reshape(-1)
    check_tiles(data, m, n, tile)
    (height, width), face = tile, min(FACE_SIDE, tile[0])
    rows = data.reshape(-1, height // face, face, n // width, width // FACE_SIDE, FACE_SIDE)
    return rows.transpose(0, 3, 1, 4, 2, 5).reshape(-1)


def untilize(data: ArrayLike, m: int, n: int, tile: tuple[int, int] = (TILE_SIDE, TILE_SIDE)) -> np.ndarray:
    """The inverse of `tilize`."""
    data = np.asarray(data).reshape(-1)
    check_tiles(data, m, n, tile)
    (height, width), face = tile, min(FACE_SIDE, tile[0])
    tiles = data.reshape(-1, n // width, height // face, width // FACE_SIDE, face, FACE_SIDE)
    return tiles.transpose(0, 2, 4, 1, 3, 5).reshape(-1)
