"""Hooks: callbacks around commands and programs, which may look at tensors and overwrite them without simulated cost."""

import contextlib
from dataclasses import dataclass


@dataclass(frozen=True)
class Hooks:
    """Callbacks.  Commands, when they are issued: `(kind, label)` before, `(kind, label, event)` behind.  Programs, when they
    begin and end on the device: `(info, inputs, outputs)`.
    """

    pre_command: object = None
    post_command: object = None
    pre_program: object = None
    post_program: object = None

    def call(self, name, *args):
        """Call one of them, if it is set."""
        hook = getattr(self, name)
        if hook is not None:
            hook(*args)


@contextlib.contextmanager
def hooks(system, **callbacks):
    """Callbacks around every command of a system in the block; see `Hooks`."""
    mine = Hooks(**callbacks)
    system.hooks.append(mine)
    try:
        yield mine
    finally:
        system.hooks.remove(mine)
