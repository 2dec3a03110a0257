"""Patterns of traffic by the names that the vendor's benchmarks give them: which mesh, and the streams on it.

What a pattern does is told by its name and by `packets x hops` of its rows, the packets of the busiest link, which the rates are
about (docs/fabric.md#patterns).
"""

from dataclasses import dataclass

from tensim.sim.cores.fabric import layout
from tensim.validation.rows import Skip

EAST, WEST, NORTH, SOUTH = "east", "west", "north", "south"


@dataclass(frozen=True)
class Setup:
    """What is opened (`options`: of `tt.open_mesh_device`) and what runs there.

    `flows`: [(chip, direction, routes in turn)], each on every link.
    """

    board: str
    shape: tuple
    options: tuple
    flows: tuple


def _line(distance, receivers=1):
    return distance | receivers << 8


def _mesh(everyone=False, **hops):
    ways = {NORTH: layout.NORTH, SOUTH: layout.SOUTH, EAST: layout.EAST, WEST: layout.WEST}
    route = layout.MESH | (layout.EVERYONE if everyone else 0)
    return route | sum(count << (7 * ways[way]) for way, count in hops.items())


def _longest(shape):
    """(chips on the longest axis, direction forward, direction backward): a single line of them stands for all."""
    return (max(shape), EAST, WEST) if shape[1] >= shape[0] else (max(shape), SOUTH, NORTH)


def _line_shape(shape):
    return (1, shape[1]) if shape[1] >= shape[0] else (shape[0], 1)


def neighbours(board, shape, forwarding):
    """Every chip sends to each neighbour; three chips in a line stand for more, as the one between them has all neighbours."""
    rows, columns = shape = tuple(min(size, 3) for size in shape)
    flows = []
    for chip in range(rows * columns):
        row, column = divmod(chip, columns)
        ways = ((WEST, column > 0), (EAST, column + 1 < columns), (NORTH, row > 0), (SOUTH, row + 1 < rows))
        flows += [(chip, way, (_line(1),)) for way, there in ways if there]
    return Setup(board, shape, (("forwarding", forwarding),), tuple(flows))


def linear_multicast(board, shape, both):
    """Every chip of a line sends to all others; with `both` in both directions, else towards the farther end alone."""
    size, forward, backward = _longest(shape)
    flows = []
    for chip in range(size):
        ahead, behind = size - 1 - chip, chip
        if ahead and (both or ahead >= behind):
            flows.append((chip, forward, (_line(1, ahead),)))
        if behind and (both or behind > ahead):
            flows.append((chip, backward, (_line(1, behind),)))
    return Setup(board, _line_shape(shape), (), tuple(flows))


def ring_multicast(board, shape, half):
    """Every chip of the ring around a mesh sends both ways: to all others each way, or to the nearer half each."""
    size = shape[0] * shape[1]
    flows = []
    for chip in _ring_order(shape):
        position = _ring_order(shape).index(chip)
        long, short = size // 2, (size - 1) // 2
        ahead, behind = (size - 1, size - 1) if not half else (long, short) if position % 2 == 0 else (short, long)
        flows += [(chip, EAST, (_line(1, ahead),)), (chip, WEST, (_line(1, behind),))]
    return Setup(board, shape, (("ring", True),), tuple(flows))


def _ring_order(shape):
    rows, columns = shape
    if rows == 2:
        return [*range(columns), *reversed(range(columns, 2 * columns))]
    return list(range(rows * columns))


def ring_of(board, size, half):
    """The same on a ring of `size` chips in a row."""
    return ring_multicast(board, (2, size // 2), half)


def single_sender_line(board, shape):
    """One chip sends to each chip of its row and of its column, in turn."""
    rows, columns = shape
    flows = []
    if columns > 1:
        flows.append((0, EAST, tuple(_line(hops) for hops in range(1, columns))))
    if rows > 1:
        flows.append((0, SOUTH, tuple(_line(hops) for hops in range(1, rows))))
    return Setup(board, shape, (), tuple(flows))


def single_sender_mesh(board, shape):
    """One chip of a mesh sends to each other chip, in turn: to the south first, then to the east."""
    rows, columns = shape
    south = tuple(
        _mesh(**{SOUTH: row}, **({EAST: column} if column else {}))
        for row in range(1, rows)
        for column in range(columns)
    )
    flows = [(0, EAST, tuple(_mesh(**{EAST: column}) for column in range(1, columns)))] if columns > 1 else []
    return Setup(board, shape, (("fabric", "2d"),), (*flows, (0, SOUTH, south)))


def mesh_multicast(board, shape):
    """Every chip sends to the whole mesh: along its row, and to the north and south with branches into the rows there."""
    rows, columns = shape
    flows = []
    for chip in range(rows * columns):
        row, column = divmod(chip, columns)
        east, west = columns - 1 - column, column
        branches = {name: count for name, count in ((EAST, east), (WEST, west)) if count}
        for way, count in ((NORTH, row), (SOUTH, rows - 1 - row)):
            if count:
                flows.append((chip, way, (_mesh(True, **{way: count}, **branches),)))
        flows += [(chip, way, (_mesh(True, **{way: count}),)) for way, count in branches.items()]
    return Setup(board, shape, (("fabric", "2d"),), tuple(flows))


def golden(name, board, shape):
    """The setup of a pattern of the fabric's benchmark; `Skip` for one that is not known."""
    if name == "NeighborExchangeUnicast":
        return neighbours(board, shape, False)
    if name == "NeighborExchangeLinear":
        return neighbours(board, shape, True)
    if name in ("LinearMulticast", "UnidirLinearMulticast") or name.startswith("CustomMaxPacketSizeLinear"):
        return linear_multicast(board, shape, not name.startswith("Unidir"))
    if name in ("FullRingMulticast", "HalfRingMulticast"):
        return ring_multicast(board, shape, name.startswith("Half"))
    if name == "SingleSenderLinearUnicastAllDevices":
        return single_sender_line(board, shape)
    if name == "SingleSenderMeshUnicastAllDevices":
        return single_sender_mesh(board, shape)
    if name == "MeshMulticast" or name.startswith("CustomMaxPacketSizeMesh"):
        return mesh_multicast(board, shape)
    raise Skip(f"the pattern {name} is not described")
