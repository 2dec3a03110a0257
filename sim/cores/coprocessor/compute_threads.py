"""The compute threads of a worker core at the instruction level, as the engine's event loop sees them.

The three threads and the coprocessor that they share run together (`cluster`) in the events of any of them.  A thread's event
stands at the cycle at which its core acts on what others see, a circular buffer's counter that it has written is made known, or
a change that its core polls for can be seen.  While a core polls, nothing goes further than the other threads of the tile let it.
"""

from tensim.sim.cores import context as ctx
from tensim.sim.cores.circular_buffer import hand_back, move_pointer, pages_inside, publish, row_of
from tensim.sim.cores.coprocessor.baby_core import ACTING, ENDED, FAULTED, POLLING, baby_table
from tensim.sim.cores.coprocessor.baby_core import RUNNING as BABY_RUNNING
from tensim.sim.cores.coprocessor.cluster import (
    COUNTER,
    FAULT,
    FUEL_SPENT,
    OUTSIDE,
    PAUSED,
    PRINTED,
    RESTING,
    STORED,
    cluster_table,
)
from tensim.sim.cores.coprocessor.frontend import NO_TIME
from tensim.sim.cores.coprocessor.memory_map import DONE_CHECK
from tensim.sim.cores.coprocessor.state import N_THREADS, coprocessor_table
from tensim.sim.cores.coprocessor.tile_registers import counter_of, newest_count
from tensim.sim.cores.coprocessor.units import MATRIX, N_UNITS, VECTOR, span_table, units_table
from tensim.sim.cores.faults import Fault
from tensim.sim.cores.oddities import odd
from tensim.sim.cores.operations import Op
from tensim.sim.cores.print_log import PRINT_BYTES, TEXT_FROM_END, TEXT_PIECE, print_table
from tensim.sim.cores.riscv.decode import INSTRUCTION_BYTES
from tensim.sim.cores.semaphores import l1_changed
from tensim.sim.cores.slots import FIRST_COMPUTE_SLOT, THREADS_PER_CORE
from tensim.sim.cores.threads import (
    OPERATION_END,
    OPERATION_EXECUTE,
    OPERATION_START,
    charge_stall,
    fail,
    schedule_sooner,
)
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.event_heap import CHILDREN, KEY_BITS
from tensim.sim.engine.memory import call_model, store_64, zero_bytes
from tensim.sim.state import (
    LOG_UNIT,
    N_REASONS,
    PARKED,
    RUNNING,
    STOP_ERROR,
    WAIT_CB_BACK,
    WAIT_CB_FRONT,
    WAIT_COPROCESSOR,
    circular_buffers_of,
    cores_of,
    event_heap_of,
    lines_of,
    log_of,
    machine_table,
    stalls_of,
    threads_of,
)

FUEL = 1 << 14  # cycles of a coprocessor between two looks at Ctrl-C and at other tiles
MATH_THREAD = 1
COUNTER_SIGN, COUNTER_RANGE = 0x8000, 0x10000  # counters are 16 bits wide (`tensim.sim.cores.circular_buffer`)


@compiled()
def next_event(m, now):
    """Cycle of the earliest event of the chip behind the one that happens now, which is still on top of the heap."""
    heap, at = event_heap_of(m), NO_TIME
    for child in range(1, CHILDREN + 1):
        if child < m.event_heap_size:
            at = min(at, heap[2 * child] >> KEY_BITS)
    return max(at, now)


@compiled()
def others_act_at(m, core, now):
    """Earliest cycle at which a data-movement thread of the core may move pages of a circular buffer."""
    at = NO_TIME
    for slot in range(FIRST_COMPUTE_SLOT):
        t = threads_of(m)[core * THREADS_PER_CORE + slot]
        if t.state == RUNNING:
            at = min(at, max(t.event_at, now))
        elif t.state == PARKED:
            at = min(at, next_event(m, now))
    return at


@compiled()
def limit_of(m, cluster, core, now):
    """The first cycle at which a core of the tile that polls may see something new."""
    first = core * THREADS_PER_CORE + FIRST_COMPUTE_SLOT
    at = others_act_at(m, core, now)
    at = at + m.cb_visible if at < NO_TIME else at
    for thread in range(N_THREADS):
        t = threads_of(m)[first + thread]
        if baby_table(cluster.cores_at)[thread].state == POLLING and t.woken_at > now:
            at = min(at, t.woken_at)
    return at


