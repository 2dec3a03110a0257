"""Tiles that kernels print, of circular buffers and of Dst: copies of what lies there at the moment of the print.

They take no simulated time: what is printed goes from memory to the log of prints, of which `tensim.sim.chip.prints` makes numbers.
A record of a tile says what its bytes are; these follow in records of the kind MORE, as a long text's do.
"""

from tensim.sim.cores import context as ctx
from tensim.sim.cores.circular_buffer import row_of, write_pointer
from tensim.sim.cores.numerics.matrix_unit import INTEGER, OPAQUE, WIDE
from tensim.sim.cores.numerics.tensix_exact import dst_kind
from tensim.sim.cores.numerics.tile import TILE_DATUMS, TILE_SIDE
from tensim.sim.cores.numerics.unpacker import format_kind
from tensim.sim.cores.print_log import MORE, PRINT_BYTES, TEXT_FROM_END, TEXT_PIECE, print_table
from tensim.sim.cores.slots import FIRST_COMPUTE_SLOT, MATH_SLOT, PACK_SLOT, THREADS_PER_CORE
from tensim.sim.cores.tensix.queue_state import DRAIN, DST_TILES, NOT_FINITE, queues_of, source_formats_of, source_place
from tensim.sim.cores.threads import argument
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.limits import N_CIRCULAR_BUFFERS
from tensim.sim.engine.memory import call_model, copy_bytes, zero_bytes
from tensim.sim.state import EXACT, circular_buffer_words, circular_buffers_of, cores_of, threads_of

# Kinds of records (`tensim.sim.cores.riscv.traps.Print` has the same).  BUFFER_TILE: value = what there is, or a reason below;
# extra = format | datums << 8 | width << 24.  DST_TILE: value = what there is, extra = what its words mean (`matrix_unit`).
BUFFER_TILE, DST_TILE, SLICE = 13, 14, 15
# SLICE, of the tile before: value = first row | end << 8 | step << 16 | first column << 24; extra = end | step << 8 | flags << 16.
# Why there is nothing to show; else the number of bytes that follow
NO_DATA, NO_BUFFER, OUTSIDE, NO_POINTER, NO_TILE, NOT_ACQUIRED = -1, -2, -3, -4, -5, -6
OF_THREAD, FRONT, BACK = range(3)  # which pointer of a circular buffer: who prints has one, or is said which
# Flags of a slice: datums stand in faces; a line for each row; lines of their own, with numbers
IN_FACES, ON_LINES, NUMBERED = 1, 2, 4
WHOLE_ROWS = TILE_SIDE << 8 | 1 << 16
BRISC_SLOT = 0
WORD = 4


@compiled()
def append_record(m, thread, now, kind, value, extra):
    """Append a record without content to the log; returns the host address of its content."""
    entry = print_table(m.prints_at)[m.n_prints]
    entry.thread, entry.time, entry.kind, entry.value, entry.extra = thread, now, kind, value, extra
    m.n_prints += 1
    content = m.prints_at + m.n_prints * PRINT_BYTES - TEXT_FROM_END
    zero_bytes(content, TEXT_PIECE)
    return content


@compiled()
def append_content(m, thread, now, address, count):
    """Append `count` bytes at a host address to the log, in as many records as they need; none are there: zeros."""
    for first in range(0, count, TEXT_PIECE):
        content = append_record(m, thread, now, MORE, 0, 0)
        if address != 0:
            copy_bytes(content, address + first, min(TEXT_PIECE, count - first))


@compiled()
def pointer_column(slot, pointer):
    """Column of the pointer that a thread of a slot means, -1 where it knows none.

    Who does not say gets what the vendor's `TileSlice` takes: the BRISC and the unpack thread what they read, the NCRISC and the
    pack thread what they write (tt-metal, api/debug/dprint_tile.h).
    """
    if slot == MATH_SLOT:
        return -1
    if slot >= FIRST_COMPUTE_SLOT:
        return ctx.CB_WRITE_PTR if slot == PACK_SLOT else ctx.CB_READ_PTR
    front = slot == BRISC_SLOT if pointer == OF_THREAD else pointer == FRONT
    return write_pointer(slot) + (1 if front else 0)


