"""What the Tensix operations do to data with `numerics=exact`: registers hold words, and each knows what they mean.

A source bank remembers the format it was unpacked from, a Dst tile the kind of its words
(`tensim.sim.cores.numerics.matrix_unit`); both decide how the next unit reads them.  `record` is the queue of the core, with the
settings of the operation at hand (`tensim.sim.cores.tensix.queue_state.QUEUE`).  Addresses are host addresses of 1024 words.
"""

from tensim.sim.cores.numerics.exact_math import (
    ALL_BITS,
    KEPT_BF16,
    KEPT_TF32,
    SPARE_TILE,
    binary_exact,
    broadcast_exact,
    copy_exact,
    matmul_exact,
    matmul_integers,
    reduce_exact,
    transpose_exact,
)
from tensim.sim.cores.numerics.matrix_unit import INTEGER, NARROW, WIDE, WORD_ROW, to_bf16_source
from tensim.sim.cores.numerics.packer import DST16, DST32, PRECISE
from tensim.sim.cores.numerics.simd_lanes import ROW
from tensim.sim.cores.numerics.tile import TILE_ROWS, TILE_SIDE
from tensim.sim.cores.numerics.unpacker import (
    FLOAT32,
    TF32,
    TO_BF16,
    TO_FP32,
    TO_TF32,
    clear_words,
    copy_words,
    cut_to_tf32,
    format_kind,
    unpack_rows,
    unpack_tile,
)
from tensim.sim.cores.operations import Binary, ReduceDim, Reuse
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.limits import N_CIRCULAR_BUFFERS
from tensim.sim.state import circular_buffers_of, cores_of

UNCHANGED = TF32  # "format" of float32 that was unpacked to Dst directly: no circular buffer holds tf32


@compiled()
def dst_kind(record, tile):
    return (record.dst_kinds >> 2 * tile) & 3


@compiled()
def set_dst_kind(record, tile, kind):
    record.dst_kinds = (record.dst_kinds & ~(3 << 2 * tile)) | (kind << 2 * tile)


@compiled()
def dst_bits(record):
    """How the packer reads Dst on this core; see `tensim.sim.cores.numerics.packer.early`."""
    return (DST32 if record.fp32_dest != 0 else DST16) | (PRECISE if record.pack_precise != 0 else 0)


@compiled()
def load_exact(m, core, row, tile, transpose, width, alone, target):
    """Unpack a tile of a circular buffer; `alone`: not beside a second operand, so that it may go to Dst directly.

    Returns the format of what is in the register then.
    """
    cb, record = circular_buffers_of(m), cores_of(m)[core]
    base = m.l1_at + core * m.l1_size + cb[row].read_ptr
    data_format, datum_format = cb[row].format, cb[row].format
    index = row % N_CIRCULAR_BUFFERS
    cut, wide = TO_TF32 if record.fp32_dest != 0 else TO_BF16, data_format == FLOAT32 and record.fp32_dest != 0
    if alone and wide and (record.unpack_to_dst >> index) & 1:
        cut, data_format = TO_FP32, UNCHANGED
    if width > 0:
        row_bytes = cb[row].tile_size // TILE_SIDE
        band, column = tile // width, tile % width
        address = base + band * TILE_SIDE * row_bytes * width + column * row_bytes
        unpack_rows(address, datum_format, row_bytes * width, cut, target)
        return data_format
    address, rows = base + tile * cb[row].page_size, cb[row].tile_hw // ROW
    if transpose != 0:
        spare = m.scratch_at + SPARE_TILE
        unpack_tile(address, datum_format, cut, rows, spare)
        transpose_exact(spare, target)
    else:
        unpack_tile(address, datum_format, cut, rows, target)
    return data_format


@compiled()
def unit_of(m, record, data_format):
    """What `tensim.sim.cores.numerics.exact_math` needs to know of a core whose sources hold a format."""
    narrow = int(format_kind(data_format) == NARROW)
    return record.fidelity_phases, narrow, record.fp32_dest, m.lone_bit_quirk, record.scratch_at


