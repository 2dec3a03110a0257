"""Which chips of a board make a mesh, and in which order."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from tensim.sim.host.wiring import Board, Wiring
from tensim.ttnn.enums import FabricConfig
from tensim.ttnn.errors import ArgumentError


@dataclass(frozen=True)
class Chosen:
    """Chips of a mesh.  `shape`: (rows, columns) of the part of the board; `ring`, `line`: one ring or line goes around it;
    `order`: the numbers of these chips, row after row of the mesh.
    """

    shape: tuple[int, int]
    ring: bool
    order: list[int]
    line: bool = False


def choose(name: str, board: Board, wanted: Iterable[int] | None, fabric: FabricConfig) -> Chosen:
    """The chips of a mesh of the wanted shape, None: that of the board; ArgumentError when the board has no such mesh.

    A part of the board begins at its first chip.  A line runs along a row or a column of the board, or around all of it.  Without
    a fabric all chips of the board make a mesh of any shape.
    """
    rows, columns = board.shape
    down, across = wanted or board.shape
    whole = down * across == math.prod(board.shape)
    # Of a torus each row and column is one
    ring = fabric == FabricConfig.FABRIC_1D_RING and not (board.torus and (down, across) == (rows, columns))
    if down <= rows and across <= columns:
        return Chosen((down, across), ring, list(range(down * across)))
    if down <= columns and across <= rows and 1 in (down, across):
        return Chosen((across, down), ring, list(range(down * across)))
    if whole and fabric == FabricConfig.DISABLED:
        return Chosen((rows, columns), False, list(range(down * across)))
    if whole and 1 in (down, across) and fabric != FabricConfig.FABRIC_2D:
        around = Wiring(board.shape, board.links, False, ring, (*board.shape, board.links), 0, not ring)
        return Chosen((rows, columns), ring, around.ring_order(), not ring)
    hint = f"it has {rows}x{columns} chips, on one-dimensional fabrics also as a line of all"
    raise ArgumentError(f"open_mesh_device: mesh_shape {down}x{across}: {name} has no such mesh", hint=hint)
