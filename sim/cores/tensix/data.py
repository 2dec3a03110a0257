"""What the Tensix operations do to data, on top of the tile arithmetic: which bytes, which register bank, which Dst tile.

Operand 0 of an unpack lands in `src_a`, operand 1 in `src_b` (register files of the simulator; the chip puts matmul's in0 in
SrcB and in1 in SrcA).  They have more places than the chip's two banks, so that operations on Dst may wait in a queue
(`tensim.sim.cores.tensix.queues`): what is posted here is executed by `tensim.sim.cores.tensix.tile_operations`.  All that must
be known at once is found here, such as faults.  Nothing here costs time; with numerics off all that happens here is
that what would be packed is not known (`tensim.sim.engine.known_words`).
"""

from tensim.sim.cores.faults import Fault
from tensim.sim.cores.numerics.matrix_unit import INTEGER, OPAQUE
from tensim.sim.cores.numerics.packer import DST32, PRECISE, pack_rows, pack_tile
from tensim.sim.cores.numerics.simd_lanes import ROW
from tensim.sim.cores.numerics.tensix_exact import dst_bits, dst_kind, load_exact
from tensim.sim.cores.numerics.tile import TILE_DATUMS, TILE_SIDE
from tensim.sim.cores.numerics.tile_formats import decode_rows, decode_tile, value_kind
from tensim.sim.cores.numerics.tile_math import is_finite, transpose_tile
from tensim.sim.cores.numerics.unpacker import FLOAT16, FLOAT16_B, FLOAT32, block_bits, format_kind
from tensim.sim.cores.operations import Binary, Op, Pool, Reuse
from tensim.sim.cores.slots import PACK_SLOT, THREADS_PER_CORE, UNPACK_SLOT
from tensim.sim.cores.tensix.hidden_rounding import added, function_of_one, function_of_two, is_rounded, written
from tensim.sim.cores.tensix.queue_state import NOT_FINITE, operations_of, queues_of, source_formats_of, source_place
from tensim.sim.cores.tensix.queues import drain, free_place, next_operation, post
from tensim.sim.cores.tensix.source_banks import name_places
from tensim.sim.cores.tensix.tile_operations import (
    BINARY,
    COPY,
    COPY_DST,
    MATMUL,
    REDUCE,
    SFPU_BINARY,
    SFPU_REDUCE,
    SFPU_TERNARY,
    SFPU_UNARY,
    TRANSPOSE_DST,
    WORD,
    clear_tile,
    dst_words,
    source_offset,
)
from tensim.sim.cores.threads import fail
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.known_words import forget
from tensim.sim.engine.memory import lies_within
from tensim.sim.state import EXACT, circular_buffers_of, cores_of, src_a_of, src_b_of, threads_of

ALL_PHASES = 4  # fidelity phases of HiFi4


@compiled()
def load_tile(m, core, row, tile, transpose, width, registers, offset):
    """Decode one tile of a circular buffer into a register bank; width > 0: tilize from rows of `width` tiles."""
    cb = circular_buffers_of(m)
    base = m.l1_at + core * m.l1_size + cb[row].read_ptr
    data_format = cb[row].format
    if width > 0:
        row_bytes = cb[row].tile_size // TILE_SIDE
        band, column = tile // width, tile % width
        address = base + band * TILE_SIDE * row_bytes * width + column * row_bytes
        decode_rows(address, data_format, row_bytes * width, registers, offset)
    else:
        address, rows = base + tile * cb[row].page_size, cb[row].tile_hw // ROW
        if transpose != 0:
            scratch = m.n_source_words - TILE_DATUMS  # one spare tile behind the banks
            decode_tile(address, data_format, rows, registers, scratch)
            transpose_tile(registers, scratch, registers, offset)
        else:
            decode_tile(address, data_format, rows, registers, offset)


@compiled()
def check_formats(m, core, row0, row1):
    """Refuse operands that no mode of the matrix unit takes; `row1`: of the other one, or `row0` again where Dst holds it."""
    cb, thread = circular_buffers_of(m), core * THREADS_PER_CORE + UNPACK_SLOT
    first, second = cb[row0].format, cb[row1].format
    kind = format_kind(first)
    if kind != format_kind(second):
        fail(m, thread, Fault.FORMAT_PAIR, first, second, 0)
    elif kind == OPAQUE or (kind == INTEGER and threads_of(m)[thread].operation != Op.UNPACK_MATMUL):
        fail(m, thread, Fault.INTEGER_OPERANDS, first, second, 0)


