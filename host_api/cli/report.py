"""The report of a run for people: rich tables of time, stalls, memory, links and source lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from rich.markup import escape
from rich.table import Table

from tensim.analysis.links import name_of
from tensim.analysis.verdict import headline
from tensim.cli.output import report_console

if TYPE_CHECKING:
    from rich.console import Console

Summary: TypeAlias = dict[str, Any]  # of a run: docs/design.md#9-machine-readable-output
LINE_COLUMNS = 66  # what the table of lines takes beside the source text
FOLDED = ("waiting for", "line", "link", "longest wait")  # columns that take several lines where the terminal is narrow
ADVICE_SHOWN = 3
CHANNELS_SHOWN = 6
LINKS_SHOWN = 12
ZONES_SHOWN = 20
SLOWER_PCT = -0.5  # gain of an experiment from which it is explained that it is none
BARS, SPARKLINE = "▁▂▃▄▅▆▇█", 16
# of the map of cores: percent at work
SHADES = ((75, "bold red"), (50, "red"), (25, "yellow"), (10, "green"), (0, "dim"))
NARROW = 70  # columns below which tables leave out what explains the rest
SLIGHT_LOAD = 0.1  # busy units of a core below which the clock stays what it is


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _lasted(summary: Summary) -> str:
    """What the run lasted, where that is not what its programs took."""
    cycles, span = summary["cycles"], summary["span_cycles"]
    if span == cycles:
        return ""
    return f", [bold]{span:,} cycles[/] = {summary['device_seconds'] * span / cycles * 1e6:,.2f} µs from start to end"


def _print_lasting(console: Console, lasting: dict[str, Any] | None) -> None:
    """What the same takes under lasting load, unless it leaves the clock as it is."""
    if lasting and lasting["load"] > SLIGHT_LOAD:
        console.print(
            f"again and again: {lasting['device_seconds'] * 1e6:,.2f} µs at the {lasting['clock_mhz']:,.0f} MHz that lasting load "
            f"leaves, and {lasting['op_gap_seconds'] * 1e6:.2f} µs from one operation to the next"
        )


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", show_edge=False, pad_edge=False)
    for column in columns:
        left = column in (
            "zone", "kernel", "thread", "core", "waiting for", "line", "link", "source", "what if", "over time",
            "longest wait",
        )  # fmt: skip
        table.add_column(column, justify="left" if left else "right", no_wrap=column not in FOLDED, overflow="fold")
    return table


def print_report(summary: Summary) -> None:
    """Print the summary of a run (`tensim.analysis.summary.collect` with the command line's additions)."""
    console = report_console()
    cycles, seconds = summary["cycles"], summary["device_seconds"]
    routers = ", flit by flit" if summary["noc_model"] == "flit" else ""
    verdict = {True: "[green]verified against numpy[/]", False: "[red]WRONG RESULT[/]", None: "not verified"}
    console.print(f"\n[bold]{summary['name']}[/]: {summary['description']}")
    console.print(
        f"{summary['arch']}, numerics {summary['numerics']}{routers}: [bold]{cycles:,} cycles[/] = "
        f"{seconds * 1e6:,.2f} µs of device time{_lasted(summary)}; {verdict[summary['verified']]}"
    )
    console.print(f"host {summary['host_seconds']:.2f} s, {summary['operations']:,} kernel operations")
    _print_lasting(console, summary.get("lasting"))
    _print_verdict(console, summary)
    if summary["flops"]:
        console.print(
            f"{summary['flops'] / seconds / 1e12:.2f} TFLOP/s, {_percent(summary['flops_utilization'])} of the LoFi peak of "
            f"the cores used; matrix unit busy {_percent(summary['fpu_utilization'])}"
        )
    narrow, waits = console.width < NARROW, []
    columns = "core", "busy", "stalled", "other", "waiting for"
    stalls = _table("Where the time goes", *columns[: 4 if narrow else None])
    for core, part in summary["breakdown"].items():
        reasons = ", ".join(f"{reason} {_percent(share)}" for reason, share in list(part["stalled"].items())[:4])
        cells = core, _percent(part["busy"]), _percent(sum(part["stalled"].values())), _percent(part["other"]), reasons
        stalls.add_row(*cells[: len(stalls.columns)])
        waits.append(f"{core} waits for {reasons or 'nothing'}")
    console.print(stalls)
    if narrow:
        console.print(*waits, sep="\n", markup=False)
    dram, noc = summary["dram"], summary["noc"]
    accesses = dram["row_hits"] + dram["row_misses"]
    console.print(
        f"[bold]DRAM[/] {dram['read_bytes'] / 1e6:,.2f} MB read, {dram['write_bytes'] / 1e6:,.2f} MB written, "
        f"{_percent(dram['utilization'])} of peak, row hits {_percent(dram['row_hits'] / accesses if accesses else 0)}"
    )
    console.print(
        f"[bold]NoC[/] {noc['bytes']['noc0'] / 1e6:,.2f} MB on NoC 0, {noc['bytes']['noc1'] / 1e6:,.2f} MB on NoC 1, "
        f"busiest link {_percent(noc['peak_link_utilization'])}, mean {_percent(noc['mean_link_utilization'])}"
    )
    _print_links(console, summary, narrow)
    _print_channels(console, summary, narrow)
    _print_fabric(console, summary)
    columns = "line", "busy", "stalled", "operations", "source"
    lines = _table("Slowest kernel lines (cycles over all cores)", *columns[: 3 if narrow else None])
    for row in summary["lines"][:10]:
        cells = (
            f"{row['file'].rsplit('/', 1)[-1]}:{row['line']}",
            f"{row['busy']:,}",
            f"{row['stalled']:,}",
            f"{row['operations']:,}",
            escape(row["source"][: max(console.width - LINE_COLUMNS, 12)]),
        )
        lines.add_row(*cells[: len(lines.columns)])
    console.print(lines)
    _print_buffers(console, summary)
    _print_zones(console, summary)
    _print_cores(console, summary)
    for warning in summary["warnings"]:
        console.print(f"[yellow]warning:[/] {escape(warning)}")
    if summary["advice"]:
        console.print("\n[bold]Worth trying[/] (tensim advise runs the program with each and says what it brings)")
    for one in summary["advice"][:ADVICE_SHOWN]:
        console.print(f"- {escape(one['title'])}")


def print_advice(summary: Summary, console: Console | None = None) -> None:
    """Print what `tensim advise` has found: the verdict, the advice with its gains, and every experiment."""
    console = console or report_console()
    console.print(
        f"\n[bold]{summary['name']}[/] on {summary['arch']}: {summary['span_cycles']:,} cycles, idle time between programs included"
    )
    _print_verdict(console, summary)
    for step in summary["verdict"]["chain"]:
        console.print(f"    {escape(step)}")
    found = (
        "[bold]What to change[/], with the time that it saves" if summary["advice"] else "Nothing helps that was tried."
    )
    console.print(f"\n{found}")
    for number, one in enumerate(summary["advice"], 1):
        gain = one["estimated_gain_pct"]
        console.print(f"{number}. [bold]{escape(one['title'])}[/]: {'not tried' if gain is None else f'-{gain:.0f} %'}")
        console.print(f"   {escape(one['text'])}")
    tried = _table("What it would take otherwise", "what if", "cycles", "time")
    for one in sorted(summary["what_if"], key=lambda item: -(item["gain_pct"] if item["error"] is None else -1000)):
        if one["error"] is None:
            tried.add_row(one["description"], f"{one['cycles']:,}", f"{-one['gain_pct']:+.1f} %")
        else:
            tried.add_row(one["description"], "-", "not possible")
    console.print(tried)
    if any(one["error"] is None and one["gain_pct"] < SLOWER_PCT for one in summary["what_if"]):
        console.print(
            "Slower although a cost is gone: that cost had kept requests apart, and without it more of them meet at one link, "
            "bank or semaphore (docs/verdicts.md)."
        )
    _print_cores(console, summary)


def _print_verdict(console: Console, summary: Summary) -> None:
    """What bounds the run, with the figures that say so."""
    verdict = summary["verdict"]
    if verdict is None:
        return
    console.print(f"[bold]{headline(verdict)}[/]: {escape(verdict['text'])}")
    for text in verdict["evidence"]:
        console.print(f"- {escape(text)}")


def _print_links(console: Console, summary: Summary, narrow: bool) -> None:
    """The busiest links: how busy over time, and what waited for them."""
    columns = "link", "busy" if narrow else "utilization", "stalls" if narrow else "stall cycles", "MB"
    table = _table("Busiest links", *columns, *(() if narrow else ("over time", "longest wait")))
    shown = {_link(one): one["busy_shares"] for one in (summary["occupancy"] or {"links": []})["links"]}
    for link in summary["noc"]["links"][:10]:
        cells = (
            _link(link), _percent(link["utilization"]), f"{link['stall_cycles']:,}", f"{link['bytes'] / 1e6:.2f}",
            _sparkline(shown.get(_link(link), [])), _longest_wait(link),
        )  # fmt: skip
        table.add_row(*cells[: len(table.columns)])
    console.print(table)


def _link(link: dict[str, Any]) -> str:
    return f"NoC {link['noc']} {link['from']} -> {link['to']} ({link['kind']})"


def _print_channels(console: Console, summary: Summary, narrow: bool) -> None:
    """The busiest DRAM channels: how busy over time, and what waited for them."""
    columns = "channel", "of peak", "MB read", "MB written"
    table = _table("Busiest DRAM channels", *columns, *(() if narrow else ("over time", "longest wait")))
    shown = {one["channel"]: one["busy_shares"] for one in (summary["occupancy"] or {"channels": []})["channels"]}
    used = [one for one in summary["dram"]["channels"] if one["utilization"]]
    for one in sorted(used, key=lambda channel: -channel["utilization"])[:CHANNELS_SHOWN]:
        cells = (
            str(one["channel"]), _percent(one["utilization"]), f"{one['read_bytes'] / 1e6:.2f}",
            f"{one['write_bytes'] / 1e6:.2f}", _sparkline(shown.get(one["channel"], [])), _longest_wait(one),
        )  # fmt: skip
        table.add_row(*cells[: len(table.columns)])
    if used:
        console.print(table)


def _print_fabric(console: Console, summary: dict[str, Any]) -> None:
    """The links of a mesh that have carried most: how full their lines, how busy their routers, how long without a slot."""
    if not summary.get("fabric"):
        return
    links = summary["fabric"]["links"]
    used = sorted((one for one in links if one["packets"]), key=lambda one: -one["line_share"])
    title = f"Links between chips ({len(used)} of {len(links)} used)"
    table = _table(title, "link", "packets", "MB", "line", "router", "no slot", "bound by")
    for one in used[:LINKS_SHOWN]:
        shares = (_percent(one[name]) for name in ("line_share", "router_share", "full_share"))
        cells = f"{one['packets']:,}", f"{one['bytes'] / 1e6:.2f}", *shares, one["bounded_by"] or "none"
        table.add_row(name_of(one), *cells)
    console.print(table)


def _longest_wait(one: dict[str, Any]) -> str:
    """The longest wait for a link or channel, and whose it was."""
    return f"{one['longest_wait_cycles']:,} of {one['longest_wait_of']}" if one["longest_wait_cycles"] else "none"


def _sparkline(shares: Sequence[float]) -> str:
    """Shares of windows as bars of one character, at most `SPARKLINE` of them."""
    joined = -(-len(shares) // SPARKLINE)
    means = [shares[i : i + joined] for i in range(0, len(shares), joined or 1)]
    return "".join(BARS[min(int(sum(part) / len(part) * len(BARS)), len(BARS) - 1)] for part in means)


def _print_buffers(console: Console, summary: Summary) -> None:
    """A line per circular buffer: how full it was, and who waited for it."""
    if not summary["circular_buffers"]:
        return
    title = "Circular buffers (longest launch of each program)"
    table = _table(title, "CB", "pages", "fill", "empty", "full", "producer waits", "consumer waits")
    for one in summary["circular_buffers"]:
        waits = one["producer_wait_share"], one["consumer_wait_share"]
        shares = one["mean_fill"], one["fill_shares"][0], one["fill_shares"][-1], *waits
        table.add_row(str(one["index"]), str(one["pages"]), *map(_percent, shares))
    console.print(table)


def _print_zones(console: Console, summary: Summary) -> None:
    """A line per profiler zone, where they were asked for (`--zones`): the ones that took most first."""
    if "zones" not in summary:
        return
    if not summary["zones"]:
        console.print("No profiler zone (DeviceZoneScopedN) has ended.")
        return
    table = _table(
        "Profiler zones (cycles over all cores)", "zone", "kernel", "thread", "count", "cycles", "shortest", "longest"
    )
    for one in sorted(summary["zones"], key=lambda zone: -zone["cycles"])[:ZONES_SHOWN]:
        figures = one["count"], one["cycles"], one["shortest_cycles"], one["longest_cycles"]
        table.add_row(*map(escape, (one["zone"], one["kernel"], one["thread"])), *(f"{figure:,}" for figure in figures))
    console.print(table)
    if len(summary["zones"]) > ZONES_SHOWN:
        console.print(f"and {len(summary['zones']) - ZONES_SHOWN} more (--json has all)")


def _print_cores(console: Console, summary: Summary) -> None:
    """A map of the worker grid: percent of the time for which each core's busiest thread is at work."""
    cores = summary["cores"]
    if cores is None:
        return
    console.print(
        f"[bold]Cores[/] {cores['used']} of {cores['available']} used; at work {_percent(cores['least_work_share'])} to "
        f"{_percent(cores['most_work_share'])} of the time, done after {_percent(cores['least_active_share'])} or later; last is "
        f"{cores['slowest_core']}"
    )
    places = {tuple(map(int, row["core"][1:-1].split(","))): row for row in cores["rows"]}
    for y in range(1 + max(y for _, y in places)):
        line = [_cell(places[x, y]) for x in range(1 + max(x for x, _ in places))]
        console.print("  " + "".join(line))


def _cell(row: dict[str, Any]) -> str:
    """A core of the map, three columns wide, the more intense the more it is at work."""
    if row["active_share"] == 0:
        return "[dim]  ·[/]"
    share = round(100 * row["work_share"])
    shade = next(style for limit, style in SHADES if share >= limit)
    return f"[{shade}]{min(share, 99):3}[/]"
