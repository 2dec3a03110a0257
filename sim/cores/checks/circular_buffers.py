"""Circular buffers: pages are waited for before they are read, reserved before they are filled, one thread per end."""

from tensim.sim.cores import context as ctx
from tensim.sim.cores.checks.faults import Check
from tensim.sim.cores.checks.shadow import SEVERAL, buffer_of, configured_of
from tensim.sim.cores.checks.writes import check_popped
from tensim.sim.cores.circular_buffer import pointers_of, row_of, write_pointer
from tensim.sim.cores.operations import Op
from tensim.sim.cores.threads import argument, fail
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.limits import N_CIRCULAR_BUFFERS
from tensim.sim.engine.state import circular_buffers_of, threads_of


@compiled()
def configured(m, core, index):
    """Whether a circular buffer exists; the engine refuses the use of others."""
    return 0 <= index < N_CIRCULAR_BUFFERS and circular_buffers_of(m)[row_of(core, index)] != 0


@compiled()
def buffer_operation(m, s, thread):
    """A thread reserves, pushes, waits, pops or asks."""
    t = threads_of(m)[thread]
    index, pages = argument(t, 0), argument(t, 1)
    if not configured(m, t.core, index):
        return
    cb, row, b = circular_buffers_of(m), row_of(t.core, index), buffer_of(s, t.core, index)
    op = t.operation
    available = cb[row + ctx.CB_RECEIVED] - cb[row + ctx.CB_ACKED]
    b.used = 1
    if op == Op.CB_WAIT_FRONT:
        b.waited = max(b.waited, pages)
    elif op == Op.CB_PAGES_AVAILABLE:
        if available >= pages:
            b.waited = max(b.waited, pages)
    elif op == Op.CB_PAGES_RESERVABLE:
        if cb[row + ctx.CB_PAGES] - available >= pages:
            b.polled = max(b.polled, pages)
    elif op == Op.CB_PUSH_BACK:
        reserved = max(cb[row + ctx.CB_RESERVED], b.polled)
        if pages > reserved and b.tensor == 0:
            fail(m, thread, Check.CB_PUSH_UNRESERVED, index, pages, reserved)
        b.polled = max(b.polled - pages, 0)
    elif op == Op.CB_POP_FRONT and pages <= available:
        if pages > b.waited:
            fail(m, thread, Check.CB_POP_UNWAITED, index, pages, b.waited)
        b.waited = max(b.waited - pages, 0)
        check_popped(m, s, thread, index, cb[row + write_pointer(t.slot) + 1], pages * cb[row + ctx.CB_PAGE_SIZE])
    check_ends(m, b, thread, op, index, pages, available, cb[row + ctx.CB_PAGES])
    if b.early != 0 and (op == Op.CB_PUSH_BACK or op == Op.CB_RESERVE_BACK):
        s.line = b.early_line
        fail(m, b.early - 1, Check.CB_UNPACK_EARLY, index, b.early_tile, 0)


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
def check_tiles(m, s, thread, index, tile, last, width):
    """Refuse to unpack tiles, up to number `last`, beyond what was waited for; width > 0: from rows of so many tiles."""
    core = threads_of(m)[thread].core
    if not configured(m, core, index):
        return
    cb, row, b = circular_buffers_of(m), row_of(core, index), buffer_of(s, core, index)
    if b.used == 0:  # plain memory, unless somebody uses it later
        if b.tensor == 0 and b.early == 0:
            b.early, b.early_line, b.early_tile = thread + 1, threads_of(m)[thread].line, last
        return
    waited = b.waited * cb[row + ctx.CB_PAGE_SIZE]
    needed = (last + 1) * cb[row + ctx.CB_PAGE_SIZE]
    if width > 0:
        needed = (last // width + 1) * width * cb[row + ctx.CB_TILE_SIZE]
    if needed > waited:
        fail(m, thread, Check.CB_UNPACK_UNWAITED, index, last, b.waited)


@compiled()
def check_unpack(m, s, thread):
    """A thread unpacks tiles."""
    t = threads_of(m)[thread]
    if t.operation == Op.UNPACK_MATMUL:
        ct, rt, kt = argument(t, 4), argument(t, 5), argument(t, 6)
        check_tiles(m, s, thread, argument(t, 0), argument(t, 2), argument(t, 2) + (rt - 1) * kt, 0)
        check_tiles(m, s, thread, argument(t, 1), argument(t, 3), argument(t, 3) + ct - 1, 0)
    elif t.operation == Op.UNPACK_AB:
        check_tiles(m, s, thread, argument(t, 0), argument(t, 2), argument(t, 2), 0)
        check_tiles(m, s, thread, argument(t, 1), argument(t, 3), argument(t, 3), 0)
    elif t.operation == Op.UNPACK_A:
        check_tiles(m, s, thread, argument(t, 0), argument(t, 1), argument(t, 1) + argument(t, 4) - 1, argument(t, 3))
    else:
        check_tiles(m, s, thread, argument(t, 0), argument(t, 1), argument(t, 1), 0)


# --- transfers from and to pages


@compiled(inline="always")
def within(start, size, pointer, length, base, whole):
    """Whether bytes lie among the `length` ones from `pointer` on, in a ring of `whole` bytes from `base`."""
    return (start - pointer) % whole + size <= length


@compiled(inline="always")
def meets(start, size, pointer, length, base, whole):
    """Whether any of the bytes lies there."""
    offset = (start - pointer) % whole
    return length > 0 and (offset < length or offset + size > whole)


READING, WRITING, ARRIVING = 0, 1, 2  # NoC read to L1, NoC write from L1, arrival of another's write


@compiled()
def check_pages(m, s, thread, core, start, size, what):
    """Refuse a transfer of L1 bytes of `core` that the state of its circular buffers does not allow.

    Several buffers may share memory: one that allows it is enough.  One that nobody has used yet is plain memory.
    """
    cb, known = circular_buffers_of(m), configured_of(s, core)
    fault, culprit = 0, 0
    for i in range(known[0]):
        index = known[1 + i]
        row, b = row_of(core, index), buffer_of(s, core, index)
        base, whole = cb[row + ctx.CB_BASE], cb[row + ctx.CB_SIZE]
        if start >= base + whole or start + size <= base:
            continue
        if b.used == 0 or b.tensor != 0:
            return
        page, (write_at, read_at) = cb[row + ctx.CB_PAGE_SIZE], pointers_of(m, row)
        reserved = max(cb[row + ctx.CB_RESERVED], b.polled) * page
        available = (cb[row + ctx.CB_RECEIVED] - cb[row + ctx.CB_ACKED]) * page
        wrong = 0
        if start < base or start + size > base + whole:
            wrong = Check.CB_BEYOND_END if start >= base else 0
        elif within(start, size, write_at, reserved, base, whole):
            wrong = 0
        elif what == READING:
            if not within(start, size, read_at, b.waited * page, base, whole):
                wrong = Check.CB_READ_UNRESERVED
        elif what == WRITING:
            if not within(start, size, read_at, available, base, whole):
                wrong = Check.CB_SOURCE_FREE
        elif meets(start, size, read_at, available, base, whole):
            wrong = Check.CB_OVERWRITTEN
        if wrong == 0:
            return
        fault, culprit = wrong, index
    if fault != 0:
        fail(m, thread, fault, culprit, start, size)
