"""Vector clocks: what a thread knows of the others, for "happens before".

Every thread counts, with its `clock`, what may order others behind it: a push, a pop, a store, a call of the NoC.  Its row of
clocks says up to which count of each other thread everything came before what it does now.  A core has a lane per thread and
one per data-movement thread for what that one has sent to the NoC: a write or the data of a read act at some time behind their
call, and only a barrier or an answer says that they have.  So what a thread does at clock c is known to those whose row has at
least c in its lane.

What a thread does itself is known exactly: up to the push that was waited for, not up to a later one that happens to be there.
What it knows of third ones is taken over as it is at that moment: so a race may be missed, never made up.
"""

from tensim.sim.cores.checks.shadow import (
    END,
    LANES,
    MAX_ENDS,
    MAX_STEPS,
    MAX_WORDS,
    STEP,
    buffer_of,
    clock_table,
    end_table,
    step_table,
    thread_of,
    words_table,
)
from tensim.sim.cores.slots import FIRST_COMPUTE_SLOT, THREADS_PER_CORE
from tensim.sim.engine.compiled import Intrinsic, cgutils, compiled, ir, types
from tensim.sim.engine.limits import N_CIRCULAR_BUFFERS, N_SEMAPHORES
from tensim.sim.state import threads_of

STRIDE = 16  # bytes from one semaphore to the next
VECTOR = 8  # clocks; rows are as long as a multiple of it
STEP_BYTES, END_BYTES = STEP.itemsize, END.itemsize
PROBES = 16  # places of the table of words that are looked at


@Intrinsic
def join(typingctx, target, source, size):
    """Raise the clocks in `size` bytes at a host address to those at another one; returns whether any was lower."""

    def codegen(context, builder, signature, args):
        word, lanes = ir.IntType(64), ir.VectorType(ir.IntType(32), VECTOR)
        changed = cgutils.alloca_once_value(builder, ir.Constant(lanes, [0] * VECTOR))
        count = builder.udiv(args[2], ir.Constant(word, 4 * VECTOR))
        with cgutils.for_range(builder, count) as loop:
            offset = builder.mul(loop.index, ir.Constant(word, 4 * VECTOR))
            to, of = (builder.inttoptr(builder.add(at, offset), lanes.as_pointer()) for at in args[:2])
            old, new = builder.load(to, align=4), builder.load(of, align=4)
            most = builder.select(builder.icmp_signed(">", new, old), new, old)
            builder.store(most, to, align=4)
            builder.store(builder.or_(builder.load(changed), builder.xor(most, old)), changed)
        whole = ir.IntType(32 * VECTOR)
        differs = builder.icmp_unsigned("!=", builder.bitcast(builder.load(changed), whole), ir.Constant(whole, 0))
        return builder.zext(differs, word)

    return types.int64(types.int64, types.int64, types.int64), codegen


@compiled(inline="always")
def lane_of(thread):
    """Lane of what a thread does itself."""
    return thread // THREADS_PER_CORE * LANES + thread % THREADS_PER_CORE


@compiled(inline="always")
def noc_lane_of(thread):
    """Lane of what a data-movement thread has sent to the NoC."""
    return lane_of(thread) + THREADS_PER_CORE


@compiled(inline="always")
def thread_at(lane):
    """The thread that a lane belongs to."""
    slot = lane % LANES
    return lane // LANES * THREADS_PER_CORE + (slot if slot < THREADS_PER_CORE else slot - THREADS_PER_CORE)


@compiled(inline="always")
def row_at(s, thread):
    """Host address of the clocks that a thread knows."""
    return s.clocks_at + thread * s.clock_bytes


@compiled()
def changed(s, thread):
    """What a thread knows of other cores has changed."""
    s.versions += 1
    thread_of(s, thread).version = s.versions


# --- what a thread does itself


