"""What operations need of the units' configuration against what was set: modes of the threads, formats of operands.

The bits are right here without any initialisation; on the chip they are not.
"""

from tensim.sim.cores.checks.circular_buffers import configured
from tensim.sim.cores.checks.faults import Check
from tensim.sim.cores.checks.shadow import core_of
from tensim.sim.cores.circular_buffer import row_of
from tensim.sim.cores.numerics.vector_codes import ANY_VECTOR, VECTOR_CODE_BITS, VECTOR_KIND
from tensim.sim.cores.operations import FUNCTION_BITS, Config, Op
from tensim.sim.cores.slots import MATH_SLOT, UNPACK_SLOT
from tensim.sim.cores.tensix.initialisation import BUFFER_SHIFT, CONSTANTS, LAST_MODE, SECOND_SHIFT, VECTOR_CALLS, Setup
from tensim.sim.cores.threads import argument, fail
from tensim.sim.engine.compiled import compiled
from tensim.sim.state import circular_buffers_of, threads_of

BUFFER_MASK = (1 << (SECOND_SHIFT - BUFFER_SHIFT)) - 1
UNKNOWN = 0  # format; others are one plus their code
NO_BUFFER = -1  # format: that of a circular buffer that the core does not have
WITH_CONSTANTS, SETS_CONSTANTS = tuple(CONSTANTS), tuple(CONSTANTS.values())


@compiled()
def format_of(m, core, index):
    """One plus the format of a circular buffer, NO_BUFFER where the core has none, UNKNOWN for index -1 (none is named)."""
    if not configured(m, core, index):
        return UNKNOWN if index < 0 else NO_BUFFER
    return 1 + circular_buffers_of(m)[row_of(core, index)].format


@compiled()
def constants_of(code):
    """The vector function whose initialisation sets the constants that a function needs, or ANY_VECTOR."""
    for i in range(len(WITH_CONSTANTS)):
        if WITH_CONSTANTS[i] == code:
            return SETS_CONSTANTS[i]
    return ANY_VECTOR


@compiled()
def configure(m, s, thread):
    """An initialisation or reconfiguration of a thread's units."""
    t = threads_of(m)[thread]
    register, value = argument(t, 0), argument(t, 1)
    if register == Config.PACK_RELU or register == Config.PACK_L1_ACC:
        return
    mine, setup = core_of(s, t.core), value & ((1 << BUFFER_SHIFT) - 1)
    if register == Config.SFPU_INIT:
        constants = constants_of(value & ((1 << VECTOR_CODE_BITS) - 1))
        if constants != ANY_VECTOR:
            mine.constants = constants
        return
    first = format_of(m, t.core, (value >> BUFFER_SHIFT & BUFFER_MASK) - 1)
    second = format_of(m, t.core, (value >> SECOND_SHIFT & BUFFER_MASK) - 1)
    if setup == Setup.UNTILIZE:
        mine.untilizes = 1
    has_mode = setup != Setup.FORMATS and setup <= LAST_MODE or setup == Setup.MATMUL_TRANSPOSED
    if t.slot == UNPACK_SLOT:
        if has_mode:
            mine.unpack_mode = setup
        if setup == Setup.FORMAT_B:
            mine.format_b = first
        elif setup == Setup.FORMAT_A or (register == Config.SHORT_INIT and first != UNKNOWN):
            mine.format_a = first
        elif register != Config.SHORT_INIT:
            mine.format_a, mine.format_b = first, second
    elif t.slot == MATH_SLOT:
        if has_mode:
            mine.math_mode = setup
    else:
        if has_mode:
            mine.pack_mode = setup
        if first != UNKNOWN or register != Config.SHORT_INIT:
            mine.format_out = first


@compiled()
def fits(mode, needed):
    """Whether units that are set up for `mode` do what needs `needed`."""
    return mode == needed or mode == Setup.ANYTHING


@compiled()
def check_mode(m, thread, mode, needed):
    """Refuse an operation whose initialisation is missing."""
    if not fits(mode, needed):
        fail(m, thread, Check.INIT_MISSING if mode == 0 else Check.INIT_WRONG, needed, mode, 0)


@compiled()
def check_format(m, thread, index, known, needed, check):
    """Refuse an operand or result of another format than the one that is configured."""
    if known == UNKNOWN or needed <= UNKNOWN:  # the engine itself refuses the use of a buffer that is not there
        return
    if known == NO_BUFFER:
        fail(m, thread, Check.INIT_BUFFER, index, 0, 0)
    elif known != needed:
        fail(m, thread, check, index, needed - 1, known - 1)


