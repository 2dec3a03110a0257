"""Pages of buffers in DRAM and L1: a transfer stays inside the buffers that its kernel knows."""

from tensim.sim.cores import context as ctx
from tensim.sim.cores.checks.faults import Check
from tensim.sim.cores.checks.shadow import (
    dram_table,
    l1_buffer_table,
    suspect_table,
    thread_of,
    words_table,
    worker_at,
)
from tensim.sim.cores.threads import fail
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import load_u8
from tensim.sim.state import TILE_DRAM, bank_of, noc_columns_of, noc_rows_of, tiles_of

NAMED, BASE = 1, 2  # an argument of the thread lies in the buffer, or is its address


@compiled()
def buffer_at(buffers, count, inside):
    """Number of the last buffer that begins at or before an offset in a bank, or -1."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if buffers[middle].start <= inside:
            low = middle + 1
        else:
            high = middle
    return low - 1


@compiled()
def page_of(b, bank, inside):
    """Page of an interleaved buffer at an offset in a bank, also behind its end."""
    return (inside - b.start) // b.stride * b.banks + bank


@compiled()
def check_dram(m, s, thread, tile, offset, size):
    """Refuse a transfer with DRAM beyond the end of a buffer.

    A page behind the last one lies in the rest of the buffer's last row, or in what the allocator has put behind it: there
    it is wrong when no argument of the thread lies in that buffer, but one is the address of the buffer before it.  A thread
    without the address of any buffer among its arguments is not judged.
    """
    mine = thread_of(s, thread)
    if mine.names < BASE:
        return
    bank, inside = bank_of(m, tile, offset), offset % m.bank_bytes
    buffers = dram_table(mine.dram_at)
    k = buffer_at(buffers, mine.n_dram, inside)
    if k < 0:
        fail(m, thread, Check.OUTSIDE_BUFFERS, inside, size, bank)
        return
    b = buffers[k]
    last = inside + size - 1
    before = k  # the buffer whose end the transfer may have passed
    if last < b.end:
        if load_u8(mine.named_at + k) != 0 or k == 0:
            if b.banks > 0 and page_of(b, bank, last) >= b.pages:
                fail(m, thread, Check.PAGE_BEYOND_BUFFER, page_of(b, bank, last), b.pages, b.start)
            return
        before = k - 1
        if load_u8(mine.named_at + before) != BASE:
            return
    p = buffers[before]
    if load_u8(mine.named_at + before) == BASE and p.banks > 0:
        fail(m, thread, Check.PAGE_BEYOND_BUFFER, page_of(p, bank, last), p.pages, p.start)
    elif inside >= b.end:
        fail(m, thread, Check.OUTSIDE_BUFFERS, inside, size, bank)


@compiled()
def check_l1_buffer(m, s, thread, core, inside, size):
    """Refuse a transfer with the L1 of a worker beyond the pages that it holds of a buffer, as `check_dram` does.

    Memory that is in no buffer may be anything, unless it lies right behind one whose address is an argument.
    """
    mine = thread_of(s, thread)
    if mine.l1_names < BASE:
        return
    buffers = l1_buffer_table(mine.l1_at)
    k = buffer_at(buffers, mine.n_l1, inside)
    if k < 0:
        return
    b, named = buffers[k], load_u8(mine.l1_named_at + k)
    if named == BASE:
        if inside + size - b.start <= words_table(b.held_at)[core]:
            return
    elif named == NAMED or inside >= b.end or k == 0 or load_u8(mine.l1_named_at + k - 1) != BASE:
        return
    fail(m, thread, Check.PAGE_BEYOND_L1, inside, size, core)


@compiled()
def check_generators(m, s, thread, tile, offset):
    """Refuse a transfer where a generator of the kernel that does not fit its buffer would put a page."""
    mine, in_dram = thread_of(s, thread), tiles_of(m)[tile].kind == TILE_DRAM
    inside = offset % m.bank_bytes if in_dram else offset
    for i in range(mine.n_suspects):
        g = suspect_table(mine.suspects_at)[i]
        if (g.in_dram != 0) == in_dram and g.start <= inside < g.end and (inside - g.start) % g.stride == 0:
            fail(m, thread, g.code, g.a, g.start, g.c)


@compiled()
def check_buffers(m, s, thread, address, size):
    """Refuse a transfer with a NoC address that lies in no page of the buffers that a thread knows."""
    x, y = noc_columns_of(m)[(address >> 36) & 63], noc_rows_of(m)[(address >> 42) & 63]
    if x < 0 or y < 0:
        return
    tile, offset = y * m.grid_width + x, address & ctx.NOC_OFFSET_MASK
    if thread_of(s, thread).n_suspects != 0:
        check_generators(m, s, thread, tile, offset)
    if tiles_of(m)[tile].kind == TILE_DRAM:
        check_dram(m, s, thread, tile, offset, size)
    elif worker_at(m, s, tile) >= 0:
        check_l1_buffer(m, s, thread, worker_at(m, s, tile), offset, size)
