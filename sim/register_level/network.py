"""Transfers between tiles of a chip at register level: when what they bring is there, and what it does.

Latencies and ports are those of the other levels: a head takes `noc.niu_to_router_cycles`, `noc.hop_cycles` a hop and
`noc.router_to_niu_cycles`; packets leave and enter an NIU one after another, and take each link on their way where it is free;
L1 and DRAM have their latencies, a DRAM channel its rate.  There are no virtual channels and no buffers that fill: a packet that
waits holds nothing, and those of a multicast take no links.
"""

import heapq
import itertools
import math

from tensim.sim.noc.topology import next_hop
from tensim.sim.register_level import niu as registers
from tensim.sim.register_level.calendar import Calendar
from tensim.sim.register_level.tile import RegisterTile

HEAD = ("niu_to_router_cycles", "hop_cycles", "router_to_niu_cycles")  # of the shortest way between two tiles
HOST = "host"  # its port
INCREMENT, SWAP_4 = 1, 7  # instructions of an atomic
WRAP_SHIFT, OPERATION_SHIFT = 2, 12  # bits of the word with the instruction; the lowest two name one of four words


class Network:
    """Both NoCs of a `tensim.sim.register_level.chip.RegisterChip`.

    What comes of a request happens at tiles, in the order of cycles there: `effects[place]` is a heap of (cycle, order, function of
    the cycle).  Nothing that happens at a tile has an effect on another one before `look_ahead` cycles.
    """

    def __init__(self, chip):
        self._chip, self._arch = chip, chip.arch
        self._order, self._routes = itertools.count(), {}
        self._ends = self._arch["noc.niu_to_router_cycles"] + self._arch["noc.router_to_niu_cycles"]
        self._calendars = {}  # by port, link or DRAM channel
        self.effects = {}
        self._pending = []  # heap of (cycle, place) of effects, and of some that have happened
        # bytes a cycle and cycles until the answer; the chip's parameters name directions as the host sees them
        per_ns = 1000 / self._arch.clock_mhz
        self._host_read, self._host_write = (
            (self._arch[f"pcie.{name}_bytes_per_ns"] * per_ns, round(self._arch[f"pcie.{name}_latency_ns"] / per_ns))
            for name in ("write", "read")
        )
        self.look_ahead = sum(self._arch[f"noc.{name}"] for name in HEAD)

    @property
    def due_at(self):
        """Cycle of the next effect anywhere, None when there is none."""
        while self._pending:
            cycle, place = self._pending[0]
            if self.next_at(place) == cycle:
                return cycle
            heapq.heappop(self._pending)  # it has happened
        return None

    def places_due(self, until):
        """Places at which something happens up to a cycle."""
        found = set()
        while self._pending and self._pending[0][0] <= until:
            found.add(heapq.heappop(self._pending)[1])
        return sorted(found)

    def next_at(self, place):
        """Cycle of the next effect at a place, None when there is none."""
        effects = self.effects.get(place)
        return effects[0][0] if effects else None

    def happen(self, place, until):
        """Let happen what is due at a place up to a cycle."""
        effects = self.effects.get(place, ())
        while effects and effects[0][0] <= until:
            cycle, _, effect = heapq.heappop(effects)
            effect(cycle)

    def at(self, place, cycle, effect):
        """Let something happen at a place: `effect(cycle)`."""
        heapq.heappush(self.effects.setdefault(place, []), (cycle, next(self._order), effect))
        heapq.heappush(self._pending, (cycle, place))

    @property
    def is_busy(self):
        """Is anything under way?"""
        return self.due_at is not None

    # --- requests

    def send(self, tile, request, now):
        """Take a tile's request at a cycle."""
        if request.size > self._arch["noc.max_packet_bytes"]:
            self._chip.tell(f"tile {tile.place} asks a NoC for {request.size} bytes at once, which is no packet")
            return
        noc, targets = request.noc, self._targets(tile, request)
        strangers = [place for place in targets if not self._is_on_grid(place)]
        if strangers:
            self._chip.tell(
                f"tile {tile.place} sends a request to {strangers[0][0]}-{strangers[0][1]} of NoC {noc}, where no tile is"
            )
            return
        count = tile.niu.count
        count(noc, registers.ACCEPTED)
        if request.kind == "read":
            count(noc, registers.READS_SENT)
            count(noc, registers.READS_STARTED)
            count(noc, registers.OUTSTANDING + request.identifier)
            self._read(tile, request, targets[0], now)
            return
        sent, started = _counters(request)
        if started is not None:
            count(noc, started)
        if request.is_marked:
            count(noc, registers.OUTSTANDING + request.identifier, len(targets))
        if request.kind != "write":  # which is sent when its last flit has left
            count(noc, sent)
        self._bring(tile, request, targets, now)

    def _targets(self, tile, request):
        """Places of the tiles that a request goes to, as the host names them."""
        x, y, x0, y0 = registers.corners(request.place)
        if not request.is_broadcast:
            return [self._chip.place(request.noc, x, y)]
        found = self._chip.rectangle(request.noc, (x0, y0), (x, y))
        return [one for one in found if one != tile.coordinates or request.includes_source]

    def _is_on_grid(self, place):
        (x, y), (width, height) = self._chip.physical(place), self._arch["chip.noc_grid"]
        return 0 <= x < width and 0 <= y < height

    def _flits(self, size):
        return 1 + math.ceil(size / self._arch["noc.flit_bytes"])

    def _route(self, noc, source, target):
        """Links between routers on the way of a packet: (NoC, tile, direction) (`tensim.sim.noc.topology`)."""
        key = noc, source, target
        if key not in self._routes:
            (width, height), route = self._arch["chip.noc_grid"], []
            tile, end = (y * width + x for x, y in map(self._chip.physical, (source, target)))
            while tile != end:
                direction, following = next_hop.py_func(width, height, noc, tile, end)
                route.append((noc, tile, direction))
                tile = following
            self._routes[key] = tuple(route)
        return self._routes[key]

    def _way(self, noc, source, target):
        """Cycles of a head from NIU to NIU when nothing is in its way."""
        return self._arch["noc.hop_cycles"] * len(self._route(noc, source, target)) + self._ends

    def _travel(self, noc, source, target, at, flits):
        """Cycle at which the head of a packet that leaves at a cycle comes to the other NIU: it takes each link behind others."""
        at += self._arch["noc.niu_to_router_cycles"]
        for link in self._route(noc, source, target):
            at = self._taken(link, at, flits) + self._arch["noc.hop_cycles"]
        return at + self._arch["noc.router_to_niu_cycles"]

    def _taken(self, port, at, cycles):
        """Book a port from a cycle on: the cycle at which it begins."""
        return self._calendars.setdefault(port, Calendar()).take(at, cycles)

    def _memory(self, place, at, size, is_write):
        """Cycle at which a tile's memory has done its part of a request that comes at a cycle."""
        arch, channel = self._arch, self._chip.channel(place)
        if self._chip.is_host(place):
            bytes_a_cycle, latency = self._host_write if is_write else self._host_read
            cycles = math.ceil(size / bytes_a_cycle)
            return self._taken((HOST, is_write), at, cycles) + cycles + latency
        if channel is None:
            return at + arch["l1.noc_write_latency" if is_write else "l1.noc_access_latency"]
        cycles = math.ceil(size / arch["dram.bank_bytes_per_cycle"])
        latency = arch["dram.write_latency" if is_write else "dram.read_latency"]
        return self._taken(channel, at, cycles) + cycles + latency

    def _read(self, tile, request, target, now):
        noc, flits = request.noc, self._flits(request.size)
        at = self._travel(noc, tile.coordinates, target, self._taken((tile.coordinates, noc, "out"), now, 1), 1)
        ready = self._memory(target, at, request.size, False)

        def answer(cycle):
            content = self._chip.tile(*target).read(request.remote, request.size)
            leaves = self._taken((target, noc, "out"), cycle, flits)
            head = self._travel(noc, target, tile.coordinates, leaves, flits)
            begins = self._taken((tile.coordinates, noc, "in"), head, flits)
            there = begins + flits + self._arch["l1.noc_write_latency"]
            self.at(tile.coordinates, there, lambda cycle: arrive(cycle, content))

        def arrive(cycle, content):
            tile.take(request.local, content, cycle)
            tile.count(noc, registers.READ_RESPONSES, cycle)
            tile.count(noc, registers.OUTSTANDING + request.identifier, cycle, -1)

        self.at(target, ready, answer)

    def _bring(self, tile, request, targets, now):
        """A write or an atomic: the data leave the tile, come to each target, and answers come back."""
        noc, arch = request.noc, self._arch
        flits = self._flits(request.size) if request.kind == "write" else 2
        reads = request.kind == "write"
        ready = now + (arch["l1.noc_access_latency"] if reads else 0)
        leaves = self._taken((tile.coordinates, noc, "out"), ready, flits)
        if reads:
            tile.niu.count(noc, registers.OUTGOING + request.identifier)

        def sent(cycle):
            tile.count(noc, _counters(request)[0], cycle)
            tile.count(noc, registers.OUTGOING + request.identifier, cycle, -1)

        def depart(cycle):
            content = b""
            if reads:
                content = bytes(tile.read(request.local, request.size))
                self.at(tile.coordinates, cycle + flits, sent)
            for target in targets:
                if request.is_broadcast:
                    at = cycle + self._way(noc, tile.coordinates, target)
                else:
                    at = self._travel(noc, tile.coordinates, target, cycle, flits)
                at = self._taken((target, noc, "in"), at, flits) + flits
                there = self._memory(target, at, request.size, True)
                self.at(target, there, lambda cycle, target=target: arrive(cycle, target, content))

        def arrive(cycle, target, content):
            old = self._carry_out(request, target, content, cycle)
            if request.is_marked:
                back = cycle + self._way(noc, target, tile.coordinates)
                self.at(tile.coordinates, back, lambda cycle: answered(cycle, old))

        def answered(cycle, old):
            is_atomic = request.kind == "atomic"
            tile.count(noc, registers.ATOMIC_RESPONSES if is_atomic else registers.WRITE_ACKS, cycle)
            tile.count(noc, registers.OUTSTANDING + request.identifier, cycle, -1)
            if is_atomic:
                tile.take(request.answer[1], old, cycle)

        self.at(tile.coordinates, leaves, depart)

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
