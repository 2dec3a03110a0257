"""`tensim validate KIND FILE...`: published measurements against simulation."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable, Sequence
from types import ModuleType
from typing import Any

import click

from tensim.cli.options import COMPUTE_LEVELS, json_option, noc_option
from tensim.cli.output import (
    PLOTS,
    TO_STDOUT,
    print_error,
    print_skipped,
    progress_bar,
    report_console,
    require_writable,
    write_json,
)
from tensim.sim.errors import TensimError, UsageError
from tensim.validation import KINDS


@click.command()
@click.argument("kind", type=click.Choice(sorted(KINDS)))
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True))
@click.option("--group-by", metavar="COLUMN[,COLUMN]", help="Group by these columns instead of the kind's own groups.")
@click.option("--metric", help="What to compare, for rows with several measurements (gemm: device, host).")
@click.option("--plot", type=click.Path(dir_okay=False), help="Plot measured against simulated values, and the errors.")
@click.option("--jobs", type=click.IntRange(1), default=os.cpu_count, show_default="all cores", help="Processes.")
@noc_option
@click.option(
    "--compute",
    default=COMPUTE_LEVELS[0],
    show_default=True,
    type=click.Choice(COMPUTE_LEVELS),
    help="Compute kernels as operations of the compute API, or built against the vendor's LLK and executed instruction by "
    "instruction (validate compute).",
)
@click.option("--fresh", is_flag=True, help="Ignore cached results of earlier runs of the same code.")
@json_option
def validate(
    kind: str,
    files: tuple[str, ...],
    group_by: str | None,
    metric: str | None,
    plot: str | None,
    jobs: int,
    noc_model: str,
    compute: str,
    fresh: bool,
    json_to: str | None,
) -> None:
    """Re-create measured rows of FILES as programs, simulate them and compare; KIND is what was measured.

    docs/validation/ says how the rows of each KIND become programs.  For numerics, FILES are folders of golden cases (index.json
    and arrays), and datums are compared bit by bit.
    """
    from tensim.validation.figures import add_rank_correlation, summary
    from tensim.validation.rows import read_rows
    from tensim.validation.runner import run_selection, select

    require_writable(json_to)
    require_writable(plot, PLOTS)
    module = None if kind == "numerics" else importlib.import_module(f"tensim.validation.{kind}.rows")
    read = reader_of(kind, module, metric)
    if noc_model != "packet" and kind != "noc":
        raise UsageError(
            f"--noc {noc_model}: validate {kind} has the packet model only", hint="validate noc supports both"
        )
    if compute != COMPUTE_LEVELS[0] and kind != "compute":
        raise UsageError(
            f"--compute {compute}: validate {kind} has one level only", hint="validate compute supports both"
        )
    if kind == "numerics":
        from tensim.cli.validate_numerics import report

        return report(files, group_by, plot, json_to)
    assert module is not None  # of every other kind
    getattr(module, "require", lambda: None)()
    tables, broken = [], []
    for path in files:
        try:
            tables.append(read_rows(path, module.COLUMNS))
        except UsageError as error:
            broken.append(error)
    columns = check_columns(group_by, tables)
    options = {"noc": noc_model} if kind == "noc" else module.at_level(compute) if kind == "compute" else {}
    selection = select(kind, module, tables, read, options)
    with progress_bar() as on_progress:
        rows, skipped, failures, seconds = run_selection(
            selection, jobs, lambda share, name: on_progress(f"validate {name}: {share:.0%}"), not fresh
        )
    bad = selection.bad
    group_of = None if columns is None else lambda row: "/".join(row["columns"][name] for name in columns)
    result = summary(rows, skipped + bad, failures, seconds, group_of)
    if kind == "noc":
        result["noc_model"] = noc_model
    if kind == "compute":
        result["compute_level"] = compute
    if hasattr(module, "structure"):
        mark_structure(result, module.structure, group_of or (lambda row: row["group"]))
    if hasattr(module, "pairs"):
        result["pairs"] = module.pairs(rows)
    if hasattr(module, "networks"):
        result["networks"] = module.networks(rows)
    if getattr(module, "RANKED", False):
        add_rank_correlation(result, group_of)
    if plot:
        from tensim.validation.plots import plot_rows

        plot_rows(rows, plot, f"validate {kind}")
    for row in rows:
        del row["columns"]
    if json_to:
        write_json(result, json_to)
    if json_to != TO_STDOUT and (rows or skipped or failures):
        print_summary(kind, result, skipped)
    for one in broken:
        print_error(one)
    for row in bad:
        print_error(f"{row['id']}: {row['why']}")
    if broken or bad:  # the results stand; an error object would take their place
        click.echo(f"{result['n']} rows compared; not read: {len(broken)} files, {len(bad)} rows", err=True)
        raise click.exceptions.Exit(UsageError.exit_code)
    if not result["n"]:
        raise TensimError("no row could be compared", kind="nothing_compared")


def mark_structure(
    result: dict[str, Any], structure: Callable[[dict[str, Any]], str], group_of: Callable[[dict[str, Any]], str]
) -> None:
    """Say of each row, and of each group, whether its programs are the measured ones or re-creations: "structure"."""
    kinds = {}
    for row in result["rows"]:
        row["structure"] = structure(row)
        kinds.setdefault(group_of(row), set()).add(row["structure"])
    for name, found in kinds.items():
        result["groups"][name]["structure"] = found.pop() if len(found) == 1 else "mixed"


def reader_of(kind: str, module: ModuleType | None, metric: str | None) -> Any:
    """How the rows are read for --metric; None: the kind's own way.  UsageError for a metric that the kind has not."""
    if metric is None:
        return None
    metrics = getattr(module, "METRICS", None)
    if metrics is None:
        raise UsageError(f"--metric {metric}: rows of {kind} have one measurement", hint="leave --metric out")
    if metric not in metrics:
        raise UsageError(f"--metric {metric}: no such measurement in {kind}", hint=", ".join(metrics))
    return metrics[metric]


