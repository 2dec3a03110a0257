"""The report of a run for people: rich tables of time, stalls, memory, links and source lines."""

from rich.console import Console
from rich.markup import escape
from rich.table import Table

LINE_COLUMNS = 66  # what the table of lines takes beside the source text
FOLDED = ("waiting for", "line", "link")  # columns that take several lines where the terminal is narrow
NARROW = 70  # columns below which tables leave out what explains the rest


def _percent(share):
    return f"{100 * share:.1f} %"


def _table(title, *columns):
    table = Table(title=title, title_justify="left", title_style="bold", show_edge=False, pad_edge=False)
    for column in columns:
        left = column in ("core", "waiting for", "line", "link", "source")
        table.add_column(column, justify="left" if left else "right", no_wrap=column not in FOLDED, overflow="fold")
    return table


def print_report(summary, console=None):
    """Print the summary of a run (`tensim.sim.chip.statistics.collect` with the command line's additions)."""
    console = console or Console()
    cycles, seconds = summary["cycles"], summary["device_seconds"]
    routers = ", flit by flit" if summary["noc_model"] == "flit" else ""
    verdict = {True: "[green]verified against numpy[/]", False: "[red]WRONG RESULT[/]", None: "not verified"}
    console.print(f"\n[bold]{summary['name']}[/]: {summary['description']}")
    console.print(
        f"{summary['arch']}, numerics {summary['numerics']}{routers}: [bold]{cycles:,} cycles[/] = "
        f"{seconds * 1e6:,.2f} µs of device time; {verdict[summary['verified']]}"
    )
    console.print(
        f"host {summary['host_seconds']:.2f} s, {summary['operations']:,} kernel operations; bounded by "
        f"[bold]{summary['bounded_by']}[/]"
    )
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
    links = _table(
        "Busiest links", "link", "busy" if narrow else "utilization", "stalls" if narrow else "stall cycles", "MB"
    )
    for link in noc["links"][:10]:
        links.add_row(
            f"NoC {link['noc']} {link['from']} -> {link['to']} ({link['kind']})",
            _percent(link["utilization"]),
            f"{link['stall_cycles']:,}",
            f"{link['bytes'] / 1e6:.2f}",
        )
    console.print(links)
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
    for warning in summary["warnings"]:
        console.print(f"[yellow]warning:[/] {escape(warning)}")
