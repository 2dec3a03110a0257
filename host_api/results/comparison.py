"""Two results side by side: what moved, and what moved most.

A result is taken apart into figures, {section: {name: value}}; a figure of two results is a `Change`.  Kernel lines are named by
kernel and text, so that a line inserted above moves nothing; waits for circular buffers are those of all threads.  A figure
that only one result has counts as 0 in the other.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from tensim.results.result import HINT, Result
from tensim.sim.errors import UsageError

Figures: TypeAlias = dict[str, float]  # figures of a section by name
SHOWN = 8  # rows of a section in the text; all are in the data
SECTIONS = {  # name: title; in the order of the text
    "totals": "the run",
    "operations": "cycles of operations",
    "zones": "profiler zones, over all cores",
    "cores": "cycles of cores",
    "stalls": "cycles by what threads did or waited for, over all cores",
    "buffers": "cycles waited for circular buffers",
    "lines": "cycles of kernel lines",
    "links": "NoC links",
    "memory": "DRAM",
}
UNITS = {"bytes": "B", "seconds": "s", "operations": "", "count": "", "hits": "", "misses": ""}  # by the end of a name
BUFFER_WAIT = re.compile(r"cb_(?:wait_front|reserve_back)\[(\d+)\]")
ROOM = "cb_reserve_back"
MEMORY = ("read_bytes", "write_bytes", "row_hits", "row_misses")
NOT_COMPARED = ("kernels", "arguments_sha256", "arch_file", "program_file", "engine_digest", "python_version")
OF_A_KERNEL = {"sha256": "text", "noc": "NoC", "fidelity": "fidelity", "compile_args": "compile-time arguments",
               "named_compile_args": "named compile-time arguments", "defines": "defines", "cores": "cores"}  # fmt: skip


# --- what there is to compare


def figures(result: Result) -> dict[str, dict[str, float]]:
    """{section: {name: value}} of a result; names end in their unit where it is not cycles."""
    return {
        "totals": {
            "cycles": result.cycles, "span_cycles": result.span_cycles,
            "device_seconds": result.device_seconds, "kernel_operations": result.kernel_operations,
        },
        "operations": _operations(result),
        "zones": _zones(result),
        "cores": {f"core {core}": cycles for core, cycles in result.core_cycles.items()},
        "stalls": _stalls(result),
        "buffers": _buffers(result),
        "lines": _lines(result),
        "links": _links(result),
        "memory": _memory(result),
    }  # fmt: skip


def _operations(result: Result) -> Figures:
    """Cycles of a ttnn program's operations; those of one name are numbered."""
    found, seen = {}, defaultdict(int)
    for one in result.operations:
        seen[one["name"]] += 1
        found[f"{one['name']} #{seen[one['name']]}"] = one["cycles"]
    return found


def _zones(result: Result) -> Figures:
    return {
        f"{zone['zone']} in {zone['kernel']} on {zone['thread']}, {figure}": zone[figure]
        for zone in result.zones
        for figure in ("cycles", "count", "longest_cycles")
    }


def _stalls(result: Result) -> Figures:
    """Cycles that each kind of thread was at work or waited, by reason, over all cores."""
    return {
        f"{thread} {reason}": cycles
        for thread, part in result["breakdown"].items()
        for reason, cycles in (("busy", _cycles(part, part["busy"])), *_waits(part))
    }


def _waits(part: dict[str, Any]) -> list[tuple[str, int]]:
    return [(reason, _cycles(part, share)) for reason, share in part["stalled"].items()]


def _cycles(part: dict[str, Any], share: float) -> int:
    """Cycles of a share of a kind of thread's time."""
    return round(share * part["thread_cycles"])


def _buffers(result: Result) -> Figures:
    """Cycles that threads waited for pages of a circular buffer, and for room in it."""
    found = defaultdict(int)
    for part in result["breakdown"].values():
        for reason, cycles in _waits(part):
            match = BUFFER_WAIT.fullmatch(reason)
            if match:
                found[f"CB {match[1]}: waiting for {'room' if reason.startswith(ROOM) else 'pages'}"] += cycles
    return dict(found)


def _lines(result: Result) -> Figures:
    """Cycles of the kernel lines that a result lists: busy and stalled, over all cores."""
    found = defaultdict(int)
    for line in result.lines:
        found[f"{line['kernel']} ({Path(line['file']).name}): {line['source']}"] += line["busy"] + line["stalled"]
    return dict(found)


