"""The compiled engine: takes events in order and lets operations act on the machine, until the host has to look.

`run` is the only entry point from Python during a simulation.  It returns with `m.stop` saying why: the time limit, a
finished program, spent fuel (so that Ctrl-C works), a pool that Python must enlarge, a fault, an empty event heap, or a
full timeline log; docs/noc_models.md#the-event-loop draws its states.  What Python calls takes the address of the machine's
record: numba takes 25 us to unpack a record.
"""

from tensim.sim.cores import context as ctx
from tensim.sim.cores.barriers import barrier, barrier_open, reads_ended
from tensim.sim.cores.circular_buffer import poll_pages, pop_front, push_back, reserve_back, wait_front
from tensim.sim.cores.faults import Fault
from tensim.sim.cores.local_memory import load_local, store_local
from tensim.sim.cores.mailboxes import mailbox_read, mailbox_write
from tensim.sim.cores.niu.deliveries import transaction_event
from tensim.sim.cores.niu.multicasts import issue_multicast, issue_multicast_increment
from tensim.sim.cores.niu.transfers import (
    issue_word,
    noc_read,
    noc_read_with_state,
    noc_write,
    noc_write_with_state,
    set_state,
)
from tensim.sim.cores.oddities import HALF
from tensim.sim.cores.operations import (
    FIRST_COMPUTE,
    FIRST_MATH,
    FIRST_UNPACK,
    LAST_COMPUTE,
    LAST_MATH,
    LAST_UNPACK,
    Barrier,
    Op,
)
from tensim.sim.cores.print_log import print_line
from tensim.sim.cores.print_tiles import print_buffer_rows, print_dst_rows
from tensim.sim.cores.semaphores import WAIT_EQUAL, WAIT_MIN, l1_changed, semaphore_wait
from tensim.sim.cores.slots import FIRST_COMPUTE_SLOT, NCRISC, THREADS_PER_CORE
from tensim.sim.cores.tensix.configuration import configure
from tensim.sim.cores.tensix.dst_sections import dst_acquire, dst_commit, dst_release, dst_wait
from tensim.sim.cores.tensix.instructions import instruction
from tensim.sim.cores.tensix.math import math
from tensim.sim.cores.tensix.pack import pack
from tensim.sim.cores.tensix.queue_state import DRAIN, SERVE
from tensim.sim.cores.tensix.queues import begin_team, drain, end_team, serve
from tensim.sim.cores.tensix.run_ahead import run_ahead
from tensim.sim.cores.tensix.unpack import unpack
from tensim.sim.cores.threads import (
    OPERATION_END,
    OPERATION_EXECUTE,
    OPERATION_START,
    advance,
    argument,
    charge,
    due,
    fail,
    log_event,
    park,
    schedule_thread,
)
from tensim.sim.cores.transfer_checks import open_path
from tensim.sim.engine import event_heap
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import call_model, load_i64, store_64
from tensim.sim.state import (
    ATOMIC,
    ENDED,
    INLINE,
    LOG_ZONE_BEGIN,
    LOG_ZONE_END,
    PARKED,
    RUNNING,
    RUNNING_ON,
    STOP_EMPTY,
    STOP_FUEL,
    STOP_LAUNCH_DONE,
    STOP_LIMIT,
    STOP_LOG,
    STOP_MEMORY,
    WAIT_WRITE_BARRIER,
    cores_of,
    done_of,
    event_heap_of,
    launches_of,
    machine_table,
    threads_of,
)

NO_EVENT = -1  # in place of a cycle: a thread is parked, has ended or has failed, and has no next event of its own
# Head room that one event may need of each pool (a multicast packet to a full grid is the largest)
MARGIN = 512
INSTRUCTIONS_PER_FUEL = 64  # of RISC-V cores: they take about as long as an event
MARGIN_STAGING, MARGIN_CHUNKS = 8, 8
MARGIN_LOG = 2048  # entries: an event of a tile at the instruction level makes up to `units.SPANS` of them


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
    if t.slot >= FIRST_COMPUTE_SLOT:
        t.issued += cycles
        return now
    charge(m, thread, now, cycles)
    return now + max(cycles, 1)


