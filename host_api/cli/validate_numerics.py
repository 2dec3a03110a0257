"""What `tensim validate numerics DIR...` prints: per operation, formats and fidelity, how many datums differ."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from tensim.cli.output import TO_STDOUT, print_skipped, progress_bar, report_console, write_json
from tensim.sim.errors import TensimError, UsageError
from tensim.validation.numerics.rows import validate_folder


def report(folders: Iterable[str], group_by: str | None, plot: str | None, json_to: str | None) -> None:
    """Run the cases of all folders; UsageError for options that mean nothing here."""
    if group_by or plot:
        raise UsageError("validate numerics takes neither --group-by nor --plot: cases are equal or not")
    total = {"n": 0, "failed": 0, "skipped": [], "failures": [], "rows": [], "host_seconds": 0.0}
    with progress_bar() as on_progress:
        for folder in folders:
            result = validate_folder(folder, lambda share, f=folder: on_progress(f"validate numerics {f}: {share:.0%}"))
            total = {key: total[key] + result[key] for key in total}
    if json_to:
        write_json(total, json_to)
    if json_to != TO_STDOUT:
        print_table(total)
    if not total["n"]:
        raise TensimError("no case could be compared", kind="nothing_compared")


def print_table(result: dict[str, Any]) -> None:
    """Groups with differences first."""
    from rich.table import Table

    groups = {}
    for row in result["rows"]:
        sums = groups.setdefault(row["group"], [0, 0, 0, 0])
        for i, value in enumerate((1, row["mismatching"] > 0, row["mismatching"], row["total"])):
            sums[i] += value
    table = Table(title="golden cases: datums that differ")
    table.add_column("operation, formats, Dst, fidelity")
    for name in ("cases", "failed", "differing", "datums"):
        table.add_column(name, justify="right")
    for name, sums in sorted(groups.items(), key=lambda item: (-item[1][2], item[0])):
        table.add_row(name, *(f"{value:,}" for value in sums))
    report_console().print(table)
    for row in result["rows"]:
        if row["mismatching"]:
            click.echo(f"differs: {row['name']}: {row['mismatching']} of {row['total']} datums")
    for entry in result["failures"]:
        click.echo(f"failed {entry['id']}: {entry['why']}", err=True)
    print_skipped(result["skipped"])
    click.echo(f"{result['n']} cases, {result['failed']} failed, in {result['host_seconds']:.1f} s")