@compiled()
def wait_for_counter(m, core_index, counter, slot):
    """Let a thread be woken when a counter changes."""
    cb = circular_buffers_of(m)[row_of(core_index, counter >> 1)]
    if counter & 1 != 0:
        cb.back_waiters |= 1 << slot
    else:
        cb.front_waiters |= 1 << slot


@compiled()
def go_on_polling(m, c, cluster, first, now):
    """Cores whose polled counter has changed, and can see it, load it again."""
    for thread in range(N_THREADS):
        core, t = baby_table(cluster.cores_at)[thread], threads_of(m)[first + thread]
        if core.state == POLLING and 0 <= t.woken_at <= now:
            counter = counter_of(c, core.address)
            reason = counter // 2 + (WAIT_CB_BACK if counter & 1 != 0 else WAIT_CB_FRONT)
            charge_stall(m, first + thread, reason, core.blocked_since, now)
            core.state, core.poll_pc = ACTING, 0
            core.clock = core.told = max(core.clock, now)
            c.cycle = max(c.stepped + 1, min(c.cycle, core.clock))


@compiled()
def await_changes(m, c, cluster, first, core_index, now):
    """Let cores that poll be told of the next change; one that came too late for the load that they made is told at its cycle."""
    for thread in range(N_THREADS):
        core, t = baby_table(cluster.cores_at)[thread], threads_of(m)[first + thread]
        if core.state != POLLING or t.woken_at > now:
            continue
        t.woken_at = -1
        counter = counter_of(c, core.address)
        value, _, seen_at = newest_count(c, counter)
        if value & 0xFFFFFFFF != core.poll_value:
            t.woken_at = max(seen_at, now + 1)
            schedule_sooner(m, first + thread, t.woken_at)
        else:
            wait_for_counter(m, core_index, counter, t.slot)


@compiled()
def tell_checker(m, thread, index, pages, now):
    """Let the checker of kernels know of a push."""
    if m.checker_at != 0 and pages > 0:
        t = threads_of(m)[thread]
        t.operation = Op.CB_PUSH_BACK
        store_64(t.context + 8 * ctx.ARG0, index)
        store_64(t.context + 8 * (ctx.ARG0 + 1), pages)
        call_model(m.checker_at, m.self_at, -1 - thread, now)
        t.operation = OPERATION_EXECUTE


@compiled()
def take_counter(m, c, first, core_index, now):
    """Make a counter known that a thread has written: pages pushed or popped."""
    thread, index, cb = first + c.counter_thread, c.counter_buffer, circular_buffers_of(m)
    row = row_of(core_index, index)
    c.counter_written = 0
    if cb[row].pages == 0:
        fail(m, thread, Fault.CB_MISSING, index, 0, 0)
        return
    counted = cb[row].pack_received if c.counter_received != 0 else cb[row].unpack_acked
    pages = (c.counter_value - counted) & (COUNTER_RANGE - 1)
    if pages >= COUNTER_SIGN:
        pages -= COUNTER_RANGE
    inside = pages_inside(m, row)
    if c.counter_received != 0:
        room = cb[row].pages - inside
        if pages > room and odd(m, thread, Fault.CB_OVERRUN, index, pages, max(room, 0)):
            return
        tell_checker(m, thread, index, pages, now)
        if move_pointer(m, thread, row, ctx.CB_WRITE_PTR, index, pages):
            publish(m, thread, row, now, pages)
    else:
        if pages > inside and odd(m, thread, Fault.CB_UNDERRUN, index, pages, max(inside, 0)):
            return
        if move_pointer(m, thread, row, ctx.CB_READ_PTR, index, pages):
            hand_back(m, thread, row, now, pages)