@compiled()
def result_kind(record, data_format):
    """Kind of Dst words computed from sources of a format."""
    kind = format_kind(data_format)
    return WIDE if kind == NARROW and record.fp32_dest != 0 else kind


@compiled()
def matmul_tiles_exact(m, record, a, b, tile, dst):
    """Operand 0 at `a` is SrcB, operand 1 at `b` is SrcA."""
    data_format = record.format_a
    if format_kind(data_format) == INTEGER:
        matmul_integers(a, b, dst, record.fidelity_phases)
    else:
        matmul_exact(a, b, dst, unit_of(m, record, data_format))
    set_dst_kind(record, tile, result_kind(record, data_format))


@compiled()
def copy_tile_exact(m, record, a, tile, dst, bcast):
    data_format = record.format_a
    is_float = data_format != UNCHANGED and format_kind(data_format) < INTEGER
    if bcast != 0:
        broadcast_exact(a, bcast, record.scratch_at)
        a = record.scratch_at
    copy_exact(a, dst, is_float, unit_of(m, record, data_format))
    set_dst_kind(record, tile, result_kind(record, data_format))


@compiled()
def copy_words_of_tile(source, target):
    for row in range(TILE_ROWS):
        copy_words(source + WORD_ROW * row, target + WORD_ROW * row)


@compiled()
def dst_to_source(dst, data_format, target):
    """MOVD2A, MOVD2B: a 32-bit Dst is cut to what the source register holds beside the other operand."""
    for row in range(TILE_ROWS):
        if data_format == FLOAT32 or data_format == TF32:
            cut_to_tf32(dst + WORD_ROW * row, target + WORD_ROW * row)
        else:
            to_bf16_source(dst + WORD_ROW * row, target + WORD_ROW * row)


@compiled()
def binary_tiles_exact(m, record, op, bcast, a, b, tile, dst, accumulate, reuse):
    data_format = record.format_a
    spare = record.scratch_at + SPARE_TILE
    if bcast != 0:
        broadcast_exact(b, bcast, spare)
        b = spare
    if reuse != 0:
        if record.fp32_dest != 0:
            dst_to_source(dst, data_format, spare)
        else:
            copy_words_of_tile(dst, spare)
        b = a if reuse == Reuse.DEST_TO_SRCA else spare
        a = spare if reuse == Reuse.DEST_TO_SRCA else a
        if op == Binary.MUL:
            for row in range(TILE_ROWS):
                clear_words(dst + WORD_ROW * row, dst + WORD_ROW * row)
        accumulate = 0
    binary_exact(op, a, b, dst, accumulate, unit_of(m, record, data_format))
    set_dst_kind(record, tile, result_kind(record, data_format))


@compiled()
def kept_bits(data_format):
    """Bits of a word that a source register of a format keeps."""
    return KEPT_TF32 if data_format == FLOAT32 or data_format == TF32 else KEPT_BF16


@compiled()
def kept_by_sources(m, record, dim):
    """Bits of a 32-bit Dst's words that come back through SrcB (maxima of rows), or go through it into SrcA."""
    a, b = record.format_a, record.format_b
    if record.fp32_dest == 0 or format_kind(a) == NARROW:
        return ALL_BITS
    if dim == ReduceDim.ROW:
        return kept_bits(b)
    return kept_bits(a) & (kept_bits(b) if m.moves_by_src_b != 0 else ALL_BITS)


@compiled()
def reduce_tile_exact(m, record, pool, dim, a, b, tile, dst, fresh):
    data_format = record.format_a
    kept = kept_by_sources(m, record, dim)
    reduce_exact(pool, dim, a, b, dst, fresh, kept, unit_of(m, record, data_format))
    set_dst_kind(record, tile, result_kind(record, data_format))
