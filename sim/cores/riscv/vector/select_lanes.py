"""Calls about lanes: regions, conditions, and assignments where some lanes are disabled."""

from tensim.sim.cores.riscv.vector import raw_words as op
from tensim.sim.cores.riscv.vector.conditions import Conditions
from tensim.sim.cores.riscv.vector.instructions import MOV
from tensim.sim.cores.riscv.vector.lanes import ALL, Lanes


def _boolean(selection, call):
    if any(user.name != "test" for user in selection.uses.users.get(call.result, ())):
        selection.parts[call.result] = Conditions(selection).numbers_of(call.arguments[0])


def _push(selection, call):
    """All lanes are enabled in front of an outermost region: its end enables them again, and nothing is pushed."""
    if call.line not in selection.tails and selection.states.before[call.line] != Lanes():
        selection.emit(op.PUSHC)


def _pop(selection, call):
    if call.line in selection.tails:
        return
    if selection.states.before[call.line].stack == (ALL,):
        selection.emit(op.ENCC, {0: op.ENABLE_MODE, 12: op.ENABLE_ALL})
    else:
        selection.emit(op.POPC)


def _complement(selection, call):
    selection.emit(op.COMPC)


def _narrow(selection, call):
    lanes = selection.states.before[call.line]
    Conditions(selection).narrow(call.arguments[0], fresh=bool(lanes.stack) and lanes.stack[-1] == lanes.current)


def _assign(selection, call):
    """Where some lanes of a variable are disabled: its register keeps what they hold."""
    old, new = call.arguments
    kept = selection.own(old)
    if not (selection.uses.only_user(new) is call and _retarget(selection, selection.resolve(new), kept, call.result)):
        selection.emit(MOV, {0: 0}, [(8, selection.read(new))], call.result, tied=kept)


def _retarget(selection, value, kept, result):
    """Let the instruction that makes a value put it where `kept` lies; False where that is not the same."""
    index = next((i for i in range(len(selection.current) - 1, -1, -1) if selection.current[i].result == value), None)
    if index is None:
        return False
    instruction = selection.current[index]
    behind = [
        one for one in selection.current[index + 1 :] if kept in one.values_read() or one.state != selection.state
    ]
    if behind or instruction.state != selection.state or instruction.second or instruction.copy:
        return False
    if instruction.tied in (None, kept):
        instruction.tied, instruction.result = kept, result
        return True
    if kept in [source for _, source in instruction.reads]:
        return False
    inner = selection.new_value()
    if selection.uses.count(instruction.tied) > 1 or not _retarget(selection, instruction.tied, kept, inner):
        return False
    instruction.tied, instruction.result = inner, result
    return True


CALLS = {
    "boolean": _boolean,
    "push": _push,
    "pop": _pop,
    "complement": _complement,
    "narrow": _narrow,
    "assign": _assign,
}
