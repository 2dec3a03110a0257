"""The packet model of the NoC: one event per packet and hop.

The head of a packet takes the links of its route in the order in which heads arrive. At each link it claims the virtual
channel (VC) of its class, which is request or response times the dateline bit, and waits in that VC's queue while another
packet holds it; of those that wait the one goes first whose head came to the router first. The dateline bit is set behind the
wrap of the ring and cleared by the turn, which keeps the tori free of deadlock
(docs/hardware/noc.md#virtual-channels-and-arbitration). There are two classes of requests and one of responses, each with two
VCs: a request keeps to the one that its static VC number (0 to 3: class and VC of it) names, responses and dynamic requests
take whichever is free when they come to the front of a buffer behind their source, whose NIU sends one packet of a class at a
time; an ejection link lends both to every response, and its VCs share it flit by flit. A DRAM endpoint takes static writes of
both sides of the dateline one after the other. What a tile sends to itself goes by its own router alone, like everything
else: into it and out of it in turn with the others of its class. A request of several flits that has waited in a router for
its static VC gets it `reallocation` cycles after the tail before it has left.

A waiting packet is buffered at the inputs of the routers behind it, up to `buffer` flits in each, and so holds the VCs of the
links from its tail to its head. Its first flits to be buffered stand behind a link that is free again for the next packet only
while the buffer has room for another like it. Packets leave a buffer in the order in which they came into it: a head waits
until the tail before it has gone on, wherever the two are bound for. Claimed link by claimed link the cycle in which the tail
leaves follows: not before the link has carried the flits claimed ahead, not before the tail has come over the link before, and
only when the flit that is a buffer ahead has left and its credit is back. The links behind a waiting packet carry others
meanwhile, and its own flits when it goes on: they are booked for the cycles from then on, and the gap before them for whoever
comes until then. Flits of different VCs interleave on a link: a packet that comes later delays one that is under way by its
flits, at most by as many as that one has left; a packet of one flit therefore never waits for a long one of another class,
which it delays by one cycle.

All VCs of a port share most of its buffer (ISA DRAMTile): `shared_buffer` flits beside one for each. A packet that finds other
VCs full gets what is left, and sends no more flits than that per round trip of a credit. A VC is full when its packet waits,
or goes on slowly for this reason further ahead; else it has the flits that its rate needs. This is what slows reads of many
cores down by multiples: buffered requests take the places of responses. What a packet finds holds until its tail has passed.

At the ends: data that leave an L1 go at a rate of their own, and all data into and out of an L1 share its port, both NoCs
together, and what will pass it later leaves the time until then to others; what a tile sends to itself passes it twice, flit
by flit. A read request is buffered in its target's NIU until the response starts to leave, and an NIU that is full of them
holds its ejection link for all VCs of requests. A response leaves a DRAM tile as soon as its first data (a chunk of them, on
Blackhole) are there and goes on at the channel's rate; what is written there comes out of the network no faster than the
tile's port and the channel's write queue take it. A write on a dynamic VC that is under way together with the one of another
sender before it arrives mixed with its data flit by flit (ISA DRAMTile); else such a packet goes the way of others.
Latency without load: 5 + 9 per hop + 5 cycles for the head (ISA NoC/README).
"""

import numpy as np

from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import in_cache_lines, lowest_bit, zeros_in_cache_lines
from tensim.sim.noc.topology import EJECT, INJECT, LINKS_PER_TILE, X_OUT, Y_OUT, link_index, offsets

MAX_ROUTE = 32  # links: 29 on the longest route, Blackhole's 17x12 torus
MAX_TREE = 4096
# VCs of a link, in pairs by dateline bit: two each of both classes of requests, then two of responses; four places are unused
VC_BITS = 4
N_VCS = 1 << VC_BITS
REQUEST_VCS = 8
STATIC_VCS = 4  # numbers of static VCs of requests: class (2) and VC of it (1)
DEFAULT_VC = 1  # static VC of requests that name none (tt-metal's VC of unicast writes)
PORT_BITS = 8
PORT_TICKS = 1 << PORT_BITS  # per cycle: the unit of time of L1 ports
PORT_STREAMS = 4  # that share an L1 port flit by flit: into it and out of it on both NoCs
HELD = 1 << 62  # no end known yet
DYNAMIC_VC = 16  # "VC number" of a request whose VC routers choose: the 4 bits of a VC end at 15
WAITING = -1
REQUEST, RESPONSE = 0, 1
NO_PORT = -1

