"""NoC writes until their source is free: their bytes have arrived, or their thread has waited for a flush or a barrier.

What happens because a write has arrived (a semaphore, an answer) can only come after that, so a use of the source that is
ordered in any way is never refused.  Words that a call carries itself are listed for the end of the kernel alone.
"""

from tensim.sim.cores.checks.faults import Check
from tensim.sim.cores.checks.memory import sent_state
from tensim.sim.cores.checks.shadow import (
    LEFT,
    MAX_WRITES,
    MIXED,
    NO_SOURCE,
    THERE,
    TOLD,
    WRITTEN,
    thread_of,
    writes_of,
)
from tensim.sim.cores.operations import Barrier
from tensim.sim.cores.slots import FIRST_COMPUTE_SLOT, THREADS_PER_CORE
from tensim.sim.cores.threads import fail
from tensim.sim.engine.compiled import compiled
from tensim.sim.state import STOP_ERROR, noc_counters_of, threads_of


@compiled()
def copy_write(target, source):
    """Copy a record of the list."""
    target.start, target.end, target.packets, target.noc = source.start, source.end, source.packets, source.noc
    target.trid, target.posted, target.line = source.trid, source.posted, source.line
    target.state, target.free, target.target = source.state, source.free, source.target
    target.area, target.unwritten = source.area, source.unwritten


@compiled()
def drop_write(s, thread, i):
    """Take an entry off a thread's list."""
    mine, writes = thread_of(s, thread), writes_of(s, thread)
    mine.n_writes -= 1
    for j in range(i, mine.n_writes):
        copy_write(writes[j], writes[j + 1])


@compiled()
def note_write(m, s, thread, start, size, noc, trid, posted, target, area, targets):
    """A write to a tile, or to `targets` ones of an `area` with `target` -1, is issued."""
    state, unwritten = WRITTEN, WRITTEN
    if s.data != 0:
        state, unwritten = sent_state(m, s, thread, start, size)
    packets = (size + m.max_packet - 1) // m.max_packet * targets
    w = entry(m, s, thread, start, start + size, noc, trid, posted, target, area)
    if w.packets > 0:
        state, unwritten = (state if state == w.state else MIXED), max(unwritten, w.unwritten)
    w.packets, w.state, w.unwritten = w.packets + packets, state, unwritten


@compiled()
def note_word(m, s, thread, noc, posted, target):
    """A word that the call carries itself is written to a tile."""
    w = entry(m, s, thread, NO_SOURCE, NO_SOURCE, noc, -1, posted, target, 0)
    w.packets += 1


@compiled()
def entry(m, s, thread, start, end, noc, trid, posted, target, area):
    """The entry of a thread's list for a write that it issues now: a new one without packets, or that of the same before."""
    mine, writes, line = thread_of(s, thread), writes_of(s, thread), threads_of(m)[thread].line
    for i in range(mine.n_writes):
        w = writes[i]
        same = w.start == start and w.end == end and w.target == target and w.area == area
        if same and w.noc == noc and w.trid == trid and w.posted == posted:
            w.line, w.free = line, 0
            return w
    if mine.n_writes == MAX_WRITES:
        drop_write(s, thread, 0)
    w = writes[mine.n_writes]
    w.start, w.end, w.packets, w.noc, w.trid, w.posted, w.line = start, end, 0, noc, trid, posted, line
    w.free, w.target, w.area = 0, target, area
    mine.n_writes += 1
    return w


@compiled()
def arrived(s, thread, local, noc, target):
    """A packet with L1 bytes from `local` on has arrived: (line of its call, their state, that of what nobody has written)."""
    mine, writes = thread_of(s, thread), writes_of(s, thread)
    for i in range(mine.n_writes):
        w = writes[i]
        if w.noc == noc and w.start <= local < w.end and (w.target == target or w.target < 0):
            line, state, unwritten = w.line, w.state, w.unwritten
            one_less(s, thread, i)
            return line, state, unwritten
    return -1, WRITTEN, WRITTEN


@compiled()
def word_arrived(s, thread, noc, target):
    """A word that its call carried has arrived."""
    mine, writes = thread_of(s, thread), writes_of(s, thread)
    for i in range(mine.n_writes):
        if writes[i].start == NO_SOURCE and writes[i].noc == noc and writes[i].target == target:
            one_less(s, thread, i)
            return


@compiled()
def one_less(s, thread, i):
    """A packet of an entry has arrived: behind the last one it is forgotten."""
    w = writes_of(s, thread)[i]
    w.packets -= 1
    if w.packets <= 0:
        drop_write(s, thread, i)


@compiled(inline="always")
def area_of(x0, y0, x1, y1):
    """A rectangle of tiles, whichever corner comes first."""
    return min(x0, x1) << 24 | min(y0, y1) << 16 | max(x0, x1) << 8 | max(y0, y1)


@compiled()
def reaches(m, w, target):
    """Whether a write goes to a tile."""
    if w.area == TOLD or w.target >= 0:
        return w.area != TOLD and w.target == target
    x, y = target % m.grid_width, target // m.grid_width
    return w.area >> 24 <= x <= w.area >> 8 & 255 and w.area >> 16 & 255 <= y <= w.area & 255


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
def told(s, thread, target, area, noc):
    """A word that synchronises is written behind what the thread has written to the same place over the same NoC."""
    mine, writes = thread_of(s, thread), writes_of(s, thread)
    for i in range(mine.n_writes):
        w = writes[i]
        if w.noc == noc and w.target == target and w.area == area:
            w.area = TOLD


@compiled()
def check_signal(m, s, thread, target, ordered_noc):
    """Refuse to change a semaphore of a tile while data that the thread wrote there may still be on their way.

    `ordered_noc`: on which they cannot be overtaken; -1: on none, which an increment overtakes.
    """
    mine, writes = thread_of(s, thread), writes_of(s, thread)
    for i in range(mine.n_writes):
        w = writes[i]
        on_its_way = w.noc != ordered_noc and w.free != THERE and w.posted == 0 and w.start != NO_SOURCE
        if on_its_way and reaches(m, w, target):
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
    mine = thread_of(s, thread)
    for noc in range(2):
        counters = noc_counters_of(m, thread, noc)
        if counters.reads_out > 0:
            s.line = mine.read_line
            fail(m, thread, Check.READS_AT_END, counters.reads_out, 0, 0)
    for i in range(mine.n_writes):
        w = writes_of(s, thread)[i]
        if w.free == 0 and m.stop != STOP_ERROR:
            s.line = w.line
            fail(m, thread, Check.WRITES_AT_END, w.packets, 0, 0)
    for noc in range(2):
        atomics = noc_counters_of(m, thread, noc).atomics_out
        if atomics > 0 and m.stop != STOP_ERROR:
            s.line = mine.atomic_line
            fail(m, thread, Check.ATOMICS_AT_END, atomics, 0, 0)
