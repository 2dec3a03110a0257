"""Which lanes are enabled where: states of the flags, numbered, and how one lies inside another.

A state is known by where it came about: a condition that narrows the lanes, a complement, the entry of a block whose
predecessors differ.  0 are all lanes.
"""

from dataclasses import dataclass, field

from tensim.sim.cores.riscv.vector.raw_words import lane_effect

ALL = 0
MAX_DEPTH = 8  # entries of the flags' stack (tt-isa-documentation, SFPPUSHC); an outermost region takes none


@dataclass(frozen=True)
class Lanes:
    """`current`: the state; `stack`: the states pushed."""

    current: int = ALL
    stack: tuple = ()


@dataclass
class LaneStates:
    """`before`: {line of a call: Lanes}; `inside`: {state: the state it lies in}; `entry`, `leaving`: {block: Lanes}."""

    before: dict = field(default_factory=dict)
    inside: dict = field(default_factory=dict)
    entry: dict = field(default_factory=dict)
    leaving: dict = field(default_factory=dict)
    _numbers: dict = field(default_factory=dict)

    def state(self, key, parent):
        number = self._numbers.setdefault(key, len(self._numbers) + 1)
        self.inside[number] = parent
        return number

    def contains(self, outer, inner):
        """Whether all lanes of `inner` are lanes of `outer`."""
        for _ in range(len(self.inside) + 1):
            if inner == outer:
                return True
            if inner == ALL:
                return False
            inner = self.inside[inner]
        return False


def lane_states(function, order, places):
    """The `LaneStates` of a function; `order`: labels, each behind one of its predecessors at least."""
    states = LaneStates()
    for _ in range(len(order) + 1):
        changed = False
        for label in order:
            block = function.blocks[label]
            entry = _entry(states, block)
            changed |= states.entry.get(label) != entry
            states.entry[label] = entry
            states.leaving[label] = _through(states, block, entry, places)
        if not changed:
            break
    return states


def _entry(states, block):
    known = [states.leaving[one] for one in block.predecessors if one in states.leaving]
    if not known:
        return Lanes()
    if all(one == known[0] for one in known):
        return known[0]
    stack = min((one.stack for one in known), key=len)
    return Lanes(states.state(block.label, stack[-1] if stack else ALL), stack)


def _through(states, block, lanes, places):
    for call in block.calls:
        states.before[call.line] = lanes
        effect = {"push": "push", "pop": "pop", "complement": "complement", "narrow": "narrow"}.get(call.name)
        if call.name == "raw":
            effect = lane_effect(call.arguments[0])
        lanes = _after(states, lanes, effect, call, places)
    return lanes


def _after(states, lanes, effect, call, places):
    if effect == "push":
        if len(lanes.stack) > MAX_DEPTH:
            raise places.error(
                call.place, f"conditions are nested deeper than the {MAX_DEPTH} entries of the flags' stack allow"
            )
        return Lanes(lanes.current, (*lanes.stack, lanes.current))
    if effect == "pop":
        return Lanes(lanes.stack[-1], lanes.stack[:-1]) if lanes.stack else Lanes()
    if effect == "complement":
        parent = lanes.stack[-1] if lanes.stack else ALL
        return Lanes(states.state(call.line, parent), lanes.stack)
    if effect == "narrow":
        return Lanes(states.state(call.line, lanes.current), lanes.stack)
    if effect == "all":
        return Lanes(ALL, lanes.stack)
    return lanes
