"""Arithmetic: a multiplication and an addition become one SFPMAD, and an operand that is a short number a field."""

from tensim.sim.cores.riscv.vector import numbers
from tensim.sim.cores.riscv.vector import raw_words as op
from tensim.sim.cores.riscv.vector.instructions import MOV, is_constant

SHFT = 0x7A
PRODUCT, ADDEND = 1, 2  # modes of Blackhole's SFPMAD, SFPADD and SFPMUL: what of a * b + c changes its sign


def _multiply(selection, call):
    if call.result in selection.folded:
        return
    a, b = call.arguments
    for value, other in ((a, b), (b, a)):
        bits = selection.literal(other)
        if _is_short(selection, other) and _may_replace(selection, value):
            selection.emit(op.MULI, {8: bits >> 16}, result=call.result, tied=selection.own(value))
            return
    (a, b), mode = _factors(selection, call.arguments)
    selection.emit(op.MUL, {0: mode}, [(16, a), (12, b), (8, "L9")], call.result)


def _factors(selection, values):
    """(two factors as sources, PRODUCT if one of them is the opposite of what is read)."""
    sources, mode = [], 0
    for value in values:
        sources.append(selection.read(selection.opposites.get(value, value)))
        mode ^= PRODUCT if value in selection.opposites else 0
    return sources, mode


def _addend(selection, value):
    """(an addend as source, ADDEND if it is the opposite of what is read)."""
    if value in selection.opposites:
        return selection.read(selection.opposites[value]), ADDEND
    return selection.read(value), 0


def _is_short(selection, value):
    """Whether a number is loaded nowhere yet, is no constant register's, and fits the 16 bits of an instruction."""
    bits = selection.literal(value)
    return (
        bits is not None
        and bits not in numbers.CONSTANTS
        and numbers.is_bfloat(bits)
        and selection.resolve(value) not in selection.loaded
    )


def _may_replace(selection, value):
    return (
        selection.literal(value) is None and selection.uses.count(value) == 1 and not is_constant(selection.read(value))
    )


def _add(selection, call):
    a, b = call.arguments
    for value, other in ((a, b), (b, a)):
        if selection.folded.get(value) is call:
            factors = selection.uses.calls[value].arguments
            _multiply_add(selection, factors, _addend(selection, other), call.result)
            return
    for value, other in ((a, b), (b, a)):
        if _is_short(selection, other) and _may_replace(selection, value):
            selection.emit(op.ADDI, {8: selection.literal(other) >> 16}, result=call.result, tied=selection.own(value))
            return
    _sum(selection, a, _addend(selection, b), call.result)


def _sum(selection, value, addend, result):
    """1 * a + b; `addend`: (b as source, mode)."""
    source, mode = addend
    (value,), of_value = _factors(selection, [value])
    selection.emit(op.ADD, {0: of_value ^ mode}, [(16, "L10"), (12, value), (8, source)], result)


def _multiply_add(selection, factors, addend, result, sign=0):
    """a * b + c; `addend`: (c as source, mode); `sign`: PRODUCT for the opposite product."""
    source, mode = addend
    (a, b), of_product = _factors(selection, factors)
    selection.emit(op.MAD, {0: of_product ^ sign ^ mode}, [(16, a), (12, b), (8, source)], result)


def _subtract(selection, call):
    a, b = call.arguments
    folded = next((value for value in (a, b) if selection.folded.get(value) is call), None)
    if folded is not None:
        _subtract_product(selection, call, folded)
        return
    if selection.attempt.saves_registers and _is_short(selection, a) and _may_replace(selection, b):
        opposite = selection.emit(MOV, {0: 1}, [(8, selection.read(b))], selection.new_value())
        selection.emit(op.ADDI, {8: selection.literal(a) >> 16}, result=call.result, tied=opposite)
        return
    bits = selection.literal(b)
    if bits is not None and selection.resolve(b) not in selection.loaded:
        if _is_short(selection, b) and _may_replace(selection, a):
            opposite = numbers.negated(bits)
            selection.emit(op.ADDI, {8: opposite >> 16}, result=call.result, tied=selection.own(a))
            return
        _sum(selection, a, _less_number(selection, bits), call.result)
    elif selection.is_blackhole:
        _sum(selection, a, _less(selection, b), call.result)
    else:
        selection.emit(op.MAD, {0: 0}, [(16, selection.read(b)), (12, "L11"), (8, selection.read(a))], call.result)


