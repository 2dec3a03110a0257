"""Which chips of a mesh are linked, and by which Ethernet tiles.

A mesh is a grid of chips, row after row, with `links` Ethernet links from each chip to each neighbour.
"""

import itertools
from dataclasses import dataclass

from tensim.sim.cores.fabric.layout import EAST, NORTH, SOUTH, WEST
from tensim.sim.errors import UsageError


@dataclass(frozen=True)
class Board:
    """Chips that are sold together.

    `shape`: (rows, columns); `links`: between two neighbours; `torus`: the ends of rows and columns are linked, too.
    """

    arch: str
    shape: tuple
    links: int
    torus: bool = False


# Mesh graph descriptors of the wheel ttnn 0.81.1; a Galaxy's cables close both axes
BOARDS = {
    "n300": Board("wormhole_b0", (1, 2), 2),
    "t3k": Board("wormhole_b0", (2, 4), 2),
    "galaxy": Board("wormhole_b0", (8, 4), 4, torus=True),
    "p150_x2": Board("blackhole", (1, 2), 4),
    "p150_x4": Board("blackhole", (2, 2), 4),
    "p150_x8": Board("blackhole", (2, 4), 2),
    "p300": Board("blackhole", (1, 2), 2),
    "p300_x2": Board("blackhole", (2, 2), 2),
    "bh_galaxy": Board("blackhole", (8, 4), 2, torus=True),
}


class Wiring:
    """The links of a mesh.

    `shape`: (rows, columns); `per_neighbour`: links to each; `torus`: the ends of rows and columns are linked; `ring`: the one ring
    around the mesh instead of its lines, east being forward; `line`: the same without the link that closes it; `board`: (rows,
    columns, links) of the mesh that this one is a part of; `tiles`: Ethernet tiles of a chip.  `ports`: [(direction, plane)] of
    each chip's routers.  UsageError for what cannot be laid.
    """

    turns: dict = {}  # {chip: {direction in which packets of a line come: direction in which they go on}}, of corners

    def __init__(self, shape, per_neighbour, torus, ring, board, tiles, line=False):
        self.shape, self.per_neighbour, self.torus, self.ring = shape, per_neighbour, torus, ring
        self._board, self._tiles = board, tiles
        self.around = ring or line
        self._ends = self._ends_around() if self.around else self._grid_ends(torus)
        self.ports = [self._ports(chip) for chip in range(shape[0] * shape[1])]

    def _grid_ends(self, torus):
        """{(chip, direction): chip at the other end} of rows and columns."""
        rows, columns = self.shape
        ends = {}
        for row, column in itertools.product(range(rows), range(columns)):
            chip = row * columns + column
            if column + 1 < columns or (torus and columns > 2):
                ends[chip, EAST] = row * columns + (column + 1) % columns
            if row + 1 < rows or (torus and rows > 2):
                ends[chip, SOUTH] = (row + 1) % rows * columns + column
        return ends | {(other, way ^ 1): chip for (chip, way), other in ends.items()}

    def _ends_around(self):
        """The same around the mesh: along the first row, down and back; or along a single row."""
        order = self.ring_order()
        if self.ring and len(order) < 3:
            raise UsageError("a ring has at least three chips")
        ends = {(chip, EAST): other for chip, other in itertools.pairwise(order + order[: int(self.ring)])}
        return ends | {(other, WEST): chip for (chip, _), other in ends.items()}

    def ring_order(self):
        """The chips of the mesh in the order of the ring around it; UsageError for a mesh that has chips inside."""
        rows, columns = self.shape
        if rows == 1 or columns == 1:
            return list(range(rows * columns))
        if rows == 2:
            return [*range(columns), *reversed(range(columns, 2 * columns))]
        if columns == 2:
            return [*range(0, 2 * rows, 2), *reversed(range(1, 2 * rows, 2))]
        raise UsageError(f"no ring goes around a mesh of {rows}x{columns} chips", hint="one side has 1 or 2 chips")

    def _ports(self, chip):
        """[(direction, plane)] of a chip's routers."""
        ways = [way for way in (EAST, WEST, NORTH, SOUTH) if (chip, way) in self._ends]
        return [(way, plane) for way in ways for plane in range(self.per_neighbour)]

    @property
    def links(self):
        """[((chip, number of a port), (chip, number of a port))] of all links, each once."""
        return [
            ((chip, self.ports[chip].index((way, plane))), (other, self.ports[other].index((way ^ 1, plane))))
            for (chip, way), other in self._ends.items()
            if way in (EAST, SOUTH)
            for plane in range(self.per_neighbour)
        ]

    def tile(self, chip, way, plane):
        """Number of the Ethernet tile of a link: those of the row's neighbours come first, then those of the column's.

        UsageError when a chip has too few.
        """
        rows, columns, links = self._board
        first = {EAST: 0, WEST: int(columns > 2 or self.around), NORTH: 0, SOUTH: int(rows > 2)}[way]
        before = min(columns - 1, 2) if way in (NORTH, SOUTH) else 0
        number = (before + first) * links + plane
        if number >= self._tiles:
            raise UsageError(
                f"{links} links to each neighbour of a {rows}x{columns} mesh; a chip has {self._tiles} Ethernet tiles"
            )
        return number

    def connections(self):
        """[((chip, tile), (chip, tile))] of all links, each once."""
        return [
            tuple((chip, self.tile(chip, *self.ports[chip][number])) for chip, number in ends) for ends in self.links
        ]
