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
from tensim.sim.cores.riscv.vector.selection import Attempt, Selection
from tensim.sim.cores.riscv.vector.sinking import sink

ATTEMPTS = (  # one after the other
    Attempt(),
    Attempt(saves_registers=True),
    Attempt(repeats_numbers=True),
    Attempt(repeats_numbers=True, saves_registers=True),
    Attempt(keeps_assigned=False),
    Attempt(repeats_numbers=True, saves_registers=True, keeps_assigned=False),
    Attempt(is_late=True),
    Attempt(repeats_numbers=True, saves_registers=True, is_late=True),
    Attempt(repeats_numbers=True, saves_registers=True, keeps_assigned=False, is_late=True),
    Attempt(repeats_numbers=True, saves_registers=True, keeps_assigned=False, is_late=True, keeps_raw=False),
)


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
    for attempt in ATTEMPTS:
        selection = Selection(_made_late(function, states, attempt), chip, states, places, attempt)
        select(selection, order)
        if not attempt.keeps_raw:
            _forget_raw(selection)
        try:
            registers = place_values(function, selection, selection.written if attempt.keeps_assigned else ())
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


def _made_late(function, states, attempt):
    """A copy of a function, its values made late if an attempt is."""
    function = copy.deepcopy(function)
    if attempt.is_late:
        sink(function, states)
    return function


def _forget_raw(selection):
    """Nothing is kept for words of the kernel's own."""
    for instructions in selection.blocks.values():
        for instruction in instructions:
            if instruction.kind == "raw":
                instruction.uses = frozenset()


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
