"""A tiny assembler for RV32IM test programs, and ELF files around them.

Instructions are functions that return a word; `assemble` resolves labels: a program is a list of words, labels (strings) and
pairs (function of the distance, label).
"""

import struct

from tensim.sim.cores.riscv.elf import HEADER, LOAD, SECTION, SEGMENT
from tensim.sim.cores.riscv.layout import LOCAL_BASE
from tensim.sim.cores.riscv.traps import ARGUMENTS, OPCODE, Form, Service

ZERO, RA, SP, GP, TP, T0, T1, T2, S0, S1, A0, A1, A2, A3, A4, A5 = range(16)
IMMEDIATE = {"addi": 0, "slti": 2, "sltiu": 3, "xori": 4, "ori": 6, "andi": 7}
SHIFT = {"slli": (1, 0), "srli": (5, 0), "srai": (5, 32)}
REGISTER = {
    "add": (0, 0), "sub": (0, 32), "sll": (1, 0), "slt": (2, 0), "sltu": (3, 0), "xor": (4, 0), "srl": (5, 0),
    "sra": (5, 32), "or": (6, 0), "and": (7, 0), "mul": (0, 1), "mulh": (1, 1), "mulhsu": (2, 1), "mulhu": (3, 1),
    "div": (4, 1), "divu": (5, 1), "rem": (6, 1), "remu": (7, 1),
}  # fmt: skip
LOADS = {"lb": 0, "lh": 1, "lw": 2, "lbu": 4, "lhu": 5}
STORES = {"sb": 0, "sh": 1, "sw": 2}
BRANCHES = {"beq": 0, "bne": 1, "blt": 4, "bge": 5, "bltu": 6, "bgeu": 7}


def i_type(major, f3, rd, rs1, immediate):
    return (immediate & 0xFFF) << 20 | rs1 << 15 | f3 << 12 | rd << 7 | major


def r_type(major, f3, f7, rd, rs1, rs2):
    return f7 << 25 | rs2 << 20 | rs1 << 15 | f3 << 12 | rd << 7 | major


def arithmetic(name, rd, rs1, other):
    """`other`: a register, or the immediate of an instruction that ends with i."""
    if name in REGISTER:
        f3, f7 = REGISTER[name]
        return r_type(0x33, f3, f7, rd, rs1, other)
    if name in SHIFT:
        f3, f7 = SHIFT[name]
        return r_type(0x13, f3, f7, rd, rs1, other)
    return i_type(0x13, IMMEDIATE[name], rd, rs1, other)


def addi(rd, rs1, immediate):
    return arithmetic("addi", rd, rs1, immediate)


def lui(rd, upper):
    return (upper & 0xFFFFF) << 12 | rd << 7 | 0x37


def auipc(rd, upper):
    return (upper & 0xFFFFF) << 12 | rd << 7 | 0x17


def li(rd, value):
    """Two instructions that load a constant."""
    value &= 0xFFFFFFFF
    low = (value & 0xFFF) - (0x1000 if value & 0x800 else 0)
    return [lui(rd, (value - low) >> 12), addi(rd, rd, low)]


def load(name, rd, rs1, offset=0):
    return i_type(0x03, LOADS[name], rd, rs1, offset)


def store(name, rs2, rs1, offset=0):
    offset &= 0xFFF
    return (offset >> 5) << 25 | rs2 << 20 | rs1 << 15 | STORES[name] << 12 | (offset & 31) << 7 | 0x23


def branch(name, rs1, rs2, label):
    def word(distance):
        d = distance & 0x1FFF
        high = (d >> 12) << 31 | (d >> 5 & 63) << 25 | rs2 << 20 | rs1 << 15 | BRANCHES[name] << 12
        return high | (d >> 1 & 15) << 8 | (d >> 11 & 1) << 7 | 0x63

    return word, label


def jal(rd, label):
    def word(distance):
        d = distance & 0x1FFFFF
        return (d >> 20) << 31 | (d >> 1 & 1023) << 21 | (d >> 11 & 1) << 20 | (d >> 12 & 255) << 12 | rd << 7 | 0x6F

    return word, label


def jalr(rd, rs1, offset=0):
    return i_type(0x67, 0, rd, rs1, offset)


def operation(op, *arguments, rd=0):
    """Trap instructions of an operation; an argument is ("x", register), ("q", low, high) or an immediate."""
    words = []
    for kind, argument in zip(ARGUMENTS[op], arguments, strict=True):
        if isinstance(argument, int):
            words.append(i_type(OPCODE, Form.IMMEDIATE, 0, 0, argument))
        elif argument[0] == "q":
            words.append(r_type(OPCODE, Form.PAIR, 0, 0, argument[1], argument[2]))
        else:
            words.append(r_type(OPCODE, Form.SIGNED if kind == "s" else Form.UNSIGNED, 0, 0, argument[1], 0))
    return [*words, i_type(OPCODE, Form.CALL, rd, 0, int(op))]


def end():
    return operation(Service.END)


def flattened(program):
    for item in program:
        if isinstance(item, list):
            yield from flattened(item)
        else:
            yield item


def assemble(program):
    """The bytes of a program."""
    labels, items = {}, []
    for item in flattened(program):
        if isinstance(item, str):
            labels[item] = 4 * len(items)
        else:
            items.append(item)
    words = [item[0](labels[item[1]] - 4 * i) if isinstance(item, tuple) else item for i, item in enumerate(items)]
    return struct.pack(f"<{len(words)}I", *words)


def elf(text, data=b"", data_at=0x600, entry=0, data_bytes=None, texts=None):
    """An executable of a text and data at an offset of local memory; `texts`: (address, bytes) of .tensim_strings."""
    names = b"\0.text\0.data\0.shstrtab\0.tensim_strings\0"
    segments = [(LOAD, 0, 0, len(text), len(text), 5)]
    contents = [text]
    if data or data_bytes:
        segments.append((LOAD, 0, LOCAL_BASE + data_at, len(data), data_bytes or len(data), 6))
        contents.append(data)
    at, places = HEADER.size + SEGMENT.size * len(segments), []
    for content in [*contents, names, texts[1] if texts else b""]:
        places.append(at)
        at += -(-len(content) // 4) * 4
    sections = [SECTION.pack(*[0] * 10), SECTION.pack(1, 1, 6, 0, places[0], len(text), 0, 0, 4, 0)]
    sections.append(SECTION.pack(13, 3, 0, 0, places[len(contents)], len(names), 0, 0, 1, 0))
    if texts:
        sections.append(SECTION.pack(names.index(b".tensim"), 1, 0, texts[0], places[-1], len(texts[1]), 0, 0, 1, 0))
    ident = b"\x7fELF\x01\x01\x01".ljust(16, b"\0")
    header = HEADER.pack(
        ident, 2, 243, 1, entry, HEADER.size, at, 0, HEADER.size, SEGMENT.size, len(segments), SECTION.size, len(sections), 2
    )  # fmt: skip
    out = bytearray(header)
    for (kind, _, address, size, memory, flags), place in zip(segments, places, strict=False):
        out += SEGMENT.pack(kind, place, address, address, size, memory, flags, 4)
    for content in [*contents, names, texts[1] if texts else b""]:
        out += content.ljust(-(-len(content) // 4) * 4, b"\0")
    return bytes(out) + b"".join(sections)


def kernel_elf(*program, **options):
    """An ELF of a program that ends."""
    return elf(assemble([*program, end()]), **options)
