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
    INDEX_BITS,
    LEFT,
    MESH,
    NEVER,
    NOBODY,
    NODES_PER_WORD,
    NONE,
    PORT_BITS,
    RESPONSES,
    dram_port_takes,
    dram_queue_takes,
    events_of,
    hand_on,
    has_room,
    input_vcs_of,
    join_buffer,
    leave_buffer,
    links_of,
    next_in_buffer,
    nodes_of,
    numbers_at,
    output_vcs_of,
    outputs_of,
    packets_of,
    report,
    take_port,
    wake_node,
    with_room,
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
        n.head[p.group], n.due[p.group] = packet, p.ready
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
        node = outputs_of(net)[node * net.ports + out].next
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
    credits, counts = numbers_at(net.credits_at), words_at(net.credit_counts_at)
    for time in range(max(net.stepped, net.now - net.span) + 1, net.now + 1):
        slot = time & (net.span - 1)
        base = slot * net.wire_room
        for i in range(base, base + counts[slot]):
            take_credit(net, credits[i])
        counts[slot] = 0
    net.stepped = net.now


@compiled()
def take_credit(net, word):
    """There is room for one flit more behind an output VC; a router that waits for it takes part again."""
    node, port, index = word >> (INDEX_BITS + PORT_BITS), word >> INDEX_BITS & 7, word & 63
    o, v = outputs_of(net)[node * net.ports + port], output_vcs_of(net)[node * net.inputs + index]
    v.credits += 1
    bit = 1 << v.holder
    o.some_room |= bit
    if v.credits == net.buffer:
        o.all_room |= bit
    else:
        o.taken -= 1
    if port == net.ports - 1 or o.request & with_room(net, o):
        wake_node(net, node)


@compiled()
def arrivals(net):
    """Flits that reach the buffers in this cycle."""
    slot = net.now & (net.span - 1)
    counts, wires = words_at(net.wire_counts_at), numbers_at(net.wires_at)
    base = slot * net.wire_room
    for i in range(base, base + counts[slot]):
        node, index = wires[i] >> (INDEX_BITS + PORT_BITS), wires[i] & 63
        c = input_vcs_of(net)[node * net.inputs + index]
        c.count += 1
        if c.count == 1:
            first_flit(net, node, index, c)
    counts[slot] = 0


@compiled()
def first_flit(net, node, index, c):
    """A flit is in the empty buffer of input VC `c`."""
    if c.out != NONE:
        outputs_of(net)[node * net.ports + c.out].request |= 1 << index
    elif index - words_at(net.port_of_at)[index] * net.vcs == net.multicast_vc:
        nodes_of(net)[node].multicasts |= 1 << words_at(net.port_of_at)[index]
    else:
        ask_for_vc(net, node, index, c, net.now)
    wake_node(net, node)


@compiled()
def ask_for_vc(net, node, index, c, time):
    """The head at the front of input VC `c` needs a VC of its output from cycle `time` on."""
    o = outputs_of(net)[node * net.ports + route(net, node, packets_of(net)[c.packet].target)]
    o.need |= 1 << index
    o.retry = max(o.retry, time)


@compiled()
def allocate_vcs(net, node, out):
    """Give packets whose head is at the front a free VC of their class at the next router, first come, first served."""
    o, base = outputs_of(net)[node * net.ports + out], node * net.inputs
    left = o.need
    while left:
        index = oldest_head(net, base, left)
        bit = 1 << index
        left &= ~bit
        c = input_vcs_of(net)[base + index]
        vc = choose_vc(net, node, index, c.packet, out)
        if vc == NONE:
            continue
        c.out, c.out_vc = out, vc
        o.need &= ~bit
        o.request |= bit
        if out != net.ports - 1:
            v = output_vcs_of(net)[base + out * net.vcs + vc]
            v.holder = index
            o.all_room = o.all_room | bit if v.credits == net.buffer else o.all_room & ~bit
            o.some_room = o.some_room | bit if v.credits > 0 else o.some_room & ~bit


@compiled()
def oldest_head(net, base, left):
    """Number of that input VC in the bit set `left` whose front packet's head has come first."""
    oldest, arrived = NONE, 0
    while left:
        index = lowest_bit(left)
        left &= left - 1
        head = packets_of(net)[input_vcs_of(net)[base + index].packet]
        if oldest == NONE or head.arrived < arrived:
            oldest, arrived = index, head.arrived
    return oldest


