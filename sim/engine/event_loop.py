"""The compiled lane: takes events in order and lets operations act on the machine, until the host has to look.

`run` is the only entry point from Python during a simulation.  It returns with `m.stop` saying why: the time limit, a
finished program, spent fuel (so that Ctrl-C works), a pool that Python must enlarge, a fault, an empty calendar, or a
full timeline log.  What Python calls takes the address of the machine's record: numba takes 25 us to unpack a record.
"""

from tensim.sim.cores import context as ctx
from tensim.sim.cores.barriers import BARRIER_FULL, barrier, barrier_open
from tensim.sim.cores.circular_buffer import poll_pages, pop_front, push_back, reserve_back, wait_front
from tensim.sim.cores.faults import Fault
from tensim.sim.cores.local_memory import load_local, store_local
from tensim.sim.cores.niu.deliveries import transaction_event
from tensim.sim.cores.niu.multicasts import issue_multicast, issue_multicast_increment
from tensim.sim.cores.niu.transfer_checks import open_path
from tensim.sim.cores.niu.transfers import (
    issue_word,
    noc_read,
    noc_read_with_state,
    noc_write,
    noc_write_with_state,
    set_state,
)
from tensim.sim.cores.operations import Op
from tensim.sim.cores.semaphores import WAIT_EQUAL, WAIT_MIN, l1_changed, semaphore_wait
from tensim.sim.cores.tensix.engine import configure, dst_acquire, dst_commit, dst_release, dst_wait, math, pack, unpack
from tensim.sim.cores.tensix.instructions import instruction
from tensim.sim.cores.tensix.run_ahead import run_ahead
from tensim.sim.cores.threads import (
    OPERATION_END,
    OPERATION_START,
    advance,
    argument,
    charge,
    due,
    fail,
    park,
    schedule_thread,
)
from tensim.sim.engine import event_heap as cal
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import call_model, store_64
from tensim.sim.engine.state import (
    ATOMIC,
    DATA_MOVEMENT_SLOTS,
    ENDED,
    INLINE,
    PARKED,
    RUNNING,
    STOP_EMPTY,
    STOP_FUEL,
    STOP_LAUNCH_DONE,
    STOP_LIMIT,
    STOP_LOG,
    STOP_MEMORY,
    WAIT_WRITE_BARRIER,
    calendar_of,
    cores_of,
    done_of,
    launches_of,
    machine_table,
    threads_of,
)

# Head room that one event may need of each pool (a multicast packet to a full grid is the largest)
MARGIN = 512
MARGIN_STAGING, MARGIN_CHUNKS, MARGIN_LOG = 8, 8, 64
RUNNING_ON = -1  # m.stop while the lane runs

_OP = {op.name: int(op) for op in Op}
SPEND, LOAD, STORE, FAIL = _OP["SPEND"], _OP["LOAD"], _OP["STORE"], _OP["FAIL"]
RESERVE, PUSH, WAIT, POP = (
    _OP["CB_RESERVE_BACK"],
    _OP["CB_PUSH_BACK"],
    _OP["CB_WAIT_FRONT"],
    _OP["CB_POP_FRONT"],
)
RESERVABLE, AVAILABLE = _OP["CB_PAGES_RESERVABLE"], _OP["CB_PAGES_AVAILABLE"]
NOC_READ, NOC_WRITE, NOC_MULTICAST = _OP["NOC_READ"], _OP["NOC_WRITE"], _OP["NOC_MULTICAST"]
NOC_INLINE, NOC_ATOMIC, NOC_BARRIER = _OP["NOC_INLINE_WRITE"], _OP["NOC_ATOMIC_INC"], _OP["NOC_BARRIER"]
NOC_SET_STATE, READ_WITH_STATE = _OP["NOC_SET_STATE"], _OP["NOC_READ_WITH_STATE"]
WRITE_WITH_STATE, MULTICAST_INC = _OP["NOC_WRITE_WITH_STATE"], _OP["NOC_MULTICAST_INC"]
INC_ISSUED, RISCV_WAIT, TIMESTAMP = _OP["NOC_INC_ISSUED"], _OP["RISCV_WAIT"], _OP["TIMESTAMP"]
SEM_WAIT, SEM_WAIT_MIN = _OP["SEM_WAIT"], _OP["SEM_WAIT_MIN"]
ACQUIRE, COMMIT, DST_WAIT, RELEASE = (
    _OP["DST_ACQUIRE"],
    _OP["DST_COMMIT"],
    _OP["DST_WAIT"],
    _OP["DST_RELEASE"],
)
UNPACK_FIRST, UNPACK_LAST = _OP["UNPACK_A"], _OP["UNPACK_REUSE"]
MATH_FIRST, MATH_LAST = _OP["MATH_COPY"], _OP["SFPU_REDUCE"]
UNPACK_MATMUL, MATH_MATMUL = _OP["UNPACK_MATMUL"], _OP["MATH_MATMUL"]
PACK, TT_INSTRUCTION = _OP["PACK"], _OP["TT_INSTRUCTION"]
ZONE_BEGIN, ZONE_END = _OP["ZONE_BEGIN"], _OP["ZONE_END"]


