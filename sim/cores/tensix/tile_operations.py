"""The Tensix engine's operations on Dst, executed: by the event loop's thread or by another one (`tensim.sim.cores.tensix.queues`).

Whoever executes an operation has taken the core's queue, and sees Dst, the source places that the operation names, and
the `QUEUE` record alone; scratch memory is the thread's own.
"""

from tensim.sim.cores.numerics.exact_math import SCRATCH_BYTES, SPARE_TILE, transpose_exact
from tensim.sim.cores.numerics.matrix_unit import INTEGER, WIDE
from tensim.sim.cores.numerics.sfpu import sfpu_binary, sfpu_reduce, sfpu_ternary, sfpu_unary
from tensim.sim.cores.numerics.sfpu_exact import (
    sfpu_binary_exact,
    sfpu_reduce_exact,
    sfpu_ternary_exact,
    sfpu_unary_exact,
)
from tensim.sim.cores.numerics.tensix_exact import (
    binary_tiles_exact,
    copy_tile_exact,
    copy_words_of_tile,
    dst_kind,
    matmul_tiles_exact,
    reduce_tile_exact,
    set_dst_kind,
)
from tensim.sim.cores.numerics.tile import TILE_DATUMS
from tensim.sim.cores.numerics.tile_math import (
    binary_tile,
    copy_tile,
    matmul_tile,
    matmul_tile_of_any,
    matmul_tile_of_integers,
    reduce_tile,
    transpose_tile,
)
from tensim.sim.cores.numerics.unpacker import format_kind
from tensim.sim.cores.operations import Binary, Reuse
from tensim.sim.cores.tensix.queue_state import DST_TILES, NOT_FINITE, SOURCE_PLACES, operations_of, queues_of
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import floats_at
from tensim.sim.state import EXACT, dst_of, src_a_of, src_b_of

WORD = 4  # bytes
# Codes of operations
(
    MATMUL, COPY, BINARY, REDUCE, TRANSPOSE_DST, COPY_DST, SFPU_UNARY, SFPU_BINARY, SFPU_TERNARY, SFPU_REDUCE,
) = range(10)  # fmt: skip


@compiled(inline="always")
def source_offset(core, place):
    """Position of a source place in `src_a` or `src_b`."""
    return (core * SOURCE_PLACES + place) * TILE_DATUMS


@compiled(inline="always")
def dst_offset(core, tile):
    return (core * DST_TILES + tile) * TILE_DATUMS


@compiled()
def dst_words(m, core, tile):
    """Host address of a Dst tile."""
    return m.dst_at + WORD * dst_offset(core, tile)


@compiled()
def clear_tile(m, queue, core, tile):
    """Fill a Dst tile with zeros."""
    dst, start = dst_of(m), dst_offset(core, tile)
    for i in range(start, start + TILE_DATUMS):
        dst[i] = 0.0
    set_dst_kind(queue, tile, WIDE)


@compiled()
def multiply(m, operation, a, b, target):
    """A product with `fast` numerics: integers, numbers with infinity or NaN among them, or finite ones."""
    formats = operation.format_a | operation.format_b
    if format_kind(operation.format_a & ~NOT_FINITE) == INTEGER:
        matmul_tile_of_integers(src_a_of(m), a, src_b_of(m), b, dst_of(m), target)
    elif formats & NOT_FINITE != 0:
        matmul_tile_of_any(src_a_of(m), a, src_b_of(m), b, dst_of(m), target)
    else:
        matmul_tile(src_a_of(m), a, src_b_of(m), b, dst_of(m), target)


@compiled()
def combine(m, operation, a, b, target):
    """Dst tile = a op b, or Dst += a op b, with `fast` numerics; products are always added to Dst."""
    op, bcast, accumulate, reuse, dst = operation.p0, operation.p1, operation.p2, operation.p3, dst_of(m)
    if reuse == Reuse.DEST_TO_SRCA:
        binary_tile(op, bcast, dst, target, src_a_of(m), a, dst, target, 0)
    elif reuse == Reuse.DEST_TO_SRCB:
        binary_tile(op, bcast, src_a_of(m), a, dst, target, dst, target, 0)
    else:
        binary_tile(op, bcast, src_a_of(m), a, src_b_of(m), b, dst, target, accumulate or op == Binary.MUL)


