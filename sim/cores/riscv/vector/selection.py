"""Calls of vector operations become instructions, their registers still open.

What the unit has and the language has not is chosen here: a multiplication and an addition become one SFPMAD, numbers take the
shortest SFPLOADI or a register that holds them, conditions become tests that narrow the lanes, and an assignment where some lanes
are disabled is made by the instruction that computes its value, in the register of the value it replaces.
"""

from tensim.sim.cores.riscv.vector import numbers
from tensim.sim.cores.riscv.vector import raw_words as op
from tensim.sim.cores.riscv.vector.conditions import Conditions
from tensim.sim.cores.riscv.vector.instructions import MOV, Instruction, is_constant, move
from tensim.sim.cores.riscv.vector.lanes import ALL, Lanes
from tensim.sim.cores.riscv.vector.uses import Uses, number

COMMUTATIVE = {
    op.IADD: (0, 4, 8),
    0x7E: (0,),
    0x7F: (0,),
    0x8D: (0,),
}  # opcode: modes in which VD and VC may change places
SHFT = 0x7A
LOW_16 = 0xFFFF


class Selection:
    """The instructions of a function.

    `blocks`: {label: [Instruction]}; `phis`: {label: [(value, [(value, label of a predecessor)], line, place)]}; `written`:
    registers that l_reg has assigned; `tested`: sums that are made where their sign is tested.  `repeats_numbers`: load numbers
    where they are used, however often; `saves_registers`: add a number by SFPADDI rather than take a multiplication in, which
    needs it in a register.
    """

    def __init__(self, function, chip, states, places, repeats_numbers=False, saves_registers=False):
        self.function, self.chip, self.states, self.places = function, chip, states, places
        self.uses = Uses(function)
        self.blocks, self.phis, self.written = {}, {}, set()
        self._saves = saves_registers
        self._repeat, self._parts, self._folded, self._handles = repeats_numbers, {}, {}, {}
        self._loaded, self._fresh, self.tested = set(), 0, set()
        self._conditions = Conditions(self)

    @property
    def is_blackhole(self):
        return self.chip == "blackhole"

    def run(self, order):
        self._fold()
        for label in order:
            block = self.function.blocks[label]
            self._current = self.blocks[label] = []
            self.phis[label] = []
            for call in block.calls:
                if self.uses.matters(call):
                    self._call = call
                    self.state = self.states.before[call.line].current
                    getattr(self, f"_{call.name}")(call)
        for label, phis in self.phis.items():
            self.phis[label] = [
                (result, [(self._incoming(value), pred) for value, pred in incoming], line, place)
                for result, incoming, line, place in phis
            ]
        return self

    def _incoming(self, value):
        value = self.resolve(value)
        if value in ("poison", "undef", "null") or self.is_undefined(value):
            return None
        call = self.uses.calls.get(value)
        return f"L{call.arguments[0]}" if call is not None and call.name == "constant" else value

    # --- values

    def error(self, message, hint=None):
        return self.places.error(self._call.place, message, hint)

    def resolve(self, value):
        """The value itself, where it is a part of what an instruction has written."""
        return self._parts.get(value, value)

    def is_undefined(self, value):
        call = self.uses.calls.get(self.resolve(value))
        return call is not None and call.name == "undefined"

    def literal(self, value):
        """The bits of a number that is known when the program is built, or None."""
        call = self.uses.calls.get(self.resolve(value))
        return number(call.arguments[0]) if call is not None and call.name == "number" else None

    def new_value(self):
        self._fresh += 1
        return f"%tensim.{self._fresh}"

    def emit(self, opcode, fields=(), reads=(), result=None, **more):
        """Append an instruction; its result."""
        instruction = Instruction(
            opcode, self._call.line, self._call.place, dict(fields), list(reads), result, state=self.state, **more
        )
        self._current.append(instruction)
        return result

    def read(self, value):
        """A value as an instruction's source: in a register, or the register that holds the constant."""
        value = self.resolve(value)
        if value in ("poison", "undef", "null") or self.is_undefined(value):
            return "L9"
        bits = self.literal(value)
        if bits in numbers.CONSTANTS:
            return numbers.CONSTANTS[bits]
        return self.own(value)

    def own(self, value):
        """A value in a register that is its own, or the register of a programmable constant."""
        value = self.resolve(value)
        if value in ("poison", "undef", "null") or self.is_undefined(value):
            return self.load_number(0)
        call = self.uses.calls.get(value)
        if call is not None and call.name == "constant":
            return f"L{self.fixed(call.arguments[0])}"
        if call is not None and call.name == "number" and value not in self._loaded:
            return self.load_number(call.arguments[0])
        return value

    def load_number(self, argument, result=None):
        """Load a number, or one that an i32 in IR has at run time; the value."""
        bits = argument if isinstance(argument, int) else number(argument)
        if bits is None:
            parts = [(numbers.UPPER, (argument, 16, LOW_16)), (numbers.LOWER, (argument, 0, LOW_16))]
        else:
            parts = numbers.immediates(bits)
        value = None
        for index, (mode, part) in enumerate(parts):
            last = result if result is not None and index == len(parts) - 1 else self.new_value()
            value = self.emit(op.LOADI, {16: mode, 0: part}, result=last, at=20, tied=value)
        return value

    def fixed(self, argument):
        """A number that the instruction must know when the program is built."""
        value = number(argument)
        if value is None:
            raise self.error(
                "this operand of a vector instruction is known at run time only, and its word has no room for that"
            )
        return value

    def _field(self, argument, mask):
        value = number(argument)
        return (argument, 0, mask) if value is None else value & mask

    # --- what is decided before: multiplications that an addition takes in, numbers that are loaded where they are used

    def _fold(self):
        for block in self.function.blocks.values():
            for call in block.calls:
                if self.uses.matters(call) and call.name in ("add", "subtract"):
                    for operand in reversed(call.arguments):
                        if self._takes_in(call, operand):
                            self._folded[operand] = call
                            break
                elif self.uses.matters(call) and call.name == "test":
                    self._fold_test(call)

    def _fold_test(self, test):
        """The sign of a sum that nothing else reads is tested by the instruction that makes it."""
        made = self.uses.calls.get(test.arguments[1])
        if made is None or made.name not in ("integer_add", "integer_subtract") or test.arguments[0] not in ("0", "4"):
            return
        narrowing = self.uses.only_user(test.result)
        while narrowing is not None and narrowing.name in ("and", "or", "not"):
            narrowing = self.uses.only_user(narrowing.result)
        if narrowing is not None and narrowing.block == made.block and self.uses.count(made.result) == 1:
            self.tested.add(made.result)

    def _takes_in(self, call, operand):
        inner = self.uses.calls.get(operand)
        if inner is None or inner.name != "multiply" or self.uses.count(operand) != 1 or inner.block != call.block:
            return False
        if self.states.before[inner.line].current != self.states.before[call.line].current:
            return False
        other = self.literal(call.arguments[1 - call.arguments.index(operand)])
        if self._saves and other is not None and other not in numbers.CONSTANTS and numbers.is_bfloat(other):
            return False
        if call.name == "add" or self.is_blackhole:
            return True
        if operand == call.arguments[0]:  # a * b - c: c becomes -c
            return self.literal(call.arguments[1]) is not None
        return any(self.literal(factor) is not None for factor in inner.arguments)

    def _is_deferred(self, call):
        """Whether a number is loaded at its use."""
        if number(call.arguments[0]) is None:
            return False
        users = self.uses.users.get(call.result, ())
        plain = all(user.name not in ("phi", "select", "assign", "write") for user in users)
        if number(call.arguments[0]) in numbers.CONSTANTS and plain:
            return True
        return plain and (self._repeat or len(users) == 1 and users[0].block == call.block)

    # --- calls that make no instruction

    def _test(self, call):
        pass

    _undefined = _constant = _and = _or = _not = _order = _test

    def _phi(self, call):
        self.phis[call.block].append((call.result, call.arguments, call.line, call.place))

    def _boolean(self, call):
        if any(user.name != "test" for user in self.uses.users.get(call.result, ())):
            self._parts[call.result] = self._conditions.numbers_of(call.arguments[0])

    def _part(self, call):
        self._parts[call.result] = self._handles[self.resolve(call.arguments[0])][self.fixed(call.arguments[1])]

    # --- numbers, registers, Dst

    def _number(self, call):
        if not self._is_deferred(call):
            self._loaded.add(call.result)
            self.load_number(call.arguments[0], call.result)

    def _immediate(self, call):
        mode = self.fixed(call.arguments[0])
        self.emit(op.LOADI, {16: mode, 0: self._field(call.arguments[1], LOW_16)}, result=call.result, at=20)

    def _read(self, call):
        self._copy(call.result, f"P{self.fixed(call.arguments[0])}", everywhere=self.state != 0)

    def _copy(self, result, source, everywhere=False):
        self._current.append(move(self._call.line, self._call.place, result, source, self.state, everywhere))

    def _write(self, call):
        register = self.fixed(call.arguments[0])
        self.written.add(register)
        self._copy(f"P{register}", self.own(call.arguments[1]))

    def _use(self, call):
        self.emit(0, kind="marker", sets=frozenset({self.fixed(call.arguments[0])}))

    def _configure(self, call):
        register = self.fixed(call.arguments[0])
        self._copy("P0", self.own(call.arguments[1]))
        self.emit(op.CONFIG, {4: register}, uses=frozenset({0}))

    def _load(self, call):
        self.emit(op.LOAD, self._place_in_dst(*call.arguments), result=call.result, at=20)

    def _store(self, call):
        value = self.read(call.arguments[0])
        if is_constant(value) and int(value[1:]) > 11:  # of those SFPSTORE writes a macro's template
            copied = self.new_value()
            self._copy(copied, value)
            value = copied
        self.emit(op.STORE, self._place_in_dst(*call.arguments[1:]), [(20, value)])

    def _place_in_dst(self, layout, address_mode, address):
        shift, mask = (13, 0x1FFF) if self.is_blackhole else (14, 0x3FFF)
        return {16: self.fixed(layout), shift: self.fixed(address_mode), 0: self._field(address, mask)}

    def _raw(self, call):
        word = call.arguments[0]
        reads, writes = op.registers(word) if op.is_vector(word) else (frozenset(), frozenset())
        if self.state:  # lanes that are not enabled keep what was there
            reads |= writes
        self.emit(0, kind="raw", word=word, uses=reads, sets=writes)

    def _unknown(self, call):
        self.emit(0, kind="unknown")

    # --- instructions by their opcode

    def _one(self, call):
        opcode, mode = (self.fixed(argument) for argument in call.arguments[:2])
        fields = {0: mode, 12: self._field(call.arguments[2], 0xFFF)}
        self.emit(opcode, fields, [(8, self.read(call.arguments[3]))], call.result)

    def _two(self, call):
        opcode, mode = (self.fixed(argument) for argument in call.arguments[:2])
        self._binary(opcode, mode, call.arguments[2], call.arguments[3], call.result)

    def _binary(self, opcode, mode, d, c, result):
        """VD = f(VD, VC)."""
        if mode in COMMUTATIVE.get(opcode, ()) and self._lives_on(d) and not self._lives_on(c):
            d, c = c, d
        tied = self.own(d)
        return self.emit(opcode, {0: mode}, [(8, self.read(c))], result, tied=tied)

    def _lives_on(self, value):
        """Whether a value may still be needed behind the call that reads it now."""
        if self.literal(value) is not None:
            return self.resolve(value) in self._loaded
        return is_constant(self.read(value)) or self.uses.count(value) > 1

    def _three(self, call):
        opcode, mode = (self.fixed(argument) for argument in call.arguments[:2])
        a, b, c = (self.read(argument) for argument in call.arguments[2:])
        self.emit(opcode, {0: mode}, [(16, a), (12, b), (8, c)], call.result)

    def _swap(self, call):
        mode, d, c = self.fixed(call.arguments[0]), *call.arguments[1:]
        tied, other = self.own(d), self.read(c)
        first, second = self.new_value(), self.new_value()
        if is_constant(other):
            self.emit(op.SWAP, {0: mode}, [(8, other)], first, tied=tied)
        else:
            self.emit(op.SWAP, {0: mode}, [], first, tied=tied, second=(8, second, other))
        self._handles[call.result] = (first, second)

    def _transpose(self, call):
        for register, value in enumerate(call.arguments):
            self._copy(f"P{register}", self.own(value))
        self.emit(op.TRANSP, uses=frozenset(range(4)), sets=op.GROUP)
        parts = [self.new_value() for _ in call.arguments]
        for register, part in enumerate(parts):
            self._copy(part, f"P{register}")
        self._handles[call.result] = parts

    def _lut(self, call):
        mode = self.fixed(call.arguments[0])
        self._table(call.arguments[1:], (3, 0, 1, 2))
        self.emit(op.LUT, {16: mode}, result=call.result, at=20, uses=frozenset(range(4)))

    def _lut6(self, call):
        mode = self.fixed(call.arguments[0])
        self._table(call.arguments[1:], (3, 0, 1, 2, 4, 5, 6))
        self.emit(op.LUTFP32, {0: mode}, result=call.result, uses=frozenset(range(7)))

    def _table(self, values, registers):
        for value, register in zip(values, registers, strict=True):
            self._copy(f"P{register}", self.own(value))

    def _select(self, call):
        """A value that a condition of the RISC-V core chooses: the number of the register comes at run time."""
        choice, a, b = call.arguments
        self.emit(MOV, {0: 0}, [(8, self.read(a)), (8, self.read(b))], call.result, choice=choice)

    # --- arithmetic

    def _multiply(self, call):
        if call.result in self._folded:
            return
        a, b = call.arguments
        for value, other in ((a, b), (b, a)):
            bits = self.literal(other)
            if self._is_short(other) and self._may_replace(value):
                self.emit(op.MULI, {8: bits >> 16}, result=call.result, tied=self.own(value))
                return
        self.emit(op.MUL, {0: 0}, [(16, self.read(a)), (12, self.read(b)), (8, "L9")], call.result)

    def _is_short(self, value):
        """Whether a number is loaded nowhere yet, is no constant register's, and fits the 16 bits of an instruction."""
        bits = self.literal(value)
        return (
            bits is not None
            and bits not in numbers.CONSTANTS
            and numbers.is_bfloat(bits)
            and self.resolve(value) not in self._loaded
        )

    def _may_replace(self, value):
        return self.literal(value) is None and self.uses.count(value) == 1 and not is_constant(self.read(value))

    def _add(self, call):
        a, b = call.arguments
        for value, other in ((a, b), (b, a)):
            if self._folded.get(value) is call:
                factors = self.uses.calls[value].arguments
                self._multiply_add(factors, self.read(other), call.result)
                return
        for value, other in ((a, b), (b, a)):
            if self._is_short(other) and self._may_replace(value):
                self.emit(op.ADDI, {8: self.literal(other) >> 16}, result=call.result, tied=self.own(value))
                return
        self.emit(op.ADD, {0: 0}, [(16, "L10"), (12, self.read(a)), (8, self.read(b))], call.result)

    def _multiply_add(self, factors, addend, result, mode=0):
        a, b = (self.read(factor) for factor in factors)
        self.emit(op.MAD, {0: mode}, [(16, a), (12, b), (8, addend)], result)

    def _subtract(self, call):
        a, b = call.arguments
        folded = next((value for value in (a, b) if self._folded.get(value) is call), None)
        if folded is not None:
            self._subtract_product(call, folded)
            return
        if self._saves and self._is_short(a) and self._may_replace(b):
            opposite = self.emit(MOV, {0: 1}, [(8, self.read(b))], self.new_value())
            self.emit(op.ADDI, {8: self.literal(a) >> 16}, result=call.result, tied=opposite)
            return
        bits = self.literal(b)
        if bits is not None and self.resolve(b) not in self._loaded:
            opposite = numbers.negated(bits)
            if self._is_short(b) and self._may_replace(a):
                self.emit(op.ADDI, {8: opposite >> 16}, result=call.result, tied=self.own(a))
                return
            other = numbers.CONSTANTS.get(opposite) or self.load_number(opposite)
            self.emit(op.ADD, {0: 0}, [(16, "L10"), (12, self.read(a)), (8, other)], call.result)
        elif self.is_blackhole:
            self.emit(op.ADD, {0: 2}, [(16, "L10"), (12, self.read(a)), (8, self.read(b))], call.result)
        else:
            self.emit(op.MAD, {0: 0}, [(16, self.read(b)), (12, "L11"), (8, self.read(a))], call.result)

    def _subtract_product(self, call, folded):
        a, b = call.arguments
        factors = list(self.uses.calls[folded].arguments)
        if folded == a:  # x * y - b
            bits = self.literal(b)
            if bits is not None:
                opposite = numbers.negated(bits)
                self._multiply_add(factors, numbers.CONSTANTS.get(opposite) or self.load_number(opposite), call.result)
            else:
                self._multiply_add(factors, self.read(b), call.result, mode=2)
        elif self.is_blackhole:  # a - x * y
            self._multiply_add(factors, self.read(a), call.result, mode=1)
        else:
            index = next(i for i, factor in enumerate(factors) if self.literal(factor) is not None)
            opposite = numbers.negated(self.literal(factors[index]))
            x, y = numbers.CONSTANTS.get(opposite) or self.load_number(opposite), self.read(factors[1 - index])
            self.emit(op.MAD, {0: 0}, [(16, x), (12, y), (8, self.read(a))], call.result)

    def _negate(self, call):
        self.emit(MOV, {0: 1}, [(8, self.read(call.arguments[0]))], call.result)

    def _integer_add(self, call):
        if call.result not in self.tested:
            self.sum(call, op.CC_NONE, call.result)

    _integer_subtract = _integer_add

    def sum(self, call, flags, result):
        """A sum or a difference of integers; `flags`: what its sign does to the lanes (mode of SFPIADD)."""
        a, b = call.arguments
        is_sum = call.name == "integer_add"
        if is_sum and self.literal(a) is not None and self.literal(b) is None:
            a, b = b, a
        if not is_sum and flags != op.CC_NONE and self.literal(a) is not None and self._is_small(~self.literal(a)):
            # The sign of a - b is the opposite of that of b - a - 1
            fields = {0: op.ARG_IMMEDIATE | op.OPPOSITE_SIGN[flags], 12: ~self.literal(a) & 0xFFF}
            self.emit(op.IADD, fields, [(8, self.read(b))], result)
            return
        bits = self.literal(b)
        if bits is not None and not is_sum:
            bits = -bits & 0xFFFFFFFF
        if bits is not None and self._is_small(bits):
            self.emit(op.IADD, {0: op.ARG_IMMEDIATE | flags, 12: bits & 0xFFF}, [(8, self.read(a))], result)
        elif is_sum:
            self._binary(op.IADD, flags, b, a, result)
        elif bits is not None:
            self.emit(op.IADD, {0: flags}, [(8, self.read(a))], result, tied=self.load_number(bits))
        else:
            self.emit(op.IADD, {0: op.ARG_MINUS | flags}, [(8, self.read(a))], result, tied=self.own(b))

    @staticmethod
    def _is_small(value):
        return numbers.fits_12_bits(numbers.signed(value & 0xFFFFFFFF))

    def _shift(self, call):
        """Left by a positive amount, right by a negative one; only Blackhole shifts another register than the result's."""
        value, amount, arithmetic = call.arguments
        mode = 2 if self.fixed(arithmetic) else 0
        made = self.uses.calls.get(self.resolve(amount))
        if made is None or made.name != "number":
            self.emit(SHFT, {0: mode}, [(8, self.read(amount))], call.result, tied=self.own(value))
            return
        fields = {0: mode | 1, 12: self._field(made.arguments[0], 0xFFF)}
        if self.is_blackhole:
            fields[0] |= 4
            self.emit(SHFT, fields, [(8, self.read(value))], call.result)
        else:
            self.emit(SHFT, fields, [], call.result, tied=self.own(value))

    # --- lanes

    def _push(self, call):
        """All lanes are enabled in front of an outermost region: its end enables them again, and nothing is pushed."""
        if self.states.before[call.line] != Lanes():
            self.emit(op.PUSHC)

    def _pop(self, call):
        if self.states.before[call.line].stack == (ALL,):
            self.emit(op.ENCC, {0: op.ENABLE_MODE, 12: op.ENABLE_ALL})
        else:
            self.emit(op.POPC)

    def _complement(self, call):
        self.emit(op.COMPC)

    def _narrow(self, call):
        lanes = self.states.before[call.line]
        self._conditions.narrow(call.arguments[0], fresh=bool(lanes.stack) and lanes.stack[-1] == lanes.current)

    def _assign(self, call):
        """Where some lanes of a variable are disabled: its register keeps what they hold."""
        old, new = call.arguments
        kept = self.own(old)
        if not (self.uses.only_user(new) is call and self._retarget(self.resolve(new), kept, call.result)):
            self.emit(MOV, {0: 0}, [(8, self.read(new))], call.result, tied=kept)

    def _retarget(self, value, kept, result):
        """Let the instruction that makes a value put it where `kept` lies; False where that is not the same."""
        index = next((i for i in range(len(self._current) - 1, -1, -1) if self._current[i].result == value), None)
        if index is None:
            return False
        instruction = self._current[index]
        behind = [one for one in self._current[index + 1 :] if kept in one.values_read() or one.state != self.state]
        if behind or instruction.state != self.state or instruction.second or instruction.copy:
            return False
        if instruction.tied in (None, kept):
            instruction.tied, instruction.result = kept, result
            return True
        if kept in [source for _, source in instruction.reads]:
            return False
        inner = self.new_value()
        if self.uses.count(instruction.tied) > 1 or not self._retarget(instruction.tied, kept, inner):
            return False
        instruction.tied, instruction.result = inner, result
        return True
