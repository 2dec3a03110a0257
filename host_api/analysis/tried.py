"""What experiments say: measured gains of advice, and whether they bear the verdict out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tensim.analysis.links import CREDITS, LINK, ROUTER
from tensim.analysis.verdict import BANDWIDTH, DEPENDENCY, DISPATCH, IMBALANCE, LATENCY, ROOFS, Verdict, percent
from tensim.analysis.what_if import Experiment, deeper_buffers

if TYPE_CHECKING:
    from tensim.analysis.case import Advice
    from tensim.sim.chip.launch_work import LaunchWork

LEAST_GAIN = 0.01  # of a change worth telling
CLEAR = 0.05  # by which another resource's gain must exceed that of the verdict's to overrule it
BESIDE = ("idle_cores",)  # rules about what the user chose
ONLY_PROVEN = ("exchanged_nocs", "banks_in_step")  # rules that say something only where an experiment bears them out
MOST_BUFFERS = 6  # that are made deeper one by one
FREED = {  # experiment -> (kind of verdict, resource) that it speaks for
    "memory_bandwidth_free": (BANDWIDTH, None),
    "memory_latency_free": (LATENCY, None),
    "math_free": (BANDWIDTH, "fpu"),
    "unpack_free": (BANDWIDTH, "unpack"),
    "pack_free": (BANDWIDTH, "pack"),
    "issue_free": (BANDWIDTH, "issue"),
    "hand_over_free": (DEPENDENCY, "circular_buffer"),
    "dispatch_free": (DISPATCH, "dispatch"),
    "links_free": (BANDWIDTH, LINK),
    "routers_free": (BANDWIDTH, ROUTER),
    "slots_free": (DEPENDENCY, CREDITS),
}


@dataclass(frozen=True)
class Outcome:
    """What an experiment brought: `gain`, the share of the time that it saves (negative: it costs), None when it failed."""

    experiment: Experiment
    cycles: int | None
    gain: float | None
    error: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it; the gain in percent."""
        return {
            "name": self.experiment.name, "description": self.experiment.description, "cycles": self.cycles,
            "gain_pct": None if self.gain is None else 100 * self.gain, "error": self.error,
        }  # fmt: skip


def deeper_each(works: Iterable[LaunchWork]) -> list[Experiment]:
    """An experiment per circular buffer for which threads wait, those of most waits first."""
    waits = {}
    for work in works:
        for one in work.buffers:
            waits[one.index] = waits.get(one.index, 0) + sum(one.waits.values())
    most = sorted((index for index, cycles in waits.items() if cycles), key=lambda index: -waits[index])[:MOST_BUFFERS]
    return [Experiment(f"deeper_{i}", f"CB {i} twice as deep", {}, deeper_buffers({i: 2})) for i in most]


def tried_advice(advice: Iterable[Advice], outcomes: Iterable[Outcome]) -> list[Advice]:
    """The advice with its measured gains, the largest first, without what brings next to nothing; last what could not be
    tried, and what is no mistake (`BESIDE`)."""
    gains = {one.experiment.name: one.gain for one in outcomes}
    found = [one if one.experiment is None else one.measured(gains[one.experiment.name]) for one in advice]
    worth = [one for one in found if _is_worth_telling(one)]
    return sorted(worth, key=lambda one: (one.estimated_gain is None or one.rule in BESIDE, -(one.estimated_gain or 0)))


def _is_worth_telling(one: Advice) -> bool:
    """Whether a change brings enough, or could not be tried and stands on figures."""
    if one.estimated_gain is None:
        return one.rule not in ONLY_PROVEN
    return one.estimated_gain >= LEAST_GAIN


def judged(verdict: Verdict, outcomes: Sequence[Outcome]) -> Verdict:
    """The verdict, with the experiments as evidence; another one where they speak clearly for it.

    Imbalance and dispatch are facts of the run's times: a free resource says nothing against them.
    """
    gains = {one.experiment.name: one.gain for one in outcomes if one.gain is not None and one.experiment.name in FREED}
    if not gains:
        return verdict
    best = max(gains, key=lambda name: gains[name])
    evidence = [f"{_description(outcomes, name)}: {-100 * gain:+.0f} %" for name, gain in _largest(gains)]
    mine = max((gain for name, gain in gains.items() if _speaks_for(name, verdict)), default=0.0)
    if verdict.kind in (IMBALANCE, DISPATCH) or gains[best] < mine + CLEAR:
        return replace(verdict, evidence=[*verdict.evidence, *evidence])
    return replace(_of_experiment(best, gains[best], outcomes), evidence=evidence, chain=verdict.chain)


def _largest(gains: dict[str, float]) -> list[tuple[str, float]]:
    return sorted(gains.items(), key=lambda item: -item[1])[:3]


def _description(outcomes: Iterable[Outcome], name: str) -> str:
    return next(one.experiment.description for one in outcomes if one.experiment.name == name)


def _speaks_for(name: str, verdict: Verdict) -> bool:
    """Whether a gain of the experiment bears the verdict out."""
    kind, resource = FREED[name]
    if verdict.kind == DEPENDENCY:
        return kind == DEPENDENCY
    if kind != verdict.kind:
        return False
    if resource is None:
        return verdict.resource in ("dram", "noc")
    return verdict.resource == resource or (resource == "fpu" and verdict.resource == "sfpu") or (
        resource == "issue" and verdict.resource == "mover"
    )  # fmt: skip


def _of_experiment(name: str, gain: float, outcomes: Iterable[Outcome]) -> Verdict:
    """The verdict that an experiment speaks for."""
    kind, resource = FREED[name]
    if resource is None:
        both = {one.experiment.name: one.gain or 0.0 for one in outcomes}
        resource = "dram" if both.get("dram_free", 0.0) >= both.get("noc_free", 0.0) else "noc"
    what = "latency of" if kind == LATENCY else "hand-over between threads of" if resource == "circular_buffer" else ""
    bound = "bound" if resource in ("unpack", "pack", "issue", CREDITS) and not what else "bounds"
    others = {"circular_buffer": "a core", "dispatch": "dispatch", CREDITS: "the slots of a router"}
    place = others.get(resource) or ROOFS[resource]
    text = (
        f"{f'{what} ' if what else ''}{place} {bound} the run, which takes {percent(gain)} less time without that cost"
    )
    return Verdict(kind, resource, gain, text[0].upper() + text[1:])
