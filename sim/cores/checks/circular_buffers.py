"""Circular buffers: pages are waited for before they are read, reserved before they are filled, one thread per end."""

from tensim.sim.cores.checks.clocks import ends_of
from tensim.sim.cores.checks.faults import Check
from tensim.sim.cores.checks.memory import first_use
from tensim.sim.cores.checks.shadow import MAX_ENDS, SEVERAL, buffer_of, configured_of
from tensim.sim.cores.checks.sharing import check_sharing
from tensim.sim.cores.checks.writes import check_popped
from tensim.sim.cores.circular_buffer import pointers_of, row_of, write_pointer
from tensim.sim.cores.operations import Op
from tensim.sim.cores.threads import argument, fail
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.limits import N_CIRCULAR_BUFFERS
from tensim.sim.state import circular_buffer_words, circular_buffers_of, threads_of


@compiled()
def configured(m, core, index):
    """Whether a circular buffer exists; the engine refuses the use of others."""
    return 0 <= index < N_CIRCULAR_BUFFERS and circular_buffers_of(m)[row_of(core, index)].pages != 0


@compiled()
def buffer_operation(m, s, thread):
    """A thread reserves, pushes, waits, pops or asks."""
    t = threads_of(m)[thread]
    index, pages = argument(t, 0), argument(t, 1)
    if not configured(m, t.core, index):
        return
    cb, row, b = circular_buffers_of(m), row_of(t.core, index), buffer_of(s, t.core, index)
    op = t.operation
    available = cb[row].received - cb[row].acked
    if b.used == 0:
        b.used = 1
        if s.data != 0 and b.tensor == 0:
            first_use(m, s, t.core, index)
    if op == Op.CB_WAIT_FRONT:
        b.waited = max(b.waited, pages)
    elif op == Op.CB_PAGES_AVAILABLE:
        if available >= pages:
            b.waited = max(b.waited, pages)
    elif op == Op.CB_PAGES_RESERVABLE:
        if cb[row].pages - available >= pages:
            b.polled = max(b.polled, pages)
    elif op == Op.CB_PUSH_BACK:
        reserved = max(cb[row].reserved, b.polled)
        if pages > reserved and b.tensor == 0:
            fail(m, thread, Check.CB_PUSH_UNRESERVED, index, pages, reserved)
        b.polled = max(b.polled - pages, 0)
    elif op == Op.CB_POP_FRONT and pages <= available:
        if pages > b.waited and pages > came_along(s, t.core, index, cb[row].acked, b.waited):
            fail(m, thread, Check.CB_POP_UNWAITED, index, pages, b.waited)
        b.waited = max(b.waited - pages, 0)
        check_popped(
            m, s, thread, index, circular_buffer_words(m, row)[write_pointer(t.slot) + 1], pages * cb[row].page_size
        )
    check_ends(m, b, thread, op, index, pages, available, cb[row].pages)
    if b.tensor == 0 and (op != Op.CB_POP_FRONT or pages <= available):
        check_sharing(m, s, thread, op, index, pages, available)
    if b.early != 0 and (op == Op.CB_PUSH_BACK or op == Op.CB_RESERVE_BACK):
        s.line = b.early_line
        fail(m, b.early - 1, Check.CB_UNPACK_EARLY, index, b.early_tile, 0)


@compiled()
def came_along(s, core, index, acked, waited):
    """Pages that are there for whoever has waited for some: those up to the end of the push that brought the last of them."""
    ends, number = ends_of(s, core, index, 0), buffer_of(s, core, index).pushes
    for i in range(max(number - MAX_ENDS, 0), number):
        if ends[i % MAX_ENDS].pages >= acked + waited:
            return ends[i % MAX_ENDS].pages - acked if waited > 0 else 0
    return waited


@compiled()
def at_end(known, thread):
    """The thread at one end of a buffer, with another one."""
    return thread + 1 if known == 0 or known == thread + 1 else SEVERAL


@compiled()
def check_ends(m, b, thread, op, index, pages, available, capacity):
    """Refuse a wait that only the waiting thread itself could end."""
    if op == Op.CB_PUSH_BACK:
        b.producer = at_end(b.producer, thread)
    elif op == Op.CB_POP_FRONT:
        b.consumer = at_end(b.consumer, thread)
    elif op == Op.CB_WAIT_FRONT and available < pages and b.producer == thread + 1:
        fail(m, thread, Check.CB_OWN_PAGES, index, pages, available)
    elif op == Op.CB_RESERVE_BACK and capacity - available < pages and b.consumer == thread + 1:
        fail(m, thread, Check.CB_OWN_PAGES, index, pages, capacity - available)


# --- unpack


