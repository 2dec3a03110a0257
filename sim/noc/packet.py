"""The packet model of the NoC: one event per packet and hop.

The head of a packet takes the links of its route in the order in which heads arrive.  At each link it claims the virtual channel
(VC) of its class, which is request or response times the dateline bit, and waits in that VC's queue while another packet holds
it.  A waiting packet is buffered at the inputs of the routers behind it, and so holds the VCs of the links from its tail to its
head.  Claimed link by claimed link the cycle in which the tail leaves follows: not before the link has carried the flits claimed
ahead, not before the tail has come over the link before, and only when the flit that is a buffer ahead has left and its credit
is back.  docs/noc_models.md draws the states of a packet, what holds a VC and where credits go, and lists the rules at the ends
of a route (#rules-of-the-packet-model); docs/hardware/noc.md#virtual-channels-and-arbitration is the chip's.
"""

from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import lowest_bit
from tensim.sim.noc.packet_state import (
    HELD,
    N_VCS,
    NO_HOP,
    NO_PORT,
    NO_QUEUE,
    NOBODY,
    PORT_BITS,
    PORT_STREAMS,
    PORT_TICKS,
    REQUEST,
    REQUEST_VCS,
    WAITING,
    direction_of,
    link_of,
    number_of,
    occupancy,
)
from tensim.sim.noc.topology import EJECT, INJECT, LINKS_PER_TILE, X_OUT, Y_OUT, link_index, offsets
from tensim.sim.noc.virtual_channels import leave_niu, release, wait_behind_tail, wait_for_vc


@compiled()
def prepare(p, pk, noc, source, target, flits, response, cost):
    """Make packet record `pk` ready for its first `head_event` at the source; `cost`: see `occupancy`."""
    pk.noc, pk.tile, pk.flits, pk.response = noc, source, flits, response
    pk.x_hops, pk.y_hops = offsets(p.width, p.height, noc, source, target)
    pk.link = link_index(p.tiles, noc, source, INJECT)
    pk.tail = pk.rest = 0
    pk.awaits_response, pk.dram_queue, pk.mixed = 0, NO_QUEUE, 0
    pk.emission = occupancy(cost, flits)
    pk.local = 1 if source == target else 0
    pk.hop = pk.dateline = pk.delivered = pk.waits = 0
    pk.slow_hop = NO_HOP


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
    p.granted = p.tail_sent = NOBODY
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
    claiming, others = index, NOBODY
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
