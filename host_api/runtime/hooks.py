"""Hooks: callbacks around commands and programs, which may look at tensors and overwrite them without simulated cost."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from tensim.runtime.program_info import ProgramInfo
    from tensim.runtime.queues import Around
    from tensim.runtime.sync import Event
    from tensim.runtime.system import System
    from tensim.runtime.tensors import Tensor

OfProgram: TypeAlias = "Callable[[ProgramInfo, Sequence[Tensor], Sequence[Tensor]], object]"


@dataclass(frozen=True)
class Hooks:
    """Callbacks.  Commands, when they are issued: `(kind, label)` before, `(kind, label, event)` behind.  Programs, when they
    begin and end on the device: `(info, inputs, outputs)`.
    """

    pre_command: Callable[[str, str], object] | None = None
    post_command: Callable[[str, str, Event], object] | None = None
    pre_program: OfProgram | None = None
    post_program: OfProgram | None = None

    def call(self, name: str, *args: object) -> None:
        """Call one of them, if it is set."""
        hook = getattr(self, name)
        if hook is not None:
            hook(*args)


class ActiveHooks(list[Hooks]):
    """The hooks of a system."""

    def call(self, name: str, *args: object) -> None:
        """Call the hooks of commands."""
        for hook in self:
            hook.call(name, *args)

    def around_program(
        self, own: Hooks | None, info: ProgramInfo, inputs: Sequence[Tensor], outputs: Sequence[Tensor]
    ) -> Around | None:
        """(before, after) that call the program hooks of the system and of one submit (`own`); None when there are none."""
        hooks = [hook for hook in (*self, own) if hook is not None and (hook.pre_program or hook.post_program)]
        if not hooks:
            return None

        def call(name: str) -> None:
            for hook in hooks:
                hook.call(name, info, inputs, outputs)

        return lambda: call("pre_program"), lambda: call("post_program")


@contextlib.contextmanager
def hooks(system: System, **callbacks: Callable[..., object] | None) -> Iterator[Hooks]:
    """Callbacks around every command of a system in the block; see `Hooks`."""
    mine = Hooks(**callbacks)
    system.hooks.append(mine)
    try:
        yield mine
    finally:
        system.hooks.remove(mine)