def _links(result: Result) -> Figures:
    return {
        f"NoC {link['noc']} {link['from']} -> {link['to']} ({link['kind']}), {figure}": link[figure]
        for figure in ("stall_cycles", "bytes")
        for link in result.links
    }


def _memory(result: Result) -> Figures:
    dram = result["dram"]
    channels = {
        f"channel {channel['channel']}, {name}": channel[name]
        for name in ("read_bytes", "write_bytes")
        for channel in dram["channels"]
    }
    return {name: dram[name] for name in MEMORY} | channels


def ran(result: Result) -> dict[str, Any]:
    """{what: value} of what makes a result repeatable and can be compared between two checkouts, kernels by name."""
    found = {key: value for key, value in result.identity.items() if key not in NOT_COMPARED}
    seen = Counter()
    for kernel in result.identity.get("kernels", []):
        where = f"kernel {kernel['name']} on {kernel['processor']}"
        seen[where] += 1
        # the same kernel on another NoC, or with other arguments
        number = f" #{seen[where]}" if seen[where] > 1 else ""
        for key, name in OF_A_KERNEL.items():
            if key in kernel:
                found[f"{where}{number}, {name}"] = kernel[key]
    return found


def outcome(result: Result) -> dict[str, Any]:
    """{what: value} of whether the output was right and what the memories held at the end, where that is known."""
    hashes = {f"hash of {name}": value for name, value in (result.image_sha256 or {}).items()}
    return ({} if result.verified is None else {"verified": result.verified}) | hashes


# --- the comparison


@dataclass(frozen=True)
class Change:
    """A figure before and after.  `section`: a key of `SECTIONS`."""

    section: str
    name: str
    before: float
    after: float

    @property
    def unit(self) -> str:
        """Of both values; nothing for a number of things."""
        return UNITS.get(re.split("[_ ]", self.name)[-1], "cycles")

    @property
    def difference(self) -> float:
        """After less before."""
        return self.after - self.before

    @property
    def relative(self) -> float:
        """The difference as a share of what was before; infinite when that was nothing."""
        if self.difference == 0:
            return 0.0
        return self.difference / self.before if self.before else float("inf")

    def to_dict(self) -> dict[str, Any]:
        """Plain data; a relative change from nothing is null."""
        relative = self.relative if self.before or not self.difference else None
        return {
            "name": self.name, "unit": self.unit, "before": self.before, "after": self.after,
            "difference": self.difference, "relative": relative,
        }  # fmt: skip

    def text(self) -> str:
        """As a line of a table."""
        share = f"{self.relative:+.2%}" if self.before else "new"
        return f"{_number(self.before):>16} {_number(self.after):>16} {_number(self.difference, '+'):>16} {share:>10}  {self.name}"


def _number(value: float, sign: str = "") -> str:
    return f"{value:{sign},}" if isinstance(value, int) else f"{value:{sign}.6g}"


