"""Conditions of lanes become tests that narrow the lanes.

Several tests one behind the other narrow to the lanes of all of them.  An alternative is the complement of lanes in which
neither holds, which the unit takes inside the lanes that were pushed last: so it has to come first behind a push.  Any other
one is made into a vector of 0 and 1.
"""

from tensim.sim.cores.riscv.vector import numbers
from tensim.sim.cores.riscv.vector import raw_words as op
from tensim.sim.cores.riscv.vector.instructions import MOV
from tensim.sim.cores.riscv.vector.select_arithmetic import integer_sum

LT0, NE0, GTE0, EQ0 = 0, 2, 4, 6
SET_FLAGS = 1  # mode of SFPLE and SFPGT
TEMPLATES = ("L12", "L13", "L14", "L15")
OPPOSITE = {LT0: GTE0, GTE0: LT0, EQ0: NE0, NE0: EQ0, op.LE: op.GT, op.GT: op.LE}


class Conditions:
    """`selection`: the `Selection` of the function, which instructions are appended to."""

    def __init__(self, selection):
        self._to = selection

    def narrow(self, condition, fresh):
        """Narrow the lanes to those of a condition; `fresh`: nothing has narrowed them since they were pushed."""
        self._narrow(self._tree(condition, True), fresh)

    def _tree(self, value, positive):
        """("test", mode or opcode, operand, call) or ("and" | "or", [trees]) of a condition, inversions carried to the tests."""
        call = self._to.uses.calls.get(self._to.resolve(value))
        if call is None or call.name not in ("test", "order", "and", "or", "not"):
            raise self._to.error(
                "a condition of lanes is chosen at run time",
                hint="choose with `if constexpr`, or use v_if for each choice",
            )
        if call.name == "test":
            mode = self._to.fixed(call.arguments[0])
            tested = self._to.uses.calls.get(self._to.resolve(call.arguments[1]))
            if tested is not None and tested.name == "boolean" and mode in (NE0, EQ0):
                return self._tree(tested.arguments[0], positive == (mode == NE0))
            return ("test", mode if positive else OPPOSITE[mode], call.arguments[1], call)
        if call.name == "order":
            opcode = self._to.fixed(call.arguments[0])
            return ("test", opcode if positive else OPPOSITE[opcode], call.arguments[1:], call)
        if call.name == "not":
            return self._tree(call.arguments[0], not positive)
        kind = call.name if positive else {"and": "or", "or": "and"}[call.name]
        parts = []
        for argument in call.arguments:
            part = self._tree(argument, positive)
            parts += part[1] if part[0] == kind else [part]
        return (kind, parts)

    def _narrow(self, tree, fresh):
        if tree[0] == "test":
            self._test(*tree[1:])
        elif tree[0] == "and":
            parts = sorted(tree[1], key=lambda part: part[0] == "test")
            for index, part in enumerate(parts):
                self._narrow(part, fresh and index == 0)
        elif fresh:
            self._narrow(self._inverted(tree), True)
            self._to.emit(op.COMPC)
        else:
            self._as_numbers(tree)

    def _inverted(self, tree):
        if tree[0] == "test":
            return ("test", OPPOSITE[tree[1]], *tree[2:])
        return ({"and": "or", "or": "and"}[tree[0]], [self._inverted(part) for part in tree[1]])

    def _as_numbers(self, tree):
        """1 where a condition holds, else 0; narrow by that."""
        self._to.emit(op.SETCC, {0: NE0}, [(8, self.numbers(tree))])

    def numbers_of(self, condition):
        """A vector with 1 where a condition holds, else 0."""
        return self.numbers(self._tree(condition, True))

    def numbers(self, tree):
        nothing = self._to.load_number(0)
        self._to.emit(op.PUSHC)
        self._narrow(tree, True)
        found = self._to.emit(op.LOADI, {16: numbers.USHORT, 0: 1}, result=self._to.new_value(), at=20, tied=nothing)
        self._to.emit(op.POPC)
        return found

    def _test(self, mode, operand, call):
        if call.name == "order":
            d, c = (self._to.read(value) for value in operand)
            self._to.emit(mode, {0: SET_FLAGS}, [(4, self._in_lreg(d)), (8, c)])
        elif operand in self._to.tested and mode in (LT0, GTE0):
            made = self._to.uses.calls[operand]
            integer_sum(self._to, made, op.CC_LT0 if mode == LT0 else op.CC_GTE0, self._to.new_value())
        else:
            self._to.emit(op.SETCC, {0: mode}, [(8, self._to.read(operand))])

    def _in_lreg(self, value):
        """A value as VD.  With VD from 12 on, where programmable constants lie, an instruction writes a template of SFPLOADMACRO's
        and is not executed (ISA: SFPCONFIG.md).
        """
        if value not in TEMPLATES:
            return value
        return self._to.emit(MOV, {0: 0}, [(8, value)], self._to.new_value())
