"""What bounds a launch, and a run of several: bandwidth, latency, dependency, imbalance or dispatch.

The order of the questions: does the chip run no kernel for most of the time?  Have most cores ended long before the last?  Is
a unit, a DRAM channel or a link close to its roof?  Else the critical chain says what the slowest core waits for in the end:
transfers that queue (bandwidth, if not of the average then at a hot place or moment), transfers that take their time
(latency), a thread that is always at work, or threads that wait for each other in turn (dependency).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from tensim.analysis.facts import BUSY
from tensim.analysis.links import CREDITS, LINK, ROUTER, link_uses, waits_for_fabric
from tensim.sim import state as st
from tensim.sim.chip.deadlock import reason_name
from tensim.sim.cores.slots import FIRST_COMPUTE_SLOT, MATH_SLOT, PACK_SLOT, UNPACK_SLOT
from tensim.sim.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tensim.analysis.facts import LaunchFacts, Step
    from tensim.analysis.links import LinkUse
    from tensim.sim.chip.chip import Chip
    from tensim.sim.chip.interval import Done

BANDWIDTH, LATENCY, DEPENDENCY, IMBALANCE, DISPATCH = "bandwidth", "latency", "dependency", "imbalance", "dispatch"
CLOSE = 0.5  # share of its roof from which a resource bounds what uses it
# share of the time for which cores have ended, on average, that makes imbalance the first thing to see to
UNEVEN = 0.25
QUEUED = 0.5  # share of their latency that transfers wait for others, from which they lack bandwidth
MEMORY_WAITS = (st.WAIT_READ_BARRIER, st.WAIT_WRITE_BARRIER, st.WAIT_FLUSH, st.WAIT_ATOMIC_BARRIER)
ROOFS = {
    "fpu": "the matrix unit",
    "sfpu": "the vector unit",
    "unpack": "the unpackers",
    "pack": "the packers",
    "issue": "the RISC-V cores of the compute threads",
    "mover": "the data-movement RISC-V core",
    "dram": "DRAM",
    "noc": "the NoC",
    LINK: "an Ethernet link",
    ROUTER: "a router of the fabric",
}


NAMING_RESOURCES = ("bandwidth", "latency", "imbalance")  # kinds of verdicts that say of what


def headline(told: dict[str, Any]) -> str:
    """What bounds a run in a few words; `told`: a verdict as data (`Verdict.to_dict`)."""
    kind, resource = told["kind"], told["resource"]
    return f"Bound by {kind}" + (f" of {ROOFS.get(resource, resource)}" if kind in NAMING_RESOURCES else "")


@dataclass(frozen=True)
class Verdict:
    """What bounds something.

    `kind`: one of the five above; `resource`: a key of `ROOFS`, "semaphore", "circular_buffer", "credits", "cores" or "dispatch";
    `share`: of its roof (bandwidth), of the time spent so (others); `text`: a sentence; `evidence`: sentences with figures;
    `chain`: the critical chain in words, where it decided.
    """

    kind: str
    resource: str
    share: float
    text: str
    evidence: list[str] = field(default_factory=list)
    chain: list[str] = field(default_factory=list)

    @property
    def bounded_by(self) -> str:
        """The one word of `bounded_by` (docs/design.md#9-machine-readable-output)."""
        if self.kind == BANDWIDTH:
            return "issue" if self.resource == "mover" else self.resource
        if self.kind == LATENCY:
            return f"{self.resource}_latency"
        return self.resource if self.kind == DEPENDENCY else self.kind

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "kind": self.kind, "resource": self.resource, "share": self.share, "text": self.text,
            "evidence": list(self.evidence), "chain": list(self.chain),
        }  # fmt: skip


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def of_launch(facts: LaunchFacts) -> Verdict:
    """The `Verdict` of a launch, from its `tensim.analysis.facts.LaunchFacts`."""
    units = facts.units()
    unit = max(units, key=lambda name: units[name])
    steps = facts.chain()
    if waits_for_fabric(steps[-1]) and (links := link_uses(facts.chip)):
        return _of_fabric(links[0], steps[-1], _words(facts, steps))
    if min(facts.imbalance, facts.work_imbalance) >= UNEVEN:
        return _imbalance(facts)
    if units[unit] >= CLOSE:
        return _close_to_roof(facts, unit, units[unit])
    return _of_chain(facts, steps)