@compiled()
def execute_fast(m, queue, core, operation):
    """An operation in float32."""
    code, tile, dst = operation.code, operation.tile, dst_of(m)
    a, b, target = source_offset(core, operation.a), source_offset(core, operation.b), dst_offset(core, tile)
    p0, p1, p2, p3, p4 = operation.p0, operation.p1, operation.p2, operation.p3, operation.p4
    spare = floats_at(queue.scratch_at, TILE_DATUMS)
    if code == MATMUL:
        multiply(m, operation, a, b, target)
    elif code == COPY:
        copy_tile(src_a_of(m), a, p0, dst, target)
    elif code == BINARY:
        combine(m, operation, a, b, target)
    elif code == REDUCE:
        reduce_tile(p0, p1, src_a_of(m), a, src_b_of(m), b, dst, target, operation.fresh)
    elif code == TRANSPOSE_DST:
        transpose_tile(dst, target, spare, 0)
        copy_tile(spare, 0, 0, dst, target)
    elif code == COPY_DST:
        copy_tile(dst, dst_offset(core, p0), 0, dst, target)
    elif code == SFPU_UNARY:
        sfpu_unary(p0, p1, dst, target, p2, p3, p4)
    elif code == SFPU_BINARY:
        sfpu_binary(p0, dst, dst_offset(core, p1), dst_offset(core, p2), target, operation.fp32_dest != 0)
    elif code == SFPU_TERNARY:
        sfpu_ternary(p0, dst, dst_offset(core, p1), dst_offset(core, p2), dst_offset(core, p3), target, p4)
    else:
        sfpu_reduce(p0, p1, p2, dst, target, spare, 0)


@compiled()
def execute_exact(m, queue, core, operation):
    """An operation bit for bit."""
    code, tile, dst, first = operation.code, operation.tile, dst_of(m), dst_offset(core, 0)
    a = m.src_a_at + WORD * source_offset(core, operation.a)
    b, words = m.src_b_at + WORD * source_offset(core, operation.b), dst_words(m, core, tile)
    p0, p1, p2, p3, p4 = operation.p0, operation.p1, operation.p2, operation.p3, operation.p4
    if code == MATMUL:
        matmul_tiles_exact(m, queue, a, b, tile, words)
    elif code == COPY:
        copy_tile_exact(m, queue, a, tile, words, p0)
    elif code == BINARY:
        binary_tiles_exact(m, queue, p0, p1, a, b, tile, words, p2, p3)
    elif code == REDUCE:
        reduce_tile_exact(m, queue, p0, p1, a, b, tile, words, operation.fresh != 0)
    elif code == TRANSPOSE_DST:
        transpose_exact(words, queue.scratch_at + SPARE_TILE)
        copy_words_of_tile(queue.scratch_at + SPARE_TILE, words)
    elif code == COPY_DST:
        set_dst_kind(queue, tile, dst_kind(queue, p0))
        copy_words_of_tile(dst_words(m, core, p0), words)
    elif code == SFPU_UNARY:
        sfpu_unary_exact(queue, p0, p1, dst, first, tile, p2, p3, p4)
    elif code == SFPU_BINARY:
        sfpu_binary_exact(queue, p0, dst, first, p1, p2, tile, p4)
    elif code == SFPU_TERNARY:
        sfpu_ternary_exact(queue, p0, dst, first, p1, p2, p3, tile, p4)
    else:
        sfpu_reduce_exact(queue, p0, p1, p2, dst, first, tile, floats_at(queue.scratch_at, TILE_DATUMS), 0)


@compiled()
def execute(m, core, row, executor):
    """The operation in a row of the table of operations, by a thread that has taken the core's queue."""
    operation, queue = operations_of(m)[row], queues_of(m)[core]
    queue.format_a, queue.format_b = operation.format_a, operation.format_b
    queue.fidelity_phases, queue.fp32_dest = operation.fidelity_phases, operation.fp32_dest
    queue.scratch_at = m.scratch_at + SCRATCH_BYTES * executor
    if operation.clear != 0:
        clear_tile(m, queue, core, operation.tile)
    if m.data_on == EXACT:
        execute_exact(m, queue, core, operation)
    else:
        execute_fast(m, queue, core, operation)
