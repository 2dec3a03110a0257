"""RV32IM instructions as records for the interpreter: one 64-bit word each, operations fused with their arguments.

record = code | rd << 8 | rs1 << 16 | rs2 << 24 | immediate << 32.  Results that nobody may see go to register SINK, so that
x0 is never written.  What no core executes becomes an ILLEGAL record, a fault where it is reached.  The instructions of an
operation (`tensim.sim.cores.riscv.traps`) become one record at the first of them; its immediate is the position of
[operation, bytes of code, number of arguments, an argument word each] in the operands.
"""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from tensim.sim.cores.context import MAX_ARGS
from tensim.sim.cores.riscv.layout import STACK_POINTER
from tensim.sim.cores.riscv.traps import ARGUMENTS, OPCODE, RESULTS, Form
from tensim.sim.errors import BinaryError

SINK = 32
INSTRUCTION_BYTES = 4
MISALIGNED_TARGET = 1 << 30  # added to a jump's distance; no text is that long


class Code(IntEnum):
    """What the interpreter does; those from BEQ to REMU decide about time or place by their operands."""

    ADDI = 0
    ADD = 1
    SUB = 2
    LUI = 3  # auipc too: the immediate is the result
    SLLI = 4
    SRLI = 5
    SRAI = 6
    ANDI = 7
    ORI = 8
    XORI = 9
    SLTI = 10
    SLTIU = 11
    SLL = 12
    SRL = 13
    SRA = 14
    AND = 15
    OR = 16
    XOR = 17
    SLT = 18
    SLTU = 19
    FENCE = 20
    ADDI_SP = 21  # the stack pointer is the destination: checked against the stack's end
    ADD_SP = 22
    SUB_SP = 23
    MUL = 24
    MULH = 25
    MULHSU = 26
    MULHU = 27
    LB = 28
    LBU = 29
    LH = 30
    LHU = 31
    LW = 32
    SB = 33
    SH = 34
    SW = 35
    BEQ = 36
    BNE = 37
    BLT = 38
    BGE = 39
    BLTU = 40
    BGEU = 41
    JAL = 42
    JALR = 43
    DIV = 44
    DIVU = 45
    REM = 46
    REMU = 47
    OPERATION = 48
    ILLEGAL = 49  # immediate: the instruction
    BREAK = 50  # stands where a debugger wants the core to stop (`tensim.sim.chip.stepping`)


_TO_STACK_POINTER = {Code.ADDI: Code.ADDI_SP, Code.ADD: Code.ADD_SP, Code.SUB: Code.SUB_SP}
_IMMEDIATE = (Code.ADDI, Code.SLLI, Code.SLTI, Code.SLTIU, Code.XORI, Code.SRLI, Code.ORI, Code.ANDI)
_REGISTER = (Code.ADD, Code.SLL, Code.SLT, Code.SLTU, Code.XOR, Code.SRL, Code.OR, Code.AND)
_PRODUCT = (Code.MUL, Code.MULH, Code.MULHSU, Code.MULHU, Code.DIV, Code.DIVU, Code.REM, Code.REMU)
_LOAD = {0: Code.LB, 1: Code.LH, 2: Code.LW, 4: Code.LBU, 5: Code.LHU}
_STORE = {0: Code.SB, 1: Code.SH, 2: Code.SW}
_BRANCH = {0: Code.BEQ, 1: Code.BNE, 4: Code.BLT, 5: Code.BGE, 6: Code.BLTU, 7: Code.BGEU}


@dataclass(frozen=True)
class Decoded:
    """`records`: int64 of each instruction; `operands`: int64 words of the operations."""

    records: np.ndarray
    operands: np.ndarray


