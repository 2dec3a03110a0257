"""Requests of the register level in the flit model: packets go to the routers, and Python is told what becomes of them.

The network's clock is one of the events, as on the other levels (`tensim.sim.cores.niu.flits`).  Requests come in the order of
cycles: routers that have been stepped take none of the past.  Notices are those of `tensim.sim.register_level.packets`; that of an
arrival comes with the last cycle of the router before the NIU, up to `noc.router_to_niu_cycles` ahead.
"""

from tensim.sim.cores.niu.flits import network_table, send_multicast_packet, send_packet, start_clock
from tensim.sim.cores.niu.transactions import IN_TARGET, TO_TARGET, data_flits, free_transaction, prepare_response
from tensim.sim.engine import event_heap
from tensim.sim.engine.compiled import compiled
from tensim.sim.noc import flit_network
from tensim.sim.noc.flit import next_cycle, step
from tensim.sim.noc.flit_network import events_of
from tensim.sim.noc.multicast import entry_tile, list_receivers
from tensim.sim.noc.packet import prepare
from tensim.sim.noc.packet_state import REQUEST
from tensim.sim.register_level.packets import (
    BEGUN,
    KEPT,
    LEFT,
    LINKED_BEFORE,
    LOOPS_BACK,
    TO_RECEIVERS,
    arrive,
    new_request,
    note,
    run_events,
)
from tensim.sim.state import (
    WRITE,
    machine_table,
    noc_params_of,
    packets_of,
    receivers_of,
    schedule,
    transactions_of,
    workers_mask_of,
)


@compiled()
def run(machine, until, notices, room):
    """Let happen what is due up to a cycle, as far as there is room for notices and transactions."""
    net = network_table(machine_table(machine)[0].flits_at)[0]
    run_events(machine, until, notices, room, flit_network.EVENTS_PER_NODE * net.n_nodes, flit_event)


@compiled()
def flit_event(m, notices, event, now):
    """A cycle of the network, or a request or an answer goes to its NIU; the event's next cycle, or -1."""
    net = network_table(m.flits_at)[0]
    if event == event_heap.CLOCK:
        return clock(m, net, notices, now)
    x = transactions_of(m)[event]
    if x.stage == TO_RECEIVERS:
        send_to_receivers(m, net, notices, event, now)
    else:
        if x.stage == IN_TARGET:
            prepare_response(m, event)
        send_packet(m, net, event, now)
    start_clock(m, net, now)
    return -1


@compiled()
def send_to_receivers(m, net, notices, index, now):
    """A multicast goes to its NIU; each of its receivers has a transaction of its own."""
    x, pk, p = transactions_of(m)[index], packets_of(m)[index], noc_params_of(m)[0]
    x0, y0, x1, y1 = x.address & 255, x.address >> 8 & 255, x.address >> 16 & 255, x.address >> 24 & 255
    flags, flits = x.trid, data_flits(m, x.size) if x.kind == WRITE else 1
    n = list_receivers(p, workers_mask_of(m), x.noc, x.source, x0, y0, x1, y1, flags & LOOPS_BACK, receivers_of(m))
    if n == 0:
        note(notices, x.value, BEGUN, now, x.source, 0)
        note(notices, x.value, LEFT, now, x.source, 0)
        free_transaction(m, index)
        return
    prepare(p, pk, x.noc, x.source, x.source, flits, REQUEST, p.multicast_cost)
    pk.next = -1
    for i in range(n):
        one = new_request(m, x.value, x.kind, x.noc, x.source, receivers_of(m)[2 * i], x.size, x.posted)
        packets_of(m)[one].delivered = 1
        packets_of(m)[one].next, pk.next = pk.next, one
    x.stage, x.target = TO_TARGET, -1
    entry = entry_tile(p, x.noc, x.source, x0, y0, x1, y1)
    send_multicast_packet(m, net, index, entry, flags & LINKED_BEFORE, flags & KEPT, now)


@compiled()
def clock(m, net, notices, now):
    """One cycle of the network; returns the next one in which a flit can move, or -1."""
    if net.due != now:
        return -1
    net.now = now
    step(net)
    events = events_of(net)
    for i in range(net.n_events):
        e = events[i]
        if e.kind == flit_network.ARRIVED:
            packet_arrived(m, notices, e.packet, e.node, e.time)
            continue
        x = transactions_of(m)[e.packet]
        if x.stage == TO_TARGET:
            note(notices, x.value, BEGUN if e.kind == flit_network.BEGUN else LEFT, e.time, x.source, e.packet)
    net.due = next_cycle(net)
    return net.due


@compiled()
def packet_arrived(m, notices, index, node, time):
    """The tail of a packet is in the NIU of a node at a cycle that is to come."""
    packets, transactions = packets_of(m), transactions_of(m)
    one = index
    if transactions[index].target < 0:
        before, one = index, packets[index].next
        while transactions[one].target != node % m.n_tiles:
            before, one = one, packets[one].next
        packets[before].next = packets[one].next
        if packets[index].next < 0:
            free_transaction(m, index)
    answered = arrive(m, notices, one, time)
    if answered >= 0:
        schedule(m, answered, transactions[one].key, one)
