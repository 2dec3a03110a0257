"""Which values an argument of an operation may have (`tensim.sim.cores.operations.DOMAINS`), asked while its kernel runs."""

from tensim.sim.cores.faults import Fault
from tensim.sim.cores.threads import argument, fail
from tensim.sim.engine.compiled import compiled
from tensim.sim.state import threads_of


def mask_of(values):
    """A bit per value; values are below 63."""
    return sum(1 << int(value) for value in values)


@compiled()
def within(mask, value):
    return 0 <= value < 63 and (mask >> value) & 1 != 0


@compiled()
def known(m, thread, place, mask):
    """Whether an argument is in its domain; a fault if it is not."""
    t = threads_of(m)[thread]
    if within(mask, argument(t, place)):
        return True
    fail(m, thread, Fault.UNKNOWN_VALUE, t.operation, place, argument(t, place))
    return False
