"""The unpack thread: tiles from circular buffers to SrcA and SrcB, or to Dst itself.

A 32-bit tile that is unpacked into Dst takes no source bank.  The math thread owns the section, so the unpack thread is not ahead
at all: it begins when the math thread has come to the copy and the vector unit has drained.
"""

from tensim.sim.cores.circular_buffer import row_of
from tensim.sim.cores.faults import Fault
from tensim.sim.cores.numerics.data_format import BLOCK
from tensim.sim.cores.numerics.tile import FACES, TILE_SIDE
from tensim.sim.cores.numerics.unpacker import block_bits, datum_bytes
from tensim.sim.cores.operations import Bcast, Op, Reduction
from tensim.sim.cores.slots import MATH_SLOT, THREADS_PER_CORE
from tensim.sim.cores.tensix.data import do_unpack
from tensim.sim.cores.tensix.operands import rows_fit, rows_of_tiles, shapes_fit, tile_row
from tensim.sim.cores.tensix.source_banks import (
    bank_filled,
    bank_free,
    last_completion,
    math_waits,
    set_completion,
    wait_for_free_bank,
)
from tensim.sim.cores.tensix.thread_time import spend
from tensim.sim.cores.tensix.values import known_values
from tensim.sim.cores.threads import argument, fail
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.limits import N_CIRCULAR_BUFFERS
from tensim.sim.state import circular_buffers_of, cores_of, threads_of

# what an unpack operation delivers next: all of a token, its first face, its others
WHOLE_TILES, FIRST_FACE, OTHER_FACES = 1, 2, 3


