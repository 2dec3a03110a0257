"""Requests between tiles of a chip at register level: when what they bring is there, and what it does.

NoCs, L1 ports and DRAM channels are those of the other levels, in the packet model (`tensim.sim.register_level.packets`) or the
flit model (`tensim.sim.register_level.flits`); the host's memory has a rate and a latency.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np

from tensim.sim import state as st
from tensim.sim.chip.arrays import MachineArrays
from tensim.sim.engine.entry_points import flits_run, packets_answer, packets_run, packets_send, packets_send_to_all
from tensim.sim.engine.event_heap import KEY_BITS
from tensim.sim.noc.packet_state import DYNAMIC_VC, STATIC_VCS
from tensim.sim.register_level import niu as registers
from tensim.sim.register_level import packets
from tensim.sim.register_level.effects import Effects
from tensim.sim.register_level.tile import RegisterTile

HEAD = ("niu_to_router_cycles", "hop_cycles", "router_to_niu_cycles")  # of the shortest way between two tiles
INCREMENT, SWAP_4 = 1, 7  # instructions of an atomic
WRAP_SHIFT, OPERATION_SHIFT = 2, 12  # bits of the word with the instruction; the lowest two name one of four words
NOTICES = 4096  # rows for what has happened; more take another call


@dataclass
class Transfer:
    """A request under way.  `content`: its data, of a read those that it has found; `old`: what an atomic has found; `left`:
    answers that it waits for.
    """

    tile: RegisterTile
    request: registers.Request
    targets: dict  # places by number of the tile
    left: int
    content: bytes = b""
    old: bytes = b""


class Network:
    """Both NoCs of a `tensim.sim.register_level.chip.RegisterChip`; `noc`: their model, packet or flit.

    What comes of a request happens at tiles (`effects`).  Nothing that happens at a tile has an effect on another one before
    `look_ahead` cycles.
    """

    def __init__(self, chip, noc="packet"):
        self._chip, self._arch = chip, chip.arch
        self.takes_past = (
            noc == "packet"
        )  # requests of cycles that it has passed; else tiles wait for it when they have sent
        self._run = packets_run if noc == "packet" else flits_run
        self._unsent = 0  # requests that have not begun, and writes that have not left: their tiles will be told
        self._tags, self.effects = itertools.count(), Effects()
        self._under_way = {}  # by tag
        # bytes a cycle and cycles until the answer; the chip's parameters name directions as the host sees them
        per_ns = 1000 / self._arch.clock_mhz
        self._host = {
            is_write: (
                self._arch[f"pcie.{name}_bytes_per_ns"] * per_ns,
                round(self._arch[f"pcie.{name}_latency_ns"] / per_ns),
            )
            for is_write, name in ((False, "write"), (True, "read"))
        }
        self._host_free = {False: 0, True: 0}
        # An L1 serves what comes in turn, each by the time of a write: a read so long after its answer has left.  That is home no
        # sooner than behind the links of its own tile.
        out, hop, self._home = (self._arch[f"noc.{name}"] for name in HEAD)
        read, write = self._arch["l1.noc_access_latency"], self._arch["l1.noc_write_latency"]
        late = min(max(write - read, 0), out + self._home)
        self._l1_latency, self.look_ahead = min(write, read + late), out + hop + self._home - late
        self._free = {}  # cycle from which a tile's NIU takes the next request, by (number of the tile, NoC)
        self._linked = set()  # (number of the tile, NoC) whose last multicast keeps its path
        self._behind = {}  # arguments of `_start` of multicasts that wait until the one with their path has begun, likewise
        self._notices = np.zeros(NOTICES, packets.NOTICE)
        self._arrays = MachineArrays(self._arch, "off", noc)
        self._machine = self._arrays.address
        self._width = self._arch.noc_size[0]
        self._place_tiles()

    def _place_tiles(self):
        """Tell the models which tiles are DRAM, and which take multicasts."""
        arch, tiles, mask = self._arch, self._arrays["tiles"], self._arrays["workers_mask"]
        per_tile = arch["dram.banks_per_tile"]
        self._room = per_tile * arch.dram_bank_bytes
        for place, channel in self._chip.channels.items():
            if self._is_on_grid(place):
                first = arch.dram_tiles.get(self._chip.physical(place), channel * per_tile % arch.dram_banks)
                tiles[self._number(place)] = (st.TILE_DRAM, first, -1)
        for place in self._chip.workers:
            mask[self._number(place)] = 1

    @property
    def due_at(self):
        """Cycle at which something happens next, or may: None when nothing is under way."""
        event, effect = self._next_event, self.effects.due_at
        if event is None or effect is None:
            return effect if event is None else event
        return min(event, effect)

    @property
    def _next_event(self):
        """Cycle of the next event of the compiled engine, None when there is none."""
        if not self._arrays.machine["event_heap_size"]:
            return None
        return int(self._arrays["event_heap"][0]) >> KEY_BITS

    @property
    def is_busy(self):
        """Is anything under way?"""
        return self.due_at is not None

    # --- requests

    def send(self, tile, request, now):
        """Take a tile's request at a cycle."""
        noc, targets = request.noc, self._targets(tile, request)
        strangers = [place for place in targets if not self._is_on_grid(place)]
        refusal = ""
        if request.size > self._arch["noc.max_packet_bytes"]:
            refusal = f"asks a NoC for {request.size} bytes at once, which is no packet"
        elif strangers:
            refusal = f"sends a request to {strangers[0][0]}-{strangers[0][1]} of NoC {noc}, where no tile is"
        if refusal:
            tile.niu.taken(request)
            self._chip.tell(f"tile {tile.place} {refusal}")
            return
        count = tile.niu.count
        count(noc, registers.ACCEPTED)
        if request.kind == "read":
            count(noc, registers.READS_SENT)
            count(noc, registers.READS_STARTED)
            count(noc, registers.OUTSTANDING + request.identifier)
        else:
            sent, started = _counters(request)
            if started is not None:
                count(noc, started)
            if request.is_marked:
                count(noc, registers.OUTSTANDING + request.identifier, len(targets))
            if request.kind != "write":  # which is sent when its last flit has left
                count(noc, sent)
            else:
                count(noc, registers.OUTGOING + request.identifier)
        behind = self._behind.get((self._number(tile.coordinates), noc)) if request.is_broadcast else None
        if behind is None:
            self._start(tile, request, targets, now)
        else:
            behind.append((tile, request, targets))

    def _start(self, tile, request, targets, now):
        tag, noc, source = next(self._tags), request.noc, self._number(tile.coordinates)
        transfer = Transfer(tile, request, {self._number(place): place for place in targets}, len(targets))
        if request.kind == "write":
            transfer.content = bytes(tile.read(request.local, request.size))
        begin = max(now, self._free.get((source, noc), 0))
        self._free[source, noc] = begin + 1
        self._make_room()
        kind = packets.KINDS[request.kind]
        is_answered = request.is_marked or request.kind == "read"
        answer = packets.ANSWERED if is_answered else packets.POSTED
        self._under_way[tag] = transfer
        self._unsent += 1 + (request.kind == "write")
        if request.is_broadcast:
            flags = packets.LINKED_BEFORE * ((source, noc) in self._linked) | packets.KEPT * request.is_linked
            flags |= packets.LOOPS_BACK * request.includes_source
            if request.is_linked:
                self._linked.add((source, noc))
                self._behind[source, noc] = []
            else:
                self._linked.discard((source, noc))
            packets_send_to_all(
                self._machine, tag, kind, noc, source, self._corners(request), request.size, flags, answer, begin
            )
            return
        (target,) = transfer.targets
        if self._chip.is_host(targets[0]) and is_answered:
            answer = packets.BY_HOST
        vc = request.static_vc % STATIC_VCS if request.static_vc is not None else DYNAMIC_VC
        address = request.remote % self._room
        packets_send(self._machine, tag, kind, noc, source, target, address, request.size, vc, answer, begin)

    def _make_room(self):
        machine = self._arrays.machine
        if machine["n_transactions"] - machine["transactions_used"] < 2 * packets.MARGIN:
            self._arrays.grow_transactions(len(self._arrays["transactions"]))

    def _targets(self, tile, request):
        """Places of the tiles that a request goes to, as the host names them."""
        x, y, x0, y0 = registers.corners(request.place)
        if not request.is_broadcast:
            return [self._chip.place(request.noc, x, y)]
        found = self._chip.rectangle(request.noc, (x0, y0), (x, y))
        return [one for one in found if one != tile.coordinates or request.includes_source]

    def _corners(self, request):
        """The corners of a multicast in the direction in which its NoC goes from one to the other: x0, y0, x1, y1, 8 bits each."""
        x, y, x0, y0 = registers.corners(request.place)
        places = (self._chip.physical(self._chip.place(request.noc, *one)) for one in ((x0, y0), (x, y)))
        (left, right), (top, bottom) = (sorted(values) for values in zip(*places, strict=True))
        if request.noc == 0:
            return left | top << 8 | right << 16 | bottom << 24
        return right | bottom << 8 | left << 16 | top << 24

    def _is_on_grid(self, place):
        (x, y), (width, height) = self._chip.physical(place), self._arch["chip.noc_grid"]
        return 0 <= x < width and 0 <= y < height

    def _number(self, place):
        x, y = self._chip.physical(place)
        return y * self._width + x

    # --- what becomes of them

    def lead(self, begin, until):
        """Let packets move as far as tiles that have come to `begin` allow; returns the cycle, `until` at most, up to which these
        may follow: nothing that is not among the effects comes to one of them before.
        """
        if self.takes_past:
            horizon = min(until, begin + self.look_ahead)
            self.advance(horizon)
            return horizon
        self.advance(begin)
        event = self._next_event
        if event is None:
            return min(until, begin + self.look_ahead)
        # by an event's cycle tiles are told of their own NIU, by the one in which it can be at a tile of others
        return min(until, event if self._unsent else event - 1 + self._home)

    def advance(self, until):
        """Let packets move up to a cycle: what they do until then is among the effects."""
        rows, arrays = self._notices, self._arrays
        while arrays.machine["event_heap_size"] and int(arrays["event_heap"][0]) >> KEY_BITS <= until:
            self._make_room()
            self._run(self._machine, until, rows.ctypes.data, NOTICES)
            for tag, what, cycle, number, index in rows[1 : 1 + int(rows[0]["tag"])].tolist():
                self._noticed(self._under_way[tag], tag, what, cycle, number, index)

    def _noticed(self, transfer, tag, what, cycle, number, index):
        tile, request = transfer.tile, transfer.request
        if what == packets.BEGUN:
            self._unsent -= 1
            if request.is_broadcast:
                self._free[number, request.noc] = max(self._free[number, request.noc], cycle)
                for following in self._behind.pop((number, request.noc), ()):
                    self._start(*following, cycle)
            self.effects.at(tile.coordinates, cycle, lambda cycle: _begin(tile, request, cycle))
        elif what == packets.LEFT:
            if not transfer.targets:  # a multicast that nobody gets
                del self._under_way[tag]
            if request.kind == "write":
                self._unsent -= 1
                told = cycle + self._told_later(transfer)
                self.effects.at(tile.coordinates, told, lambda cycle: _leave(tile, request, cycle))
        elif what == packets.AT_TARGET:
            self._reach(transfer, tag, cycle, number, index)
        else:
            self._finish(transfer, tag)
            self.effects.at(tile.coordinates, cycle, lambda cycle: self._answered(transfer, cycle))

    def _told_later(self, transfer):
        """Cycles after which a core is told that a write has left."""
        if transfer.request.is_broadcast:
            return self._arch["noc.multicast_sent_cycles"]
        (number,) = transfer.targets
        in_dram = self._arrays["tiles"]["kind"][number] == st.TILE_DRAM
        return 0 if in_dram else self._arch["noc.write_sent_cycles"]

    def _reach(self, transfer, tag, cycle, number, index):
        """A request is at a target."""
        request, target = transfer.request, transfer.targets[number]
        if self._chip.is_host(target):
            cycle = self._served_by_host(request, cycle)
            if request.is_marked or request.kind == "read":
                packets_answer(self._machine, index, cycle)
        elif self._arrays["tiles"]["kind"][number] != st.TILE_DRAM:
            cycle += self._l1_latency
        if not request.is_marked and request.kind != "read":
            self._finish(transfer, tag)

        def happen(cycle):
            if request.kind == "read":
                transfer.content = self._chip.tile(*target).read(request.remote, request.size)
            else:
                transfer.old = self._carry_out(request, target, transfer.content, cycle)

        self.effects.at(target, cycle, happen)

    def _served_by_host(self, request, cycle):
        """Cycle at which the host's memory has done its part of a request."""
        is_write = request.kind != "read"
        rate, latency = self._host[is_write]
        end = max(cycle, self._host_free[is_write]) + math.ceil(request.size / rate)
        self._host_free[is_write] = end
        return end + latency

    def _finish(self, transfer, tag):
        transfer.left -= 1
        if transfer.left == 0:
            del self._under_way[tag]

    def _answered(self, transfer, cycle):
        """Data, an old value or an acknowledgement are home."""
        tile, request = transfer.tile, transfer.request
        if request.kind == "read":
            tile.take(request.local, transfer.content, cycle)
            counter = registers.READ_RESPONSES
        elif request.kind == "atomic":
            tile.take(request.answer[1], transfer.old, cycle)
            counter = registers.ATOMIC_RESPONSES
        else:
            counter = registers.WRITE_ACKS
        tile.count(request.noc, counter, cycle)
        tile.count(request.noc, registers.OUTSTANDING + request.identifier, cycle, -1)

    def _enabled(self, request, tile, address):
        """The bytes that an inline write leaves: of those that it does not enable, what is there.

        Blackhole's API has whole words alone, and shifts their bits past the word that names bytes.
        """
        value, flit_bytes = request.value.to_bytes(4, "little"), self._arch["noc.flit_bytes"]
        bits = request.operation >> address % flit_bytes & 15 if self._arch.name == "wormhole_b0" else 15
        if bits == 15:
            return value
        there = bytes(tile.read(address, 4))
        return bytes(value[i] if bits >> i & 1 else there[i] for i in range(4))

    def _carry_out(self, request, target, content, cycle):
        """What a request does at its target; the old value of an atomic."""
        tile = self._chip.tile(*target)
        if request.kind == "write":
            put(tile, request.remote, content, cycle)
            return b""
        address = request.remote & ~3
        if request.kind == "inline":
            put(tile, address, self._enabled(request, tile, address), cycle)
            return b""
        operation = request.operation >> OPERATION_SHIFT & 15
        address = (request.remote & ~15) + 4 * (request.operation & 3)
        old = int.from_bytes(bytes(tile.read(address, 4)), "little")
        if operation == INCREMENT:
            wrap = (1 << ((request.operation >> WRAP_SHIFT & 31) + 1)) - 1
            new = (old & ~wrap) | ((old + request.value) & wrap)
        elif operation == SWAP_4:
            new = request.value
        else:
            self._chip.tell(f"atomic {operation} of a NoC is not modelled")
            new = old
        put(tile, address, (new & 0xFFFFFFFF).to_bytes(4, "little"), cycle)
        return old.to_bytes(4, "little")


def _begin(tile, request, cycle):
    """A request leaves its command buffer, which takes the next one."""
    tile.niu.taken(request)
    tile.changed(cycle)


def _leave(tile, request, cycle):
    """The last data of a write have left the tile."""
    tile.count(request.noc, _counters(request)[0], cycle)
    tile.count(request.noc, registers.OUTGOING + request.identifier, cycle, -1)


def _counters(request):
    """Numbers of the counters of a write or an atomic: of those sent and of those started, None for none."""
    if request.kind == "atomic":
        counters = (registers.ATOMICS_SENT, registers.ATOMICS_STARTED), (registers.POSTED_ATOMICS_SENT, None)
    else:
        counters = (
            (registers.WRITES_SENT, registers.WRITES_STARTED),
            (registers.POSTED_WRITES_SENT, registers.POSTED_WRITES_STARTED),
        )
    return counters[0] if request.is_marked else counters[1]


def put(tile, address, content, cycle):
    """Write to a tile at a cycle."""
    if isinstance(tile, RegisterTile):
        tile.take(address, content, cycle)
    else:
        tile.write(address, content)
