"""What is decided before instructions are chosen: what sums, products and tests take in, which numbers are loaded at their use."""

from tensim.sim.cores.riscv.vector import numbers
from tensim.sim.cores.riscv.vector.uses import number


def fold(selection):
    """Fill `folded`, `tested` and `opposites` of a `Selection`."""
    for block in selection.function.blocks.values():
        for call in block.calls:
            if selection.uses.matters(call) and call.name in ("add", "subtract"):
                for operand in reversed(call.arguments):
                    if _takes_in(selection, call, operand):
                        selection.folded[operand] = call
                        break
            elif selection.uses.matters(call) and call.name == "test":
                _fold_test(selection, call)
    if selection.is_blackhole:
        for block in selection.function.blocks.values():
            for call in block.calls:
                if selection.uses.matters(call) and call.name == "negate":
                    _fold_opposite(selection, call)


def _fold_test(selection, test):
    """The sign of a sum that nothing else reads is tested by the instruction that makes it."""
    made = selection.uses.calls.get(test.arguments[1])
    if made is None or made.name not in ("integer_add", "integer_subtract") or test.arguments[0] not in ("0", "4"):
        return
    narrowing = selection.uses.only_user(test.result)
    while narrowing is not None and narrowing.name in ("and", "or", "not"):
        narrowing = selection.uses.only_user(narrowing.result)
    if narrowing is not None and narrowing.block == made.block and selection.uses.count(made.result) == 1:
        selection.tested.add(made.result)


def _fold_opposite(selection, negation):
    """Blackhole's products and sums change the sign of what they read by their mode, as the vendor's compiler has it (sfpi, its
    log of 2025-02-13).  Those with a number in their word have no such mode; a product that a sum takes in has none.
    """
    user = selection.uses.only_user(negation.result)
    if user is None or user.name not in ("multiply", "add", "subtract") or user.block != negation.block:
        return
    if selection.states.before[negation.line].current != selection.states.before[user.line].current:
        return
    literals = (selection.literal(argument) for argument in user.arguments)
    if user.result in selection.folded or all(bits is None or bits in numbers.CONSTANTS for bits in literals):
        selection.opposites[negation.result] = negation.arguments[0]


def _takes_in(selection, call, operand):
    inner = selection.uses.calls.get(operand)
    if inner is None or inner.name != "multiply" or selection.uses.count(operand) != 1 or inner.block != call.block:
        return False
    if selection.states.before[inner.line].current != selection.states.before[call.line].current:
        return False
    other = selection.literal(call.arguments[1 - call.arguments.index(operand)])
    if (
        selection.attempt.saves_registers
        and other is not None
        and other not in numbers.CONSTANTS
        and numbers.is_bfloat(other)
    ):
        return False
    if call.name == "add" or selection.is_blackhole:
        return True
    if operand == call.arguments[0]:  # a * b - c: c becomes -c
        return selection.literal(call.arguments[1]) is not None
    return any(selection.literal(factor) is not None for factor in inner.arguments)


def is_deferred(selection, call):
    """Whether a number is loaded at its use."""
    if number(call.arguments[0]) is None and not selection.attempt.is_late:
        return False
    users = selection.uses.users.get(call.result, ())
    plain = all(user.name not in ("phi", "select", "assign", "write") for user in users)
    if number(call.arguments[0]) in numbers.CONSTANTS and _is_read(call.result, users):
        return True
    return plain and (selection.attempt.repeats_numbers or len(users) == 1 and users[0].block == call.block)


def _is_read(constant, users):
    """Whether all that use a number take it from the register that holds it anyway.  A variable's first value has to be written in
    all lanes.
    """
    if any(user.name in ("phi", "select", "write") for user in users):
        return False
    assigned = [user for user in users if user.name == "assign"]
    return not assigned or len(users) > 1 and all(user.arguments[0] != constant for user in assigned)
