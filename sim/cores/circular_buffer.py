"""Circular buffers: the page counters that couple data movement and compute (docs/hardware/kernel_api.md#circular-buffer-calls).

As on the chip, nobody checks who pushes and pops: both counters run freely and are compared in 16 bits, each processor moves
pointers of its own, and the unpack and the pack thread each write a counter of their own over the shared one.  What only a
program does that counts wrongly is noted (`tensim.sim.cores.oddities`), or refused with checks on.
"""

from tensim.sim.cores import context as ctx
from tensim.sim.cores.faults import Fault
from tensim.sim.cores.oddities import odd
from tensim.sim.cores.slots import FIRST_COMPUTE_SLOT, PACK_SLOT, THREADS_PER_CORE, UNPACK_SLOT
from tensim.sim.cores.threads import argument, charge, fail, log_event, park, wake
from tensim.sim.cores.transfer_checks import check_open_reads
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.limits import N_CIRCULAR_BUFFERS
from tensim.sim.state import (
    LOG_LEVEL,
    WAIT_CB_BACK,
    WAIT_CB_FRONT,
    circular_buffer_words,
    circular_buffers_of,
    threads_of,
)

COUNTER_MASK = 0xFFFF  # counters are compared in 16 bits (docs/hardware/kernel_api.md#circular-buffer-calls)


@compiled(inline="always")
def row_of(core, index):
    """Number of a circular buffer's record among those of all cores."""
    return core * N_CIRCULAR_BUFFERS + index


@compiled(inline="always")
def write_pointer(slot):
    """Column of the write pointer that a thread of this slot moves; the read pointer's is the next one."""
    return ctx.CB_WRITE_PTR if slot >= FIRST_COMPUTE_SLOT else ctx.CB_OWN_POINTERS + 2 * slot


@compiled()
def pointers_of(m, row):
    """(write pointer of the thread that fills a circular buffer, read pointer of the one that takes from it)."""
    cb = circular_buffers_of(m)
    fills, takes = cb[row].producer - 1, cb[row].consumer - 1  # -1: nobody has, and the pointer is the first
    write = write_pointer(max(fills, 0) % THREADS_PER_CORE)
    read = write_pointer(max(takes, 0) % THREADS_PER_CORE) + 1
    return circular_buffer_words(m, row)[write], circular_buffer_words(m, row)[read]


@compiled(inline="always")
def pages_inside(m, row):
    """Pages that a circular buffer holds, by the shared counters."""
    cb = circular_buffers_of(m)
    return cb[row].received - cb[row].acked


@compiled(inline="always")
def acked_by(m, row, slot):
    """Pages that have been popped, as a thread of this slot knows it."""
    cb = circular_buffers_of(m)[row]
    return cb.unpack_acked if slot == UNPACK_SLOT else cb.acked


@compiled(inline="always")
def received_by(m, row, slot):
    """Pages that have been pushed, as a thread of this slot knows it."""
    cb = circular_buffers_of(m)[row]
    return cb.pack_received if slot == PACK_SLOT else cb.received


@compiled(inline="always")
def available(m, row, acked):
    """Pages for a thread that has looked at the number of popped ones when it began to wait."""
    return (circular_buffers_of(m)[row].received - acked) & COUNTER_MASK


@compiled(inline="always")
def free(m, row, received):
    """Room for a thread that has looked at the number of pushed pages when it began to wait."""
    cb = circular_buffers_of(m)
    return (cb[row].pages - (received - cb[row].acked)) & COUNTER_MASK


@compiled()
def count_level(m, thread, row, now, change):
    """Count the cycles for which a circular buffer has had its pages, which now become `change` more."""
    cb = circular_buffers_of(m)
    used = pages_inside(m, row)
    level = min(max(used, 0), cb[row].pages) * cb[row].level_scale + ctx.CB_LEVEL_ONE - 1 >> ctx.CB_LEVEL_BITS
    cb[row].level_cycles[level] += now - cb[row].level_at
    cb[row].level_at = now
    if m.log_on != 0:
        index = row % N_CIRCULAR_BUFFERS
        log_event(m, thread, LOG_LEVEL + index, now, used + change, 1 if change > 0 else -1)


