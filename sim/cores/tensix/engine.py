"""The Tensix engine's timing: unpack, math and pack threads, Dst sections
(docs/hardware/tensix.md#tensix-coprocessor and docs/hardware/tensix.md#cycles-per-tile).

The three compute threads of a core run concurrently.  They meet in two places only: SrcA/SrcB have two banks, so the
unpack thread is at most two tile pairs ("tokens") ahead of the math thread; Dst has one or two sections, handed from
math (acquire, commit) to pack (wait, release).  An operation on several tiles goes through them one event each.

A 32-bit tile that is unpacked into Dst itself takes no source bank.  The math thread owns the section, so the unpack thread
is not ahead at all: it begins when the math thread has come to the copy and the vector unit has drained.
"""

from tensim.sim.cores import context as ctx
from tensim.sim.cores.circular_buffer import row_of
from tensim.sim.cores.faults import Fault
from tensim.sim.cores.numerics.data_format import BLOCK
from tensim.sim.cores.numerics.sfpu_costs import (
    BINARY_OFFSET,
    TERNARY_OFFSET,
    WIDTH_OFFSET,
    cast_cost,
    initialisation_cost,
    unary_cost,
)
from tensim.sim.cores.numerics.sfpu_functions import N_BINARY, N_TERNARY, N_UNARY, SfpuUnary
from tensim.sim.cores.numerics.tile import FACES, TILE_DATUMS, TILE_SIDE
from tensim.sim.cores.numerics.unpacker import block_bits, datum_bytes
from tensim.sim.cores.numerics.vector_codes import VECTOR_CODE_BITS
from tensim.sim.cores.oddities import odd
from tensim.sim.cores.operations import FUNCTION_BITS, Approximation, Binary, Config, Op, Pool, ReduceDim
from tensim.sim.cores.slots import MATH_SLOT, PACK_SLOT, THREADS_PER_CORE, UNPACK_SLOT
from tensim.sim.cores.tensix.data import (
    do_binary,
    do_copy,
    do_copy_dst,
    do_matmul,
    do_pack,
    do_reduce,
    do_sfpu_binary,
    do_sfpu_reduce,
    do_sfpu_ternary,
    do_sfpu_unary,
    do_transpose_dst,
    do_unpack,
)
from tensim.sim.cores.tensix.operands import buffer_row, pack_fits, rows_fit, rows_of_tiles, tile_fits, tile_row
from tensim.sim.cores.tensix.source_banks import (
    bank_filled,
    bank_free,
    bank_ready,
    bank_released,
    completion,
    last_completion,
    math_waits,
    set_completion,
    wait_for_free_bank,
    wait_for_ready_bank,
)
from tensim.sim.cores.tensix.values import FUNCTION_MASK, known_function, known_values
from tensim.sim.cores.threads import argument, charge, charge_stall, fail, park, wake
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.limits import N_CIRCULAR_BUFFERS
from tensim.sim.state import (
    PARKED,
    RUNNING,
    WAIT_DST_FREE,
    WAIT_DST_READY,
    WAIT_SOURCE_FREE,
    WAIT_SOURCE_READY,
    circular_buffers_of,
    cores_of,
    sfpu_cycles_of,
    threads_of,
)

# what an unpack operation delivers next: all of a token, its first face, its others
WHOLE_TILES, FIRST_FACE, OTHER_FACES = 1, 2, 3
VECTOR_CODE_MASK = (1 << VECTOR_CODE_BITS) - 1
FORM_MASK = 3  # of an `Approximation`
# a matrix instruction works on 8 rows of the left operand (docs/hardware/tensix.md#cycles-per-tile)
MVMUL_ROWS = 8


@compiled()
def spend(m, thread, now, fixed):
    """Charge a cost given in 1/1024 cycles, carrying the fraction to the thread's next one; returns the end cycle."""
    t = threads_of(m)[thread]
    total = fixed + t.fraction
    cycles = max(total >> 10, 1)
    t.fraction = total & 1023
    charge(m, thread, now, cycles)
    return now + cycles


# --- unpack


