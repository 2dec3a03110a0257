"""The flit model in the compiled engine: transactions' packets go to the routers, and what becomes of them comes back.

A packet is handed to its NIU as a whole.  One event, the network's clock, steps the routers cycle by cycle as long as any
flit is on its way, and passes over cycles in which none can move.  `flit_event` is called by address, so the engine of the
packet model is compiled without any of this.
"""

from tensim.sim.cores.niu.command_buffers import left_command_buffer, tail_left
from tensim.sim.cores.niu.transactions import TO_TARGET, free_transaction
from tensim.sim.engine import event_heap
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.tables import table
from tensim.sim.noc.flit import add_receiver, enqueue, inject, inject_multicast, next_cycle, step
from tensim.sim.noc.flit_network import ANY, ARRIVED, BEGUN, NETWORK, NONE, RESPONSES, build_chip, events_of
from tensim.sim.noc.flit_network import packets_of as flit_packets_of
from tensim.sim.noc.packet_state import build_noc_params
from tensim.sim.state import READ, machine_table, noc_params_of, packets_of, schedule, transactions_of

network_table = table(NETWORK)


@compiled()
def send_packet(m, net, index, now):
    """Hand the prepared packet of a transaction to its NIU."""
    x, pk = transactions_of(m)[index], packets_of(m)[index]
    first = x.noc * m.n_tiles
    asks = x.stage == TO_TARGET
    source, target = (x.source, x.target) if asks else (x.target, x.source)
    group = RESPONSES if pk.response != 0 else pk.static_vc // 2 * 2
    static_vc = ANY if pk.response | pk.dynamic else pk.static_vc % 2
    inject(net, index, first + source, first + target, pk.flits, group, now, pk.emission, static_vc)
    p, reads = flit_packets_of(net)[index], int(x.kind == READ)
    p.awaits_response, p.is_response = (reads, 0) if asks else (0, reads)
    p.dram_queue, p.dram_queue_ticks, p.dram_queue_room = pk.dram_queue, pk.dram_queue_ticks, pk.dram_queue_room
    p.supplied = pk.supplied


@compiled()
def send_multicast_packet(m, net, index, entry, is_open, keep, now):
    """Hand a multicast's packet to its NIU; `entry`: the tile at which it gets to its rectangle.

    Its receivers are transactions: the first in `next` of its packet, the others in theirs.
    """
    x, pk, p = transactions_of(m)[index], packets_of(m)[index], noc_params_of(m)[0]
    first = x.noc * m.n_tiles
    inject_multicast(net, index, first + x.source, pk.flits, now, pk.emission, is_open, keep)
    receiver, depth = pk.next, 0
    while receiver >= 0:
        depth = max(depth, add_receiver(net, index, first + entry, first + transactions_of(m)[receiver].target))
        receiver = packets_of(m)[receiver].next
    if is_open == 0:  # the law of `tensim.sim.noc.multicast`
        flit_packets_of(net)[index].delay = p.reserve * depth
        flit_packets_of(net)[index].rest = p.even_extra if depth % 2 == 0 else p.odd_extra
    enqueue(net, index)


@compiled()
def start_clock(m, net, now):
    """Have the network stepped in this cycle, unless that has been done; a later event of the clock is then void."""
    time = max(now, net.now + 1)
    if net.due == NONE or net.due > time:
        net.due = time
        schedule(m, time, event_heap.CLOCK_KEY, event_heap.CLOCK)


@compiled()
def clock(m, net, now):
    """One cycle of the network; returns the next one in which a flit can move, or -1."""
    if net.due != now:
        return -1
    net.now = now
    step(net)
    events = events_of(net)
    for i in range(net.n_events):
        e = events[i]
        if e.kind == ARRIVED:
            packet_arrived(m, e.packet, e.node, e.time)
        elif e.kind == BEGUN:
            packets_of(m)[e.packet].begun = e.time
            left_command_buffer(m, e.packet, now)
        else:
            packets_of(m)[e.packet].left = e.time
            tail_left(m, e.packet, now)
    net.due = next_cycle(net)
    return net.due


@compiled()
def packet_arrived(m, index, node, time):
    """The tail of a packet reaches the NIU of a node at cycle `time`."""
    packets = packets_of(m)
    if transactions_of(m)[index].target >= 0:
        packets[index].delivered = 1
        schedule(m, time, transactions_of(m)[index].key, index)
        return
    before, receiver = index, packets[index].next
    while transactions_of(m)[receiver].target != node % m.n_tiles:
        before, receiver = receiver, packets[receiver].next
    packets[before].next = packets[receiver].next
    schedule(m, time, transactions_of(m)[receiver].key, receiver)
    if packets[index].next < 0:
        free_transaction(m, index)


@compiled()
def flit_event(machine, event, now):
    """CLOCK: a cycle of the network; else the transaction `event` has a packet for its NIU.  The event's next cycle, or -1.

    A multicast's transaction holds `is_open` in `value`, `keep` in `address` and its entry in `local`.
    """
    m = machine_table(machine)[0]
    net = network_table(m.flits_at)[0]
    if event == event_heap.CLOCK:
        return clock(m, net, now)
    x = transactions_of(m)[event]
    if x.target < 0:
        send_multicast_packet(m, net, event, x.local, x.value, x.address, now)
    else:
        send_packet(m, net, event, now)
    start_clock(m, net, now)
    return -1


def flit_network(arch, links, ports):
    """The flit network of a chip, idle; `links` and `ports`: the packet model's arrays, which also hold this model's counts.

    UsageError when a latency is below a cycle.
    """
    for key in ("noc.hop_cycles", "noc.niu_to_router_cycles", "noc.router_to_niu_cycles"):
        if arch[key] < 1 or arch[key] != int(arch[key]):
            raise arch.wrong(key, f"{key} is {arch[key]}; the flit model takes whole cycles, at least 1")
    hop, inject, eject = (int(arch[f"noc.{key}_cycles"]) for key in ("hop", "niu_to_router", "router_to_niu"))
    credit = arch["noc.credit_round_trip_cycles"] - hop
    if credit < 1 or credit != int(credit):
        raise arch.wrong(
            "noc.credit_round_trip_cycles",
            f"noc.credit_round_trip_cycles is {arch['noc.credit_round_trip_cycles']}, whole cycles and more than the {hop} "
            "of noc.hop_cycles for the flit model",
        )
    network = build_chip(
        *arch.noc_size, buffer=int(arch["noc.buffer_flits"]), shared=int(arch["noc.shared_buffer_flits"]),
        credit=int(credit), hop=hop, inject=inject, eject=eject,
    )  # fmt: skip
    nodes, (width, height) = network.arrays["routers"]["node"], arch.noc_size
    for x, y in arch.worker_coords:
        nodes["l1_port"][[y * width + x + noc * width * height for noc in (0, 1)]] = y * width + x
    for name in ("port_ticks", "dram_ports", "dram_port_ticks", "reallocation"):
        network.net[name] = build_noc_params(arch)[name][0]
    for name in ("backoff_cycles", "backoff_doublings", "backoff_seed"):
        network.net[name] = arch[f"noc.{name}"]
    network.place("links", links)
    network.place("ports", ports)
    return network