@compiled()
def checked_row(m, thread, index, pages):
    """Row of a configured buffer of which a thread wants `pages`, or -1 after a fault."""
    t = threads_of(m)[thread]
    if not 0 <= index < N_CIRCULAR_BUFFERS or circular_buffers_of(m)[row_of(t.core, index)].pages == 0:
        fail(m, thread, Fault.CB_MISSING, index, 0, 0)
        return -1
    row = row_of(t.core, index)
    capacity = circular_buffers_of(m)[row].pages
    if 0 <= pages <= capacity:
        return row
    if pages < 0 or pages > COUNTER_MASK:
        fail(m, thread, Fault.CB_TOO_MANY, index, pages, capacity)
        return -1
    return -1 if odd(m, thread, Fault.CB_TOO_MANY, index, pages, capacity) else row


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
    cb, received = circular_buffers_of(m), received_by(m, row, t.slot)
    room = free(m, row, received)
    cb[row].producer = thread + 1
    if room < pages:
        cb[row].back_waiters |= 1 << t.slot
        return park(m, thread, now, WAIT_CB_BACK + index, index, pages, received)
    cb[row].reserved = max(cb[row].reserved, pages)
    return passed(m, thread, now, room - pages, cb[row].popped, cb[row].popped_at)


@compiled()
def move_pointer(m, thread, row, column, index, pages):
    """Move a pointer of a thread behind `pages`; False after a fault.

    Data-movement cores go back to the start where they meet the end exactly, compute threads also when they have passed it
    (docs/hardware/kernel_api.md#circular-buffer-calls).
    """
    cb, size = circular_buffers_of(m), pages * circular_buffers_of(m)[row].page_size
    end, at = cb[row].base + cb[row].size, circular_buffer_words(m, row)[column] + size
    if at > end and odd(m, thread, Fault.CB_STRADDLE, index, pages, cb[row].pages):
        return False
    if at == end or (at > end and threads_of(m)[thread].slot >= FIRST_COMPUTE_SLOT):
        at -= cb[row].size
    circular_buffer_words(m, row)[column] = at
    return True


@compiled()
def push_back(m, thread, now):
    """cb_push_back: publish `pages`, wake the consumers for which that is enough."""
    t = threads_of(m)[thread]
    index, pages = argument(t, 0), argument(t, 1)
    row = checked_row(m, thread, index, pages)
    if row < 0:
        return -1
    cb, pointer = circular_buffers_of(m), write_pointer(t.slot)
    room = cb[row].pages - pages_inside(m, row)
    if pages > room and odd(m, thread, Fault.CB_OVERRUN, index, pages, max(room, 0)):
        return -1
    size = pages * cb[row].page_size
    if t.reads_open > 0 and check_open_reads(m, thread, circular_buffer_words(m, row)[pointer], size):
        return -1
    if not move_pointer(m, thread, row, pointer, index, pages):
        return -1
    charge(m, thread, now, m.cb_call)
    publish(m, thread, row, now, pages)
    return now + m.cb_call


@compiled()
def publish(m, thread, row, now, pages):
    """Count pages that a thread has pushed and wake who waits for them."""
    t, cb = threads_of(m)[thread], circular_buffers_of(m)
    count_level(m, thread, row, now, pages)
    cb[row].producer = thread + 1
    if t.slot == PACK_SLOT:
        cb[row].pack_received += pages
        cb[row].received = cb[row].pack_received
    else:
        cb[row].received += pages
    cb[row].reserved = max(cb[row].reserved - pages, 0)
    cb[row].packed = 0
    cb[row].pushed, cb[row].pushed_at = pages, now
    if cb[row].front_waiters != 0:
        wake_consumers(m, t.core, row, now)


