"""`python -m validation FOLDER`: all validations over a folder of measurements; `--quick`: over the committed sample.

make validate DATA=FOLDER and make validate-quick run this.
"""

import os

import click
from rich.console import Console
from rich.table import Table

from host_api.command_line import TO_STDOUT, Commands, json_option, progress_bar, require_folder, write_json
from sim.errors import UsageError
from validation.baseline import MARGIN, SAMPLE, regressions, write_baseline
from validation.everything import run_folder
from validation.sample_rows import write_sample


@click.group(cls=Commands, invoke_without_command=False)
def main():
    """All validations at once."""


@main.command(name="run")
@click.argument("folder", required=False)
@click.option("--quick", is_flag=True, help="The committed sample, compared with the committed baseline.")
@click.option("--update-baseline", is_flag=True, help="With --quick: commit to the figures of this run.")
@click.option("--plots", type=click.Path(file_okay=False, exists=True), help="Write a picture per kind into a folder.")
@click.option("--jobs", type=click.IntRange(1), default=os.cpu_count, show_default="all cores", help="Processes.")
@click.option("--fresh", is_flag=True, help="Do not use results of an earlier run of the same code.")
@json_option
def run_command(folder, quick, update_baseline, plots, jobs, fresh, json_to):
    """Simulate all rows of the files below FOLDER and print one line per kind and chip."""
    require_folder(json_to)
    if bool(folder) == quick:
        raise UsageError("give a folder of measurements, or --quick", hint="make validate DATA=folder")
    if update_baseline and not quick:
        raise UsageError("--update-baseline goes with --quick")
    with progress_bar() as on_progress:
        result = run_folder(SAMPLE if quick else folder, jobs, on_progress, plots, keep=not fresh)
    if update_baseline:
        write_baseline(result["lines"])
    worse = regressions(result["lines"]) if quick else []
    if json_to:
        lines = [line.as_json() for line in result["lines"]]
        write_json({**result, "lines": lines, "regressions": worse}, json_to)
    if json_to != TO_STDOUT:
        print_lines(result)
    for text in worse:
        click.echo(f"worse than the baseline by over {MARGIN} points: {text}", err=True)
    if worse:
        raise click.exceptions.Exit(1)


@main.command(name="sample")
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
def sample_command(folder):
    """Draw the sample of --quick anew from the files below FOLDER."""
    click.echo(f"{write_sample(folder, SAMPLE)} rows in {SAMPLE}")


def print_lines(result):
    """The summary table."""
    table = Table(title="simulated against measured, |error| in %")
    for name in ("kind", "chip"):
        table.add_column(name)
    for name in ("n", "skipped", "median", "p90", "worst", "bias", "goal", "holds"):
        table.add_column(name, justify="right")
    for line in result["lines"]:
        figures = (line.median, line.p90, line.worst, line.bias)
        cells = ("-" if value is None else f"{value:.1f}" for value in figures)
        goal = "-" if line.goal is None else f"{line.goal:g}"
        holds = {None: "-", True: "yes", False: "NO"}[line.holds]
        table.add_row(line.kind, line.chip, str(line.n), str(line.skipped), *cells, goal, holds)
    Console(width=120).print(table)
    for kind, rho in result["rank_correlation"].items():
        click.echo(f"rank correlation {kind}: {rho:.4f}")
    for path in result["unknown_files"]:
        click.echo(f"no validation reads {path}")
    click.echo(f"{result['host_seconds']:.0f} s")


if __name__ == "__main__":
    main()
