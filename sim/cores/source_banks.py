"""Block products run ahead of the calendar: unpack and math hand source banks to and fro without an event for each.

While both threads of a core are inside a block product they touch nothing but their two source banks (and Dst, which the
math thread owns until it commits), so nobody else can tell when their steps are simulated.  `run_ahead` takes these
steps in the order and at the cycles of their calendar events, and stops before either thread completes its operation:
what follows, the kernel's next operation, happens at its own time.  Entries that the calendar still holds for the two
are early by then; `threads.due` puts them off.
"""

import numba as nb

from sim.cores.tensix import MATH_MATMUL, MATH_SLOT, UNPACK_MATMUL, UNPACK_SLOT, math, unpack
from sim.state import PARKED, RUNNING, STOP_ERROR, WAIT_SOURCE_FREE, WAIT_SOURCE_READY, threads_of

MAX_STEPS = 256  # of one call; a block has at most 16 products of three steps


@nb.njit(cache=True, inline="always")
def multiplies(t, operation, wait):
    """Whether a thread is inside a block product and not stopped by anything but the source banks."""
    return t.operation == operation and (t.state == RUNNING or (t.state == PARKED and t.wait == wait))


@nb.njit(cache=True, inline="always")
def completes(t):
    """Whether the thread's next event is the last of its operation."""
    return t.phase == 1 and t.step + 1 == t.count


@nb.njit(cache=True)
def run_ahead(m, thread, time):
    """After a step of `thread`, whose next event is at `time` (-1: parked or failed): go on with both threads of the product.

    Returns the thread's next event, or -1.
    """
    if m.stop == STOP_ERROR:
        return -1
    me = threads_of(m)[thread]
    unpacker, multiplier = me.core * 5 + UNPACK_SLOT, me.core * 5 + MATH_SLOT
    a, b = threads_of(m)[unpacker], threads_of(m)[multiplier]
    if not (multiplies(a, UNPACK_MATMUL, WAIT_SOURCE_FREE) and multiplies(b, MATH_MATMUL, WAIT_SOURCE_READY)):
        return time
    me.in_calendar, me.event_at = 1, time  # its entry is on top until this event is over
    now = m.now
    for _ in range(MAX_STEPS):
        if a.state == RUNNING and (b.state != RUNNING or a.event_at <= b.event_at):
            if completes(a):
                break
            m.now = a.event_at  # the time of a fault
            end, _ = unpack(m, unpacker, a.event_at)
            a.event_at = max(end, a.event_at)
        else:
            if b.state != RUNNING or completes(b):
                break
            m.now = b.event_at
            end, _ = math(m, multiplier, b.event_at)
            b.event_at = max(end, b.event_at)
        if m.stop == STOP_ERROR:
            return -1
    m.now = now
    me.in_calendar = 0
    return me.event_at if me.state == RUNNING else -1
