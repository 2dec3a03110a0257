"""Changing what a program's kernels are compiled with, without changing the program.

A change is a pair of text and value: `kernel.NAME.compile_args[2]`, `kernel.NAME.named_compile_args.KEY` or
`kernel.NAME.defines.KEY`, for every kernel of that name.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any, TypeAlias

from tensim.sim.errors import UsageError
from tensim.sim.host import commands as c

Parameters: TypeAlias = c.DataMovementParameters | c.ComputeParameters
PREFIX = "kernel."
KEY = re.compile(
    r"kernel\.(?P<kernel>\w+)\.(?:compile_args\[(?P<index>\d+)\]|(?P<table>named_compile_args|defines)\.(?P<name>\w+))"
)
FORMS = "kernel.NAME.compile_args[2], kernel.NAME.named_compile_args.KEY or kernel.NAME.defines.KEY"


def check_key(key: str) -> re.Match[str]:
    """The match of a change's text; UsageError for another form."""
    match = KEY.fullmatch(key)
    if match is None:
        raise UsageError(f"{key!r} names nothing of a kernel", hint=f"as {FORMS}")
    return match


class KernelChanges:
    """Turns the records that create kernels into those with other arguments.  `changes`: {text: value}."""

    def __init__(self, changes: Mapping[str, Any]) -> None:
        self._changes = [(key, check_key(key), value) for key, value in changes.items()]
        self._unused = {key for key, _, _ in self._changes}

    def __call__(self, record: c.Command) -> c.Command:
        if not isinstance(record, c.CreateKernel):
            return record
        kernel: Any = record.kernel
        config = record.config
        for key, match, value in self._changes:
            if match["kernel"] == kernel.name:
                self._unused.discard(key)
                config = _changed(config, key, match, value)
        return dataclasses.replace(record, config=config)

    def require_used(self) -> None:
        """UsageError when the program has created no kernel of some name."""
        if self._unused:
            raise UsageError(f"the program creates no kernel for {', '.join(sorted(self._unused))}")


def _changed(config: Parameters, key: str, match: re.Match[str], value: Any) -> Parameters:
    """The parameters of a kernel with one thing changed."""
    if match["index"] is not None:
        args, index = list(config.compile_args), int(match["index"])
        if index >= len(args):
            raise UsageError(f"{key}: kernel {match['kernel']} has {len(args)} compile-time arguments")
        if type(value) is not int:
            raise UsageError(f"{key} is {value!r}; a compile-time argument is a whole number")
        args[index] = value
        return dataclasses.replace(config, compile_args=tuple(args))
    table = dict(getattr(config, match["table"]))
    if match["table"] == "named_compile_args" and match["name"] not in table:
        known = ", ".join(table) or "none"
        raise UsageError(f"{key}: kernel {match['kernel']} has no such argument", hint=f"its named ones: {known}")
    table[match["name"]] = value if match["table"] == "named_compile_args" else str(value)
    changed: dict[str, Any] = {match["table"]: tuple(table.items())}
    return dataclasses.replace(config, **changed)
