"""Eight registers for all values of a function.

An instruction that replaces part of a register ties its result to the value there: both are one class, and where that value is
needed later it is copied first.  Values that meet in a block, and copies, share a register where they can.  Classes are coloured,
those with the least choice first, with a bounded search; what does not fit is an error, as the unit has no place to spill to.
"""

from tensim.sim.cores.riscv.vector.instructions import is_constant, is_register, move
from tensim.sim.cores.riscv.vector.liveness import Liveness, conflicts

REGISTERS = range(8)
MAX_STEPS = 4000  # of the search


class NoRegister(Exception):
    """Values do not fit; `line`, `place` of an instruction where too many are needed."""

    def __init__(self, place):
        super().__init__()
        self.place = place


def place_values(function, selection, pinned):
    """{value: register} of a `Selection`; adds copies to its blocks.  NoRegister."""
    blocks = selection.blocks
    _phi_copies(function, selection)
    _tied_copies(function, selection, pinned)
    liveness = Liveness(function, blocks, pinned)
    graph = conflicts(blocks, liveness)
    classes = Classes(graph)
    for instructions in blocks.values():
        for instruction in instructions:
            for result, tied in _ties(instruction):
                if not classes.join(result, tied):
                    raise NoRegister(instruction.place)
    for instructions in blocks.values():
        for instruction in instructions:
            if instruction.copy and not is_constant(instruction.reads[0][1]):
                classes.join(instruction.result, instruction.reads[0][1])
    registers = _colour(classes, blocks)
    if registers is None:
        raise NoRegister(_tightest(blocks, liveness))
    return {value: registers[classes.of(value)] for value in graph}


def _ties(instruction):
    if instruction.result and instruction.tied and not is_constant(instruction.tied):
        yield instruction.result, instruction.tied
    if instruction.second and instruction.second[2]:
        yield instruction.second[1], instruction.second[2]


def _phi_copies(function, selection):
    """Where values meet, each comes as a copy from the end of its block.

    A value that another way out of that block still needs is copied once more, where they have met.
    """
    entering = Liveness(function, selection.blocks, ()).entering
    copies = {label: [] for label in selection.blocks}
    for label, phis in selection.phis.items():
        for result, incoming, line, place in phis:
            met = result
            if _is_needed_beside(function, entering, label, result):
                met = selection.new_value()
                state = selection.states.entry[label].current
                first = move(_last_phi(function, line), place, result, met, state, everywhere=state != 0)
                selection.blocks[label].insert(0, first)
            for value, predecessor in incoming:
                if value is not None and value != met:
                    copies[predecessor].append((met, value, place))
    for label, wanted in copies.items():
        state, end = selection.states.leaving[label].current, function.blocks[label].end
        for result, value, place in _one_by_one(wanted, selection):
            selection.blocks[label].append(move(end, place, result, value, state, everywhere=state != 0))


def _one_by_one(wanted, selection):
    """Copies (result, value, place) that mean to happen at once, in an order in which none replaces what another still reads."""
    wanted, order = list(wanted), []
    while wanted:
        ready = next((one for one in wanted if all(one[0] != other[1] for other in wanted if other is not one)), None)
        if ready is None:  # a circle: one value is kept aside
            result, _, place = wanted[0]
            kept = selection.new_value()
            order.append((kept, result, place))
            wanted = [(target, kept if value == result else value, at) for target, value, at in wanted]
            continue
        order.append(ready)
        wanted.remove(ready)
    return order


def _is_needed_beside(function, entering, label, result):
    """Whether a block in front of `label` leads also to where the value before is needed."""
    return any(
        result in entering[other]
        for predecessor in function.blocks[label].predecessors
        for other in function.blocks[predecessor].successors
        if other != label
    )


def _last_phi(function, line):
    """The line of the last phi of a block, behind which its instructions begin."""
    while " = phi " in function.lines[line + 1]:
        line += 1
    return line


def _tied_copies(function, selection, pinned):
    """Copy what an instruction replaces where it is needed later, or is a constant's register."""
    liveness = Liveness(function, selection.blocks, pinned)
    for label, instructions in selection.blocks.items():
        changed = []
        for instruction, live in zip(instructions, liveness.behind(label), strict=True):
            also_read = [value for _, value in instruction.reads]
            if instruction.tied and _must_copy(instruction.tied, live, instruction.result):
                instruction.tied = _copy_in_front(changed, instruction, instruction.tied, selection)
            if instruction.second and instruction.second[2]:
                at, value, tied = instruction.second
                if _must_copy(tied, live, value) or tied in also_read or tied == instruction.tied:
                    instruction.second = (at, value, _copy_in_front(changed, instruction, tied, selection))
            changed.append(instruction)
        selection.blocks[label] = changed


