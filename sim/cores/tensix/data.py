"""What the Tensix operations do to data, on top of the tile arithmetic: which bytes, which register bank, which Dst tile.

Operand 0 of an unpack lands in `src_a`, operand 1 in `src_b` (register files of the simulator, two banks each; the chip
puts matmul's in0 in SrcB and in1 in SrcA).  Nothing here costs time; with numerics off nothing here happens.
"""

from tensim.sim.cores.faults import Fault
from tensim.sim.cores.numerics.exact_math import SPARE_TILE, transpose_exact
from tensim.sim.cores.numerics.matrix_unit import INTEGER, OPAQUE, WIDE
from tensim.sim.cores.numerics.packer import DST32, pack_rows, pack_tile
from tensim.sim.cores.numerics.sfpu import sfpu_binary, sfpu_reduce, sfpu_ternary, sfpu_unary
from tensim.sim.cores.numerics.sfpu_exact import (
    sfpu_binary_exact,
    sfpu_reduce_exact,
    sfpu_ternary_exact,
    sfpu_unary_exact,
)
from tensim.sim.cores.numerics.simd_lanes import ROW
from tensim.sim.cores.numerics.tensix_exact import (
    binary_tiles_exact,
    copy_tile_exact,
    copy_words_of_tile,
    dst_bits,
    dst_kind,
    load_exact,
    matmul_tiles_exact,
    reduce_tile_exact,
    set_dst_kind,
    set_source_format,
    source_format,
)
from tensim.sim.cores.numerics.tile import TILE_DATUMS, TILE_SIDE
from tensim.sim.cores.numerics.tile_formats import decode_rows, decode_tile, value_kind
from tensim.sim.cores.numerics.tile_math import (
    binary_tile,
    copy_tile,
    is_finite,
    matmul_tile,
    matmul_tile_of_any,
    matmul_tile_of_integers,
    reduce_tile,
    transpose_tile,
)
from tensim.sim.cores.numerics.unpacker import FLOAT16, FLOAT16_B, FLOAT32, block_bits, format_kind
from tensim.sim.cores.operations import Binary, Op, Pool, Reuse
from tensim.sim.cores.slots import PACK_SLOT, THREADS_PER_CORE, UNPACK_SLOT
from tensim.sim.cores.tensix.hidden_rounding import added, function_of_one, function_of_two, is_rounded, written
from tensim.sim.cores.threads import fail
from tensim.sim.engine.compiled import compiled
from tensim.sim.state import EXACT, circular_buffers_of, cores_of, dst_of, src_a_of, src_b_of, threads_of

WORD, ALL_PHASES = 4, 4  # bytes; fidelity phases of HiFi4


@compiled(inline="always")
def bank_offset(core, bank):
    return (core * 2 + bank) * TILE_DATUMS


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
def note_source(m, record, operand, bank, row, words):
    """What products need to know of a source bank with `fast` numerics: its format, and whether all its numbers are finite."""
    data_format = circular_buffers_of(m)[row].format
    set_source_format(record, operand, bank, data_format)
    bit = 1 << (2 * operand + bank)
    record.not_finite &= ~bit
    if format_kind(data_format) < INTEGER and not is_finite(words):
        record.not_finite |= bit


@compiled()
def do_unpack(m, core, row0, tile0, row1, tile1, transpose0, transpose1, width, load0, load1):
    """Fill the next source bank; load0/load1 False: the operand stays from the token before."""
    if width > 0 and block_bits(circular_buffers_of(m)[row0].format) > 0:
        fail(
            m,
            core * THREADS_PER_CORE + UNPACK_SLOT,
            Fault.ROWS_FORMAT,
            circular_buffers_of(m)[row0].format,
            0,
            0,
        )
    if load0 and load1:
        check_formats(m, core, row0, row1)
    elif threads_of(m)[core * THREADS_PER_CORE + UNPACK_SLOT].operation == Op.UNPACK_REUSE:
        check_formats(m, core, row0, row0)
    if m.data_on == 0:
        return
    record = cores_of(m)[core]
    token = record.src_started & 1
    a, b = src_a_of(m), src_b_of(m)
    exact, alone = m.data_on == EXACT, load0 and not load1
    if load0:
        record.bank_a ^= 1
        offset = bank_offset(core, record.bank_a)
        if exact:
            load_exact(m, core, 0, row0, tile0, transpose0, width, alone, a.ctypes.data + WORD * offset)
        else:
            load_tile(m, core, row0, tile0, transpose0, width, a, offset)
            note_source(m, record, 0, record.bank_a, row0, a.ctypes.data + WORD * offset)
    if load1:
        record.bank_b ^= 1
        offset = bank_offset(core, record.bank_b)
        if exact:
            load_exact(m, core, 1, row1, tile1, transpose1, 0, False, b.ctypes.data + WORD * offset)
        else:
            load_tile(m, core, row1, tile1, transpose1, 0, b, offset)
            note_source(m, record, 1, record.bank_b, row1, b.ctypes.data + WORD * offset)
    if token == 0:
        record.token0_a, record.token0_b = record.bank_a, record.bank_b
    else:
        record.token1_a, record.token1_b = record.bank_a, record.bank_b


