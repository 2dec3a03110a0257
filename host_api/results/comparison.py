"""Two results side by side: what moved, and what moved most.

A figure of both is a `Change`.  Kernel lines are matched by kernel and text, so that a line inserted above moves nothing; waits
for circular buffers are those of all threads.  A figure that only one result has counts as 0 in the other.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tensim.results.result import HINT, Result
from tensim.sim.errors import UsageError

SHOWN = 8  # rows of a section in the text; all are in the data
SECTIONS = {  # name: title; in the order of the text
    "totals": "the run",
    "operations": "operations",
    "stalls": "cycles by what threads did or waited for, over all cores",
    "buffers": "cycles waited for circular buffers",
    "lines": "cycles of kernel lines",
    "links": "NoC links",
    "memory": "DRAM",
}
BUFFER_WAIT = re.compile(r"cb_(?:wait_front|reserve_back)\[(\d+)\]")
ROOM = "cb_reserve_back"
MEMORY = {"read_bytes": "B", "write_bytes": "B", "row_hits": "", "row_misses": ""}
NOT_COMPARED = ("kernels", "arguments_sha256", "arch_file", "program_file", "engine_digest", "python_version")


@dataclass(frozen=True)
class Change:
    """A figure before and after.  `section`: a key of `SECTIONS`; `unit`: of both values."""

    section: str
    name: str
    before: float
    after: float
    unit: str = "cycles"

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


def _number(value, sign=""):
    return f"{value:{sign},}" if isinstance(value, int) else f"{value:{sign}.6g}"


@dataclass(frozen=True)
class Comparison:
    """How `second` differs from `first`.

    `changes`: {section: [`Change`]}, in each section what moved most first, what did not move left out except for totals;
    `identity`: [(key, before, after)] of what makes the results repeatable and is not the same; `facts`: the same of whether
    the output was right and of the memories' hashes.
    """

    first: Result
    second: Result
    changes: dict[str, list[Change]]
    identity: list[tuple[str, Any, Any]]
    facts: list[tuple[str, Any, Any]]

    @property
    def cycles(self) -> Change:
        """Of the whole run."""
        return self.changes["totals"][0]

    @property
    def same(self) -> bool:
        """Whether no figure differs."""
        moved = any(change.difference for changes in self.changes.values() for change in changes)
        return not (moved or self.facts)

    @property
    def moved_most(self) -> Change | None:
        """What threads did for more or fewer cycles than anything else; None when nothing moved."""
        return next(iter(self.changes["stalls"]), None)

    def moved_by_more(self, share: float) -> bool:
        """Whether the cycles of the run moved, in either direction, by more than a share of what they were."""
        return abs(self.cycles.relative) > share

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as `tensim compare --json` writes it."""
        pairs = {
            name: [{"name": key, "before": before, "after": after} for key, before, after in found]
            for name, found in (("identity", self.identity), ("facts", self.facts))
        }
        most = self.moved_most
        return {
            "first": self.first.name, "second": self.second.name, "same": self.same, "cycles": self.cycles.to_dict(),
            "moved_most": None if most is None else most.to_dict(),
            **{name: [change.to_dict() for change in changes] for name, changes in self.changes.items()}, **pairs,
        }  # fmt: skip

    def text(self) -> str:
        """For people: the verdict in a line, then what moved."""
        lines = [self._headline()]
        lines += [f"  {name}: {before} -> {after}" for name, before, after in self.facts]
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

    def _headline(self):
        cycles, names = self.cycles, self.first.name
        if self.second.name != names:
            names = f"{names} and {self.second.name}"
        if self.same:
            return f"{names}: the same {cycles.before:,} cycles, and all else is the same"
        most, told = self.moved_most, ""
        if most is not None:
            told = f"; most moved {most.name} ({_number(most.difference, '+')} cycles over all cores)"
        share = f"{cycles.relative:+.2%}" if cycles.before else "new"
        return f"{names}: {cycles.before:,} -> {cycles.after:,} cycles ({share}){told}"


def _short(value):
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def compare(first: Result | str | Path, second: Result | str | Path) -> Comparison:
    """How a result differs from an earlier one; each a `Result`, the file of one or a run folder.

    UsageError for a file that holds no result of this schema.
    """
    a, b = (one if isinstance(one, Result) else Result.load(one) for one in (first, second))
    try:
        return Comparison(a, b, _changes(a, b), _identity(a, b), _facts(a, b))
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise UsageError(
            f"{first} and {second} cannot be compared: one is damaged ({type(error).__name__}: {error})", hint=HINT
        ) from error