@compiled()
def check_unpack_setup(m, s, thread):
    """An unpack operation."""
    t = threads_of(m)[thread]
    mine, mode, op = core_of(s, t.core), core_of(s, t.core).unpack_mode, t.operation
    a, b = argument(t, 0), -1
    if op == Op.UNPACK_MATMUL:
        a, b = argument(t, 1), argument(t, 0)
        check_mode(m, thread, mode, Setup.MATMUL_TRANSPOSED if argument(t, 7) != 0 else Setup.MATMUL)
    elif op == Op.UNPACK_AB:
        b = argument(t, 1)
        bcast = argument(t, 4)
        paired = Setup.BINARY <= mode < Setup.TRANSPOSE and (mode - Setup.BINARY) % 4 == bcast
        if mode == Setup.REDUCE:  # which operand the scaler is depends on the dimension
            return
        if not (paired or (mode == Setup.PAIR and bcast == 0)):
            check_mode(m, thread, mode, Setup.BINARY + bcast)
    elif op == Op.UNPACK_REUSE:
        if not Setup.REUSE <= mode < Setup.UNARY_BCAST:
            check_mode(m, thread, mode, Setup.REUSE)
    elif argument(t, 3) > 0:
        check_mode(m, thread, mode, Setup.TILIZE)
    elif argument(t, 2) != 0:
        check_mode(m, thread, mode, Setup.TRANSPOSE)
    elif mode != Setup.UNTILIZE and mode != Setup.UNARY_BCAST:
        check_mode(m, thread, mode, Setup.COPY)
    check_format(m, thread, a, mine.format_a, format_of(m, t.core, a), Check.FORMAT_A)
    if b >= 0:
        check_format(m, thread, b, mine.format_b, format_of(m, t.core, b), Check.FORMAT_B)


@compiled()
def check_math_setup(m, s, thread):
    """A math operation on operands."""
    t = threads_of(m)[thread]
    mode, op = core_of(s, t.core).math_mode, t.operation
    if op == Op.MATH_MATMUL:
        if mode != Setup.MATMUL_TRANSPOSED:  # the unpack thread knows
            check_mode(m, thread, mode, Setup.MATMUL)
    elif op == Op.MATH_REDUCE:
        check_mode(m, thread, mode, Setup.REDUCE)
    elif op == Op.MATH_BINARY:
        needed = (
            Setup.REUSE + argument(t, 0) if argument(t, 4) != 0 else Setup.BINARY + 4 * argument(t, 0) + argument(t, 2)
        )
        check_mode(m, thread, mode, needed)
    elif op == Op.MATH_COPY:
        if argument(t, 1) != 0:
            check_mode(m, thread, mode, Setup.UNARY_BCAST)
        elif mode != Setup.TRANSPOSE and mode != Setup.TILIZE and mode != Setup.UNTILIZE:
            check_mode(m, thread, mode, Setup.COPY)


@compiled()
def check_vector_setup(m, s, thread):
    """An operation of the vector unit: those that use its constants or its table need theirs, others work without."""
    t = threads_of(m)[thread]
    mine, code = core_of(s, t.core), 1 + argument(t, 0)
    if t.operation == Op.SFPU_UNARY:
        code = 1 + (argument(t, 0) & ((1 << FUNCTION_BITS) - 1))
    else:
        code += VECTOR_KIND  # none of three operands has constants
    needed = constants_of(code)
    if needed != ANY_VECTOR and mine.constants != needed:
        missing = mine.constants == ANY_VECTOR
        check = Check.INIT_MISSING if missing else Check.INIT_WRONG
        fail(m, thread, check, VECTOR_CALLS + code, VECTOR_CALLS + mine.constants, 0)


@compiled()
def check_pack_setup(m, s, thread):
    """A pack operation."""
    t = threads_of(m)[thread]
    mine, index = core_of(s, t.core), argument(t, 1)
    if argument(t, 4) == 0:
        check_mode(m, thread, mine.pack_mode, Setup.PACK)
    elif mine.untilizes == 0:
        check_mode(m, thread, mine.pack_mode, Setup.PACK_UNTILIZE)
    check_format(m, thread, index, mine.format_out, format_of(m, t.core, index), Check.FORMAT_OUT)
