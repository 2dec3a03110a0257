"""`tensim validate KIND FILE...`: published measurements against simulation."""

import importlib
import os

import click
from rich.console import Console
from rich.table import Table

from host_api.command_line import TO_STDOUT, err, json_option, main, progress_bar, require_folder, write_json
from sim.errors import TensimError, UsageError

KINDS = {
    "noc": "NoC latencies",
    "dram": "DRAM channels and congestion",
    "issue": "RISC-V and instruction issue",
    "numerics": "golden cases",
    "compute": "compute time",
    "kernels": "small kernels",
    "streaming": "streaming by size",
    "dispatch": "dispatch and host transfers",
}
SHOWN_SKIPS = 10


@main.command(name="validate")
@click.argument("kind", type=click.Choice(sorted(KINDS)))
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True))
@click.option("--group-by", metavar="COLUMN[,COLUMN]", help="Group by these columns instead of the kind's own groups.")
@click.option("--plot", type=click.Path(dir_okay=False), help="Write a picture: measured against simulated, errors.")
@click.option("--jobs", type=click.IntRange(1), default=os.cpu_count, show_default="all cores", help="Processes.")
@click.option("--fresh", is_flag=True, help="Do not use results of an earlier run of the same code.")
@json_option
def validate_command(kind, files, group_by, plot, jobs, fresh, json_to):
    """Re-create measured rows of FILES as programs, simulate them and compare; KIND: see --help.

    For numerics, FILES are folders of golden cases (index.json and arrays), and datums are compared bit by bit.
    """
    from validation.figures import add_rank_correlation, summary
    from validation.rows import read_rows
    from validation.runner import validate

    require_folder(json_to)
    require_folder(plot)
    if kind == "numerics":
        from validation.numerics_report import report

        return report(files, group_by, plot, json_to)
    module = importlib.import_module(f"validation.{kind}")
    tables, broken = [], []
    for path in files:
        try:
            tables.append(read_rows(path, module.COLUMNS))
        except UsageError as error:
            broken.append(error)
    columns = check_columns(group_by, tables)
    with progress_bar() as on_progress:
        rows, skipped, bad, seconds = validate(
            kind, module, tables, jobs, lambda share: on_progress(f"validate {kind}: {share:.0%}"), keep=not fresh
        )
    group_of = None if columns is None else lambda row: "/".join(row["columns"][name] for name in columns)
    result = summary(rows, skipped + bad, seconds, group_of)
    if getattr(module, "RANKED", False):
        add_rank_correlation(result, group_of)
    if plot:
        from validation.plots import plot_rows

        plot_rows(rows, plot, f"validate {kind}")
    for row in rows:
        del row["columns"]
    if json_to:
        write_json(result, json_to)
    if json_to != TO_STDOUT:
        print_summary(kind, result)
    for error in broken:
        err.print(f"[red]error:[/] {error}", highlight=False, soft_wrap=True)
    for row in bad:
        err.print(f"[red]error:[/] {row['id']}: {row['why']}", highlight=False, soft_wrap=True)
    if broken or bad:  # the results stand; an error object would take their place
        err.print(f"[red]error:[/] {len(broken)} files and {len(bad)} rows could not be read; the others were compared")
        raise click.exceptions.Exit(UsageError.exit_code)


def check_columns(group_by, tables):
    """The columns of --group-by; UsageError for one that a file has not."""
    if group_by is None:
        return None
    names = [name.strip() for name in group_by.split(",")]
    for rows, _ in tables:
        for name in names:
            if rows and name not in rows[0].columns:
                raise UsageError(f"--group-by {name}: no such column", hint=", ".join(rows[0].columns))
    return names


def print_summary(kind, result):
    """The groups, the bad ones first, then all rows."""
    table = Table(title=f"{KINDS[kind]}: simulated against measured, |error| in %")
    table.add_column("group")
    ranked = "rank_correlation" in result
    for name in ("n", "median", "p90", "worst", "bias", *["rank corr."] * ranked):
        table.add_column(name, justify="right")
    for name, figures in [*result["groups"].items(), ("all", result)]:
        if not figures["n"]:
            continue
        cells = (figures[f"{key}_pct"] for key in ("median_abs_err", "p90_abs_err", "max_abs_err", "bias"))
        rank = figures.get("rank_correlation")
        ranks = ["-" if rank is None else f"{rank:.4f}"] * ranked
        table.add_row(name, str(figures["n"]), *(f"{value:.1f}" for value in cells), *ranks)
    Console(file=click.get_text_stream("stdout")).print(table)
    for one in result["skipped"][:SHOWN_SKIPS]:
        click.echo(f"skipped {one['id']}: {one['why']}")
    if len(result["skipped"]) > SHOWN_SKIPS:
        click.echo(f"... and {len(result['skipped']) - SHOWN_SKIPS} more skipped (--json lists them)")
    click.echo(f"{result['n']} rows in {result['host_seconds']:.1f} s")
    if not result["n"]:
        raise TensimError("no row could be compared", kind="nothing_compared")
