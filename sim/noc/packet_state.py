"""The state of the packet model: links, virtual channels, packets, ports, and its parameters."""

import numpy as np

from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import in_cache_lines, zeros_in_cache_lines
from tensim.sim.noc.topology import EJECT, INJECT, LINKS_PER_TILE, X_OUT, Y_OUT, link_index

MAX_ROUTE = 32  # links: 29 on the longest route, Blackhole's 17x12 torus
MAX_TREE = 4096
# VCs of a link, in pairs by dateline bit: two each of both classes of requests, then two of responses; four places are unused
VC_BITS = 4
N_VCS = 1 << VC_BITS
REQUEST_VCS = 8
STATIC_VCS = 4  # numbers of static VCs of requests: class (2) and VC of it (1)
DEFAULT_VC = 1  # static VC of requests that name none (tt-metal's VC of unicast writes)
COST_BITS = 10
FLIT_COST = 1 << COST_BITS  # of one cycle: the unit of what flits cost
PORT_BITS = 8
PORT_TICKS = 1 << PORT_BITS  # per cycle: the unit of time of L1 ports
PORT_STREAMS = 4  # that share an L1 port flit by flit: into it and out of it on both NoCs
HELD = 1 << 62  # no end known yet
DYNAMIC_VC = 16  # "VC number" of a request whose VC routers choose: the 4 bits of a VC end at 15
WAITING = -1
REQUEST, RESPONSE = 0, 1
NO_PORT = -1
NOBODY, NO_QUEUE, NO_HOP = -1, -1, -1  # the end of a queue or list of packets; no DRAM channel; no hop
# The model's speed follows from the cache lines that a hop touches.
LINK_DTYPE = in_cache_lines(
    [
        ("clear", "i8"),  # the cycle from which it has nothing left to carry
        ("gap_begin", "i8"),  # from here
        ("gap_end", "i8"),  # to here, before `clear`, nothing is booked for it yet
        ("flits", "i8"),  # that it has carried
        ("packets", "i8"),  # that it has carried
        ("in_use", "i4"),  # bit set of VCs that hold anything, and of some that no longer do
        ("latency", "i4"),  # cycles of a head over it
        ("port", "i4"),  # the tile whose L1 is behind it, or NO_PORT
        ("next_tile", "i4"),  # the tile behind it
        ("wraps", "i4"),  # 1 on the link that closes the ring
        ("writer", "i4"),  # 1 + injection link of the last packet for a DRAM channel
        ("requests", "i4"),  # reads that the NIU behind it can buffer
        ("owner", "i4"),  # the tile whose multicasts hold it until `reserved`
        ("buffered", "i4"),  # reads that the NIU behind it does buffer
        ("closed", "i4"),  # bit set of VCs held until that NIU has room
        ("stall", "i8"),  # cycles that packets waited for it
        ("longest", "i8"),  # the most that one did
        ("waiter", "i8"),  # its injection link
        ("reserved", "i8"),  # the cycle until which the path of a multicast holds it
        ("stamp", "i8"),  # of the last multicast over it (`tensim.sim.noc.multicast`)
        ("offset", "i8"),  # cycles of that one's head up to it
    ]
)
# N_VCS of each link
VC_DTYPE = in_cache_lines(
    [
        ("free", "i8"),  # the cycle from which it is, or HELD
        ("full", "i8"),  # 0, or the cycle from which it would be free if the buffer behind it had room
        ("left", "i8"),  # the cycle in which the last tail left that buffer
        ("waiting", "i4"),  # queue for it or its pair: of the first VC the head, of the second the end; or NOBODY
        ("holder", "i4"),  # the last packet that took it
        ("behind", "i4"),  # queue in the buffer, of heads that wait for the tail before them; or NOBODY
        ("last_behind", "i4"),  # the end of that queue
        ("buffered", "i2"),  # flits in the buffer behind the link
        ("hop", "i2"),  # of the holder's route, at which it took it
        ("room", "i2"),  # for how many of its flits the buffer had room
        ("use", "i2"),  # flits of that room which its rate needs
        ("entered", "i2"),  # packets that have taken it (wraps round)
        ("gone", "i2"),  # packets whose tails have left the buffer behind it (wraps round)
    ]
)
PACKET_DTYPE = in_cache_lines(
    [
        ("time", "i8"),  # the cycle of its next event, for a list of those that go on
        ("arrive", "i8"),  # the cycle at which its head came to the link
        ("link", "i4"),  # that its head is at
        ("vc", "i4"),  # index of the last VC that it took or waits for
        ("tile", "i4"),  # whose router its head is in
        ("flits", "i4"),  # of the packet
        ("next", "i4"),  # in the queue that it waits in
        ("dram_queue", "i4"),  # write queue of the DRAM channel it goes to, as an index of the ports; or NO_QUEUE
        ("hop", "i2"),  # of its route that its head is at
        ("tail", "i2"),  # the first hop whose VC it still holds
        ("rest", "i2"),  # flits in the buffer before that link
        ("x_hops", "i2"),  # left along x
        ("y_hops", "i2"),  # left along y
        ("slow_hop", "i2"),  # the last hop whose buffer had less room than its rate needs; or NO_HOP
        ("turn", "i2"),  # its number among the packets that came over the last link
        ("noc", "i1"),  # 0 or 1
        ("response", "i1"),  # REQUEST or RESPONSE
        ("dateline", "i1"),  # 1 behind the wrap of the ring it is in
        ("dynamic", "i1"),  # 1: a request whose VC routers may change
        ("static_vc", "i1"),  # of a request, 0 to 3
        ("waits", "i1"),  # 1 while its head waits for a VC
        ("awaits_response", "i1"),  # 1 for a read request
        ("local", "i1"),  # 1: to its own tile
        ("mixed", "i1"),  # 1: its flits came mixed with those of others
        ("delivered", "i1"),  # 1: its head is in the target
        ("begun", "i8"),  # the cycle at which its head left the source
        ("left", "i8"),  # the cycle at which its tail leaves the source
        ("supplied", "i8"),  # the cycle by which a DRAM channel has given all data of a response, else 0
        ("dram_queue_ticks", "i8"),  # time that it takes of its DRAM channel
        ("dram_queue_room", "i8"),  # time that as many writes like it take as the queue has room for
        ("fragments_ticks", "i8"),  # time that it takes of its DRAM channel when mixed
        ("emission", "i4"),  # cycles in which its source emits it
        ("buffered_behind", "i4"),  # 1 + VC of the ejection behind which its request is buffered, or 0
        ("next_granted", "i4"),  # in the list of those that have got their link
        ("next_tail_sent", "i4"),  # in the list of those whose tail leaves the source
        ("route", "i2", MAX_ROUTE),  # VCs that it has taken, hop by hop
        ("rooms", "i2", MAX_ROUTE),  # for how many of its flits the buffers behind them had room
        ("done", "i8", MAX_ROUTE),  # cycles in which its tail has come over them
    ]
)
NOC_PARAMS_DTYPE = np.dtype(
    [
        ("width", "i8"),  # tiles of the grid along x
        ("height", "i8"),  # and y
        ("tiles", "i8"),  # of the grid
        ("hop", "i8"),  # cycles of a head through a router and over its link
        ("inject", "i8"),  # from the NIU into its router
        ("buffer", "i8"),  # flits of one VC that a router holds
        ("read_cost", "i8"),  # cycles per flit in which a source emits, of reads, times 1024
        ("write_cost", "i8"),  # of writes
        ("multicast_cost", "i8"),  # of multicasts
        ("loopback_cost", "i8"),  # at least, of what it sends to itself
        ("port_ticks", "i8"),  # PORT_TICKS that a flit takes of an L1 port
        ("dram_ports", "i8"),  # the first port of a DRAM tile
        ("dram_port_ticks", "i8"),  # PORT_TICKS that a flit takes of it
        ("n_ports", "i8"),  # number of ports
        ("reserve", "i8"),  # cycles that the path of a multicast stays reserved, for each hop
        ("even_extra", "i8"),  # and once, for an even number of hops
        ("odd_extra", "i8"),  # for an odd one
        ("stamp", "i8"),  # of the newest multicast
        ("granted", "i8"),  # list of packets that have got their link, or NOBODY
        ("tail_sent", "i8"),  # list of packets whose tail leaves the source, or NOBODY
        ("reallocation", "i8"),  # cycles in which a VC goes from one packet to the next
        ("dram_cost", "i8"),  # cycles per flit of a DRAM bank, times 1024
        ("chunk_flits", "i8"),  # flits of a response that leave a DRAM tile at once
        ("shared_buffer", "i8"),  # flits that all VCs of a port share
        ("round_trip", "i8"),  # cycles until a credit is back
        ("tree", "i8", MAX_TREE),  # links of the newest multicast
    ],
    align=True,
)


