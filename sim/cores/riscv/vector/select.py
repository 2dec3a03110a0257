"""Calls of vector operations become instructions, their registers still open.

What the unit has and the language has not is chosen here: a multiplication and an addition become one SFPMAD, numbers take the
shortest SFPLOADI or a register that holds them, conditions become tests that narrow the lanes, and an assignment where some lanes
are disabled is made by the instruction that computes its value, in the register of the value it replaces.
"""

from tensim.sim.cores.riscv.vector import select_arithmetic, select_lanes, select_registers
from tensim.sim.cores.riscv.vector.folding import fold
from tensim.sim.cores.riscv.vector.uses import SILENT

CALLS = {
    **select_registers.CALLS,
    **select_arithmetic.CALLS,
    **select_lanes.CALLS,
}  # name of a call: what appends to a `Selection`


def select(selection, order):
    """Fill a new `Selection` with the instructions of its function's blocks, in `order`; returns it."""
    fold(selection)
    for label in order:
        selection.begin(label)
        for call in selection.function.blocks[label].calls:
            if selection.uses.matters(call) and call.name not in SILENT:
                selection.at(call)
                CALLS[call.name](selection, call)
    for label, phis in selection.phis.items():
        selection.phis[label] = [
            (result, [(selection.incoming(value), pred) for value, pred in incoming], line, place)
            for result, incoming, line, place in phis
        ]
    return selection
