"""What goes wrong, and whose fault it is.

Every error that reaches a user is a `TensimError`.  `ProgramError`: the simulated program or its host code did something
the chip cannot do.  `UsageError`: bad input or a wrong call.  `SimulatorError`: a defect of tensim.
`where` holds core, thread, file, line, cycle and the values involved, and of several chips the device; `hint` says what to try.
"""


class TensimWarning(UserWarning):
    """Something that works now and may go wrong later."""


class TensimError(RuntimeError):
    """Base of all tensim errors; `kind` is a stable word for machine-readable output."""

    kind = "error"
    exit_code = 1
    in_json = False  # whether the command's JSON holds it, beside its results

    def __init__(self, message, *, where=None, hint=None, kind=None):
        self.message, self.where, self.hint = message, dict(where or {}), hint
        if kind is not None:
            self.kind = kind
        super().__init__(message)

    def __str__(self):
        text = self.message
        place = self.where
        line = f":{place['line']}" if place.get("line") is not None else ""
        if "file" in place and (line or not text.startswith(str(place["file"]))):
            text = f"{place['file']}{line}: {text}"
        details = [f"{name} {place[name]}" for name in ("device", "core", "thread", "cycle") if name in place]
        if details:
            text += f" [{', '.join(details)}]"
        if self.hint:
            text += f"\n  hint: {self.hint}"
        return text

    def with_note(self, note):
        """The same error with a further line."""
        return type(self)(f"{self.message}\n{note}", where=self.where, hint=self.hint, kind=self.kind)

    def as_json(self):
        return {"error": {"kind": self.kind, "message": self.message, "hint": self.hint, "where": self.where}}


class ProgramError(TensimError):
    """The simulated program is at fault."""

    kind = "program"


class DeadlockError(ProgramError):
    """No event is left and threads are still waiting; the message holds the wait-for graph."""

    kind = "deadlock"


class EndlessWaitError(DeadlockError):
    """The host waits for events that no command can end; the message holds the queues with commands left."""


class CommandFault(ProgramError):
    """A command failed, its device goes on: a fault that was injected, or the failure of what it waited for."""

    kind = "command_fault"


class CycleLimitError(ProgramError):
    """The run passed the limit of simulated cycles."""

    kind = "cycle_limit"


class KernelCompileError(ProgramError):
    """A kernel uses something the compiled engine cannot run; names file, line and reason."""

    kind = "kernel_compile"
    exit_code = 2


class UsageError(TensimError):
    """Bad input or a wrong host call."""

    kind = "usage"
    exit_code = 2


class NoRouteError(UsageError):
    """No links lead from one place to another; `where` holds `src`, `dst` and `via`."""

    kind = "no_route"


class BinaryError(UsageError):
    """A saved binary may not be used; `where` holds the byte `offset` and the `field`."""

    kind = "binary"


class SimulatorError(TensimError):
    """tensim itself is at fault."""

    kind = "simulator"
