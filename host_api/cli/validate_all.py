"""`python -m tensim.validation run FOLDER...`: all validations over folders of measurements; `--quick`: over the committed sample.

make validate DATA=FOLDER and make validate-quick run this.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.table import Table

from tensim.cli.groups import Commands
from tensim.cli.options import json_option
from tensim.cli.output import TO_STDOUT, progress_bar, require_writable, write_json
from tensim.sim.errors import UsageError
from tensim.validation.baseline import MARGIN, SAMPLE, figures_of, regressions, write_baseline
from tensim.validation.everything import run_folders
from tensim.validation.figures import kept_gaps_in_words
from tensim.validation.goals import AT_LEAST
from tensim.validation.sample_rows import write_sample

if TYPE_CHECKING:
    from tensim.validation.goals import Verdict


@click.group(cls=Commands, invoke_without_command=False)
def main() -> None:
    """All validations at once."""


@main.command(name="run")
@click.argument("folders", nargs=-1)
@click.option("--quick", is_flag=True, help="The committed sample, compared with the committed baseline.")
@click.option("--update-baseline", is_flag=True, help="With --quick: commit to the figures of this run.")
@click.option("--because", metavar="TEXT", help="With --update-baseline: why medians rose.")
@click.option("--plots", type=click.Path(file_okay=False, exists=True), help="Write a plot per kind into a folder.")
@click.option("--jobs", type=click.IntRange(1), default=os.cpu_count, show_default="all cores", help="Processes.")
@click.option("--fresh", is_flag=True, help="Ignore cached results of earlier runs of the same code.")
@json_option
def run_command(
    folders: tuple[str, ...],
    quick: bool,
    update_baseline: bool,
    because: str | None,
    plots: str | None,
    jobs: int,
    fresh: bool,
    json_to: str | None,
) -> None:
    """Simulate all rows of the files below FOLDERS (tables, golden cases, NoC recordings), compare, judge by the goals."""
    require_writable(json_to)
    if bool(folders) == quick:
        raise UsageError("give a folder of measurements, or --quick", hint="make validate DATA=folder")
    if update_baseline and not quick:
        raise UsageError("--update-baseline goes with --quick")
    if because and not update_baseline:
        raise UsageError("--because goes with --update-baseline")
    with progress_bar() as on_progress:
        result = run_folders([SAMPLE] if quick else folders, jobs, on_progress, plots, keep=not fresh, everywhere=quick)
    if update_baseline:
        write_baseline(figures_of(result["rows"]), because)
    worse = regressions(figures_of(result["rows"])) if quick else []
    if json_to:
        plain = {key: [item.as_json() for item in result[key]] for key in ("lines", "verdicts")}
        write_json({**result, **plain, "regressions": worse}, json_to)
    if json_to != TO_STDOUT:
        print_lines(result)
        print_evidence(result["by_evidence"])
        if not quick:  # a sample of a few rows says nothing about the goals
            print_verdicts(result["verdicts"])
        click.echo(f"{result['host_seconds']:.0f} s")
    for kind, rows in result["failures"].items():
        for row in rows:
            click.echo(f"{kind}: {row['id']}: its simulation failed: {row['why']}", err=True)
    for text in worse:
        click.echo(f"worse than the baseline by over {MARGIN} points: {text}", err=True)
    if worse:
        raise click.exceptions.Exit(1)


@main.command(name="sample")
@click.argument("folders", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False))
def sample_command(folders: tuple[str, ...]) -> None:
    """Draw the sample of --quick anew from the files below FOLDERS."""
    click.echo(f"{write_sample(folders, SAMPLE)} rows in {SAMPLE}")


@main.command(name="costs")
@click.option("--jobs", type=click.IntRange(1), default=os.cpu_count, show_default="all cores", help="Processes.")
def costs_command(jobs: int) -> None:
    """Write what the vector unit's functions cost, by the vendor's LLK on the instruction level: the operation level's table."""
    from tensim.validation.instruction import vector_costs

    vector_costs.require()
    with progress_bar() as on_progress:
        found = vector_costs.measure(
            vector_costs.functions(), jobs, lambda done, of: on_progress(f"kernels: {done} of {of}")
        )
    click.echo(f"{vector_costs.write(found)} functions in {vector_costs.TABLE}")


def print_lines(result: dict[str, Any]) -> None:
    """The summary table."""
    table = Table(title="simulated against measured, |error| in %")
    for name in ("kind", "chip"):
        table.add_column(name)
    for name in ("n", "skipped", "failed", "median", "p90", "worst", "bias"):
        table.add_column(name, justify="right")
    for line in result["lines"]:
        figures = (line.median, line.p90, line.worst, line.bias)
        cells = ("-" if value is None else f"{value:.1f}" for value in figures)
        table.add_row(line.name, line.chip, str(line.n), str(line.skipped), str(line.failed), *cells)
    Console(width=120).print(table)
    for name, figures in result["kept_gaps"].items():
        click.echo(f"{name}: {kept_gaps_in_words(figures)}")
    for path in result["unknown_files"]:
        click.echo(f"no validation reads {path}")
    if result["unknown_files"]:
        click.echo(f"{result['unknown_rows']:,} rows in these {len(result['unknown_files'])} files")


def print_evidence(lines: Iterable[dict[str, Any]]) -> None:
    """The same apart by what the rows are worth: those that chose parameters beside those that no parameter has seen."""
    table = Table(title="by the use of the rows; family: median of the families' medians")
    for name in ("kind", "chip", "rows"):
        table.add_column(name)
    for name in ("n", "median", "p90", "bias", "families", "family"):
        table.add_column(name, justify="right")
    for line in lines:
        keys = ("median_abs_err_pct", "p90_abs_err_pct", "bias_pct")
        cells = ("-" if line.get(key) is None else f"{line[key]:.1f}" for key in keys)
        family = line.get("family_median_abs_err_pct")
        last = str(line["families"]), "-" if family is None else f"{family:.1f}"
        table.add_row(line["name"], line["chip"], line["evidence"], str(line["n"]), *cells, *last)
    Console(width=120).print(table)


def print_verdicts(verdicts: Iterable[Verdict]) -> None:
    """What must be reached, and whether it is."""
    table = Table(title="goals")
    for name in ("kind", "chip", "figure", "of the groups", "of the rows"):
        table.add_column(name)
    for name in ("value", "goal", "holds"):
        table.add_column(name, justify="right")
    for verdict in verdicts:
        goal = verdict.goal
        limit = f"{'>=' if goal.figure in AT_LEAST else '<='} {goal.limit:g}"
        value = (
            "no rows" if verdict.value is None else f"{verdict.value:.{3 if goal.figure == 'rank correlation' else 1}f}"
        )
        table.add_row(
            verdict.name,
            verdict.chip,
            goal.figure,
            goal.groups or "all",
            goal.rows or "all",
            value,
            limit,
            "yes" if verdict.holds else "NO",
        )
    Console(width=120).print(table)
