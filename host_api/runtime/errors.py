"""Errors of the runtime: one class per kind of mistake, each with what was expected, what was found and, in `.hint`,
what to do (docs/hardware/runtime.md#errors).
"""

from __future__ import annotations

from collections.abc import Iterable

from tensim.sim.errors import DeadlockError, NoRouteError, ProgramError, UsageError

NoRoute = NoRouteError  # no link leads from one place to another


class SpecSyntax(UsageError):
    """A device spec cannot be read; `where` holds the `text`, the `column` (from 1) and the tokens `expected` there."""

    kind = "spec_syntax"

    def __init__(self, text: str, column: int, expected: Iterable[str], found: str | None = None) -> None:
        found = text[column - 1 : column + 11] if found is None else found
        shown = f"'{found}'" if found else "the end"
        super().__init__(
            f"device spec, column {column}: expected {' or '.join(expected)}, found {shown}\n  {text}\n  {' ' * (column - 1)}^",
            where={"text": text, "column": column, "expected": list(expected)},
            hint="a device is [NAME[?]=]TERM{,TERM}; a term is sim://ARCH[n]?key=value, an alias, #n, @NAME or none",
        )


class DeviceNotFound(UsageError):
    """No term of a device matches; `where` holds `terms` (each with its reason) and the `available` specs."""

    kind = "device_not_found"


class DeviceConfigConflict(UsageError):
    """One physical device was asked for with two settings."""

    kind = "device_config_conflict"


class UnresolvedPromise(UsageError):
    """A promise names no device of the map."""

    kind = "unresolved_promise"


class NoVariant(UsageError):
    """A program has no variant for the device it is bound to."""

    kind = "no_variant"


class BadQueueMask(UsageError):
    """A queue mask is empty or names queues that the device has not."""

    kind = "bad_queue_mask"


class AffinityConflict(UsageError):
    """Two affinities cannot both hold."""

    kind = "affinity_conflict"


class LayoutMismatch(UsageError):
    """A tensor is not what a program wants; `where` holds the argument and each field's expected and found value."""

    kind = "layout_mismatch"


class LayoutUnsupported(UsageError):
    """A layout that no memory of the device can hold, or a conversion that was forbidden its only route."""

    kind = "layout_unsupported"


class OutOfDeviceMemory(ProgramError):
    """An allocation does not fit; `where` holds request, pool, largest free block and top holders."""

    kind = "out_of_device_memory"


class UseAfterFree(UsageError):
    """A tensor, buffer or device was used after it was freed or closed."""

    kind = "use_after_free"


class UseAfterDonate(UseAfterFree):
    """A tensor was used after it was given to a program."""

    kind = "use_after_donate"


class RetainedTensor(UsageError):
    """A retained tensor was to be freed without force."""

    kind = "retained_tensor"


class PrivateProgram(UsageError):
    """A private program was submitted from outside its binary."""

    kind = "private_program"


class EmbeddedTransfer(UsageError):
    """A tensor was to be moved to or from an embedded device."""

    kind = "embedded_transfer"


class RaceDetected(ProgramError):
    """Two conflicting accesses to a tensor are not ordered; `where` holds both commands, the tensor and the missing edge."""

    kind = "race"


class Deadlock(DeadlockError):
    """Something waited for can never happen; the message holds the wait graph and the oldest blocked command."""


class WaitTimeout(ProgramError):
    """A wait reached its time limit; `where` holds what is pending and the simulated time."""

    kind = "wait_timeout"


class CommandFailed(ProgramError):
    """A command failed, or one that it waited for; `where` holds the `root` and the `chain` of dependents."""

    kind = "command_failed"


class UnknownCounter(UsageError):
    """There is no such counter; the hint names near matches."""

    kind = "unknown_counter"


class TraceStale(ProgramError):
    """A trace may not be replayed: a later allocation overlaps its memory."""

    kind = "trace_stale"


class ReplayMismatch(UsageError):
    """A recording does not fit what it is replayed on."""

    kind = "replay_mismatch"


class BinaryIncompatible(UsageError):
    """A binary cannot run on a target; `where` holds each field's expected and found value."""

    kind = "binary_incompatible"
