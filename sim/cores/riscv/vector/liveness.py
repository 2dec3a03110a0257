"""Which values are needed behind each instruction, and which therefore cannot share a register."""

from tensim.sim.cores.riscv.vector.instructions import is_constant


class Liveness:
    """`entering`, `leaving`: {block: values}.  `pinned`: registers that hold something at the function's end."""

    def __init__(self, function, blocks, pinned):
        self._blocks = blocks
        self.entering = {label: frozenset() for label in blocks}
        self.leaving = dict(self.entering)
        last = frozenset(f"P{number}" for number in pinned)
        changed = True
        while changed:
            changed = False
            for label in reversed(list(blocks)):
                successors = function.blocks[label].successors
                leaving = frozenset().union(*(self.entering[one] for one in successors)) if successors else last
                live = set(leaving)
                for instruction in reversed(blocks[label]):
                    live -= set(instruction.values_written())
                    live |= set(instruction.values_read())
                changed |= leaving != self.leaving[label] or live != self.entering[label]
                self.leaving[label], self.entering[label] = leaving, frozenset(live)

    def behind(self, label):
        """[values needed behind each instruction of a block]."""
        live, found = set(self.leaving[label]), []
        for instruction in reversed(self._blocks[label]):
            found.append(frozenset(live))
            live -= set(instruction.values_written())
            live |= set(instruction.values_read())
        return found[::-1]


def conflicts(blocks, liveness):
    """{value: values that need another register}; a copy may share the register of what it copies.

    Values come in an order that does not depend on the hashes of their names: registers are given in it.
    """
    graph = {}

    def add(a, b):
        if a != b:
            graph.setdefault(a, set()).add(b)
            graph.setdefault(b, set()).add(a)

    for label, instructions in blocks.items():
        for instruction, live in zip(instructions, liveness.behind(label), strict=True):
            written = instruction.values_written()
            source = instruction.reads[0][1] if instruction.copy else None
            for value in written:
                graph.setdefault(value, set())
                for other in (*sorted(live), *written):
                    if other != source:
                        add(value, other)
            for value in instruction.values_read():
                graph.setdefault(value, set())
    values = {value for live in liveness.entering.values() for value in live}
    for value in sorted(values):
        graph.setdefault(value, set())
    entry = next(iter(blocks))
    for value in sorted(liveness.entering[entry]):  # registers that a function finds in use
        for other in liveness.entering[entry]:
            add(value, other)
    return {value: others for value, others in graph.items() if not is_constant(value)}
