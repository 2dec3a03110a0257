"""Multicasts in the flit model: a tree of reserved links, whose routers copy each flit to all branches in one cycle.

A multicast at the front of its NIU's queue of requests reserves the multicast VC of all links of its tree at once, which
takes as long as in the packet model; when another sender has one of them, it tries again after a random wait
(`tensim.sim.noc.multicast.random_wait`).  The path may be reserved again when the tail has left its NIU, or stays reserved for
the next packet of a linked one; the next one's data wait until no link carries the last one's.  A reserved link carries the
multicast's flits first.
"""

from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import lowest_bit
from tensim.sim.noc.flit_network import (
    ARRIVED,
    BEGUN,
    MULTICASTS,
    OF_PORT,
    TREE_NODES,
    TREES_PER_NIU,
    hand_on,
    has_room,
    input_vc_at,
    join_buffer,
    leave_buffer,
    link_behind,
    next_in_buffer,
    node_at,
    number_of,
    output_at,
    packets_of,
    report,
    router_of,
    set_due,
    take_port,
    words_at,
)
from tensim.sim.noc.multicast import random_wait

NEW, RESERVED, GRANTED = 0, 1, 2


@compiled(inline="always")
def tree_bits(net, tree, node):
    """Outputs of a router that belong to a tree, as a bit set."""
    word = words_at(net.trees_at)[tree * net.tree_words + node // TREE_NODES]
    return word >> (4 * (node % TREE_NODES)) & 7


@compiled()
def last_tree(net, source):
    """The tree of the newest multicast of the NIU of `source`."""
    return source * TREES_PER_NIU + node_at(router_of(net, source)).tree


@compiled()
def new_tree(net, source):
    """An empty tree of the NIU of `source`."""
    n = node_at(router_of(net, source))
    n.tree = (n.tree + 1) % TREES_PER_NIU
    tree = last_tree(net, source)
    for word in range(net.tree_words):
        words_at(net.trees_at)[tree * net.tree_words + word] = 0
    return tree


@compiled()
def add_output(net, tree, node, out):
    words_at(net.trees_at)[tree * net.tree_words + node // TREE_NODES] |= 1 << (4 * (node % TREE_NODES) + out)


@compiled()
def may_leave(net, packet):
    """Whether a multicast at the front of its queue has its path; reserves it, or tries to, the first time."""
    p = packets_of(net)[packet]
    n = node_at(router_of(net, p.source))
    if p.stage == NEW:
        if p.linked != 0:
            p.stage = RESERVED
        elif net.now < n.free + p.rest:
            return False
        elif overlaps(net, p.tree, net.reserved_at):
            wait_for_path(net, p)
        else:
            add_links(net, p.tree, net.reserved_at)
            p.stage, n.attempts = RESERVED, 0
            p.ready = net.now + p.delay
            set_due(router_of(net, p.source), p.group, p.ready)
            report(net, BEGUN, packet, p.source, net.now)
    if p.stage == RESERVED and net.now >= p.ready:
        if p.linked != 0:
            p.stage = GRANTED
        elif n.draining == 0 and not overlaps(net, p.tree, net.occupied_at):
            p.stage = GRANTED
            add_links(net, p.tree, net.occupied_at)
        n.draining += p.receivers if p.stage == GRANTED else 0
    return p.stage == GRANTED


@compiled()
def overlaps(net, tree, links):
    """Whether a tree has links of the set at address `links`."""
    tree_links, others, taken = net.trees_at + 8 * net.tree_words * tree, words_at(links), 0
    for word in range(net.tree_words):
        taken |= words_at(tree_links)[word] & others[word]
    return taken != 0


@compiled()
def add_links(net, tree, links):
    """The links of a tree belong to the set at address `links` from now on."""
    for word in range(net.tree_words):
        words_at(links)[word] |= words_at(net.trees_at)[tree * net.tree_words + word]


@compiled()
def tail_has_left(net, p):
    """The tail of a multicast has left its NIU: others may reserve its path, unless it is linked to another one."""
    node_at(router_of(net, p.source)).free = net.now + 1
    if p.keep == 0:
        for word in range(net.tree_words):
            words_at(net.reserved_at)[word] &= ~words_at(net.trees_at)[p.tree * net.tree_words + word]


@compiled()
def wait_for_path(net, p):
    """Random exponential back-off: the window doubles with every failure."""
    sender = node_at(router_of(net, p.source))
    window = net.backoff_cycles << min(sender.attempts, net.backoff_doublings)
    sender.attempts += 1
    sender.draws += 1
    wait = random_wait(window, (net.backoff_seed * net.n_nodes + p.source) * 4294967296 + sender.draws)
    p.ready = net.now + wait
    set_due(router_of(net, p.source), p.group, p.ready)


@compiled()
def cross_multicasts(net, router):
    """Multicast flits cross the router; (bit set of input VCs that may send no more, that of outputs used)."""
    n = node_at(router)
    used, taken, left = 0, 0, n.multicasts
    while left:
        port = lowest_bit(left)
        left &= left - 1
        c = input_vc_at(router, MULTICASTS + port)
        outs = tree_bits(net, packets_of(net)[c.packet].tree, n.number)
        if branches_free(net, router, outs & ~taken, outs, c.sent == 0):
            used |= OF_PORT << number_of(port, 0)
            taken |= outs
            branch(net, router, port, outs)
            if c.count == 0:
                n.multicasts &= ~(1 << port)
    return used, taken


@compiled()
def branches_free(net, router, untaken, outs, first):
    """Whether a flit can go to all outputs of `outs`."""
    if untaken != outs:
        return False
    for out in range(net.local):
        if outs >> out & 1:
            if not has_room(net, output_at(router, out), MULTICASTS + out):
                return False
    return outs >> net.local & 1 == 0 or take_port(net, node_at(router), first)


@compiled()
def branch(net, router, port, outs):
    """The front multicast flit of a port leaves through all outputs of `outs`."""
    c, n = input_vc_at(router, MULTICASTS + port), node_at(router)
    packet, first = c.packet, c.sent == 0
    p = packets_of(net)[packet]
    leave_buffer(net, c)
    last = c.sent == c.flits
    for out in range(net.ports):
        if outs >> out & 1 == 0:
            continue
        link, o = link_behind(net, n, out), output_at(router, out)
        link.flits += 1
        link.packets += last
        if out != net.local:
            if first:
                join_buffer(net, o, MULTICASTS + out, packet, c.flits)
            hand_on(net, router, o, MULTICASTS + out, net.hop_slot)
            net.moved += 1
        elif last:
            report(net, ARRIVED, packet, n.number, net.now + net.eject)
            net.in_flight -= 1
            node_at(router_of(net, p.source)).draining -= 1
    if last:
        next_in_buffer(net, router, MULTICASTS + port, c)
        if p.keep == 0:
            words_at(net.occupied_at)[n.number // TREE_NODES] &= ~(outs << (4 * (n.number % TREE_NODES)))
