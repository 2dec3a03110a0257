"""Circular buffers that several threads of a core fill, or empty.

Each RISC-V core has a pointer of its own into a buffer, which its own pushes or pops alone move on; the counters of pages are
common to all.  So a second thread at one end stands where it should only behind whole rounds of the others; and pages that one
thread waits for another one must not take away before (docs/hardware/kernel_api.md#circular-buffer-calls).
"""

from tensim.sim.cores.checks.clocks import lane_of, row_at
from tensim.sim.cores.checks.faults import Check
from tensim.sim.cores.checks.shadow import SEVERAL, buffer_of, clock_table, thread_of, use_of
from tensim.sim.cores.circular_buffer import row_of
from tensim.sim.cores.operations import Op
from tensim.sim.cores.slots import THREADS_PER_CORE
from tensim.sim.cores.threads import fail
from tensim.sim.engine.compiled import compiled
from tensim.sim.state import circular_buffers_of, threads_of


@compiled()
def check_sharing(m, s, thread, op, index, pages, available):
    """Refuse a push or pop of a thread that does not stand where the others do, or that takes what another one waits for."""
    t = threads_of(m)[thread]
    cb, row = circular_buffers_of(m), row_of(t.core, index)
    b, mine = buffer_of(s, t.core, index), use_of(s, t.core, index, t.slot)
    if op == Op.CB_PUSH_BACK:
        others = cb[row].received - mine.pushed
        if others != 0 and s.data != 0 and others % cb[row].pages != 0:
            name_other(s, t.core, index, t.slot, False)
            fail(m, thread, Check.CB_TWO_PRODUCERS, index, others, mine.pushed)
        mine.pushed += pages
    elif op == Op.CB_POP_FRONT:
        others = cb[row].acked - mine.popped
        if others != 0 and s.data != 0 and others % cb[row].pages != 0:
            name_other(s, t.core, index, t.slot, True)
            fail(m, thread, Check.CB_TWO_CONSUMERS, index, others, mine.popped)
        mine.popped += pages
        mine.waits = 0
        if b.waiter != thread + 1:
            check_waits(m, s, thread, t.core, index, t.slot, pages, available - pages)
    elif op == Op.CB_WAIT_FRONT:
        b.waiter = thread + 1 if b.waiter == 0 or b.waiter == thread + 1 else SEVERAL
        mine.waits, mine.clock = pages, thread_of(s, thread).clock
    if op == Op.CB_PUSH_BACK or op == Op.CB_POP_FRONT or op == Op.CB_WAIT_FRONT:
        mine.line = t.line


@compiled()
def name_other(s, core, index, slot, popped):
    """The fault names another thread that pushed, or popped, and where it did something with the buffer last."""
    for i in range(THREADS_PER_CORE):
        other = use_of(s, core, index, i)
        if i != slot and (other.popped if popped else other.pushed) > 0:
            s.other, s.other_line = core * THREADS_PER_CORE + i, other.line


@compiled()
def check_waits(m, s, thread, core, index, slot, pages, left):
    """Refuse a pop that leaves fewer pages than another thread waits for, unless that wait is known to be over."""
    known = clock_table(row_at(s, thread))
    for i in range(THREADS_PER_CORE):
        other = use_of(s, core, index, i)
        if i == slot or other.waits <= left:
            continue
        if known[lane_of(core * THREADS_PER_CORE + i)] < other.clock:
            s.other, s.other_line = core * THREADS_PER_CORE + i, other.line
            fail(m, thread, Check.CB_POP_AWAITED, index, pages, other.waits)
        other.waits = 0