def of_run(chip: Chip | Done, facts: LaunchFacts, span_cycles: int, active_cycles: int) -> Verdict:
    """The `Verdict` of a run: that of the launch with `facts`, the longest, or dispatch when no program runs for most of it.

    `span_cycles`: from the first start to the last end; `active_cycles`: of them, with a program running.
    """
    idle = 1 - active_cycles / span_cycles if span_cycles else 0.0
    count = len(chip.launches)
    if idle > CLOSE:
        gap = (span_cycles - active_cycles) / max(count - 1, 1)
        text = f"no program runs for {percent(idle)} of the time between the first start and the last end"
        evidence = [
            f"{count} launches of {active_cycles / count:,.0f} cycles on average, {gap:,.0f} cycles apart: "
            "host calls, dispatch and transfers lie between them"
        ]
        return Verdict(DISPATCH, "dispatch", idle, text, evidence)
    return of_launch(facts)


def _of_fabric(use: LinkUse, step: Step, words: list[str]) -> Verdict:
    """A thread at the end of the chain that waits for routers: for credits, or for packets of other chips."""
    evidence = [
        f"{use.name}: line in use {percent(use.line)} of the time, its router at work {percent(use.router)}, "
        f"no slot for another packet {percent(use.full)}"
    ]
    if use.bound == LINK:
        return Verdict(BANDWIDTH, LINK, use.line, f"the line of {use.name} is full", evidence, words)
    if use.bound == ROUTER:
        text = f"a router of {use.name} is at work {percent(use.router)} of the time, its line less"
        return Verdict(BANDWIDTH, ROUTER, use.router, text, evidence, words)
    if use.bound == CREDITS:
        text = f"{use.name} has no slot for another packet {percent(use.full)} of the time: all are on their way there and back"
        return Verdict(DEPENDENCY, CREDITS, use.full, text, evidence, words)
    text = f"{percent(step.share)} of the time goes to waits for packets, and no link is full: they take their way"
    return Verdict(LATENCY, LINK, step.share, text, evidence, words)


def _imbalance(facts: LaunchFacts) -> Verdict:
    first = facts.core_name(facts.cores[facts.core_ends.argmin()])
    text = f"cores end unevenly: on average they are done after {percent(1 - facts.imbalance)} of the time"
    evidence = [
        f"core {facts.core_name(facts.slowest)} ends last, core {first} after {percent(float(facts.active.min()))} of the time"
    ]
    return Verdict(IMBALANCE, "cores", facts.imbalance, text, evidence, _words(facts, facts.chain()))


def _close_to_roof(facts: LaunchFacts, unit: str, share: float) -> Verdict:
    evidence = []
    if unit == "dram":
        shares = facts.channel_shares()
        evidence.append(
            f"DRAM channel {int(shares.argmax())} moves data {percent(float(shares.max()))} of the time, "
            f"the channels on average {percent(float(shares.mean()))}"
        )
    elif unit == "noc":
        evidence.append(f"the busiest link carries flits {percent(share)} of the time")
    elif unit == "mover":
        evidence.append("a data-movement core issues and computes all the time; memory does not make it wait")
    else:
        values = facts.unit_shares()[unit]
        evidence.append(
            f"busy from {percent(float(values.min()))} to {percent(float(values.max()))} of the time, core by core"
        )
    text = f"{ROOFS[unit]} {'are' if ROOFS[unit].endswith('s') else 'is'} busy {percent(share)} of the time"
    return Verdict(BANDWIDTH, unit, share, text, evidence)


def _of_chain(facts: LaunchFacts, steps: Sequence[Step]) -> Verdict:
    last, words = steps[-1], _words(facts, steps)
    if last.waits_for is not None:
        return _dependency(steps, words)
    if last.reason == BUSY:
        return _busy(facts, last, words)
    if last.reason == st.WAIT_NOC_ISSUE:
        waits = f"{facts.thread_name(last.row)} waits {percent(last.share)} of the time until its packets can leave"
        return Verdict(BANDWIDTH, "noc", facts.units()["noc"], f"{waits}: others hold the way", [], words)
    if last.reason in MEMORY_WAITS:
        return _memory(facts, last, words)
    return Verdict(
        DEPENDENCY, _resource_of(last.reason), last.share, f"{facts.thread_name(last.row)} waits in {reason_name(last.reason)}",
        [], words,
    )  # fmt: skip


