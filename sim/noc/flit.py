"""The flit model of the NoC: input-buffered virtual-channel routers, stepped cycle by cycle in compiled code.

A router has an input port per direction and one for its own NIU, each with virtual channels (VCs) of a few flits.  A head
flit takes a free VC of its class at the next router (VC allocation); then its packet's flits compete for the crossbar, one
flit per input and output port and cycle, round robin (switch allocation), as long as the next buffer has room (credits).
A flit that leaves a router is in the next one's buffer `hop` cycles later, where it may leave at once: `hop` holds the
router's pipeline.  Deadlock freedom on rings: a packet changes to the second half of its class's VCs behind the wrap-around
link (dateline) and back when it turns.  Rules and words follow the literature (Dally & Towles, Principles and Practices of
Interconnection Networks, chapters 14 to 17).
"""

from typing import NamedTuple

import numba as nb
import numpy as np

from sim.noc.topology import next_hop

MESH, TORUS, CHIP_NOC0, CHIP_NOC1 = 0, 1, 2, 3  # the chip's networks are unidirectional tori
EAST, WEST, SOUTH, NORTH, LOCAL = 0, 1, 2, 3, 4
PORTS = 5
OPPOSITE = np.array([WEST, EAST, NORTH, SOUTH, LOCAL])
NONE = -1

MAX_CLASSES = 4

SHAPE = np.dtype(
    [(name, np.int64) for name in (
        "kind width height nodes classes vcs buffer hop inject eject credit now in_flight moved delivered span"
    ).split()]
)  # fmt: skip
PACKET = np.dtype([(name, np.int64) for name in "source target flits group ready done next dateline".split()])
# Of an input VC: place of the front flit in its buffer, flits in it, flits of the front packet that have left, and the output
# port and VC the front packet was given (NONE before).  Of the output VC of the same index: who holds it, and its credits.
CHANNEL = np.dtype([(name, np.int64) for name in "first count sent out_port out_vc owner credits".split()])
# `need`: bit set of input VCs whose front packet has no output VC yet; `request`: by output port, those with a flit for it
NODE = np.dtype(
    [("need", np.int64), ("request", np.int64, PORTS), ("turn", np.int64, PORTS)]
    + [("head", np.int64, MAX_CLASSES), ("tail", np.int64, MAX_CLASSES)]
)
WIRE = np.dtype([("packet", np.int64), ("vc", np.int64), ("credit", np.int64)])


class FlitNetwork(NamedTuple):
    """All state of n routers with p ports of v VCs of b flits.

    `shape`: one record of sizes and clock; `packets`; `nodes` (n), with the queues of packets that wait at the NIUs;
    `channels` (n * p * v); `buffers` (n * p * v, b): packet of each flit; `wires` (span, n * p): what reaches a port in the
    cycles to come: a flit's packet and VC, and the VC that gets a credit.
    """

    shape: np.ndarray
    packets: np.ndarray
    nodes: np.ndarray
    channels: np.ndarray
    buffers: np.ndarray
    wires: np.ndarray