@compiled(inline="always")
def with_result(m, thread, now, cost, value):
    """Complete an operation that hands a value back to the kernel."""
    t = threads_of(m)[thread]
    store_64(t.context + 8 * ctx.RESULT, value)
    charge(m, thread, now, cost)
    return now + cost


@compiled()
def spin(m, thread, now):
    """riscv_wait: the core counts cycles; a compute thread's coprocessor works on."""
    t = threads_of(m)[thread]
    cycles = argument(t, 0) & 0xFFFFFFFF
    if t.slot >= DATA_MOVEMENT_SLOTS:
        t.issued += cycles
        return now
    charge(m, thread, now, cycles)
    return now + max(cycles, 1)


@compiled()
def data_operation(m, thread, now):
    """Operations of the data-movement vocabulary; the cycle at which the core goes on, or -1 (parked or failed)."""
    t = threads_of(m)[thread]
    op = t.operation
    if op == RESERVE:
        return reserve_back(m, thread, now)
    if op == PUSH:
        return push_back(m, thread, now)
    if op == WAIT:
        return wait_front(m, thread, now)
    if op == POP:
        return pop_front(m, thread, now)
    if op == SPEND or op == ZONE_BEGIN or op == ZONE_END or op == INC_ISSUED:
        return now
    if op == NOC_READ:
        return noc_read(m, thread, now)
    if op == NOC_WRITE:
        return noc_write(m, thread, now)
    if op == NOC_BARRIER:
        return barrier(m, thread, now)
    if op == SEM_WAIT:
        return semaphore_wait(m, thread, now, WAIT_EQUAL)
    if op == SEM_WAIT_MIN:
        return semaphore_wait(m, thread, now, WAIT_MIN)
    if op == STORE:
        return store_local(m, thread, now)
    if op == LOAD:
        return load_local(m, thread, now)
    if op == NOC_MULTICAST:
        return issue_multicast(m, thread, now)
    if op == NOC_ATOMIC:
        return issue_word(
            m,
            thread,
            now,
            ATOMIC,
            argument(t, 0),
            argument(t, 1),
            argument(t, 2),
            argument(t, 3),
            argument(t, 4),
            m.issue_atomic,
        )
    if op == NOC_INLINE:
        value = (argument(t, 1) & 0xFFFFFFFF) | (argument(t, 2) << 32)
        return issue_word(
            m,
            thread,
            now,
            INLINE,
            argument(t, 0),
            value,
            argument(t, 3),
            argument(t, 4),
            argument(t, 5),
            m.issue_inline_write,
        )
    if op == RISCV_WAIT:
        return spin(m, thread, now)
    if op == TIMESTAMP:
        return with_result(m, thread, now, m.timestamp, now)
    if op == NOC_SET_STATE:
        return set_state(m, thread, now)
    if op == READ_WITH_STATE:
        return noc_read_with_state(m, thread, now)
    if op == WRITE_WITH_STATE:
        return noc_write_with_state(m, thread, now)
    if op == MULTICAST_INC:
        return issue_multicast_increment(m, thread, now)
    if op == RESERVABLE or op == AVAILABLE:
        value = poll_pages(m, thread, now, op == AVAILABLE)
        if value < 0:
            return -1
        return with_result(m, thread, now, m.cb_call, value)
    if op == FAIL:
        fail(m, thread, Fault.KERNEL_FAILED, argument(t, 0), 0, 0)
        return -1
    fail(m, thread, Fault.UNKNOWN_OPERATION, op, 0, 0)
    return -1


@compiled()
def compute_operation(m, thread, now):
    """Operations of the compute vocabulary: (cycle of the next event or -1, whether the operation is complete)."""
    t = threads_of(m)[thread]
    op = t.operation
    if UNPACK_FIRST <= op <= UNPACK_LAST:
        return unpack(m, thread, now)
    if MATH_FIRST <= op <= MATH_LAST:
        return math(m, thread, now)
    if op == PACK:
        return pack(m, thread, now), True
    if op == ACQUIRE:
        return dst_acquire(m, thread, now), True
    if op == COMMIT:
        return dst_commit(m, thread, now), True
    if op == DST_WAIT:
        return dst_wait(m, thread, now), True
    if op == RELEASE:
        return dst_release(m, thread, now), True
    if op == TT_INSTRUCTION:
        return instruction(m, thread, now)
    return configure(m, thread, now), True


