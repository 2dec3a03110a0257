"""The routers of a chip: Ethernet tiles as further cores of its arrays, and the record that describes them to the engine.

A router has a place in the tables of cores, threads and L1 behind those of the workers, so that packets of the NoC reach it as
they reach any tile.  No kernel runs there: `tensim.sim.cores.fabric` lets it act.
"""

from dataclasses import dataclass

import numpy as np

from tensim.sim import state as st
from tensim.sim.cores.fabric import layout, worker_area
from tensim.sim.cores.slots import THREADS_PER_CORE
from tensim.sim.engine.entry_points import router_event
from tensim.sim.engine.event_heap import MAX_CORES
from tensim.sim.errors import UsageError

OTHER_NAMES = 40  # coordinates from here on name columns and rows of Ethernet tiles that have no other name
EVENTS = 128  # of a router in the event heap: its turns, and what is on its way to it
PER_THREAD = "threads noc_words traffic stalls".split()
PER_CORE = "cores semaphore_writers".split()
DIRECTION_NAMES = ("north", "south", "east", "west")
FIGURES = ("packets", "bytes", "busy_cycles", "full_cycles")  # of a link, counted by the router that sends
STEPS = (
    "write_noc credit_noc poll_sender poll_receiver send credit write chunk increment forward complete acknowledge "
    "flush_look"
).split()


