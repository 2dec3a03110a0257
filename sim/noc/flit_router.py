"""A router of the flit model, stage by stage: credits and flits that come, VC allocation, switch allocation, traversal.

Functions take the address of a router (`tensim.sim.noc.flit_network.router_of`).  What each stage does stands in
`tensim.sim.noc.flit`.
"""

from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import lowest_bit
from tensim.sim.noc.flit_multicast import cross_multicasts
from tensim.sim.noc.flit_network import (
    ANY,
    ARRIVED,
    CHIP,
    MESH,
    MULTICASTS,
    NOBODY,
    NONE,
    OF_PORT,
    RESPONSES,
    TORUS,
    dram_port_takes,
    dram_queue_takes,
    freed_at,
    hand_on,
    input_vc_at,
    join_buffer,
    leave_buffer,
    link_behind,
    next_in_buffer,
    node_at,
    number_in,
    number_of,
    numbers_at,
    output_at,
    output_vc_at,
    packets_of,
    port_in,
    port_of,
    report,
    router_at,
    router_of,
    slot_at,
    take_port,
    wake,
    with_room,
    words_at,
)
from tensim.sim.noc.packet import note_wait

# --- what comes


@compiled()
def take_credits(net):
    """The credits that have come back since the last step count from now on."""
    for time in range(max(net.stepped, net.now - net.span) + 1, net.now + 1):
        words = numbers_at(slot_at(net, net.credits_at, time))
        for i in range(1, words[0] + 1):
            take_credit(net, words[i])
        words[0] = 0
    net.stepped = net.now


@compiled(forceinline=True)
def take_credit(net, word):
    """There is room for one flit more behind an output VC; a router that waits for it takes part again."""
    router, port = router_at(net, word), port_in(word)
    o, v = output_at(router, port), output_vc_at(router, number_in(word))
    v.credits += 1
    shared = v.credits < net.buffer
    o.taken -= shared
    o.some_room |= 1 << v.holder
    o.all_room |= (1 - shared) << v.holder
    n, work = node_at(router), o.request & with_room(net, o) | (port == net.local)
    words_at(net.active_at)[n.word] |= n.bit & ((work | -work) >> 63)  # no branch: which way is anybody's guess


@compiled()
def arrivals(net):
    """Flits that reach the buffers in this cycle."""
    words = numbers_at(slot_at(net, net.wires_at, net.now))
    for i in range(1, words[0] + 1):
        router, index = router_at(net, words[i]), number_in(words[i])
        c = input_vc_at(router, index)
        c.count += 1
        n = node_at(router)
        if c.out != NONE:
            output_at(router, c.out).request |= 1 << index
            n.asked |= 1 << c.out
        elif c.count == 1:
            head_arrives(net, router, index, port_in(words[i]), c)
        wake(net, n)
    words[0] = 0


@compiled(forceinline=True)
def head_arrives(net, router, index, port, c):
    """A head, or a flit of a multicast, is in the empty buffer of input VC `c`."""
    if index >= MULTICASTS:
        node_at(router).multicasts |= 1 << port
    else:
        ask_for_vc(net, router, index, c, net.now)


# --- VC allocation


@compiled()
def ask_for_vc(net, router, index, c, time):
    """The head at the front of input VC `c` needs a VC of its output from cycle `time` on."""
    n, out = node_at(router), route(net, router, packets_of(net)[c.packet].target)
    o = output_at(router, out)
    o.need |= 1 << index
    n.needs |= 1 << out
    o.retry = max(o.retry, time)
    n.retry = max(n.retry, time)


@compiled()
def route(net, router, target):
    """Output port of dimension-order routing; ports of a mesh or torus: +x, -x, +y, -y, local; of a chip: x, y, local."""
    n, t = node_at(router), node_at(router_of(net, target))
    dx, dy = t.x - n.x, t.y - n.y
    if net.kind == CHIP:
        along_x = (dx != 0) & ((n.noc == 0) | (dy == 0))
        out = 0 if along_x else 1
    else:
        if net.kind == TORUS:
            dx, dy = shorter_way(dx, net.width, n.number), shorter_way(dy, net.height, n.number)
        out = int(dx < 0) if dx != 0 else 2 + (dy < 0)
    return net.local if dx | dy == 0 else out


