"""The fabric of a mesh: routers on the Ethernet tiles of its chips, the links between them, and how workers reach a router.

A mesh is a grid of chips, row after row, with `links` Ethernet links from each chip to each neighbour.  With `lines` every row and
every column is a line of its own (a ring where its ends are linked, or where `rings` says so), and packets count chips; with
`mesh` packets turn from columns into rows (docs/fabric.md).
"""

from dataclasses import dataclass

from tensim.sim.chip.routers import DIRECTION_NAMES, Routers, header_bytes, slots_of
from tensim.sim.cores.fabric import layout
from tensim.sim.errors import UsageError
from tensim.sim.loop.environment import FS_PER_CYCLE_MHZ

CONFIGURATIONS = LINES, MESH = "1d", "2d"
LINK = ("chip", "direction", "link")  # what names a link among figures of all


def count_together(devices):
    """Let all chips count cycles from one time: from now on, unless they do already.  UsageError when one has run."""
    if len({device.clock.origin for device in devices}) == 1:
        return
    if any(device.chip.cycle for device in devices):
        raise UsageError("a chip has run before the fabric was built", hint="open the mesh first")
    for device in devices:
        device.clock.origin = device.chip.host_log.origin_fs = device.env.now


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
    channel: int

    @property
    def args(self):
        """As runtime arguments, in the order in which `fabric_*` calls of kernels take them."""
        return [self.x, self.y, self.first_slot, self.slot_bytes, self.slots, self.notified, self.credits_at]

    @property
    def sender_args(self):
        """As runtime arguments that `WorkerToFabricEdmSender::build_from_args` of kernels in C++ reads: the Ethernet channel, and
        two semaphores of tt-metal's protocol that none needs here."""
        return [self.channel, 0, 0]


class Fabric:
    """Routers of all chips of a mesh and their links.

    `devices`: `tensim.sim.host.device.Device`, row after row, just opened and equal; `wiring`: `tensim.sim.host.wiring.Wiring` or
    what has its ports, tiles and links; `shape`: (rows, columns); `configuration`: "1d" or "2d"; `closed`: packets may go round;
    `packet_bytes`: largest payload, None: the chip's own; `forwarding`: False for routers that serve neighbours alone; `room`: of
    how many routers on a chip there may ever be.  A fabric takes the place of the one that its devices had.  UsageError for what
    cannot be built.
    """

    def __init__(
        self, devices, wiring, shape, configuration=LINES, closed=False, packet_bytes=None, forwarding=True, room=0
    ):
        self.devices, self.wiring, self.shape, self.configuration = devices, wiring, shape, configuration
        self.closed, self.ports = closed, wiring.ports
        if configuration not in CONFIGURATIONS:
            raise UsageError(f"fabric {configuration!r} is none of {', '.join(CONFIGURATIONS)}")
        arch = devices[0].arch
        if any(device.arch.digest != arch.digest for device in devices):
            raise UsageError("the chips of a fabric are not alike", hint="open all with the same architecture")
        if "ethernet.router.slots" not in arch:
            raise UsageError(f"{arch.name} chips have no Ethernet", hint="wormhole_b0 and blackhole have")
        self.mesh, self.arch = configuration == MESH, arch
        channels = arch["ethernet.router.mesh_channels"] if self.mesh else 2 if forwarding else 1
        payload = arch["ethernet.router.packet_bytes"] if packet_bytes is None else packet_bytes
        if payload < 16:
            raise UsageError(f"a largest payload of {payload} bytes", hint="packet_bytes is 16 or more")
        self.slots = slots_of(arch, channels, self.mesh, payload)
        before = devices[0].fabric
        self._carried = [] if before is None else before.link_utilization()
        self._join_clocks()
        for number, (device, ports) in enumerate(zip(devices, self.ports, strict=True)):
            chip = device.chip
            numbered = [(wiring.tile(number, *port), port[0]) for port in ports]
            turns = wiring.turns.get(number)
            ring = self.closed and forwarding
            chip.routers = Routers(chip, numbered, self.slots, channels, self.mesh, ring, turns, room)
        self._lay_links()
        for number, device in enumerate(devices):
            device.chip.routers.tell_workers(*shape, number)
            device.fabric = self

    def _lay_links(self):
        for (chip, mine), (other, theirs) in self.wiring.links:
            here, there = self.devices[chip].chip.routers, self.devices[other].chip.routers
            here.join(mine, there, theirs)
            there.join(theirs, here, mine)

    def _join_clocks(self):
        """All chips count cycles from one time, and none runs ahead of what another may send."""
        if any(device.chip.is_running or device.chip.machine["event_heap_size"] for device in self.devices):
            raise UsageError("a chip runs while its fabric is built", hint="wait for its programs first")
        count_together(self.devices)
        latency = layout.look_ahead(self.arch) - 1
        for device in self.devices:
            clock = device.clock
            clock.lookahead = min(clock.lookahead, latency * FS_PER_CYCLE_MHZ // clock.clock_mhz)

    def leave(self, device):
        """A device was closed.  Routers of others may still send to its chip, whose memory all keep until the last one is closed:
        nobody takes there what they send, and it has no part in what the others wait for.
        """
        for other in self.devices:
            other.chip.routers.peers.discard(device.chip)
        if all(other.closed for other in self.devices):
            for other in self.devices:
                other.chip.free()

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
        x, y = routers.named[number]
        return Connection(
            x, y, layout.FIRST_SLOT, self.slots.bytes, self.slots.worker, layout.NOTIFIED, layout.CREDITS_AT,
            header_bytes(self.arch, self.mesh), routers.ports[number][0],
        )  # fmt: skip

    def link_utilization(self):
        """What each link has carried: [{"chip", "direction", "link", "packets", "bytes", "busy_cycles", "full_cycles",
        "router_cycles"}].

        `bytes`: of payloads; `busy_cycles`: that the line was in use; `full_cycles`: that packets waited for a slot of the router
        at the other end, or a worker for slots whose packets are on their way; `router_cycles`: that the busier one of the
        routers at its ends worked.  What links have carried for fabrics in whose place this one is counts, too.
        """
        every = [device.chip.routers for device in self.devices]
        rows = (routers.link_use(index) for routers in every for index in range(len(routers.ports)))
        return _sums([*self._carried, *(row for row in rows if row is not None)])


def _sums(rows):
    """Rows of `Fabric.link_utilization`, those of one link added up."""
    found = {}
    for row in rows:
        link = tuple(row[name] for name in LINK)
        known = found.get(link)
        found[link] = (
            row if known is None else row | {name: row[name] + known[name] for name in row if name not in LINK}
        )
    return list(found.values())
