"""Circular buffers: the page counters that couple data movement and compute (docs/hardware/kernel_api.md#circular-buffer-calls)."""

from tensim.sim.cores import context as ctx
from tensim.sim.cores.faults import Fault
from tensim.sim.cores.slots import FIRST_COMPUTE_SLOT
from tensim.sim.cores.threads import argument, charge, fail, log_event, park, wake
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.limits import N_CIRCULAR_BUFFERS
from tensim.sim.engine.state import (
    LOG_LEVEL,
    NOC_WORDS,
    OPEN_READS,
    WAIT_CB_BACK,
    WAIT_CB_FRONT,
    circular_buffers_of,
    noc_words_of,
    threads_of,
)

# Private columns of a circular buffer's row: the parked consumer and producer, as thread index + 1
FRONT_WAITER, BACK_WAITER = 14, 15
# The newest push and pop: cycle and pages, so that a core that looks late knows since when it could go on
PUSHED_AT, PUSHED, POPPED_AT, POPPED = 16, 17, 18, 19


@compiled(inline="always")
def row_of(core, index):
    """First word of the circular buffer's row."""
    return (core * N_CIRCULAR_BUFFERS + index) * ctx.CB_WORDS


@compiled()
def count_level(m, thread, row, now, change):
    """Count the cycles for which a circular buffer has had its pages, which now become `change` more."""
    cb = circular_buffers_of(m)
    used = cb[row + ctx.CB_RECEIVED] - cb[row + ctx.CB_ACKED]
    level = used * cb[row + ctx.CB_LEVEL_SCALE] + ctx.CB_LEVEL_ONE - 1 >> ctx.CB_LEVEL_BITS
    cb[row + ctx.CB_LEVEL_CYCLES + level] += now - cb[row + ctx.CB_LEVEL_AT]
    cb[row + ctx.CB_LEVEL_AT] = now
    if m.log_on != 0:
        index = row // ctx.CB_WORDS % N_CIRCULAR_BUFFERS
        log_event(m, thread, LOG_LEVEL + index, now, used + change, 1 if change > 0 else -1)


@compiled()
def check_open_reads(m, thread, address, size):
    """Refuse the use of L1 bytes whose NoC read this thread has not waited for; True when refused."""
    t = threads_of(m)[thread]
    words = noc_words_of(m)
    base = thread * NOC_WORDS + OPEN_READS
    for i in range(t.reads_open):
        start, end = words[base + 3 * i], words[base + 3 * i + 1]
        if address < end and start < address + size:
            fail(m, thread, Fault.READ_BEFORE_BARRIER, address, size, start)
            return True
    return False


@compiled()
def checked_row(m, thread, index, pages):
    """Row of a configured buffer that can hold `pages`, or -1 after a fault."""
    t = threads_of(m)[thread]
    if not 0 <= index < N_CIRCULAR_BUFFERS or circular_buffers_of(m)[row_of(t.core, index)] == 0:
        fail(m, thread, Fault.CB_MISSING, index, 0, 0)
        return -1
    row = row_of(t.core, index)
    capacity = circular_buffers_of(m)[row + ctx.CB_PAGES]
    if pages < 0 or pages > capacity:
        fail(m, thread, Fault.CB_TOO_MANY, index, pages, capacity)
        return -1
    return row


@compiled()
def passed(m, thread, now, spare, newest, newest_at):
    """A wait whose condition holds: the cycle at which the thread's next operation may follow.

    A data-movement core looks at the counter now.  The RISC-V core of a compute thread ran ahead of its coprocessor and
    has looked earlier: at its own clock, or when the newest pages came, if it needed them (`spare` pages are there beyond
    the wanted ones).
    """
    t = threads_of(m)[thread]
    if t.slot < FIRST_COMPUTE_SLOT:
        charge(m, thread, now, m.cb_call)
        return now + m.cb_call
    if spare < newest:
        t.issued = max(t.issued, min(newest_at + m.cb_visible, now))
    t.issued += m.cb_call
    return now


@compiled()
def reserve_back(m, thread, now):
    """cb_reserve_back: wait until `pages` are free."""
    t = threads_of(m)[thread]
    index, pages = argument(t, 0), argument(t, 1)
    row = checked_row(m, thread, index, pages)
    if row < 0:
        return -1
    cb = circular_buffers_of(m)
    cb[row + ctx.CB_PRODUCER] = thread + 1
    free = cb[row + ctx.CB_PAGES] - (cb[row + ctx.CB_RECEIVED] - cb[row + ctx.CB_ACKED])
    if free < pages:
        cb[row + BACK_WAITER] = thread + 1
        return park(m, thread, now, WAIT_CB_BACK + index, index, pages, 0)
    cb[row + ctx.CB_RESERVED] = max(cb[row + ctx.CB_RESERVED], pages)
    return passed(m, thread, now, free - pages, cb[row + POPPED], cb[row + POPPED_AT])


