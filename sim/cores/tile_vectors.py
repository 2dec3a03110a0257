"""Inner loops of tile arithmetic as LLVM vectors of sixteen: one row of a face at a time.

LLVM cannot prove that the arrays of a chip do not overlap, so plain loops over them stay scalar; these intrinsics say so.
All addresses are host addresses (int64) without alignment; nothing is checked, the callers do.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

ROW = 16
ROWS_AT_ONCE = 4  # rows of the product that share each loaded row of the right operand
FLOAT, HALF, WORD = ir.FloatType(), ir.IntType(16), ir.IntType(32)
FLOATS, HALVES, WORDS = (ir.VectorType(scalar, ROW) for scalar in (FLOAT, HALF, WORD))
_I64 = ir.IntType(64)


def _load(builder, address, offset, kind):
    pointer = builder.inttoptr(builder.add(address, ir.Constant(_I64, offset)), kind.as_pointer())
    return builder.load(pointer, align=1)


def _store(builder, value, address, offset=0):
    pointer = builder.inttoptr(builder.add(address, ir.Constant(_I64, offset)), value.type.as_pointer())
    builder.store(value, pointer, align=1)


def _splat(builder, value):
    """The vector whose sixteen lanes are all `value`."""
    undefined = ir.Constant(ir.VectorType(value.type, ROW), ir.Undefined)
    first = builder.insert_element(undefined, value, ir.Constant(WORD, 0))
    return builder.shuffle_vector(first, undefined, ir.Constant(WORDS, [0] * ROW))


def _constant(value):
    return ir.Constant(WORDS, [value] * ROW)


@intrinsic
def multiply_rows(typingctx, a, b, c):
    """Four rows of a 16x16 face product: c += a @ b, one fused multiply-add per term, terms in order of k.

    `a`, `c`: addresses of four rows of 16 float32; `b`: address of a face of 256 float32.
    """

    def codegen(context, builder, signature, args):
        left, right, out = args
        kind = ir.FunctionType(FLOATS, [FLOATS] * 3)
        fma = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fma.v{ROW}f32")
        sums = [_load(builder, out, 64 * row, FLOATS) for row in range(ROWS_AT_ONCE)]
        for k in range(ROW):
            values = _load(builder, right, 64 * k, FLOATS)
            for row in range(ROWS_AT_ONCE):
                factor = _splat(builder, _load(builder, left, 64 * row + 4 * k, FLOAT))
                sums[row] = builder.call(fma, [factor, values, sums[row]])
        for row, total in enumerate(sums):
            _store(builder, total, out, 64 * row)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), codegen


def _widened(builder, source):
    """The float32 bits of sixteen bfloat16."""
    return builder.shl(builder.zext(_load(builder, source, 0, HALVES), WORDS), _constant(16))


@intrinsic
def widen_bf16(typingctx, source, target):
    """Sixteen bfloat16 at `source` -> sixteen float32 at `target`."""

    def codegen(context, builder, signature, args):
        _store(builder, _widened(builder, args[0]), args[1])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


def _narrowed(builder, bits):
    """Sixteen float32 patterns as bfloat16: to nearest, ties away from zero; Inf and NaN keep."""
    exponent = builder.and_(bits, _constant(0x7F800000))
    finite = builder.icmp_unsigned("!=", exponent, _constant(0x7F800000))
    rounded = builder.add(bits, builder.select(finite, _constant(0x8000), _constant(0)))
    return builder.trunc(builder.lshr(rounded, _constant(16)), HALVES)


@intrinsic
def narrow_bf16(typingctx, source, target):
    """Sixteen float32 at `source` -> sixteen bfloat16 at `target`, to nearest, ties away from zero; Inf and NaN keep."""

    def codegen(context, builder, signature, args):
        _store(builder, _narrowed(builder, _load(builder, args[0], 0, WORDS)), args[1])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


@intrinsic
def add_bf16(typingctx, source, target):
    """Sixteen bfloat16 at `target` += sixteen float32 at `source`: added in float32, rounded once."""

    def codegen(context, builder, signature, args):
        old = builder.bitcast(_widened(builder, args[1]), FLOATS)
        total = builder.fadd(old, _load(builder, args[0], 0, FLOATS))
        _store(builder, _narrowed(builder, builder.bitcast(total, WORDS)), args[1])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


@intrinsic
def add_row(typingctx, source, target):
    """Sixteen float32 at `target` += sixteen float32 at `source`."""

    def codegen(context, builder, signature, args):
        total = builder.fadd(_load(builder, args[1], 0, FLOATS), _load(builder, args[0], 0, FLOATS))
        _store(builder, total, args[1])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


@intrinsic
def copy_row(typingctx, source, target):
    """Sixteen 32-bit words at `source` -> `target`."""

    def codegen(context, builder, signature, args):
        _store(builder, _load(builder, args[0], 0, WORDS), args[1])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


@intrinsic
def widen_bfp8(typingctx, source, exponent, target):
    """Sixteen datums of a bfp8 block (sign, 7-bit magnitude) with a shared `exponent` -> sixteen float32 at `target`."""

    def codegen(context, builder, signature, args):
        datums = builder.zext(_load(builder, args[0], 0, ir.VectorType(ir.IntType(8), ROW)), WORDS)
        # 2 ** (exponent - 127 - 6) * magnitude, with the power of two made in two steps so that neither is denormal
        scale = builder.bitcast(builder.shl(builder.trunc(args[1], WORD), ir.Constant(WORD, 23)), FLOAT)
        scale = builder.fmul(scale, ir.Constant(FLOAT, 2.0**-6))
        magnitude = builder.uitofp(builder.and_(datums, _constant(127)), FLOATS)
        value = builder.bitcast(builder.fmul(magnitude, _splat(builder, scale)), WORDS)
        sign = builder.shl(builder.lshr(datums, _constant(7)), _constant(31))
        _store(builder, builder.or_(value, sign), args[2])
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), codegen
