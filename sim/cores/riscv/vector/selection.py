"""The instructions of a function while they are chosen, and what is known of the values they read and write."""

from typing import NamedTuple

from tensim.sim.cores.riscv.vector import numbers
from tensim.sim.cores.riscv.vector import raw_words as op
from tensim.sim.cores.riscv.vector.instructions import Instruction, is_constant, move
from tensim.sim.cores.riscv.vector.tails import tails
from tensim.sim.cores.riscv.vector.uses import Uses, number

LOW_16 = 0xFFFF
# Opcode: modes in which VD and VC may change places
COMMUTATIVE = {op.IADD: (0, 4, 8), 0x7E: (0,), 0x7F: (0,), 0x8D: (0,)}


class Attempt(NamedTuple):
    """What is given up for registers.

    `repeats_numbers`: numbers are loaded where they are used, however often; `saves_registers`: a number is added by SFPADDI rather
    than with the multiplication before, which needs it in a register; `keeps_assigned`: what l_reg has assigned lasts to the
    function's end; `is_late`: values are made where they are first needed, and numbers of the scalar core loaded again;
    `keeps_raw`: what words of the kernel's own read was kept for them, which the vendor's compiler, who does not know what they do,
    never does.
    """

    repeats_numbers: bool = False
    saves_registers: bool = False
    keeps_assigned: bool = True
    is_late: bool = False
    keeps_raw: bool = True


class Selection:
    """The instructions of a function; `states`: its `LaneStates`; `places`: where its calls stand in the source.

    `blocks`: {label: [Instruction]}; `phis`: {label: [(value, [(value, label of a predecessor)], line, place)]}; `written`:
    registers that l_reg has assigned; `tails`: lines of pushes and pops that are left out; `tested`: sums that are made where
    their sign is tested; `folded`: {product: the addition that takes it in}; `opposites`: {value: what its only reader reads with
    the other sign}; `parts`: {value: what it is a part of or stands for}; `handles`: {value: its parts}; `loaded`: numbers that
    have a register; `call`, `state`, `current`: the call at hand, its lanes, its block's instructions; `attempt`: how it goes
    about it (`Attempt`).
    """

    def __init__(self, function, chip, states, places, attempt=None):
        self.function, self.chip, self.states, self.places = function, chip, states, places
        self.attempt = attempt or Attempt()
        self.uses = Uses(function)
        self.tails = tails(function, self.uses, states)
        self.blocks, self.phis, self.written = {}, {}, set()
        self.parts, self.folded, self.opposites, self.handles, self.loaded, self.tested = {}, {}, {}, {}, set(), set()
        self._fresh = 0

    def begin(self, label):
        """Open a block."""
        self.current = self.blocks[label] = []
        self.phis[label] = []

    def at(self, call):
        """What is appended from now on belongs to a call."""
        self.call, self.state = call, self.states.before[call.line].current

    @property
    def is_blackhole(self):
        return self.chip == "blackhole"

    def error(self, message, hint=None):
        return self.places.error(self.call.place, message, hint)

    def resolve(self, value):
        """The value itself, where it is a part of what an instruction has written."""
        return self.parts.get(value, value)

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
            opcode, self.call.line, self.call.place, dict(fields), list(reads), result, state=self.state, **more
        )
        self.current.append(instruction)
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
        if call is not None and call.name == "number" and value not in self.loaded:
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

    def field(self, argument, mask):
        value = number(argument)
        return (argument, 0, mask) if value is None else value & mask

    def copy(self, result, source, everywhere=False):
        self.current.append(move(self.call.line, self.call.place, result, source, self.state, everywhere))

    def lives_on(self, value):
        """Whether a value may still be needed behind the call that reads it now."""
        if self.literal(value) is not None:
            return self.resolve(value) in self.loaded
        return is_constant(self.read(value)) or self.uses.count(value) > 1

    def incoming(self, value):
        """A value as a phi's operand: None if nobody has set it."""
        value = self.resolve(value)
        if value in ("poison", "undef", "null") or self.is_undefined(value):
            return None
        call = self.uses.calls.get(value)
        return f"L{call.arguments[0]}" if call is not None and call.name == "constant" else value

    def binary(self, opcode, mode, d, c, result):
        """VD = f(VD, VC)."""
        if mode in COMMUTATIVE.get(opcode, ()) and self.lives_on(d) and not self.lives_on(c):
            d, c = c, d
        tied = self.own(d)
        return self.emit(opcode, {0: mode}, [(8, self.read(c))], result, tied=tied)