@compiled()
def data_operation(m, thread, now):
    """Operations of the data-movement vocabulary; the cycle at which the core goes on, or NO_EVENT (parked or failed)."""
    t = threads_of(m)[thread]
    op = t.operation
    if op == Op.CB_RESERVE_BACK:
        return reserve_back(m, thread, now)
    if op == Op.CB_PUSH_BACK:
        return push_back(m, thread, now)
    if op == Op.CB_WAIT_FRONT:
        return wait_front(m, thread, now)
    if op == Op.CB_POP_FRONT:
        return pop_front(m, thread, now)
    if op == Op.SPEND or op == Op.NOC_INC_ISSUED:
        return now
    if op == Op.ZONE_BEGIN or op == Op.ZONE_END:
        if m.log_on != 0:
            log_event(m, thread, LOG_ZONE_BEGIN if op == Op.ZONE_BEGIN else LOG_ZONE_END, now, argument(t, 0), 0)
        return now
    if op == Op.NOC_READ:
        return noc_read(m, thread, now)
    if op == Op.NOC_WRITE:
        return noc_write(m, thread, now)
    if op == Op.NOC_BARRIER:
        return barrier(m, thread, now)
    if op == Op.SEM_WAIT:
        return semaphore_wait(m, thread, now, WAIT_EQUAL)
    if op == Op.SEM_WAIT_MIN:
        return semaphore_wait(m, thread, now, WAIT_MIN)
    if op == Op.STORE:
        return store_local(m, thread, now)
    if op == Op.LOAD:
        return load_local(m, thread, now)
    if op == Op.NOC_MULTICAST:
        return issue_multicast(m, thread, now)
    if op == Op.NOC_ATOMIC_INC:
        return issue_word(
            m, thread, now, ATOMIC, argument(t, 0), argument(t, 1), argument(t, 2), argument(t, 3), argument(t, 4),
            m.issue_atomic,
        )  # fmt: skip
    if op == Op.NOC_INLINE_WRITE:
        value = (argument(t, 1) & 0xFFFFFFFF) | (argument(t, 2) << 32)
        return issue_word(
            m, thread, now, INLINE, argument(t, 0), value, argument(t, 3), argument(t, 4), argument(t, 5),
            m.issue_inline_write,
        )  # fmt: skip
    if op == Op.RISCV_WAIT:
        return spin(m, thread, now)
    if op == Op.TIMESTAMP:
        return with_result(m, thread, now, m.timestamp, now)
    if op == Op.NOC_READS_ENDED:
        value = reads_ended(m, thread)
        return NO_EVENT if value < 0 else with_result(m, thread, now, m.barrier_poll, value)
    if op == Op.NOC_SET_STATE:
        return set_state(m, thread, now)
    if op == Op.NOC_READ_WITH_STATE:
        return noc_read_with_state(m, thread, now)
    if op == Op.NOC_WRITE_WITH_STATE:
        return noc_write_with_state(m, thread, now)
    if op == Op.NOC_MULTICAST_INC:
        return issue_multicast_increment(m, thread, now)
    if op == Op.CB_PAGES_RESERVABLE or op == Op.CB_PAGES_AVAILABLE:
        value = poll_pages(m, thread, op == Op.CB_PAGES_AVAILABLE)
        if value < 0:
            return NO_EVENT
        return with_result(m, thread, now, m.cb_call, value)
    if op == Op.PRINT:
        print_line(m, thread, now)
        return now
    if op == Op.PRINT_TILE:
        print_buffer_rows(m, thread, now)
        return now
    if op == Op.PRINT_DST:
        print_dst_rows(m, thread, now)
        return now
    if op == Op.FAIL:
        fail(m, thread, Fault.KERNEL_FAILED, argument(t, 0), 0, 0)
        return NO_EVENT
    fail(m, thread, Fault.UNKNOWN_OPERATION, op, 0, 0)
    return NO_EVENT


@compiled()
def compute_operation(m, thread, now):
    """Operations of the compute vocabulary: (cycle of the next event or NO_EVENT, whether the operation is complete)."""
    t = threads_of(m)[thread]
    op = t.operation
    if FIRST_UNPACK <= op <= LAST_UNPACK:
        return unpack(m, thread, now)
    if FIRST_MATH <= op <= LAST_MATH:
        return math(m, thread, now)
    if op == Op.PACK:
        return pack(m, thread, now), True
    if op == Op.DST_ACQUIRE:
        return dst_acquire(m, thread, now), True
    if op == Op.DST_COMMIT:
        return dst_commit(m, thread, now), True
    if op == Op.DST_WAIT:
        return dst_wait(m, thread, now), True
    if op == Op.DST_RELEASE:
        return dst_release(m, thread, now), True
    if op == Op.TT_INSTRUCTION:
        return instruction(m, thread, now)
    if op == Op.CONFIG:
        return configure(m, thread, now), True
    if op == Op.MAILBOX_WRITE:
        return mailbox_write(m, thread, now), True
    if op == Op.MAILBOX_READ:
        return mailbox_read(m, thread, now), True
    fail(m, thread, Fault.UNKNOWN_OPERATION, op, 0, 0)
    return NO_EVENT, True


@compiled()
def other_data_movement_ended(m, t):
    """Whether the core's other data-movement thread runs no kernel (any more)."""
    state = threads_of(m)[t.core * THREADS_PER_CORE + NCRISC - t.slot].state
    return state != RUNNING and state != PARKED


@compiled()
def end_thread(m, thread, now):
    """The kernel has returned.  The thread ends when its own transactions are back; the last one ends the program."""
    t = threads_of(m)[thread]
    for noc in range(2):
        if barrier_open(m, thread, Barrier.FULL, noc, 0) > 0:
            return park(m, thread, now, WAIT_WRITE_BARRIER, Barrier.FULL, noc, -1)
    t.state, t.ended = ENDED, now
    if t.slot < FIRST_COMPUTE_SLOT and other_data_movement_ended(m, t):
        for noc in range(2):
            if open_path(cores_of(m)[t.core], noc) != 0:
                fail(m, thread, Fault.LINKED_LEFT_OPEN, noc, 0, 0)
                return NO_EVENT
    launch = launches_of(m)[t.launch]
    launch.live -= 1
    if launch.live == 0:
        launch.ended = now
        done_of(m)[m.n_done] = t.launch
        m.n_done += 1
        m.stop = STOP_LAUNCH_DONE
    return NO_EVENT


