"""Kernel threads in the compiled engine: posting, parking, waking, accounting.

A thread's coroutine always stands at its next operation; the thread's event is the moment at which that
operation takes effect.  Plain code between two operations touches nothing another agent can see, so it is run ahead of
time and only its cycles are charged.
"""

from tensim.sim.cores import context as ctx
from tensim.sim.cores.faults import Fault
from tensim.sim.cores.noc_record import record_call, record_return
from tensim.sim.cores.operations import (
    FIRST_DST_CALL,
    FIRST_MATH,
    FIRST_UNPACK,
    LAST_DST_CALL,
    LAST_MATH,
    LAST_UNPACK,
    Op,
)
from tensim.sim.cores.slots import FIRST_COMPUTE_SLOT, MATH_SLOT, UNPACK_SLOT
from tensim.sim.engine import event_heap
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.coroutine import FINISHED, resume
from tensim.sim.engine.memory import call_model, load_i64, store_64
from tensim.sim.state import (
    ENDED,
    FIFO_ENTRIES,
    N_REASONS,
    PARKED,
    RUNNING,
    STOP_ERROR,
    WAIT_NONE,
    WAIT_READ_BARRIER,
    event_heap_of,
    fifo_of,
    lines_of,
    log_of,
    schedule,
    stalls_of,
    threads_of,
)

OPERATION_START = -1  # the coroutine has not been resumed yet
OPERATION_END = -2  # the kernel has returned; the thread ends at its event
OPERATION_EXECUTE = -3  # the thread executes instructions, with its core's coprocessor (`tensim.sim.cores.coprocessor`)


@compiled()
def fail(m, thread, code, a, b, c):
    """Stop the engine with a fault of `thread` (the first one wins)."""
    if m.stop != STOP_ERROR:
        m.stop, m.error, m.error_thread = STOP_ERROR, code, thread
        m.error_a, m.error_b, m.error_c = a, b, c


@compiled(inline="always")
def argument(t, i):
    """Argument i of the posted operation of thread record t."""
    return load_i64(t.context + 8 * (ctx.ARG0 + i))


@compiled(inline="always")
def thread_key(t):
    return event_heap.make_key(event_heap.CLASS_THREAD, t.core, t.slot, 0)


@compiled()
def schedule_thread(m, index, time):
    """Put the thread's event into the event heap; an entry that is there already is early and will be put off (`due`)."""
    t = threads_of(m)[index]
    t.event_at = time
    if t.in_event_heap == 0:
        t.in_event_heap, t.heap_at = 1, time
        schedule(m, time, thread_key(t), -1 - index)


@compiled()
def schedule_sooner(m, index, time):
    """`schedule_thread` for a thread at the instruction level, whose entry in the heap may be late."""
    t = threads_of(m)[index]
    if t.in_event_heap == 0 or t.heap_at <= time:
        schedule_thread(m, index, time)
        return
    t.event_at = t.heap_at = time
    event_heap.hasten(event_heap_of(m), m.event_heap_size, event_heap.make_order(time, thread_key(t)), -1 - index)


@compiled(inline="always")
def due(t, now):
    """Whether the heap's entry of a thread is its event: not when `run_ahead` has gone past it."""
    return t.state != PARKED and t.event_at <= now


@compiled()
def log_span(m, index, kind, start, end, operation):
    """Append a span to the timeline log; the loop leaves before the log is full."""
    if m.log_on != 0 and end > start and m.n_log < m.log_capacity:
        entry = log_of(m)[m.n_log]
        entry.thread, entry.kind, entry.start, entry.end = index, kind, start, end
        t = threads_of(m)[index]
        entry.line, entry.operation, entry.line_base, entry.target = t.line, operation, t.line_base, 0
        m.n_log += 1


@compiled()
def log_event(m, index, kind, now, value, target):
    """Append a moment to the timeline log, in which `value` stands where spans have their line."""
    if m.n_log < m.log_capacity:
        t, entry = threads_of(m)[index], log_of(m)[m.n_log]
        entry.thread, entry.kind, entry.start, entry.end = index, kind, now, now
        entry.line, entry.operation, entry.line_base, entry.target = value, t.operation, t.line_base, target
        m.n_log += 1


@compiled()
def charge(m, index, start, cycles):
    """Count `cycles` of work at the thread's current line."""
    t = threads_of(m)[index]
    t.busy += cycles
    lines_of(m)[3 * (t.line_base + t.line - t.first_line)] += cycles
    if m.log_on != 0:
        log_span(m, index, WAIT_NONE, start, start + cycles, t.operation)


@compiled()
def charge_stall(m, index, reason, start, end):
    """Count a wait of the thread, by reason and by line."""
    if end > start:
        t = threads_of(m)[index]
        stalls_of(m)[index * N_REASONS + reason] += end - start
        lines_of(m)[3 * (t.line_base + t.line - t.first_line) + 1] += end - start
        if m.log_on != 0:
            log_span(m, index, reason, start, end, t.operation)


@compiled()
def park(m, index, now, reason, a, b, c):
    """Stop the thread until `wake`; returns -1, the "no event" answer of an operation."""
    t = threads_of(m)[index]
    t.state, t.wait, t.wait_a, t.wait_b, t.wait_c, t.wait_since = PARKED, reason, a, b, c, now
    return -1


