"""Where a packet goes from a router that has received it: to this chip, to routers of other directions, or both.

On a line a route counts chips; in a mesh it names hops, first to the north or south, then to the east or west
(docs/fabric.md#routes).
"""

from tensim.sim.cores.fabric.layout import EAST, EVERYONE, MESH, NORTH, SOUTH, SPARSE, WEST
from tensim.sim.engine.compiled import compiled

NOWHERE = 0  # no router takes it on that way
HOPS = 127  # the bits of one direction's hops


@compiled(inline="always")
def hops_of(route, direction):
    return (route >> (7 * direction)) & HOPS


@compiled()
def is_here(route, direction):
    """Whether the chip that a packet has reached, over a link in `direction`, receives it."""
    if route & MESH == 0:
        if route & SPARSE:
            return route & 1 != 0
        return route & 255 == 1 and route >> 8 > 0
    if route & EVERYONE:
        return True
    left = hops_of(route, NORTH) + hops_of(route, SOUTH) + hops_of(route, EAST) + hops_of(route, WEST)
    return left == 1


@compiled()
def onward(route, came, out):
    """The route of the copy that goes on in direction `out`, or `NOWHERE`; the link before was one in direction `came`."""
    if route & MESH == 0:
        if out != came:
            return NOWHERE
        if route & SPARSE:
            further = (route & ~SPARSE) >> 1
            return further | SPARSE if further else NOWHERE
        start, receivers = route & 255, route >> 8
        if start > 1:
            return (start - 1) | receivers << 8
        return 1 | (receivers - 1) << 8 if receivers > 1 else NOWHERE
    rest = hops_of(route, came) - 1
    if out == came:
        return route - (1 << (7 * came)) if rest > 0 else NOWHERE
    branches = (route & EVERYONE) != 0
    if (out == EAST or out == WEST) and (came == NORTH or came == SOUTH) and hops_of(route, out) > 0:
        if branches or rest == 0:
            return (route & (MESH | EVERYONE)) | hops_of(route, out) << (7 * out)
    return NOWHERE