def _must_copy(tied, live, result):
    return is_constant(tied) or is_register(tied) or (tied in live and tied != result)


def _copy_in_front(changed, instruction, value, selection):
    copied = selection.new_value()
    changed.append(
        move(instruction.line, instruction.place, copied, value, instruction.state, everywhere=instruction.state != 0)
    )
    return copied


class Classes:
    """Values that share a register."""

    def __init__(self, graph):
        self._parent = {value: value for value in graph}
        self.members = {value: {value} for value in graph}
        self.others = {value: set(graph[value]) for value in graph}

    def of(self, value):
        while self._parent[value] != value:
            value = self._parent[value]
        return value

    def neighbours(self, name):
        return {self.of(other) for other in self.others[name]}

    def fixed(self, name):
        """The register by its number that a class is, or None."""
        return next((int(value[1:]) for value in self.members[name] if is_register(value)), None)

    def join(self, a, b):
        """Make the classes of two values one; False where they conflict."""
        a, b = self.of(a), self.of(b)
        if a == b:
            return True
        if self.others[a] & self.members[b]:
            return False
        fixed = {self.fixed(a), self.fixed(b)} - {None}
        if len(fixed) > 1:
            return False
        if fixed and self._too_tight(a, b):
            return False
        self._parent[b] = a
        self.members[a] |= self.members.pop(b)
        self.others[a] |= self.others.pop(b)
        return True

    def _too_tight(self, a, b):
        """Whether a class that is joined with a register would have a neighbour that is that register."""
        fixed = self.fixed(a) if self.fixed(a) is not None else self.fixed(b)
        neighbours = self.neighbours(a) | self.neighbours(b)
        return any(self.fixed(one) == fixed for one in neighbours)


def _colour(classes, blocks):
    """{class: register}, or None."""
    names = list(classes.members)
    neighbours = {name: classes.neighbours(name) for name in names}
    colours = {name: classes.fixed(name) for name in names if classes.fixed(name) is not None}
    for name, colour in colours.items():
        if any(colours.get(other) == colour for other in neighbours[name]):
            return None
    wishes = _wishes(classes, blocks)
    order = {name: index for index, name in enumerate(names)}
    steps = 0

    def free(name):
        taken = {colours[other] for other in neighbours[name] if other in colours}
        return [colour for colour in REGISTERS if colour not in taken]

    def solve(left):
        nonlocal steps
        if not left:
            return True
        steps += 1
        if steps > MAX_STEPS:
            return False
        name = min(left, key=lambda one: (len(free(one)), -len(neighbours[one]), order[one]))
        wished = {colours[other] for other in wishes.get(name, ()) if other in colours}
        choice = sorted(free(name), key=lambda colour: (colour not in wished, colour))
        for colour in choice:
            colours[name] = colour
            if solve(left - {name}):
                return True
            del colours[name]
        return False

    simple, hard = _peel(names, neighbours, colours)
    if not solve(frozenset(hard)):
        return None
    for name in reversed(simple):
        wished = {colours[other] for other in wishes.get(name, ()) if other in colours}
        colours[name] = min(free(name), key=lambda colour: (colour not in wished, colour))
    return colours


def _peel(names, neighbours, fixed):
    """(classes that always find a register once all others have one, in the order of leaving; the others)."""
    left = {name for name in names if name not in fixed}
    degree = {name: len(neighbours[name]) for name in left}
    simple, waiting = [], [name for name in names if name in left and degree[name] < len(REGISTERS)]
    while waiting:
        name = waiting.pop()
        if name not in left:
            continue
        left.discard(name)
        simple.append(name)
        for other in sorted(neighbours[name]):
            if other in left:
                degree[other] -= 1
                if degree[other] == len(REGISTERS) - 1:
                    waiting.append(other)
    return simple, [name for name in names if name in left]


def _wishes(classes, blocks):
    """{class: classes whose register saves it a copy}."""
    found = {}
    for instructions in blocks.values():
        for instruction in instructions:
            if instruction.copy and not is_constant(instruction.reads[0][1]):
                a, b = classes.of(instruction.result), classes.of(instruction.reads[0][1])
                found.setdefault(a, set()).add(b)
                found.setdefault(b, set()).add(a)
    return found


def _tightest(blocks, liveness):
    """The place of the instruction behind which most values are needed."""
    most = max(
        ((len(live), index, instruction.place) for label, instructions in blocks.items()
         for index, (instruction, live) in enumerate(zip(instructions, liveness.behind(label), strict=True))),
        key=lambda entry: entry[0],
    )  # fmt: skip
    return most[2]
