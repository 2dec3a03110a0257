"""Which chips of a board make a mesh, and in which order."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from tensim.sim.host.wiring import Board, Wiring
from tensim.ttnn.errors import ArgumentError


@dataclass(frozen=True)
class Chosen:
    """Chips of a mesh.  `shape`: (rows, columns) of the part of the board; `ring`: one ring goes around it; `order`: the numbers of
    these chips, row after row of the mesh.
    """

    shape: tuple[int, int]
    ring: bool
    order: list[int]


def choose(name: str, board: Board, wanted: Iterable[int] | None, ring: bool) -> Chosen:
    """The chips of a mesh of the wanted shape, None: that of the board; ArgumentError when the board has no such mesh.

    A part of the board begins at its first chip.  A line runs along a row or a column of the board, or around all of it where
    the fabric is one ring.
    """
    rows, columns = board.shape
    down, across = wanted or board.shape
    ring = ring and not (board.torus and (down, across) == (rows, columns))  # there each row and column is one
    if down <= rows and across <= columns:
        return Chosen((down, across), ring, list(range(down * across)))
    if down <= columns and across <= rows and 1 in (down, across):
        return Chosen((across, down), ring, list(range(down * across)))
    if ring and 1 in (down, across) and down * across == math.prod(board.shape):
        around = Wiring(board.shape, board.links, False, True, (*board.shape, board.links), 0)
        return Chosen((rows, columns), True, around.ring_order())
    hint = f"it has {rows}x{columns} chips, and with FABRIC_1D_RING a line around all of them"
    raise ArgumentError(f"open_mesh_device: mesh_shape {down}x{across}: {name} has no such mesh", hint=hint)
