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

Here are the NIUs and the cycle; what a router does in it is in `tensim.sim.noc.flit_router`, the state in
`tensim.sim.noc.flit_network`.
"""

from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import lowest_bit
from tensim.sim.noc.flit_multicast import NEW, add_output, last_tree, may_leave, new_tree, tail_has_left
from tensim.sim.noc.flit_network import (
    ANY,
    ARRIVED,
    BEGUN,
    LEFT,
    MULTICASTS,
    NEVER,
    NODES_PER_WORD,
    NONE,
    due_at,
    events_of,
    hand_on,
    has_room,
    join_buffer,
    link_behind,
    node_at,
    number_of,
    numbers_at,
    output_at,
    packets_of,
    report,
    router_at,
    router_of,
    set_due,
    slot_at,
    take_port,
    wake,
    words_at,
)
from tensim.sim.noc.flit_router import allocate_vcs, arrivals, route, switch, take_credits
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
    router = router_of(net, p.source)
    n = node_at(router)
    p.next, p.dateline, p.sent = NONE, 0, 0
    if n.tail[p.group] == NONE:
        n.head[p.group] = packet
        set_due(router, p.group, p.ready)
    else:
        packets_of(net)[n.tail[p.group]].next = packet
    n.tail[p.group] = packet
    net.in_flight += p.receivers
    wake(net, n)


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
    router, hops, local = router_of(net, p.source), 0, net.local
    goal = entry if p.source != entry else target
    p.receivers += 1
    out = route(net, router, goal)
    while out != local:
        add_output(net, p.tree, node_at(router).number, out)
        router = router_at(net, output_at(router, out).next)
        goal = goal if node_at(router).number != entry else target
        out = route(net, router, goal)
        hops += 1
    add_output(net, p.tree, node_at(router).number, local)
    return hops


@compiled(forceinline=True)
def emit(net, router):
    """One flit leaves the NIU, from the queues in turn."""
    n = node_at(router)
    if n.soonest > net.now:
        return
    for i in range(net.classes):
        group = n.next_class + i
        group = group - net.classes if group >= net.classes else group
        if due_at(router)[group] <= net.now and emit_of_class(net, router, n, group):
            n.next_class = group + 1
            return


@compiled()
def emit_of_class(net, router, n, group):
    """Whether the next flit of a class's queue, which is due, leaves the NIU."""
    packet = n.head[group]
    p = packets_of(net)[packet]
    if p.tree != NONE and p.sent == 0 and not may_leave(net, packet):
        return False
    index, o = queue_vc(net, p), output_at(router, net.local)
    if not (has_room(net, o, index) and take_port(net, n, p.sent == 0)):
        return False
    send_flit(net, router, packet, index, o)
    return True


@compiled(inline="always")
def queue_vc(net, p):
    """Number of the VC between NIU and router that packet `p` takes."""
    return number_of(net.local, p.group * net.vcs_of_class) if p.tree == NONE else MULTICASTS + net.local


@compiled()
def niu_at_work(net, router):
    """Whether the NIU may send a flit some time without a credit that comes."""
    n, o = node_at(router), output_at(router, net.local)
    if n.soonest > net.now:
        return n.soonest != NEVER
    for group in range(net.classes):
        due = due_at(router)[group]
        if due <= net.now:
            p = packets_of(net)[n.head[group]]
            if p.tree != NONE or has_room(net, o, queue_vc(net, p)):
                return True
        elif due != NEVER:
            return True
    return False


@compiled()
def send_flit(net, router, packet, index, o):
    """The next flit of a packet leaves its NIU for an input VC of its router, by output `o`."""
    p, n = packets_of(net)[packet], node_at(router)
    link = link_behind(net, n, -1)
    if p.sent == 0:
        p.begun, p.arrived = net.now, net.now + net.inject
        p.emission = max(p.emission, p.supplied - net.now)
        n.requests -= p.is_response
        note_wait(link, net.now - p.ready, n.number * (net.ports + 1))
        if p.tree == NONE or p.linked != 0:
            report(net, BEGUN, packet, n.number, net.now)
        join_buffer(net, o, index, packet, p.flits)
    p.sent += 1
    link.flits += 1
    hand_on(net, router, o, index, net.inject_slot)
    if p.sent < p.flits:
        set_due(router, p.group, p.begun + p.sent * (p.emission - 1) // (p.flits - 1))
        return
    link.packets += 1
    if p.tree != NONE:
        tail_has_left(net, p)
    leave_queue(net, router, p)
    report(net, LEFT, packet, n.number, net.now + 1)


@compiled()
def leave_queue(net, router, p):
    """A packet has left its NIU: the next one of its queue may be sent from the next cycle on."""
    n = node_at(router)
    n.head[p.group] = p.next
    if p.next == NONE:
        n.tail[p.group] = NONE
        set_due(router, p.group, NEVER)
        return
    following = packets_of(net)[p.next]
    following.ready = max(following.ready, net.now + 1)
    set_due(router, p.group, following.ready)


@compiled()
def step(net):
    """Cycle `net.now` of all routers and NIUs; those with nothing to do are left out."""
    net.n_events, net.first_output = 0, net.now % net.ports
    net.hop_slot = slot_at(net, net.wires_at, net.now + net.hop)
    net.inject_slot = slot_at(net, net.wires_at, net.now + net.inject)
    net.credit_slot = slot_at(net, net.credits_at, net.now + net.credit)
    take_credits(net)
    arrivals(net)
    active = words_at(net.active_at)
    for i in range(net.words):
        word = net.words - 1 - i if net.now & 1 else i  # neither NoC always comes first at an L1 port
        left = active[word]
        while left:
            bit = lowest_bit(left)
            left &= left - 1
            if not step_node(net, router_of(net, word * NODES_PER_WORD + bit)):
                active[word] &= ~(1 << bit)


@compiled(forceinline=True)
def step_node(net, router):
    """One cycle of a router and its NIU; whether it may do anything in the next one without a flit or a credit that comes."""
    n = node_at(router)
    if net.now & 2:  # in turn: first into the tile or first out of it
        emit(net, router)
    if n.needs and net.now <= n.retry:
        allocate_vcs(net, router)
    more = switch(net, router)
    if net.now & 2 == 0:
        emit(net, router)
    return more or (n.needs != 0 and net.now < n.retry) or niu_at_work(net, router)


@compiled()
def next_cycle(net):
    """The next cycle in which anything can happen, or NONE: the network is empty, or deadlocked."""
    active = words_at(net.active_at)
    for word in range(net.words):
        if active[word]:
            return net.now + 1
    if net.in_flight == 0:
        return NONE
    for time in range(net.now + 1, net.now + net.span):
        if numbers_at(slot_at(net, net.wires_at, time))[0] | numbers_at(slot_at(net, net.credits_at, time))[0]:
            return time
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
