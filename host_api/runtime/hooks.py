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


class ActiveHooks(list):
    """The hooks of a system."""

    def call(self, name, *args):
        """Call the hooks of commands."""
        for hook in self:
            hook.call(name, *args)

    def around_program(self, own, info, inputs, outputs):
        """(before, after) that call the program hooks of the system and of one submit (`own`); None when there are none."""
        hooks = [hook for hook in (*self, own) if hook is not None and (hook.pre_program or hook.post_program)]
        if not hooks:
            return None

        def call(name):
            for hook in hooks:
                hook.call(name, info, inputs, outputs)

        return lambda: call("pre_program"), lambda: call("post_program")


@contextlib.contextmanager
def hooks(system, **callbacks):
    """Callbacks around every command of a system in the block; see `Hooks`."""
    mine = Hooks(**callbacks)
    system.hooks.append(mine)
    try:
        yield mine
    finally:
        system.hooks.remove(mine)
