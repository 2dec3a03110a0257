"""Multicasts in the packet model: one packet to every worker of a rectangle, along a tree.

On NoC 0 a multicast first goes along y to the rectangle's rows, where it has to; from there the tree is that of the unicast
routes: a trunk along x, branches along y.  On NoC 1 x and y change places.
Data leave when every link of the tree is free of what was claimed before, and no unicast packet gets through a link of the
tree while they pass; VCs of broadcasts are their own (docs/hardware/noc.md#virtual-channels-and-arbitration).  An unlinked
multicast first reserves its path, 8 cycles per hop each way, and holds the sender's NIU until its tail has left, which
reserves again a few cycles later (law of docs/hardware/noc.md#multicast).  From the time at which the tail has left the
sender others may reserve the path: their reservations are on their way as long as the tail is.
"""

import numpy as np

from tensim.sim.engine.compiled import compiled
from tensim.sim.noc.packet import note_wait
from tensim.sim.noc.packet_state import HELD, MAX_ROUTE, occupancy
from tensim.sim.noc.topology import EJECT, INJECT, LINKS_PER_TILE, hops, link_index, next_hop

PATH_TAKEN, NIU_BUSY = -2, -3


@compiled()
def entry_tile(p, noc, source, x0, y0, x1, y1):
    """The tile at which a multicast gets to the rows of its rectangle (NoC 0) or to its columns (NoC 1)."""
    x, y = source % p.width, source // p.width
    if noc == 0:
        return source if (y - y0) % p.height <= (y1 - y0) % p.height else y0 * p.width + x
    return source if (x0 - x) % p.width <= (x0 - x1) % p.width else y * p.width + x0


@compiled()
def grow_tree(links, p, noc, source, entry, target, size):
    """Add the route by `entry` to a receiver to the multicast tree; returns (tree size, head offset at the receiver's NIU)."""
    index = link_index(p.tiles, noc, source, INJECT)
    tile, offset = source, 0
    goal = entry if tile != entry else target
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
            direction, following = next_hop(p.width, p.height, noc, tile, goal)
            index = link_index(p.tiles, noc, tile, direction)
            tile = following
            goal = goal if tile != entry else target
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
    Returns (number of receivers, cycle from which the command buffer is free, cycle at which the tail has left); PATH_TAKEN or
    NIU_BUSY in place of the number when another sender has the path or this one's NIU reserves nothing before the cycle given.
    """
    columns = ((x1 - x0) if noc == 0 else (x0 - x1)) % p.width + 1
    rows = ((y1 - y0) if noc == 0 else (y0 - y1)) % p.height + 1
    step = 1 if noc == 0 else -1
    entry = entry_tile(p, noc, source, x0, y0, x1, y1)
    p.stamp += 1
    n = size = depth = 0
    for j in range(rows):
        for i in range(columns):
            tile = ((y0 + step * j) % p.height) * p.width + (x0 + step * i) % p.width
            if workers[tile] == 0 or (tile == source and loopback == 0):
                continue
            size, offset = grow_tree(links, p, noc, source, entry, tile, size)
            receivers[2 * n], receivers[2 * n + 1] = tile, offset
            depth = max(depth, hops(p.width, p.height, noc, source, tile))
            n += 1
    if n == 0:
        return 0, time, time
    busy = occupancy(p.multicast_cost, flits)
    start = time
    if path_open == 0:
        rest = p.even_extra if depth % 2 == 0 else p.odd_extra
        ready = links[link_index(p.tiles, noc, source, INJECT)].clear + rest
        if ready > time:
            return NIU_BUSY, ready, ready
        for i in range(size):
            link = links[p.tree[i]]
            if link.reserved > time and link.owner != source:
                return PATH_TAKEN, time, time
        start += p.reserve * depth
    for i in range(size):
        link = links[p.tree[i]]
        start = max(start, link.clear - link.offset)
    for i in range(size):
        link = links[p.tree[i]]
        link.clear = start + link.offset + busy
        link.reserved, link.owner = HELD if keep != 0 else start + busy, source
        link.flits += flits
        link.packets += 1
        note_wait(link, start - time, link_index(p.tiles, noc, source, INJECT))
    for i in range(n):
        receivers[2 * i + 1] += start + busy - 1
    return n, time if path_open == 0 else start, start + busy


@compiled()
def random_wait(window, number):
    """1 to `window` cycles until a sender whose path was another's tries again; the same `number` draws the same.

    Back-off is random and exponential (ISA NoC/README); the mixing is that of splitmix64.
    """
    draw = np.uint64(number)
    draw = (draw ^ (draw >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    draw = (draw ^ (draw >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return 1 + np.int64((draw >> np.uint64(33)) % np.uint64(window))