@compiled()
def tile_data(m, row, rate):
    """Cycles (1/1024) for which an unpacker of `rate` bytes per cycle moves a tile of a circular buffer from L1."""
    return max(mantissa_bytes(m, row) * 1024 // rate, tile_width(m, row))


@compiled()
def tile_width(m, row):
    """Cycles (1/1024) for which a tile passes the width of a source register."""
    return circular_buffers_of(m)[row + ctx.CB_TILE_HW] * 1024 // m.unpack_datums


@compiled()
def mantissa_bytes(m, row):
    """Bytes of a tile without the exponents of a block float, which come beside the data (docs/hardware/tensix.md#unpackers)."""
    cb = circular_buffers_of(m)
    exponents = cb[row + ctx.CB_TILE_HW] // BLOCK if block_bits(cb[row + ctx.CB_FORMAT]) != 0 else 0
    return cb[row + ctx.CB_TILE_SIZE] - exponents


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
    size = circular_buffers_of(m)[row + ctx.CB_TILE_SIZE]
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
    wide = datum_bytes(circular_buffers_of(m)[row_of(t.core, index) + ctx.CB_FORMAT]) == 4
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
        if row0 < 0 or row1 < 0:
            return -1
        cores_of(m)[t.core].source_rows = circular_buffers_of(m)[row0 + ctx.CB_TILE_HW] // TILE_SIDE
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
        cost = unpack_both(m, row0, row1, m.unpack_pair_bytes) + m.unpack_pair_overhead
        if argument(t, 6) == ReduceDim.SCALAR:  # both directions, each with the tile (llk_blackhole_op_costs.csv)
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
        if width > 0 and not rows_fit(m, circular_buffers_of(m)[row0 + ctx.CB_READ_PTR], row0, tile + t.step, width):
            fail(
                m,
                thread,
                Fault.TILE_OUTSIDE_CB,
                argument(t, 0),
                tile + t.step,
                circular_buffers_of(m)[row0 + ctx.CB_PAGES],
            )
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


# --- math


@compiled()
def dst_tile(m, thread, index):
    """Physical Dst tile of a logical index in the math thread's section; -1 after a fault.

    The section changes with each commit, acquired or not.
    """
    core = cores_of(m)[threads_of(m)[thread].core]
    if core.dst_acquired <= core.dst_committed and odd(m, thread, Fault.DST_NOT_ACQUIRED, 0, 0, 0):
        return -1
    if index < 0 or index >= core.capacity:
        fail(m, thread, Fault.DST_INDEX, index, core.capacity, 0)
        return -1
    return (core.dst_committed % core.sections) * core.capacity + index


@compiled()
def math_tokens(t):
    """How many source banks the posted math operation consumes."""
    if t.operation == Op.MATH_MATMUL:
        return argument(t, 1) * argument(t, 2)
    if t.operation == Op.MATH_COPY or t.operation == Op.MATH_BINARY or t.operation == Op.MATH_REDUCE:
        return 1
    return 0


@compiled()
def matmul_instructions(m, core):
    """Matrix instructions of a tile product, all fidelity phases: fewer when the left tile has fewer rows."""
    groups = (core.source_rows + MVMUL_ROWS - 1) // MVMUL_ROWS
    return m.mvmuls_per_tile * groups * MVMUL_ROWS // TILE_SIDE * core.fidelity_phases


@compiled()
def matmul_overhead(m, tiles, waited):
    """Cycles (1/1024) that a block product of so many tiles takes beyond its matrix instructions, of which `waited` cycles
    have passed while its first operands were on their way."""
    return max((m.math_overhead if tiles == 1 else m.math_block_overhead) - waited * 1024, 0)


@compiled()
def hold_unpackers(m, core):
    """A section of block products goes to the packer, whose way to L1 the unpackers then share."""
    if core.product_tiles > 0:
        hold = core.product_tiles * m.pack_unpack_hold
        core.unpack_hold += 2 * hold if core.l1_accumulate != 0 else hold  # sums are read and written
        core.product_tiles = 0


@compiled()
def start_math_token(m, thread, now):
    """Compute on the token at hand; returns the end cycle, or -1 after a fault."""
    t = threads_of(m)[thread]
    core = cores_of(m)[t.core]
    phases = core.fidelity_phases
    if not known_values(m, thread):
        return -1
    if t.operation == Op.MATH_MATMUL:
        ct = argument(t, 1)
        row, column, first = matmul_position(t.step, ct, argument(t, 2))
        target = dst_tile(m, thread, argument(t, 0) + row * ct + column)
        if target < 0:
            return -1
        core.flops += 2 * TILE_SIDE * TILE_DATUMS
        core.products += 1
        cost = matmul_instructions(m, core) * m.mvmul_cycles
        if t.step == 0:
            core.product_calls += 1
            core.product_tiles = max(core.product_tiles, argument(t, 0) + t.count)
            cost += matmul_overhead(m, t.count, now - t.began)
        do_matmul(m, t.core, target)
        core.fpu_busy += matmul_instructions(m, core)
        return spend(m, thread, now, cost)
    if t.operation == Op.MATH_COPY:
        target = dst_tile(m, thread, argument(t, 0))
        if target < 0:
            return -1
        do_copy(m, t.core, target, argument(t, 1))
        if core.src_passed_by == core.src_taken + 1:  # the unpacker has put it there
            return spend(m, thread, now, 0)
        return spend(m, thread, now, m.copy_instructions * 1024 + m.copy_overhead)
    if t.operation == Op.MATH_BINARY:
        target = dst_tile(m, thread, argument(t, 1))
        if target < 0:
            return -1
        do_binary(m, t.core, target, argument(t, 0), argument(t, 2), argument(t, 3), argument(t, 4))
        core.flops += TILE_DATUMS
        core.fpu_busy += m.eltwise_instructions * (phases if argument(t, 0) == Binary.MUL else 1)
        cost = m.eltwise_instructions * 1024 + m.eltwise_overhead
        if argument(t, 0) == Binary.MUL:
            cost += hazard(m, phases, FACES)
        if argument(t, 4) != 0:
            cost += m.dest_reuse_cycles
        return spend_by_face(m, thread, now, cost)
    target = dst_tile(m, thread, argument(t, 2))
    if target < 0:
        return -1
    do_reduce(m, t.core, target, argument(t, 0), argument(t, 1))
    core.flops += TILE_DATUMS
    core.fpu_busy += FACES * phases
    return spend_by_face(m, thread, now, reduce_cost(m, phases, argument(t, 0), argument(t, 1), core.fp32_dest != 0))


@compiled()
def spend_by_face(m, thread, now, cost):
    """Charge a math operation whose operands come face by face: it works on the last one when that is there."""
    core = cores_of(m)[threads_of(m)[thread].core]
    start = max(now, completion(core) - (cost * (FACES - 1) // FACES >> 10))
    if start > now:
        charge_stall(m, thread, WAIT_SOURCE_READY, now, start)
    return spend(m, thread, start, cost)


@compiled()
def hazard(m, phases, chains):
    """Cycles (1/1024) that fidelity phases add: each works on the Dst rows of the one before and must wait for them, in
    every one of `chains` groups of rows (docs/hardware/tensix.md#backend-instructions, Dst hazard)."""
    return (phases - 1) * chains * m.dst_hazard * 1024


@compiled()
def reduce_cost(m, phases, pool, dim, wide):
    """Cycles (1/1024) of a tile's reduction: columns work face by face, rows on groups of Dst rows, a scalar does both.

    `wide`: a 32-bit Dst, where sums of rows go through matrix instructions, two groups of 8 rows in each face.
    """
    if pool == Pool.MAX:
        if dim == ReduceDim.ROW:
            return m.reduce_max_row
        return m.reduce_scalar if dim == ReduceDim.SCALAR else m.reduce_overhead
    if dim == ReduceDim.COL:
        return m.reduce_overhead + hazard(m, phases, FACES)
    if dim == ReduceDim.ROW and wide:
        return m.reduce_wide_row + hazard(m, phases, 2 * FACES)
    if dim == ReduceDim.ROW:
        return m.reduce_overhead + hazard(m, phases, m.reduce_row_groups)
    return (m.reduce_wide_scalar if wide else m.reduce_scalar) + hazard(m, phases, FACES + 1)


@compiled()
def vector_cycles(m, core, entry):
    """An entry of the table of `sfpu_costs` with Dst as wide as the core has it."""
    return sfpu_cycles_of(m)[entry + (WIDTH_OFFSET if core.fp32_dest != 0 else 0)]


@compiled()
def vector(m, thread, now, function):
    """Charge a vector-unit function (index of the table of `sfpu_costs`); returns the end cycle."""
    core = cores_of(m)[threads_of(m)[thread].core]
    cycles = vector_cycles(m, core, function)
    core.sfpu_busy += cycles
    return spend(m, thread, now, cycles * 1024)


@compiled()
def sfpu_reduce_cycles(m, dim):
    """Cycles of the vector unit's reduction of a tile in Dst."""
    if dim == ReduceDim.ROW:
        return m.sfpu_reduce_row
    return m.sfpu_reduce_col if dim == ReduceDim.COL else m.sfpu_reduce_scalar


@compiled()
def approximation_of(core, word):
    """The form of a vector function that a call or its initialisation asks for; `word`: an `Approximation`."""
    if word != Approximation.KERNEL:
        return word
    return Approximation.APPROXIMATE if core.approx else Approximation.ACCURATE


@compiled()
def start_math_in_dst(m, thread, now):
    """A math operation on Dst alone (SFPU, copies inside Dst); returns the end cycle, or -1 after a fault."""
    t = threads_of(m)[thread]
    core = cores_of(m)[t.core]
    if not known_values(m, thread):
        return -1
    if t.operation == Op.SFPU_UNARY:
        target = dst_tile(m, thread, argument(t, 1))
        function = argument(t, 0) & FUNCTION_MASK
        if target < 0 or not known_function(m, thread, function, N_UNARY):
            return -1
        form = approximation_of(core, argument(t, 0) >> FUNCTION_BITS)
        do_sfpu_unary(m, t.core, target, function, form, argument(t, 2), argument(t, 3), argument(t, 4))
        if function == SfpuUnary.TYPECAST:
            return vector(m, thread, now, cast_cost(argument(t, 2), argument(t, 3)))
        return vector(m, thread, now, unary_cost(function, form))
    if t.operation == Op.SFPU_BINARY:
        a, b, out = (
            dst_tile(m, thread, argument(t, 1)),
            dst_tile(m, thread, argument(t, 2)),
            dst_tile(m, thread, argument(t, 3)),
        )
        if a < 0 or b < 0 or out < 0 or not known_function(m, thread, argument(t, 0), N_BINARY):
            return -1
        do_sfpu_binary(m, t.core, argument(t, 0), a, b, out, argument(t, 4))
        return vector(m, thread, now, BINARY_OFFSET + argument(t, 0))
    if t.operation == Op.SFPU_TERNARY:
        a, b = dst_tile(m, thread, argument(t, 1)), dst_tile(m, thread, argument(t, 2))
        c, out = dst_tile(m, thread, argument(t, 3)), dst_tile(m, thread, argument(t, 4))
        if a < 0 or b < 0 or c < 0 or out < 0 or not known_function(m, thread, argument(t, 0), N_TERNARY):
            return -1
        do_sfpu_ternary(m, t.core, argument(t, 0), a, b, c, out, argument(t, 5))
        return vector(m, thread, now, TERNARY_OFFSET + argument(t, 0))
    if t.operation == Op.SFPU_REDUCE:
        target, dim = dst_tile(m, thread, argument(t, 2)), argument(t, 1)
        if target < 0:
            return -1
        do_sfpu_reduce(m, t.core, target, argument(t, 0), dim, argument(t, 3))
        cycles = sfpu_reduce_cycles(m, dim)
        core.sfpu_busy += cycles
        return spend(m, thread, now, cycles * 1024)
    target = dst_tile(m, thread, argument(t, 0))
    if target < 0:
        return -1
    if t.operation == Op.MATH_TRANSPOSE_DST:
        do_transpose_dst(m, t.core, target)
        return spend(m, thread, now, (m.copy_instructions + m.transpose_extra) * 1024 + m.copy_overhead)
    other = dst_tile(m, thread, argument(t, 1))
    if other < 0:
        return -1
    do_copy_dst(m, t.core, target, other)
    return spend(m, thread, now, 2 * m.copy_instructions * 1024 + m.copy_overhead)


@compiled()
def math(m, thread, now):
    """One event of a math operation; as `unpack`, (cycle of the next event, complete)."""
    t = threads_of(m)[thread]
    core = cores_of(m)[t.core]
    if t.phase == 0 and t.step == 0:
        if t.count == 0:
            t.began = now
        t.count = math_tokens(t)
        if t.count == 0:
            return start_math_in_dst(m, thread, now), True
    if t.phase == 1:
        t.phase = 0
        t.step += 1
        bank_released(m, t.core, now)
        if t.step == t.count:
            return now, True
    if not bank_ready(core):
        return wait_for_ready_bank(m, thread, now), False
    end = start_math_token(m, thread, now)
    if end >= 0:
        core.src_taken += 1
        t.phase = 1
    return end, False


# --- Dst sections


@compiled()
def dst_acquire(m, thread, now):
    """tile_regs_acquire: the math thread takes a section that the pack thread has given back, cleared."""
    t = threads_of(m)[thread]
    core = cores_of(m)[t.core]
    if core.dst_committed - core.dst_released >= core.sections:
        return park(m, thread, now, WAIT_DST_FREE, 0, 0, 0)
    take_section(core)
    charge(m, thread, now, m.sync_cycles)
    return now + m.sync_cycles


@compiled()
def take_section(core):
    """The math thread has the section behind the committed ones: cleared, if it had not acquired it before."""
    if core.dst_acquired <= core.dst_committed:
        first = (core.dst_committed % core.sections) * core.capacity
        core.fresh |= ((1 << core.capacity) - 1) << first
        core.dst_acquired = core.dst_committed + 1


@compiled()
def dst_commit(m, thread, now):
    """tile_regs_commit: hand the section to the pack thread."""
    t = threads_of(m)[thread]
    core = cores_of(m)[t.core]
    if core.dst_acquired <= core.dst_committed and odd(m, thread, Fault.DST_NOT_ACQUIRED, 0, 0, 0):
        return -1
    core.dst_committed += 1
    hold_unpackers(m, core)
    charge(m, thread, now, m.sync_cycles)
    pack_thread = t.core * THREADS_PER_CORE + PACK_SLOT
    other = threads_of(m)[pack_thread]
    if other.state == PARKED and other.wait == WAIT_DST_READY:
        wake(m, pack_thread, now + m.sync_lag, m.sync_cycles)
    return now + m.sync_cycles


@compiled()
def dst_wait(m, thread, now):
    """tile_regs_wait: the pack thread waits for a committed section."""
    t = threads_of(m)[thread]
    core = cores_of(m)[t.core]
    if core.dst_committed <= core.dst_released:
        return park(m, thread, now, WAIT_DST_READY, 0, 0, 0)
    charge(m, thread, now, m.sync_cycles)
    return now + m.sync_cycles


@compiled()
def dst_release(m, thread, now):
    """tile_regs_release: give the section back to the math thread."""
    t = threads_of(m)[thread]
    core = cores_of(m)[t.core]
    if core.dst_committed <= core.dst_released:
        fail(m, thread, Fault.DST_NOT_ACQUIRED, 0, 0, 0)
        return -1
    core.dst_released += 1
    charge(m, thread, now, m.sync_cycles)
    math_thread = t.core * THREADS_PER_CORE + MATH_SLOT
    other = threads_of(m)[math_thread]
    if other.state == PARKED and other.wait == WAIT_DST_FREE:
        take_section(core)
        wake(m, math_thread, now + m.sync_lag, m.sync_cycles)
    return now + m.sync_cycles


# --- pack


@compiled()
def unpackers_at_work(m, index):
    """Whether the unpackers of a core fill a section of Dst: the math thread has one, and the unpack thread waits for nothing
    but a source bank.  Both hold whether or not a block product has run ahead (`run_ahead`)."""
    core, t = cores_of(m)[index], threads_of(m)[index * THREADS_PER_CORE + UNPACK_SLOT]
    reads = t.state == RUNNING or (t.state == PARKED and t.wait == WAIT_SOURCE_FREE)
    return core.dst_acquired > core.dst_committed and reads


@compiled()
def accumulate_percent(m, core, number):
    """How much longer a tile of the data format `number` takes that the packer adds to one in L1, as a percentage.

    Sums of 32 bits are slower themselves; narrower ones only share L1, where they are read and written, with the unpackers.
    """
    if datum_bytes(number) == 4:
        return m.pack_l1_acc_percent
    return m.pack_l1_shared_percent if unpackers_at_work(m, core) else 100


@compiled()
def pack(m, thread, now):
    """pack_tile and its block and untilize forms: Dst tiles to the back of a circular buffer."""
    t = threads_of(m)[thread]
    core = cores_of(m)[t.core]
    first, index, out, tiles = argument(t, 0), argument(t, 1), argument(t, 2), argument(t, 3)
    cb = circular_buffers_of(m)
    row, untilize = buffer_row(m, thread, index), argument(t, 4)
    if row < 0:
        return -1
    if core.dst_committed <= core.dst_released:
        fail(m, thread, Fault.DST_NOT_ACQUIRED, 0, 0, 0)
        return -1
    if first < 0 or first + tiles > core.capacity:
        fail(m, thread, Fault.DST_INDEX, first + tiles - 1, core.capacity, 0)
        return -1
    if untilize == 0 and not tile_fits(m, thread, index, row):
        return -1
    page = out if out >= 0 else cb[row + ctx.CB_PACKED]
    reserved, last = cb[row + ctx.CB_RESERVED], page + tiles - 1
    if untilize == 0 and last >= reserved and odd(m, thread, Fault.PACK_UNRESERVED, index, last, reserved):
        return -1
    if not pack_fits(m, thread, index, row, last, untilize):
        return -1
    if out < 0:
        cb[row + ctx.CB_PACKED] += tiles
    base = (core.dst_released % core.sections) * core.capacity + first
    cb[row + ctx.CB_TILES_PACKED] += tiles
    for i in range(tiles):
        do_pack(m, t.core, base + i, row, page + i, untilize)
    size = cb[row + ctx.CB_TILE_SIZE]
    cost = max(m.pack_minimum * 1024, size * 1024 // m.pack_bytes)
    if core.l1_accumulate != 0:
        cost = cost * accumulate_percent(m, t.core, cb[row + ctx.CB_FORMAT]) // 100
    cost += m.pack_overhead
    if untilize != 0:  # rows of 16 datums one by one (docs/hardware/tensix.md#packers); a call sets the rows' distance
        cost = max(cost, m.pack_untilize)
        return spend(m, thread, now, tiles * cost + m.pack_untilize_call)
    return spend(m, thread, now, cost + (tiles - 1) * max(cost, m.issue_pack_more * 1024))


# --- configuration


@compiled()
def short_init_cycles(m, slot):
    if slot == UNPACK_SLOT:
        return m.short_init_unpack
    return m.short_init_math if slot == MATH_SLOT else m.short_init_pack


@compiled()
def vector_init_cycles(m, core, word):
    """Cycles of a vector function's initialisation; `word`: its `vector_code` and, above, an `Approximation`."""
    form = approximation_of(core, word >> VECTOR_CODE_BITS & FORM_MASK)
    return vector_cycles(m, core, initialisation_cost(word & VECTOR_CODE_MASK, form))


@compiled()
def configure(m, thread, now):
    """Init and reconfigure calls: their cost on the calling thread, and the packer modes they set."""
    t = threads_of(m)[thread]
    register, value = argument(t, 0), argument(t, 1)
    core = cores_of(m)[t.core]
    cost = m.reconfig_cycles
    if register == Config.INIT or register == Config.HW_STARTUP:
        cost = m.init_unpack if t.slot == UNPACK_SLOT else m.init_math if t.slot == MATH_SLOT else m.init_pack
    elif register == Config.SHORT_INIT:
        cost = short_init_cycles(m, t.slot)
    elif register == Config.SFPU_INIT:
        cost = vector_init_cycles(m, core, value)
    elif register == Config.PACK_RELU:
        core.pack_relu, core.pack_threshold = value & 3, value >> 2
    elif register == Config.PACK_L1_ACC:
        core.l1_accumulate = value
        charge(m, thread, now, m.pack_mode_cycles)
        return now + m.pack_mode_cycles  # the write waits in the packer's queue until the packer has drained
    elif register == Config.RECONFIG:
        t.issued = max(t.issued, now)  # formats change when the unit has drained
    t.issued += cost  # configuration is a series of register writes: the RISC-V core makes them while units still work
    return now