@compiled()
def choose_vc(net, node, index, packet, out):
    """VC for the packet at the front of an input VC, taken for it at output `out`; NONE when all of its class are held."""
    p, port = packets_of(net)[packet], words_at(net.port_of_at)[index]
    size = net.vcs_of_class
    first = p.group * size
    late = 0
    ejects = out == net.ports - 1
    if net.kind != MESH and not (ejects and p.group == RESPONSES):  # an ejection link lends all VCs of the class
        turned = port == net.ports - 1 or axis(net, port) != axis(net, out)
        if ejects:  # a DRAM endpoint takes writes of both sides one after the other
            late = p.dateline if p.dram_queue == NONE else 0
        else:
            late = (0 if turned else p.dateline) | links_of(net)[node * (net.ports + 1) + 1 + out].wraps
        size //= 2
        first += late * size
        if p.static_vc != ANY:
            first, size = first + p.static_vc, 1
    vc = take_vc(net, node, out, first, size, p)
    if vc != NONE:
        p.dateline = late
    return vc


@compiled()
def take_vc(net, node, out, first, size, p):
    """Hold the first free one of `size` VCs from `first` on of an output; NONE if none is free.

    For packet `p` of several flits that has waited and may take no other VC, it is free some cycles later than for others.
    """
    o = outputs_of(net)[node * net.ports + out]
    free = ~o.held & (((1 << size) - 1) << first)
    while free:
        vc = lowest_bit(free)
        free &= free - 1
        freed = words_at(net.freed_at)[node * net.inputs + out * net.vcs + vc]
        at_once = p.static_vc == ANY or p.flits == 1 or p.arrived > freed
        if at_once or net.now > freed + net.reallocation:
            o.held |= 1 << vc
            return vc
    return NONE


@compiled(inline="always")
def axis(net, port):
    return port if net.kind == CHIP else port // 2


@compiled()
def switch(net, node):
    """One flit per output and input port crosses the router; multicasts, whose path is reserved, go first.

    The outputs choose in turn, each cycle another one first: none keeps the VCs of an input port from the others.
    """
    used, taken = 0, 0
    if nodes_of(net)[node].multicasts:
        used, taken = cross_multicasts(net, node)
    for i in range(net.ports):
        out = net.first_output + i
        out = out - net.ports if out >= net.ports else out
        o = outputs_of(net)[node * net.ports + out]
        left = o.request & ~used
        if left == 0 or taken >> out & 1:
            continue
        if out == net.ports - 1:
            index = choose_ejection(net, node, o, left)
        else:
            left &= with_room(net, o)
            index = in_turn(o, left) if left else NONE
        if index != NONE:
            o.turn = index + 1
            used |= ((1 << net.vcs) - 1) << (words_at(net.port_of_at)[index] * net.vcs)
            cross(net, node, index, out)


@compiled(inline="always")
def in_turn(o, left):
    """The input VC of the bit set `left` whose turn it is at output `o`."""
    later = left >> o.turn << o.turn
    return lowest_bit(later if later else left)


@compiled()
def choose_ejection(net, node, o, left):
    """The input VC of the bit set `left` that sends a flit into the NIU, or NONE."""
    while left:
        index = in_turn(o, left)
        left &= ~(1 << index)
        if may_eject(net, node, input_vcs_of(net)[node * net.inputs + index]):
            return index
    return NONE


@compiled()
def may_eject(net, node, c):
    """Whether the NIU and what is behind it take the front flit of input VC `c`."""
    p, n = packets_of(net)[c.packet], nodes_of(net)[node]
    room = links_of(net)[node * (net.ports + 1) + net.ports].requests
    if c.sent == 0 and p.group != RESPONSES and n.requests >= room:
        return False
    if not (dram_queue_takes(net, c.packet, c.sent) and take_port(net, node, c.sent == 0)):
        return False
    return dram_port_takes(net, node, c.packet, c.sent)


@compiled()
def cross(net, node, index, out):
    """The flit at the front of an input VC leaves through an output port."""
    c = input_vcs_of(net)[node * net.inputs + index]
    link = links_of(net)[node * (net.ports + 1) + 1 + out]
    packet, first = c.packet, c.sent == 0
    if first:
        p = packets_of(net)[packet]
        note_wait(link, net.now - p.arrived, p.source * (net.ports + 1))
        p.arrived = net.now + net.hop
    link.flits += 1
    leave_buffer(net, node, index, c)
    if out != net.ports - 1:
        if first:
            join_buffer(net, node, out, c.out_vc, packet, c.flits)
        hand_on(net, node, out, c.out_vc, net.hop)
        net.moved += 1
    if c.sent == c.flits:
        tail_crosses(net, node, index, out, link)
    elif c.count == 0:
        outputs_of(net)[node * net.ports + out].request &= ~(1 << index)