@compiled()
def wake_consumers(m, core, row, now):
    """Wake the threads that wait for no more pages than there are now."""
    cb = circular_buffers_of(m)
    for slot in range(THREADS_PER_CORE):
        waiter = core * THREADS_PER_CORE + slot
        t = threads_of(m)[waiter]
        if (cb[row].front_waiters >> slot) & 1 == 0:
            continue
        if t.executes != 0 or available(m, row, t.wait_c) >= t.wait_b:
            cb[row].front_waiters &= ~(1 << slot)
            wake(m, waiter, now + m.cb_visible, m.cb_call)


@compiled()
def wait_front(m, thread, now):
    """cb_wait_front: wait until `pages` are available."""
    t = threads_of(m)[thread]
    index, pages = argument(t, 0), argument(t, 1)
    row = checked_row(m, thread, index, pages)
    if row < 0:
        return -1
    cb, acked = circular_buffers_of(m), acked_by(m, row, t.slot)
    found = available(m, row, acked)
    cb[row].consumer = thread + 1
    if found < pages:
        cb[row].front_waiters |= 1 << t.slot
        return park(m, thread, now, WAIT_CB_FRONT + index, index, pages, acked)
    return passed(m, thread, now, found - pages, cb[row].pushed, cb[row].pushed_at)


@compiled()
def pop_front(m, thread, now):
    """cb_pop_front: hand `pages` back, wake the producers for which that is enough."""
    t = threads_of(m)[thread]
    index, pages = argument(t, 0), argument(t, 1)
    row = checked_row(m, thread, index, pages)
    if row < 0:
        return -1
    inside = pages_inside(m, row)
    if pages > inside and odd(m, thread, Fault.CB_UNDERRUN, index, pages, max(inside, 0)):
        return -1
    if not move_pointer(m, thread, row, write_pointer(t.slot) + 1, index, pages):
        return -1
    charge(m, thread, now, m.cb_call)
    hand_back(m, thread, row, now, pages)
    return now + m.cb_call


@compiled()
def hand_back(m, thread, row, now, pages):
    """Count pages that a thread has popped and wake who waits for the room."""
    t, cb = threads_of(m)[thread], circular_buffers_of(m)
    count_level(m, thread, row, now, -pages)
    cb[row].consumer = thread + 1
    if t.slot == UNPACK_SLOT:
        cb[row].unpack_acked += pages
        cb[row].acked = cb[row].unpack_acked
    else:
        cb[row].acked += pages
    cb[row].popped, cb[row].popped_at = pages, now
    if cb[row].back_waiters != 0:
        wake_producers(m, t.core, row, now)


@compiled()
def wake_producers(m, core, row, now):
    """Wake the threads that wait for no more room than there is now."""
    cb = circular_buffers_of(m)
    for slot in range(THREADS_PER_CORE):
        waiter = core * THREADS_PER_CORE + slot
        t = threads_of(m)[waiter]
        if (cb[row].back_waiters >> slot) & 1 == 0:
            continue
        if t.executes != 0 or free(m, row, t.wait_c) >= t.wait_b:
            cb[row].back_waiters &= ~(1 << slot)
            cb[row].reserved = max(cb[row].reserved, t.wait_b if t.executes == 0 else 0)
            wake(m, waiter, now + m.cb_visible, m.cb_call)


@compiled()
def poll_pages(m, thread, front):
    """cb_pages_available_at_front / cb_pages_reservable_at_back: 0 or 1 (never blocks), or -1 after a fault."""
    t = threads_of(m)[thread]
    row = checked_row(m, thread, argument(t, 0), argument(t, 1))
    if row < 0:
        return -1
    pages = available(m, row, acked_by(m, row, t.slot)) if front else free(m, row, received_by(m, row, t.slot))
    return 1 if pages >= argument(t, 1) else 0
