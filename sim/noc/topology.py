"""The two NoCs: unidirectional 2-D tori over the same tiles, one router and one NIU per tile and NoC.

NoC 0 runs +x and +y and routes x first, then y; NoC 1 runs -y and -x and routes y first, then x (ISA NoC/RoutingPaths).
A tile is y * width + x in NoC-0 physical coordinates.  Its four output links per NoC: NIU to router, x, y, router to NIU.
"""

from tensim.sim.engine.compiled import compiled

INJECT, X_OUT, Y_OUT, EJECT = 0, 1, 2, 3
LINKS_PER_TILE = 4


@compiled(inline="always")
def link_index(tiles, noc, tile, direction):
    """Index of a tile's output link in the link array of both NoCs (`tiles`: number of tiles)."""
    return (noc * tiles + tile) * LINKS_PER_TILE + direction


@compiled()
def offsets(width, height, noc, source, target):
    """(hops along x, hops along y) of the unicast route."""
    dx = target % width - source % width
    dy = target // width - source // width
    if noc == 1:
        dx, dy = -dx, -dy
    return dx % width, dy % height


@compiled()
def hops(width, height, noc, source, target):
    """Router-to-router hops of the unicast route."""
    x_hops, y_hops = offsets(width, height, noc, source, target)
    return x_hops + y_hops


@compiled()
def next_hop(width, height, noc, tile, target):
    """(output direction, next tile) of the unicast route from `tile`, which is not `target`."""
    x, y, tx, ty = tile % width, tile // width, target % width, target // width
    if noc == 0:
        if x != tx:
            return X_OUT, y * width + (x + 1) % width
        return Y_OUT, ((y + 1) % height) * width + x
    if y != ty:
        return Y_OUT, ((y - 1) % height) * width + x
    return X_OUT, y * width + (x - 1) % width
