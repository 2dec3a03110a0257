"""Where a debugger stops the engine: its events one by one, each looked at before it acts.

`run_to_stop` calls the engine's own loop for a single event at a time, so that nothing in it knows of debuggers and a run takes
the same cycles with one.  A stop comes in front of the event of a thread, when everything before that has happened; a watched word
of memory stops behind the event that has changed it.
"""

import numpy as np

from tensim.sim.cores.operations import Op
from tensim.sim.cores.riscv.core import BROKEN, core_table
from tensim.sim.cores.threads import OPERATION_END, due
from tensim.sim.engine import event_heap
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import call_model, load_i64, load_u8, store_64
from tensim.sim.engine.tables import table
from tensim.sim.state import RUNNING, RUNNING_ON, STOP_FUEL, event_heap_of, machine_table, threads_of, transactions_of

# `run_at`: the engine's loop; `operations_at`, `rows_at`, `threads_at`: a byte each, 1: stop there (rows of the line table);
# `seen_at`: int64 of each thread, the number of its last operation that has been looked at; `watch_at`: host address of up to 8
# bytes, 0: none.  Told: `reason`, the `thread` that stops or has written (-1: unknown); `passed`: go on past the next event
STOPS = np.dtype(
    [(name, np.int64) for name in (
        "run_at operations_at rows_at n_rows threads_at seen_at watch_at watch_bytes watch_value reason thread passed fuel"
    ).split()],
    align=True,
)  # fmt: skip
NO_STOP, AT_BREAK, AT_OPERATION, AT_ROW, AT_THREAD, AT_END, AT_WATCH = range(7)  # `reason`
SPIN_FUEL = 50  # of an event in which a thread only counts cycles, as in the engine's loop
OP_SPEND, OP_LOAD, OP_STORE = int(Op.SPEND), int(Op.LOAD), int(Op.STORE)

stops_table = table(STOPS)


@compiled()
def watched(s):
    """The watched bytes as a number."""
    value = 0
    for i in range(s.watch_bytes):
        value |= load_u8(s.watch_at + i) << (8 * i)
    return value


@compiled()
def stop_at(m, s, index):
    """Why a thread whose event is due stops in front of it."""
    t = threads_of(m)[index]
    op = t.operation
    if t.riscv != 0 and t.executes == 0 and op == OP_SPEND and core_table(t.riscv)[0].pending == BROKEN:
        return AT_BREAK
    if op == OPERATION_END and load_u8(s.threads_at + index) != 0 and load_i64(s.seen_at + 8 * index) != OPERATION_END:
        store_64(s.seen_at + 8 * index, OPERATION_END)  # it may come again, behind the thread's own transactions
        return AT_END
    if op < 0 or t.state != RUNNING:
        return NO_STOP
    # Loads and stores of a RISC-V core are no operations of its own count
    is_new = load_i64(s.seen_at + 8 * index) != t.operations
    if not is_new and not (t.riscv != 0 and (op == OP_LOAD or op == OP_STORE) and t.phase == 0):
        return NO_STOP
    store_64(s.seen_at + 8 * index, t.operations)
    if load_u8(s.threads_at + index) != 0:
        return AT_THREAD
    if load_u8(s.operations_at + op) != 0:
        return AT_OPERATION
    row = t.line_base + t.line - t.first_line
    if 0 <= row < s.n_rows and load_u8(s.rows_at + row) != 0:
        return AT_ROW
    return NO_STOP


@compiled()
def run_to_stop(machine, stops, limit):
    """Run events up to cycle `limit` until one is a stop (`reason`) or the engine has stopped (`m.stop`)."""
    m, s = machine_table(machine)[0], stops_table(stops)[0]
    heap = event_heap_of(m)
    s.reason, s.thread, m.stop = NO_STOP, -1, RUNNING_ON
    while True:
        event, now = heap[1], heap[0] >> event_heap.KEY_BITS
        is_thread = m.event_heap_size > 0 and event_heap.CLOCK < event < 0
        if s.passed == 0 and is_thread and now <= limit and due(threads_of(m)[-1 - event], now):
            reason = stop_at(m, s, -1 - event)
            if reason != NO_STOP:
                s.reason, s.thread, m.stop = reason, -1 - event, STOP_FUEL
                return
        s.passed = 0
        writer = -1
        if is_thread:
            writer = -1 - event
        elif m.event_heap_size > 0 and event >= 0:
            writer = transactions_of(m)[event].thread
        spins = is_thread and threads_of(m)[writer].operation == OP_SPEND
        call_model(s.run_at, machine, limit, 1)
        if s.watch_at != 0 and watched(s) != s.watch_value:
            s.watch_value, s.reason, s.thread = watched(s), AT_WATCH, writer
            return
        s.fuel -= SPIN_FUEL if spins else 1
        if m.stop != STOP_FUEL or s.fuel <= 0:
            return
