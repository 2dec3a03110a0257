"""Block products run ahead of the event heap: unpack and math hand source banks to and fro without an event for each.

While both threads of a core are inside a block product they touch nothing but their two source banks (and Dst, which the
math thread owns until it commits), so nobody else can tell when their steps are simulated.  `run_ahead` takes these
steps in the order and at the cycles of their events, block after block, until one of the threads comes to an
operation of another kind, which happens at its own time.  Entries that the event heap still holds for the two are early by
then; `threads.due` puts them off.

With checks it ends behind the first operation that completes: the checker looks at every operation once, at the event with
which it begins, and at none of its later steps when there are no data.

It does so for timing only (data is read at its time), and for products in which nothing can go wrong: whatever `runs`
refuses goes through `tensix.unpack` and `tensix.math` event by event, whose rules `step_to_completion` follows.
"""

from tensim.sim.cores.circular_buffer import row_of
from tensim.sim.cores.numerics.tile import TILE_DATUMS, TILE_SIDE
from tensim.sim.cores.numerics.unpacker import format_kind
from tensim.sim.cores.operations import Op
from tensim.sim.cores.slots import MATH_SLOT, THREADS_PER_CORE, UNPACK_SLOT
from tensim.sim.cores.tensix.math import math, matmul_instructions, matmul_overhead
from tensim.sim.cores.tensix.source_banks import SOURCE_BANKS
from tensim.sim.cores.tensix.unpack import held, hold_of, matmul_reads, tile_width, unpack, unpack_product
from tensim.sim.cores.threads import advance, argument, charge, charge_stall, schedule_thread
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.limits import N_CIRCULAR_BUFFERS
from tensim.sim.state import (
    PARKED,
    RUNNING,
    STOP_ERROR,
    WAIT_SOURCE_FREE,
    WAIT_SOURCE_READY,
    circular_buffers_of,
    cores_of,
    threads_of,
)

MAX_BLOCKS = 64  # of one call, so that the host can interrupt a kernel that does nothing else
PARKED_AT = 1 << 62  # "next event" of a thread that waits for the other one


@compiled(inline="always")
def multiplies(t, operation, wait):
    """Whether a thread is inside a block product and not stopped by anything but the source banks."""
    return t.operation == operation and (t.state == RUNNING or (t.state == PARKED and t.wait == wait))


@compiled()
def holds(m, core, index, first, last):
    """Whether a circular buffer has both tiles, so that `tensix.tile_row` finds no fault there or between."""
    if not 0 <= index < N_CIRCULAR_BUFFERS or min(first, last) < 0:
        return False
    cb, row = circular_buffers_of(m), row_of(core, index)
    page, end = cb[row].page_size, cb[row].base + cb[row].size
    fits = cb[row].pages != 0 and page >= cb[row].tile_size
    return fits and cb[row].read_ptr + (min(max(first, last), m.l1_size) + 1) * page <= end


@compiled()
def runs(m, a, b):
    """Whether both threads are inside block products in which no step can fail and all cost the same."""
    if not (multiplies(a, Op.UNPACK_MATMUL, WAIT_SOURCE_FREE) and multiplies(b, Op.MATH_MATMUL, WAIT_SOURCE_READY)):
        return False
    ct, rt, kt, tile0, tile1 = argument(a, 4), argument(a, 5), argument(a, 6), argument(a, 2), argument(a, 3)
    in0, in1 = argument(a, 0), argument(a, 1)
    if ct <= 0 or rt <= 0 or not holds(m, a.core, in0, tile0, tile0 + (rt - 1) * kt):
        return False
    if not holds(m, a.core, in1, tile1, tile1 + ct - 1):
        return False
    cb, core = circular_buffers_of(m), cores_of(m)[a.core]
    row0, row1 = row_of(a.core, in0), row_of(a.core, in1)
    if format_kind(cb[row0].format) != format_kind(cb[row1].format):
        return False
    target, tiles = argument(b, 0), argument(b, 1) * argument(b, 2)
    fits = argument(b, 1) > 0 and tiles > 0 and target >= 0 and target + tiles <= core.capacity
    return fits and core.dst_acquired > core.dst_committed and core.source_rows == cb[row0].tile_hw // TILE_SIDE


@compiled()
def unpack_costs(m, a):
    """Of a posted block: (its products, steps from one change of the kept operand to the next, cycles (1/1024) for which the
    step that brings two tiles reads L1, those of them that it may while it waits, those of a step that brings one tile, the
    least cost of a step)."""
    ct, rt = argument(a, 4), argument(a, 5)
    row0, row1 = row_of(a.core, argument(a, 0)), row_of(a.core, argument(a, 1))
    pair, single, early = matmul_reads(m, row0, row1, ct, rt)
    return ct * rt, max(ct, rt), pair, early, single, max(single, tile_width(m, row0), tile_width(m, row1))


@compiled()
def put_back(m, thread, at, phase, step, fraction, since, wait, busy, stalled):
    """Write a thread's state after its steps into its record, and count their cycles."""
    t = threads_of(m)[thread]
    t.phase, t.step, t.fraction = phase, step, fraction
    charge(m, thread, 0, busy)
    charge_stall(m, thread, wait, 0, stalled)
    if at == PARKED_AT:
        t.state, t.wait, t.wait_a, t.wait_b, t.wait_c, t.wait_since = PARKED, wait, 0, 0, 0, since
    else:
        t.state, t.event_at = RUNNING, at


