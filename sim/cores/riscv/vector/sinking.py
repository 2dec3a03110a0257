"""Values are made where they are first needed, so that fewer are needed at once.

An operation moves down to the first call that reads its result, if it reads nothing that would have to be kept for it, and if the
same lanes are enabled there.  What nobody knows the effects of (words of the kernel's own) stays where it is in between.
"""

from tensim.sim.cores.riscv.vector.uses import Uses, operands

MOVABLE = {"one", "two", "three", "number", "immediate"}
OPAQUE = {"raw", "unknown", "write", "read"}


def sink(function, states):
    """Move operations of a function down in their blocks.  A call that has moved takes the line of its reader, in front of which
    it stands."""
    uses = Uses(function)
    for block in function.blocks.values():
        for call in reversed([one for one in block.calls if one.name in MOVABLE]):
            _move(block, call, uses, states)


def _move(block, call, uses, states):
    readers = uses.users.get(call.result, ())
    if not readers or any(reader.block != block.label or reader.name == "phi" for reader in readers):
        return
    here = block.calls.index(call)
    there = min(block.calls.index(reader) for reader in readers)
    between, target = block.calls[here + 1 : there], block.calls[there]
    if not between or any(one.name in OPAQUE for one in between):
        return
    if states.before[call.line].current != states.before[target.line].current:
        return
    behind = block.calls[there:]
    if not all(_is_kept(value, behind, uses, block) for value in operands(call)):
        return
    block.calls.pop(here)
    block.calls.insert(there - 1, call)
    call.line = target.line


def _is_kept(value, behind, uses, block):
    """Whether a value has to be kept to a place in a block anyway; numbers of the scalar core always are."""
    made = uses.calls.get(value)
    if made is None or made.name == "constant":
        return True
    return any(user.block != block.label or user in behind for user in uses.users[value])
