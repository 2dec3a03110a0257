"""L1 bytes that operations read and write themselves: tiles that are unpacked and packed, sources of NoC writes."""

from tensim.sim.cores.checks.circular_buffers import configured
from tensim.sim.cores.checks.races import touch
from tensim.sim.cores.checks.shadow import MAX_READS, thread_of, words_table
from tensim.sim.cores.circular_buffer import row_of
from tensim.sim.cores.numerics.tile import TILE_SIDE
from tensim.sim.cores.operations import Op
from tensim.sim.cores.threads import argument
from tensim.sim.engine.compiled import compiled
from tensim.sim.state import circular_buffers_of, threads_of


@compiled()
def read_tiles(m, s, thread, index, tile, count, width):
    """`count` tiles of a circular buffer are unpacked; width > 0: from rows of so many tiles."""
    t = threads_of(m)[thread]
    if not configured(m, t.core, index):
        return
    cb, row = circular_buffers_of(m), row_of(t.core, index)
    start, size = cb[row].read_ptr, cb[row].tile_size
    if width > 0:
        block = width * size
        first, last = tile // width, (tile + count - 1) // width
        start, size = start + first * block, (last - first + 1) * block
    else:
        page = cb[row].page_size
        start, size = start + tile * page, (count - 1) * page + size
    clock = thread_of(s, thread).clock
    if start >= 0 and not read_before(s, thread, start, size, clock << 32 | t.line):
        touch(m, s, thread, t.core, start, size, clock, t.line, False, False)


@compiled()
def read_before(s, thread, start, size, moment):
    """Whether a thread has unpacked the same bytes with the same call since its clock moved: then nothing is new."""
    reads = words_table(thread_of(s, thread).reads_at)
    bytes_read = size << 32 | start
    at = 2 * ((start >> 10 ^ start >> 17) & (MAX_READS - 1))  # tiles have a kilobyte or two
    if reads[at] == bytes_read and reads[at + 1] == moment:
        return True
    reads[at], reads[at + 1] = bytes_read, moment
    return False


@compiled()
def unpack_accesses(m, s, thread):
    """An unpack operation reads its tiles."""
    t = threads_of(m)[thread]
    op = t.operation
    if op == Op.UNPACK_MATMUL:
        ct, rt, kt = argument(t, 4), argument(t, 5), argument(t, 6)
        for i in range(rt):
            read_tiles(m, s, thread, argument(t, 0), argument(t, 2) + i * kt, 1, 0)
        read_tiles(m, s, thread, argument(t, 1), argument(t, 3), ct, 0)
    elif op == Op.UNPACK_AB:
        read_tiles(m, s, thread, argument(t, 0), argument(t, 2), 1, 0)
        read_tiles(m, s, thread, argument(t, 1), argument(t, 3), 1, 0)
    elif op == Op.UNPACK_A:
        read_tiles(m, s, thread, argument(t, 0), argument(t, 1), argument(t, 4), argument(t, 3))
    else:
        read_tiles(m, s, thread, argument(t, 0), argument(t, 1), 1, 0)


@compiled()
def pack_accesses(m, s, thread):
    """A pack operation writes its tiles, or rows of `untilize` tiles."""
    t = threads_of(m)[thread]
    index, out, tiles, untilize = argument(t, 1), argument(t, 2), argument(t, 3), argument(t, 4)
    if not configured(m, t.core, index):
        return
    cb, row, clock = circular_buffers_of(m), row_of(t.core, index), thread_of(s, thread).clock
    page = out if out >= 0 else cb[row].packed
    base, size = cb[row].write_ptr, cb[row].tile_size
    for i in range(page, page + tiles):
        if untilize == 0:
            touch(m, s, thread, t.core, base + i * cb[row].page_size, size, clock, t.line, False, True)
            continue
        length = size // TILE_SIDE
        at = base + i // untilize * size * untilize + i % untilize * length
        for line in range(TILE_SIDE):
            touch(m, s, thread, t.core, at + line * length * untilize, length, clock, t.line, False, True)


@compiled()
def source_access(m, s, thread, local, size):
    """A NoC write or multicast takes its source."""
    t = threads_of(m)[thread]
    touch(m, s, thread, t.core, local, size, thread_of(s, thread).clock - 1, t.line, False, False)