@compiled()
def token_banks(record):
    """Source banks of both operands of the token that math takes next."""
    if record.src_taken & 1 == 0:
        return record.token0_a, record.token0_b
    return record.token1_a, record.token1_b


@compiled()
def token_offsets(m, core):
    """Register offsets of both operands of the token that math takes next."""
    a, b = token_banks(cores_of(m)[core])
    return bank_offset(core, a), bank_offset(core, b)


@compiled()
def token_words(m, core):
    """Host addresses of both operands of the token that math takes next."""
    a, b = token_offsets(m, core)
    return m.src_a_at + WORD * a, m.src_b_at + WORD * b


@compiled()
def dst_words(m, core, tile):
    """Host address of a Dst tile."""
    return m.dst_at + WORD * dst_offset(core, tile)


@compiled(inline="always")
def dst_offset(core, tile):
    return (core * 16 + tile) * TILE_DATUMS


@compiled()
def take_fresh(m, core, tile):
    """Whether Dst tile is still in the state tile_regs_acquire left it in; it is not any more afterwards."""
    record = cores_of(m)[core]
    fresh = (record.fresh >> tile) & 1
    record.fresh &= ~(1 << tile)
    if fresh:
        written(record, tile, 0)
    return fresh


@compiled()
def clear_if_fresh(m, core, tile):
    if take_fresh(m, core, tile):
        dst = dst_of(m)
        start = dst_offset(core, tile)
        for i in range(start, start + TILE_DATUMS):
            dst[i] = 0.0
        set_dst_kind(cores_of(m)[core], tile, WIDE)


@compiled()
def do_matmul(m, core, tile):
    if m.data_on == 0:
        return
    clear_if_fresh(m, core, tile)
    record = cores_of(m)[core]
    if m.data_on == EXACT:
        if record.fidelity_phases == ALL_PHASES and record.fp32_dest != 0:
            record.wide_products += 1
        a, b = token_words(m, core)
        matmul_tiles_exact(m, record, token_banks(record), a, b, tile, dst_words(m, core, tile))
        return
    added(record, tile)
    (bank_a, bank_b), (a, b) = token_banks(record), token_offsets(m, core)
    if format_kind(source_format(record, 0, bank_a)) == INTEGER:
        matmul_tile_of_integers(src_a_of(m), a, src_b_of(m), b, dst_of(m), dst_offset(core, tile))
    elif (record.not_finite >> bank_a | record.not_finite >> 2 + bank_b) & 1:
        matmul_tile_of_any(src_a_of(m), a, src_b_of(m), b, dst_of(m), dst_offset(core, tile))
    else:
        matmul_tile(src_a_of(m), a, src_b_of(m), b, dst_of(m), dst_offset(core, tile))


@compiled()
def do_copy(m, core, tile, bcast):
    if m.data_on == 0:
        return
    take_fresh(m, core, tile)
    if m.data_on == EXACT:
        record, (a, b) = cores_of(m)[core], token_words(m, core)
        copy_tile_exact(m, record, token_banks(record), a, tile, dst_words(m, core, tile), bcast)
        return
    written(cores_of(m)[core], tile, 0)
    a, b = token_offsets(m, core)
    copy_tile(src_a_of(m), a, bcast, dst_of(m), dst_offset(core, tile))


@compiled()
def do_binary(m, core, tile, op, bcast, accumulate, reuse):
    """Dst tile = a op b, or Dst += a op b.  Products are always added to Dst, as ELWMUL does.

    Source: docs/hardware/numerics.md#products.
    """
    if m.data_on == 0:
        return
    clear_if_fresh(m, core, tile)
    if m.data_on == EXACT:
        record, (a, b) = cores_of(m)[core], token_words(m, core)
        out = dst_words(m, core, tile)
        binary_tiles_exact(m, record, token_banks(record), op, bcast, a, b, tile, out, accumulate, reuse)
        return
    a, b = token_offsets(m, core)
    dst, target = dst_of(m), dst_offset(core, tile)
    if accumulate or op == Binary.MUL or reuse != Reuse.NONE:
        added(cores_of(m)[core], tile)
    else:
        written(cores_of(m)[core], tile, 1)
    if reuse == Reuse.DEST_TO_SRCA:
        binary_tile(op, bcast, dst, target, src_a_of(m), a, dst, target, 0)
    elif reuse == Reuse.DEST_TO_SRCB:
        binary_tile(op, bcast, src_a_of(m), a, dst, target, dst, target, 0)
    else:
        binary_tile(op, bcast, src_a_of(m), a, src_b_of(m), b, dst, target, accumulate or op == Binary.MUL)


@compiled()
def do_reduce(m, core, tile, pool, dim):
    if m.data_on == 0:
        return
    fresh = take_fresh(m, core, tile)
    if m.data_on == EXACT:
        record, (a, b) = cores_of(m)[core], token_words(m, core)
        reduce_tile_exact(m, record, token_banks(record), pool, dim, a, b, tile, dst_words(m, core, tile), fresh != 0)
        return
    if pool != Pool.MAX:
        added(cores_of(m)[core], tile)
    a, b = token_offsets(m, core)
    reduce_tile(pool, dim, src_a_of(m), a, src_b_of(m), b, dst_of(m), dst_offset(core, tile), fresh)


