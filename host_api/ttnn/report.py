"""What the operations of a program took, as a table for people and as JSON."""

from tensim.results.result import Result

SHOWN = 40  # operations in the table; all are in the JSON
STALLS = 3  # reasons named per operation


def rows(operations):
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


def _causes(one):
    if one.counters is None:
        return {"bounded_by": None, "threads": {}}
    return {"bounded_by": one.counters.bounded_by(one.cycles), "threads": one.counters.stalls()}


def result(table, devices, identity):
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


def operations(table):
    """The rows and the sum of their cycles, as JSON has them."""
    return {"operations": table, "cycles": sum(row["cycles"] for row in table)}


def text(table, facts):
    """The table as lines of text; `facts`: what else there is to say (`sampled`: what `Sampler.summary` gives)."""
    what = "1 operation" if len(table) == 1 else f"{len(table)} operations"
    lines = [f"tensim: {what}, {sum(row['cycles'] for row in table):,} cycles"]
    if not table:
        return "\n".join(lines)
    lines.append(f"{'#':>4} {'cycles':>12} {'µs':>10} {'cores':>5}  {'bound':10} {'stalls':44} kernels")
    for row in table[:SHOWN]:
        lines.append(
            f"{row['operation']:4} {row['cycles']:12,} {row['ns'] / 1000:10.3f} {row['cores']:5}  "
            f"{row['bounded_by'] or '-':10} {_stalls(row['threads']):44} {row['name']}"
        )
    if len(table) > SHOWN:
        lines.append(f"     and {len(table) - SHOWN} more")
    if "sampled" in facts:
        lines.append(_sampled(**facts["sampled"]))
    return "\n".join(lines)


def _sampled(simulated, stood_for, estimated_error_pct):
    error = "unknown" if estimated_error_pct is None else f"{estimated_error_pct:.2f} %"
    return f"sampled: {simulated:,} launches were simulated, {stood_for:,} took the time of equal ones; estimated error {error}"


def _stalls(threads):
    """The largest stalls of any kind of thread."""
    largest = sorted(
        ((share, reason, name) for name, part in threads.items() for reason, share in part.items() if reason != "busy"),
        reverse=True,
    )
    return ", ".join(f"{name} {reason} {share:.0%}" for share, reason, name in largest[:STALLS])