# The model's speed follows from the cache lines that a hop touches.
LINK_DTYPE = in_cache_lines(
    [(name, np.int64) for name in "clear gap_begin gap_end flits packets".split()]
    + [(name, np.int32) for name in "in_use latency port next_tile wraps writer requests owner buffered closed".split()]
    + [(name, np.int64) for name in "stall longest waiter reserved stamp offset".split()]
)
# clear: the cycle from which the link has nothing left to carry; reserved: the cycle until which the path of a multicast of
# tile `owner` holds the link; port: the tile whose L1 is behind it, or NO_PORT; wraps: 1 on the link that closes the ring;
# gap_begin, gap_end: cycles before `clear` that nothing is booked for yet;
# requests: reads that the NIU behind it can buffer, `buffered` that it does, `closed`: bit set of VCs held until it has room;
# writer: 1 + injection link of the last packet for a DRAM channel;
# stall: cycles that packets waited for it, `longest` the most that one did, of the tile whose injection link is `waiter`;
# in_use: bit set of VCs that hold anything, and of some that no longer do
VC_DTYPE = in_cache_lines(
    [(name, np.int64) for name in "free full left".split()]
    + [(name, np.int32) for name in "waiting holder behind last_behind".split()]
    + [(name, np.int16) for name in "buffered hop room use entered gone".split()],
)
# Of a VC, N_VCS of each link.  free: the cycle from which it is, or HELD; waiting: queue of those that
# wait for it or the other one of its pair, its first packet (of the pair's first VC) or last one (of its second); buffered:
# flits in the buffer behind the link; full: 0, or the cycle from which it would be free if that buffer had room; holder: the
# last packet that took it, at hop `hop` of its route, with `room` for flits, of which its rate needs `use`; entered, gone:
# packets that have taken it and whose tails have left the buffer behind it, the last one in cycle `left` (both wrap round);
# behind, last_behind: queue of the packets in that buffer whose heads wait until the tail before them has left it
PACKET_DTYPE = in_cache_lines(
    [(name, np.int64) for name in "time arrive".split()]
    + [(name, np.int32) for name in "link vc tile flits next dram_queue".split()]
    + [(name, np.int16) for name in "hop tail rest x_hops y_hops slow_hop turn".split()]
    + [
        (name, np.int8)
        for name in "noc response dateline dynamic static_vc waits awaits_response local mixed delivered".split()
    ]
    + [(name, np.int64) for name in "begun left supplied dram_queue_ticks dram_queue_room fragments_ticks".split()]
    + [(name, np.int32) for name in "emission buffered_behind next_granted next_tail_sent".split()]
    + [("route", np.int16, MAX_ROUTE), ("rooms", np.int16, MAX_ROUTE), ("done", np.int64, MAX_ROUTE)]
)
# tail: the first hop whose VC it still holds; rest: flits in the buffer before that link; rooms: for how many flits of it the
# buffer behind each link of its route has room; turn: its number among the packets that came over the last of them;
# awaits_response: 1 for a read request; vc: the index of the last VC that it took or waits for; buffered_behind: 1 + that of
# the ejection behind which its request is buffered, or 0; supplied: the cycle by which a DRAM channel has given all data of a
# response, else 0; dram_queue: write queue of the DRAM channel it goes to, as an index of the ports, or -1; dram_queue_ticks:
# time it takes of that channel, fragments_ticks: if its flits come mixed with those of others; dram_queue_room: time that as many
# writes like it take as the queue has room for; dynamic: 1 for a request whose
# VC routers may change; static_vc: of a request, 0 to 3; mixed: 1 when its flits came so; waits: 1 while its head waits for a
# VC; slow_hop: the last hop whose buffer had less room than its rate needs, or -1
NOC_PARAMS_DTYPE = np.dtype(
    [(name, np.int64) for name in (
        "width height tiles hop inject buffer read_cost write_cost multicast_cost port_ticks dram_ports dram_port_ticks n_ports "
        "reserve even_extra odd_extra stamp granted tail_sent reallocation dram_cost chunk_flits shared_buffer "
        "round_trip"
    ).split()]
    + [("tree", np.int64, MAX_TREE)],
    align=True,
)  # fmt: skip