@compiled()
def tile_data(m, row, rate):
    """Cycles (1/1024) for which an unpacker of `rate` bytes per cycle moves a tile of a circular buffer from L1."""
    return max(mantissa_bytes(m, row) * 1024 // rate, tile_width(m, row))


@compiled()
def tile_width(m, row):
    """Cycles (1/1024) for which a tile passes the width of a source register."""
    return circular_buffers_of(m)[row].tile_hw * 1024 // m.unpack_datums


@compiled()
def mantissa_bytes(m, row):
    """Bytes of a tile without the exponents of a block float, which come beside the data (docs/hardware/tensix.md#unpackers)."""
    cb = circular_buffers_of(m)
    exponents = cb[row].tile_hw // BLOCK if block_bits(cb[row].format) != 0 else 0
    return cb[row].tile_size - exponents


@compiled()
def matmul_reads(m, row0, row1, ct, rt):
    """Cycles (1/1024) for which a step of a block product reads L1 (in0 goes to SrcB, in1 to SrcA): (both operands, the one that
    streams, the one that is kept for several steps or 0).

    Address phases show where an unpacker follows itself; that of the other one passes meanwhile.
    """
    size0, size1 = mantissa_bytes(m, row0), mantissa_bytes(m, row1)
    in0 = size0 * 1024 // m.unpack_b_bytes + m.unpack_matmul_overhead
    in1 = size1 * 1024 // m.unpack_matmul_bytes + m.unpack_matmul_overhead
    both = max(in0, in1, (size0 + size1) * 1024 // m.unpack_joint_bytes)
    streams, kept = (in1, in0) if ct >= rt else (in0, in1)
    return both, streams, kept if max(ct, rt) > 1 else 0


@compiled()
def hold_of(core, ct, rt):
    """Cycles (1/1024) that the packer still takes from the reads of a block product: from those of one that streams into SrcA
    (`matmul_position`); one that streams into SrcB, and has a SrcA tile to read for every `rt` of them, loses none."""
    return core.unpack_hold if ct >= rt else 0


@compiled()
def held(read, hold):
    """Cycles (1/1024) by which the packer lengthens a read of L1 of which `hold` is left: a third of the time is its own."""
    return min(read // 2, hold)


@compiled()
def unpack_product(read, hold, early, least):
    """Cycles (1/1024) of a step of a block product that reads L1 for `read`, of which `early` while it waited for a bank of the
    operand that streams: the other one's is free then (`matmul_reads`)."""
    return max(read + held(read, hold) - early, least)


@compiled()
def unpack_both(m, row_a, row_b, joint_rate):
    """Cycles (1/1024) of two tiles through the two unpackers at once, which share L1's width (docs/hardware/tensix.md#unpackers):
    `joint_rate` bytes per cycle, less when the tiles go face by face."""
    joint = (mantissa_bytes(m, row_a) + mantissa_bytes(m, row_b)) * 1024 // joint_rate
    return max(tile_data(m, row_a, m.unpack_bytes), tile_data(m, row_b, m.unpack_b_bytes), joint)


@compiled()
def tilize_data(m, row, width):
    """Cycles (1/1024) of a tile that is gathered from rows of `width` tiles; rows whose distance is a multiple of the banks'
    period meet in the same L1 banks (docs/hardware/l1.md#l1 and docs/hardware/tensix.md#unpackers)."""
    size = circular_buffers_of(m)[row].tile_size
    cost = size * 1024 // m.unpack_tilize_bytes
    if width * size // 32 % m.unpack_bank_period == 0:
        cost = cost * m.unpack_conflict_percent // 100
    return cost


@compiled()
def unpack_tokens(t):
    """How many source banks the posted unpack operation fills."""
    if t.operation == Op.UNPACK_MATMUL:
        return argument(t, 4) * argument(t, 5)
    if t.operation == Op.UNPACK_A:
        return argument(t, 4)
    return 1


@compiled()
def matmul_position(step, ct, rt):
    """(row, column) of the output tile that a step of a block matmul works on, and whether the kept operand changes.

    The wider side streams: with ct >= rt an in0 tile stays in SrcB while in1 tiles pass through SrcA
    (docs/hardware/tensix.md#cycles-per-tile).
    """
    if ct >= rt:
        return step // ct, step % ct, step % ct == 0
    return step % rt, step // rt, step % rt == 0


@compiled()
def goes_to_dst(m, t):
    """Whether the posted unpack operation writes into Dst, around the source banks: one operand of 32 bits for a Dst as wide,
    from a circular buffer that is unpacked so (`unpack_to_dest_mode`)."""
    core, index = cores_of(m)[t.core], argument(t, 0)
    if t.operation != Op.UNPACK_A or core.fp32_dest == 0 or not 0 <= index < N_CIRCULAR_BUFFERS:
        return False
    wide = datum_bytes(circular_buffers_of(m)[row_of(t.core, index)].format) == 4
    return wide and (core.unpack_to_dst >> index) & 1 != 0


@compiled()
def hand_over(m, thread, now):
    """The math thread has come to the copy of a tile that goes to Dst: cycles (1/1024) until the unpack thread begins, and from
    the last datum until the math thread goes on.

    Both RISC-V cores wait for it: math's until the vector unit has drained, unpack's for the place in Dst, which it then has
    to issue the call for.
    """
    unpacker = threads_of(m)[thread]
    for t in (unpacker, threads_of(m)[unpacker.core * THREADS_PER_CORE + MATH_SLOT]):
        t.issued = max(t.issued, now)
    return (2 * m.sync_lag + m.issue_unpack) * 1024


@compiled()
def start_unpack(m, thread, now):
    """Begin the next token of the posted unpack operation; returns its end cycle, or -1 after a fault."""
    t = threads_of(m)[thread]
    if not known_values(m, thread):
        return -1
    cost = 0
    if t.operation == Op.UNPACK_MATMUL:
        ct, rt, kt = argument(t, 4), argument(t, 5), argument(t, 6)
        row, column, both = matmul_position(t.step, ct, rt)
        tile0, tile1 = argument(t, 2) + row * kt, argument(t, 3) + column
        row0, row1 = tile_row(m, thread, argument(t, 0), tile0), tile_row(m, thread, argument(t, 1), tile1)
        if row0 < 0 or row1 < 0 or not shapes_fit(m, thread, argument(t, 0), argument(t, 1)):
            return -1
        cores_of(m)[t.core].source_rows = circular_buffers_of(m)[row0].tile_hw // TILE_SIDE
        pair, single, kept = matmul_reads(m, row0, row1, ct, rt)
        core, read = cores_of(m)[t.core], pair if both else single
        hold = hold_of(core, ct, rt)
        early = min((now - t.began) * 1024, kept) if both else 0
        cost = unpack_product(read, hold, early, max(single, tile_width(m, row0), tile_width(m, row1)))
        core.unpack_hold = hold - held(read, hold)
        keeps0 = not both and ct >= rt
        keeps1 = not both and ct < rt
        do_unpack(m, t.core, row0, tile0, row1, tile1, 0, argument(t, 7), 0, not keeps0, not keeps1)
    elif t.operation == Op.UNPACK_AB:
        row0 = tile_row(m, thread, argument(t, 0), argument(t, 2))
        row1 = tile_row(m, thread, argument(t, 1), argument(t, 3))
        if row0 < 0 or row1 < 0:
            return -1
        within = argument(t, 4) != Bcast.NONE or argument(t, 5) != 0 or argument(t, 6) != Reduction.NONE
        if within and not shapes_fit(m, thread, argument(t, 0), argument(t, 1)):
            return -1
        cost = unpack_both(m, row0, row1, m.unpack_pair_bytes) + m.unpack_pair_overhead
        if argument(t, 6) == Reduction.SCALAR:  # both directions, each with the tile (llk_blackhole_op_costs.csv)
            cost += tile_data(m, row0, m.unpack_bytes) + m.unpack_overhead
        do_unpack(m, t.core, row0, argument(t, 2), row1, argument(t, 3), argument(t, 5), 0, 0, True, True)
    else:
        width = argument(t, 3) if t.operation == Op.UNPACK_A else 0
        tile = argument(t, 1) + (0 if width > 0 else t.step)
        row0 = (
            rows_of_tiles(m, thread, argument(t, 0), tile) if width > 0 else tile_row(m, thread, argument(t, 0), tile)
        )
        if row0 < 0:
            return -1
        index = argument(t, 0)
        within = t.operation == Op.UNPACK_A and (argument(t, 2) != 0 or width > 0 or argument(t, 5) != Bcast.NONE)
        if within and not shapes_fit(m, thread, index, index):
            return -1
        if width > 0 and not rows_fit(m, circular_buffers_of(m)[row0].read_ptr, row0, tile + t.step, width):
            fail(m, thread, Fault.TILE_OUTSIDE_CB, argument(t, 0), tile + t.step, circular_buffers_of(m)[row0].pages)
            return -1
        cost = tilize_data(m, row0, width) if width > 0 else tile_data(m, row0, m.unpack_bytes) + m.unpack_overhead
        transpose = argument(t, 2) if t.operation == Op.UNPACK_A else 0
        if transpose != 0:
            cost += m.unpack_transpose
        if cores_of(m)[t.core].src_passed_by == cores_of(m)[t.core].src_started + 1:
            cost += hand_over(m, thread, now)
        do_unpack(m, t.core, row0, argument(t, 1) + t.step, 0, 0, transpose, 0, width, True, False)
    return spend(m, thread, now, cost)


@compiled()
def unpack(m, thread, now):
    """One event of an unpack operation: deliver the token in hand, begin the next one.

    Returns (cycle of the next event, whether the operation is complete); cycle -1: parked or failed.
    """
    t = threads_of(m)[thread]
    core = cores_of(m)[t.core]
    if t.phase == 0 and t.step == 0:
        if t.count == 0:
            t.began = now
        t.count = unpack_tokens(t)
        if t.count <= 0:
            fail(m, thread, Fault.DST_INDEX, t.count, 0, 0)
            return -1, False
    if t.phase == FIRST_FACE:
        t.phase = OTHER_FACES
        bank_filled(m, t.core, now)
        return last_completion(core), False
    if t.phase != 0:
        if t.phase == WHOLE_TILES:
            bank_filled(m, t.core, now)
        t.phase = 0
        t.step += 1
        t.began = now
        if t.step == t.count:
            return now, True
    to_dst = goes_to_dst(m, t)
    if not bank_free(core) or (to_dst and not math_waits(m, t.core)):
        return wait_for_free_bank(m, thread, now), False
    if to_dst:
        core.src_passed_by = core.src_started + 1
    end = start_unpack(m, thread, now)
    if end < 0:
        return end, False
    t.phase = WHOLE_TILES
    first = end
    if t.operation == Op.UNPACK_AB:
        t.phase = FIRST_FACE
        first = now + (end - now) // FACES
        set_completion(core, end)
    core.src_started += 1
    return first, False