@compiled()
def check_tiles(m, s, thread, index, last, width):
    """Refuse to unpack tiles, up to number `last`, beyond what was waited for; width > 0: from rows of so many tiles."""
    core = threads_of(m)[thread].core
    if not configured(m, core, index):
        return
    cb, row, b = circular_buffers_of(m), row_of(core, index), buffer_of(s, core, index)
    if b.used == 0:  # plain memory, unless somebody uses it later
        if b.tensor == 0 and b.early == 0:
            b.early, b.early_line, b.early_tile = thread + 1, threads_of(m)[thread].line, last
        return
    waited = b.waited * cb[row].page_size
    needed = (last + 1) * cb[row].page_size
    if width > 0:
        needed = (last // width + 1) * width * cb[row].tile_size
    if needed > waited:
        fail(m, thread, Check.CB_UNPACK_UNWAITED, index, last, b.waited)


@compiled()
def check_unpack(m, s, thread):
    """A thread unpacks tiles."""
    t = threads_of(m)[thread]
    if t.operation == Op.UNPACK_MATMUL:
        ct, rt, kt = argument(t, 4), argument(t, 5), argument(t, 6)
        check_tiles(m, s, thread, argument(t, 0), argument(t, 2) + (rt - 1) * kt, 0)
        check_tiles(m, s, thread, argument(t, 1), argument(t, 3) + ct - 1, 0)
    elif t.operation == Op.UNPACK_AB:
        check_tiles(m, s, thread, argument(t, 0), argument(t, 2), 0)
        check_tiles(m, s, thread, argument(t, 1), argument(t, 3), 0)
    elif t.operation == Op.UNPACK_A:
        check_tiles(m, s, thread, argument(t, 0), argument(t, 1) + argument(t, 4) - 1, argument(t, 3))
    else:
        check_tiles(m, s, thread, argument(t, 0), argument(t, 1), 0)


# --- transfers from and to pages


@compiled(inline="always")
def within(start, size, pointer, length, whole):
    """Whether bytes lie among the `length` ones from `pointer` on, in a ring of `whole` bytes."""
    return (start - pointer) % whole + size <= length


@compiled(inline="always")
def meets(start, size, pointer, length, whole):
    """Whether any of the bytes lies there."""
    offset = (start - pointer) % whole
    return length > 0 and (offset < length or offset + size > whole)


READING, WRITING, ARRIVING = 0, 1, 2  # NoC read to L1, NoC write from L1, arrival of another's write


@compiled()
def page_fault(m, s, core, index, start, size, what):
    """What the state of a circular buffer of `core` has against a transfer of bytes that lie in it; 0: nothing."""
    cb, row, b = circular_buffers_of(m), row_of(core, index), buffer_of(s, core, index)
    whole = cb[row].size
    page, (write_at, read_at) = cb[row].page_size, pointers_of(m, row)
    reserved = max(cb[row].reserved, b.polled) * page
    available = (cb[row].received - cb[row].acked) * page
    if within(start, size, write_at, reserved, whole):
        return 0
    if what == READING:
        return 0 if within(start, size, read_at, b.waited * page, whole) else Check.CB_READ_UNRESERVED
    if what == WRITING:
        return 0 if within(start, size, read_at, available, whole) else Check.CB_SOURCE_FREE
    return Check.CB_OVERWRITTEN if meets(start, size, read_at, available, whole) else 0


@compiled()
def check_pages(m, s, thread, core, start, size, what):
    """Refuse a transfer of L1 bytes of `core` that the state of its circular buffers does not allow.

    Several buffers may share memory: one that allows it is enough.  One that nobody has used yet is plain memory, and so is
    what lies in none.  A transfer may go on into the next buffer if that allows it, too.
    """
    cb, known, met = circular_buffers_of(m), configured_of(s, core), False
    for i in range(known[0]):
        index = known[1 + i]
        row = row_of(core, index)
        base, whole = cb[row].base, cb[row].size
        if start >= base + whole or start + size <= base:
            continue
        met = True
        if base <= start and start + size <= base + whole:
            b = buffer_of(s, core, index)
            if b.used == 0 or b.tensor != 0 or page_fault(m, s, core, index, start, size, what) == 0:
                return
    if met:
        walk_pages(m, s, thread, core, start, size, what)


@compiled()
def walk_pages(m, s, thread, core, start, size, what):
    """The same for a transfer that no single buffer holds and allows: piece by piece."""
    at, end, before = start, start + size, -1  # before: the buffer whose end the transfer has passed
    while at < end:
        index, fault, until = buffer_there(m, s, core, at, end, what)
        if before >= 0 and (fault != 0 or index < 0):
            fail(m, thread, Check.CB_BEYOND_END, before, start, size)
        elif fault != 0:
            fail(m, thread, fault, index, start, size)
        if fault != 0 or (index < 0 and (before >= 0 or what == WRITING)):
            return
        if index < 0:
            what = ARRIVING  # plain memory that runs on into a buffer: what is in there counts
        before, at = index, until


@compiled()
def buffer_there(m, s, core, at, end, what):
    """(the circular buffer of `core` in which a transfer stands at a byte, its fault, the end of what is judged so).

    -1: none that anybody uses.
    """
    cb, known = circular_buffers_of(m), configured_of(s, core)
    found, fault, until, next_base = -1, 0, end, end
    for i in range(known[0]):
        index = known[1 + i]
        row, b = row_of(core, index), buffer_of(s, core, index)
        base, last = cb[row].base, cb[row].base + cb[row].size
        if at < base:
            next_base = min(next_base, base)
        if at < base or at >= last:
            continue
        if b.used == 0 or b.tensor != 0:
            return -1, 0, min(end, last)
        wrong = page_fault(m, s, core, index, at, min(end, last) - at, what)
        if wrong == 0:
            return index, 0, min(end, last)
        found, fault, until = index, wrong, min(end, last)
    return (found, fault, until) if found >= 0 else (-1, 0, next_base)
