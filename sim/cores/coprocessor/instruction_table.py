"""The instruction words of the Tensix coprocessor: names, opcodes, units and fields of both chips.

A word has its opcode in bits 24 to 31 and its fields below.  In the text of a RISC-V program it stands rotated left by two
bits (`.ttinsn`): a word's two highest bits, never both set, become the two lowest ones, where RISC-V's own 32-bit
instructions have 3.  Sources: `instructions_*.yaml` here, which name their own.
"""

import functools
from dataclasses import dataclass

from tensim.sim.cores.coprocessor.yaml_tables import read_table
from tensim.sim.errors import UsageError

CHIPS = ("wormhole_b0", "blackhole")
OPCODE_SHIFT = 24


@dataclass(frozen=True)
class Instruction:
    """An instruction.  `unit`: the resource that executes it; `fields`: {name: (lowest bit, width)}, lowest first."""

    name: str
    opcode: int
    unit: str
    fields: dict

    def word(self, **values):
        """The instruction's word (uint32); fields that are not named are 0.  UsageError for a value that does not fit."""
        word = self.opcode << OPCODE_SHIFT
        for name, value in values.items():
            if name not in self.fields:
                raise UsageError(f"{self.name} has no field {name!r}", hint=f"its fields: {', '.join(self.fields)}")
            low, width = self.fields[name]
            if not 0 <= value < 1 << width:
                raise UsageError(f"{self.name}.{name} = {value}: the field has {width} bits")
            word |= value << low
        return word

    def values(self, word):
        """{field: value} of a word of this instruction."""
        return {name: word >> low & (1 << width) - 1 for name, (low, width) in self.fields.items()}


@functools.cache
def instructions(chip):
    """{name: `Instruction`} of a chip, in the order of opcodes.  UsageError for a chip without this level."""
    if chip not in CHIPS:
        raise UsageError(f"no table of Tensix instructions for {chip!r}", hint=f"one of {', '.join(CHIPS)}")
    entries = read_table(f"instructions_{chip}.yaml")
    return {
        name: Instruction(name, entry["opcode"], entry["unit"], {key: tuple(at) for key, at in entry["fields"].items()})
        for name, entry in entries.items()
    }


@functools.cache
def by_opcode(chip):
    """{opcode: `Instruction`} of a chip."""
    return {instruction.opcode: instruction for instruction in instructions(chip).values()}


def instruction_of(chip, word):
    """The `Instruction` of a word, or None."""
    return by_opcode(chip).get(word >> OPCODE_SHIFT)


def is_embedded(word):
    """Whether a word of a RISC-V program's text is a Tensix word (RV32 instructions end with two set bits)."""
    return word & 3 != 3


def embedded(word):
    """The word as it stands in a RISC-V program's text."""
    return (word << 2 | word >> 30) & 0xFFFFFFFF


def extracted(word):
    """The Tensix word that a word of a RISC-V program's text holds."""
    return (word >> 2 | word << 30) & 0xFFFFFFFF


def text_of(chip, word):
    """Text of a word: its name and fields; of an unknown opcode the word itself."""
    instruction = instruction_of(chip, word)
    if instruction is None:
        return f"unknown {word:#010x}"
    fields = ", ".join(f"{name}={value}" for name, value in instruction.values(word).items())
    return f"{instruction.name} {fields}".rstrip()
