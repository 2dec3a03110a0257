"""A slow RV32IM interpreter in plain Python: no timing, written from the instruction set's definition, not from the simulator.

Registers are unsigned 32-bit numbers; memory is a dictionary of bytes.
"""

MASK = 0xFFFFFFFF


class Stopped(Exception):
    """The program has left what this interpreter knows: its reason."""


def signed(value, bits=32):
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def field(word, low, count):
    return word >> low & ((1 << count) - 1)


def truncated(dividend, divisor):
    quotient = abs(dividend) // abs(divisor)
    return -quotient if (dividend < 0) != (divisor < 0) else quotient


class Reference:
    """One core; `text`: bytes at address 0; `memory`: address -> byte."""

    def __init__(self, text, registers=None, memory=None):
        self.text, self.pc = text, 0
        self.x = list(registers or [0] * 32)
        self.memory = dict(memory or {})
        self.executed = 0

    def read(self, address, size):
        return sum(self.memory.get((address + i) & MASK, 0) << 8 * i for i in range(size))

    def write(self, address, size, value):
        for i in range(size):
            self.memory[(address + i) & MASK] = value >> 8 * i & 255

    def step(self):
        if self.pc % 4 or not 0 <= self.pc < len(self.text):
            raise Stopped("jump")
        word = int.from_bytes(self.text[self.pc : self.pc + 4], "little")
        opcode = word & 0x7F
        handler = HANDLERS.get(opcode)
        if handler is None:
            raise Stopped("illegal")
        following = handler(self, word)
        self.x[0] = 0
        self.pc = self.pc + 4 if following is None else following
        self.executed += 1

    # --- instructions

    def immediate_operation(self, word):
        a, immediate, kind = self.x[field(word, 15, 5)], signed(word >> 20, 12), field(word, 12, 3)
        if kind in (1, 5):
            amount, top = field(word, 20, 5), field(word, 25, 7)
            if top not in ((0,) if kind == 1 else (0, 32)):
                raise Stopped("illegal")
            value = a << amount if kind == 1 else (signed(a) >> amount if top else a >> amount)
        else:
            value = {
                0: a + immediate, 2: int(signed(a) < immediate), 3: int(a < (immediate & MASK)),
                4: a ^ immediate, 6: a | immediate, 7: a & immediate,
            }[kind]  # fmt: skip
        self.x[field(word, 7, 5)] = value & MASK

    def register_operation(self, word):
        a, b = self.x[field(word, 15, 5)], self.x[field(word, 20, 5)]
        kind, top, amount = field(word, 12, 3), field(word, 25, 7), b & 31
        if top == 1:
            value = self.product(kind, a, b)
        elif top == 32 and kind in (0, 5):
            value = a - b if kind == 0 else signed(a) >> amount
        elif top == 0:
            value = [
                a + b, a << amount, int(signed(a) < signed(b)), int(a < b), a ^ b, a >> amount, a | b, a & b,
            ][kind]  # fmt: skip
        else:
            raise Stopped("illegal")
        self.x[field(word, 7, 5)] = value & MASK

    @staticmethod
    def product(kind, a, b):
        if kind < 4:
            left = a if kind == 3 else signed(a)
            right = b if kind in (2, 3) else signed(b)
            return left * right >> (0 if kind == 0 else 32)
        if kind in (4, 6):
            a, b = signed(a), signed(b)
        if b == 0:
            return -1 if kind in (4, 5) else a
        quotient = truncated(a, b)
        return quotient if kind in (4, 5) else a - quotient * b

    def load(self, word):
        kind = field(word, 12, 3)
        if kind not in (0, 1, 2, 4, 5):
            raise Stopped("illegal")
        size = 1 << (kind & 3)
        value = self.read(self.x[field(word, 15, 5)] + signed(word >> 20, 12), size)
        self.x[field(word, 7, 5)] = (signed(value, 8 * size) if kind < 3 else value) & MASK

    def store(self, word):
        offset = signed(field(word, 25, 7) << 5 | field(word, 7, 5), 12)
        if field(word, 12, 3) > 2:
            raise Stopped("illegal")
        self.write(self.x[field(word, 15, 5)] + offset, 1 << field(word, 12, 3), self.x[field(word, 20, 5)])

    def branch(self, word):
        a, b, kind = self.x[field(word, 15, 5)], self.x[field(word, 20, 5)], field(word, 12, 3)
        if kind in (2, 3):
            raise Stopped("illegal")
        holds = {0: a == b, 4: signed(a) < signed(b), 6: a < b}[kind & ~1] != bool(kind & 1)
        distance = field(word, 31, 1) << 12 | field(word, 7, 1) << 11 | field(word, 25, 6) << 5 | field(word, 8, 4) << 1
        return (self.pc + signed(distance, 13)) & MASK if holds else None

    def jump(self, word):
        distance = (
            field(word, 31, 1) << 20 | field(word, 12, 8) << 12 | field(word, 20, 1) << 11 | field(word, 21, 10) << 1
        )
        self.x[field(word, 7, 5)] = self.pc + 4
        return (self.pc + signed(distance, 21)) & MASK

    def jump_register(self, word):
        if field(word, 12, 3):
            raise Stopped("illegal")
        target = self.x[field(word, 15, 5)] + signed(word >> 20, 12) & MASK & ~1
        self.x[field(word, 7, 5)] = self.pc + 4
        return target

    def upper(self, word):
        self.x[field(word, 7, 5)] = (word & 0xFFFFF000) + (self.pc if word & 0x7F == 0x17 else 0) & MASK

    def trap(self, word):
        raise Stopped("operation")

    def fence(self, word):
        pass


HANDLERS = {
    0x13: Reference.immediate_operation, 0x33: Reference.register_operation, 0x03: Reference.load,
    0x23: Reference.store, 0x63: Reference.branch, 0x6F: Reference.jump, 0x67: Reference.jump_register,
    0x37: Reference.upper, 0x17: Reference.upper, 0x0B: Reference.trap, 0x0F: Reference.fence,
}  # fmt: skip
