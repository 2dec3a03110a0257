"""NoC writes until their source is free: their bytes have arrived, or their thread has waited for a flush or a barrier.

What happens because a write has arrived (a semaphore, an answer) can only come after that, so a use of the source that is
ordered in any way is never refused.
"""

from tensim.sim.cores.checks.faults import Check
from tensim.sim.cores.checks.memory import MIXED, WRITTEN, common_state, l1_states
from tensim.sim.cores.checks.shadow import LEFT, MAX_WRITES, THERE, thread_of, writes_of
from tensim.sim.cores.operations import Barrier
from tensim.sim.cores.slots import FIRST_COMPUTE_SLOT, THREADS_PER_CORE
from tensim.sim.cores.threads import fail
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.state import NOC_WORDS, READS_OUT, STOP_ERROR, noc_words_of, threads_of


@compiled()
def copy_write(target, source):
    """Copy a record of the list."""
    target.start, target.end, target.packets, target.noc = source.start, source.end, source.packets, source.noc
    target.trid, target.posted, target.line = source.trid, source.posted, source.line
    target.state, target.free, target.target = source.state, source.free, source.target


@compiled()
def drop_write(s, thread, i):
    """Take an entry off a thread's list."""
    mine, writes = thread_of(s, thread), writes_of(s, thread)
    mine.n_writes -= 1
    for j in range(i, mine.n_writes):
        copy_write(writes[j], writes[j + 1])


@compiled()
def note_write(m, s, thread, start, size, noc, trid, posted, target, targets):
    """A write to a tile, or to `targets` ones with `target` -1, is issued."""
    t = threads_of(m)[thread]
    state = common_state(l1_states(m, s, t.core), start, size) if s.data != 0 else WRITTEN
    mine, writes = thread_of(s, thread), writes_of(s, thread)
    packets = (size + m.max_packet - 1) // m.max_packet * targets
    line = t.line
    for i in range(mine.n_writes):
        w = writes[i]
        same = w.start == start and w.end == start + size and w.target == target
        if same and w.noc == noc and w.trid == trid and w.posted == posted:
            w.packets, w.line, w.free = w.packets + packets, line, 0
            w.state = state if state == w.state else MIXED
            return
    if mine.n_writes == MAX_WRITES:
        drop_write(s, thread, 0)
    w = writes[mine.n_writes]
    w.start, w.end, w.packets, w.noc, w.trid, w.posted, w.line = start, start + size, packets, noc, trid, posted, line
    w.state, w.free, w.target = state, 0, target
    mine.n_writes += 1


@compiled()
def arrived(s, thread, local, noc, target):
    """A packet with L1 bytes from `local` on has arrived: (line of its call, their state), (-1, WRITTEN) when forgotten."""
    mine, writes = thread_of(s, thread), writes_of(s, thread)
    for i in range(mine.n_writes):
        w = writes[i]
        if w.noc == noc and w.start <= local < w.end and (w.target == target or w.target < 0):
            line, state = w.line, w.state
            w.packets -= 1
            if w.packets <= 0:
                drop_write(s, thread, i)
            return line, state
    return -1, WRITTEN


@compiled()
def flushed(s, thread, kind, noc, trid):
    """A barrier of a thread is over: the sources of writes that it covers are free."""
    mine, writes = thread_of(s, thread), writes_of(s, thread)
    for i in range(mine.n_writes):
        w = writes[i]
        free = kind == Barrier.FULL
        if kind == Barrier.WRITE or kind == Barrier.WRITES_FLUSHED:
            free = w.posted == 0
        elif kind == Barrier.POSTED_WRITES_FLUSHED:
            free = w.posted != 0
        elif kind == Barrier.WRITE_TRID or kind == Barrier.WRITE_FLUSHED_TRID:
            free = w.trid == trid
        if free and w.noc == noc:
            there = kind == Barrier.FULL or kind == Barrier.WRITE or kind == Barrier.WRITE_TRID
            w.free = THERE if there else max(w.free, LEFT)


@compiled()
def check_signal(m, s, thread, target, ordered_noc):
    """Refuse to change a semaphore of a tile while data that the thread wrote there may still be on their way.

    `ordered_noc`: on which they cannot be overtaken; -1: on none, which an increment overtakes.
    """
    mine, writes = thread_of(s, thread), writes_of(s, thread)
    for i in range(mine.n_writes):
        w = writes[i]
        if w.target == target and w.noc != ordered_noc and w.free != THERE and w.posted == 0:
            s.other, s.other_line = thread, writes[i].line
            fail(m, thread, Check.SIGNAL_BEFORE_DATA, writes[i].start, 0, 0)
            return


@compiled()
def write_from(s, thread, start, size):
    """Number of a thread's entry that reads one of the bytes, or -1."""
    mine, writes = thread_of(s, thread), writes_of(s, thread)
    for i in range(mine.n_writes):
        if writes[i].free == 0 and writes[i].start < start + size and start < writes[i].end:
            return i
    return -1


@compiled()
def check_popped(m, s, thread, index, start, size):
    """Refuse to pop pages from which the same thread still writes."""
    i = write_from(s, thread, start, size)
    if i >= 0:
        s.other, s.other_line = thread, writes_of(s, thread)[i].line
        fail(m, thread, Check.SOURCE_POPPED, index, writes_of(s, thread)[i].start, 0)


@compiled()
def check_overwritten(m, s, thread, core, start, size):
    """Refuse to change L1 bytes of `core` from which a thread still writes."""
    for slot in range(FIRST_COMPUTE_SLOT):
        writer = core * THREADS_PER_CORE + slot
        i = write_from(s, writer, start, size)
        if i >= 0:
            s.other, s.other_line = writer, writes_of(s, writer)[i].line
            fail(m, thread, Check.SOURCE_OVERWRITTEN, start, size, writes_of(s, writer)[i].start)
            return


@compiled()
def check_end(m, s, thread):
    """Refuse a kernel that ends with its own transfers under way: of a write, its bytes must have left, as a flush says."""
    words, mine = noc_words_of(m), thread_of(s, thread)
    for noc in range(2):
        base = thread * NOC_WORDS + 64 * noc
        if words[base + READS_OUT] > 0:
            s.line = mine.read_line
            fail(m, thread, Check.READS_AT_END, words[base + READS_OUT], 0, 0)
    for i in range(mine.n_writes):
        w = writes_of(s, thread)[i]
        if w.free == 0 and m.stop != STOP_ERROR:
            s.line = w.line
            fail(m, thread, Check.WRITES_AT_END, w.packets, 0, 0)
