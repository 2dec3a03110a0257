"""Raw memory for the compiled engine: loads, stores, copies and calls by host address; records that fill cache lines.

Addresses are int64; nothing here checks bounds, the callers do.
"""

from math import prod
from mmap import MAP_ANONYMOUS, MAP_PRIVATE, mmap

import numpy as np

from tensim.sim.engine.compiled import Intrinsic, arrayobj, cgutils, compiled, ir, types

CACHE_LINE = 64  # bytes


@compiled(inline="always")
def lies_within(address, size, end):
    """Whether `size` bytes from `address` on lie between 0 and `end`; both may be any numbers, whose sum has no room in 64 bits."""
    return 0 <= address and 0 <= size <= end and address <= end - size


def in_cache_lines(fields):
    """The dtype of a record with these fields that takes a whole number of cache lines."""
    plain = np.dtype(fields, align=True)
    formats, offsets = zip(*(plain.fields[name][:2] for name in plain.names), strict=True)
    size = -(-plain.itemsize // CACHE_LINE) * CACHE_LINE
    return np.dtype({"names": plain.names, "formats": formats, "offsets": offsets, "itemsize": size}, align=True)


def zeros_in_cache_lines(count, dtype):
    """An array of `count` zeros that begins with a cache line."""
    room = np.zeros(count * dtype.itemsize + CACHE_LINE, np.uint8)
    start = -room.ctypes.data % CACHE_LINE
    return room[start : start + count * dtype.itemsize].view(dtype)


def lazy_zeros(shape, dtype):
    """Zeros that begin with a page and take memory where they are touched.

    `np.zeros` asks for pages of 2 MB, and clears by hand what comes from memory that was used before.
    """
    memory = mmap(-1, max(prod(shape) * np.dtype(dtype).itemsize, 1), flags=MAP_PRIVATE | MAP_ANONYMOUS)
    return np.frombuffer(memory, dtype, prod(shape)).reshape(shape)


def _scalar_load(bits, signed):
    @Intrinsic
    def load(typingctx, address):
        def codegen(context, builder, signature, args):
            pointer = builder.inttoptr(args[0], ir.IntType(bits).as_pointer())
            value = builder.load(pointer, align=1)
            if bits == 64:
                return value
            return (builder.sext if signed else builder.zext)(value, ir.IntType(64))

        return types.int64(types.int64), codegen

    return load


def _scalar_store(bits):
    @Intrinsic
    def store(typingctx, address, value):
        def codegen(context, builder, signature, args):
            pointer = builder.inttoptr(args[0], ir.IntType(bits).as_pointer())
            value = args[1] if bits == 64 else builder.trunc(args[1], ir.IntType(bits))
            builder.store(value, pointer, align=1)
            return context.get_dummy_value()

        return types.void(types.int64, types.int64), codegen

    return store


load_u8, load_u16, load_u32 = (_scalar_load(bits, False) for bits in (8, 16, 32))
load_i8, load_i16, load_i32, load_i64 = (_scalar_load(bits, True) for bits in (8, 16, 32, 64))
store_8, store_16, store_32, store_64 = (_scalar_store(bits) for bits in (8, 16, 32, 64))


@Intrinsic
def copy_bytes(typingctx, destination, source, count):
    """memmove of `count` bytes between host addresses."""

    def codegen(context, builder, signature, args):
        pointer = ir.IntType(8).as_pointer()
        cgutils.raw_memmove(builder, builder.inttoptr(args[0], pointer), builder.inttoptr(args[1], pointer), args[2], 1)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), codegen


@Intrinsic
def zero_bytes(typingctx, destination, count):
    """Fill `count` bytes at a host address with zero."""

    def codegen(context, builder, signature, args):
        pointer = builder.inttoptr(args[0], ir.IntType(8).as_pointer())
        cgutils.memset(builder, pointer, args[1], 0)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


@Intrinsic
def floats_at(typingctx, address, count):
    """The array of `count` float32 at a host address; its memory is nobody's."""

    def codegen(context, builder, signature, args):
        word = ir.IntType(64)
        array = arrayobj.make_array(signature.return_type)(context, builder)
        data = builder.inttoptr(args[0], array.data.type)
        size = ir.Constant(word, 4)
        arrayobj.populate_array(array, data=data, shape=[args[1]], strides=[size], itemsize=size, meminfo=None)
        return array._getvalue()

    return types.Array(types.float32, 1, "C")(types.int64, types.int64), codegen


@Intrinsic
def lowest_bit(typingctx, word):
    """Number of the lowest bit that is set in `word`, which is not 0."""

    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), codegen


@Intrinsic
def count_bits(typingctx, word):
    """How many bits of `word` are set."""

    def codegen(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.int64(types.int64), codegen


@Intrinsic
def call_model(typingctx, function, machine, event, now):
    """Call the entry point int64(int64, int64, int64) at a host address; it raises nothing."""

    def codegen(context, builder, signature, args):
        word, pointer = ir.IntType(64), ir.IntType(8).as_pointer()
        result, error = cgutils.alloca_once(builder, word), cgutils.alloca_once(builder, pointer)
        prototype = ir.FunctionType(ir.IntType(32), [word.as_pointer(), pointer.as_pointer(), *[word] * 3])
        builder.call(builder.inttoptr(args[0], prototype.as_pointer()), [result, error, *args[1:]])
        return builder.load(result)

    return types.int64(types.int64, types.int64, types.int64, types.int64), codegen