def check_columns(group_by: str | None, tables: Iterable[tuple[Sequence[Any], Any]]) -> list[str] | None:
    """The columns of --group-by; UsageError for one that a file has not."""
    if group_by is None:
        return None
    names = [name.strip() for name in group_by.split(",")]
    for rows, _ in tables:
        for name in names:
            if rows and name not in rows[0].columns:
                raise UsageError(f"--group-by {name}: no such column", hint=", ".join(rows[0].columns))
    return names


def print_summary(kind: str, result: dict[str, Any], skipped: Sequence[dict[str, Any]]) -> None:
    """The groups, the bad ones first, then all rows."""
    from rich.table import Table

    table = Table(title=f"{KINDS[kind]}: simulated against measured, |error| in %")
    table.add_column("group")
    table.add_column("rows")
    ranked = "rank_correlation" in result
    for name in ("n", "median", "p90", "worst", "bias", *["rank corr."] * ranked):
        table.add_column(name, justify="right")
    apart = [("all", part | {"evidence": kind}) for kind, part in result["by_evidence"].items()]
    named = [*result["groups"].items(), *apart, ("all", result)]
    named = [pair for name, one in named for pair in ((name, one), (f"{name}, C++", one.get("cpp", {})))]
    for name, figures in named:
        if "median_abs_err_pct" not in figures:
            continue
        cells = (figures[f"{key}_pct"] for key in ("median_abs_err", "p90_abs_err", "max_abs_err", "bias"))
        rank = figures.get("rank_correlation")
        ranks = ["-" if rank is None else f"{rank:.4f}"] * ranked
        guessed = " (structure guessed)" if figures.get("structure") == "guessed" else ""
        table.add_row(
            name + guessed, figures.get("evidence", ""), str(figures["n"]), *(f"{value:.1f}" for value in cells), *ranks
        )
    if table.row_count:
        report_console().print(table)
    if result.get("families", 0) > 1:
        for kind, part in [*result["by_evidence"].items(), ("all", result)]:
            if "family_median_abs_err_pct" in part:
                click.echo(
                    f"median of the medians of {part['families']} families, {kind} rows: "
                    f"{part['family_median_abs_err_pct']:.1f} %"
                )
    if result.get("pairs", {}).get("n"):
        print_pairs(result["pairs"])
    for name, sums in result.get("networks", {}).items():
        for part, of in ((sums, ""), (sums["another_release"], " of another release")):
            if part["rows"]:
                click.echo(
                    f"{name}: {part['rows']} operations{of}, {part['calls']} calls: {part['simulated_ns'] / 1e6:.3f} ms, "
                    f"{part['measured_ns'] / 1e6:.3f} on silicon ({part['err_pct']:+.1f} %)"
                )
    for item in result["failures"]:
        click.echo(f"failed {item['id']}: {item['why']}", err=True)
    print_skipped(skipped)
    click.echo(f"{result['n']} rows in {result['host_seconds']:.1f} s")
    unmeasured = sum(row["measured"] is None for row in result["rows"])
    if unmeasured:
        click.echo(f"{unmeasured} of them have no measured value (--json lists what is simulated)")


def print_pairs(pairs: dict[str, Any]) -> None:
    """How often simulation orders two designs as silicon does, the bad groups first."""
    from rich.table import Table

    table = Table(title="Designs that differ on silicon by over 5 %, pair by pair: ordered the same way")
    for name in ("group", "pairs", "alike", "%"):
        table.add_column(name, justify="left" if name == "group" else "right")
    by_share = sorted(pairs["by_group"].items(), key=lambda item: (item[1]["agree"] / item[1]["n"], item[0]))
    for name, count in [*by_share, ("all", pairs)]:
        table.add_row(name, str(count["n"]), str(count["agree"]), f"{100 * count['agree'] / count['n']:.0f}")
    report_console().print(table)