@dataclass(frozen=True)
class Comparison:
    """How one result differs from an earlier one, by their names.

    `changes`: {section: [`Change`]}, in each section what moved most first, what did not move left out except for totals;
    `identity`: [(what, before, after)] of what ran and is not the same; `outcome`: the same of outputs and memories.
    """

    first: str
    second: str
    changes: dict[str, list[Change]]
    identity: list[tuple[str, Any, Any]] = field(default_factory=list)
    outcome: list[tuple[str, Any, Any]] = field(default_factory=list)

    @property
    def cycles(self) -> Change:
        """Of the whole run: those in which programs ran."""
        return self._total("cycles")

    @property
    def span_cycles(self) -> Change:
        """What the run lasted, from the first start to the last end of a program."""
        return self._total("span_cycles")

    def _total(self, name: str) -> Change:
        return next(change for change in self.changes["totals"] if change.name == name)

    @property
    def same(self) -> bool:
        """Whether no figure differs."""
        moved = any(change.difference for changes in self.changes.values() for change in changes)
        return not (moved or self.outcome)

    @property
    def moved_most(self) -> Change | None:
        """What threads did for more or fewer cycles than anything else; None when nothing moved."""
        return next(iter(self.changes["stalls"]), None)

    def moved_by_more(self, share: float) -> bool:
        """Whether the cycles of the run, or what it lasted, moved in either direction by more than a share."""
        return abs(self.moved_furthest.relative) > share

    @property
    def moved_furthest(self) -> Change:
        """Of the cycles of the run and what it lasted, what moved by the larger share."""
        return max(self.cycles, self.span_cycles, key=lambda change: abs(change.relative))

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `tensim compare --json` writes it."""
        pairs = {
            name: [{"name": key, "before": before, "after": after} for key, before, after in found]
            for name, found in (("identity", self.identity), ("outcome", self.outcome))
        }
        most = self.moved_most
        return {
            "first": self.first, "second": self.second, "same": self.same,
            "cycles": self.cycles.to_dict(), "span_cycles": self.span_cycles.to_dict(),
            "moved_most": None if most is None else most.to_dict(),
            **{name: [change.to_dict() for change in changes] for name, changes in self.changes.items()}, **pairs,
        }  # fmt: skip

    def text(self) -> str:
        """For people: the verdict in a line, then what moved."""
        lines = [self._headline()]
        lines += [f"  {name}: {before} -> {after}" for name, before, after in self.outcome]
        if self.identity:
            lines += ["what ran is not the same:"]
            lines += [f"  {name}: {_short(before)} -> {_short(after)}" for name, before, after in self.identity]
        for name, changes in self.changes.items():
            moved = [change for change in changes if change.difference]
            if not moved:
                continue
            lines += [f"{SECTIONS[name]}:", f"{'before':>16} {'after':>16} {'difference':>16} {'relative':>10}"]
            lines += [change.text() for change in moved[:SHOWN]]
            if len(moved) > SHOWN:
                lines.append(f"{'':16} and {len(moved) - SHOWN} more")
        return "\n".join(lines)

    def _headline(self) -> str:
        cycles, names = self.cycles, self.first
        if self.second != names:
            names = f"{names} and {self.second}"
        if self.same:
            return f"{names}: the same {cycles.before:,} cycles, and all else is the same"
        most, told = self.moved_most, ""
        if most is not None:
            told = f"; most moved {most.name} ({_number(most.difference, '+')} cycles over all cores)"
        lasted = ""
        if self.span_cycles.difference != cycles.difference:
            lasted = f", from start to end {_moved_from(self.span_cycles)}"
        return f"{names}: {_moved_from(cycles)}{lasted}{told}"


def _moved_from(change: Change) -> str:
    share = f"{change.relative:+.2%}" if change.before else "new"
    return f"{change.before:,} -> {change.after:,} cycles ({share})"


def _short(value: object) -> str:
    text = "none" if value is None else str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def compare(first: Result | str | Path, second: Result | str | Path) -> Comparison:
    """How a result differs from an earlier one; each a `Result`, the file of one or a run folder.

    UsageError for a file that holds no result of this schema.
    """
    a, b = (one if isinstance(one, Result) else Result.load(one) for one in (first, second))
    try:
        return Comparison(
            a.name, b.name, changes(figures(a), figures(b)), differences(ran(a), ran(b)),
            differences(outcome(a), outcome(b)),
        )  # fmt: skip
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise UsageError(
            f"{first} and {second} cannot be compared: one is damaged ({type(error).__name__}: {error})", hint=HINT
        ) from error


def changes(before: dict[str, Figures], after: dict[str, Figures]) -> dict[str, list[Change]]:
    """{section: [`Change`]} between the `figures` of two results, of the sections that both have."""
    found = {name: _moved(name, before[name], after[name]) for name in SECTIONS if name in before and name in after}
    order = list(before["totals"])
    found["totals"] = [
        Change("totals", name, before["totals"][name], after["totals"][name]) for name in order
    ]  # also what is the same
    return found


def _moved(section: str, before: Figures, after: Figures) -> list[Change]:
    """The changes of named figures, the largest first; those that did not change are left out."""
    found = [
        Change(section, name, before.get(name, 0), after.get(name, 0))
        for name in dict.fromkeys([*before, *after])
        if before.get(name, 0) != after.get(name, 0)
    ]
    return sorted(found, key=lambda change: (-abs(change.difference), change.name))


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[tuple[str, Any, Any]]:
    """[(key, before, after)] of what two dicts do not agree on; None where one has nothing."""
    return [
        (key, before.get(key), after.get(key))
        for key in dict.fromkeys([*before, *after])
        if before.get(key) != after.get(key)
    ]