@compiled()
def do_transpose_dst(m, core, tile):
    if m.data_on == 0:
        return
    if m.data_on == EXACT:
        words = dst_words(m, core, tile)
        transpose_exact(words, m.scratch_at + SPARE_TILE)
        copy_words_of_tile(m.scratch_at + SPARE_TILE, words)
        return
    dst, target = dst_of(m), dst_offset(core, tile)
    transpose_tile(dst, target, src_a_of(m), bank_offset(core, 0))
    copy_tile(src_a_of(m), bank_offset(core, 0), 0, dst, target)


@compiled()
def do_copy_dst(m, core, source, target):
    if m.data_on == 0:
        return
    take_fresh(m, core, target)
    record = cores_of(m)[core]
    set_dst_kind(record, target, dst_kind(record, source))
    written(record, target, is_rounded(record, source))
    copy_tile(dst_of(m), dst_offset(core, source), 0, dst_of(m), dst_offset(core, target))


@compiled()
def do_sfpu_unary(m, core, tile, function, form, p0, p1, p2):
    if m.data_on == 0:
        return
    clear_if_fresh(m, core, tile)
    if m.data_on == EXACT:
        sfpu_unary_exact(cores_of(m)[core], function, form, dst_of(m), dst_offset(core, 0), tile, p0, p1, p2)
        return
    function_of_one(cores_of(m)[core], function, tile)
    sfpu_unary(function, form, dst_of(m), dst_offset(core, tile), p0, p1, p2)


@compiled()
def do_sfpu_reduce(m, core, tile, pool, dim, data_format):
    if m.data_on == 0:
        return
    clear_if_fresh(m, core, tile)
    spare, spare_offset = src_a_of(m), m.n_source_words - TILE_DATUMS  # behind the banks
    if m.data_on == EXACT:
        record, first = cores_of(m)[core], dst_offset(core, 0)
        sfpu_reduce_exact(record, pool, dim, data_format, dst_of(m), first, tile, spare, spare_offset)
        return
    if pool == Pool.SUM or pool == Pool.AVG:
        written(cores_of(m)[core], tile, 1)
    sfpu_reduce(pool, dim, data_format, dst_of(m), dst_offset(core, tile), spare, spare_offset)


@compiled()
def do_sfpu_binary(m, core, function, a, b, out, p0):
    if m.data_on == 0:
        return
    take_fresh(m, core, out)
    if m.data_on == EXACT:
        sfpu_binary_exact(cores_of(m)[core], function, dst_of(m), dst_offset(core, 0), a, b, out, p0)
        return
    record = cores_of(m)[core]
    function_of_two(record, function, a, b, out)
    places = dst_offset(core, a), dst_offset(core, b), dst_offset(core, out)
    sfpu_binary(function, dst_of(m), places[0], places[1], places[2], record.fp32_dest != 0)


@compiled()
def do_sfpu_ternary(m, core, function, a, b, c, out, p0):
    if m.data_on == 0:
        return
    take_fresh(m, core, out)
    if m.data_on == EXACT:
        sfpu_ternary_exact(cores_of(m)[core], function, dst_of(m), dst_offset(core, 0), a, b, c, out, p0)
        return
    written(cores_of(m)[core], out, 1)
    offsets = dst_offset(core, a), dst_offset(core, b), dst_offset(core, c)
    sfpu_ternary(function, dst_of(m), offsets[0], offsets[1], offsets[2], dst_offset(core, out), p0)


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
def do_pack(m, core, tile, row, page, untilize):
    """Encode one Dst tile into a page behind the write pointer; untilize > 0: into row-major rows of that many tiles."""
    check_packed(m, core, circular_buffers_of(m)[row].format, untilize)
    if m.data_on == 0:
        return
    clear_if_fresh(m, core, tile)
    cb, record = circular_buffers_of(m), cores_of(m)[core]
    base = m.l1_at + core * m.l1_size + cb[row].write_ptr
    data_format = cb[row].format
    words, relu, threshold = dst_words(m, core, tile), record.pack_relu, record.pack_threshold
    kind, bits = value_kind(data_format), DST32
    if m.data_on == EXACT:
        kind, bits = dst_kind(record, tile), dst_bits(record)
    if untilize > 0:
        row_bytes = cb[row].tile_size // TILE_SIDE
        band, column = page // untilize, page % untilize
        address = base + band * TILE_SIDE * row_bytes * untilize + column * row_bytes
        pitch = row_bytes * untilize
        pack_rows(words, kind, data_format, bits, address, pitch, relu, threshold, record.l1_accumulate)
    else:
        address, rows = base + page * cb[row].page_size, cb[row].tile_hw // ROW
        pack_tile(words, kind, data_format, bits, rows, address, relu, threshold, record.l1_accumulate)