@compiled(inline="always")
def shorter_way(distance, size, node):
    """Steps along a ring, down if below 0; of two ways as long every other node takes the one up, so that both fill."""
    up = distance % size
    return up if 2 * up < size or (2 * up == size and node % 2 == 0) else up - size


@compiled()
def allocate_vcs(net, router):
    """Give packets whose head is at the front a free VC of their class at the next router."""
    n = node_at(router)
    outs = n.needs
    while outs:
        out = lowest_bit(outs)
        outs &= outs - 1
        o = output_at(router, out)
        if net.now <= o.retry:
            allocate_output(net, router, out, o)
            n.asked |= int(o.request != 0) << out
            if o.need == 0:
                n.needs &= ~(1 << out)


@compiled()
def allocate_output(net, router, out, o):
    """Those that wait for VCs of output `o` get them first come, first served."""
    left = o.need
    while left:
        index = oldest_head(net, router, left)
        bit = 1 << index
        left &= ~bit
        c = input_vc_at(router, index)
        vc = choose_vc(net, router, index, packets_of(net)[c.packet], out, o)
        if vc == NONE:
            continue
        c.out, c.out_vc = out, vc
        o.need &= ~bit
        o.request |= bit
        if out != net.local:
            v = output_vc_at(router, number_of(out, vc))
            v.holder = index
            o.all_room = o.all_room | bit if v.credits == net.buffer else o.all_room & ~bit
            o.some_room = o.some_room | bit if v.credits > 0 else o.some_room & ~bit


@compiled()
def oldest_head(net, router, left):
    """Number of that input VC in the bit set `left` whose front packet's head has come first."""
    oldest, arrived = NONE, 0
    while left:
        index = lowest_bit(left)
        left &= left - 1
        head = packets_of(net)[input_vc_at(router, index).packet]
        if oldest == NONE or head.arrived < arrived:
            oldest, arrived = index, head.arrived
    return oldest


@compiled()
def choose_vc(net, router, index, p, out, o):
    """VC for packet `p` at the front of an input VC, taken for it at output `o`; NONE when all of its class are held."""
    size = net.vcs_of_class
    first = p.group * size
    late = 0
    ejects = out == net.local
    if net.kind != MESH and not (ejects and p.group == RESPONSES):  # an ejection link lends all VCs of the class
        if ejects:  # a DRAM endpoint takes writes of both sides one after the other
            late = p.dateline if p.dram_queue == NONE else 0
        else:
            port = port_of(index)
            turned = port == net.local or axis(net, port) != axis(net, out)
            late = (0 if turned else p.dateline) | link_behind(net, node_at(router), out).wraps
        size //= 2
        first += late * size
        if p.static_vc != ANY:
            first, size = first + p.static_vc, 1
    vc = take_vc(net, router, number_of(out, 0), o, first, size, p)
    if vc != NONE:
        p.dateline = late
    return vc


@compiled()
def take_vc(net, router, base, o, first, size, p):
    """Hold the first free one of `size` VCs from `first` on of output `o`, whose VC 0 has the number `base`; NONE if none is free.

    For packet `p` of several flits that has waited and may take no other VC, it is free some cycles later than for others.
    """
    free = ~o.held & (((1 << size) - 1) << first)
    while free:
        vc = lowest_bit(free)
        free &= free - 1
        freed = freed_at(router)[base + vc]
        at_once = p.static_vc == ANY or p.flits == 1 or p.arrived > freed
        if at_once or net.now > freed + net.reallocation:
            o.held |= 1 << vc
            return vc
    return NONE


@compiled(inline="always")
def axis(net, port):
    return port if net.kind == CHIP else port // 2


# --- switch allocation


