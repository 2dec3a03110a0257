"""Which arguments a compute operation knows: any other one stops the kernel, so that it never means something else.

Front ends refuse what they know when a kernel is built; what only the running kernel knows comes here.
"""

from tensim.sim.cores.domains import known, mask_of, within
from tensim.sim.cores.faults import Fault
from tensim.sim.cores.numerics.sfpu import check_complete
from tensim.sim.cores.numerics.sfpu_functions import CASTS, INTEGERS, NUMBERS, SfpuUnary
from tensim.sim.cores.operations import DOMAINS, FUNCTION_BITS, Op, Pool, ReduceDim
from tensim.sim.cores.threads import argument, fail
from tensim.sim.engine.compiled import compiled
from tensim.sim.state import threads_of

FUNCTION_MASK = (1 << FUNCTION_BITS) - 1

BCASTS, DIMS = mask_of(DOMAINS[Op.UNPACK_AB][4]), mask_of(DOMAINS[Op.MATH_REDUCE][1])
REUSES, SIDES = mask_of(DOMAINS[Op.MATH_BINARY][4]), mask_of(DOMAINS[Op.UNPACK_REUSE][2])
BINARIES = mask_of(DOMAINS[Op.MATH_BINARY][0])
TILE_POOLS, POOLS = mask_of(DOMAINS[Op.MATH_REDUCE][0]), mask_of(DOMAINS[Op.SFPU_REDUCE][0])
CAST_FORMATS, REDUCED_FORMATS, INTEGER_FORMATS = mask_of(CASTS), mask_of((*NUMBERS, *INTEGERS)), mask_of(INTEGERS)


@compiled()
def known_formats(m, thread, mask, data_format, other):
    """Whether the vector unit has a call for two data formats; a fault if it has not."""
    if within(mask, data_format) and within(mask, other):
        return True
    fail(m, thread, Fault.UNKNOWN_FORMAT, data_format, other, 0)
    return False


@compiled()
def known_function(m, thread, function, count):
    """Whether the posted function of the vector unit is one of `count`; a fault if it is not."""
    if 0 <= function < count:
        return True
    fail(m, thread, Fault.UNKNOWN_FUNCTION, function, count, 0)
    return False


@compiled()
def known_values(m, thread):
    """Whether the arguments of the posted compute operation are ones that it knows; a fault if not."""
    t = threads_of(m)[thread]
    operation = t.operation
    if operation == Op.UNPACK_AB:
        return known(m, thread, 4, BCASTS)
    if operation == Op.UNPACK_REUSE:
        return known(m, thread, 2, SIDES)
    if operation == Op.MATH_COPY:
        return known(m, thread, 1, BCASTS)
    if operation == Op.MATH_BINARY:
        return known(m, thread, 0, BINARIES) and known(m, thread, 2, BCASTS) and known(m, thread, 4, REUSES)
    if operation == Op.MATH_REDUCE:
        return known(m, thread, 0, TILE_POOLS) and known(m, thread, 1, DIMS)
    if operation == Op.SFPU_REDUCE:
        data_format = argument(t, 3)
        # of integers: of 32 alone, by a shift
        averages = argument(t, 0) == Pool.AVG and argument(t, 1) != ReduceDim.COL
        formats = REDUCED_FORMATS & ~INTEGER_FORMATS if averages else REDUCED_FORMATS
        if not (known(m, thread, 0, POOLS) and known(m, thread, 1, DIMS)):
            return False
        return known_formats(m, thread, formats, data_format, data_format)
    if operation == Op.SFPU_UNARY and argument(t, 0) & FUNCTION_MASK == SfpuUnary.TYPECAST:
        return known_formats(m, thread, CAST_FORMATS, argument(t, 2), argument(t, 3))
    return True


check_complete((known_values,), *(op for op in DOMAINS if Op.UNPACK_A <= op < Op.MAILBOX_WRITE))