@compiled()
def issue_of(m, t):
    """RISC-V cycles and instructions pushed for the posted operation of a compute thread.

    (cycles before its first tile or instruction begins, cycles after that, instructions).  Single instructions are pushed
    one a cycle (docs/hardware/riscv.md#stores).
    """
    op = t.operation
    if op == Op.PACK:
        return m.issue_pack, 0, m.call_instructions * argument(t, 3)
    if FIRST_UNPACK <= op <= LAST_UNPACK:
        return m.issue_unpack_pair if op == Op.UNPACK_AB else m.issue_unpack, 0, m.call_instructions
    if FIRST_MATH <= op <= LAST_MATH:
        from_dst = op == Op.MATH_BINARY and argument(t, 4) != 0  # an operand is moved out of Dst face by face
        return m.issue_math, 0, m.reuse_instructions if from_dst else m.call_instructions
    if FIRST_DST_CALL <= op <= LAST_DST_CALL:
        return m.issue_sync, 0, 1
    if op == Op.TT_INSTRUCTION and argument(t, 1) > 0:
        return 1, argument(t, 1) - 1, 0
    return 0, 0, 0


@compiled()
def issue(m, index, time, cycles):
    """Cycle at which the coprocessor can begin the posted operation of a compute thread, the one before it ending at `time`.

    The RISC-V core runs ahead of the coprocessor as far as its instruction FIFO holds the calls (docs/hardware/tensix.md#frontend):
    its own clock is `issued`; it waits only for room in the FIFO.  What it takes longer than the coprocessor is the
    issue time of the thread.
    """
    t = threads_of(m)[index]
    cost, more, instructions = issue_of(m, t)
    fifo, base = fifo_of(m), index * FIFO_ENTRIES * 2
    entry = base + 2 * (t.operations % FIFO_ENTRIES)
    fifo[entry], fifo[entry + 1] = time, t.pushed  # end of the call before, and what had been pushed up to it
    first = t.pushed + min(instructions, m.call_instructions)  # the others follow while the first tile is packed
    t.pushed += instructions
    depth = m.fifo_unpack if t.slot == UNPACK_SLOT else m.fifo_math if t.slot == MATH_SLOT else m.fifo_pack
    while t.fifo_head < t.operations and (first - t.drained > depth or t.operations - t.fifo_head >= FIFO_ENTRIES - 1):
        t.fifo_head += 1
        oldest = base + 2 * (t.fifo_head % FIFO_ENTRIES)
        t.issued = max(t.issued, fifo[oldest])
        t.drained = fifo[oldest + 1]
    t.issued += cycles + cost
    late = max(t.issued - time, 0)
    t.issued += more
    t.issue_busy += late
    t.busy += late
    return time + late


@compiled()
def advance(m, index, time):
    """Run the coroutine, or the RISC-V core, to its next operation; returns the cycle at which that takes effect.

    `time` is the cycle at which the core goes on after the current operation.
    """
    t = threads_of(m)[index]
    if m.record_on != 0:
        record_return(m, t, index, time)
    t.phase = t.step = t.count = 0
    if t.riscv != 0:
        return call_model(t.function, m.self_at, index, time)
    store_64(t.context + 8 * ctx.TIME, time)
    status = resume(t.function, t.frame)
    if status == FINISHED:
        t.operation = OPERATION_END
        end = max(time, t.issued) if t.slot >= FIRST_COMPUTE_SLOT else time
        if m.record_on != 0:
            record_call(m, t, index, end)
        return end
    if status < 0:
        t.state, t.line = ENDED, load_i64(t.context + 8 * ctx.LINE)
        fail(m, index, Fault.KERNEL_RAISED, load_i64(t.context + 8 * ctx.ARG0), 0, 0)
        return -1
    t.operation = load_i64(t.context + 8 * ctx.OPCODE)
    line = load_i64(t.context + 8 * ctx.LINE)
    if t.first_line <= line < t.first_line + t.n_lines:
        t.line = line
    cycles = load_i64(t.context + 8 * ctx.CYCLES)
    t.operations += 1
    m.operations += 1
    if t.slot >= FIRST_COMPUTE_SLOT:
        end = issue(m, index, time, cycles)
    else:
        end = time + cycles
        t.busy += cycles
    lines = lines_of(m)
    position = 3 * (t.line_base + t.line - t.first_line)
    lines[position] += end - time
    lines[position + 2] += 1
    if m.log_on != 0:
        log_span(m, index, WAIT_NONE, time, end, 0)
    if m.record_on != 0:
        record_call(m, t, index, end)
    return end


@compiled()
def unpark(m, index, now):
    """End the thread's wait and count it; the caller schedules what comes next."""
    t = threads_of(m)[index]
    charge_stall(m, index, t.wait, t.wait_since, now)
    t.state = RUNNING


@compiled()
def notice(m, index, now):
    """What a thread at the instruction level polls has changed: its core's next load, at `now` or later, sees it."""
    t = threads_of(m)[index]
    t.state, t.woken_at = RUNNING, now
    schedule_sooner(m, index, now)


@compiled()
def wake(m, index, now, cost):
    """The condition of a parked thread holds: its operation completes `cost` (at least 1) cycles from now."""
    t = threads_of(m)[index]
    if t.executes != 0:
        notice(m, index, now)
        return
    if t.wait < WAIT_READ_BARRIER and t.slot >= FIRST_COMPUTE_SLOT:
        t.issued = max(t.issued, now + cost)  # the RISC-V core itself polls circular buffers
    unpark(m, index, now)
    charge(m, index, now, cost)
    time = advance(m, index, now + cost)
    if time >= 0:
        schedule_thread(m, index, time)


@compiled()
def wake_to_retry(m, index, now):
    """A parked thread tries its current operation step again in the next cycle."""
    unpark(m, index, now)
    schedule_thread(m, index, now + 1)