@compiled()
def tell_lines(m, cluster, first):
    """Let each thread stand at its core's line, and count the cycles since it was last told there."""
    for thread in range(N_THREADS):
        core, t = baby_table(cluster.cores_at)[thread], threads_of(m)[first + thread]
        row = (core.pc - core.text_base) // INSTRUCTION_BYTES
        if 0 <= row < t.n_lines:
            t.line = t.first_line + row
            lines = lines_of(m)
            at = 3 * (t.line_base + row)
            lines[at] += max(core.clock - core.told, 0)
            lines[at + 2] += 1
            core.told = max(core.told, core.clock)


@compiled()
def take_print(m, c, cluster, first, now):
    """Append what a core prints to the log of the chip; texts lie in programs, where the front end reads them."""
    core, entry = baby_table(cluster.cores_at)[c.printed_by], print_table(m.prints_at)[m.n_prints]
    entry.thread, entry.time, entry.kind = first + c.printed_by, now, c.printed - 1
    entry.value, entry.extra = core.print_value, core.print_extra
    zero_bytes(m.prints_at + (m.n_prints + 1) * PRINT_BYTES - TEXT_FROM_END, TEXT_PIECE)
    m.n_prints += 1
    c.printed = 0


@compiled()
def take_work(m, c, core_index):
    """Let the core's record have what its units did for the program."""
    core, u = cores_of(m)[core_index], units_table(c.units_at)[0]
    core.flops, core.fpu_busy, core.sfpu_busy = u.flops, u.worked[MATRIX], u.worked[VECTOR]


@compiled()
def take_spans(m, c, first):
    """Enter what the units did into the log of the chip; the loop leaves before that has no room for all."""
    u, log = units_table(c.units_at)[0], log_of(m)
    for i in range(u.n_spans):
        span, entry = span_table(u.spans_at)[i], log[m.n_log]
        entry.thread, entry.kind, entry.start, entry.end = (
            first + span.thread,
            LOG_UNIT + span.unit,
            span.start,
            span.end,
        )
        entry.line, entry.operation, entry.line_base, entry.target = 0, span.opcode, 0, 0
        m.n_log += 1
    u.n_spans = 0
    for unit in range(N_UNITS):
        u.newest[unit] = -1


@compiled()
def end_threads(m, c, cluster, first, now):
    """Threads whose cores have come to their end get the event of that, once all that they have written is known."""
    for thread in range(N_THREADS):
        core, t = baby_table(cluster.cores_at)[thread], threads_of(m)[first + thread]
        if core.state == ENDED and t.operation == OPERATION_EXECUTE and c.counter_written == 0:
            charge_stall(m, first + thread, WAIT_COPROCESSOR, core.clock - core.stall, core.clock)
            waited = 0
            for reason in range(N_REASONS):
                waited += stalls_of(m)[(first + thread) * N_REASONS + reason]
            t.busy = max(core.clock - t.started - waited, 0)
            t.operation, t.operations = OPERATION_END, core.retired
            # behind the kernel the program waits for its coprocessor, which a profiler zone does not
            t.issued = core.acted_at if core.address == DONE_CHECK else core.clock
            if thread == MATH_THREAD:
                take_work(m, c, t.core)
            schedule_sooner(m, first + thread, max(core.clock, now + 1))


@compiled()
def rest(m, c, cluster, first, now):
    """Nothing more happens on the tile by itself: its threads wait, those that a change was told to for the cycle at which they
    see it.  An earlier event of the same thread, this one for instance, may have taken the place of that.
    """
    for thread in range(N_THREADS):
        core, t = baby_table(cluster.cores_at)[thread], threads_of(m)[first + thread]
        if t.operation != OPERATION_EXECUTE or core.state == ENDED:
            continue
        if t.woken_at > now:
            schedule_sooner(m, first + thread, t.woken_at)
            continue
        t.state, t.wait, t.wait_since = PARKED, WAIT_COPROCESSOR, now
        if core.state == POLLING:
            counter = counter_of(c, core.address)
            t.wait = counter // 2 + (WAIT_CB_BACK if counter & 1 != 0 else WAIT_CB_FRONT)
            t.wait_a, t.wait_b, t.wait_since = counter // 2, 1, core.blocked_since


