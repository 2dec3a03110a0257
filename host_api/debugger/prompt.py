"""Where the debugger's commands come from: a list, files, or somebody at a terminal."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tensim.debugger.commands import known_commands, perform, resumes
from tensim.debugger.session import Left
from tensim.debugger.texts import answer_text, stop_text
from tensim.sim.errors import TensimError, UsageError

if TYPE_CHECKING:
    from tensim.debugger.session import Session
    from tensim.debugger.stops import Stop

PROMPT = "(tensim) "


def split(text: str) -> list[str]:
    """Commands of a text: one a line or between semicolons; # begins a comment line."""
    lines = (
        part.strip() for line in text.splitlines() if not line.lstrip().startswith("#") for part in line.split(";")
    )
    return [line for line in lines if line]


class Script:
    """The driver of a session whose commands are known beforehand; when they are used up, it leaves the program.

    `show(text)`: prints, or None.  `record`: what happened, as plain data: {"stops": [...], "answers": [{"command", "stop" (index),
    "answer"}]}.  At a command that fails the program is left; `error` is why.
    """

    session: Session  # that it drives, from its begin on

    def __init__(self, commands: Iterable[str], show: Callable[[str], object] | None = None) -> None:
        self._commands, self._show = list(commands), show or (lambda text: None)
        self.record: dict[str, list[Any]] = {"stops": [], "answers": []}
        self.error: UsageError | None = None

    @property
    def left(self) -> list[str]:
        """Commands that have not been used."""
        return list(self._commands)

    def __call__(self, stop: Stop) -> None:
        self.record["stops"].append(told := stop.as_json(self.session.chip))
        self._show(stop_text(told))
        while self._commands:
            line = self._commands[0]
            try:
                if not self.session.can_run and resumes(line):
                    return
                found, answer = perform(self.session, line)
            except UsageError as error:
                self.error = error
                raise Left from None
            self._commands.pop(0)
            self.record["answers"].append({"command": line, "stop": len(self.record["stops"]) - 1, "answer": answer})
            if found is not None and answer:
                self._show(f"{PROMPT}{line}\n{answer_text(found.name, answer)}")
            if found is not None and found.resumes:
                return
        if stop.reason not in ("failed", "ended"):
            raise Left


class Prompt:
    """The driver of a session at a terminal, or of commands that come by a pipe; errors are shown and asked again.

    `first`: commands before those that are typed.
    """

    session: Session  # that it drives, from its begin on
    left: Sequence[str] = ()
    error: TensimError | None = None

    def __init__(self, first: Iterable[str], show: Callable[[str], object]) -> None:
        self._first, self._show, self._last = list(first), show, ""
        self.record: dict[str, list[Any]] = {"stops": [], "answers": []}

    def __call__(self, stop: Stop) -> None:
        self.record["stops"].append(told := stop.as_json(self.session.chip))
        self._show(stop_text(told))
        while True:
            line = self._line()
            try:
                found, answer = perform(self.session, line)
            except UsageError as error:
                self._show(f"error: {error}")
                continue
            if found is None:
                continue
            if text := answer_text(found.name, answer):
                self._show(text)
            if found.resumes:
                return

    def _line(self) -> str:
        """The next one; an empty one at a terminal is the last again."""
        if self._first:
            return self._first.pop(0)
        with _completion():
            try:
                line = input(PROMPT if sys.stdin.isatty() else "").strip()
            except EOFError:
                raise Left from None
            except KeyboardInterrupt:
                self._show("")
                return ""
        if sys.stdin.isatty():
            line = self._last = line or self._last
        return line


@contextlib.contextmanager
def _completion() -> Iterator[None]:
    """Names of commands are completed, and lines edited, at a terminal."""
    if not sys.stdin.isatty():
        yield
        return
    import readline

    names = sorted(known_commands())
    before = readline.get_completer()
    readline.set_completer(lambda text, state: [*(name for name in names if name.startswith(text)), None][state])
    readline.parse_and_bind("tab: complete")
    try:
        yield
    finally:
        readline.set_completer(before)