@dataclass(frozen=True)
class Slots:
    """How a router divides its buffer: packets that the sender channel of workers, each other one and the receiver channel hold,
    payload of a packet."""

    worker: int
    sender: int
    receiver: int
    payload: int

    @property
    def bytes(self):
        """Of a slot, a whole number of NoC words."""
        return -(-(layout.HEADER_BYTES + self.payload) // 64) * 64

    def senders(self, channels):
        """Slots of all sender channels."""
        return self.worker + (channels - 1) * self.sender


def slots_of(arch, channels, mesh, payload):
    """The first division in `ethernet.router.slots` that fits into the buffer with so many sender channels; UsageError: none.

    In a mesh the sender channel of workers also has what is left.
    """
    key = "ethernet.router.slots" + "_mesh" * mesh
    room = arch["ethernet.router.buffer_bytes"] // (header_bytes(arch, mesh) + payload)
    for text in arch[key]:
        sender, receiver = (int(part) for part in text.split("-"))
        left = room - channels * sender - receiver
        if left >= 0:
            return Slots(sender + left * mesh, sender, receiver, payload)
    raise UsageError(
        f"packets of {payload} B do not fit: a router has {arch['ethernet.router.buffer_bytes']} B for them",
        hint=f"at least {arch[key][-1]} packets of {channels} sender channels and the receiver channel",
    )


class Routers:
    """The routers of one chip.

    `ports`: [(tile number of `ethernet.tiles`, direction in which its link leads)]; `slots`: `Slots`; `channels`: sender
    channels of each; `ring`: packets may go round, which needs acknowledgements and a free slot more; `turns`: {direction in which
    packets of a line come: the one in which they go on} where these are not the same; `room`: for how many routers the chip's
    tables are to have rows, as others may take their place later.  Those that a chip has already are replaced: it must be at rest.
    """

    def __init__(self, chip, ports, slots, channels, mesh, ring, turns=None, room=0):
        self.chip, self.arrays, self.slots = chip, chip.arrays, slots
        self.channels, self.mesh, self.ring, self.ports, self.turns = channels, mesh, ring, ports, turns or {}
        self.peers = set()  # chips at the other ends
        self.number = 0  # of the chip in its mesh
        self._ends = {}  # router -> (`Routers` of the other end, router there)
        arch, self.first = chip.arch, chip.n_workers
        if self.first + len(ports) > MAX_CORES:
            raise UsageError(
                f"{self.first} worker cores and {len(ports)} routers; a chip has at most {MAX_CORES} of both"
            )
        tiles = arch["ethernet.tiles"]
        self.places = [tuple(int(part) for part in tiles[number].split("-")) for number, _ in ports]
        self._take_rows(room)
        self._take_tiles()
        self.table = np.zeros(len(ports), layout.ROUTER)
        self._build_record(arch)
        self.reset()

    def _take_rows(self, room):
        """Rows of the chip's tables for the Ethernet tiles: new ones, or those of the routers that were there before."""
        before = self.chip.routers
        if before is None:
            self.rows = max(len(self.ports), room)
            self._extend(self.rows)
            return
        if len(self.ports) > before.rows:
            raise UsageError(
                f"{len(self.ports)} routers take the place of {before.rows}", hint="open the larger mesh first"
            )
        self.rows, self.peers = before.rows, set()
        before.leave_tiles()

    def _extend(self, count):
        """Rows for the Ethernet tiles behind those of the workers."""
        arrays = self.arrays
        for names, more in ((PER_THREAD, count * THREADS_PER_CORE), (PER_CORE, count)):
            for name in names:
                old = arrays[name]
                new = np.zeros((len(old) + more, *old.shape[1:]), old.dtype)
                new[: len(old)] = old
                arrays.place(name, new)
        arrays.place("l1", arrays.l1_of_tiles[: self.first + count])
        arrays.make_room(EVENTS * count)

    def _take_tiles(self):
        """Let packets of the NoC reach the routers."""
        width = self.chip.arch.noc_size[0]
        self._name_tiles()
        tiles, cores, threads = (self.arrays[name] for name in ("tiles", "cores", "threads"))
        self._tiles_before = {y * width + x: tiles[y * width + x].copy() for x, y in self.places}
        for index, (x, y) in enumerate(self.places):
            core = self.first + index
            tiles[y * width + x] = (st.TILE_WORKER, core, -1)
            cores[core]["tile"], cores[core]["x"], cores[core]["y"] = y * width + x, x, y
            mine = threads[core * THREADS_PER_CORE : (core + 1) * THREADS_PER_CORE]
            mine["core"], mine["slot"], mine["launch"] = core, np.arange(THREADS_PER_CORE), -1

    def leave_tiles(self):
        """Give the tiles back: packets to them reach what was there before."""
        for number, tile in self._tiles_before.items():
            self.arrays["tiles"][number] = tile
        self.arrays["cores"]["semaphore_waiters"][self.first :] = 0
        self.arrays["threads"]["state"][self.first * THREADS_PER_CORE :] = st.IDLE

    def _name_tiles(self):
        """Coordinates by which NoC addresses name the routers' tiles: their own, where those of workers do not take their place."""
        axes = self.arrays["noc_columns"], self.arrays["noc_rows"]
        self.named = []
        for place in self.places:
            self.named.append(
                tuple(at if axis[at] == at else OTHER_NAMES + at for axis, at in zip(axes, place, strict=True))
            )
            for axis, name, at in zip(axes, self.named[-1], place, strict=True):
                axis[name] = at

    def _build_record(self, arch):
        record = self.arrays.place("fabric", np.zeros(1, layout.FABRIC))
        f, slots = record[0], self.slots
        f["routers_at"], f["n_routers"] = self.table.ctypes.data, len(self.ports)
        f["processors"], f["mesh"] = arch["ethernet.router.processors"], self.mesh
        f["worker_slots"], f["tx_slots"], f["rx_slots"] = slots.worker, slots.sender, slots.receiver
        f["slot_bytes"] = slots.bytes
        f["header_bytes"], f["max_payload"] = header_bytes(arch, self.mesh), slots.payload
        f["wire_1024"] = round(1024 * arch.clock_mhz / 1000 / arch["ethernet.line_bytes_per_ns"])
        f["frame_bytes"], f["frame_overhead"] = arch["ethernet.frame_bytes"], arch["ethernet.frame_overhead"]
        f["line_latency"], f["signal_cycles"] = arch["ethernet.line_latency"], arch["ethernet.signal"]
        f["signal_latency"], f["look_ahead"] = arch["ethernet.signal_latency"], layout.look_ahead(arch)
        f["queued"] = arch["ethernet.queued"]
        for name in STEPS:
            f[name] = arch[f"ethernet.router.{name}"]
        f["first_level_ack"], f["injection_slots"] = self.ring, 2 if self.ring else 1
        f["transaction_ids"] = arch["ethernet.router.transaction_ids" + "_ring" * self.ring]
        self.record = record
        self.chip.machine["fabric_model_at"] = router_event.address

    def reset(self):
        """Idle routers with empty slots, whose links are those from before with what they have carried."""
        cores, threads, table = self.arrays["cores"], self.arrays["threads"], self.table
        channels, kept = self.channels, table[["peer_machine", "peer", *FIGURES, "worked"]].copy()
        table[:] = np.zeros(1, layout.ROUTER)
        table[[*kept.dtype.names]] = kept
        for index, (_, direction) in enumerate(self.ports):
            core, r = self.first + index, table[index]
            cores[core]["semaphore_waiters"], cores[core]["router_event"] = 1, _event(index, layout.WAKE)
            threads[core * THREADS_PER_CORE]["state"] = st.ROUTING
            r["core"], r["thread"], r["tile"] = core, core * THREADS_PER_CORE, cores[core]["tile"]
            r["direction"], r["n_channels"] = direction ^ 1, channels
            r["straight"] = self.turns.get(direction ^ 1, direction ^ 1)
            r["tx_base"] = layout.FIRST_SLOT
            r["rx_base"] = layout.FIRST_SLOT + self.slots.senders(channels) * self.slots.bytes
            r["downstream"], r["full_since"], r["asleep"] = -1, -1, 1
            words = self.arrays["l1"][core, layout.FIRST_WORD : layout.FIRST_SLOT]
            words[:] = 0
        self._feeders = [0] * len(self.ports)  # routers that forward to each, so far
        for index in range(len(self.ports)) if channels > 1 else ():
            self._connect_inside(index)

    def _connect_inside(self, index):
        """Let a router find those of its chip to which it forwards, on the same routing plane."""
        came = self.ports[index][1] ^ 1
        for out in range(4):
            turns = out >> 1 != came >> 1 and came >> 1 == 0  # from north and south to east and west
            if out != self.table[index]["straight"] and not (self.mesh and turns):
                continue
            plane = self._plane(index)
            for other, (_, direction) in enumerate(self.ports):
                if direction == out and self._plane(other) == plane:
                    self._forwards(index, out, other)

    def _plane(self, index):
        """Number of a router among those of its direction."""
        return sum(direction == self.ports[index][1] for _, direction in self.ports[:index])

    def _forwards(self, index, out, other):
        channel = self._feeders[other] = self._feeders[other] + 1  # one for each direction from which packets come
        if channel >= self.channels:
            raise UsageError(
                f"a router gets packets from {channel} others and has {self.channels - 1} channels for them"
            )
        r = self.table[index]
        r["downstream"][out], r["channel_of"][out] = other, channel
        x, y = self.named[index]
        r["noc_of"][out] = self._shorter_way(index, other)
        address = x << 36 | y << 42 | layout.RETURNED + layout.STRIDE * out
        core, at = self.first + other, layout.CREDITS_AT + layout.STRIDE * channel
        self.arrays["l1"][core, at : at + 8] = np.frombuffer(address.to_bytes(8, "little"), np.uint8)

    def _shorter_way(self, index, other):
        """The NoC with the shorter way from one router's tile to another's: 0 goes to higher coordinates, 1 to lower ones."""
        hops = [
            (there - here) % size
            for here, there, size in zip(self.places[index], self.places[other], self.chip.arch.noc_size, strict=True)
        ]
        back = sum(-hop % size for hop, size in zip(hops, self.chip.arch.noc_size, strict=True))
        return int(back < sum(hops))

    def join(self, index, other, other_index):
        """Lay a link from a router of this chip to one of another chip's `Routers`; the other one lays it back."""
        r = self.table[index]
        r["peer_machine"], r["peer"] = other.arrays.address, other_index
        self.peers.add(other.chip)
        self._ends[index] = other, other_index

    def link_use(self, index):
        """What the link of a router has carried; None of a router without one.

        `router_cycles`: that one of its two routers worked for it, the one that sends or the one that receives, whichever more.
        """
        if index not in self._ends:
            return None
        r, (other, at) = self.table[index], self._ends[index]
        there = other.table[at]["worked"][self.chip.arch["ethernet.router.processors"] - 1]
        figures = {name: int(r[name]) for name in FIGURES}
        place = {
            "chip": self.number, "direction": DIRECTION_NAMES[self.ports[index][1]], "link": self._plane(index),
        }  # fmt: skip
        return place | figures | {"router_cycles": int(max(r["worked"][0], there))}

    def links_here(self):
        """[(chip where it begins, `link_use`)] of the links that begin or end at this chip."""
        ends = [(self, index) for index in self._ends] + list(self._ends.values())
        return [(routers.chip, routers.link_use(index)) for routers, index in ends]

    def tell_workers(self, rows, columns, number):
        """Write into every worker's L1 what its kernels need to know; `number`: of the chip in a mesh of so many rows, columns."""
        self.number = number
        words = np.zeros(worker_area.BYTES // 4, np.uint32)
        words[worker_area.FIRST_SLOT], words[worker_area.SLOT_BYTES] = layout.FIRST_SLOT, self.slots.bytes
        words[worker_area.SLOTS], words[worker_area.MAX_PAYLOAD] = self.slots.worker, self.slots.payload
        words[worker_area.NOTIFIED], words[worker_area.CREDITS_AT] = layout.NOTIFIED, layout.CREDITS_AT
        words[worker_area.ROWS], words[worker_area.COLUMNS], words[worker_area.CHIP] = rows, columns, number
        for (channel, direction), (x, y) in zip(self.ports, self.named, strict=True):
            words[worker_area.CHANNELS] |= 1 << channel
            entry = (worker_area.ENTRIES + worker_area.ENTRY_BYTES * channel) // 4
            words[entry + worker_area.PLACE] = x | y << 16
            words[entry + worker_area.DIRECTION] = worker_area.DIRECTION_CODES[direction]
        base = worker_area.base_of(self.chip.arch)
        self.arrays["l1"][: self.first, base : base + worker_area.BYTES] = words.view(np.uint8)

    def name(self, core):
        """A router's tile and where its link leads, for messages."""
        index = core - self.first
        x, y = self.places[index]
        return f"Ethernet tile {x}-{y}, link {self._plane(index)} to the {DIRECTION_NAMES[self.ports[index][1]]}"

    def waiting(self):
        """Lines about routers that hold packets and what those wait for, for the report of a deadlock."""
        lines = []
        for index, r in enumerate(self.table):
            words = self.arrays["l1"][self.first + index, layout.NOTIFIED : layout.CREDITS_AT].view(np.uint32)
            notified = words[:: layout.STRIDE // 4][: self.channels]
            queued = [int(count - sent) for count, sent in zip(notified, r["slot_sent"], strict=False)]
            held, ahead = int(r["arrived"] - r["started"]), int(r["sent"] - r["completed"])
            if any(queued) or held:
                lines.append(
                    f"{self.name(self.first + index)}: {queued} packets in its sender channels, {ahead} of "
                    f"{self.slots.receiver} slots at the other end taken, {held} received packets that cannot go on"
                )
        return lines

    @property
    def busy_peers(self):
        """Whether a chip at the other end of a link has anything left to do."""
        return any(peer.machine["event_heap_size"] for peer in self.peers)


def header_bytes(arch, mesh):
    """Of a packet header, on a line or in a mesh."""
    return arch["ethernet.router.header_mesh" if mesh else "ethernet.router.header_line"]


def _event(router, kind):
    return layout.event_of.py_func(router, kind)