@compiled()
def tail_crosses(net, node, index, out, link):
    """The tail of the front packet of an input VC has left through an output port, whose VC is free again."""
    c, o = input_vcs_of(net)[node * net.inputs + index], outputs_of(net)[node * net.ports + out]
    output_vc = node * net.inputs + out * net.vcs + c.out_vc
    if out != net.ports - 1:
        output_vcs_of(net)[output_vc].holder = NOBODY
    else:
        nodes_of(net)[node].requests += packets_of(net)[c.packet].awaits_response
        report(net, ARRIVED, c.packet, node, net.now + net.eject)
        net.in_flight -= 1
    link.packets += 1
    o.request &= ~(1 << index)
    o.held &= ~(1 << c.out_vc)
    o.retry = max(o.retry, net.now + 1 + net.reallocation)
    words_at(net.freed_at)[output_vc] = net.now
    c.out = NONE
    next_in_buffer(net, node, index)
    if c.count > 0:
        ask_for_vc(net, node, index, c, net.now + 1)


@compiled()
def emit(net, node):
    """One flit leaves the NIU, from the queues in turn."""
    n, o = nodes_of(net)[node], outputs_of(net)[node * net.ports + net.ports - 1]
    for i in range(net.classes):
        group = n.next_class + i
        group = group - net.classes if group >= net.classes else group
        if net.now < n.due[group]:
            continue
        packet = n.head[group]
        p, vc = packets_of(net)[packet], queue_vc(net, packet)
        if p.tree != NONE and p.sent == 0 and not may_leave(net, packet):
            continue
        if has_room(net, o, (net.ports - 1) * net.vcs + vc) and take_port(net, node, p.sent == 0):
            n.next_class = group + 1
            send_flit(net, packet, node, vc)
            return


@compiled()
def queue_vc(net, packet):
    """The VC between NIU and router that a packet takes."""
    p = packets_of(net)[packet]
    return net.multicast_vc if p.tree != NONE else p.group * net.vcs_of_class


@compiled()
def waits_for_credit(net, node, group):
    """Whether the queue of a class is empty or its first packet can do nothing until a credit comes."""
    n, o = nodes_of(net)[node], outputs_of(net)[node * net.ports + net.ports - 1]
    packet = n.head[group]
    if packet == NONE:
        return True
    if net.now < n.due[group] or packets_of(net)[packet].tree != NONE:
        return False
    return not has_room(net, o, (net.ports - 1) * net.vcs + queue_vc(net, packet))


@compiled()
def send_flit(net, packet, node, vc):
    """The next flit of a packet leaves its NIU for an input VC of its router."""
    p, link = packets_of(net)[packet], links_of(net)[node * (net.ports + 1)]
    if p.sent == 0:
        p.begun, p.arrived = net.now, net.now + net.inject
        p.emission = max(p.emission, p.supplied - net.now)
        nodes_of(net)[node].requests -= p.is_response
        note_wait(link, net.now - p.ready, node * (net.ports + 1))
        if p.tree == NONE or p.linked != 0:
            report(net, BEGUN, packet, node, net.now)
        join_buffer(net, node, net.ports - 1, vc, packet, p.flits)
    p.sent += 1
    link.flits += 1
    hand_on(net, node, net.ports - 1, vc, net.inject)
    if p.sent < p.flits:
        nodes_of(net)[node].due[p.group] = p.begun + p.sent * (p.emission - 1) // (p.flits - 1)
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
        n.tail[p.group], n.due[p.group] = NONE, NEVER
        return
    following = packets_of(net)[p.next]
    n.due[p.group] = following.ready = max(following.ready, net.now + 1)


@compiled()
def step(net):
    """Cycle `net.now` of all routers and NIUs; those with nothing to do are left out."""
    net.n_events, net.first_output = 0, net.now % net.ports
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
    """One cycle of a router and its NIU; whether it can do anything in the next one that no flit and no credit brings about."""
    if net.now & 2:  # in turn: first into the tile or first out of it
        emit(net, node)
    for out in range(net.ports):
        o = outputs_of(net)[node * net.ports + out]
        if o.need and net.now <= o.retry:
            allocate_vcs(net, node, out)
    switch(net, node)
    if net.now & 2 == 0:
        emit(net, node)
    return at_work(net, node)


@compiled()
def at_work(net, node):
    """Whether a router or its NIU may do something in the next cycle without a flit or a credit that comes."""
    base = node * net.ports
    if outputs_of(net)[base + net.ports - 1].request | nodes_of(net)[node].multicasts:
        return True
    for out in range(net.ports):
        o = outputs_of(net)[base + out]
        if o.request & with_room(net, o) or (o.need and net.now < o.retry):
            return True
    for group in range(net.classes):
        if not waits_for_credit(net, node, group):
            return True
    return False


@compiled()
def next_cycle(net):
    """The next cycle in which anything can happen, or NONE: the network is empty, or deadlocked."""
    active = words_at(net.active_at)
    for word in range(net.words):
        if active[word]:
            return net.now + 1
    flits, credits = words_at(net.wire_counts_at), words_at(net.credit_counts_at)
    for i in range(1, net.span):
        slot = (net.now + i) & (net.span - 1)
        if flits[slot] | credits[slot]:
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