@compiled()
def step_to_completion(m, unpacker, multiplier):
    """All steps of both threads up to the first that would complete an operation, as `unpack` and `math` take them.

    Times are cycles, costs 1/1024 cycles (`tensix.spend`).  Of two steps in one cycle the unpack thread's comes first, as in
    the event heap.  Both never wait at once: unpack does with both banks started, math with none filled and not taken.
    Returns whether it is the unpack operation that ends.
    """
    a, b, core = threads_of(m)[unpacker], threads_of(m)[multiplier], cores_of(m)[threads_of(m)[unpacker].core]
    a_ready = a.began if a.count != 0 else a.event_at
    a.count, kept, pair, most, single, least = unpack_costs(m, a)
    a_phase, a_step, a_fraction, a_busy, a_stall = a.phase, a.step, a.fraction, 0, 0
    a_at, a_since = (a.event_at, 0) if a.state == RUNNING else (PARKED_AT, a.wait_since)
    a_count, column = a.count, a_step % kept
    if b.count == 0:
        b.began = b.event_at
    b.count = b_count = argument(b, 1) * argument(b, 2)
    instructions, hold = matmul_instructions(m, core), hold_of(core, argument(a, 4), argument(a, 5))
    product = instructions * m.mvmul_cycles
    b_phase, b_step, b_fraction, b_busy, b_stall = b.phase, b.step, b.fraction, 0, 0
    b_at, b_since = (b.event_at, 0) if b.state == RUNNING else (PARKED_AT, b.wait_since)
    started, filled, taken, released = core.src_started, core.src_filled, core.src_taken, core.src_released
    calls = core.product_calls
    while True:
        if a_at <= b_at:
            if a_phase == 1:
                if a_step + 1 == a_count:
                    break
                a_phase, a_step, column, filled = 0, a_step + 1, column + 1, filled + 1
                a_ready = a_at
                if column == kept:
                    column = 0
                if b_at == PARKED_AT:
                    b_stall, b_at = b_stall + a_at - b_since, a_at + 1
            if started - released >= SOURCE_BANKS:
                a_since, a_at = a_at, PARKED_AT
            else:
                read = pair if column == 0 else single
                early = min((a_at - a_ready) * 1024, most) if column == 0 else 0
                total, hold = unpack_product(read, hold, early, least) + a_fraction, hold - held(read, hold)
                cycles = max(total >> 10, 1)
                a_phase, a_fraction, started = 1, total & 1023, started + 1
                a_busy, a_at = a_busy + cycles, a_at + cycles
        else:
            if b_phase == 1:
                if b_step + 1 == b_count:
                    break
                b_phase, b_step, released = 0, b_step + 1, released + 1
                if a_at == PARKED_AT:
                    a_stall, a_at = a_stall + b_at - a_since, b_at + 1
            if filled <= taken:
                b_since, b_at = b_at, PARKED_AT
            else:
                total = product + b_fraction
                if b_step == 0:
                    total, calls = total + matmul_overhead(m, b_count, b_at - b.began), calls + 1
                cycles = max(total >> 10, 1)
                b_phase, b_fraction, taken = 1, total & 1023, taken + 1
                b_busy, b_at = b_busy + cycles, b_at + cycles
    products = taken - core.src_taken
    if calls > core.product_calls:
        core.product_tiles = max(core.product_tiles, argument(b, 0) + b_count)
    core.products, core.product_calls, core.unpack_hold = core.products + products, calls, hold
    core.flops += products * 2 * TILE_SIDE * TILE_DATUMS
    core.fpu_busy += products * instructions
    core.src_started, core.src_filled, core.src_taken, core.src_released = started, filled, taken, released
    a.began = a_ready
    put_back(m, unpacker, a_at, a_phase, a_step, a_fraction, a_since, WAIT_SOURCE_FREE, a_busy, a_stall)
    put_back(m, multiplier, b_at, b_phase, b_step, b_fraction, b_since, WAIT_SOURCE_READY, b_busy, b_stall)
    return a_at <= b_at


@compiled()
def run_ahead(m, thread, time):
    """After a step of `thread`, whose next event is at `time` (-1: parked or failed): go on with both threads of the product.

    Returns the thread's next event, or -1.
    """
    if m.stop == STOP_ERROR:
        return -1
    core = threads_of(m)[thread].core
    unpacker, multiplier = core * THREADS_PER_CORE + UNPACK_SLOT, core * THREADS_PER_CORE + MATH_SLOT
    me, other = threads_of(m)[thread], threads_of(m)[unpacker + multiplier - thread]
    a, b = threads_of(m)[unpacker], threads_of(m)[multiplier]
    if not runs(m, a, b):
        return time
    me.in_event_heap, me.event_at = 1, time  # its entry is on top until this event is over
    now = m.now
    for _ in range(MAX_BLOCKS):
        unpack_ends = step_to_completion(m, unpacker, multiplier)
        m.now = a.event_at if unpack_ends else b.event_at  # the time of a fault
        if unpack_ends:
            end, _ = unpack(m, unpacker, m.now)
            a.event_at = advance(m, unpacker, end)
        else:
            end, _ = math(m, multiplier, m.now)
            b.event_at = advance(m, multiplier, end)
        if m.stop == STOP_ERROR:
            return -1
        if m.checker_at != 0 or not runs(m, a, b):  # the checker looks at each operation when it begins
            break
    m.now = now
    me.in_event_heap = 0
    if other.state == RUNNING:
        schedule_thread(m, unpacker + multiplier - thread, other.event_at)
    return me.event_at if me.state == RUNNING else -1
