"""What orders threads: operations that others may wait for, and waits that are over.

A wait is over when its thread comes to its next operation: only then is it known what it has seen.
"""

from tensim.sim.cores.barriers import barrier_open
from tensim.sim.cores.checks.circular_buffers import configured
from tensim.sim.cores.checks.clocks import follow, follow_ends, noc_lane_of, note_end, row_at, tick
from tensim.sim.cores.checks.races import follow_word
from tensim.sim.cores.checks.shadow import clock_table, core_of, thread_of
from tensim.sim.cores.checks.writes import flushed
from tensim.sim.cores.circular_buffer import row_of
from tensim.sim.cores.operations import FIRST_NOC_CALL, FIRST_UNPACK, LAST_NOC_CALL, LAST_UNPACK, Barrier, Mailbox, Op
from tensim.sim.cores.slots import MATH_SLOT, PACK_SLOT, THREADS_PER_CORE, UNPACK_SLOT
from tensim.sim.cores.threads import argument
from tensim.sim.engine.compiled import compiled
from tensim.sim.state import circular_buffers_of, threads_of


@compiled()
def wait(s, thread, op, a, b, c):
    """A thread waits; `settle` says for what."""
    mine = thread_of(s, thread)
    mine.waits, mine.waits_a, mine.waits_b, mine.waits_c = op, a, b, c


@compiled()
def buffer_end(m, s, thread, op, index, pages):
    """A thread pushes, pops or waits for pages."""
    t = threads_of(m)[thread]
    if not configured(m, t.core, index):
        return
    cb, row = circular_buffers_of(m), row_of(t.core, index)
    received, acked, capacity = cb[row].received, cb[row].acked, cb[row].pages
    if op == Op.CB_PUSH_BACK:
        note_end(m, s, thread, t.core, index, 0, received + pages)
    elif op == Op.CB_POP_FRONT:
        note_end(m, s, thread, t.core, index, 1, acked + pages)
    elif op == Op.CB_WAIT_FRONT or (op == Op.CB_PAGES_AVAILABLE and received - acked >= pages):
        wait(s, thread, Op.CB_WAIT_FRONT, index, acked + pages, 0)
    elif op == Op.CB_RESERVE_BACK or (op == Op.CB_PAGES_RESERVABLE and capacity - (received - acked) >= pages):
        wait(s, thread, Op.CB_RESERVE_BACK, index, received + pages - capacity, 0)


@compiled()
def post(m, s, thread):
    """An operation that its thread has posted, once."""
    t = threads_of(m)[thread]
    op, mine = t.operation, core_of(s, t.core)
    if Op.CB_RESERVE_BACK <= op <= Op.CB_PAGES_AVAILABLE:
        buffer_end(m, s, thread, op, argument(t, 0), argument(t, 1))
    elif op == Op.NOC_BARRIER:
        wait(s, thread, op, argument(t, 0), argument(t, 1), argument(t, 2))
    elif op == Op.NOC_READS_ENDED and barrier_open(m, thread, Barrier.READ_TRID, argument(t, 0), argument(t, 1)) == 0:
        wait(s, thread, Op.NOC_BARRIER, Barrier.READ_TRID, argument(t, 0), argument(t, 1))
    elif op == Op.SEM_WAIT or op == Op.SEM_WAIT_MIN:
        wait(s, thread, Op.SEM_WAIT, argument(t, 0), 0, 0)
    elif FIRST_NOC_CALL <= op <= LAST_NOC_CALL:
        tick(m, s, thread)
    elif FIRST_UNPACK <= op <= LAST_UNPACK:
        mine.unpacked = thread_of(s, thread).clock
        wait(s, thread, op, 0, 0, 0)
    elif Op.MATH_COPY <= op <= Op.MATH_REDUCE:
        mine.computed = thread_of(s, thread).clock
        wait(s, thread, op, 0, 0, 0)
    elif op == Op.DST_COMMIT:
        mine.committed = tick(m, s, thread)
    elif op == Op.DST_RELEASE:
        mine.released = tick(m, s, thread)
    elif op == Op.MAILBOX_WRITE:
        note_mail(mine, t.slot, tick(m, s, thread))
    elif op == Op.DST_ACQUIRE or op == Op.DST_WAIT or op == Op.MAILBOX_READ:
        wait(s, thread, op, argument(t, 0), 0, 0)


@compiled()
def note_mail(core, slot, clock):
    if slot == UNPACK_SLOT:
        core.mailed_0 = clock
    elif slot == MATH_SLOT:
        core.mailed_1 = clock
    else:
        core.mailed_2 = clock


@compiled()
def mailed(core, sender):
    return core.mailed_0 if sender == Mailbox.UNPACK else core.mailed_1 if sender == Mailbox.MATH else core.mailed_2


@compiled()
def settle(m, s, thread):
    """What a thread has waited for comes before what it does now."""
    mine, core = thread_of(s, thread), threads_of(m)[thread].core
    op, first, work = mine.waits, core * THREADS_PER_CORE, core_of(s, core)
    mine.waits = 0
    if op == Op.CB_WAIT_FRONT or op == Op.CB_RESERVE_BACK:
        follow_ends(s, thread, core, mine.waits_a, 1 if op == Op.CB_RESERVE_BACK else 0, mine.waits_b)
    elif op == Op.NOC_BARRIER:
        kind = mine.waits_a
        flushed(s, thread, kind, mine.waits_b, mine.waits_c)
        flushes = kind == Barrier.WRITES_FLUSHED or kind == Barrier.POSTED_WRITES_FLUSHED
        if not flushes and kind != Barrier.WRITE_FLUSHED_TRID and kind != Barrier.ATOMIC:
            clock_table(row_at(s, thread))[noc_lane_of(thread)] = mine.clock - 1
    elif op == Op.SEM_WAIT:
        follow_word(m, s, thread, core, mine.waits_a)
    elif FIRST_UNPACK <= op <= LAST_UNPACK:
        follow(s, thread, first + MATH_SLOT, work.computed, 0)
    elif op == Op.DST_ACQUIRE:
        follow(s, thread, first + PACK_SLOT, work.released, 0)
    elif op == Op.MAILBOX_READ:
        follow(s, thread, first + UNPACK_SLOT + mine.waits_a, mailed(work, mine.waits_a), 0)
    elif op == Op.DST_WAIT:
        follow(s, thread, first + MATH_SLOT, work.committed, 0)
    else:
        follow(s, thread, first + UNPACK_SLOT, work.unpacked, 0)
