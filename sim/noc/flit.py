"""The flit model of the NoC: input-buffered virtual-channel routers, stepped cycle by cycle in compiled code.

A router has an input port per direction and one for its own NIU, each with virtual channels (VCs) of a few flits.  A head
flit takes a free VC of its class at the next router (VC allocation); then its packet's flits compete for the crossbar, one
flit per input and output port and cycle, round robin (switch allocation), as long as the next buffer has room (credits).
A flit that leaves a router is in the next one's buffer `hop` cycles later, where it may leave at once: `hop` holds the
router's pipeline.  A credit counts from the next cycle on.  Deadlock freedom on rings: a packet changes to the second half
of its class's VCs behind the wrap-around link (dateline) and back when it turns.  Rules and words follow the literature
(Dally & Towles, Principles and Practices of Interconnection Networks, chapters 14 to 17).

A node is a router with its NIU; the two NoCs of a chip are one network of two parts without a link between them.  The NIU
has a queue per class, of which class 0 also carries multicasts (`tensim.sim.noc.flit_multicast`).  As in the packet model, requests
are buffered in their target's NIU until its response leaves, and a write waits in the network for room in its DRAM channel's queue.
"""

from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import lowest_bit
from tensim.sim.noc.flit_multicast import (
    NEW,
    add_output,
    cross_multicasts,
    last_tree,
    may_leave,
    new_tree,
    tail_has_left,
)
from tensim.sim.noc.flit_network import (
    ANY,
    ARRIVED,
    BEGUN,
    CHIP,
    LEFT,
    MESH,
    NODES_PER_WORD,
    NONE,
    RESPONSES,
    channels_of,
    dram_port_takes,
    dram_queue_takes,
    events_of,
    hand_on,
    has_room,
    leave_buffer,
    links_of,
    nodes_of,
    packets_of,
    report,
    take_port,
    wake_node,
    words_at,
)
from tensim.sim.noc.packet import note_wait


@compiled()
def inject(net, packet, source, target, flits, group, ready, emission, static_vc=ANY):
    """Hand a packet to the NIU of node `source` at cycle `ready`; its flits leave in `emission` cycles at the soonest.

    `static_vc`: the VC of its class and side of the dateline that it keeps to, or ANY.
    """
    p = packets_of(net)[packet]
    p.source, p.target, p.flits, p.group = source, target, flits, group
    p.ready, p.emission, p.static_vc = ready, emission, static_vc
    p.tree, p.receivers, p.awaits_response, p.is_response, p.dram_queue, p.supplied = NONE, 1, 0, 0, NONE, 0
    enqueue(net, packet)


@compiled()
def enqueue(net, packet):
    """Put a packet whose record is filled in at the end of its NIU's queue."""
    p = packets_of(net)[packet]
    n = nodes_of(net)[p.source]
    p.next, p.dateline, p.sent = NONE, 0, 0
    if n.tail[p.group] == NONE:
        n.head[p.group] = packet
    else:
        packets_of(net)[n.tail[p.group]].next = packet
    n.tail[p.group] = packet
    net.in_flight += p.receivers
    wake_node(net, p.source)


@compiled()
def inject_multicast(net, packet, source, flits, ready, emission, linked, keep):
    """Hand a multicast without receivers yet to the NIU of `source`; see `add_receiver` and `enqueue`.

    `linked`: its path is open, so that it takes the tree and the receivers of the multicast before; `keep`: it stays open.
    """
    p = packets_of(net)[packet]
    p.source, p.target, p.flits, p.group, p.ready, p.emission = source, NONE, flits, 0, ready, emission
    p.linked, p.keep, p.stage, p.receivers, p.rest, p.delay = linked, keep, NEW, 0, 0, 0
    p.awaits_response, p.is_response, p.dram_queue, p.supplied = 0, 0, NONE, 0
    p.tree = last_tree(net, source) if linked else new_tree(net, source)


@compiled()
def add_receiver(net, packet, entry, target):
    """Add the unicast route by `entry` to one receiver to a multicast's tree; returns its hops."""
    p = packets_of(net)[packet]
    node, hops, local = p.source, 0, net.ports - 1
    goal = entry if node != entry else target
    p.receivers += 1
    out = route(net, node, goal)
    while out != local:
        add_output(net, p.tree, node, out)
        node = channels_of(net)[channels_of(net)[node * net.inputs + out * net.vcs].downstream].node
        goal = goal if node != entry else target
        out = route(net, node, goal)
        hops += 1
    add_output(net, p.tree, node, local)
    return hops


