"""Transfers that data-movement threads issue: what they read and write, here and there."""

from tensim.sim.cores import context as ctx
from tensim.sim.cores.checks.accesses import source_access
from tensim.sim.cores.checks.buffers import check_buffers
from tensim.sim.cores.checks.circular_buffers import ARRIVING, READING, WRITING, check_pages
from tensim.sim.cores.checks.clocks import signal_at
from tensim.sim.cores.checks.memory import copy_read, copy_sent, l1_states, mark, mark_piece, states_at
from tensim.sim.cores.checks.races import WORD, arrive, arrive_at_dram
from tensim.sim.cores.checks.semaphores import check_semaphore
from tensim.sim.cores.checks.shadow import TOLD, WRITTEN, shadow_of, thread_of, worker_at
from tensim.sim.cores.checks.writes import (
    area_of,
    arrived,
    check_overwritten,
    check_signal,
    note_word,
    note_write,
    told,
    word_arrived,
)
from tensim.sim.cores.niu.multicasts import corners
from tensim.sim.cores.niu.transactions import TO_TARGET
from tensim.sim.cores.operations import Op
from tensim.sim.cores.slots import THREADS_PER_CORE
from tensim.sim.cores.threads import argument
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import lies_within
from tensim.sim.state import (
    INLINE,
    READ,
    READ_BUFFER,
    STOP_ERROR,
    TILE_DRAM,
    TILE_WORKER,
    WRITE,
    WRITE_BUFFER,
    bank_of,
    noc_columns_of,
    noc_rows_of,
    saved_call_of,
    threads_of,
    tiles_of,
    transactions_of,
)


@compiled()
def tile_of(m, address):
    """Tile that a NoC address names, or -1."""
    x, y = noc_columns_of(m)[(address >> 36) & 63], noc_rows_of(m)[(address >> 42) & 63]
    return y * m.grid_width + x if min(x, y) >= 0 else -1


@compiled()
def multicast(m, s, thread):
    """A NoC write to the cores of a rectangle."""
    t = threads_of(m)[thread]
    local, address, size, targets, noc = argument(t, 0), argument(t, 1), argument(t, 2), argument(t, 3), argument(t, 6)
    x0, y0, x1, y1 = corners(m, address)
    if size <= 0 or not lies_within(local, size, m.l1_size) or min(x0, x1, y0, y1) < 0:
        return
    check_pages(m, s, thread, t.core, local, size, WRITING)
    source_access(m, s, thread, local, size)
    area = area_of(x0, y0, x1, y1)
    if size <= WORD:
        told(s, thread, -1, area, noc)
        area = TOLD
    note_write(m, s, thread, local, size, noc, -1, 0, -1, area, targets)


@compiled()
def increment(m, s, thread):
    """A semaphore of another core is counted up."""
    address = argument(threads_of(m)[thread], 0)
    thread_of(s, thread).atomic_line = threads_of(m)[thread].line
    tile = tile_of(m, address)
    if tile >= 0 and worker_at(m, s, tile) >= 0:
        check_semaphore(m, s, thread, worker_at(m, s, tile), address & ctx.NOC_OFFSET_MASK)
        check_signal(m, s, thread, tile, -1)


@compiled()
def inline_write(m, s, thread):
    """A word that the call carries itself is written over the NoC."""
    t = threads_of(m)[thread]
    address, noc = argument(t, 0), argument(t, 3)
    word(m, s, thread, address, noc)
    note_word(m, s, thread, noc, argument(t, 4), tile_of(m, address))


@compiled()
def word(m, s, thread, address, noc):
    """A word is written over the NoC: to one that synchronises only behind the data of which it tells; returns whether it does."""
    tile = tile_of(m, address)
    if tile >= 0 and worker_at(m, s, tile) >= 0:
        if signal_at(s, worker_at(m, s, tile), address & ctx.NOC_OFFSET_MASK, False) != 0:
            check_signal(m, s, thread, tile, noc)
            told(s, thread, tile, 0, noc)
            return True
    return False


@compiled()
def issue_read(m, s, thread, source, local, size):
    """A NoC read."""
    t = threads_of(m)[thread]
    if size <= 0 or not lies_within(local, size, m.l1_size):
        return
    thread_of(s, thread).read_line = t.line
    check_pages(m, s, thread, t.core, local, size, READING)
    check_overwritten(m, s, thread, t.core, local, size)
    check_buffers(m, s, thread, source, size)


@compiled()
def issue_write(m, s, thread, local, destination, size, noc, trid, posted):
    """A NoC write to one tile."""
    t = threads_of(m)[thread]
    if size <= 0 or not lies_within(local, size, m.l1_size):
        return
    check_pages(m, s, thread, t.core, local, size, WRITING)
    check_buffers(m, s, thread, destination, size)
    source_access(m, s, thread, local, size)
    area = TOLD if size <= WORD and word(m, s, thread, destination, noc) else 0
    note_write(m, s, thread, local, size, noc, trid, posted, tile_of(m, destination), area, 1)