@compiled()
def load_source(m, core, operand, row, tile, transpose, width, alone, place):
    """Fill a place of a source register with a tile of a circular buffer, and note its format.

    With `fast` numerics products also need to know whether all its numbers are finite.
    """
    registers, offset = src_a_of(m) if operand == 0 else src_b_of(m), source_offset(core, place)
    words = registers.ctypes.data + WORD * offset
    if m.data_on == EXACT:
        data_format = load_exact(m, core, row, tile, transpose, width, alone, words)
    else:
        load_tile(m, core, row, tile, transpose, width, registers, offset)
        data_format = circular_buffers_of(m)[row].format
        if format_kind(data_format) < INTEGER and not is_finite(words):
            data_format |= NOT_FINITE
    source_formats_of(m)[source_place(core, operand, place)] = data_format


@compiled()
def do_unpack(m, core, row0, tile0, row1, tile1, transpose0, transpose1, width, load0, load1):
    """Fill the next source bank; load0/load1 False: the operand stays from the token before."""
    if width > 0 and block_bits(circular_buffers_of(m)[row0].format) > 0:
        fail(m, core * THREADS_PER_CORE + UNPACK_SLOT, Fault.ROWS_FORMAT, circular_buffers_of(m)[row0].format, 0, 0)
    if load0 and load1:
        check_formats(m, core, row0, row1)
    elif threads_of(m)[core * THREADS_PER_CORE + UNPACK_SLOT].operation == Op.UNPACK_REUSE:
        check_formats(m, core, row0, row0)
    if m.data_on == 0:
        return
    record = cores_of(m)[core]
    if load0:
        record.bank_a = free_place(m, core, 0, record.bank_a)
        load_source(m, core, 0, row0, tile0, transpose0, width, not load1, record.bank_a)
    if load1:
        record.bank_b = free_place(m, core, 1, record.bank_b)
        load_source(m, core, 1, row1, tile1, transpose1, 0, False, record.bank_b)
    name_places(record)


@compiled()
def token_banks(record):
    """Source banks of both operands of the token that math takes next."""
    if record.src_taken & 1 == 0:
        return record.token0_a, record.token0_b
    return record.token1_a, record.token1_b


@compiled()
def take_fresh(m, core, tile):
    """1 if a Dst tile is still in the state tile_regs_acquire left it in, which it is not any more afterwards; else 0."""
    record = cores_of(m)[core]
    fresh = (record.fresh >> tile) & 1
    record.fresh &= ~(1 << tile)
    if fresh:
        written(record, tile, 0)
    return fresh


@compiled()
def begin(m, core, code, tile, clears):
    """Begin to post an operation on a Dst tile, which `clears` a fresh one first; returns its row (`next_operation`)."""
    a, b = token_banks(cores_of(m)[core])
    fresh = take_fresh(m, core, tile)
    return next_operation(m, core, code, tile, fresh if clears else 0, fresh, a, b)


@compiled()
def do_matmul(m, core, tile):
    if m.data_on == 0:
        return
    row, record = begin(m, core, MATMUL, tile, True), cores_of(m)[core]
    if m.data_on != EXACT:
        added(record, tile)
    elif record.fidelity_phases == ALL_PHASES and record.fp32_dest != 0:
        record.wide_products += 1
    post(m, core, row)


@compiled()
def do_copy(m, core, tile, bcast):
    if m.data_on == 0:
        return
    row = begin(m, core, COPY, tile, False)
    if m.data_on != EXACT:
        written(cores_of(m)[core], tile, 0)
    operations_of(m)[row].p0 = bcast
    post(m, core, row)


@compiled()
def do_binary(m, core, tile, op, bcast, accumulate, reuse):
    """Dst tile = a op b, or Dst += a op b.  Products are always added to Dst, as ELWMUL does.

    Source: docs/hardware/numerics.md#products.
    """
    if m.data_on == 0:
        return
    row = begin(m, core, BINARY, tile, True)
    if m.data_on != EXACT:
        if accumulate or op == Binary.MUL or reuse != Reuse.NONE:
            added(cores_of(m)[core], tile)
        else:
            written(cores_of(m)[core], tile, 1)
    posted = operations_of(m)[row]
    posted.p0, posted.p1, posted.p2, posted.p3 = op, bcast, accumulate, reuse
    post(m, core, row)


@compiled()
def do_reduce(m, core, tile, pool, dim):
    if m.data_on == 0:
        return
    row = begin(m, core, REDUCE, tile, False)
    if m.data_on != EXACT and pool != Pool.MAX:
        added(cores_of(m)[core], tile)
    posted = operations_of(m)[row]
    posted.p0, posted.p1 = pool, dim
    post(m, core, row)


@compiled()
def do_transpose_dst(m, core, tile):
    if m.data_on == 0:
        return
    a, b = token_banks(cores_of(m)[core])
    post(m, core, next_operation(m, core, TRANSPOSE_DST, tile, 0, 0, a, b))


