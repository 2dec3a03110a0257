"""A vector instruction before and after its registers are chosen."""

from dataclasses import dataclass, field

MOV = 0x7C


@dataclass
class Instruction:
    """One instruction word.

    `kind`: `vector`, which becomes a word; `raw`, which is in the text already (`word`); `unknown`, a word known at run time
    only; `marker`, no word.  `fields`: {lowest bit: number, or (text of an i32 in IR, shift to the right, mask)} of what is
    known or comes at run time; `reads`: [(lowest bit of the register's field, value)]; `choice`: the i1 in IR that says
    whether the first or the second of two reads is meant.  `result`: the value it writes, its field at `at`; `tied`: the value
    whose register the result takes, as the instruction leaves disabled lanes or parts of it as they are; `second`: (lowest
    bit, value, tied value) of a second result.  `copy`: the word only moves `reads[0]` to the result and vanishes where both
    share a register.  `uses`, `sets`: registers by number, beside.  `state`: the lanes that are enabled
    (`lanes.LaneStates`).  A value is a name, `L8` to `L15` a register that holds a constant; `P0` to `P7` are the registers
    themselves.
    """

    opcode: int
    line: int
    place: str | None
    fields: dict = field(default_factory=dict)
    reads: list = field(default_factory=list)
    result: str | None = None
    at: int = 4
    tied: str | None = None
    second: tuple | None = None
    copy: bool = False
    uses: frozenset = frozenset()
    sets: frozenset = frozenset()
    kind: str = "vector"
    word: int = 0
    choice: str | None = None
    state: int = 0

    def values_read(self):
        """Values in registers of the pass's choice, tied ones included."""
        found = [value for _, value in self.reads]
        found += [self.tied] if self.tied else []
        found += [self.second[2]] if self.second and self.second[2] else []
        return [value for value in found if not is_constant(value)] + [f"P{number}" for number in self.uses]

    def values_written(self):
        found = [self.result] if self.result else []
        found += [self.second[1]] if self.second else []
        return found + [f"P{number}" for number in self.sets]


def is_constant(value):
    return value.startswith("L")


def is_register(value):
    return value.startswith("P")


def move(line, place, result, source, state, everywhere=False):
    """A copy; `everywhere`: also in lanes that are not enabled."""
    return Instruction(MOV, line, place, {0: 2 if everywhere else 0}, [(8, source)], result, copy=True, state=state)
