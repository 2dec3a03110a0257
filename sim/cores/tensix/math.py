"""The math thread: what the matrix unit and the vector unit take."""

from tensim.sim.cores.faults import Fault
from tensim.sim.cores.numerics.sfpu_costs import BINARY_OFFSET, TERNARY_OFFSET, WIDTH_OFFSET, cast_cost, unary_cost
from tensim.sim.cores.numerics.sfpu_functions import N_BINARY, N_TERNARY, N_UNARY, SfpuUnary
from tensim.sim.cores.numerics.tile import FACES, TILE_DATUMS, TILE_SIDE
from tensim.sim.cores.oddities import odd
from tensim.sim.cores.operations import FUNCTION_BITS, Approximation, Binary, Op, Pool, ReduceDim
from tensim.sim.cores.tensix.data import (
    do_binary,
    do_copy,
    do_copy_dst,
    do_matmul,
    do_reduce,
    do_sfpu_binary,
    do_sfpu_reduce,
    do_sfpu_ternary,
    do_sfpu_unary,
    do_transpose_dst,
)
from tensim.sim.cores.tensix.source_banks import bank_ready, bank_released, completion, wait_for_ready_bank
from tensim.sim.cores.tensix.thread_time import spend
from tensim.sim.cores.tensix.unpack import matmul_position
from tensim.sim.cores.tensix.values import FUNCTION_MASK, known_function, known_values
from tensim.sim.cores.threads import argument, charge_stall, fail
from tensim.sim.engine.compiled import compiled
from tensim.sim.state import WAIT_SOURCE_READY, cores_of, sfpu_cycles_of, threads_of

FORM_MASK = 3  # of an `Approximation`
# a matrix instruction works on 8 rows of the left operand (docs/hardware/tensix.md#cycles-per-tile)
MVMUL_ROWS = 8


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
