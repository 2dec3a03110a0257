"""The fabric of a mesh: routers on the Ethernet tiles of its chips, the links between them, and how workers reach a router.

A mesh is a grid of chips, row after row, with `links` Ethernet links from each chip to each neighbour.  With `lines` every row and
every column is a line of its own (a ring where its ends are linked, or where `rings` says so), and packets count chips; with
`mesh` packets turn from columns into rows (docs/fabric.md).
"""

import itertools
from dataclasses import dataclass

from tensim.sim.chip.routers import DIRECTION_NAMES, Routers, header_bytes, slots_of
from tensim.sim.cores.fabric import layout
from tensim.sim.cores.fabric.layout import EAST, NORTH, SOUTH, WEST
from tensim.sim.errors import UsageError
from tensim.sim.loop.environment import FS_PER_CYCLE_MHZ

CONFIGURATIONS = LINES, MESH = "1d", "2d"


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
}


@dataclass(frozen=True)
class Connection:
    """What a worker needs to write into a router's channel: its place and where slots and counters lie in its L1."""

    x: int
    y: int
    first_slot: int
    slot_bytes: int
    slots: int
    notified: int
    credits_at: int
    header_bytes: int

    @property
    def args(self):
        """As runtime arguments, in the order in which `fabric_*` calls of kernels take them."""
        return [self.x, self.y, self.first_slot, self.slot_bytes, self.slots, self.notified, self.credits_at]


class Fabric:
    """Routers of all chips of a mesh and their links.

    `devices`: `tensim.sim.host.device.Device`, row after row, just opened and equal; `shape`: (rows, columns); `links`: per
    neighbour; `configuration`: "1d" or "2d"; `torus`: the ends of rows and columns are linked; `ring`: the one ring around a
    mesh instead of its lines, east being forward; `packet_bytes`: largest payload, None: the chip's own; `forwarding`: False for
    routers that serve neighbours alone; `board`: (rows, columns, links) of the mesh that this one is a part of.  UsageError for
    what cannot be built.
    """

    def __init__(
        self, devices, shape, links, configuration=LINES, torus=False, ring=False, packet_bytes=None, forwarding=True,
        board=None,
    ):  # fmt: skip
        self.board, self.ring = board or (*shape, links), ring
        self.devices, self.shape, self.links, self.configuration = devices, shape, links, configuration
        if configuration not in CONFIGURATIONS:
            raise UsageError(f"fabric {configuration!r} is none of {', '.join(CONFIGURATIONS)}")
        arch = devices[0].arch
        if any(device.arch.digest != arch.digest for device in devices):
            raise UsageError("the chips of a fabric are not alike", hint="open all with the same architecture")
        if "ethernet.router.slots" not in arch:
            raise UsageError(f"{arch.name} chips have no Ethernet", hint="wormhole_b0 and blackhole have")
        if any(device.chip.checks is not None for device in devices):
            raise UsageError("check=True looks at one chip; a fabric joins several", hint="leave check out")
        self.mesh, self.arch, self.closed = configuration == MESH, arch, ring or torus
        ends = self._ring_ends() if ring else self._grid_ends(torus)
        self.ports = [self._ports(ends, chip) for chip in range(len(devices))]
        channels = arch["ethernet.router.mesh_channels"] if self.mesh else 2 if forwarding else 1
        payload = packet_bytes or arch["ethernet.router.packet_bytes"]
        self.slots = slots_of(arch, channels, self.mesh, payload)
        self._join_clocks()
        for device, ports in zip(devices, self.ports, strict=True):
            chip = device.chip
            numbered = [(self._tile(*port), port[0]) for port in ports]
            chip.routers = Routers(chip, numbered, self.slots, channels, self.mesh, self.closed and forwarding)
        self._lay_links(ends)

    # --- what is linked

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

    def _ring_ends(self):
        """The same around the mesh: along the first row, down and back; or along a single row."""
        order = self.ring_order()
        if len(order) < 3:
            raise UsageError("a ring has at least three chips")
        ends = {(chip, EAST): other for chip, other in zip(order, order[1:] + order[:1], strict=True)}
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

    def _ports(self, ends, chip):
        """[(direction, plane)] of a chip's routers; UsageError when it has too few Ethernet tiles."""
        ways = [way for way in (EAST, WEST, NORTH, SOUTH) if (chip, way) in ends]
        return [(way, plane) for way in ways for plane in range(self.links)]

    def _tile(self, way, plane):
        """Number of the Ethernet tile of a link: those of the row's neighbours come first, then those of the column's."""
        rows, columns, links = self.board
        first = {EAST: 0, WEST: int(columns > 2 or self.ring), NORTH: 0, SOUTH: int(rows > 2)}[way]
        before = min(columns - 1, 2) if way in (NORTH, SOUTH) else 0
        number, tiles = (before + first) * links + plane, len(self.arch["ethernet.tiles"])
        if number >= tiles:
            raise UsageError(
                f"{links} links to each neighbour of a {rows}x{columns} mesh; a chip has {tiles} Ethernet tiles"
            )
        return number

    def _lay_links(self, ends):
        for (chip, way), other in ends.items():
            for plane in range(self.links):
                mine, theirs = self.ports[chip].index((way, plane)), self.ports[other].index((way ^ 1, plane))
                self.devices[chip].chip.routers.join(mine, self.devices[other].chip.routers, theirs)

    def _join_clocks(self):
        """All chips begin now, and none runs ahead of what another may send: the latency of the line."""
        latency = self.arch["ethernet.line_latency"] - 1
        for device in self.devices:
            clock = device.clock
            if device.chip.cycle or device.chip.is_running:
                raise UsageError("a chip has run before the fabric was built", hint="open the mesh first")
            clock.origin = device.chip.host_log.origin_fs = device.env.now
            clock.lookahead = min(clock.lookahead, latency * FS_PER_CYCLE_MHZ // clock.clock_mhz)

    # --- for workers

    def port(self, chip, direction, link=0):
        """Number of a router; UsageError when there is no such link."""
        if (direction, link) not in self.ports[chip]:
            there = ", ".join(f"{DIRECTION_NAMES[way]} {plane}" for way, plane in self.ports[chip]) or "none"
            raise UsageError(
                f"chip {chip} has no link {link} to the {DIRECTION_NAMES[direction]}", hint=f"its links: {there}"
            )
        return self.ports[chip].index((direction, link))

    def connection(self, chip, direction, link=0):
        """The `Connection` of a worker of a chip to the router whose link leads in `direction`."""
        routers = self.devices[chip].chip.routers
        number = self.port(chip, direction, link)
        x, y = routers.places[number]
        return Connection(
            x, y, layout.FIRST_SLOT, self.slots.bytes, self.slots.sender, layout.NOTIFIED, layout.CREDITS_AT,
            header_bytes(self.arch, self.mesh),
        )  # fmt: skip

    def links_used(self):
        """[(chip, direction, link, packets, payload bytes, busy cycles, cycles without a free slot ahead)] of all routers."""
        rows = []
        for chip, (device, ports) in enumerate(zip(self.devices, self.ports, strict=True)):
            for (direction, plane), r in zip(ports, device.chip.routers.table, strict=True):
                figures = (int(r[name]) for name in ("packets", "bytes", "busy_cycles", "full_cycles"))
                rows.append((chip, direction, plane, *figures))
        return rows
