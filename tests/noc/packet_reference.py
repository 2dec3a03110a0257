"""The rules of `tensim.sim.noc.packet` in plain Python: a dictionary per link, an object per packet, a heap of events."""

import heapq
from bisect import insort
from math import inf

from tensim.sim.noc.topology import EJECT, INJECT, X_OUT, Y_OUT


def route_of(width, height, noc, source, target):
    """[(tile, direction, dateline bit)] of every link from NIU to NIU."""
    step = 1 if noc == 0 else -1
    place = {"x": source % width, "y": source // width}
    goal = {"x": target % width, "y": target // width}
    size, output = {"x": width, "y": height}, {"x": X_OUT, "y": Y_OUT}
    route = [(source, INJECT, 0)]
    if source == target:
        return [*route, (target, EJECT, 0)]
    dateline = 0
    for axis in ("x", "y") if noc == 0 else ("y", "x"):
        if place[axis] != goal[axis]:
            dateline = 0
        while place[axis] != goal[axis]:
            tile = place["y"] * width + place["x"]
            moved = place[axis] + step
            dateline |= not 0 <= moved < size[axis]
            place[axis] = moved % size[axis]
            route.append((tile, output[axis], dateline))
    return [*route, (target, EJECT, dateline)]


class Packet:
    def __init__(self, arch, index, traffic):
        self.index, self.flits = index, traffic["flits"]
        self.response, self.dynamic = traffic["response"], traffic["dynamic"]
        self.static_vc = traffic["static_vc"]
        self.local = traffic["source"] == traffic["target"]
        self.buffer = arch["noc.buffer_flits"]
        self.tail = self.rest = 0
        self.route = route_of(*arch.noc_size, traffic["noc"], traffic["source"], traffic["target"])
        self.links = [(traffic["noc"], tile, direction) for tile, direction, _ in self.route]
        self.hop, self.vcs, self.done, self.rooms, self.delivered = 0, [], [], [], None
        self.waits, self.slow_hop = False, -1

    def stalled(self, hop):
        """Flits that have not crossed the link at `hop` when this packet waits and the buffers up to its head are full."""
        return min(self.flits - sum(self.rooms[hop : self.hop]), self.done[hop] - self.arrived)

    def behind(self):
        """Hops whose virtual channels it holds behind its head."""
        return range(self.tail, self.hop)


class Reference:
    """Sends records of `bench.packet.TRAFFIC`; a source emits a flit per cycle."""

    def __init__(self, arch, traffic):
        self.arch, self.workers = arch, {y * arch.noc_size[0] + x for x, y in arch.worker_coords}
        self.latency = {
            INJECT: arch["noc.niu_to_router_cycles"],
            X_OUT: arch["noc.hop_cycles"],
            Y_OUT: arch["noc.hop_cycles"],
            EJECT: arch["noc.router_to_niu_cycles"],
        }
        self.clear, self.vc_free, self.queues, self.ports = {}, {}, {}, {}
        self.gaps = {}  # by link: cycles before `clear` that are not booked, begin and end
        self.buffered, self.full = {}, {}  # flits behind (link, VC); since when its buffer is full
        self.inside, self.left = {}, {}  # packets that have to leave that buffer, in turn; when the last one has left
        self.holder = {}  # the last packet of a (link, VC)
        self.taken = {}  # by (link, VC): its last packet, at which hop, with room for how many flits, needing how many
        self.packets = [Packet(arch, i, record) for i, record in enumerate(traffic)]
        self.events = [(int(record["time"]), i) for i, record in enumerate(traffic)]

    def run(self):
        """Cycle of delivery of each packet."""
        heapq.heapify(self.events)
        while self.events:
            self.now, index = heapq.heappop(self.events)
            self.arrive(self.packets[index])
        return [packet.delivered for packet in self.packets]

    def arrive(self, packet):
        if not packet.waits:
            packet.arrived = self.now
            if packet.hop > 0 and self.inside[packet.links[packet.hop - 1], packet.vcs[-1]][0] is not packet:
                self.wait(packet)
                return
        link = packet.links[packet.hop]
        vcs = self.channels(packet)
        direction = packet.route[packet.hop][1]
        either = packet.dynamic or packet.response
        vc = vcs[0 if direction == INJECT or either else packet.static_vc % 2]
        if direction != INJECT and either:
            first, second = (self.vc_free.get((link, vc), 0) for vc in vcs)
            at_front = max(self.now, self.left.get((packet.links[packet.hop - 1], packet.vcs[-1]), 0))
            if first > at_front and second < first and (packet.flits > 1 or self.holder[link, vc].flits > 1):
                vc = vcs[1]
        if self.vc_free.get((link, vc), 0) == inf:
            self.wait(packet)
            queue = self.queues.setdefault((link, vcs), [])
            insort(queue, (packet, vcs if either else (vc,)), key=lambda waiting: waiting[0].arrived)
        else:
            self.claim_in_turn([(packet, vc)])

    def wait(self, packet):
        """A packet's flits that will be buffered leave the links behind its head to others."""
        if not packet.waits:
            packet.waits = True
            for hop in packet.behind():
                if packet.stalled(hop) > 0:
                    self.leave_out(packet, hop, packet.stalled(hop))

    def leave_out(self, packet, hop, flits):
        """Take back the last flits that the link at a hop of a packet was to carry, from its gap if they are there."""
        link, (begin, end) = packet.links[hop], self.gaps.get(packet.links[hop], (0, 0))
        if packet.done[hop] <= end:
            self.gaps[link] = (max(packet.arrived, begin - flits), end)
        else:
            self.clear[link] = max(packet.arrived, self.clear[link] - flits)

    def channels(self, packet):
        """The pair of VCs of a packet's class on its next link."""
        _, direction, dateline = packet.route[packet.hop]
        dateline = 0 if direction == EJECT and packet.response else int(dateline)
        kind = "response" if packet.response else f"request {packet.static_vc // 2}"
        return ((kind, dateline, 0), (kind, dateline, 1))

    def claim_in_turn(self, ready):
        """Let packets claim, the one set free last first, with those that their claims set free."""
        while ready:
            ready += self.claim(*ready.pop())

    def claim(self, packet, vc):
        """Returns the packets that can claim a VC now, with that VC."""
        hop, link, flits = packet.hop, packet.links[packet.hop], packet.flits
        free = self.vc_free.get((link, vc), 0)
        if free > packet.arrived and hop > 0 and flits > 1 and not (packet.response or packet.dynamic):
            free += self.arch["noc.reallocation_cycles"]
        start = max(packet.arrived, free)
        if hop > 0:
            start = max(start, self.left.get((packet.links[hop - 1], packet.vcs[-1]), 0))
        if link[2] != EJECT:
            self.inside.setdefault((link, vc), []).append(packet)
        self.vc_free[link, vc] = inf
        self.holder[link, vc] = packet
        clear = self.book(link, flits)
        done = max(clear, start + flits) if flits > 1 else start + 1
        if flits > 1 and link[2] == EJECT:
            done = max(start + flits, min(done, start + flits + self.flits_between(packet, link, vc, start)))
        if hop > 0:
            if start > packet.arrived:
                self.go_on(packet, start)
            done = max(done, packet.done[-1] + self.through(packet, hop - 1))
        packet.waits = False
        if link[2] != EJECT:
            done = self.take_room(packet, link, vc, start, done)
        _, tile, direction = link
        if tile in self.workers and direction in (INJECT, EJECT) and flits > 1 and not (packet.local and hop > 0):
            per_flit = (1 + packet.local) * self.arch["noc.flit_bytes"] / self.arch["l1.noc_port_bytes_per_cycle"]
            cycles = (flits - 1) * per_flit
            passed = self.pass_port(tile, start, cycles)
            done = max(done, int(passed if flits > packet.buffer else min(passed, start + 4 * cycles)))
        packet.done.append(done)
        packet.vcs.append(vc)
        packet.hop += 1
        if packet.hop == len(packet.links):
            packet.delivered = done - 1 + self.latency[EJECT]
            return self.release(packet, hop)
        packet.rooms.append(self.taken[link, vc][2])
        heapq.heappush(self.events, (start + self.through(packet, hop), packet.index))
        for first in range(hop, packet.tail - 1, -1):
            if sum(packet.rooms[first:]) >= flits:
                return self.release(packet, first)
        return []

    def book(self, link, flits, start=None):
        """The cycle in which a link has carried flits from `start` (now) on: in its gap as far as they fit, then behind all."""
        start = self.now if start is None else start
        begin, end = self.gaps.get(link, (0, 0))
        begin = max(begin, start)
        early = max(0, min(flits, end - begin))
        self.gaps[link] = (begin + early, end)
        if early == flits:
            return begin + early
        self.clear[link] = max(self.clear.get(link, 0), start) + flits - early
        return self.clear[link]

    def pass_port(self, tile, start, cycles):
        """When the L1 port of a tile has passed what needs it for some cycles from `start` on, its gap first."""
        free, begin, end = self.ports.get(tile, (0, 0, 0))
        begin = max(begin, start) if end > start else begin
        early = max(0, min(cycles, end - max(begin, start)))
        if early > 0:
            begin += early
        if early < cycles:
            if start > free:
                free, begin, end = start, free, start
            free += cycles - early
        self.ports[tile] = free, begin, end
        return free if early < cycles else begin

    def flits_between(self, packet, link, mine, start):
        """Flits that the other VCs of an ejection link send between those of a packet, at most as many as it has."""
        others = [vc for at, vc in self.holder if at == link and vc != mine and self.vc_free[link, vc] > start]
        return sum(max(0, min(self.holder[link, vc].done[-1] - start, packet.flits)) for vc in others)

    def go_on(self, packet, start):
        """The flits that stood while the packet waited take the links behind its head from `start` on."""
        for hop in packet.behind():
            link, stalled = packet.links[hop], packet.stalled(hop)
            if not packet.waits:
                filled = (packet.buffer - self.arch["noc.hop_cycles"]) * (packet.hop - hop)
                stalled = min(stalled, start - packet.arrived - filled)
                if stalled > 0:
                    self.leave_out(packet, hop, stalled)
            if stalled > 0:
                packet.done[hop] = max(packet.done[hop], self.book_from(link, start, stalled))
            if hop > 0:
                packet.done[hop] = max(packet.done[hop], packet.done[hop - 1] + self.through(packet, hop - 1))

    def take_room(self, packet, link, vc, start, done):
        """The tail crosses at `done`, or later when the other VCs leave too little of the buffer behind the link."""
        loop = self.arch["noc.credit_round_trip_cycles"]
        shared = self.arch["noc.shared_buffer_flits"]
        if packet.flits == 1:
            self.taken[link, vc] = packet, packet.hop, 1, 1
            return done
        for kind in ("request 0", "request 1", "response"):
            for other in ((kind, dateline, i) for dateline in (0, 1) for i in (0, 1)):
                if other != vc:
                    if self.vc_free.get((link, other), 0) == inf:
                        self.slow_down(*self.taken[link, other][:2], packet.flits, start, self.clear[link])
                    shared -= max(self.flits_behind(packet, link, other, start) - 1, 0)
        room = max(1, min(packet.buffer, shared + 1))
        if packet.flits > room and start + packet.flits * loop // room > done:
            packet.slow_hop, done = packet.hop, start + packet.flits * loop // room
        self.taken[link, vc] = packet, packet.hop, room, min(room, 1 + packet.flits * loop // (done - start))
        return done

    def slow_down(self, packet, hop, flits, start, clear):
        """As many of `flits` as a packet has left at a hop pass between them."""
        left = min(packet.done[hop] - start, packet.flits)
        if packet.waits or left <= 0:
            return
        packet.done[hop] = max(packet.done[hop], min(packet.done[hop] + min(flits, left), clear))
        for i in range(hop + 1, packet.hop):
            packet.done[i] = max(packet.done[i], packet.done[i - 1] + self.through(packet, i - 1))

    def flits_behind(self, packet, link, vc, start):
        """Flits that another VC has behind a link at `start`, as `packet` sees it."""
        if self.vc_free.get((link, vc), 0) <= start:
            return self.buffered.get((link, vc), 0)
        if packet.dynamic and not packet.response and vc[0] != "response":
            return packet.buffer + 1
        holder, hop, room, use = self.taken[link, vc]
        before = self.buffered.get((link, vc), 0)
        if (link, vc) in self.full:
            return before
        own = room if holder.waits or hop <= holder.slow_hop else use
        if holder.waits:
            waited = (self.now - holder.arrived) // self.arch["noc.credit_round_trip_cycles"]
            own = max(own, min(holder.flits, packet.buffer, own + waited))
        return min(packet.buffer, before + own)

    def through(self, packet, hop):
        """Cycles from a link of the route, which is not the last, to the next one."""
        return self.latency[packet.route[hop][1]]

    def book_from(self, link, start, flits):
        """As `book`, but from `start` on; the cycles until then are the link's gap."""
        if start > self.clear[link]:
            self.gaps[link] = (self.clear[link], start)
            self.clear[link] = start + flits
            return self.clear[link]
        begin, end = self.gaps.get(link, (0, 0))
        if max(begin, start) < end:
            return self.book(link, flits, start)
        self.clear[link] += flits
        return self.clear[link]

    def release(self, packet, first):
        """Let the tail leave all links up to the one at hop `first`; the rest of a packet that is under way is buffered there."""
        result = []
        credit = self.arch["noc.credit_round_trip_cycles"] - self.arch["noc.hop_cycles"]
        leaves, rest = packet.done[-1], packet.flits
        for hop in range(len(packet.done) - 1, packet.tail - 1, -1):
            if hop < len(packet.done) - 1:
                leaves = max(packet.done[hop], leaves - packet.rooms[hop] + credit)
            if hop > first:
                rest -= packet.rooms[hop]
                continue
            place, free = (packet.links[hop], packet.vcs[hop]), max(leaves, self.now)
            if hop > 0:
                self.depart((packet.links[hop - 1], packet.vcs[hop - 1]), free)
            if packet.delivered is None and hop == first:
                self.buffered[place] = self.buffered.get(place, 0) + rest
                if self.buffered[place] + rest > packet.buffer:
                    self.full[place] = free
                    continue
            result += self.free(*place, free)
        result += self.leave(packet, packet.tail - 1, leaves - packet.rest + credit)
        packet.tail, packet.rest = first + 1, rest
        return result

    def depart(self, place, time):
        """The tail of the first packet in a buffer leaves it at `time`; the next one, if its head has come, goes on then."""
        self.inside[place].pop(0)
        self.left[place] = time
        if self.inside[place]:
            packet = self.inside[place][0]
            if packet.waits and packet.hop < len(packet.links) and packet.links[packet.hop - 1] == place[0]:
                heapq.heappush(self.events, (max(time, self.now + 1), packet.index))

    def leave(self, packet, hop, time):
        """The rest of a packet goes on from the buffer behind a link of its route; its places are back from `time` on."""
        if hop < 0:
            return []
        place = packet.links[hop], packet.vcs[hop]
        free = max(self.now, time - (packet.buffer - self.buffered[place]))
        self.buffered[place] -= packet.rest
        if place not in self.full or self.buffered[place] + packet.rest > packet.buffer:
            return []
        return self.free(*place, max(self.full.pop(place), free))

    def free(self, link, vc, time):
        self.vc_free[link, vc] = time
        for (queued_at, vcs), queue in self.queues.items():
            if queued_at == link and vc in vcs:
                for place, (packet, taken) in enumerate(queue):
                    if vc in taken:
                        del queue[place]
                        return [(packet, vc)]
        return []
