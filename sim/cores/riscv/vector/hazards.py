"""SFPNOP where an instruction would read a register before the one in front has written it.

Wormhole's two-cycle instructions want one cycle before another one reads their result; Blackhole waits by itself.  Behind a
rotation of lanes (SFPSHFT2) both accept an SFPNOP only.  SFPSWAP stalls what follows by itself.  Sources:
tt-isa-documentation, WormholeB0/TensixTile/TensixCoprocessor/SFPMAD.md, SFPSHFT2.md, SFPSWAP.md (instruction scheduling); for
Blackhole the kernels of tt-llk, which leave the first out and keep the second.
"""

from tensim.sim.cores.riscv.vector import raw_words as op
from tensim.sim.cores.riscv.vector.instructions import Instruction

ROTATIONS = (2, 3, 4)  # modes of SFPSHFT2


def with_gaps(instructions, chip, word_of, ends_function):
    """The instructions of a block with SFPNOP between; `word_of`: the word of an instruction, None where it is not known."""
    found = []
    for index, instruction in enumerate(instructions):
        found.append(instruction)
        if instruction.kind != "vector":
            continue
        word = word_of(instruction)
        behind = next(
            (one for one in instructions[index + 1 :] if one.kind != "marker" and not _vanishes(one, word_of)), None
        )
        if _needs_gap(word, behind, chip, word_of, ends_function):
            found.append(Instruction(op.NOP, instruction.line, instruction.place))
    return found


def _vanishes(instruction, word_of):
    return instruction.kind == "vector" and word_of(instruction) is None


def _needs_gap(word, behind, chip, word_of, ends_function):
    if word is None:
        return False
    code = op.opcode(word)
    if code == op.SHFT2 and word & 15 in ROTATIONS:
        return not (behind is not None and behind.kind == "raw" and op.opcode(behind.word) == op.NOP)
    if chip != "wormhole_b0" or code not in op.TWO_CYCLES:
        return False
    if behind is None:
        return not ends_function
    if behind.kind == "unknown":
        return True
    following = behind.word if behind.kind == "raw" else word_of(behind)
    return op.is_vector(following) and bool(op.registers(word)[1] & op.registers(following)[0])