@compiled(forceinline=True)
def switch(net, router):
    """One flit per output and input port crosses the router; multicasts, whose path is reserved, go first.

    The outputs choose in turn, each cycle another one first: none keeps the VCs of an input port from the others.  Returns
    whether there are flits that may cross in the next cycle without a flit or a credit that comes.
    """
    n = node_at(router)
    used, taken, more = 0, 0, 0
    if n.multicasts:
        used, taken = cross_multicasts(net, router)
        more = n.multicasts
    before = n.asked & ((1 << net.first_output) - 1)
    outs = n.asked ^ before
    while outs | before:  # first those from `first_output` on, then those before it
        if outs == 0:
            outs, before = before, 0
        out = lowest_bit(outs)
        outs &= outs - 1
        o = output_at(router, out)
        left = o.request if out == net.local else o.request & with_room(net, o)
        more |= left
        left &= ~used
        if left == 0 or taken >> out & 1:
            continue
        index = in_turn(o, left) if out != net.local else choose_ejection(net, router, o, left)
        if index != NONE:
            o.turn = index + 1
            used |= OF_PORT << number_of(port_of(index), 0)
            cross(net, router, n, index, out, o)
    return more != 0


@compiled(inline="always")
def in_turn(o, left):
    """The input VC of the bit set `left` whose turn it is at output `o`."""
    later = left >> o.turn << o.turn
    return lowest_bit(later if later else left)


@compiled()
def choose_ejection(net, router, o, left):
    """The input VC of the bit set `left` that sends a flit into the NIU, or NONE."""
    while left:
        index = in_turn(o, left)
        left &= ~(1 << index)
        if may_eject(net, router, input_vc_at(router, index)):
            return index
    return NONE


@compiled()
def may_eject(net, router, c):
    """Whether the NIU and what is behind it take the front flit of input VC `c`."""
    p, n = packets_of(net)[c.packet], node_at(router)
    if c.sent == 0 and p.group != RESPONSES and n.requests >= link_behind(net, n, net.local).requests:
        return False
    if not (dram_queue_takes(net, p, c.sent) and take_port(net, n, c.sent == 0)):
        return False
    return dram_port_takes(net, n.number, p, c.sent)


# --- traversal


@compiled(forceinline=True)
def cross(net, router, n, index, out, o):
    """The flit at the front of an input VC leaves through output `o`."""
    c, link = input_vc_at(router, index), link_behind(net, n, out)
    link.flits += 1
    if c.sent == 0:
        head_crosses(net, c, out, o, link)
    leave_buffer(net, c)
    if out != net.local:
        hand_on(net, router, o, number_of(out, c.out_vc), net.hop_slot)
    if c.sent == c.flits:
        tail_crosses(net, router, index, c, out, o, link)
    else:
        withdraw(n, index, out, o, c.count == 0)


@compiled(inline="always")
def withdraw(n, index, out, o, empty):
    """An input VC has no flit for output `o` any more, if it is `empty`."""
    o.request &= ~(empty << index)
    n.asked &= ~((o.request == 0) << out)


@compiled()
def head_crosses(net, c, out, o, link):
    """The head of the front packet of input VC `c` leaves through output `o`."""
    p = packets_of(net)[c.packet]
    note_wait(link, net.now - p.arrived, p.source * (net.ports + 1))
    p.arrived = net.now + net.hop
    if out != net.local:
        join_buffer(net, o, number_of(out, c.out_vc), c.packet, c.flits)


@compiled()
def tail_crosses(net, router, index, c, out, o, link):
    """The tail of the front packet of input VC `c` has left through output `o`, whose VC is free again."""
    n, vc = node_at(router), number_of(out, c.out_vc)
    if out != net.local:
        output_vc_at(router, vc).holder = NOBODY
        net.moved += c.flits  # once a packet
    else:
        n.requests += packets_of(net)[c.packet].awaits_response
        report(net, ARRIVED, c.packet, n.number, net.now + net.eject)
        net.in_flight -= 1
    link.packets += 1
    freed_at(router)[vc] = net.now
    withdraw(n, index, out, o, True)
    o.held &= ~(1 << c.out_vc)
    o.retry = max(o.retry, net.now + 1 + net.reallocation)
    n.retry = max(n.retry, o.retry)
    next_in_buffer(net, router, index, c)
    if c.count > 0:
        ask_for_vc(net, router, index, c, net.now + 1)
