"""Kernel threads in the compiled lane: posting, parking, waking, accounting.

A thread's coroutine always stands at its next operation; the thread's calendar event is the moment at which that
operation takes effect.  Plain code between two operations touches nothing another agent can see, so it is run ahead of
time and only its cycles are charged.
"""

import numba as nb

from sim import calendar as cal
from sim.cores import context as ctx
from sim.cores.faults import Fault
from sim.cores.noc_record import record_call, record_return
from sim.coroutine import FINISHED, resume
from sim.memory import load_i64, store_64
from sim.state import (
    ENDED,
    N_REASONS,
    PARKED,
    RUNNING,
    STOP_ERROR,
    WAIT_NONE,
    calendar_of,
    lines_of,
    log_of,
    stalls_of,
    threads_of,
)

OPERATION_START = -1  # the coroutine has not been resumed yet
OPERATION_END = -2  # the kernel has returned; the thread ends at its event


@nb.njit(cache=True)
def fail(m, thread, code, a, b, c):
    """Stop the lane with a fault of `thread` (the first one wins)."""
    if m.stop != STOP_ERROR:
        m.stop, m.error, m.error_thread = STOP_ERROR, code, thread
        m.error_a, m.error_b, m.error_c = a, b, c
        if thread >= 0:
            m.error_line = threads_of(m)[thread].line


@nb.njit(cache=True, inline="always")
def argument(t, i):
    """Argument i of the posted operation of thread record t."""
    return load_i64(t.context + 8 * (ctx.ARG0 + i))


@nb.njit(cache=True, inline="always")
def thread_key(t):
    return cal.make_key(cal.CLASS_THREAD, t.core, t.slot, 0)


@nb.njit(cache=True)
def schedule_thread(m, index, time):
    """Put the thread's event into the calendar."""
    t = threads_of(m)[index]
    m.calendar_size = cal.push(calendar_of(m), m.calendar_size, cal.make_order(time, thread_key(t)), -1 - index)


@nb.njit(cache=True)
def log_span(m, index, kind, start, end, operation):
    """Append a span to the timeline log; the loop leaves before the log is full."""
    if m.log_on != 0 and end > start and m.n_log < m.log_capacity:
        entry = log_of(m)[m.n_log]
        entry.thread, entry.kind, entry.start, entry.end = index, kind, start, end
        entry.line, entry.operation = threads_of(m)[index].line, operation
        m.n_log += 1


@nb.njit(cache=True)
def charge(m, index, start, cycles):
    """Count `cycles` of work at the thread's current line."""
    t = threads_of(m)[index]
    t.busy += cycles
    lines_of(m)[3 * (t.line_base + t.line - t.first_line)] += cycles
    if m.log_on != 0:
        log_span(m, index, WAIT_NONE, start, start + cycles, t.operation)


@nb.njit(cache=True)
def charge_stall(m, index, reason, start, end):
    """Count a wait of the thread, by reason and by line."""
    if end > start:
        t = threads_of(m)[index]
        stalls_of(m)[index * N_REASONS + reason] += end - start
        lines_of(m)[3 * (t.line_base + t.line - t.first_line) + 1] += end - start
        if m.log_on != 0:
            log_span(m, index, reason, start, end, t.operation)


@nb.njit(cache=True)
def park(m, index, now, reason, a, b, c):
    """Stop the thread until `wake`; returns -1, the "no event" answer of an operation."""
    t = threads_of(m)[index]
    t.state, t.wait, t.wait_a, t.wait_b, t.wait_c, t.wait_since = PARKED, reason, a, b, c, now
    return -1


@nb.njit(cache=True)
def advance(m, index, time):
    """Run the coroutine to its next operation; returns the cycle at which that operation takes effect.

    `time` is the cycle at which the core goes on after the current operation.
    """
    t = threads_of(m)[index]
    if m.record_on != 0:
        record_return(m, t, index, time)
    t.phase = t.step = t.count = 0
    store_64(t.context + 8 * ctx.TIME, time)
    status = resume(t.function, t.frame)
    if status == FINISHED:
        t.operation = OPERATION_END
        if m.record_on != 0:
            record_call(m, t, index, time)
        return time
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
    position = 3 * (t.line_base + t.line - t.first_line)
    t.busy += cycles
    lines = lines_of(m)
    lines[position] += cycles
    lines[position + 2] += 1
    if m.log_on != 0:
        log_span(m, index, WAIT_NONE, time, time + cycles, 0)
    if m.record_on != 0:
        record_call(m, t, index, time + cycles)
    return time + cycles


@nb.njit(cache=True)
def unpark(m, index, now):
    """End the thread's wait and count it; the caller schedules what comes next."""
    t = threads_of(m)[index]
    charge_stall(m, index, t.wait, t.wait_since, now)
    t.state = RUNNING


@nb.njit(cache=True)
def wake(m, index, now, cost):
    """The condition of a parked thread holds: its operation completes `cost` (at least 1) cycles from now."""
    unpark(m, index, now)
    charge(m, index, now, cost)
    time = advance(m, index, now + cost)
    if time >= 0:
        schedule_thread(m, index, time)


@nb.njit(cache=True)
def wake_to_retry(m, index, now):
    """A parked thread tries its current operation step again in the next cycle."""
    unpark(m, index, now)
    schedule_thread(m, index, now + 1)