def _words(facts: LaunchFacts, steps: Iterable[Step]) -> list[str]:
    return [_in_words(facts, step) for step in steps]


def _in_words(facts: LaunchFacts, step: Step) -> str:
    share = f"{100 * step.share:.0f} %"
    if step.reason == BUSY:
        return f"{facts.thread_name(step.row)} is at work for {share} of the time"
    what = f"{facts.thread_name(step.row)} waits {share} of the time in {reason_name(step.reason)}"
    return what if step.waits_for is None else f"{what} for {facts.thread_name(step.waits_for)}"


def _resource_of(reason: int) -> str:
    compute = dict.fromkeys((st.WAIT_COPROCESSOR, st.WAIT_MAILBOX), "coprocessor")
    return ({st.WAIT_SEMAPHORE: "semaphore"} | compute).get(reason, "circular_buffer")


def _busy(facts: LaunchFacts, step: Step, words: list[str]) -> Verdict:
    """A thread at the end of the chain that is mostly at work."""
    slot = int(facts.work.slots[step.row])
    if slot < FIRST_COMPUTE_SLOT:
        unit = "mover"
    elif 2 * facts.work.issue[step.row] > facts.work.busy[step.row]:
        unit = "issue"
    elif slot == MATH_SLOT:
        place = facts.work.compute_cores.searchsorted(facts.work.cores[step.row])
        vector = facts.work.core_counters["sfpu_busy"][place]
        unit = "sfpu" if 2 * vector > facts.work.busy[step.row] else "fpu"
    else:
        unit = {UNPACK_SLOT: "unpack", PACK_SLOT: "pack"}[slot]
    text = f"{facts.thread_name(step.row)} keeps {ROOFS[unit]} busy {percent(step.share)} of the time; the rest waits for it"
    return Verdict(BANDWIDTH, unit, step.share, text, [], words)


def _memory(facts: LaunchFacts, step: Step, words: list[str]) -> Verdict:
    """A thread at the end of the chain that waits for transfers: do they queue, or do they take their time?"""
    kernel = facts.work.line_base == facts.work.line_base[step.row]
    found = facts.transfers(kernel)
    reads = step.reason == st.WAIT_READ_BARRIER
    mine = {kind: one for kind, one in found.items() if kind.endswith("reads") == reads} or found
    if not mine:
        return Verdict(
            DEPENDENCY, "semaphore", step.share, f"{facts.thread_name(step.row)} waits for the NoC", [], words
        )
    one = max(mine.values(), key=lambda item: item.transfers * item.latency_cycles)
    resource = "dram" if one.kind.startswith("dram") else "noc"
    what = "reads" if reads else "writes"
    evidence = [
        f"{what} of {one.request_bytes:,.0f} B take {one.latency_cycles:,.0f} cycles on average, "
        f"{one.idle_latency_cycles:,.0f} on an idle chip"
        + (f"; {one.in_flight:.1f} are under way at a time" if one.in_flight else "")
    ]
    if one.queued_share >= QUEUED:
        units = facts.units()
        evidence.append(
            f"the busiest DRAM channel moves data {percent(units['dram'])} of the time, the busiest link {percent(units['noc'])}: "
            "many ask for the same place at the same time"
        )
        text = f"{what} queue: {percent(one.queued_share)} of their latency they wait for others at {ROOFS[resource]}"
        return Verdict(BANDWIDTH, resource, units[resource], text, evidence, words)
    text = f"{facts.thread_name(step.row)} waits {percent(step.share)} of the time for the latency of its {what}"
    return Verdict(LATENCY, resource, step.share, text, evidence, words)


def _dependency(steps: Sequence[Step], words: list[str]) -> Verdict:
    """Threads that wait for each other in turn."""
    first = next(i for i, step in enumerate(steps) if step.row == steps[-1].waits_for)
    loop = steps[first:]
    largest = max(loop, key=lambda step: step.share)
    names = sorted({reason_name(step.reason) for step in loop})
    text = f"{len(loop)} threads wait for each other in turn ({', '.join(names)})"
    resource = _resource_of(
        st.WAIT_SEMAPHORE if any(step.reason == st.WAIT_SEMAPHORE for step in loop) else largest.reason
    )
    return Verdict(DEPENDENCY, resource, largest.share, text, [], words)
