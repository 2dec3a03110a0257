"""Arguments that stand for something of a chip: what they are on the chip at hand.

A command's `references` name its arguments that are the address of a buffer or a global semaphore, or a core's place
(`tensim.sim.host.commands.Reference`): captured values of these are those of another chip, or of another time.
"""

from dataclasses import replace

from tensim.sim.errors import UsageError
from tensim.sim.host import commands as c

WITH_REFERENCES = (c.SetRuntimeArgs, c.SetCommonRuntimeArgs, c.UpdateRuntimeArg, c.CreateKernel)


def argument_lists(record):
    """[[value]] of a command of `WITH_REFERENCES`: a list for each position of a reference."""
    if isinstance(record, c.SetRuntimeArgs):
        return [list(words) for words in record.args]
    if isinstance(record, c.SetCommonRuntimeArgs):
        return [list(record.args)]
    if isinstance(record, c.CreateKernel):
        return [list(record.config.compile_args)]
    return [[record.value]]


def resolved(record, value_of):
    """The command with `value_of(reference, key, captured)` in the place of each argument that stands for something.

    UsageError for a reference that points to no argument.
    """
    lists = argument_lists(record)
    for position, index, reference, key in record.references:
        place = 0 if isinstance(record, c.UpdateRuntimeArg) else index
        if position >= len(lists) or place >= len(lists[position]):
            raise UsageError(f"the reference to argument {index} of core {position} does not point to an argument")
        lists[position][place] = value_of(reference, key, lists[position][place])
    if isinstance(record, c.SetRuntimeArgs):
        return replace(record, args=tuple(map(tuple, lists)))
    if isinstance(record, c.SetCommonRuntimeArgs):
        return replace(record, args=tuple(lists[0]))
    if isinstance(record, c.CreateKernel):
        return replace(record, config=replace(record.config, compile_args=tuple(lists[0])))
    return replace(record, value=lists[0][0])
