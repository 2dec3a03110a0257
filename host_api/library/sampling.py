"""Launches that stand for others: of launches that are equal the first are simulated, the others take their time.

Two launches are equal if the same operation was called with tensors of the same shapes, types and kinds of memory and the same
settings, and told the same cores the same things but for addresses: addresses may differ, as long as each takes the place of
one other.  (The field's name for it is principal-kernel analysis.)  What a launch would have computed is not there: sampled
runs are timing only.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from tensim.sim.errors import UsageError

if TYPE_CHECKING:
    from tensim.sim.arch import Arch
    from tensim.sim.host.frozen_program import FrozenProgram
    from tensim.ttnn.measurements import Operation

OCCURRENCES = 3  # simulated of each kind of launch, unless the user says otherwise
ALIGNMENT = 16  # bytes, of every address that a kernel is told
KINDS = ("shape", "padded", "dtype", "layout", "buffer", "memory_layout", "cores")  # of a tensor, all but its address


class Observed(NamedTuple):
    """A launch that was simulated: its row among the measurements, femtoseconds from its issue to its end, cycles from the issue
    to the row's begin."""

    operation: Operation
    duration: int
    lead: int


class Sampler:
    """Which launches of a process were simulated, by what makes them equal.  `occurrences`: simulated of each kind, 1 or more."""

    def __init__(self, occurrences: int, arch: Arch) -> None:
        if occurrences < 1:
            raise UsageError(f"--sample {occurrences}: at least one launch of a kind is simulated")
        self._occurrences, self._first_address = occurrences, min(arch.l1_user_base, arch["dram.user_base"])
        self._known, self.stood_for = {}, {}

    def key(self, program: FrozenProgram, operation: dict[str, Any] | None) -> Hashable:
        """What makes launches equal: of a `FrozenProgram`, and of the operation of the library's that it belongs to, or None."""
        called = () if operation is None else (operation["name"], _tensors(operation), _frozen(operation["settings"]))
        places = {}
        kernels = tuple(
            (
                id(one.kernel), one.parameters, one.cores, self._words(one.common_args, places),
                tuple((core, self._words(words, places)) for core, words in one.args),
            )
            for one in program.kernels
        )  # fmt: skip
        buffers = tuple(
            (one.cores, self._words((one.address,), places), one.size, one.formats, one.page_sizes, one.tiles)
            for one in program.circular_buffers
        )
        return called, kernels, buffers, program.semaphores

    def _words(self, words: Iterable[int], places: dict[int, int]) -> tuple[int | tuple[int], ...]:
        """Words with addresses replaced by the order in which they come first."""
        return tuple(
            word if word < self._first_address or word % ALIGNMENT else (places.setdefault(word, len(places)),)
            for word in words
        )

    def stands_for(self, key: Hashable) -> list[Observed] | None:
        """The simulated launches (`Observed`) that stand for one of a key; None while it is to be simulated itself."""
        found = self._known.get(key, ())
        if len(found) < self._occurrences:
            return None
        self.stood_for[key] = self.stood_for.get(key, 0) + 1
        return found

    def note(self, key: Hashable, observed: Observed) -> None:
        """A launch of a key was simulated."""
        self._known.setdefault(key, []).append(observed)

    def summary(self) -> dict[str, Any]:
        """{"simulated", "stood_for": launches, "estimated_error_pct": of all their cycles}.

        The error of a kind is the spread of its simulated launches (half of the range), of the sum that of those which others
        took their time from; a kind of which one was simulated tells none.
        """
        simulated, total, error = 0, 0, 0.0
        for key, found in self._known.items():
            cycles = [one.operation.cycles for one in found]
            others, mean = self.stood_for.get(key, 0), sum(cycles) / len(cycles)
            simulated += len(cycles)
            total += sum(cycles) + others * mean
            error += others * (max(cycles) - min(cycles)) / 2
        known = None if self._occurrences == 1 else round(100 * error / total, 3) if total else 0.0
        return {"simulated": simulated, "stood_for": sum(self.stood_for.values()), "estimated_error_pct": known}


def _tensors(operation: dict[str, Any]) -> tuple[tuple[Any, ...], ...]:
    return tuple(tuple(_frozen(tensor.get(name)) for name in KINDS) for tensor in operation["tensors"])


def _frozen(value: Any) -> Any:
    """A value of JSON as something that can be compared and hashed."""
    if isinstance(value, dict):
        return tuple((name, _frozen(one)) for name, one in value.items())
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