def signed(value, bits):
    """The `bits` low bits of a value as a signed number."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def record(code, rd=0, rs1=0, rs2=0, immediate=0):
    """The word of one instruction, as a signed 64-bit number."""
    return signed(code | (rd or SINK) << 8 | rs1 << 16 | rs2 << 24 | immediate << 32, 64)


def decode(text):
    """Records of a text (bytes, linked at 0).  BinaryError for an operation that lacks arguments or has too many."""
    words = np.frombuffer(text, "<u4").tolist()
    records, operands, index = [], [], 0
    while index < len(words):
        if words[index] & 0x7F != OPCODE:
            records.append(plain_record(words[index], INSTRUCTION_BYTES * index))
            index += 1
            continue
        count, rd, operation = _operation(words, index)
        records.append(record(Code.OPERATION, rd, immediate=len(operands)))
        records += [record(Code.ILLEGAL, immediate=word) for word in words[index + 1 : index + count]]
        operands += operation
        index += count
    return Decoded(np.array(records, np.int64), np.array([*operands, 0], np.int64))


def _jump_distance(distance):
    return distance if distance % INSTRUCTION_BYTES == 0 else distance + MISALIGNED_TARGET


def plain_record(word, address):
    """Record of an instruction that is no trap."""
    major, rd, f3, rs1, rs2, f7 = (
        word & 0x7F,
        word >> 7 & 31,
        word >> 12 & 7,
        word >> 15 & 31,
        word >> 20 & 31,
        word >> 25,
    )
    code, upper = None, signed(word >> 20, 12)
    if major == 0x13:
        code, rs2, immediate = _IMMEDIATE[f3], 0, upper
        if f3 in (1, 5):
            code, immediate = _shift(code, f7), upper & 31
    elif major == 0x33:
        code, immediate = _register_code(f3, f7), 0
    elif major == 0x03:
        code, rs2, immediate = _LOAD.get(f3), 0, upper
    elif major == 0x23:
        code, immediate, rd = _STORE.get(f3), signed(f7 << 5 | rd, 12), 0
    elif major == 0x63:
        distance = signed((word >> 31) << 12 | (word >> 7 & 1) << 11 | (f7 & 63) << 5 | (word >> 8 & 15) << 1, 13)
        code, immediate, rd = _BRANCH.get(f3), _jump_distance(distance), 0
    elif major == 0x6F:
        high = (word >> 31) << 20 | (word >> 12 & 255) << 12
        distance = signed(high | (word >> 20 & 1) << 11 | (word >> 21 & 1023) << 1, 21)
        code, rs1, rs2, immediate = Code.JAL, 0, 0, _jump_distance(distance)
    elif major == 0x67 and f3 == 0:
        code, rs2, immediate = Code.JALR, 0, upper
    elif major in (0x37, 0x17):
        value = (word & 0xFFFFF000) + (address if major == 0x17 else 0)
        code, rs1, rs2, immediate = Code.LUI, 0, 0, signed(value, 32)
    elif major == 0x0F and f3 in (0, 1):
        code, rd, rs1, rs2, immediate = Code.FENCE, 0, 0, 0, 0
    if code is None:
        return record(Code.ILLEGAL, immediate=word)
    if rd == STACK_POINTER:
        code = _TO_STACK_POINTER.get(code, code)
    return record(code, rd, rs1, rs2, immediate)


def _shift(code, f7):
    if f7 == 0x20 and code == Code.SRLI:
        return Code.SRAI
    return code if f7 == 0 else None


def _register_code(f3, f7):
    if f7 == 1:
        return _PRODUCT[f3]
    if f7 == 0x20:
        return {0: Code.SUB, 5: Code.SRA}.get(f3)
    return _REGISTER[f3] if f7 == 0 else None


def _refuse(index, why):
    offset = INSTRUCTION_BYTES * index
    raise BinaryError(
        f"text offset {offset:#x}: {why}", where={"offset": offset, "field": ".text"}, hint="build the kernel again"
    )


def _operation(words, start):
    """(instructions, destination register, operand words) of the operation whose traps begin at `start`."""
    arguments, index = [], start
    while True:
        word = words[index] if index < len(words) else 0
        if word & 0x7F != OPCODE:
            _refuse(index, "an operation's arguments are not followed by its trap")
        form, rs1, rs2, immediate = word >> 12 & 7, word >> 15 & 31, word >> 20 & 31, signed(word >> 20, 12)
        index += 1
        if form == Form.CALL:
            break
        if form not in tuple(Form) or len(arguments) == MAX_ARGS:
            _refuse(index - 1, f"form {form} of an operation's argument number {len(arguments)}")
        used = (rs1, rs2 if form == Form.PAIR else 0) if form != Form.IMMEDIATE else (0, 0)
        arguments.append(signed(form | used[0] << 8 | used[1] << 16 | immediate << 32, 64))
    kinds = ARGUMENTS.get(immediate)
    if kinds is None:
        _refuse(index - 1, f"there is no operation {immediate}")
    if len(kinds) != len(arguments):
        _refuse(index - 1, f"operation {immediate} has {len(arguments)} arguments, not {len(kinds)}")
    rd = word >> 7 & 31 if immediate in RESULTS else 0
    return index - start, rd, [immediate, INSTRUCTION_BYTES * (index - start), len(arguments), *arguments]