@compiled()
def thread_event(m, thread, now):
    """Let the posted operation of a thread act; returns the cycle of the thread's next event, or NO_EVENT."""
    t = threads_of(m)[thread]
    t.in_event_heap = 0
    if due(t, now):
        time = act(m, thread, now)
    else:
        time = NO_EVENT if t.state == PARKED else t.event_at
    if time >= 0:
        t.event_at, t.in_event_heap, t.heap_at = time, 1, time
    return time


@compiled()
def act(m, thread, now):
    """An event of a thread; returns the cycle of its next one, or NO_EVENT."""
    t = threads_of(m)[thread]
    op = t.operation
    if op == OPERATION_EXECUTE:
        return advance(m, thread, now)
    if m.checker_at != 0 and call_model(m.checker_at, m.self_at, -1 - thread, now) != 0:
        return NO_EVENT
    if op == OPERATION_START:
        t.state, t.started = RUNNING, now
        t.issued = now
        return advance(m, thread, now)
    if op == OPERATION_END:
        return end_thread(m, thread, now)
    if op < FIRST_COMPUTE or op > LAST_COMPUTE:
        time = data_operation(m, thread, now)
        complete = t.phase == 0
        t.phase = 0
    else:
        time, complete = compute_operation(m, thread, now)
        if not complete and (op == Op.UNPACK_MATMUL or op == Op.MATH_MATMUL) and m.log_on == 0 and m.data_on == 0:
            return run_ahead(m, thread, time)
    if time < 0 or not complete:
        return time
    return advance(m, thread, time)


@compiled()
def run_events(m, limit, fuel):
    """`run` on this thread."""
    heap = event_heap_of(m)
    m.stop, m.limit = RUNNING_ON, limit
    while m.stop == RUNNING_ON:
        if m.event_heap_size == 0:
            m.stop = STOP_EMPTY
            break
        now = heap[0] >> event_heap.KEY_BITS
        if now > m.limit:  # a packet for another chip has lowered it, perhaps
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
        if (
            (m.log_on != 0 and m.log_capacity - m.n_log < MARGIN_LOG)
            or (m.record_on != 0 and m.noc_calls_capacity - m.n_noc_calls < MARGIN_LOG)
            or m.n_prints > m.prints_room
            or m.n_oddities > HALF
        ):
            m.stop = STOP_LOG
            break
        fuel -= 1
        m.now, instructions = now, m.instructions
        event = heap[1]
        key = heap[0] & ((1 << event_heap.KEY_BITS) - 1)
        if event >= 0:
            time = transaction_event(m, event, now)
        elif event > event_heap.CLOCK:
            time = thread_event(m, -1 - event, now)
        else:
            time = call_model(
                m.flit_model_at if event == event_heap.CLOCK else m.fabric_model_at, m.self_at, event, now
            )
        fuel -= (m.instructions - instructions) // INSTRUCTIONS_PER_FUEL
        # Whatever the event scheduled comes behind it, so it is still on top: one sift replaces or removes it.  The head
        # of a packet that meets nobody thus walks on at the price of two comparisons a hop.
        if time >= 0:
            event_heap.replace_top(heap, m.event_heap_size, event_heap.make_order(time, key), event)
        else:
            m.event_heap_size = event_heap.pop(heap, m.event_heap_size)
        if event <= event_heap.CLOCK or (event < 0 and threads_of(m)[-1 - event].operation == Op.SPEND):
            fuel -= 50


@compiled()
def run(machine, limit, fuel):
    """Run events up to and including cycle `limit`; see the module's text for `m.stop`.

    `limit` SERVE: do what other threads do (`serve`), with the address of the team in place of the machine's and the number of the
    thread in place of the fuel; DRAIN: `drain`, with the core there.  They are no entry points of their own because all need the
    code of the tile arithmetic.
    """
    if limit == SERVE:
        serve(machine, fuel)
        return
    m = machine_table(machine)[0]
    if limit == DRAIN:
        drain(m, fuel)
        return
    if m.team_at != 0:
        begin_team(m)
    run_events(m, limit, fuel)
    if m.team_at != 0:
        end_team(m)


@compiled()
def start_threads(machine, threads, times, count):
    """Schedule the first events of `count` prepared threads; `threads`, `times`: addresses of their indices and cycles, int64."""
    m = machine_table(machine)[0]
    for i in range(count):
        thread = load_i64(threads + 8 * i)
        t = threads_of(m)[thread]
        t.operation = OPERATION_START
        schedule_thread(m, thread, load_i64(times + 8 * i))


@compiled()
def l1_written(machine, core, address, size, time):
    """The host has written into the L1 of `core`: threads that poll a semaphore there see it at cycle `time`."""
    l1_changed(machine_table(machine)[0], core, address, size, time, -1)
