"""Coroutines of the compiled engine: resuming a numba generator from compiled code.

numba compiles a generator to a native function over a frame: {int32 state, {arguments}, {variables}}, all zero but for the
arguments before it is resumed first.  The addresses of both are enough to resume it.  `self_test` proves that on the
installed numba before anything else is compiled.
"""

from tensim.sim.engine import entry_points
from tensim.sim.engine.compiled import Intrinsic, cgutils, compiled, ir, types
from tensim.sim.errors import SimulatorError

FINISHED = -3
FAILED = -1000


@Intrinsic
def resume(typingctx, function, frame):
    """Resume one kernel: the value it yields (>= 0), FINISHED, or FAILED - status."""

    def codegen(context, builder, signature, args):
        i64, i32 = ir.IntType(64), ir.IntType(32)
        pointer = ir.IntType(8).as_pointer()
        value, error = cgutils.alloca_once(builder, i64), cgutils.alloca_once(builder, pointer)
        prototype = ir.FunctionType(i32, [i64.as_pointer(), pointer.as_pointer(), pointer])
        status = builder.call(
            builder.inttoptr(args[0], prototype.as_pointer()), [value, error, builder.inttoptr(args[1], pointer)]
        )
        wide = builder.sext(status, i64)
        failed = builder.sub(ir.Constant(i64, FAILED), wide)
        ended = builder.select(builder.icmp_signed("<", status, ir.Constant(i32, 0)), wide, failed)
        ok = builder.icmp_signed("==", status, ir.Constant(i32, 0))
        return builder.select(ok, builder.load(value), ended)

    return types.int64(types.int64, types.int64), codegen


@compiled()
def probe(n):
    """7, 14, 21, ... up to 7 * (n - 1); raises at its end when n is above 100."""
    for i in range(n):
        yield 7 * i
    if n > 100:
        raise ValueError


@compiled()
def _drive(function, frame):
    total = 0
    for _ in range(1000):
        value = resume(function, frame)
        if value < 0:
            return total, value
        total += value
    return total, 0


def self_test():
    """Prove that resumption works with the installed numba; raises SimulatorError if it does not."""
    code = entry_points.probe.code
    for n, expected in ((5, (70, FINISHED)), (101, None)):
        frame = code.frame(n)
        total, end = _drive(code.address, frame.ctypes.data)
        if (expected is not None and (total, end) != expected) or (expected is None and end > FAILED - 1):
            from importlib.metadata import version

            raise SimulatorError(
                f"native kernel resumption does not work with numba {version('numba')}",
                hint=f"numpy {version('numpy')}; install a numba in the range that pyproject.toml names",
            )