@compiled(inline="always")
def step_at(s, thread, clock):
    """What a data-movement thread did when its clock stood there."""
    number = (thread // THREADS_PER_CORE * FIRST_COMPUTE_SLOT + thread % THREADS_PER_CORE) * MAX_STEPS
    return step_table(s.steps_at + (number + clock % MAX_STEPS) * STEP_BYTES)[0]


@compiled()
def tick(m, s, thread):
    """A thread does something that others may be ordered behind; returns the clock of all it has done so far."""
    mine, t = thread_of(s, thread), threads_of(m)[thread]
    clock = mine.clock
    mine.clock = clock + 1
    if t.slot < FIRST_COMPUTE_SLOT:
        step = step_at(s, thread, clock)
        step.cycle, step.line = m.now, t.line
    return clock


@compiled()
def call_at(s, thread, cycle):
    """(clock, row of the lines) of the call of the NoC that was under way in a cycle, (0, -1) when it is forgotten."""
    mine = thread_of(s, thread)
    first = max(mine.first, mine.clock - MAX_STEPS)
    low, high = first, mine.clock
    while low < high:
        middle = (low + high) // 2
        if step_at(s, thread, middle).cycle <= cycle:
            low = middle + 1
        else:
            high = middle
    if low == first:
        return 0, -1
    return low - 1, step_at(s, thread, low - 1).line


# --- threads behind threads


@compiled()
def follow(s, thread, other, clock, landed):
    """All that `other` did up to `clock`, and what it sent to the NoC up to `landed`, comes before what `thread` does now."""
    row, lane = clock_table(row_at(s, thread)), lane_of(other)
    if row[lane] >= clock and (landed == 0 or row[lane + THREADS_PER_CORE] >= landed):
        return
    row[lane] = max(row[lane], clock)
    if landed > 0:
        row[lane + THREADS_PER_CORE] = max(row[lane + THREADS_PER_CORE], landed)
    if thread // THREADS_PER_CORE == other // THREADS_PER_CORE:
        first, theirs = lane // LANES * LANES, clock_table(row_at(s, other))
        for i in range(first, first + LANES):
            row[i] = max(row[i], theirs[i])
        merged, version = words_table(thread_of(s, thread).merged_at), thread_of(s, other).version
        if merged[other % THREADS_PER_CORE] == version:
            return
        merged[other % THREADS_PER_CORE] = version
    if join(row_at(s, thread), row_at(s, other), s.clock_bytes) != 0:
        changed(s, thread)


@compiled()
def follow_all(s, thread):
    """Everything so far comes before what a thread does now: nobody knows any more what it waited for."""
    row = clock_table(row_at(s, thread))
    for other in range(s.n_cores * THREADS_PER_CORE):
        if other != thread:
            clock, lane = thread_of(s, other).clock, lane_of(other)
            row[lane] = clock
            if other % THREADS_PER_CORE < FIRST_COMPUTE_SLOT:
                row[lane + THREADS_PER_CORE] = clock
    changed(s, thread)


@compiled(inline="always")
def ends_of(s, core, index, popped):
    """The last pushes, or pops, of a circular buffer."""
    return end_table(s.ends_at + (2 * (core * N_CIRCULAR_BUFFERS + index) + popped) * MAX_ENDS * END_BYTES)


@compiled()
def note_end(m, s, thread, core, index, popped, pages):
    """A thread pushes or, `popped` 1, pops; `pages`: of all such calls so far."""
    b, mine = buffer_of(s, core, index), thread_of(s, thread)
    number = b.pops if popped else b.pushes
    end = ends_of(s, core, index, popped)[number % MAX_ENDS]
    mine.ended = tick(m, s, thread)
    end.pages, end.thread, end.clock = pages, thread, mine.ended
    if popped:
        b.pops = number + 1
    else:
        b.pushes = number + 1


@compiled()
def follow_ends(s, thread, core, index, popped, pages):
    """A thread has waited until `pages` were pushed, or popped: what came later is not known to it, even if it is there."""
    b, ends = buffer_of(s, core, index), ends_of(s, core, index, popped)
    number = b.pops if popped else b.pushes
    if pages <= 0:
        return
    for i in range(max(number - MAX_ENDS, 0), number):
        end = ends[i % MAX_ENDS]
        if end.thread != thread:
            follow(s, thread, end.thread, end.clock, 0)
        if end.pages >= pages:
            return


@compiled()
def follow_core(s, thread, core):
    """A thread has looked at counters of circular buffers of its core: all pushes and pops come before what it does now."""
    for other in range(core * THREADS_PER_CORE, (core + 1) * THREADS_PER_CORE):
        clock = thread_of(s, other).ended
        if clock > 0 and other != thread:
            follow(s, thread, other, clock, 0)


# --- words that synchronise


@compiled()
def signal_at(s, core, address, make):
    """Host address of the clocks that come with a word: a semaphore, or one that is counted or waited for; 0 for others."""
    place = address - s.semaphore_base
    if 0 <= place < N_SEMAPHORES * STRIDE and place % STRIDE < 4:
        return s.signals_at + (MAX_WORDS + core * N_SEMAPHORES + place // STRIDE) * s.clock_bytes
    if s.n_words == 0 and not make:
        return 0
    words, key = words_table(s.words_at), (core + 1) << 32 | address >> 2
    for i in range(PROBES):
        at = ((address >> 2) * 31 + core * 7 + i) % MAX_WORDS
        if words[at] == key:
            return s.signals_at + at * s.clock_bytes
        if words[at] == 0:
            if not make:
                return 0
            words[at] = key
            s.n_words += 1
            return s.signals_at + at * s.clock_bytes
    return 0


@compiled()
def signal(s, row, thread, clock, landed):
    """What a thread did up to `clock`, and sent up to `landed`, comes before whoever waits for a word with the clocks `row`."""
    clocks, lane = clock_table(row), lane_of(thread)
    join(row, row_at(s, thread), s.clock_bytes)
    clocks[lane] = max(clocks[lane], clock)
    if landed > 0:
        clocks[lane + THREADS_PER_CORE] = max(clocks[lane + THREADS_PER_CORE], landed)