@compiled()
def other_data_movement_ended(m, t):
    """Whether the core's other data-movement thread runs no kernel (any more)."""
    state = threads_of(m)[t.core * 5 + 1 - t.slot].state
    return state != RUNNING and state != PARKED


@compiled()
def end_thread(m, thread, now):
    """The kernel has returned.  The thread ends when its own transactions are back; the last one ends the program."""
    t = threads_of(m)[thread]
    for noc in range(2):
        if barrier_open(m, thread, BARRIER_FULL, noc, 0) > 0:
            return park(m, thread, now, WAIT_WRITE_BARRIER, BARRIER_FULL, noc, -1)
    t.state, t.ended = ENDED, now
    if t.slot < DATA_MOVEMENT_SLOTS and other_data_movement_ended(m, t):
        for noc in range(2):
            if open_path(cores_of(m)[t.core], noc) != 0:
                fail(m, thread, Fault.LINKED_LEFT_OPEN, noc, 0, 0)
                return -1
    launch = launches_of(m)[t.launch]
    launch.live -= 1
    if launch.live == 0:
        launch.ended = now
        done_of(m)[m.n_done] = t.launch
        m.n_done += 1
        m.stop = STOP_LAUNCH_DONE
    return -1


@compiled()
def thread_event(m, thread, now):
    """Let the posted operation of a thread act; returns the cycle of the thread's next event, or -1."""
    t = threads_of(m)[thread]
    t.in_calendar = 0
    if due(t, now):
        time = act(m, thread, now)
    else:
        time = -1 if t.state == PARKED else t.event_at
    if time >= 0:
        t.event_at, t.in_calendar = time, 1
    return time


@compiled()
def act(m, thread, now):
    """An event of a thread; returns the cycle of its next one, or -1."""
    t = threads_of(m)[thread]
    op = t.operation
    if op == OPERATION_START:
        t.state, t.started = RUNNING, now
        t.issued = now
        return advance(m, thread, now)
    if op == OPERATION_END:
        return end_thread(m, thread, now)
    if op < ACQUIRE or op >= ZONE_BEGIN:
        time = data_operation(m, thread, now)
        complete = t.phase == 0
        t.phase = 0
    else:
        time, complete = compute_operation(m, thread, now)
        if not complete and (op == UNPACK_MATMUL or op == MATH_MATMUL) and m.log_on == 0 and m.data_on == 0:
            return run_ahead(m, thread, time)
    if time < 0 or not complete:
        return time
    return advance(m, thread, time)


@compiled()
def run(machine, limit, fuel):
    """Run events up to and including cycle `limit`; see the module's text for `m.stop`."""
    m = machine_table(machine)[0]
    calendar = calendar_of(m)
    m.stop = RUNNING_ON
    while m.stop == RUNNING_ON:
        if m.calendar_size == 0:
            m.stop = STOP_EMPTY
            break
        now = calendar[0] >> cal.KEY_BITS
        if now > limit:
            m.stop = STOP_LIMIT
            break
        if fuel <= 0:
            m.stop = STOP_FUEL
            break
        if (
            m.n_transactions - m.transactions_used < MARGIN
            or m.staging_left < MARGIN_STAGING
            or m.n_spare < MARGIN_CHUNKS
        ):
            m.stop = STOP_MEMORY
            break
        if (m.log_on != 0 and m.log_capacity - m.n_log < MARGIN_LOG) or (
            m.record_on != 0 and m.noc_calls_capacity - m.n_noc_calls < MARGIN_LOG
        ):
            m.stop = STOP_LOG
            break
        fuel -= 1
        m.now = now
        event = calendar[1]
        key = calendar[0] & ((1 << cal.KEY_BITS) - 1)
        if event >= 0:
            time = transaction_event(m, event, now)
        elif event != cal.CLOCK:
            time = thread_event(m, -1 - event, now)
        else:
            time = call_model(m.flit_model_at, m.self_at, event, now)
        # Whatever the event scheduled comes behind it, so it is still on top: one sift replaces or removes it.  The head
        # of a packet that meets nobody thus walks on at the price of two comparisons a hop.
        if time >= 0:
            cal.replace_top(calendar, m.calendar_size, cal.make_order(time, key), event)
        else:
            m.calendar_size = cal.pop(calendar, m.calendar_size)
        if event == cal.CLOCK or (event < 0 and threads_of(m)[-1 - event].operation == SPEND):
            fuel -= 50


@compiled()
def start_threads(machine, threads, time):
    """Schedule the first event of prepared threads (an array of their indices)."""
    m = machine_table(machine)[0]
    for thread in threads:
        t = threads_of(m)[thread]
        t.operation = OPERATION_START
        schedule_thread(m, thread, time)


@compiled()
def l1_written(machine, core, address, size, time):
    """The host has written into the L1 of `core`: threads that poll a semaphore there see it at cycle `time`."""
    l1_changed(machine_table(machine)[0], core, address, size, time)
