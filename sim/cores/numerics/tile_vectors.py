"""The inner loop of the float32 matrix product as LLVM vectors of sixteen: rows of a face at a time.

LLVM cannot prove that the arrays of a chip do not overlap, so plain loops over them stay scalar; this intrinsic says so.
All addresses are host addresses (int64) without alignment; nothing is checked, the callers do.
"""

from tensim.sim.engine.compiled import Intrinsic, LazyModule, cgutils, ir, types

ROW = 16
ROWS_AT_ONCE = 4  # rows of the product that share each loaded row of the right operand
kinds = LazyModule("tensim.sim.cores.numerics.lane_types")


def _load(builder, address, offset, kind):
    pointer = builder.inttoptr(builder.add(address, ir.Constant(kinds.ADDRESS, offset)), kind.as_pointer())
    return builder.load(pointer, align=1)


def _store(builder, value, address, offset=0):
    pointer = builder.inttoptr(builder.add(address, ir.Constant(kinds.ADDRESS, offset)), value.type.as_pointer())
    builder.store(value, pointer, align=1)


def _splat(builder, value):
    """The vector whose sixteen lanes are all `value`."""
    undefined = ir.Constant(ir.VectorType(value.type, ROW), ir.Undefined)
    first = builder.insert_element(undefined, value, ir.Constant(kinds.WORD, 0))
    return builder.shuffle_vector(first, undefined, ir.Constant(kinds.WORDS, [0] * ROW))


@Intrinsic
def multiply_rows(typingctx, a, b, c):
    """Four rows of a 16x16 face product: c += a @ b, one fused multiply-add per term, terms in order of k.

    `a`, `c`: addresses of four rows of 16 float32; `b`: address of a face of 256 float32.
    """

    def codegen(context, builder, signature, args):
        left, right, out = args
        kind = ir.FunctionType(kinds.FLOATS, [kinds.FLOATS] * 3)
        fma = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fma.v{ROW}f32")
        sums = [_load(builder, out, 64 * row, kinds.FLOATS) for row in range(ROWS_AT_ONCE)]
        for k in range(ROW):
            values = _load(builder, right, 64 * k, kinds.FLOATS)
            for row in range(ROWS_AT_ONCE):
                factor = _splat(builder, _load(builder, left, 64 * row + 4 * k, kinds.FLOAT))
                sums[row] = builder.call(fma, [factor, values, sums[row]])
        for row, total in enumerate(sums):
            _store(builder, total, out, 64 * row)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), codegen
