"""Thirty-two lanes at once: intrinsics over rows of the vector unit, written as functions of `Lanes` (16 of them, twice)."""

from tensim.sim.cores.coprocessor.vector_state import ROW_BYTES
from tensim.sim.cores.numerics.simd_lanes import ROW, Lanes
from tensim.sim.engine.compiled import Intrinsic, types

SIGN = 1 << 31
HALVES = (0, ROW_BYTES // 2)  # byte offsets of the halves of a row


def truth(condition):
    """Lanes of truth values as masks: all bits or none."""
    return condition.choose(-1, 0)


def bit(lanes, number):
    """A bit of each lane as a mask."""
    return (lanes << (31 - number)) >> 31


def select(mask, yes, no):
    """Bits of `yes` where the mask has ones, of `no` elsewhere."""
    return no ^ ((yes ^ no) & mask)


def lane_operation(function):
    """The intrinsic (target, mask, a, b, c, immediate) of a function of Lanes (a, b, c, immediate).

    All but the immediate are host addresses of rows.  Lanes that `mask` leaves out keep what `target` holds; `target` may
    be one of the others.
    """

    def operation(typingctx, target, mask, a, b, c, immediate):
        def codegen(context, builder, signature, args):
            for offset in HALVES:
                rows = [Lanes.load(builder, address, offset) for address in args[1:5]]
                result = function(*rows[1:], Lanes.splat(builder, args[5]))
                select(rows[0], result, Lanes.load(builder, args[0], offset)).store(args[0], offset)
            return context.get_dummy_value()

        return types.void(*[types.int64] * 6), codegen

    operation.__doc__ = function.__doc__
    return Intrinsic(operation)


def lane_numbers(builder, offset):
    """The numbers of the lanes of a half."""
    first = offset // 4
    return Lanes.constant(builder, list(range(first, first + ROW)))


@Intrinsic
def enabled_lanes(typingctx, target, flags, use_flags, config):
    """LaneEnabled: rows that LaneConfig masks are off, others follow their flag where flags are used (ISA: VectorUnit.md)."""

    def codegen(context, builder, signature, args):
        for offset in HALVES:
            flags, use, config = (Lanes.load(builder, address, offset) for address in args[1:])
            masked = (config.shift_right(lane_numbers(builder, offset).shift_right(3) + 12) & 1).equals(0)
            (truth(masked) & (flags | (use ^ -1))).store(args[0], offset)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 4), codegen


@Intrinsic
def gather_16(typingctx, dst, odd, target):
    """Four rows of Dst, every second column: 16-bit values; `odd`: row of masks, which of the two columns."""

    def codegen(context, builder, signature, args):
        for offset in HALVES:
            pairs, odd = Lanes.load(builder, args[0], offset), Lanes.load(builder, args[1], offset)
            (pairs.shift_right(odd & 16) & 0xFFFF).store(args[2], offset)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 3), codegen


@Intrinsic
def scatter_16(typingctx, dst, odd, mask, source):
    """The low 16 bits of lanes into four rows of Dst, every second column, where `mask` says so."""

    def codegen(context, builder, signature, args):
        for offset in HALVES:
            pairs = Lanes.load(builder, args[0], offset)
            shift = Lanes.load(builder, args[1], offset) & 16
            mask = (Lanes.load(builder, args[2], offset) & 0xFFFF) << shift
            select(mask, Lanes.load(builder, args[3], offset) << shift, pairs).store(args[0], offset)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 4), codegen


@Intrinsic
def swapped_lanes(typingctx, target, c, d, config, lanes_with_least, always):
    """Where SFPSWAP swaps: masks.  `lanes_with_least`: bit set of lanes whose VD gets the smaller (ISA: SFPSWAP.md)."""

    def codegen(context, builder, signature, args):
        for offset in HALVES:
            c, d, config = (Lanes.load(builder, address, offset) for address in args[1:4])
            least = (Lanes.splat(builder, args[4]).shift_right(lane_numbers(builder, offset)) & 1) - 1
            smaller = truth(ordered(c) < ordered(d))
            swap = smaller ^ least ^ bit(config, 8)
            (swap | Lanes.splat(builder, args[5])).store(args[0], offset)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 6), codegen


def ordered(lanes):
    """Integers in the order of sign-and-magnitude numbers, -0 below +0."""
    return lanes ^ (lanes >> 31).shift_right(1)
