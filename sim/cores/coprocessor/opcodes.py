"""Opcodes by name for compiled code; Wormhole and Blackhole give one opcode no two meanings (`instruction_table`)."""

from tensim.sim.cores.coprocessor.instruction_table import CHIPS, instructions

_OPCODES = {name: entry.opcode for chip in CHIPS for name, entry in instructions(chip).items()}


def opcode(name):
    """Opcode of an instruction, 0 to 255."""
    return _OPCODES[name]


def opcodes(names):
    """Opcodes of the instructions that a text names."""
    return tuple(opcode(name) for name in names.split())