def build_links(arch):
    """All links of both NoCs, idle."""
    width, height = arch.noc_size
    links = zeros_in_cache_lines(2 * width * height * LINKS_PER_TILE, LINK_DTYPE)
    kinds = np.arange(len(links)) % LINKS_PER_TILE
    links["latency"] = arch["noc.hop_cycles"]
    links["latency"][kinds == INJECT] = arch["noc.niu_to_router_cycles"]
    links["latency"][kinds == EJECT] = arch["noc.router_to_niu_cycles"]
    links["port"] = NO_PORT
    links["requests"] = arch["noc.niu_requests"]
    for x, y in arch.dram_tiles:
        for noc in range(2):
            links["requests"][link_index.py_func(width * height, noc, y * width + x, EJECT)] = arch[
                "dram.endpoint_requests"
            ]
    tiles = np.arange(len(links)) // LINKS_PER_TILE % (width * height)
    step = np.where(np.arange(len(links)) < len(links) // 2, 1, -1)
    x, y = tiles % width + step * (kinds == X_OUT), tiles // width + step * (kinds == Y_OUT)
    links["next_tile"] = y % height * width + x % width
    links["wraps"] = (x % width != x) | (y % height != y)
    for x, y in arch.worker_coords:
        tile = y * width + x
        for noc in range(2):
            for kind in (INJECT, EJECT):
                links["port"][link_index.py_func(width * height, noc, tile, kind)] = tile
    return links


def build_vcs(arch):
    """All VCs of all links, free."""
    width, height = arch.noc_size
    assert 2 * width * height * LINKS_PER_TILE * N_VCS <= 1 << 15  # `route` of a packet holds their indices
    vcs = zeros_in_cache_lines(2 * width * height * LINKS_PER_TILE * N_VCS, VC_DTYPE)
    vcs["waiting"] = vcs["behind"] = -1
    return vcs


def build_ports(arch):
    """Cycle (in PORT_TICKS) from which the L1 port of each tile is free, then the data bus of each DRAM channel, then the port
    of each DRAM tile on each NoC.

    After all of them the begin, and then the end, of the time before that nothing is booked for yet, in the same order.
    """
    return np.zeros(3 * n_ports(arch), np.int64)


def n_ports(arch):
    """L1 ports of all tiles, DRAM channels, and ports of all tiles on each NoC."""
    return 3 * arch.noc_size[0] * arch.noc_size[1] + arch.dram_banks


def build_noc_params(arch):
    """The model's parameters as one record."""
    params = np.zeros(1, NOC_PARAMS_DTYPE)
    p = params[0]
    p["width"], p["height"] = arch.noc_size
    p["tiles"] = arch.noc_size[0] * arch.noc_size[1]
    p["hop"], p["inject"] = arch["noc.hop_cycles"], arch["noc.niu_to_router_cycles"]
    p["buffer"], p["reserve"] = arch["noc.buffer_flits"], 2 * arch["noc.reserve_cycles_per_hop"]
    p["shared_buffer"], p["round_trip"] = arch["noc.shared_buffer_flits"], arch["noc.credit_round_trip_cycles"]
    p["read_cost"] = round(arch["noc.read_flit_cycles"] * 1024)
    p["write_cost"] = round(arch["noc.write_flit_cycles"] * 1024)
    p["multicast_cost"] = round(arch["noc.multicast_flit_cycles"] * 1024)
    p["port_ticks"] = round(PORT_TICKS * arch["noc.flit_bytes"] / arch["l1.noc_port_bytes_per_cycle"])
    p["dram_port_ticks"] = round(PORT_TICKS * arch["noc.flit_bytes"] / arch["dram.write_port_bytes_per_cycle"])
    p["even_extra"], p["odd_extra"] = arch["noc.reserve_even_cycles"], arch["noc.reserve_odd_cycles"]
    p["dram_cost"] = round(1024 * arch["noc.flit_bytes"] / arch["dram.bank_bytes_per_cycle"])
    p["chunk_flits"] = arch["dram.read_chunk_bytes"] // arch["noc.flit_bytes"]
    p["reallocation"] = arch["noc.reallocation_cycles"]
    p["dram_ports"], p["n_ports"] = p["tiles"] + arch.dram_banks, n_ports(arch)
    p["granted"] = p["tail_sent"] = -1
    return params


# Indices are positive: shifts and masks, for which Python's division needs several instructions
@compiled(inline="always")
def direction_of(link):
    return link & (LINKS_PER_TILE - 1)


@compiled(inline="always")
def link_of(vc):
    return vc >> VC_BITS


@compiled(inline="always")
def number_of(vc):
    return vc & (N_VCS - 1)


@compiled(inline="always")
def occupancy(cost, flits):
    """Cycles in which a source emits a packet, at `cost` / 1024 cycles per flit: whole ones, and a link takes one flit a cycle."""
    return max(flits, flits * cost >> 10)


@compiled()
def prepare(p, pk, noc, source, target, flits, response, cost):
    """Make packet record `pk` ready for its first `head_event` at the source; `cost`: see `occupancy`."""
    pk.noc, pk.tile, pk.flits, pk.response = noc, source, flits, response
    pk.x_hops, pk.y_hops = offsets(p.width, p.height, noc, source, target)
    pk.link = link_index(p.tiles, noc, source, INJECT)
    pk.tail = pk.rest = 0
    pk.awaits_response, pk.dram_queue, pk.mixed = 0, -1, 0
    pk.emission = occupancy(cost, flits)
    pk.local = 1 if source == target else 0
    pk.hop = pk.dateline = pk.delivered = pk.waits = 0
    pk.slow_hop = -1


@compiled()
def head_event(links, vcs, ports, p, packets, index, now):
    """The head of a packet reaches its next link at cycle `now`.

    Returns the cycle of the packet's next event: the head at the link after that or, when `delivered` is set, the tail in
    the target's NIU; WAITING when the VC is held, or a tail before it in the buffer.  What it sets free may let others go on:
    `p.granted` starts the list (by `next_granted`) of the packets that have got their link, or (`waits` is 1) come to the
    front of their buffer, next event at `time`, `p.tail_sent` the list (by `next_tail_sent`) of those whose tail leaves the
    source, at `left`.  `begun` is the cycle at which the head left the source.
    """
    pk = packets[index]
    p.granted = p.tail_sent = -1
    if pk.waits == 0:
        pk.arrive = now
        if pk.hop > 0 and vcs[pk.route[pk.hop - 1]].gone != pk.turn:
            wait_in_buffers(links, p, pk)
            wait_behind_tail(vcs[pk.route[pk.hop - 1]], packets, index)
            return WAITING
    if pk.response == REQUEST:
        pair = 4 * (pk.static_vc >> 1)
        if direction_of(pk.link) != EJECT or pk.dram_queue < 0:
            pair += 2 * pk.dateline
    else:
        pair = REQUEST_VCS + (0 if direction_of(pk.link) == EJECT else 2 * pk.dateline)
    queue = pk.vc = pk.link * N_VCS + pair
    changes = pk.dynamic != 0 or pk.response != REQUEST
    if changes and pk.hop > 0:
        at_front = max(now, vcs[pk.route[pk.hop - 1]].left)  # the tail before it is known to leave the buffer by then
        if vcs[queue].free > at_front and vcs[queue + 1].free < vcs[queue].free:
            single = pk.flits == 1 and packets[vcs[queue].holder].flits == 1  # of which a link carries one per cycle
            pk.vc = queue if single else queue + 1
    elif pk.hop > 0:
        pk.vc = queue + (pk.static_vc & 1)
    if vcs[pk.vc].free == HELD:
        if pk.waits == 0:
            wait_in_buffers(links, p, pk)
        wait_for_vc(vcs, packets, queue, index)
        return WAITING
    claiming, others = index, -1
    while True:
        others = claim(links, vcs, ports, p, packets, claiming, now, others)
        if claiming != index:
            packets[claiming].next_granted = p.granted
            p.granted = claiming
        if others < 0:
            return pk.time
        claiming, others = others, packets[others].next


@compiled(inline="always")
def note_wait(link, cycles, waiter):
    """Count the cycles that a packet from the injection link `waiter` has waited for a link."""
    link.stall += cycles
    if cycles > link.longest:
        link.longest, link.waiter = cycles, waiter


@compiled(forceinline=True)
def claim(links, vcs, ports, p, packets, index, now, others):
    """Give a packet the VC chosen for it; returns the stack (by `next`) of packets that can claim now, on top of `others`."""
    pk = packets[index]
    hop, flits, at, arrive, link_number = pk.hop, pk.flits, pk.vc, pk.arrive, pk.link
    link, vc = links[link_number], vcs[at]
    ejects = direction_of(link_number) == EJECT
    before = vc.free
    start = max(arrive, before)
    if hop > 0:
        if flits > 1 and before > arrive and pk.response == REQUEST and pk.dynamic == 0:
            start = before + p.reallocation
        start = max(start, vcs[pk.route[hop - 1]].left)
    if not ejects:
        pk.turn = vc.entered
        vc.entered += 1
    vc.free = HELD
    vc.holder, vc.hop = index, hop
    link.in_use |= 1 << number_of(at)
    link.flits += flits
    link.packets += 1
    if start > arrive:
        note_wait(link, start - arrive, link_number if hop == 0 else link_of(pk.route[0]))
    clear = book(link, now, flits)
    done = start + 1
    if flits > 1:
        done = max(clear, start + flits)
        if ejects:
            done = max(start + flits, min(done, start + flits + flits_between(link, vcs, packets, pk, start)))
    if hop == 0:
        pk.begun = start
        if pk.buffered_behind > 0:
            ejection, pk.buffered_behind = pk.buffered_behind - 1, 0
            others = leave_niu(links[link_of(ejection)], vcs, packets, ejection & -N_VCS, now, others)
        done = max(done, start + pk.emission, pk.supplied)
    else:
        if start > arrive:
            go_on(links, p, pk, start)
        done = max(done, pk.done[hop - 1] + latency_behind(p, hop - 1))
    pk.waits = 0
    if flits == 1:
        vc.room = vc.use = 1
    elif not ejects:
        done = max(done, take_room(link, vcs, p, packets, pk, at, flits, start, done, now))
    if link.port != NO_PORT and flits > 1 and (pk.local == 0 or hop == 0):
        begin, ticks = start * PORT_TICKS, (1 + pk.local) * (flits - 1) * p.port_ticks
        port = book_port(ports, p.n_ports, link.port, begin, ticks)
        if flits <= p.buffer:  # such a packet's flits pass between those of longer ones
            port = min(port, begin + PORT_STREAMS * ticks)
        done = max(done, port >> PORT_BITS)
    if ejects and pk.dram_queue >= 0:
        if p.dram_port_ticks > PORT_TICKS:
            at_port = p.dram_ports + link_number // LINKS_PER_TILE
            port = book_port(ports, p.n_ports, at_port, start * PORT_TICKS, (flits - 1) * p.dram_port_ticks)
            done = max(done, (port - p.dram_port_ticks >> PORT_BITS) + 2)
        writer = 1 + link_of(pk.route[0])
        if pk.dynamic != 0 and link.writer != writer and pk.begun < max(before, vcs[at ^ 1].free):
            pk.mixed, pk.dram_queue_ticks = 1, max(pk.dram_queue_ticks, pk.fragments_ticks)
        link.writer = writer
        drained = max(ports[pk.dram_queue], start * PORT_TICKS) + pk.dram_queue_ticks
        ports[pk.dram_queue] = drained
        done = max(done, (drained - pk.dram_queue_room + PORT_TICKS - 1) >> PORT_BITS)
    pk.route[hop] = at
    pk.done[hop] = done
    pk.hop = hop + 1
    first_released = hop
    if ejects:
        pk.delivered = 1
        pk.time = done - 1 + link.latency
    else:
        pk.rooms[hop] = vc.room
        pk.time = start + latency_behind(p, hop)
        follow_route(links, p, pk)
        capacity = vc.room
        while capacity < flits and first_released > pk.tail:
            first_released -= 1
            capacity += pk.rooms[first_released]
        if capacity < flits:
            return others
    return release(links, vcs, p, packets, index, hop, done, first_released, now, others)


@compiled(inline="always")
def book(link, now, flits):
    """Book a link for flits from cycle `now` on, its gap first; the cycle in which it has carried them."""
    begin = max(link.gap_begin, now)
    in_gap = max(0, min(flits, link.gap_end - begin))
    link.gap_begin = begin + in_gap
    if in_gap == flits:
        return link.gap_begin
    link.clear = max(link.clear, now) + flits - in_gap
    return link.clear


@compiled(inline="always")
def book_from(link, start, flits):
    """Book a link for flits from cycle `start` on, and leave the cycles until then as its gap; see `book`."""
    if link.clear < start:
        link.gap_begin, link.gap_end, link.clear = link.clear, start, start + flits
        return link.clear
    if max(link.gap_begin, start) < link.gap_end:
        return book(link, start, flits)
    link.clear += flits
    return link.clear


@compiled()
def book_port(ports, n, at, start, ticks):
    """Book `ticks` of one of `n` ports from `start` on, its gap first; when it has passed them."""
    begin = max(ports[n + at], start)
    room = ports[2 * n + at] - begin
    if room > 0:
        ports[n + at] = begin + min(ticks, room)
        if room >= ticks:
            return begin + ticks
        ticks -= room
    if ports[at] < start:
        ports[n + at], ports[2 * n + at] = ports[at], start
        ports[at] = start
    ports[at] += ticks
    return ports[at]


@compiled()
def flits_between(link, vcs, packets, pk, start):
    """Flits of other VCs that pass an ejection link between those of a packet from cycle `start` on: of each no more than it has.

    `link.clear` has what they booked ahead as well, which they do as soon as they know when their VC will be free.
    """
    here, total = pk.link * N_VCS, 0
    left = link.in_use & ~(1 << pk.vc - here)
    while left:
        vc = vcs[here + lowest_bit(left)]
        left &= left - 1
        if vc.free > start and vc.full == 0:  # not one whose packets the NIU buffers
            total += max(0, min(packets[vc.holder].done[vc.hop] - start, pk.flits))
    return total


@compiled()
def wait_in_buffers(links, p, pk):
    """A packet waits before its next link: the flits that will be buffered leave the links behind its head to others."""
    pk.waits = 1
    for i in range(pk.tail, pk.hop):
        stalled = stalled_flits(p, pk, i)
        if stalled > 0:
            leave_out(links[link_of(pk.route[i])], pk.done[i], pk.arrive, stalled)


@compiled()
def go_on(links, p, pk, start):
    """A packet that has waited goes on at cycle `start`: the buffered flits take the links behind its head now."""
    for i in range(pk.tail, pk.hop):
        link, stalled = links[link_of(pk.route[i])], stalled_flits(p, pk, i)
        if pk.waits == 0:  # it knew for how long, and some of the buffers behind it did not fill up
            stalled = min(stalled, start - pk.arrive - (p.buffer - p.hop) * (pk.hop - i))
            if stalled > 0:
                leave_out(link, pk.done[i], pk.arrive, stalled)
        if stalled > 0:
            pk.done[i] = max(pk.done[i], book_from(link, start, stalled))
        if i > 0:
            pk.done[i] = max(pk.done[i], pk.done[i - 1] + latency_behind(p, i - 1))


@compiled(inline="always")
def leave_out(link, done, now, flits):
    """Take back what a link has booked for the last flits of a packet that it was to have carried in cycle `done`."""
    if done <= link.gap_end:
        link.gap_begin = max(now, link.gap_begin - flits)
    else:
        link.clear = max(now, link.clear - flits)


@compiled(inline="always")
def stalled_flits(p, pk, i):
    """Flits of a waiting packet that have not crossed the link at hop `i` when the buffers from there to its head are full."""
    left = pk.flits
    for j in range(i, pk.hop):
        left -= pk.rooms[j]
    return min(left, (pk.done[i] - pk.arrive) * pk.flits // pk.emission)


@compiled(forceinline=True)
def take_room(link, vcs, p, packets, pk, at, flits, start, done, now):
    """Give a packet what room there is behind a link; the cycle in which its tail crosses, if the room decides that.

    `done`: the cycle in which it crosses otherwise.
    """
    room = meet_others(link, vcs, p, packets, pk, at, start, now)
    if room < p.round_trip and flits > room:
        paced = start + flits * p.round_trip // room
        if paced > done:
            pk.slow_hop, done = pk.hop, paced
    vc = vcs[at]
    vc.room = room
    full_rate = done - start <= flits
    vc.use = room if full_rate else min(room, 1 + flits * p.round_trip // (done - start))
    return done


@compiled(forceinline=True)
def meet_others(link, vcs, p, packets, pk, at, start, now):
    """Flits of a packet that the buffer behind a link takes from cycle `start` on: one, and what others leave of the shared part.

    Others that are under way on the link are slowed down.  For a dynamic request, every other VC of requests that is in use
    counts as full (48 random writers, ISA DRAMTile).
    """
    shared = p.shared_buffer
    here = at & -N_VCS
    left = link.in_use & ~(1 << number_of(at))
    while left:
        number = lowest_bit(left)
        left &= left - 1
        vc = vcs[here + number]
        if vc.free <= start:
            shared -= max(vc.buffered - 1, 0)
            if vc.buffered == 0 and vc.free <= now:
                link.in_use &= ~(1 << number)
            continue
        other = packets[vc.holder]
        if vc.free == HELD and other.waits == 0:
            slow_down(p, other, vc.hop, pk.flits, start, link.clear)
        if pk.dynamic != 0 and pk.response == REQUEST and number < REQUEST_VCS:
            shared -= p.buffer
        else:
            full = other.waits != 0 or vc.hop <= other.slow_hop
            taken = vc.room if full else vc.use
            if other.waits != 0:  # since when it has got the places that came free, one per round trip
                taken = max(taken, min(other.flits, p.buffer, taken + (now - other.arrive) // p.round_trip))
            shared -= (vc.buffered if vc.full != 0 else min(p.buffer, vc.buffered + taken)) - 1
    return max(1, min(p.buffer, shared + 1))


@compiled()
def slow_down(p, pk, hop, flits, start, clear):
    """Another packet's flits cross the link at a hop of a packet, between those that it has left there from cycle `start` on.

    `clear`: the cycle in which the link has carried both.
    """
    left = min(pk.done[hop] - start, pk.flits)
    if left <= 0:
        return
    done = min(pk.done[hop] + min(flits, left), clear)
    for i in range(hop, pk.hop):
        if done <= pk.done[i]:
            return
        pk.done[i] = done
        done += latency_behind(p, i)


@compiled(inline="always")
def latency_behind(p, hop):
    """Cycles from the link at hop `hop` of a route, which is not the last, to the next one."""
    return p.inject if hop == 0 else p.hop


@compiled(forceinline=True)
def follow_route(links, p, pk):
    """Set the link that the head of a packet reaches behind the present one: x first on NoC 0, y first on NoC 1."""
    if pk.x_hops + pk.y_hops == 0:
        pk.link = link_index(p.tiles, pk.noc, pk.tile, EJECT)
        return
    along_x = pk.x_hops > 0 and (pk.noc == 0 or pk.y_hops == 0)
    direction = X_OUT if along_x else Y_OUT
    if along_x:
        pk.x_hops -= 1
    else:
        pk.y_hops -= 1
    if direction_of(pk.link) != direction:
        pk.dateline = 0
    pk.link = link_index(p.tiles, pk.noc, pk.tile, direction)
    pk.dateline |= links[pk.link].wraps
    pk.tile = links[pk.link].next_tile


@compiled(forceinline=True)
def release(links, vcs, p, packets, index, hop, done, first, now, others):
    """Set the VCs of hops `first` down to the tail's free when the tail leaves them; the head has claimed `hop`.

    Returns the stack of packets that can claim now (see `claim`).
    """
    pk = packets[index]
    last, delivered, rest, leaves = pk.tail, pk.delivered, pk.flits, done
    # the last flits of a write leave the buffers behind them no faster than the port of a DRAM tile takes them
    ticks = p.dram_port_ticks if delivered != 0 and pk.dram_queue >= 0 else PORT_TICKS
    for i in range(hop, last - 1, -1):
        if i < hop:
            leaves = max(pk.done[i], leaves - (pk.rooms[i] * ticks >> PORT_BITS) + p.round_trip - p.hop)
        if i > first:
            rest -= pk.rooms[i]
            continue
        free = max(leaves, now)
        if i > 0:
            depart(vcs, packets, p, pk.route[i - 1], free, now)
        else:
            pk.left = free
            pk.next_tail_sent = p.tail_sent
            p.tail_sent = index
        if delivered == 0 and i == first:
            others = enter_buffer(vcs, packets, pk.route[i], rest, p.buffer, free, others)
        elif i == hop and pk.awaits_response != 0:
            pk.buffered_behind = pk.route[i] + 1
            others = enter_niu(links[link_of(pk.route[i])], vcs, packets, pk.route[i], free, others)
        else:
            others = set_free(vcs, packets, pk.route[i], free, others)
    if last > 0:
        at = pk.route[last - 1]
        # the next packet has places left until the first of these flits has left, and its credit is back
        credit = leaves - pk.rest + p.round_trip - p.hop
        free = max(now, credit - (p.buffer - vcs[at].buffered))
        others = leave_buffer(vcs, packets, at, pk.rest, p.buffer, free, others)
    pk.tail, pk.rest = first + 1, rest
    return others


@compiled(inline="always")
def depart(vcs, packets, p, at, time, now):
    """The tail of the packet at the front of the buffer behind a VC leaves it at cycle `time`; the next one may go on."""
    vc = vcs[at]
    vc.gone += 1
    vc.left = time
    if vc.behind >= 0:
        come_to_front(vc, packets, p, max(time, now + 1))


@compiled(inline="always")
def wait_behind_tail(vc, packets, index):
    """A head waits in the buffer behind a VC for the tail before it; heads come in their turn."""
    packets[index].next = -1
    if vc.behind < 0:
        vc.behind = index
    else:
        packets[vc.last_behind].next = index
    vc.last_behind = index


@compiled(inline="always")
def come_to_front(vc, packets, p, time):
    """The head at the front of the buffer behind a VC, if it has come, goes on at cycle `time`."""
    index = vc.behind
    if packets[index].turn == vc.gone:
        vc.behind = packets[index].next
        packets[index].time = time
        packets[index].next_granted = p.granted
        p.granted = index


@compiled(forceinline=True)
def set_free(vcs, packets, at, free, others):
    """Set the VC of index `at` free from cycle `free` on; the first that waits for it comes on top of `others`."""
    vcs[at].free = free
    waiting = take_waiting(vcs, packets, at)
    if waiting < 0:
        return others
    packets[waiting].vc = at
    packets[waiting].next = others
    return waiting


@compiled()
def wait_for_vc(vcs, packets, queue, index):
    """Put a packet into the queue for a pair of VCs: behind all whose heads came to this router no later than its own."""
    arrive, before, following = packets[index].arrive, -1, vcs[queue].waiting
    if following >= 0 and packets[vcs[queue + 1].waiting].arrive <= arrive:
        before, following = vcs[queue + 1].waiting, -1
    while following >= 0 and packets[following].arrive <= arrive:
        before, following = following, packets[following].next
    packets[index].next = following
    if following < 0:
        vcs[queue + 1].waiting = index
    if before < 0:
        vcs[queue].waiting = index
    else:
        packets[before].next = index


@compiled()
def take_waiting(vcs, packets, at):
    """Take the first packet that waits for a VC, or for either of its pair, out of the pair's queue; -1 if there is none."""
    first, last, before = vcs[at & ~1], vcs[at | 1], -1
    waiting = first.waiting
    if number_of(at) < REQUEST_VCS:
        while waiting >= 0 and packets[waiting].vc != at and packets[waiting].dynamic == 0:
            before, waiting = waiting, packets[waiting].next
    if waiting < 0:
        return -1
    following = packets[waiting].next
    if before < 0:
        first.waiting = following
    else:
        packets[before].next = following
    if following < 0:
        last.waiting = before
    return waiting


@compiled(forceinline=True)
def enter_buffer(vcs, packets, at, flits, room, free, others):
    """Flits enter the buffer behind a VC, which is free from `free` on if another packet like this finds room there."""
    vc = vcs[at]
    vc.buffered += flits
    if vc.buffered + flits > room:
        vc.full = free
        return others
    return set_free(vcs, packets, at, free, others)


@compiled(forceinline=True)
def leave_buffer(vcs, packets, at, flits, room, now, others):
    """Flits go on from the buffer behind a VC; if it was held for want of room, it is set free, from cycle `now` on."""
    vc = vcs[at]
    vc.buffered -= flits
    if vc.full == 0 or vc.buffered + flits > room:
        return others
    free, vc.full = max(vc.full, now), 0
    return set_free(vcs, packets, at, free, others)


@compiled()
def enter_niu(link, vcs, packets, at, free, others):
    """A read request enters the NIU behind a VC, which is free from `free` on if another one finds room there."""
    link.buffered += 1
    if link.buffered >= link.requests:
        vcs[at].full = free
        link.closed |= 1 << number_of(at)
        return others
    return set_free(vcs, packets, at, free, others)


@compiled()
def leave_niu(link, vcs, packets, first, now, others):
    """A request's response starts to leave its NIU: of the VCs from `first` on held for want of room, the oldest is set free.

    If no packet waits for that one, the next oldest as well.
    """
    link.buffered -= 1
    claiming = others
    while claiming == others and link.closed != 0 and link.buffered < link.requests:
        oldest, left = -1, link.closed
        while left:
            at = first + lowest_bit(left)
            left &= left - 1
            if oldest < 0 or vcs[at].full < vcs[oldest].full:
                oldest = at
        link.closed &= ~(1 << number_of(oldest))
        free, vcs[oldest].full = max(vcs[oldest].full, now), 0
        claiming = set_free(vcs, packets, oldest, free, others)
    return claiming