def build(kind, width, height, *, capacity, vcs=4, classes=1, buffer=8, hop=9, inject=5, eject=5, credit=1):
    """An idle network for up to `capacity` packets.

    `vcs`: per port, a multiple of `classes`, with an even number per class on rings; latencies in cycles: `hop` from router
    to router, `inject` and `eject` between NIU and router, `credit` back to the router before (1 at least).  ValueError for
    figures no network can have.
    """
    if not 1 <= classes <= MAX_CLASSES or vcs % classes or (kind != MESH and vcs // classes % 2) or PORTS * vcs > 62:
        raise ValueError(f"{vcs} VCs cannot be shared by {classes} classes; rings need an even number for each")
    if min(hop, credit, buffer) < 1:
        raise ValueError("hop, credit and buffer are at least 1")
    n, span = width * height, max(hop, credit) + 1
    shape, nodes, wires = np.zeros(1, SHAPE), np.zeros(n, NODE), np.zeros((span, n * PORTS), WIRE)
    shape[0] = (kind, width, height, n, classes, vcs, buffer, hop, inject, eject, credit, 0, 0, 0, 0, span)
    channels = np.zeros(n * PORTS * vcs, CHANNEL)
    for name in ("out_port", "out_vc", "owner"):
        channels[name] = NONE
    channels["credits"] = buffer
    nodes["head"], nodes["tail"] = NONE, NONE
    for name in WIRE.names:
        wires[name] = NONE
    buffers = np.zeros((len(channels), buffer), np.int64)
    return FlitNetwork(shape, np.zeros(capacity, PACKET), nodes, channels, buffers, wires)


@nb.njit(cache=True, inline="always")
def shorter(distance, size, node):
    """Whether the way up a ring is the shorter one; of two equal ones every other node takes it, so that both fill."""
    return 2 * distance < size or (2 * distance == size and node % 2 == 0)


@nb.njit(cache=True)
def toward(kind, width, height, node, target):
    """(output port, next node, whether the link wraps round) of dimension-order routing."""
    x, y, tx, ty = node % width, node // width, target % width, target // width
    if kind >= CHIP_NOC0:
        noc = kind - CHIP_NOC0
        direction, following = next_hop(width, height, noc, node, target)
        if direction == 1:
            port = EAST if noc == 0 else WEST
            wraps = (following % width < x) if noc == 0 else (following % width > x)
        else:
            port = SOUTH if noc == 0 else NORTH
            wraps = (following // width < y) if noc == 0 else (following // width > y)
        return port, following, wraps
    if x != tx:
        right = tx > x if kind == MESH else shorter((tx - x) % width, width, node)
        nx = (x + 1) % width if right else (x - 1) % width
        return (EAST if right else WEST), y * width + nx, (nx == 0 if right else nx == width - 1) and kind == TORUS
    down = ty > y if kind == MESH else shorter((ty - y) % height, height, node)
    ny = (y + 1) % height if down else (y - 1) % height
    return (SOUTH if down else NORTH), ny * width + x, (ny == 0 if down else ny == height - 1) and kind == TORUS


@nb.njit(cache=True)
def inject(net, packet, source, target, flits, group, ready):
    """Hand a packet to the NIU of `source` at cycle `ready`; it enters the router `inject` cycles later."""
    p, s, node = net.packets[packet], net.shape[0], net.nodes[source]
    p.source, p.target, p.flits, p.group, p.ready = source, target, flits, group, ready + s.inject
    p.done, p.next, p.dateline = NONE, NONE, 0
    if node.tail[group] == NONE:
        node.head[group] = packet
        node.need |= 1 << (LOCAL * s.vcs + group)
    else:
        net.packets[node.tail[group]].next = packet
    node.tail[group] = packet
    s.in_flight += 1


@nb.njit(cache=True, inline="always")
def front(net, node, index, channel):
    """Packet at the front of input VC `index` (port * VCs + VC); the NIU's VCs are its classes' queues."""
    s = net.shape[0]
    local = index - LOCAL * s.vcs
    return net.nodes[node].head[local] if local >= 0 else net.buffers[channel, net.channels[channel].first]


@nb.njit(cache=True)
def arrivals(net, slot):
    """Flits and credits that reach the ports in this cycle."""
    s = net.shape[0]
    for port in range(s.nodes * PORTS):
        wire = net.wires[slot, port]
        if wire.credit != NONE:
            net.channels[port * s.vcs + wire.credit].credits += 1
            wire.credit = NONE
        if wire.packet != NONE:
            channel = port * s.vcs + wire.vc
            c, node = net.channels[channel], net.nodes[port // PORTS]
            at = c.first + c.count
            net.buffers[channel, at - s.buffer if at >= s.buffer else at] = wire.packet
            c.count += 1
            bit = 1 << (port % PORTS * s.vcs + wire.vc)
            if c.out_port == NONE:
                node.need |= bit
            else:
                node.request[c.out_port] |= bit
            wire.packet = NONE


@nb.njit(cache=True)
def allocate_vcs(net, node):
    """Give packets whose head is at the front a free VC of their class at the next router."""
    s, n = net.shape[0], net.nodes[node]
    base, left, index = node * PORTS * s.vcs, n.need, 0
    while left >> index:
        if left >> index & 1 == 0:
            index += 1
            continue
        packet = front(net, node, index, base + index)
        p, c = net.packets[packet], net.channels[base + index]
        if p.ready <= s.now:
            out, choice = choose_vc(net, node, index, packet)
            if out != NONE:
                c.out_port, c.out_vc = out, choice
                n.need &= ~(1 << index)
                n.request[out] |= 1 << index
        index += 1


@nb.njit(cache=True)
def choose_vc(net, node, index, packet):
    """(output port, VC) for a packet, taken for it; (NONE, NONE) when no VC of its class is free."""
    s, p = net.shape[0], net.packets[packet]
    if p.target == node:
        return LOCAL, 0
    out, _, wraps = toward(s.kind, s.width, s.height, node, p.target)
    size = s.vcs // s.classes
    first = p.group * size
    late = 0
    if s.kind != MESH:
        port = index // s.vcs
        turned = port == LOCAL or (port < SOUTH) != (out < SOUTH)
        late = (0 if turned else p.dateline) | wraps
        size //= 2
        first += late * size
    base = (node * PORTS + out) * s.vcs
    for i in range(size):
        choice = first + (i + net.nodes[node].turn[out]) % size
        if net.channels[base + choice].owner == NONE:
            net.channels[base + choice].owner = index
            p.dateline = late
            return out, choice
    return NONE, NONE


@nb.njit(cache=True)
def switch(net, node):
    """One flit per output and input port crosses the router."""
    s, n = net.shape[0], net.nodes[node]
    base, n_inputs, port_bits = node * PORTS * s.vcs, PORTS * s.vcs, (1 << s.vcs) - 1
    used = 0
    for out in range(PORTS):
        left = n.request[out] & ~used
        if left == 0:
            continue
        index = n.turn[out]
        for _ in range(n_inputs):
            if left >> index & 1:
                c = net.channels[base + index]
                if out == LOCAL or net.channels[base + out * s.vcs + c.out_vc].credits > 0:
                    used |= port_bits << (index // s.vcs * s.vcs)
                    n.turn[out] = index + 1 if index + 1 < n_inputs else 0
                    cross(net, node, index, out)
                    break
            index = index + 1 if index + 1 < n_inputs else 0


@nb.njit(cache=True)
def cross(net, node, index, out):
    """The flit at the front of an input VC leaves through an output port."""
    s, n = net.shape[0], net.nodes[node]
    base = node * PORTS * s.vcs
    c, packet = net.channels[base + index], front(net, node, index, base + index)
    p, out_vc, bit = net.packets[packet], c.out_vc, 1 << index
    c.sent += 1
    last = c.sent == p.flits
    if index >= LOCAL * s.vcs:
        more = leave_niu(net, node, index - LOCAL * s.vcs, last)
    else:
        more = leave_buffer(net, node, index)
    if out == LOCAL:
        if last:
            p.done = s.now + s.eject
            s.in_flight -= 1
            s.delivered += 1
    else:
        _, following, _ = toward(s.kind, s.width, s.height, node, p.target)
        wire = net.wires[(s.now + s.hop) % s.span, following * PORTS + OPPOSITE[out]]
        wire.packet, wire.vc = packet, out_vc
        net.channels[base + out * s.vcs + out_vc].credits -= 1
        s.moved += 1
    if last:
        c.sent, c.out_port, c.out_vc = 0, NONE, NONE
        n.request[out] &= ~bit
        if more:
            n.need |= bit
        if out != LOCAL:
            net.channels[base + out * s.vcs + out_vc].owner = NONE
    elif not more:
        n.request[out] &= ~bit


@nb.njit(cache=True)
def leave_niu(net, node, group, last):
    """A flit leaves the NIU; whether another one waits there."""
    n = net.nodes[node]
    if last:
        n.head[group] = net.packets[n.head[group]].next
        if n.head[group] == NONE:
            n.tail[group] = NONE
    return n.head[group] != NONE


@nb.njit(cache=True)
def leave_buffer(net, node, index):
    """A flit leaves its buffer, whose place goes back to the router before as a credit; whether another one waits."""
    s, port = net.shape[0], index // net.shape[0].vcs
    c = net.channels[node * PORTS * s.vcs + index]
    c.first = c.first + 1 if c.first + 1 < s.buffer else 0
    c.count -= 1
    x, y = node % s.width, node // s.width
    if port == EAST:  # the input port that faces east: its flits come from the east
        before = y * s.width + (x + 1) % s.width
    elif port == WEST:
        before = y * s.width + (x - 1) % s.width
    elif port == SOUTH:
        before = (y + 1) % s.height * s.width + x
    else:
        before = (y - 1) % s.height * s.width + x
    net.wires[(s.now + s.credit) % s.span, before * PORTS + OPPOSITE[port]].credit = index % s.vcs
    return c.count > 0


@nb.njit(cache=True)
def step(net):
    """One cycle of all routers."""
    s = net.shape[0]
    arrivals(net, s.now % s.span)
    for node in range(s.nodes):
        n = net.nodes[node]
        if n.need != 0:
            allocate_vcs(net, node)
        if n.request[0] | n.request[1] | n.request[2] | n.request[3] | n.request[4]:
            switch(net, node)
    s.now += 1


@nb.njit(cache=True)
def run_until_idle(net, limit):
    """Step until every packet is delivered or `limit` cycles have passed; whether it is idle."""
    s = net.shape[0]
    while s.in_flight > 0 and s.now < limit:
        step(net)
    return s.in_flight == 0