@compiled()
def print_buffer_tile(m, thread, now, index, tile, pointer, width):
    """Append a tile behind a pointer of a circular buffer.  `width`: of a tile in datums, 0: as its size says."""
    t = threads_of(m)[thread]
    column, found, extra, address = pointer_column(thread % THREADS_PER_CORE, pointer), NO_BUFFER, 0, 0
    if column < 0:
        found = NO_POINTER
    elif 0 <= index < N_CIRCULAR_BUFFERS:
        cb, row = circular_buffers_of(m), row_of(t.core, index)
        if cb[row].pages != 0:
            found, datums = cb[row].tile_size, cb[row].tile_hw
            extra = cb[row].format | datums << 8 | width << 24
            address = circular_buffer_words(m, row)[column] + min(tile, m.l1_size) * found
            if tile < 0 or address < 0 or address + found > m.l1_size:
                found = OUTSIDE
            elif m.data_on == 0:
                found = NO_DATA
    append_record(m, thread, now, BUFFER_TILE, found, extra)
    if found > 0:
        append_content(m, thread, now, m.l1_at + t.core * m.l1_size + address, found)


@compiled()
def print_dst_tile(m, thread, now, tile):
    """Append a tile of the section of Dst that the math thread has."""
    t = threads_of(m)[thread]
    record, found, kind, address = cores_of(m)[t.core], WORD * TILE_DATUMS, WIDE, 0
    if t.slot != MATH_SLOT:
        found = NO_POINTER
    elif tile < 0 or tile >= record.capacity:
        found = NO_TILE
    elif record.dst_acquired <= record.dst_committed:
        found = NOT_ACQUIRED
    elif m.data_on == 0:
        found = NO_DATA
    else:
        if m.team_at != 0:  # by the engine's code: this may be a RISC-V core's, which has no arithmetic
            call_model(m.run_at, m.self_at, DRAIN, t.core)
        place = ((record.dst_acquired - 1) % record.sections) * record.capacity + tile
        if (record.fresh >> place) & 1 == 0:
            address = m.dst_at + WORD * (t.core * DST_TILES + place) * TILE_DATUMS
        if m.data_on == EXACT:
            kind = dst_kind(queues_of(m)[t.core], place)
        elif format_kind(source_formats_of(m)[source_place(t.core, 0, record.bank_a)] & ~NOT_FINITE) >= INTEGER:
            kind = OPAQUE
    append_record(m, thread, now, DST_TILE, found, kind)
    if found > 0:
        append_content(m, thread, now, address, found)


@compiled()
def print_buffer_rows(m, thread, now):
    """PRINT_TILE of a kernel: rows and columns of a tile of a circular buffer, a line for each row."""
    t = threads_of(m)[thread]
    print_buffer_tile(m, thread, now, argument(t, 0), argument(t, 1), OF_THREAD, 0)
    rows = (argument(t, 2) & 255) | (argument(t, 3) & 255) << 8 | 1 << 16 | (argument(t, 4) & 255) << 24
    order = IN_FACES if argument(t, 6) != 0 else 0
    append_record(m, thread, now, SLICE, rows, (argument(t, 5) & 255) | 1 << 8 | (order | NUMBERED) << 16)


@compiled()
def print_dst_rows(m, thread, now):
    """PRINT_DST of a kernel: a tile of Dst, a line for each row."""
    print_dst_tile(m, thread, now, argument(threads_of(m)[thread], 0))
    append_record(m, thread, now, SLICE, WHOLE_ROWS, TILE_SIDE | 1 << 8 | (IN_FACES | NUMBERED) << 16)