@compiled()
def fuel_spent_until(cluster, c, now):
    """Cycle of the next event of a tile that has spent its fuel: up to there it acts on nobody."""
    at = c.cycle if c.cycle > now else NO_TIME
    for thread in range(N_THREADS):
        core = baby_table(cluster.cores_at)[thread]
        if core.state == BABY_RUNNING or core.state == ACTING:
            at = min(at, core.clock)
    return max(now + 1, at if at < NO_TIME else 0)


@compiled()
def unended(m, first, index):
    """A thread of the tile that has not ended, `index` if it is one."""
    if threads_of(m)[index].operation == OPERATION_EXECUTE:
        return index - first
    for thread in range(N_THREADS):
        if threads_of(m)[first + thread].operation == OPERATION_EXECUTE:
            return thread
    return 0


@compiled()
def refuse(m, c, cluster, first):
    """Stop the engine with the fault of the coprocessor or of a core."""
    if c.fault != 0:
        fail(m, first + c.fault_thread, Fault.COPROCESSOR, c.fault, c.fault_a, c.fault_b)
        return
    for thread in range(N_THREADS):
        core = baby_table(cluster.cores_at)[thread]
        if core.state == FAULTED:
            fail(m, first + thread, Fault.COMPUTE_CORE, core.cause, core.pc, core.address)
    fail(m, first, Fault.COPROCESSOR_LOST, 0, 0, 0)


@compiled()
def start(m, cluster, thread, index, now):
    """A thread begins: its core goes on from this cycle."""
    core, t = baby_table(cluster.cores_at)[thread], threads_of(m)[index]
    core.clock = core.told = now
    t.operation, t.woken_at = OPERATION_EXECUTE, -1
    cluster.started += 1


@compiled()
def compute_event(machine, index, now):
    """An event of a compute thread: run its tile as far as can be; returns -1, all further events are in the heap."""
    m = machine_table(machine)[0]
    t = threads_of(m)[index]
    cluster = cluster_table(t.riscv)[0]
    c, first = coprocessor_table(cluster.coprocessor_at)[0], t.core * THREADS_PER_CORE + FIRST_COMPUTE_SLOT
    if t.operation == OPERATION_START:
        start(m, cluster, index - first, index, now)
        if cluster.started < N_THREADS:
            return -1
        c.cycle = max(c.cycle, now)
    for thread in range(N_THREADS):
        if threads_of(m)[first + thread].operation == OPERATION_EXECUTE:
            threads_of(m)[first + thread].state = RUNNING
    go_on_polling(m, c, cluster, first, now)
    reason, at, begun = COUNTER, now, c.cycle
    if c.counter_written != 0:  # due now: its event is this one, or an earlier one of another thread
        at = c.counter_at
    while True:
        if c.counter_written != 0:
            if at > now:
                c.counter_at = at
                break
            take_counter(m, c, first, t.core, now)
        if c.l1_stored != 0:
            l1_changed(m, t.core, c.l1_stored_at, c.l1_stored, now, first + c.l1_stored_by)
            c.l1_stored = 0
        if c.printed != 0:
            take_print(m, c, cluster, first, now)
            if m.n_prints > m.prints_room:
                reason = FUEL_SPENT  # the log is read before anything more
                break
        if m.stop == STOP_ERROR:
            return -1
        await_changes(m, c, cluster, first, t.core, now)
        cluster.fuel = FUEL
        call_model(cluster.run_at, t.riscv, now, limit_of(m, cluster, t.core, now))
        reason, at = cluster.reason, cluster.at
        if reason != COUNTER and reason != STORED and reason != PRINTED:
            break
    m.instructions += max(c.cycle - begun, 0)
    if units_table(c.units_at)[0].n_spans > 0:
        take_spans(m, c, first)
    if reason == FAULT:
        tell_lines(m, cluster, first)
        refuse(m, c, cluster, first)
        return -1
    await_changes(m, c, cluster, first, t.core, now)
    end_threads(m, c, cluster, first, now)
    if reason == OUTSIDE or reason == COUNTER or reason == PAUSED:
        schedule_sooner(m, first + unended(m, first, index), max(at, now + 1))
    elif reason == FUEL_SPENT:
        schedule_sooner(m, first + unended(m, first, index), fuel_spent_until(cluster, c, now))
    elif reason == RESTING:
        rest(m, c, cluster, first, now)
    tell_lines(m, cluster, first)
    return -1
