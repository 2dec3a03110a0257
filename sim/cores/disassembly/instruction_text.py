"""Instructions of a kernel's threads as text, with the cycles they took in a run, below the source lines they come from."""

import numpy as np

from tensim.sim.cores.coprocessor import instruction_table
from tensim.sim.cores.coprocessor.bit_instructions import BitCode, bit_record
from tensim.sim.cores.coprocessor.instruction_table import extracted, is_embedded
from tensim.sim.cores.operations import Op
from tensim.sim.cores.riscv.decode import INSTRUCTION_BYTES, SINK, Code, signed
from tensim.sim.cores.riscv.traps import Form, Service

REGISTERS = (
    "zero ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6"
).split()
_PLAIN = {Code.ADDI_SP: "addi", Code.ADD_SP: "add", Code.SUB_SP: "sub", Code.LUI: "li", Code.FENCE: "fence"}
_STORES = (Code.SB, Code.SH, Code.SW)


def thread_listing(program, rows=None):
    """[{"pc", "text", "file", "line", "source", "busy", "stalled", "operations"}] of a `ThreadProgram`, one per instruction.

    `rows`: int64 (instruction, 3), the program's part of a chip's line table: cycles busy, cycles stalled, operations;
    None: the program did not run.  An operation of the machine is one entry, whatever number of instructions it takes.
    """
    entries = []
    for index, word in enumerate(program.decoded.records.tolist()):
        if index and _inside_operation(program.decoded, entries, index):
            continue
        place = program.place(index)
        entry = {"pc": INSTRUCTION_BYTES * index, "text": text_of(program.decoded, index, word)}
        entry |= {name: place[name] for name in ("file", "line", "source")}
        counts = np.zeros(3, np.int64) if rows is None else rows[index]
        entries.append(entry | dict(zip(("busy", "stalled", "operations"), counts.tolist(), strict=True)))
    return entries


def _inside_operation(decoded, entries, index):
    """Whether an instruction belongs to the operation listed last."""
    first = entries[-1]["pc"] // INSTRUCTION_BYTES
    word = int(decoded.records[first])
    if word & 0xFF != Code.OPERATION:
        return False
    return index < first + int(decoded.operands[(word >> 32) + 1]) // INSTRUCTION_BYTES


def text_of(decoded, index, word, chip=None):
    """Text of an instruction; targets of jumps are addresses in the kernel.

    `chip`: its name, where words of the Tensix coprocessor may stand between those of the RISC-V core.
    """
    code = Code(word & 0xFF)
    immediate = word >> 32
    rd, rs1, rs2 = (_register(word >> shift & 0xFF) for shift in (8, 16, 24))
    name = _PLAIN.get(code, code.name.lower())
    if code == Code.OPERATION:
        return _operation(decoded.operands, immediate, rd)
    if code == Code.ILLEGAL and chip is not None and is_embedded(immediate & 0xFFFFFFFF):
        return instruction_table.text_of(chip, extracted(immediate & 0xFFFFFFFF))
    if code == Code.ILLEGAL and chip == "blackhole" and bit_record(immediate & 0xFFFFFFFF) is not None:
        return _bit_instruction(bit_record(immediate & 0xFFFFFFFF))
    if code == Code.ILLEGAL:
        return f"illegal {immediate & 0xFFFFFFFF:#010x}"
    if code == Code.FENCE:
        return name
    if code == Code.LUI:
        return f"{name} {rd}, {immediate & 0xFFFFFFFF:#x}"
    if code in _STORES:
        return f"{name} {rs2}, {immediate}({rs1})"
    if Code.LB <= code <= Code.LW:
        return f"{name} {rd}, {immediate}({rs1})"
    target = f"{INSTRUCTION_BYTES * index + immediate:#x}"
    if code == Code.JAL:
        return f"{name} {rd}, {target}"
    if code == Code.JALR:
        return f"{name} {rd}, {immediate}({rs1})"
    if Code.BEQ <= code <= Code.BGEU:
        return f"{name} {rs1}, {rs2}, {target}"
    if code in _WITH_IMMEDIATE:
        return f"{name} {rd}, {rs1}, {immediate}"
    return f"{name} {rd}, {rs1}, {rs2}"


def _bit_instruction(word):
    code = BitCode(word & 0xFF)
    rd, rs1, rs2 = (_register(word >> shift & 0xFF) for shift in (8, 16, 24))
    name, immediate = code.name.lower().replace("_", "."), word >> 32
    if code == BitCode.RORI:
        return f"{name} {rd}, {rs1}, {immediate}"
    return f"{name} {rd}, {rs1}" if code >= BitCode.CLZ else f"{name} {rd}, {rs1}, {rs2}"


_WITH_IMMEDIATE = {
    Code.ADDI, Code.ADDI_SP, Code.SLLI, Code.SRLI, Code.SRAI, Code.ANDI, Code.ORI, Code.XORI, Code.SLTI, Code.SLTIU,
}  # fmt: skip


def _register(number):
    return "zero" if number == SINK else REGISTERS[number]


def _operation(operands, at, rd):
    """Text of an operation: `[result =] name(arguments)`."""
    number, _, count = (int(word) for word in operands[at : at + 3])
    name = (Service(number) if number >= Service.END else Op(number)).name.lower()
    arguments = ", ".join(_argument(int(word)) for word in operands[at + 3 : at + 3 + count])
    return f"{'' if rd == 'zero' else f'{rd} = '}{name}({arguments})"


def _argument(word):
    form, low, high = word & 0xFF, _register(word >> 8 & 0xFF), _register(word >> 16 & 0xFF)
    if form == Form.IMMEDIATE:
        return str(signed(word >> 32, 32))
    return f"{high}:{low}" if form == Form.PAIR else low