def _changes(a, b):
    return {
        "totals": [
            Change("totals", "cycles", a.cycles, b.cycles),
            Change("totals", "device_seconds", a.device_seconds, b.device_seconds, "s"),
            Change("totals", "kernel_operations", a.kernel_operations, b.kernel_operations, ""),
        ],
        "operations": _moved("operations", _operations(a), _operations(b)),
        "stalls": _moved("stalls", _stalls(a), _stalls(b)),
        "buffers": _moved("buffers", _buffers(a), _buffers(b)),
        "lines": _moved("lines", _lines(a), _lines(b)),
        "links": _links(a, b),
        "memory": _memory(a, b),
    }


def _moved(section, before, after, unit="cycles"):
    """The changes of named figures, the largest first; those that did not change are left out."""
    changes = [
        Change(section, name, before.get(name, 0), after.get(name, 0), unit)
        for name in dict.fromkeys([*before, *after])
        if before.get(name, 0) != after.get(name, 0)
    ]
    return sorted(changes, key=lambda change: (-abs(change.difference), change.name))


def _operations(result):
    """Cycles of a ttnn program's operations; those of one name are numbered."""
    found, seen = {}, defaultdict(int)
    for one in result.operations:
        seen[one["name"]] += 1
        found[f"{one['name']} #{seen[one['name']]}"] = one["cycles"]
    return found


def _stalls(result):
    """Cycles that each kind of thread was at work or waited, by reason, over all cores."""
    return {
        f"{thread} {reason}": cycles
        for thread, part in result["breakdown"].items()
        for reason, cycles in (("busy", _cycles(part, part["busy"])), *_waits(part))
    }


def _waits(part):
    return [(reason, _cycles(part, share)) for reason, share in part["stalled"].items()]


def _cycles(part, share):
    """Cycles of a share of a kind of thread's time."""
    return round(share * part["thread_cycles"])


def _buffers(result):
    """Cycles that threads waited for pages of a circular buffer, and for room in it."""
    found = defaultdict(int)
    for part in result["breakdown"].values():
        for reason, cycles in _waits(part):
            match = BUFFER_WAIT.fullmatch(reason)
            if match:
                found[f"CB {match[1]}: waiting for {'room' if reason.startswith(ROOM) else 'pages'}"] += cycles
    return found


def _lines(result):
    """Cycles of the kernel lines that a result lists: busy and stalled, over all cores."""
    found = defaultdict(int)
    for line in result.lines:
        found[f"{line['kernel']} ({Path(line['file']).name}): {line['source']}"] += line["busy"] + line["stalled"]
    return found


def _links(a, b):
    """Bytes and stall cycles of the links."""
    changes = []
    for figure, unit in (("stall_cycles", "cycles"), ("bytes", "B")):
        tables = [
            {
                f"NoC {link['noc']} {link['from']} -> {link['to']} ({link['kind']}), {figure}": link[figure]
                for link in one.links
            }
            for one in (a, b)
        ]
        changes += _moved("links", *tables, unit)
    return changes


def _memory(a, b):
    changes = [
        Change("memory", name, a["dram"][name], b["dram"][name], unit)
        for name, unit in MEMORY.items()
        if a["dram"][name] != b["dram"][name]
    ]
    for figure in ("read_bytes", "write_bytes"):
        tables = [{f"channel {c['channel']}, {figure}": c[figure] for c in one["dram"]["channels"]} for one in (a, b)]
        changes += _moved("memory", *tables, "B")
    return changes


def _identity(a, b):
    """What differs of what makes results repeatable, where both say it; kernels by their names."""
    found = [
        (key, a.identity[key], b.identity[key])
        for key in a.identity
        if key in b.identity and key not in NOT_COMPARED and a.identity[key] != b.identity[key]
    ]
    kernels = [
        {(kernel["name"], kernel["processor"]): kernel for kernel in one.identity.get("kernels", [])} for one in (a, b)
    ]
    for key in dict.fromkeys([*kernels[0], *kernels[1]]):
        pair = [side.get(key) for side in kernels]
        name = f"kernel {key[0]} on {key[1]}"
        if None in pair:
            found.append((name, *("none" if kernel is None else "there" for kernel in pair)))
            continue
        different = [field for field in pair[0] if field != "file" and pair[0][field] != pair[1].get(field)]
        found += [(f"{name}, {_SAID.get(field, field)}", pair[0][field], pair[1].get(field)) for field in different]
    return found


_SAID = {"sha256": "text"}


def _facts(a, b):
    """Whether the output was right and what the memories held, where they differ."""
    found = [("verified", a.verified, b.verified)] if a.verified is not b.verified else []
    if a.image_sha256 and b.image_sha256:
        found += [
            (f"hash of {name}", a.image_sha256[name], b.image_sha256[name])
            for name in a.image_sha256
            if a.image_sha256[name] != b.image_sha256.get(name)
        ]
    return found
