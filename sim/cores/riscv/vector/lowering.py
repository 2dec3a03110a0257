"""Vector programs in LLVM IR become Tensix instruction words: the pass between two runs of the compiler.

A function's calls are read, lanes and instructions chosen, registers given, gaps put in, and words written in place of the calls.
"""

import copy

from tensim.sim.cores.riscv.vector.assignments import plain_assignments
from tensim.sim.cores.riscv.vector.emission import Words, rewritten
from tensim.sim.cores.riscv.vector.hazards import with_gaps
from tensim.sim.cores.riscv.vector.lanes import lane_states
from tensim.sim.cores.riscv.vector.program_text import PREFIX, Places, functions, read_blocks
from tensim.sim.cores.riscv.vector.registers import NoRegister, place_values
from tensim.sim.cores.riscv.vector.select import select
from tensim.sim.cores.riscv.vector.selection import Selection

# Tried one after the other: whether numbers are loaded again at each use, whether additions save registers, whether what l_reg
# assigned has to last to the function's end
ATTEMPTS = (
    (False, False, True), (False, True, True), (True, False, True), (True, True, True), (False, False, False), (True, True, False),
)  # fmt: skip


def lowered(text, chip):
    """A module's text with instruction words in place of vector calls.  KernelCompileError, with the source line."""
    if f"@{PREFIX}" not in text:
        return text
    lines = text.split("\n")
    places = Places(lines)
    for function in reversed(functions(lines)):
        made = _function(read_blocks(function, places), chip, places)
        lines[function.start : function.start + len(function.lines)] = made
    return "\n".join(lines)


def _function(function, chip, places):
    order = _order(function)
    function.blocks = {label: function.blocks[label] for label in order}
    for block in function.blocks.values():
        block.predecessors = [one for one in block.predecessors if one in function.blocks]
    states = lane_states(function, order, places)
    plain_assignments(function, states, order)
    for repeats_numbers, saves_registers, is_pinned in ATTEMPTS:
        selection = Selection(copy.deepcopy(function), chip, states, places, repeats_numbers, saves_registers)
        select(selection, order)
        try:
            registers = place_values(function, selection, selection.written if is_pinned else ())
        except NoRegister as error:
            place = error.place
            continue
        words = Words(registers)
        blocks = {
            label: with_gaps(instructions, chip, words.word, not function.blocks[label].successors)
            for label, instructions in selection.blocks.items()
        }
        return rewritten(function, blocks, words)
    raise places.error(
        place,
        "more than eight vector values are needed at once",
        hint="the vector unit has eight registers and cannot spill them",
    )


def _order(function):
    """Labels of the blocks that can be reached, each behind one of its predecessors."""
    order, waiting, seen = [], [next(iter(function.blocks))], set()
    while waiting:
        label = waiting.pop(0)
        if label in seen:
            continue
        seen.add(label)
        order.append(label)
        waiting += function.blocks[label].successors
    return order