@compiled()
def do_copy_dst(m, core, source, target):
    if m.data_on == 0:
        return
    row, record = begin(m, core, COPY_DST, target, False), cores_of(m)[core]
    written(record, target, is_rounded(record, source))
    operations_of(m)[row].p0 = source
    post(m, core, row)


@compiled()
def do_sfpu_unary(m, core, tile, function, form, p0, p1, p2):
    if m.data_on == 0:
        return
    row = begin(m, core, SFPU_UNARY, tile, True)
    if m.data_on != EXACT:
        function_of_one(cores_of(m)[core], function, tile)
    posted = operations_of(m)[row]
    posted.p0, posted.p1, posted.p2, posted.p3, posted.p4 = function, form, p0, p1, p2
    post(m, core, row)


@compiled()
def do_sfpu_reduce(m, core, tile, pool, dim, data_format):
    if m.data_on == 0:
        return
    row = begin(m, core, SFPU_REDUCE, tile, True)
    if m.data_on != EXACT and (pool == Pool.SUM or pool == Pool.AVG):
        written(cores_of(m)[core], tile, 1)
    posted = operations_of(m)[row]
    posted.p0, posted.p1, posted.p2 = pool, dim, data_format
    post(m, core, row)


@compiled()
def do_sfpu_binary(m, core, function, a, b, out, p0):
    if m.data_on == 0:
        return
    row = begin(m, core, SFPU_BINARY, out, False)
    if m.data_on != EXACT:
        function_of_two(cores_of(m)[core], function, a, b, out)
    posted = operations_of(m)[row]
    posted.p0, posted.p1, posted.p2, posted.p4 = function, a, b, p0
    post(m, core, row)


@compiled()
def do_sfpu_ternary(m, core, function, a, b, c, out, p0):
    if m.data_on == 0:
        return
    row = begin(m, core, SFPU_TERNARY, out, False)
    if m.data_on != EXACT:
        written(cores_of(m)[core], out, 1)
    posted = operations_of(m)[row]
    posted.p0, posted.p1, posted.p2, posted.p3, posted.p4 = function, a, b, c, p0
    post(m, core, row)


@compiled()
def check_packed(m, core, data_format, untilize):
    """Refuse what the packer cannot make of a format: sums in L1, rows."""
    thread = core * THREADS_PER_CORE + PACK_SLOT
    narrow = data_format == FLOAT16_B or data_format == FLOAT16
    if cores_of(m)[core].l1_accumulate != 0 and data_format != FLOAT32 and not narrow:
        fail(m, thread, Fault.ACCUMULATED_FORMAT, data_format, 0, 0)
    if untilize > 0 and block_bits(data_format) > 0:
        fail(m, thread, Fault.ROWS_FORMAT, data_format, 0, 0)


@compiled()
def forget_packed(m, core, row, page, untilize):
    """A page behind the write pointer, or the rows of tiles that it is one of, gets what is left out with numerics off."""
    cb = circular_buffers_of(m)[row]
    first, pages, size = page, 1, cb.page_size
    if untilize > 0:
        first, pages, size = page // untilize * untilize, untilize, cb.tile_size
    address = core * m.l1_size + cb.write_ptr + first * size
    if lies_within(address, pages * size, m.n_workers * m.l1_size):
        forget(m.l1_known_at, address, pages * size)


@compiled()
def do_pack(m, core, tile, row, page, untilize):
    """Encode one Dst tile into a page behind the write pointer; untilize > 0: into row-major rows of that many tiles."""
    check_packed(m, core, circular_buffers_of(m)[row].format, untilize)
    if m.data_on == 0:
        if m.knows != 0:
            forget_packed(m, core, row, page, untilize)
        return
    drain(m, core)
    cb, record = circular_buffers_of(m), cores_of(m)[core]
    if take_fresh(m, core, tile):
        clear_tile(m, queues_of(m)[core], core, tile)
    base = m.l1_at + core * m.l1_size + cb[row].write_ptr
    data_format = cb[row].format
    words, relu, threshold = dst_words(m, core, tile), record.pack_relu, record.pack_threshold
    kind, bits = value_kind(data_format), DST32 | (PRECISE if record.pack_precise != 0 else 0)
    if m.data_on == EXACT:
        kind, bits = dst_kind(queues_of(m)[core], tile), dst_bits(record)
    if untilize > 0:
        row_bytes = cb[row].tile_size // TILE_SIDE
        band, column = page // untilize, page % untilize
        address = base + band * TILE_SIDE * row_bytes * untilize + column * row_bytes
        pitch = row_bytes * untilize
        pack_rows(words, kind, data_format, bits, address, pitch, relu, threshold, record.l1_accumulate)
    else:
        address, rows = base + page * cb[row].page_size, cb[row].tile_hw // ROW
        pack_tile(words, kind, data_format, bits, rows, address, relu, threshold, record.l1_accumulate)
