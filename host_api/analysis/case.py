"""What rules look at, and what they say."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from tensim.analysis.facts import LaunchFacts
from tensim.analysis.what_if import Experiment
from tensim.sim.cores.slots import THREAD_NAMES
from tensim.sim.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tensim.analysis.access_patterns import AccessPatterns
    from tensim.sim.arch import Arch
    from tensim.sim.chip.launch_work import BufferWork


@dataclass(frozen=True)
class Advice:
    """A change worth trying.

    `rule`: a stable key; `title`, `text`: for people; `evidence`: {name: figure}; `change`: what exactly the estimate is of;
    `estimated_gain`: share of the run's time that it saves, None as long as nobody has measured; `experiment`: what measures
    it, None where `estimated_gain` comes from the figures; `kernels`: [{"name", "file"}] it concerns.
    """

    rule: str
    title: str
    text: str
    evidence: dict[str, Any]
    change: dict[str, Any]
    experiment: Experiment | None = None
    estimated_gain: float | None = None
    kernels: list[dict[str, str]] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it; the gain in percent."""
        gain = self.estimated_gain
        return {
            "rule": self.rule, "title": self.title, "text": self.text, "evidence": self.evidence, "change": self.change,
            "estimated_gain_pct": None if gain is None else 100 * gain, "kernels": self.kernels,
            "experiment": None if self.experiment is None else self.experiment.name,
        }  # fmt: skip

    def measured(self, gain: float | None) -> Advice:
        """The same with what its experiment found."""
        return replace(self, estimated_gain=gain)


@dataclass(frozen=True)
class Case:
    """What the rules look at: the facts of the launch that counts, and of the run.

    `patterns`: `tensim.analysis.access_patterns.AccessPatterns`, None where calls were not recorded; `launches`: how many;
    `idle_share`: of the run's span, without a program.
    """

    facts: LaunchFacts
    patterns: AccessPatterns | None = None
    launches: int = 1
    idle_share: float = 0.0

    @property
    def arch(self) -> Arch:
        return self.facts.arch

    @property
    def buffers(self) -> list[BufferWork]:
        return self.facts.work.buffers


def kernels_of(case: Case, slots: Collection[int]) -> list[dict[str, str]]:
    """[{"name", "file"}] of the launch on the slots."""
    processors = {THREAD_NAMES[slot] for slot in slots}
    return [
        {"name": one["name"], "file": one["file"]}
        for one in case.facts.kernels()
        if processors & set(one["processors"])
    ]
