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
PORT_BITS = 8
PORT_TICKS = 1 << PORT_BITS  # per cycle: the unit of time of L1 ports
PORT_STREAMS = 4  # that share an L1 port flit by flit: into it and out of it on both NoCs
HELD = 1 << 62  # no end known yet
DYNAMIC_VC = 16  # "VC number" of a request whose VC routers choose: the 4 bits of a VC end at 15
WAITING = -1
REQUEST, RESPONSE = 0, 1
NO_PORT = -1
# The model's speed follows from the cache lines that a hop touches.
LINK_DTYPE = in_cache_lines(
    [(name, np.int64) for name in "clear gap_begin gap_end flits packets".split()]
    + [(name, np.int32) for name in "in_use latency port next_tile wraps writer requests owner buffered closed".split()]
    + [(name, np.int64) for name in "stall longest waiter reserved stamp offset".split()]
)
# clear: the cycle from which the link has nothing left to carry; reserved: the cycle until which the path of a multicast of
# tile `owner` holds the link; port: the tile whose L1 is behind it, or NO_PORT; wraps: 1 on the link that closes the ring;
# gap_begin, gap_end: cycles before `clear` that nothing is booked for yet;
# requests: reads that the NIU behind it can buffer, `buffered` that it does, `closed`: bit set of VCs held until it has room;
# writer: 1 + injection link of the last packet for a DRAM channel;
# stall: cycles that packets waited for it, `longest` the most that one did, of the tile whose injection link is `waiter`;
# in_use: bit set of VCs that hold anything, and of some that no longer do
VC_DTYPE = in_cache_lines(
    [(name, np.int64) for name in "free full left".split()]
    + [(name, np.int32) for name in "waiting holder behind last_behind".split()]
    + [(name, np.int16) for name in "buffered hop room use entered gone".split()],
)
# Of a VC, N_VCS of each link.  free: the cycle from which it is, or HELD; waiting: queue of those that
# wait for it or the other one of its pair, its first packet (of the pair's first VC) or last one (of its second); buffered:
# flits in the buffer behind the link; full: 0, or the cycle from which it would be free if that buffer had room; holder: the
# last packet that took it, at hop `hop` of its route, with `room` for flits, of which its rate needs `use`; entered, gone:
# packets that have taken it and whose tails have left the buffer behind it, the last one in cycle `left` (both wrap round);
# behind, last_behind: queue of the packets in that buffer whose heads wait until the tail before them has left it
PACKET_DTYPE = in_cache_lines(
    [(name, np.int64) for name in "time arrive".split()]
    + [(name, np.int32) for name in "link vc tile flits next dram_queue".split()]
    + [(name, np.int16) for name in "hop tail rest x_hops y_hops slow_hop turn".split()]
    + [
        (name, np.int8)
        for name in "noc response dateline dynamic static_vc waits awaits_response local mixed delivered".split()
    ]
    + [(name, np.int64) for name in "begun left supplied dram_queue_ticks dram_queue_room fragments_ticks".split()]
    + [(name, np.int32) for name in "emission buffered_behind next_granted next_tail_sent".split()]
    + [("route", np.int16, MAX_ROUTE), ("rooms", np.int16, MAX_ROUTE), ("done", np.int64, MAX_ROUTE)]
)
# tail: the first hop whose VC it still holds; rest: flits in the buffer before that link; rooms: for how many flits of it the
# buffer behind each link of its route has room; turn: its number among the packets that came over the last of them;
# awaits_response: 1 for a read request; vc: the index of the last VC that it took or waits for; buffered_behind: 1 + that of
# the ejection behind which its request is buffered, or 0; supplied: the cycle by which a DRAM channel has given all data of a
# response, else 0; dram_queue: write queue of the DRAM channel it goes to, as an index of the ports, or -1; dram_queue_ticks:
# time it takes of that channel, fragments_ticks: if its flits come mixed with those of others; dram_queue_room: time that as many
# writes like it take as the queue has room for; dynamic: 1 for a request whose
# VC routers may change; static_vc: of a request, 0 to 3; mixed: 1 when its flits came so; waits: 1 while its head waits for a
# VC; slow_hop: the last hop whose buffer had less room than its rate needs, or -1
NOC_PARAMS_DTYPE = np.dtype(
    [(name, np.int64) for name in (
        "width height tiles hop inject buffer read_cost write_cost multicast_cost port_ticks dram_ports dram_port_ticks n_ports "
        "reserve even_extra odd_extra stamp granted tail_sent reallocation dram_cost chunk_flits shared_buffer "
        "round_trip"
    ).split()]
    + [("tree", np.int64, MAX_TREE)],
    align=True,
)  # fmt: skip


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
    vcs["waiting"] = vcs["behind"] = -1
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
    p["read_cost"] = round(arch["noc.read_flit_cycles"] * 1024)
    p["write_cost"] = round(arch["noc.write_flit_cycles"] * 1024)
    p["multicast_cost"] = round(arch["noc.multicast_flit_cycles"] * 1024)
    p["port_ticks"] = round(PORT_TICKS * arch["noc.flit_bytes"] / arch["l1.noc_port_bytes_per_cycle"])
    p["dram_port_ticks"] = round(PORT_TICKS * arch["noc.flit_bytes"] / arch["dram.write_port_bytes_per_cycle"])
    p["even_extra"], p["odd_extra"] = arch["noc.reserve_even_cycles"], arch["noc.reserve_odd_cycles"]
    p["dram_cost"] = round(1024 * arch["noc.flit_bytes"] / arch["dram.bank_bytes_per_cycle"])
    p["chunk_flits"] = arch["dram.read_chunk_bytes"] // arch["noc.flit_bytes"]
    p["reallocation"] = arch["noc.reallocation_cycles"]
    p["dram_ports"], p["n_ports"] = p["tiles"] + arch.dram_banks, n_ports(arch)
    p["granted"] = p["tail_sent"] = -1
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
    """Cycles in which a source emits a packet, at `cost` / 1024 cycles per flit: whole ones, and a link takes one flit a cycle."""
    return max(flits, flits * cost >> 10)