def _less(selection, value):
    """(a value to be subtracted as addend, mode); Blackhole's."""
    source, mode = _addend(selection, value)
    return source, mode ^ ADDEND


def _less_number(selection, bits):
    """The same of a number: of its opposite, if a register holds that anyway or has to be loaded."""
    opposite = numbers.negated(bits)
    if selection.is_blackhole and bits in numbers.CONSTANTS and opposite not in numbers.CONSTANTS:
        return numbers.CONSTANTS[bits], ADDEND
    return numbers.CONSTANTS.get(opposite) or selection.load_number(opposite), 0


def _subtract_product(selection, call, folded):
    a, b = call.arguments
    factors = list(selection.uses.calls[folded].arguments)
    if folded == a:  # x * y - b
        bits = selection.literal(b)
        addend = _less(selection, b) if bits is None else _less_number(selection, bits)
        _multiply_add(selection, factors, addend, call.result)
    elif selection.is_blackhole:  # a - x * y
        _multiply_add(selection, factors, _addend(selection, a), call.result, PRODUCT)
    else:
        index = next(i for i, factor in enumerate(factors) if selection.literal(factor) is not None)
        opposite = numbers.negated(selection.literal(factors[index]))
        x, y = numbers.CONSTANTS.get(opposite) or selection.load_number(opposite), selection.read(factors[1 - index])
        selection.emit(op.MAD, {0: 0}, [(16, x), (12, y), (8, selection.read(a))], call.result)


def _negate(selection, call):
    if call.result in selection.opposites:
        return
    selection.emit(MOV, {0: 1}, [(8, selection.read(call.arguments[0]))], call.result)


def _integer_add(selection, call):
    if call.result not in selection.tested:
        integer_sum(selection, call, op.CC_NONE, call.result)


def integer_sum(selection, call, flags, result):
    """A sum or a difference of integers; `flags`: what its sign does to the lanes (mode of SFPIADD)."""
    a, b = call.arguments
    is_sum = call.name == "integer_add"
    if is_sum and selection.literal(a) is not None and selection.literal(b) is None:
        a, b = b, a
    if not is_sum and flags != op.CC_NONE and selection.literal(a) is not None and _is_small(~selection.literal(a)):
        # The sign of a - b is the opposite of that of b - a - 1
        fields = {0: op.ARG_IMMEDIATE | op.OPPOSITE_SIGN[flags], 12: ~selection.literal(a) & 0xFFF}
        selection.emit(op.IADD, fields, [(8, selection.read(b))], result)
        return
    bits = selection.literal(b)
    if bits is not None and not is_sum:
        bits = -bits & 0xFFFFFFFF
    if bits is not None and _is_small(bits):
        selection.emit(op.IADD, {0: op.ARG_IMMEDIATE | flags, 12: bits & 0xFFF}, [(8, selection.read(a))], result)
    elif is_sum:
        selection.binary(op.IADD, flags, b, a, result)
    elif bits is not None:
        selection.emit(op.IADD, {0: flags}, [(8, selection.read(a))], result, tied=selection.load_number(bits))
    else:
        selection.emit(op.IADD, {0: op.ARG_MINUS | flags}, [(8, selection.read(a))], result, tied=selection.own(b))


def _is_small(value):
    return numbers.fits_12_bits(numbers.signed(value & 0xFFFFFFFF))


def _shift(selection, call):
    """Left by a positive amount, right by a negative one; only Blackhole shifts another register than the result's."""
    value, amount, arithmetic = call.arguments
    mode = 2 if selection.fixed(arithmetic) else 0
    made = selection.uses.calls.get(selection.resolve(amount))
    if made is None or made.name != "number":
        selection.emit(SHFT, {0: mode}, [(8, selection.read(amount))], call.result, tied=selection.own(value))
        return
    fields = {0: mode | 1, 12: selection.field(made.arguments[0], 0xFFF)}
    if selection.is_blackhole:
        fields[0] |= 4
        selection.emit(SHFT, fields, [(8, selection.read(value))], call.result)
    else:
        selection.emit(SHFT, fields, [], call.result, tied=selection.own(value))


CALLS = {
    "multiply": _multiply,
    "add": _add,
    "subtract": _subtract,
    "negate": _negate,
    "integer_add": _integer_add,
    "integer_subtract": _integer_add,
    "shift": _shift,
}