@compiled()
def push_back(m, thread, now):
    """cb_push_back: publish `pages`, wake the consumer if that is enough for it."""
    t = threads_of(m)[thread]
    index, pages = argument(t, 0), argument(t, 1)
    row = checked_row(m, thread, index, pages)
    if row < 0:
        return -1
    cb = circular_buffers_of(m)
    free = cb[row + ctx.CB_PAGES] - (cb[row + ctx.CB_RECEIVED] - cb[row + ctx.CB_ACKED])
    if pages > free:
        fail(m, thread, Fault.CB_OVERRUN, index, pages, free)
        return -1
    size = pages * cb[row + ctx.CB_PAGE_SIZE]
    end = cb[row + ctx.CB_BASE] + cb[row + ctx.CB_SIZE]
    if cb[row + ctx.CB_WRITE_PTR] + size > end:
        fail(m, thread, Fault.CB_STRADDLE, index, pages, cb[row + ctx.CB_PAGES])
        return -1
    if t.reads_open > 0 and check_open_reads(m, thread, cb[row + ctx.CB_WRITE_PTR], size):
        return -1
    cb[row + ctx.CB_WRITE_PTR] += size
    if cb[row + ctx.CB_WRITE_PTR] == end:
        cb[row + ctx.CB_WRITE_PTR] = cb[row + ctx.CB_BASE]
    count_level(m, thread, row, now, pages)
    cb[row + ctx.CB_PRODUCER] = thread + 1
    cb[row + ctx.CB_RECEIVED] += pages
    cb[row + ctx.CB_RESERVED] = max(cb[row + ctx.CB_RESERVED] - pages, 0)
    cb[row + ctx.CB_PACKED] = 0
    cb[row + PUSHED], cb[row + PUSHED_AT] = pages, now
    charge(m, thread, now, m.cb_call)
    waiter = cb[row + FRONT_WAITER] - 1
    if waiter >= 0 and cb[row + ctx.CB_RECEIVED] - cb[row + ctx.CB_ACKED] >= threads_of(m)[waiter].wait_b:
        cb[row + FRONT_WAITER] = 0
        wake(m, waiter, now + m.cb_visible, m.cb_call)
    return now + m.cb_call


@compiled()
def wait_front(m, thread, now):
    """cb_wait_front: wait until `pages` are available."""
    t = threads_of(m)[thread]
    index, pages = argument(t, 0), argument(t, 1)
    row = checked_row(m, thread, index, pages)
    if row < 0:
        return -1
    cb = circular_buffers_of(m)
    cb[row + ctx.CB_CONSUMER] = thread + 1
    available = cb[row + ctx.CB_RECEIVED] - cb[row + ctx.CB_ACKED]
    if available < pages:
        cb[row + FRONT_WAITER] = thread + 1
        return park(m, thread, now, WAIT_CB_FRONT + index, index, pages, 0)
    return passed(m, thread, now, available - pages, cb[row + PUSHED], cb[row + PUSHED_AT])


@compiled()
def pop_front(m, thread, now):
    """cb_pop_front: hand `pages` back, wake the producer if that is enough for it."""
    t = threads_of(m)[thread]
    index, pages = argument(t, 0), argument(t, 1)
    row = checked_row(m, thread, index, pages)
    if row < 0:
        return -1
    cb = circular_buffers_of(m)
    available = cb[row + ctx.CB_RECEIVED] - cb[row + ctx.CB_ACKED]
    if pages > available:
        fail(m, thread, Fault.CB_UNDERRUN, index, pages, available)
        return -1
    end = cb[row + ctx.CB_BASE] + cb[row + ctx.CB_SIZE]
    cb[row + ctx.CB_READ_PTR] += pages * cb[row + ctx.CB_PAGE_SIZE]
    if cb[row + ctx.CB_READ_PTR] > end:
        fail(m, thread, Fault.CB_STRADDLE, index, pages, cb[row + ctx.CB_PAGES])
        return -1
    if cb[row + ctx.CB_READ_PTR] == end:
        cb[row + ctx.CB_READ_PTR] = cb[row + ctx.CB_BASE]
    count_level(m, thread, row, now, -pages)
    cb[row + ctx.CB_CONSUMER] = thread + 1
    cb[row + ctx.CB_ACKED] += pages
    cb[row + POPPED], cb[row + POPPED_AT] = pages, now
    charge(m, thread, now, m.cb_call)
    waiter = cb[row + BACK_WAITER] - 1
    if waiter >= 0:
        wanted = threads_of(m)[waiter].wait_b
        if cb[row + ctx.CB_PAGES] - (cb[row + ctx.CB_RECEIVED] - cb[row + ctx.CB_ACKED]) >= wanted:
            cb[row + BACK_WAITER] = 0
            cb[row + ctx.CB_RESERVED] = max(cb[row + ctx.CB_RESERVED], wanted)
            wake(m, waiter, now + m.cb_visible, m.cb_call)
    return now + m.cb_call


@compiled()
def poll_pages(m, thread, now, front):
    """cb_pages_available_at_front / cb_pages_reservable_at_back: 0 or 1 (never blocks), or -1 after a fault."""
    t = threads_of(m)[thread]
    row = checked_row(m, thread, argument(t, 0), argument(t, 1))
    if row < 0:
        return -1
    cb = circular_buffers_of(m)
    used = cb[row + ctx.CB_RECEIVED] - cb[row + ctx.CB_ACKED]
    pages = used if front else cb[row + ctx.CB_PAGES] - used
    return 1 if pages >= argument(t, 1) else 0
