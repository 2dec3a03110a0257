"""Native resumption of numba generators: the only module that touches numba's internals.

A kernel is compiled to a native `next` function over a frame inside a Python generator object.  The address of the
function and the address of the frame are enough to resume it from compiled code.  `self_test` proves that on the
installed numba before the first kernel runs.
"""

import functools

import numba as nb
import numpy as np
from llvmlite import ir
from numba import _dynfunc, types
from numba.core import cgutils
from numba.core.generators import GeneratorDescriptor
from numba.extending import intrinsic

from tensim.sim.engine.compiled import compiled
from tensim.sim.errors import SimulatorError

FRAME_OFFSET = _dynfunc._impl_info["offsetof_generator_state"]
FINISHED = -3
FAILED = -1000


@functools.cache
def resume_address(kernel):
    """Address of the native `next` function of a compiled one-signature generator (an int)."""
    compiled = kernel.overloads[kernel.signatures[0]]
    descriptor = GeneratorDescriptor.from_generator_fndesc(
        None, compiled.fndesc, compiled.signature.return_type, compiled.target_context.mangler
    )
    return compiled.library.get_pointer_to_function(descriptor.llvm_func_name)


def frame_address(box):
    """Address of a generator object's frame; valid while the object is referenced."""
    return id(box) + FRAME_OFFSET


@intrinsic
def resume(typingctx, function, frame):
    """Resume one kernel: the value it yields (>= 0), FINISHED, or FAILED - status."""

    def codegen(context, builder, signature, args):
        i64, i32 = ir.IntType(64), ir.IntType(32)
        pointer = ir.IntType(8).as_pointer()
        value, error = cgutils.alloca_once(builder, i64), cgutils.alloca_once(builder, pointer)
        prototype = ir.FunctionType(i32, [i64.as_pointer(), pointer.as_pointer(), pointer])
        status = builder.call(
            builder.inttoptr(args[0], prototype.as_pointer()),
            [value, error, builder.inttoptr(args[1], pointer)],
        )
        wide = builder.sext(status, i64)
        failed = builder.sub(ir.Constant(i64, FAILED), wide)
        ended = builder.select(builder.icmp_signed("<", status, ir.Constant(i32, 0)), wide, failed)
        ok = builder.icmp_signed("==", status, ir.Constant(i32, 0))
        return builder.select(ok, builder.load(value), ended)

    return types.int64(types.int64, types.int64), codegen


@compiled()
def _probe(n):
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


@functools.cache
def self_test():
    """Prove that resumption works with the installed numba; raises SimulatorError if it does not."""
    for n, expected in ((5, (70, FINISHED)), (101, None)):
        box = _probe(n)
        total, end = _drive(resume_address(_probe), frame_address(box))
        if (expected is not None and (total, end) != expected) or (expected is None and end > FAILED - 1):
            raise SimulatorError(
                f"native kernel resumption does not work with numba {nb.__version__}",
                hint=f"numpy {np.__version__}; install a numba in the range that pyproject.toml names",
            )
