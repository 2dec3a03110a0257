"""Multicasts in the packet model: one packet to every worker of a rectangle, along the tree of the unicast routes.

Data leave when every link of the tree is free of what was claimed before, and no unicast packet gets through a link of the
tree while they pass; VCs of broadcasts are their own (docs/hardware/noc.md#virtual-channels-and-arbitration).  An unlinked
multicast first reserves its path, 8 cycles per hop each way, and holds the sender's NIU until its tail has left (law of
docs/hardware/noc.md#multicast).
"""

import numpy as np

from tensim.sim.engine.compiled import compiled
from tensim.sim.noc.packet import HELD, MAX_ROUTE, note_wait, occupancy
from tensim.sim.noc.topology import EJECT, INJECT, LINKS_PER_TILE, hops, link_index, next_hop

PATH_TAKEN = -2


@compiled()
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


@compiled()
def list_receivers(p, workers, noc, source, x0, y0, x1, y1, loopback, receivers):
    """Fill `receivers` with (tile, 0) of the workers that `send_multicast` would reach; returns their number."""
    columns = ((x1 - x0) if noc == 0 else (x0 - x1)) % p.width + 1
    rows = ((y1 - y0) if noc == 0 else (y0 - y1)) % p.height + 1
    step = 1 if noc == 0 else -1
    n = 0
    for j in range(rows):
        for i in range(columns):
            tile = ((y0 + step * j) % p.height) * p.width + (x0 + step * i) % p.width
            if workers[tile] != 0 and (tile != source or loopback != 0):
                receivers[2 * n], receivers[2 * n + 1] = tile, 0
                n += 1
    return n


@compiled()
def send_multicast(links, p, workers, noc, source, x0, y0, x1, y1, loopback, path_open, keep, flits, time, receivers):
    """Send one packet to every worker tile of the rectangle from (x0, y0) to (x1, y1) in the NoC's direction of travel.

    `workers[tile]` is 1 for tiles that listen; the sender is left out unless `loopback`; `path_open`: a linked
    predecessor holds the path already; `keep`: it stays held.  `receivers` gets (tile, arrival of the tail) pairs.
    Returns (number of receivers or PATH_TAKEN, cycle at which the packet starts to leave, cycle at which its tail has left).
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
    busy = occupancy(p.multicast_cost, flits)
    start = time if path_open != 0 else max(time, links[link_index(p.tiles, noc, source, INJECT)].clear)
    if path_open == 0:
        for i in range(size):
            link = links[p.tree[i]]
            if link.reserved > start and link.owner != source:
                return PATH_TAKEN, start, start
        start += p.reserve * depth + (p.even_extra if depth % 2 == 0 else p.odd_extra)
    for i in range(size):
        link = links[p.tree[i]]
        start = max(start, link.clear - link.offset)
    for i in range(size):
        link = links[p.tree[i]]
        link.clear = start + link.offset + busy
        link.reserved, link.owner = HELD if keep != 0 else link.clear, source
        link.flits += flits
        link.packets += 1
        note_wait(link, start - time, link_index(p.tiles, noc, source, INJECT))
    for i in range(n):
        receivers[2 * i + 1] += start + busy - 1
    return n, start, start + busy


@compiled()
def random_wait(window, number):
    """1 to `window` cycles until a sender whose path was another's tries again; the same `number` draws the same.

    Back-off is random and exponential (ISA NoC/README); the mixing is that of splitmix64.
    """
    draw = np.uint64(number)
    draw = (draw ^ (draw >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    draw = (draw ^ (draw >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return 1 + np.int64((draw >> np.uint64(33)) % np.uint64(window))
