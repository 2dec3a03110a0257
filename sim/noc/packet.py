"""The packet model of the NoC: cut-through packets that hold the links they pass.

A packet takes each link of its route in turn: it starts when its head is there and the link is free, and occupies the
link for its flits.  A head that waits downstream keeps the links behind it busy, less what the router's input buffer
takes in (back-pressure).  Latency without load: 5 + 9 per hop + 5 cycles for the head (ISA NoC/README).
Multicasts follow the tree of unicast routes; an unlinked one first reserves its path, 8 cycles per hop each way, and
holds the sender's NIU until its tail has left (law fitted in section 2.5 of the timing reference).
"""

import numba as nb
import numpy as np

from sim.noc.topology import EJECT, INJECT, LINKS_PER_TILE, hops, link_index, next_hop

MAX_ROUTE = 64
MAX_TREE = 4096
LONG_PACKET = 8  # flits from which the per-flit inefficiency of long packets shows

LINK_DTYPE = np.dtype(
    [(name, np.int64) for name in "free flits packets stall stamp offset latency".split()], align=True
)
NOC_PARAMS_DTYPE = np.dtype(
    [(name, np.int64) for name in (
        "width height tiles hop inject eject local buffer flit_cost reserve even_extra odd_extra stamp"
    ).split()]
    + [("route", np.int64, MAX_ROUTE), ("start", np.int64, MAX_ROUTE), ("tree", np.int64, MAX_TREE)],
    align=True,
)  # fmt: skip


def build_links(arch):
    """All links of both NoCs, idle."""
    width, height = arch.noc_size
    links = np.zeros(2 * width * height * LINKS_PER_TILE, LINK_DTYPE)
    kinds = np.arange(len(links)) % LINKS_PER_TILE
    links["latency"] = arch["noc.hop_cycles"]
    links["latency"][kinds == INJECT] = arch["noc.niu_to_router_cycles"]
    links["latency"][kinds == EJECT] = arch["noc.router_to_niu_cycles"]
    return links


def build_noc_params(arch):
    """The model's parameters as one record."""
    params = np.zeros(1, NOC_PARAMS_DTYPE)
    p = params[0]
    p["width"], p["height"] = arch.noc_size
    p["tiles"] = arch.noc_size[0] * arch.noc_size[1]
    p["hop"], p["inject"] = arch["noc.hop_cycles"], arch["noc.niu_to_router_cycles"]
    p["eject"], p["local"] = arch["noc.router_to_niu_cycles"], arch["noc.local_cycles"]
    p["buffer"], p["reserve"] = arch["noc.buffer_flits"], 2 * arch["noc.reserve_cycles_per_hop"]
    p["flit_cost"] = round(arch["noc.flit_cycles"] * 1024)
    p["even_extra"], p["odd_extra"] = arch["noc.reserve_even_cycles"], arch["noc.reserve_odd_cycles"]
    return params


@nb.njit(cache=True, inline="always")
def occupancy(p, flits):
    """Cycles a packet keeps a link busy."""
    return flits if flits < LONG_PACKET else flits * p.flit_cost >> 10


@nb.njit(cache=True)
def take_link(links, index, arrive, flits):
    """Let a packet's head take a link it reaches at cycle `arrive`; returns the cycle at which it starts."""
    link = links[index]
    start = max(arrive, link.free)
    link.flits += flits
    link.packets += 1
    link.stall += start - arrive
    return start


@nb.njit(cache=True)
def send_unicast(links, p, noc, source, target, flits, time):
    """Send one packet of `flits` (header included) that is ready at `time`.

    Returns (cycle at which it starts to leave the source NIU, cycle at which its tail is in the target NIU).
    """
    busy = occupancy(p, flits)
    if source == target:
        index = link_index(p.tiles, noc, source, INJECT)
        start = take_link(links, index, time, flits)
        links[index].free = start + busy
        return start, start + p.local + busy - 1
    n, tile, arrive = 0, source, time
    index = link_index(p.tiles, noc, source, INJECT)
    while True:
        p.route[n] = index
        p.start[n] = take_link(links, index, arrive, flits)
        arrive = p.start[n] + links[index].latency
        n += 1
        if index % LINKS_PER_TILE == EJECT or n == MAX_ROUTE:
            break
        if tile == target:
            index = link_index(p.tiles, noc, tile, EJECT)
        else:
            direction, following = next_hop(p.width, p.height, noc, tile, target)
            index = link_index(p.tiles, noc, tile, direction)
            tile = following
    free = 0
    for i in range(n - 1, -1, -1):
        link = links[p.route[i]]
        free = max(p.start[i] + busy, free - link.latency - p.buffer)
        link.free = free
    return p.start[0], arrive + busy - 1


@nb.njit(cache=True)
def grow_tree(links, p, noc, source, target, size):
    """Add the route to one receiver to the multicast tree; returns (tree size, head offset at the receiver's NIU)."""
    index = link_index(p.tiles, noc, source, INJECT)
    tile, offset = source, 0
    for _ in range(MAX_ROUTE):
        link = links[index]
        if link.stamp != p.stamp:
            link.stamp, link.offset = p.stamp, offset
            p.tree[size] = index
            size += 1
        offset = link.offset + link.latency
        if index % LINKS_PER_TILE == EJECT:
            break
        if tile == target:
            index = link_index(p.tiles, noc, tile, EJECT)
        else:
            direction, following = next_hop(p.width, p.height, noc, tile, target)
            index = link_index(p.tiles, noc, tile, direction)
            tile = following
    return size, offset


@nb.njit(cache=True)
def send_multicast(links, p, workers, noc, source, x0, y0, x1, y1, loopback, path_open, flits, time, receivers):
    """Send one packet to every worker tile of the rectangle from (x0, y0) to (x1, y1) in the NoC's direction of travel.

    `workers[tile]` is 1 for tiles that listen; the sender is left out unless `loopback`; `path_open`: a linked
    predecessor holds the path already.  `receivers` gets (tile, arrival of the tail) pairs.
    Returns (number of receivers, cycle at which the packet starts to leave, cycle at which its tail has left).
    """
    columns = ((x1 - x0) if noc == 0 else (x0 - x1)) % p.width + 1
    rows = ((y1 - y0) if noc == 0 else (y0 - y1)) % p.height + 1
    step = 1 if noc == 0 else -1
    p.stamp += 1
    n = size = depth = 0
    for j in range(rows):
        for i in range(columns):
            tile = ((y0 + step * j) % p.height) * p.width + (x0 + step * i) % p.width
            if workers[tile] == 0 or (tile == source and loopback == 0):
                continue
            size, offset = grow_tree(links, p, noc, source, tile, size)
            receivers[2 * n], receivers[2 * n + 1] = tile, offset
            depth = max(depth, hops(p.width, p.height, noc, source, tile))
            n += 1
    if n == 0:
        return 0, time, time
    busy = occupancy(p, flits)
    start = time if path_open != 0 else max(time, links[link_index(p.tiles, noc, source, INJECT)].free)
    if path_open == 0:
        start += p.reserve * depth + (p.even_extra if depth % 2 == 0 else p.odd_extra)
    for i in range(size):
        link = links[p.tree[i]]
        start = max(start, link.free - link.offset)
    for i in range(size):
        link = links[p.tree[i]]
        link.free = start + link.offset + busy
        link.flits += flits
        link.packets += 1
        link.stall += start - time
    for i in range(n):
        receivers[2 * i + 1] += start + busy - 1
    return n, start, start + busy
