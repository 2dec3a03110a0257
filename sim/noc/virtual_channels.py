"""Virtual channels of the packet model: who holds one, who waits for it, and the buffer behind its link."""

from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import lowest_bit
from tensim.sim.noc.packet_state import NOBODY, PORT_BITS, PORT_TICKS, REQUEST_VCS, link_of, number_of


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
    packets[index].next = NOBODY
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
    arrive, before, following = packets[index].arrive, NOBODY, vcs[queue].waiting
    if following >= 0 and packets[vcs[queue + 1].waiting].arrive <= arrive:
        before, following = vcs[queue + 1].waiting, NOBODY
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
    """Take the first packet that waits for a VC, or for either of its pair, out of the pair's queue; NOBODY if there is none."""
    first, last, before = vcs[at & ~1], vcs[at | 1], NOBODY
    waiting = first.waiting
    if number_of(at) < REQUEST_VCS:
        while waiting >= 0 and packets[waiting].vc != at and packets[waiting].dynamic == 0:
            before, waiting = waiting, packets[waiting].next
    if waiting < 0:
        return NOBODY
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
        oldest, left = NOBODY, link.closed
        while left:
            at = first + lowest_bit(left)
            left &= left - 1
            if oldest < 0 or vcs[at].full < vcs[oldest].full:
                oldest = at
        link.closed &= ~(1 << number_of(oldest))
        free, vcs[oldest].full = max(vcs[oldest].full, now), 0
        claiming = set_free(vcs, packets, oldest, free, others)
    return claiming