@compiled()
def transfer(m, s, thread):
    """A call of the NoC that moves memory."""
    t = threads_of(m)[thread]
    op = t.operation
    if op == Op.NOC_READ:
        issue_read(m, s, thread, argument(t, 0), argument(t, 1), argument(t, 2))
    elif op == Op.NOC_WRITE:
        issue_write(
            m, s, thread, argument(t, 0), argument(t, 1), argument(t, 2), argument(t, 3), argument(t, 4), argument(t, 6)
        )
    elif op == Op.NOC_MULTICAST:
        multicast(m, s, thread)
    elif 0 <= argument(t, 3) <= 1:  # with a saved state: its address above the offset, its size where none is given
        is_read = op == Op.NOC_READ_WITH_STATE
        saved = saved_call_of(m, thread, argument(t, 3), READ_BUFFER if is_read else WRITE_BUFFER)
        size = argument(t, 2) if argument(t, 2) > 0 else saved.size
        place = saved.address & ~ctx.NOC_OFFSET_MASK
        if is_read:
            issue_read(m, s, thread, place | (argument(t, 0) & ctx.NOC_OFFSET_MASK), argument(t, 1), size)
        else:
            target, trid = place | (argument(t, 1) & ctx.NOC_OFFSET_MASK), argument(t, 4)
            trid = trid if trid >= 0 else saved.trid
            issue_write(m, s, thread, argument(t, 0), target, size, argument(t, 3), trid, saved.posted)


@compiled()
def of_router(m, s, index):
    """A packet of a router acts on memory: it is written.  Who is told so is not followed, for that begins on another chip."""
    x = transactions_of(m)[index]
    is_dram = tiles_of(m)[x.target].kind == TILE_DRAM
    if s.data != 0 and x.stage == TO_TARGET and (is_dram or worker_at(m, s, x.target) >= 0):
        states, inside = states_at(m, s, x.target, x.address)
        if x.kind == WRITE:
            mark(states, inside, x.size, WRITTEN)
        else:
            mark_piece(states, inside, x.size)


@compiled()
def to_router(m, s, index):
    """A packet of a worker acts on a router's memory, or what it has read there on its own."""
    x = transactions_of(m)[index]
    if x.kind == READ:
        if x.stage != TO_TARGET and s.data != 0:
            mark(l1_states(m, s, threads_of(m)[x.thread].core), x.local, x.size, WRITTEN)
    elif x.stage == TO_TARGET and x.kind == WRITE:
        arrived(s, x.thread, x.local, x.noc, x.target)
    elif x.stage == TO_TARGET and x.kind == INLINE:
        word_arrived(s, x.thread, x.noc, x.target)


@compiled()
def transaction(m, index):
    """A packet is about to act on the memory at its target, or its data on that of the core that asked."""
    x, s = transactions_of(m)[index], shadow_of(m)
    worker = worker_at(m, s, x.target)
    if x.thread >= s.n_cores * THREADS_PER_CORE:
        of_router(m, s, index)
        return
    if worker < 0 and tiles_of(m)[x.target].kind == TILE_WORKER:
        to_router(m, s, index)
        return
    if x.stage != TO_TARGET:
        if x.kind == READ:
            core = threads_of(m)[x.thread].core
            if s.data != 0:
                copy_read(m, s, x.thread, x.issued, x.target, x.address, x.local, x.size)
            arrive(m, s, index, core, x.local, x.size, True)
        return
    if tiles_of(m)[x.target].kind == TILE_DRAM:
        arrive_at_dram(m, s, index, bank_of(m, x.target, x.address), x.address % m.bank_bytes, x.kind != READ)
    elif worker >= 0:
        arrive(m, s, index, worker, x.address & ctx.NOC_OFFSET_MASK, x.size, x.kind != READ)
    if x.kind == READ:
        return
    target, inside = states_at(m, s, x.target, x.address)
    if x.kind != WRITE:
        if s.data != 0:
            mark_piece(target, inside, x.size)
        if x.kind == INLINE:
            word_arrived(s, x.thread, x.noc, x.target)
        return
    line, state, unwritten = arrived(s, x.thread, x.local, x.noc, x.target)
    if s.data != 0:
        copy_sent(m, s, x.thread, x.local, x.size, target, inside, state, unwritten)
    if worker >= 0:
        stopped = m.stop == STOP_ERROR
        check_pages(m, s, x.thread, worker, x.address, x.size, ARRIVING)
        if x.local != x.address or threads_of(m)[x.thread].core != worker:  # else each byte is what it was
            check_overwritten(m, s, x.thread, worker, x.address, x.size)
        if m.stop == STOP_ERROR and not stopped:
            s.line = line