def build_links(arch):
    """All links of both NoCs, idle."""
    width, height = arch.noc_size
    links = zeros_in_cache_lines(2 * width * height * LINKS_PER_TILE, LINK_DTYPE)
    kinds = np.arange(len(links)) % LINKS_PER_TILE
    links["latency"] = arch["noc.hop_cycles"]
    links["latency"][kinds == INJECT] = arch["noc.niu_to_router_cycles"]
    links["latency"][kinds == EJECT] = arch["noc.router_to_niu_cycles"]
    links["port"] = NO_PORT
    links["requests"] = arch["noc.niu_requests"]
    for x, y in arch.dram_tiles:
        for noc in range(2):
            links["requests"][link_index.py_func(width * height, noc, y * width + x, EJECT)] = arch[
                "dram.endpoint_requests"
            ]
    tiles = np.arange(len(links)) // LINKS_PER_TILE % (width * height)
    step = np.where(np.arange(len(links)) < len(links) // 2, 1, -1)
    x, y = tiles % width + step * (kinds == X_OUT), tiles // width + step * (kinds == Y_OUT)
    links["next_tile"] = y % height * width + x % width
    links["wraps"] = (x % width != x) | (y % height != y)
    for x, y in arch.worker_coords:
        tile = y * width + x
        for noc in range(2):
            for kind in (INJECT, EJECT):
                links["port"][link_index.py_func(width * height, noc, tile, kind)] = tile
    return links


def build_vcs(arch):
    """All VCs of all links, free."""
    width, height = arch.noc_size
    assert 2 * width * height * LINKS_PER_TILE * N_VCS <= 1 << 15  # `route` of a packet holds their indices
    vcs = zeros_in_cache_lines(2 * width * height * LINKS_PER_TILE * N_VCS, VC_DTYPE)
    vcs["waiting"] = vcs["behind"] = NOBODY
    return vcs


def build_ports(arch):
    """Cycle (in PORT_TICKS) from which the L1 port of each tile is free, then the data bus of each DRAM channel, then the port
    of each DRAM tile on each NoC.

    After all of them the begin, and then the end, of the time before that nothing is booked for yet, in the same order.
    """
    return np.zeros(3 * n_ports(arch), np.int64)


def n_ports(arch):
    """L1 ports of all tiles, DRAM channels, and ports of all tiles on each NoC."""
    return 3 * arch.noc_size[0] * arch.noc_size[1] + arch.dram_banks


def build_noc_params(arch):
    """The model's parameters as one record."""
    params = np.zeros(1, NOC_PARAMS_DTYPE)
    p = params[0]
    p["width"], p["height"] = arch.noc_size
    p["tiles"] = arch.noc_size[0] * arch.noc_size[1]
    p["hop"], p["inject"] = arch["noc.hop_cycles"], arch["noc.niu_to_router_cycles"]
    p["buffer"], p["reserve"] = arch["noc.buffer_flits"], 2 * arch["noc.reserve_cycles_per_hop"]
    p["shared_buffer"], p["round_trip"] = arch["noc.shared_buffer_flits"], arch["noc.credit_round_trip_cycles"]
    p["read_cost"] = round(arch["noc.read_flit_cycles"] * FLIT_COST)
    p["write_cost"] = round(arch["noc.write_flit_cycles"] * FLIT_COST)
    p["multicast_cost"] = round(arch["noc.multicast_flit_cycles"] * FLIT_COST)
    p["loopback_cost"] = round(arch["noc.loopback_flit_cycles"] * FLIT_COST)
    p["port_ticks"] = round(PORT_TICKS * arch["noc.flit_bytes"] / arch["l1.noc_port_bytes_per_cycle"])
    p["dram_port_ticks"] = round(PORT_TICKS * arch["noc.flit_bytes"] / arch["dram.write_port_bytes_per_cycle"])
    p["even_extra"], p["odd_extra"] = arch["noc.reserve_even_cycles"], arch["noc.reserve_odd_cycles"]
    p["dram_cost"] = round(FLIT_COST * arch["noc.flit_bytes"] / arch["dram.bank_bytes_per_cycle"])
    p["chunk_flits"] = arch["dram.read_chunk_bytes"] // arch["noc.flit_bytes"]
    p["reallocation"] = arch["noc.reallocation_cycles"]
    p["dram_ports"], p["n_ports"] = p["tiles"] + arch.dram_banks, n_ports(arch)
    p["granted"] = p["tail_sent"] = NOBODY
    return params


# Indices are positive: shifts and masks, for which Python's division needs several instructions
@compiled(inline="always")
def direction_of(link):
    return link & (LINKS_PER_TILE - 1)


@compiled(inline="always")
def link_of(vc):
    return vc >> VC_BITS


@compiled(inline="always")
def number_of(vc):
    return vc & (N_VCS - 1)


@compiled(inline="always")
def occupancy(cost, flits):
    """Cycles in which a source emits a packet, `cost` / FLIT_COST for each flit: whole ones, as a link takes one flit a cycle."""
    return max(flits, flits * cost >> COST_BITS)
