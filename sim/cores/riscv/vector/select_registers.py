"""Calls that name numbers, registers and places in Dst, and those that say their opcode themselves."""

from tensim.sim.cores.riscv.vector import raw_words as op
from tensim.sim.cores.riscv.vector.folding import is_deferred
from tensim.sim.cores.riscv.vector.instructions import MOV, is_constant
from tensim.sim.cores.riscv.vector.selection import LOW_16


def _phi(selection, call):
    selection.phis[call.block].append((call.result, call.arguments, call.line, call.place))


def _part(selection, call):
    selection.parts[call.result] = selection.handles[selection.resolve(call.arguments[0])][
        selection.fixed(call.arguments[1])
    ]


def _number(selection, call):
    if not is_deferred(selection, call):
        selection.loaded.add(call.result)
        selection.load_number(call.arguments[0], call.result)


def _immediate(selection, call):
    mode = selection.fixed(call.arguments[0])
    selection.emit(op.LOADI, {16: mode, 0: selection.field(call.arguments[1], LOW_16)}, result=call.result, at=20)


def _read(selection, call):
    selection.copy(call.result, f"P{selection.fixed(call.arguments[0])}", everywhere=selection.state != 0)


def _write(selection, call):
    register = selection.fixed(call.arguments[0])
    selection.written.add(register)
    selection.copy(f"P{register}", selection.own(call.arguments[1]))


def _use(selection, call):
    selection.emit(0, kind="marker", sets=frozenset({selection.fixed(call.arguments[0])}))


def _configure(selection, call):
    register = selection.fixed(call.arguments[0])
    selection.copy("P0", selection.own(call.arguments[1]))
    selection.emit(op.CONFIG, {4: register}, uses=frozenset({0}))


def _load(selection, call):
    selection.emit(op.LOAD, _place_in_dst(selection, *call.arguments), result=call.result, at=20)


def _store(selection, call):
    value = selection.read(call.arguments[0])
    if is_constant(value) and int(value[1:]) > 11:  # of those SFPSTORE writes a macro's template
        copied = selection.new_value()
        selection.copy(copied, value)
        value = copied
    selection.emit(op.STORE, _place_in_dst(selection, *call.arguments[1:]), [(20, value)])


def _place_in_dst(selection, layout, address_mode, address):
    shift, mask = (13, 0x1FFF) if selection.is_blackhole else (14, 0x3FFF)
    return {16: selection.fixed(layout), shift: selection.fixed(address_mode), 0: selection.field(address, mask)}


def _raw(selection, call):
    word = call.arguments[0]
    reads, writes = op.registers(word) if op.is_vector(word) else (frozenset(), frozenset())
    if selection.state:  # lanes that are not enabled keep what was there
        reads |= writes
    selection.emit(0, kind="raw", word=word, uses=reads, sets=writes)


def _unknown(selection, call):
    selection.emit(0, kind="unknown")


def _one(selection, call):
    opcode, mode = (selection.fixed(argument) for argument in call.arguments[:2])
    fields = {0: mode, 12: selection.field(call.arguments[2], 0xFFF)}
    selection.emit(opcode, fields, [(8, selection.read(call.arguments[3]))], call.result)


def _two(selection, call):
    opcode, mode = (selection.fixed(argument) for argument in call.arguments[:2])
    selection.binary(opcode, mode, call.arguments[2], call.arguments[3], call.result)


def _three(selection, call):
    opcode, mode = (selection.fixed(argument) for argument in call.arguments[:2])
    a, b, c = (selection.read(argument) for argument in call.arguments[2:])
    selection.emit(opcode, {0: mode}, [(16, a), (12, b), (8, c)], call.result)


def _swap(selection, call):
    mode, d, c = selection.fixed(call.arguments[0]), *call.arguments[1:]
    tied, other = selection.own(d), selection.read(c)
    first, second = selection.new_value(), selection.new_value()
    if is_constant(other):
        selection.emit(op.SWAP, {0: mode}, [(8, other)], first, tied=tied)
    else:
        selection.emit(op.SWAP, {0: mode}, [], first, tied=tied, second=(8, second, other))
    selection.handles[call.result] = (first, second)


def _transpose(selection, call):
    for register, value in enumerate(call.arguments):
        selection.copy(f"P{register}", selection.own(value))
    selection.emit(op.TRANSP, uses=frozenset(range(4)), sets=op.GROUP)
    parts = [selection.new_value() for _ in call.arguments]
    for register, part in enumerate(parts):
        selection.copy(part, f"P{register}")
    selection.handles[call.result] = parts


def _lut(selection, call):
    mode = selection.fixed(call.arguments[0])
    _table(selection, call.arguments[1:], (3, 0, 1, 2))
    selection.emit(op.LUT, {16: mode}, result=call.result, at=20, uses=frozenset(range(4)))


def _lut6(selection, call):
    mode = selection.fixed(call.arguments[0])
    _table(selection, call.arguments[1:], (3, 0, 1, 2, 4, 5, 6))
    selection.emit(op.LUTFP32, {0: mode}, result=call.result, uses=frozenset(range(7)))


def _table(selection, values, registers):
    for value, register in zip(values, registers, strict=True):
        selection.copy(f"P{register}", selection.own(value))


def _select(selection, call):
    """A value that a condition of the RISC-V core chooses: the number of the register comes at run time."""
    choice, a, b = call.arguments
    selection.emit(MOV, {0: 0}, [(8, selection.read(a)), (8, selection.read(b))], call.result, choice=choice)


CALLS = {
    "phi": _phi,
    "part": _part,
    "number": _number,
    "immediate": _immediate,
    "read": _read,
    "write": _write,
    "use": _use,
    "configure": _configure,
    "load": _load,
    "store": _store,
    "raw": _raw,
    "unknown": _unknown,
    "one": _one,
    "two": _two,
    "three": _three,
    "swap": _swap,
    "transpose": _transpose,
    "lut": _lut,
    "lut6": _lut6,
    "select": _select,
}
