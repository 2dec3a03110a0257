"""Where the Tensix engine finds operands and puts results: tiles counted from a pointer of a circular buffer.

The units add a tile's number to the pointer and look neither at the buffer's end nor at who waited for or reserved its pages:
what lies in L1 is read and written there, and noted (`tensim.sim.cores.oddities`), or refused with checks on.
"""

from tensim.sim.cores.circular_buffer import row_of
from tensim.sim.cores.faults import Fault
from tensim.sim.cores.oddities import odd
from tensim.sim.cores.threads import fail
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.limits import N_CIRCULAR_BUFFERS
from tensim.sim.state import circular_buffers_of, cores_of, threads_of


@compiled()
def tile_fits(m, thread, index, row):
    """Whether a page of the circular buffer holds one of its tiles, or nobody minds."""
    cb = circular_buffers_of(m)
    page, tile = cb[row].page_size, cb[row].tile_size
    return page >= tile or not odd(m, thread, Fault.PAGE_SIZE, index, page, tile)


@compiled()
def in_buffer(m, thread, index, pointer, tile):
    """Whether the tiles up to `tile` behind a pointer lie in the circular buffer, or beyond its end in L1 and nobody minds.

    The units add to the pointer and look at no end.
    """
    cb, row = circular_buffers_of(m), row_of(threads_of(m)[thread].core, index)
    page, pages = cb[row].page_size, cb[row].pages
    start, end = pointer + min(tile, m.l1_size) * page, cb[row].base + cb[row].size  # a number from a kernel may be any
    if tile < 0 or start + cb[row].tile_size > m.l1_size:
        fail(m, thread, Fault.TILE_OUTSIDE_CB, index, tile, pages)
        return False
    return start + page <= end or not odd(m, thread, Fault.TILE_OUTSIDE_CB, index, tile, pages)


@compiled()
def buffer_row(m, thread, index):
    """Row of a circular buffer that the core has; -1 after a fault."""
    row = row_of(threads_of(m)[thread].core, index)
    if not 0 <= index < N_CIRCULAR_BUFFERS or circular_buffers_of(m)[row].pages == 0:
        fail(m, thread, Fault.CB_MISSING, index, 0, 0)
        return -1
    return row


@compiled()
def tile_row(m, thread, index, tile):
    """Row of the circular buffer that holds `tile` counted from its read pointer; -1 after a fault."""
    row = buffer_row(m, thread, index)
    if row < 0 or not tile_fits(m, thread, index, row):
        return -1
    return row if in_buffer(m, thread, index, circular_buffers_of(m)[row].read_ptr, tile) else -1


@compiled()
def shapes_fit(m, thread, index0, index1):
    """Whether an operation that moves numbers within a tile knows the tiles of two circular buffers; a fault if not.

    Its time it knows: with numerics off, all shapes fit.
    """
    if m.data_on == 0:
        return True
    others = cores_of(m)[threads_of(m)[thread].core].other_tiles
    for index in (index0, index1):
        if (others >> index) & 1 != 0:
            datums = circular_buffers_of(m)[row_of(threads_of(m)[thread].core, index)].tile_hw
            fail(m, thread, Fault.TILE_SHAPE, index, datums, 0)
            return False
    return True


@compiled()
def rows_of_tiles(m, thread, index, tile):
    """Row of the circular buffer with the row-major data that hold `tile`; -1 after a fault.

    Its pages may be tiles, or rows of the data: the unpacker looks at the pointer alone.
    """
    row = buffer_row(m, thread, index)
    cb = circular_buffers_of(m)
    if row >= 0 and (tile < 0 or cb[row].page_size >= cb[row].tile_size):
        return tile_row(m, thread, index, tile)
    return row


@compiled()
def rows_fit(m, pointer, row, tile, width):
    """Whether the rows of a tile lie in L1: row-major data from `pointer` on, `width` tiles wide."""
    tiles = (min(tile, m.l1_size) // width + 1) * min(width, m.l1_size)  # numbers from a kernel may be any
    return pointer + tiles * circular_buffers_of(m)[row].tile_size <= m.l1_size


@compiled()
def pack_fits(m, thread, index, row, last, untilize):
    """Whether tiles up to number `last` behind the write pointer may be written: see `in_buffer`; row-major ones, into L1."""
    pointer = circular_buffers_of(m)[row].write_ptr
    if untilize <= 0:
        return in_buffer(m, thread, index, pointer, last)
    if rows_fit(m, pointer, row, last, untilize):
        return True
    fail(m, thread, Fault.TILE_OUTSIDE_CB, index, last, circular_buffers_of(m)[row].pages)
    return False
