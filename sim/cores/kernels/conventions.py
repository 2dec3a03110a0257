"""What generated code and its readers agree on: words of an operation record, packed counts, reasons why it raised."""

from enum import IntEnum

from tensim.sim.cores import context as ctx

LINE_SHIFT = 8  # a posted head word is opcode | line << LINE_SHIFT
COUNT_BITS = 10  # plain-code counts are packed in fields of this width, in the order of COST_KINDS
COST_KINDS = ("alu", "branch", "mul", "div", "load", "mul_use")
COST_WORDS = (ctx.COST_ALU, ctx.COST_BRANCH, ctx.COST_MUL, ctx.COST_DIV, ctx.COST_LOAD, ctx.COST_MUL_USE)


class RaiseReason(IntEnum):
    """Why generated code raised; left in ARG0 beside the LINE for the event loop's message."""

    ARGUMENT_INDEX = 1
    COMMON_ARGUMENT_INDEX = 2
    COMPILE_ARGUMENT_INDEX = 3
    CIRCULAR_BUFFER_INDEX = 4
    BANK_INDEX = 5
    DIVISION_BY_ZERO = 6
    PAGE_INDEX = 7
    NOT_SHARDED = 8
    DIMENSION_INDEX = 9


RAISE_MESSAGES = {
    RaiseReason.ARGUMENT_INDEX: "a runtime argument is read that was not set",
    RaiseReason.COMMON_ARGUMENT_INDEX: "a common runtime argument is read that was not set",
    RaiseReason.COMPILE_ARGUMENT_INDEX: "a compile-time argument is read that was not given",
    RaiseReason.CIRCULAR_BUFFER_INDEX: "circular-buffer index outside 0..31",
    RaiseReason.BANK_INDEX: "bank index outside the chip's banks",
    RaiseReason.DIVISION_BY_ZERO: "division by zero",
    RaiseReason.PAGE_INDEX: "page outside the buffer",
    RaiseReason.NOT_SHARDED: "the tensor accessor's buffer is interleaved; only a sharded one has this property",
    RaiseReason.DIMENSION_INDEX: "dimension outside the tensor accessor's shape",
}


def pack_counts(counts):
    """One integer that holds how often each kind of COST_KINDS occurs (each below 2**COUNT_BITS)."""
    return sum(counts.get(kind, 0) << (COUNT_BITS * i) for i, kind in enumerate(COST_KINDS))


def unpack_counts(packed):
    """The counts of `pack_counts`, in the order of COST_KINDS."""
    return [(packed >> (COUNT_BITS * i)) & ((1 << COUNT_BITS) - 1) for i in range(len(COST_KINDS))]
