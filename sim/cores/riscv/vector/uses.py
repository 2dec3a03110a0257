"""Which calls of a function matter, and how often each value is used."""

import re

PURE = {
    "undefined", "number", "immediate", "constant", "read", "load", "one", "two", "three", "swap", "transpose", "part", "lut",
    "lut6", "add", "subtract", "multiply", "negate", "integer_add", "integer_subtract", "shift", "assign", "test", "and", "or",
    "not", "phi", "select",
    "boolean", "order",
}  # fmt: skip
# Of these no instruction is made: they are part of those that read them
SILENT = frozenset(("test", "undefined", "constant", "and", "or", "not", "order"))
NAME = re.compile(r"^%")


def operands(call):
    """Names in IR that a call reads, vectors and numbers alike."""
    if call.name == "phi":
        return [value for value, _ in call.arguments]
    return [argument for argument in call.arguments if isinstance(argument, str) and NAME.match(argument)]


class Uses:
    """`calls`: {value: the call that makes it}; `users`: {value: calls that read it}, of calls that matter only."""

    def __init__(self, function):
        self.calls, self.users, self._alive = {}, {}, set()
        waiting = []
        for block in function.blocks.values():
            for call in block.calls:
                if call.result:
                    self.calls[call.result] = call
                if call.name not in PURE:
                    waiting.append(call)
        while waiting:
            call = waiting.pop()
            if id(call) in self._alive:
                continue
            self._alive.add(id(call))
            for value in operands(call):
                self.users.setdefault(value, []).append(call)
                if value in self.calls:
                    waiting.append(self.calls[value])

    def matters(self, call):
        return id(call) in self._alive

    def count(self, value):
        return len(self.users.get(value, ()))

    def only_user(self, value):
        users = self.users.get(value, ())
        return users[0] if len(users) == 1 else None


def number(argument):
    """The unsigned value of a literal argument, or None."""
    return int(argument) & 0xFFFFFFFF if re.fullmatch(r"-?\d+", argument) else None
