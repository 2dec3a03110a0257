"""What RV32IM instructions give: results, products, quotients, and whether a branch jumps."""

import numpy as np

from tensim.sim.cores.riscv.decode import Code
from tensim.sim.engine.compiled import Intrinsic, compiled, ir, types
from tensim.sim.engine.memory import load_i64

(
    ADDI, ADD, SUB, LUI, SLLI, SRLI, SRAI, ANDI, ORI, XORI, SLTI, SLTIU, SLL, SRL, SRA, AND, OR, XOR, SLT, SLTU, FENCE,
    ADDI_SP, ADD_SP, SUB_SP, MUL, MULH, MULHSU, MULHU, LB, LBU, LH, LHU, LW, SB, SH, SW, BEQ, BNE, BLT, BGE, BLTU, BGEU,
    JAL, JALR, DIV, DIVU, REM, REMU, OPERATION, ILLEGAL, BREAK,
) = (int(code) for code in Code)  # fmt: skip
WORD_MASK = 0xFFFFFFFF
SMALLEST = -(1 << 31)


def _division(operation):
    """Intrinsic of a division that rounds towards zero; the callers keep away a zero divisor."""

    def codegen(context, builder, signature, values):
        return getattr(builder, operation)(*values)

    @Intrinsic
    def divide(typingctx, dividend, divisor):
        return types.int64(types.int64, types.int64), codegen

    return divide


quotient, remainder = _division("sdiv"), _division("srem")


@Intrinsic
def bit_length(typingctx, value):
    """Bits that a number that is not negative takes."""

    def codegen(context, builder, signature, values):
        word = ir.IntType(64)
        return builder.sub(ir.Constant(word, 64), builder.ctlz(values[0], ir.Constant(ir.IntType(1), 0)))

    return types.int64(types.int64), codegen


@compiled(inline="always")
def computed(code, first, second, immediate):
    """Result of an instruction that takes one cycle, of the registers at two host addresses; one of memory order gives 0."""
    if code == ADDI:
        return load_i64(first) + immediate
    if code == ADD:
        return load_i64(first) + load_i64(second)
    if code == SUB:
        return load_i64(first) - load_i64(second)
    if code == LUI:
        return immediate
    if code == SLLI:
        return load_i64(first) << immediate
    if code == SRLI:
        return (load_i64(first) & WORD_MASK) >> immediate
    if code == SRAI:
        return load_i64(first) >> immediate
    if code == ANDI:
        return load_i64(first) & immediate
    if code == ORI:
        return load_i64(first) | immediate
    if code == XORI:
        return load_i64(first) ^ immediate
    if code == SLTI:
        return 1 if load_i64(first) < immediate else 0
    if code == SLTIU:
        return 1 if (load_i64(first) & WORD_MASK) < (immediate & WORD_MASK) else 0
    if code == SLL:
        return load_i64(first) << (load_i64(second) & 31)
    if code == SRL:
        return (load_i64(first) & WORD_MASK) >> (load_i64(second) & 31)
    if code == SRA:
        return load_i64(first) >> (load_i64(second) & 31)
    if code == AND:
        return load_i64(first) & load_i64(second)
    if code == OR:
        return load_i64(first) | load_i64(second)
    if code == XOR:
        return load_i64(first) ^ load_i64(second)
    if code == SLT:
        return 1 if load_i64(first) < load_i64(second) else 0
    if code == SLTU:
        return 1 if (load_i64(first) & WORD_MASK) < (load_i64(second) & WORD_MASK) else 0
    return 0


@compiled(inline="always")
def moved(code, first, second, immediate):
    """What an instruction makes of the stack pointer."""
    if code == ADDI_SP:
        return load_i64(first) + immediate
    return load_i64(first) + load_i64(second) if code == ADD_SP else load_i64(first) - load_i64(second)


@compiled(inline="always")
def product(code, a, b):
    """The low or the high half of a product, of numbers with or without a sign."""
    if code == MUL:
        return a * b
    if code == MULH:
        return (a * b) >> 32
    if code == MULHSU:
        return (a * (b & WORD_MASK)) >> 32
    return np.int64((np.uint64(a & WORD_MASK) * np.uint64(b & WORD_MASK)) >> np.uint64(32))


@compiled(inline="always")
def is_taken(code, a, b):
    """Does a conditional branch jump?"""
    if code == BEQ:
        return a == b
    if code == BNE:
        return a != b
    if code == BLT:
        return a < b
    if code == BGE:
        return a >= b
    if code == BLTU:
        return (a & WORD_MASK) < (b & WORD_MASK)
    return (a & WORD_MASK) >= (b & WORD_MASK)
