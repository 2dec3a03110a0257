"""What the operations of a program took, as a table for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from tensim.results.result import Result
from tensim.ttnn.layers import layers

if TYPE_CHECKING:
    from tensim.ttnn.measurements import Counters, Operation

Table: TypeAlias = list[dict[str, Any]]  # a row per operation, name, layer or link
SHOWN = 40  # operations in the table; all are in the JSON
STALLS = 3  # reasons named per operation
NAMES = 20  # names in the table of time by operation; all are in the JSON
LINKS = 4  # Ethernet links of a mesh; all are in the JSON
BOUNDS = 3  # what bounded the launches of a name


def rows(operations: Iterable[Operation]) -> Table:
    """A dict per operation: name, device, cores, cycles, ns, what bounded it, and shares of stalled time by thread."""
    return [
        {
            "operation": index, "name": one.name, "device": one.device.host.arch.name, "cores": one.cores,
            "cycles": one.cycles, "ns": round(one.nanoseconds, 3), "started": one.started,
            "kernels": {name: end - begin for name, (begin, end) in one.spans.items()},
            **_causes(one), **one.told,
        }
        for index, one in enumerate(operations)
    ]  # fmt: skip


def _causes(one: Operation) -> dict[str, Any]:
    counters = cast("Counters | None", one.counters)
    if counters is None:
        return {"bounded_by": None, "threads": {}}
    return {"bounded_by": counters.bounded_by(one.cycles), "threads": counters.stalls()}


def result(table: Table, devices: list[dict[str, Any]], identity: dict[str, Any]) -> Result:
    """The `Result` of a program: its operations, and what its chips did.

    `devices`: summaries of its devices (`tensim.sim.chip.statistics.collect`), of which there is one at least.  The figures
    of the first stand at top level, all of them in "devices" when there are several.
    """
    first = devices[0]
    summary = first | {
        "kernel_operations": first["operations"], "name": identity["program"], "description": "a ttnn program",
        "verified": None, "unwritten": [],
        "warnings": list(dict.fromkeys(text for one in devices for text in one["warnings"])),
        "device_seconds": sum(one["device_seconds"] for one in devices),
        "span_cycles": max(one["span_cycles"] for one in devices),
    } | operations(table)  # fmt: skip
    return Result(summary | ({"devices": devices} if len(devices) > 1 else {}), identity)


def operations(table: Table) -> dict[str, Any]:
    """The rows, their time by operation and by layer, and the sum of their cycles, as JSON has them."""
    return {
        "operations": table, "by_operation": by_operation(table), "layers": by_layer(table),
        "by_signpost": by_signpost(table), "cycles": sum(row["cycles"] for row in table),
    }  # fmt: skip


def by_layer(table: Table) -> Table:
    """`tensim.ttnn.layers.layers` of the launches; nothing when none come again and again."""
    keys = [(row.get("device"), row.get("chip"), row["name"], row["cores"]) for row in table]
    found = layers(keys, [row["cycles"] for row in table])
    return found if any(one["layers"] > 1 for one in found) else []


def by_operation(table: Table) -> Table:
    """Where the time went: a dict per name of an operation, the largest first.

    "operation": what the program called (`ttnn.linear`), or the kernels of a launch that no operation of the library's made;
    "launches", "cycles", "ns", "share" (of all cycles), "bounds": {what bounded launches: their share of the name's cycles}.
    """
    groups = {}
    for row in table:
        groups.setdefault(_called(row), []).append(row)
    total = sum(row["cycles"] for row in table)
    found = [
        {
            "operation": name, "launches": len(rows), "cycles": sum(row["cycles"] for row in rows),
            "ns": round(sum(row["ns"] for row in rows), 3), "share": _share(sum(row["cycles"] for row in rows), total),
            "bounds": _bounds(rows),
        }
        for name, rows in groups.items()
    ]  # fmt: skip
    return sorted(found, key=lambda one: -one["cycles"])


def by_signpost(table: Table) -> Table:
    """What ran behind each signpost, in order: {"signpost": its name, None before the first, "launches", "cycles", "ns", "share"};
    nothing without signposts."""
    if not any("signpost" in row for row in table):
        return []
    groups: dict[Any, Table] = {}
    for row in table:
        groups.setdefault(row.get("signpost"), []).append(row)
    total = sum(row["cycles"] for row in table)
    return [
        {
            "signpost": name, "launches": len(rows), "cycles": sum(row["cycles"] for row in rows),
            "ns": round(sum(row["ns"] for row in rows), 3), "share": _share(sum(row["cycles"] for row in rows), total),
        }
        for name, rows in groups.items()
    ]  # fmt: skip


def _called(row: dict[str, Any]) -> str:
    """What the program called: the library says it, other launches go by their kernels."""
    return (row.get("library") or row)["name"]


def _bounds(rows: Table) -> dict[str, float]:
    """Shares of the rows' cycles by what bounded them, the largest first."""
    cycles = {}
    for row in rows:
        if row["bounded_by"] is not None:
            cycles[row["bounded_by"]] = cycles.get(row["bounded_by"], 0) + row["cycles"]
    total = sum(row["cycles"] for row in rows)
    return {name: _share(part, total) for name, part in sorted(cycles.items(), key=lambda one: -one[1])}


def _share(part: float, total: float) -> float:
    return round(part / total, 4) if total else 0.0


def text(table: Table, facts: Mapping[str, Any]) -> str:
    """The table as lines of text; `facts`: what else there is to say (`sampled`: what `Sampler.summary` gives; `pace` and
    `traces`: what `tensim.ttnn.pace.paced` and `replays` give; `fabric`: what links have carried, `Fabric.link_utilization`)."""
    what = "1 operation" if len(table) == 1 else f"{len(table)} operations"
    if not table:
        return f"tensim: {what}: nothing was run on a simulated chip"
    lines = [f"tensim: {what}, {sum(row['cycles'] for row in table):,} cycles"]
    lines.append(f"{'#':>4} {'cycles':>12} {'µs':>10} {'cores':>5}  {'bound':10} {'stalls':44} kernels")
    before = None
    for row in table[:SHOWN]:
        if row.get("signpost") not in (None, before):
            lines.append(f"     signpost {row['signpost']}")
        before = row.get("signpost")
        lines.append(
            f"{row['operation']:4} {row['cycles']:12,} {row['ns'] / 1000:10.3f} {row['cores']:5}  "
            f"{row['bounded_by'] or '-':10} {_stalls(row['threads']):44} {_place(row)}{_replay(row)}{row['name']}"
        )
    if len(table) > SHOWN:
        lines.append(f"     and {len(table) - SHOWN} more")
    total = sum(row["cycles"] for row in table)
    lines += _by_operation_lines(by_operation(table), total) + _by_layer_lines(by_layer(table), total)
    lines += _by_signpost_lines(by_signpost(table), total)
    if facts.get("pace"):
        lines += _pace_lines(**facts["pace"])
    lines += _trace_lines(facts.get("traces", ()))
    if "sampled" in facts:
        lines.append(_sampled(**facts["sampled"]))
    if "fabric" in facts:
        lines += _links(facts["fabric"]["links"])
    return "\n".join(lines)


def _place(row: dict[str, Any]) -> str:
    """The chip of a row of a mesh, before its name."""
    return f"chip {row['chip']}: " if "chip" in row else ""


def _replay(row: dict[str, Any]) -> str:
    """The replay of a metal trace that a row belongs to, before its name."""
    return "trace {}, replay {}: ".format(*row["trace"]) if "trace" in row else ""


def _by_operation_lines(groups: Table, total: float) -> list[str]:
    """Time by operation as lines of text, when some name has several launches."""
    if all(one["launches"] == 1 for one in groups):
        return []
    lines = [
        f"time by operation, of {total:,} cycles",
        f"{'cycles':>17} {'share':>6} {'launches':>8}  {'operation':60} bound by",
    ]
    for one in groups[:NAMES]:
        bounds = ", ".join(f"{name} {share:.0%}" for name, share in list(one["bounds"].items())[:BOUNDS])
        lines.append(
            f"{one['cycles']:17,} {one['share']:6.1%} {one['launches']:8,}  {one['operation'][:60]:60} {bounds}"
        )
    if len(groups) > NAMES:
        lines.append(f"     and {len(groups) - NAMES} more names")
    return lines


def _by_signpost_lines(groups: Table, total: float) -> list[str]:
    """Time by signpost as lines of text."""
    if not groups:
        return []
    lines = [f"time by signpost, of {total:,} cycles", f"{'cycles':>17} {'share':>6} {'launches':>8}  behind"]
    for one in groups:
        name = "the program's begin" if one["signpost"] is None else one["signpost"]
        lines.append(f"{one['cycles']:17,} {one['share']:6.1%} {one['launches']:8,}  {name}")
    return lines


def _by_layer_lines(found: Table, total: float) -> list[str]:
    """Time by layer as lines of text."""
    if not found:
        return []
    lines = [
        "time by layer: launches that come again in the same order",
        f"{'cycles':>17} {'share':>6} {'launches':>13} {'layers':>6}  cycles of a layer",
    ]
    for one in found:
        last = one["first"] + one["launches"] * one["layers"] - 1
        each = f"{one['least']:,}" if one["least"] == one["most"] else f"{one['least']:,} to {one['most']:,}"
        lines.append(
            f"{one['cycles']:17,} {one['cycles'] / total:6.1%} {one['first']:6}-{last:<6} {one['layers']:6}  {each}"
        )
    return lines


def _pace_lines(
    launches: int, alone_ns: float, traced_ns: float, untraced_ns: float, rates: dict[str, Any] | None = None
) -> list[str]:
    """What the launches take one behind the other as lines of text."""
    parts = [("the operations alone", "alone", alone_ns), ("from a metal trace", "traced", traced_ns),
             ("called from Python", "untraced", untraced_ns)]  # fmt: skip
    lines = [f"one behind the other, {launches:,} launches"]
    for what, key, ns in parts:
        rate = "" if rates is None else f"  {rates[key]:12,.1f} {rates['of']}/s"
        more = "" if key == "alone" else f"{ns / alone_ns - 1:+.1%}"
        lines.append(f"{ns / 1e6:14.3f} ms {more:>7}  {what:22}{rate}")
    return lines


def _trace_lines(traces: Iterable[dict[str, Any]]) -> list[str]:
    """What a replay of each metal trace takes as lines of text."""
    return [
        f"metal trace {one['trace']}: a replay takes {one['traced_ns'] / 1e6:.3f} ms, {one['launches']:,.0f} launches of "
        f"{one['alone_ns'] / 1e6:.3f} ms; replayed {one['replays']:,} times"
        for one in traces
    ]


def _sampled(simulated: int, stood_for: int, estimated_error_pct: float | None) -> str:
    error = "unknown" if estimated_error_pct is None else f"{estimated_error_pct:.2f} %"
    return f"sampled: {simulated:,} launches were simulated, {stood_for:,} took the time of equal ones; estimated error {error}"


def _links(links: Table) -> list[str]:
    """What Ethernet links carried as lines of text, the busiest first."""
    used = sorted((one for one in links if one["packets"]), key=lambda one: -one["busy_cycles"])
    lines = [f"{len(used)} of {len(links)} links carried packets, {sum(one['bytes'] for one in used):,} B in all"]
    for one in used[:LINKS]:
        lines.append(
            f"  chip {one['chip']} to the {one['direction']}, link {one['link']}: {one['packets']:,} packets, {one['bytes']:,} B; "
            f"line busy {one['busy_cycles']:,} cycles, other end full {one['full_cycles']:,}"
        )
    return lines


def _stalls(threads: dict[str, dict[str, float]]) -> str:
    """The largest stalls of any kind of thread."""
    largest = sorted(
        ((share, reason, name) for name, part in threads.items() for reason, share in part.items() if reason != "busy"),
        reverse=True,
    )
    return ", ".join(f"{name} {reason} {share:.0%}" for share, reason, name in largest[:STALLS])
