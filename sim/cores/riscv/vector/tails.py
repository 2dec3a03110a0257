"""Regions of lanes that end where the region around them ends need no entry of the flags' stack.

The end of the outer region restores the flags, whatever the inner one has made of them: silicon takes four instructions less for
each row of atan2, which has two such regions (`llk_blackhole_op_costs.csv`).
"""

from itertools import pairwise

from tensim.sim.cores.riscv.vector.lanes import Lanes
from tensim.sim.cores.riscv.vector.raw_words import lane_effect
from tensim.sim.cores.riscv.vector.uses import SILENT


class Region:
    """`begin`: the line of its push; `is_plain`: nothing in it looks at the entry that it has pushed."""

    def __init__(self, begin):
        self.begin, self.is_plain = begin, True


def tails(function, uses, states):
    """Lines of the calls by which such regions begin and end."""
    found = set()
    for block in function.blocks.values():
        calls, open_regions = [call for call in block.calls if uses.matters(call) and call.name not in SILENT], []
        for call, behind in pairwise([*calls, None]):
            if call.name == "push":
                open_regions.append(Region(call.line))
            elif call.name == "pop" and open_regions:
                region = open_regions.pop()
                if region.is_plain and _ends_another(behind) and states.before[region.begin] != Lanes():
                    found |= {region.begin, call.line}
            elif open_regions and _looks_at_stack(call, uses):
                open_regions[-1].is_plain = False
    return found


def _ends_another(call):
    return call is not None and call.name == "pop"


def _looks_at_stack(call, uses):
    """Complements do, and words of the kernel's own that nobody knows; so do alternatives in a condition, which are complements."""
    if call.name == "raw":
        return lane_effect(call.arguments[0]) not in (None, "narrow")
    if call.name == "narrow":
        return not _is_conjunction(call.arguments[0], uses)
    return call.name in ("complement", "unknown")


def _is_conjunction(condition, uses):
    """Whether a condition is a test, or several that all have to hold."""
    call = uses.calls.get(condition)
    if call is None or call.name not in ("test", "order", "and"):
        return False
    if call.name == "and":
        return all(_is_conjunction(part, uses) for part in call.arguments)
    tested = uses.calls.get(call.arguments[1])
    return call.name == "order" or tested is None or tested.name != "boolean"
