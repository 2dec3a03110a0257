"""The checker: looks at every operation before it acts, and at every packet before it changes memory.

The engine calls `check_event` by address, so an engine without checks is compiled without any of this.
"""

from tensim.sim.cores.checks.accesses import pack_accesses, unpack_accesses
from tensim.sim.cores.checks.circular_buffers import buffer_operation, check_unpack, configured
from tensim.sim.cores.checks.clocks import follow_core
from tensim.sim.cores.checks.compute import in_dst, packed, start_operands, start_result
from tensim.sim.cores.checks.configuration import (
    check_math_setup,
    check_pack_setup,
    check_unpack_setup,
    check_vector_setup,
    configure,
)
from tensim.sim.cores.checks.faults import Check
from tensim.sim.cores.checks.memory import check_load, l1_states, mark, mark_piece
from tensim.sim.cores.checks.order import post, settle
from tensim.sim.cores.checks.races import load, store
from tensim.sim.cores.checks.refused import refused
from tensim.sim.cores.checks.semaphores import check_semaphore
from tensim.sim.cores.checks.shadow import WRITTEN, shadow_of, thread_of
from tensim.sim.cores.checks.transfers import increment, inline_write, transaction, transfer
from tensim.sim.cores.checks.writes import check_end, check_overwritten
from tensim.sim.cores.circular_buffer import row_of
from tensim.sim.cores.operations import FIRST_UNPACK, LAST_UNPACK, Op
from tensim.sim.cores.slots import FIRST_COMPUTE_SLOT, MATH_SLOT, PACK_SLOT, THREADS_PER_CORE
from tensim.sim.cores.threads import OPERATION_END, OPERATION_START, argument, fail
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import lies_within
from tensim.sim.state import STOP_ERROR, circular_buffers_of, cores_of, machine_table, threads_of


@compiled()
def pack(m, s, thread):
    """A thread packs tiles: nobody may still write from the place."""
    t = threads_of(m)[thread]
    index, out, tiles = argument(t, 1), argument(t, 2), argument(t, 3)
    if not configured(m, t.core, index):
        return
    cb, row = circular_buffers_of(m), row_of(t.core, index)
    page = cb[row].page_size
    first = out if out >= 0 else cb[row].packed
    check_overwritten(m, s, thread, t.core, cb[row].write_ptr + first * page, tiles * page)


@compiled()
def local_access(m, s, thread):
    """A load or store of a core in its own L1."""
    t = threads_of(m)[thread]
    if t.operation == Op.STORE:
        check_semaphore(m, s, thread, t.core, argument(t, 0))
        check_overwritten(m, s, thread, t.core, argument(t, 0), argument(t, 2))
        if s.data != 0 and lies_within(argument(t, 0), argument(t, 2), m.l1_size):
            mark_piece(l1_states(m, s, t.core), argument(t, 0), argument(t, 2))
        store(m, s, thread)
        return
    if s.data != 0:
        check_load(m, s, thread, argument(t, 0), argument(t, 1))
    load(m, s, thread)


@compiled()
def check_dst(m, s, thread):
    """Refuse an end of the math and pack threads with a section of Dst that the pack thread has not given back."""
    t = threads_of(m)[thread]
    core, other = cores_of(m)[t.core], t.core * THREADS_PER_CORE + (MATH_SLOT + PACK_SLOT - t.slot)
    if thread_of(s, other).seen == -2 and core.dst_committed > core.dst_released:
        fail(m, thread, Check.DST_HELD, 0, 0, 0)