@compiled(inline="always")
def shorter(distance, size, node):
    """Whether the way up a ring is the shorter one; of two equal ones every other node takes it, so that both fill."""
    return 2 * distance < size or (2 * distance == size and node % 2 == 0)


@compiled()
def route(net, node, target):
    """Output port of dimension-order routing; ports of a mesh or torus: +x, -x, +y, -y, local; of a chip: x, y, local."""
    n, t = nodes_of(net)[node], nodes_of(net)[target]
    if n.x == t.x and n.y == t.y:
        return net.ports - 1
    if net.kind == CHIP:
        along_x = n.x != t.x and (n.noc == 0 or n.y == t.y)
        return 0 if along_x else 1
    if n.x != t.x:
        right = t.x > n.x if net.kind == MESH else shorter((t.x - n.x) % net.width, net.width, node)
        return 0 if right else 1
    down = t.y > n.y if net.kind == MESH else shorter((t.y - n.y) % net.height, net.height, node)
    return 2 if down else 3


@compiled()
def take_credits(net):
    """The credits that have come back since the last step count from now on."""
    channels, credits, counts = channels_of(net), words_at(net.credits_at), words_at(net.credit_counts_at)
    for time in range(max(net.stepped, net.now - net.span) + 1, net.now + 1):
        slot = time % net.span
        for i in range(slot * net.wire_room, slot * net.wire_room + counts[slot]):
            channels[credits[i]].credits += 1
            words_at(net.pools_at)[credits[i] // net.vcs] -= channels[credits[i]].credits < net.buffer
        counts[slot] = 0
    net.stepped = net.now


@compiled()
def arrivals(net):
    """Flits that reach the buffers in this cycle."""
    slot = net.now % net.span
    counts, wires, channels = words_at(net.wire_counts_at), words_at(net.wires_at), channels_of(net)
    base = slot * net.wire_room
    for i in range(base, base + counts[slot]):
        channel, packet = wires[2 * i], wires[2 * i + 1]
        c = channels[channel]
        n = nodes_of(net)[c.node]
        at = c.first + c.count
        words_at(net.buffers_at)[channel * net.buffer + (at - net.buffer if at >= net.buffer else at)] = packet
        c.count += 1
        if c.vc == net.multicast_vc:
            n.multicasts |= 1 << c.port
        elif c.out == NONE:
            n.need |= 1 << c.index
        else:
            n.request[c.out] |= 1 << c.index
        wake_node(net, c.node)
    counts[slot] = 0


@compiled()
def allocate_vcs(net, node):
    """Give packets whose head is at the front a free VC of their class at the next router, first come, first served."""
    n = nodes_of(net)[node]
    base, left = node * net.inputs, n.need
    while left:
        index, packet = oldest_head(net, base, left)
        left &= ~(1 << index)
        c = channels_of(net)[base + index]
        out = route(net, node, packets_of(net)[packet].target)
        vc = choose_vc(net, node, c, packet, out)
        if vc != NONE:
            c.out, c.out_vc = out, vc
            n.need &= ~(1 << index)
            n.request[out] |= 1 << index


@compiled()
def oldest_head(net, base, left):
    """(number, front packet) of that input VC in the bit set `left` whose front packet's head has come first."""
    oldest = packet = NONE
    while left:
        index = lowest_bit(left)
        left &= left - 1
        head = words_at(net.buffers_at)[(base + index) * net.buffer + channels_of(net)[base + index].first]
        if packet == NONE or packets_of(net)[head].arrived < packets_of(net)[packet].arrived:
            oldest, packet = index, head
    return oldest, packet


@compiled()
def choose_vc(net, node, c, packet, out):
    """VC for the packet at the front of input VC `c`, taken for it at output `out`; NONE when all of its class are held."""
    p = packets_of(net)[packet]
    base = node * net.inputs + out * net.vcs
    size = net.unicast_vcs // net.classes
    first = p.group * size
    late = 0
    ejects = out == net.ports - 1
    if net.kind != MESH and not (ejects and p.group == RESPONSES):  # an ejection link lends all VCs of the class
        turned = c.port == net.ports - 1 or axis(net, c.port) != axis(net, out)
        if ejects:  # a DRAM endpoint takes writes of both sides one after the other
            late = p.dateline if p.dram_queue == NONE else 0
        else:
            late = (0 if turned else p.dateline) | links_of(net)[node * (net.ports + 1) + 1 + out].wraps
        size //= 2
        first += late * size
        if p.static_vc != ANY:
            first, size = first + p.static_vc, 1
    vc = take_vc(net, base, first, size, p)
    if vc != NONE:
        p.dateline = late
    return vc


@compiled()
def take_vc(net, base, first, size, p):
    """Hold the first free one of `size` VCs from `first` on of the output whose VC 0 is channel `base`; NONE if none is free.

    For packet `p` of several flits that has waited and may take no other VC, it is free some cycles later than for others.
    """
    for i in range(first, first + size):
        c = channels_of(net)[base + i]
        at_once = p.static_vc == ANY or p.flits == 1 or p.arrived > c.freed
        if c.held == 0 and (at_once or net.now > c.freed + net.reallocation):
            c.held = 1
            return i
    return NONE


@compiled(inline="always")
def axis(net, port):
    return port if net.kind == CHIP else port // 2


@compiled()
def switch(net, node):
    """One flit per output and input port crosses the router; multicasts, whose path is reserved, go first.

    The outputs choose in turn, each cycle another one first: none keeps the VCs of an input port from the others.
    """
    n = nodes_of(net)[node]
    used, taken = 0, 0
    if n.multicasts:
        used, taken = cross_multicasts(net, node)
    base, port_bits = node * net.inputs, (1 << net.vcs) - 1
    for i in range(net.ports):
        out = (net.now + i) % net.ports
        left = n.request[out] & ~used
        if taken >> out & 1:
            continue
        before = left & ((1 << n.turn[out]) - 1)
        left ^= before
        while left | before:  # first those from `turn` on, then those before it
            if left == 0:
                left, before = before, 0
            index = lowest_bit(left)
            left &= left - 1
            c = channels_of(net)[base + index]
            if can_leave(net, node, out, c):
                used |= port_bits << (c.port * net.vcs)
                n.turn[out] = index + 1
                cross(net, node, base + index, out)
                break


@compiled()
def can_leave(net, node, out, c):
    """Whether there is room behind the output for the front flit of input VC `c`."""
    if out != net.ports - 1:
        return has_room(net, node * net.inputs + out * net.vcs + c.out_vc)
    packet = words_at(net.buffers_at)[(node * net.inputs + c.index) * net.buffer + c.first]
    p, n = packets_of(net)[packet], nodes_of(net)[node]
    room = links_of(net)[node * (net.ports + 1) + net.ports].requests
    if c.sent == 0 and p.group != RESPONSES and n.requests >= room:
        return False
    if not (dram_queue_takes(net, packet, c.sent) and take_port(net, node, c.sent == 0)):
        return False
    return dram_port_takes(net, node, packet, c.sent)


@compiled()
def cross(net, node, channel, out):
    """The flit at the front of an input VC leaves through an output port."""
    n, c = nodes_of(net)[node], channels_of(net)[channel]
    packet = words_at(net.buffers_at)[channel * net.buffer + c.first]
    link = links_of(net)[node * (net.ports + 1) + 1 + out]
    output = node * net.inputs + out * net.vcs + c.out_vc
    p = packets_of(net)[packet]
    if c.sent == 0:
        note_wait(link, net.now - p.arrived, p.source * (net.ports + 1))
        p.arrived = net.now + net.hop
    c.sent += 1
    link.flits += 1
    last = c.sent == p.flits
    leave_buffer(net, c)
    if out != net.ports - 1:
        hand_on(net, output, packet, net.hop)
        net.moved += 1
    elif last:
        n.requests += p.awaits_response
        report(net, ARRIVED, packet, node, net.now + net.eject)
        net.in_flight -= 1
    if last:
        link.packets += 1
        n.request[out] &= ~(1 << c.index)
        c.sent, c.out = 0, NONE
        channels_of(net)[output].held, channels_of(net)[output].freed = 0, net.now
        if c.count > 0:
            n.need |= 1 << c.index
    elif c.count == 0:
        n.request[out] &= ~(1 << c.index)


@compiled()
def emit(net, node):
    """One flit leaves the NIU, from the queues in turn."""
    n = nodes_of(net)[node]
    for i in range(net.classes):
        group = (n.next_class + i) % net.classes
        packet = n.head[group]
        if packet != NONE and emission_due(net, packet):
            p = packets_of(net)[packet]
            vc = net.multicast_vc if p.tree != NONE else group * net.unicast_vcs // net.classes
            channel = node * net.inputs + (net.ports - 1) * net.vcs + vc
            if has_room(net, channel) and take_port(net, node, p.sent == 0):
                n.next_class = group + 1
                send_flit(net, packet, node, channel)
                return


@compiled()
def emission_due(net, packet):
    """Whether the source of a packet has its next flit ready."""
    p = packets_of(net)[packet]
    if p.sent > 0:
        return net.now >= p.begun + p.sent * (p.emission - 1) // (p.flits - 1)
    return net.now >= p.ready and (p.tree == NONE or may_leave(net, packet))


@compiled()
def send_flit(net, packet, node, channel):
    """The next flit of a packet leaves its NIU for an input VC of its router."""
    p, link = packets_of(net)[packet], links_of(net)[node * (net.ports + 1)]
    if p.sent == 0:
        p.begun, p.arrived = net.now, net.now + net.inject
        p.emission = max(p.emission, p.supplied - net.now)
        nodes_of(net)[node].requests -= p.is_response
        note_wait(link, net.now - p.ready, node * (net.ports + 1))
        if p.tree == NONE or p.linked != 0:
            report(net, BEGUN, packet, node, net.now)
    p.sent += 1
    link.flits += 1
    hand_on(net, channel, packet, net.inject)
    if p.sent < p.flits:
        return
    link.packets += 1
    if p.tree != NONE:
        tail_has_left(net, p)
    leave_queue(net, node, p)
    report(net, LEFT, packet, node, net.now + 1)


@compiled()
def leave_queue(net, node, p):
    """A packet has left its NIU: the next one of its queue may be sent from the next cycle on."""
    n = nodes_of(net)[node]
    n.head[p.group] = p.next
    if p.next == NONE:
        n.tail[p.group] = NONE
        return
    following = packets_of(net)[p.next]
    following.ready = max(following.ready, net.now + 1)


@compiled()
def step(net):
    """Cycle `net.now` of all routers and NIUs; those with nothing to do are left out."""
    net.n_events = 0
    take_credits(net)
    arrivals(net)
    active = words_at(net.active_at)
    for i in range(net.words):
        word = net.words - 1 - i if net.now & 1 else i  # neither NoC always comes first at an L1 port
        left = active[word]
        while left:
            bit = lowest_bit(left)
            left &= left - 1
            if not step_node(net, word * NODES_PER_WORD + bit):
                active[word] &= ~(1 << bit)


@compiled()
def step_node(net, node):
    """One cycle of a router and its NIU; whether it has anything left to do."""
    n = nodes_of(net)[node]
    if net.now & 2:  # in turn: first into the tile or first out of it
        emit(net, node)
    if n.need:
        allocate_vcs(net, node)
    switch(net, node)
    if net.now & 2 == 0:
        emit(net, node)
    busy = n.need | n.multicasts
    for out in range(net.ports):
        busy |= n.request[out]
    for group in range(net.classes):
        busy |= n.head[group] + 1
    return busy != 0


@compiled()
def next_cycle(net):
    """The next cycle in which anything can happen, or NONE: the network is empty, or deadlocked."""
    active = words_at(net.active_at)
    for word in range(net.words):
        if active[word]:
            return net.now + 1
    counts = words_at(net.wire_counts_at)
    for i in range(1, net.span):
        if counts[(net.now + i) % net.span]:
            return net.now + i
    return NONE


@compiled()
def run_until_idle(net, limit, done):
    """Step until every packet is delivered or cycle `limit`; `done[packet]` gets the cycle at its NIU.  Whether it is idle."""
    net.now, net.stepped = 0, -1
    while net.in_flight > 0 and net.now < limit:
        step(net)
        events = events_of(net)
        for i in range(net.n_events):
            if events[i].kind == ARRIVED:
                done[events[i].packet] = events[i].time
        net.now += 1
    return net.in_flight == 0