@compiled()
def operation(m, s, thread):
    """An operation that its thread has posted, once."""
    t = threads_of(m)[thread]
    op = t.operation
    post(m, s, thread)
    if Op.CB_RESERVE_BACK <= op <= Op.CB_PAGES_AVAILABLE:
        buffer_operation(m, s, thread)
    elif (Op.NOC_READ <= op <= Op.NOC_MULTICAST) or op == Op.NOC_READ_WITH_STATE or op == Op.NOC_WRITE_WITH_STATE:
        transfer(m, s, thread)
    elif op == Op.SEM_WAIT or op == Op.SEM_WAIT_MIN:
        check_semaphore(m, s, thread, t.core, argument(t, 0))
    elif op == Op.NOC_ATOMIC_INC:
        increment(m, s, thread)
    elif op == Op.NOC_INLINE_WRITE:
        inline_write(m, s, thread)
    elif op == Op.PACK:
        pack(m, s, thread)
        pack_accesses(m, s, thread)
    elif FIRST_UNPACK <= op <= LAST_UNPACK:
        check_unpack(m, s, thread)
        unpack_accesses(m, s, thread)
    elif op == Op.NOC_MULTICAST_INC:
        thread_of(s, thread).atomic_line = t.line


@compiled()
def setup(m, s, thread):
    """An operation of a compute thread, once: what it sets up, or needs."""
    op = threads_of(m)[thread].operation
    if op == Op.CONFIG:
        configure(m, s, thread)
    elif op == Op.PACK:
        check_pack_setup(m, s, thread)
    elif FIRST_UNPACK <= op <= LAST_UNPACK:
        check_unpack_setup(m, s, thread)
    elif Op.MATH_COPY <= op <= Op.MATH_REDUCE:
        check_math_setup(m, s, thread)
    elif op == Op.SFPU_UNARY or op == Op.SFPU_BINARY:
        check_vector_setup(m, s, thread)


@compiled()
def data(m, s, thread):
    """An event of an operation on tiles, of which some have several: what becomes of data that nobody wrote."""
    t = threads_of(m)[thread]
    op = t.operation
    if op <= LAST_UNPACK:
        start_operands(m, s, thread)
    elif op == Op.PACK:
        packed(m, s, thread)
    elif op <= Op.MATH_REDUCE:
        start_result(m, s, thread)
    else:
        in_dst(m, s, thread)


@compiled()
def pushed(m, s, thread):
    """A thread at the instruction level has pushed pages: they are written.  What it does else is not followed."""
    t, cb = threads_of(m)[thread], circular_buffers_of(m)
    row = row_of(t.core, argument(t, 0))
    start, size = cb[row].write_ptr, argument(t, 1) * cb[row].page_size
    behind = max(start + size - cb[row].base - cb[row].size, 0)
    mark(l1_states(m, s, t.core), start, size - behind, WRITTEN)
    if behind > 0:
        mark(l1_states(m, s, t.core), cb[row].base, behind, WRITTEN)


@compiled()
def check_event(machine, event, now):
    """An event of a thread (-1 - thread) or a transaction; returns 1 when it must not act."""
    m = machine_table(machine)[0]
    if event >= 0:
        transaction(m, event)
        return 0
    thread = -1 - event
    t, s = threads_of(m)[thread], shadow_of(m)
    mine, op = thread_of(s, thread), t.operation
    if t.executes != 0:
        if s.data != 0 and op == Op.CB_PUSH_BACK:
            pushed(m, s, thread)
        return 0
    if mine.waits != 0 and (op != mine.waits or mine.seen != t.operations):
        settle(m, s, thread)
    if op == OPERATION_START:
        mine.seen, mine.n_writes, mine.waits = -1, 0, 0
    elif op == OPERATION_END:
        if t.slot < FIRST_COMPUTE_SLOT and mine.seen != -2:
            check_end(m, s, thread)
        mine.seen = -2
        if t.slot == MATH_SLOT or t.slot == PACK_SLOT:
            check_dst(m, s, thread)
    elif op == Op.STORE or op == Op.LOAD:  # those of RISC-V cores are not counted; none is tried twice
        local_access(m, s, thread)
    elif op == Op.SPEND:
        if t.riscv != 0:  # it may look at the counters of a circular buffer
            follow_core(s, thread, t.core)
    elif refused(m, t):
        return 0
    elif mine.seen != t.operations:
        mine.seen = t.operations
        operation(m, s, thread)
        if s.data != 0:
            setup(m, s, thread)
    if s.data != 0 and FIRST_UNPACK <= op <= Op.PACK:
        data(m, s, thread)
    return 1 if m.stop == STOP_ERROR else 0
