"""`tensim survey`: what becomes of a folder of the vendor's tests: of its library, or of its LLK suite."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tensim.cli.options import CYCLES, arch_option, json_option, overrides_option
from tensim.cli.output import TO_STDOUT, progress_bar, require_writable, write_json
from tensim.sim.errors import UsageError
from tensim.sim.host.wiring import BOARDS

if TYPE_CHECKING:
    from tensim.library.survey import Survey

SHOWN = 40  # tests and reasons of the printed report


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False))
@click.option("--python", metavar="PATH", help="An interpreter that has ttnn and pytest.")
@arch_option
@click.option(
    "--numerics",
    type=click.Choice(["exact", "fast"]),
    help="The chip's bits or not.  [default: fast for the library, exact for the LLK suite]",
)
@overrides_option
@click.option(
    "--mesh", type=click.Choice(list(BOARDS)), help="The chips of a board, each test a device of all or some of them."
)
@click.option("--check", is_flag=True, help="Look for mistakes of kernels (docs/checks.md).")
@click.option("--max-cycles", type=CYCLES, help="Stop a test with an error after this many simulated cycles.")
@click.option(
    "--limit", default=10, show_default=True, type=click.IntRange(1), help="Parametrisations of each test function."
)
@click.option("--seconds", default=300.0, show_default=True, type=click.FloatRange(min=1), help="What a test may take.")
@click.option(
    "--perf", is_flag=True, help="Of the LLK suite: the tests that measure (perf_*.py), not those of results."
)
@click.option(
    "--measured", type=click.Path(exists=True, dir_okay=False), multiple=True, metavar="CSV",
    help="Of the LLK suite: the performance tests that these measured rows are of, and how far their cycles are off.",
)  # fmt: skip
@click.option(
    "--keep", type=click.Path(dir_okay=False), metavar="FILE", help="Keep each result; go on from those there."
)
@click.option(
    "--baseline", type=click.Path(exists=True, dir_okay=False), metavar="FILE",
    help="The JSON of an earlier survey: list what changed, and fail if a test does not pass any more.",
)  # fmt: skip
@json_option
def survey(
    folder: str,
    python: str | None,
    arch: str,
    numerics: str | None,
    overrides: tuple[str, ...],
    mesh: str | None,
    check: bool,
    max_cycles: int | None,
    limit: int,
    seconds: float,
    perf: bool,
    measured: tuple[str, ...],
    keep: str | None,
    baseline: str | None,
    json_to: str | None,
) -> None:
    """Run a selection of the pytest files below FOLDER with the vendor's library: how many pass, family by family.

    Where FOLDER holds the vendor's LLK test suite (tt-llk/tests/python_tests of an installed ttnn), its tests drive a chip register
    by register (docs/device.md); --python then names an interpreter that has tt-exalens.
    """
    from tensim.drop_in import measured as measurements
    from tensim.drop_in.suite import is_suite
    from tensim.library import survey as surveys
    from tensim.library.outcomes import compared, tables
    from tensim.sim.arch import load_arch

    require_writable(json_to)
    require_writable(keep)
    before = _tests_of(baseline) if baseline else None
    points = measurements.points_of(measured, load_arch(arch).name)
    numerics = numerics or ("exact" if is_suite(folder) else "fast")
    options = ["--arch", arch, "--numerics", numerics, *(word for pair in overrides for word in ("--set", pair))]
    if mesh is not None and check:
        raise UsageError("--check looks at one chip: --mesh does not go with it")
    if mesh is not None and arch != BOARDS[mesh].arch:
        raise UsageError(f"--mesh {mesh} is of {BOARDS[mesh].arch} chips: --arch {arch} does not go with it")
    if is_suite(folder):
        if check or max_cycles or mesh:
            raise UsageError("--check, --max-cycles and --mesh are for tests of the library, not of the LLK suite")
        plan = _suite(folder, python, arch, options, limit, seconds, perf or bool(measured))
        if measured:
            plan = measurements.selected(plan, points)
    else:
        if perf or measured:
            raise UsageError("--perf is for the LLK suite, as --measured is")
        options += ["--check"] if check else []
        options += ["--max-cycles", str(max_cycles)] if max_cycles else []
        options += ["--mesh", mesh] if mesh else []
        shape = BOARDS[mesh].shape if mesh else (1, 1)
        plan = surveys.survey_of(folder, python, options, limit, seconds, shape)
    results = surveys.Results(plan, keep)
    with progress_bar() as on_progress:
        surveys.run(plan, results, on_progress)
    tests = list(results.tests.values())
    result = {"survey": plan.settings(), **tables(tests), "tests": tests}
    if before is not None:
        result |= compared(tests, before)
    if measured:
        result |= _errors(measurements.compared(points, tests))
    if json_to:
        write_json(result, json_to)
    if json_to != TO_STDOUT:
        _print(result)
    if result.get("worse"):
        raise click.exceptions.Exit(1)


def _suite(
    folder: str, python: str | None, arch: str, options: Iterable[str], limit: int, seconds: float, perf: bool
) -> Survey:
    """The `Survey` of the LLK suite."""
    from tensim.drop_in.suite import WITHOUT_ASSERTS, build_apart, prepared
    from tensim.library.survey import Survey, require_package

    python = python or "python3"
    require_package(python, "ttexalens")
    patterns, copy = ("perf_*.py",) if perf else ("test_*.py",), prepared(folder)
    if perf:
        os.environ.setdefault(WITHOUT_ASSERTS, "1")
    build_apart(copy, arch)
    return Survey(copy, python, None, tuple(options), limit, seconds, patterns)


def _errors(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """{"measured": rows, "groups": {group: figures of its errors}}, the worst first; rows without a test count in none."""
    from tensim.validation.figures import distribution

    groups: dict[str, list[float]] = {}
    for row in rows:
        if row["err_pct"] is not None:
            groups.setdefault(row["group"], []).append(row["err_pct"])
    figures = {group: distribution(errors) for group, errors in groups.items()}
    return {"measured": rows, "groups": dict(sorted(figures.items(), key=lambda item: -item[1]["median_abs_err_pct"]))}


def _tests_of(path: str) -> list[dict[str, str]]:
    try:
        return [
            {"test": test["test"], "outcome": test["outcome"]} for test in json.loads(Path(path).read_text())["tests"]
        ]
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path} is not the JSON of a survey") from error


def _print(result: dict[str, Any]) -> None:
    width = max(len(name) for name in (*result["families"], "family", "total"))
    names = list(result["total"])
    click.echo("  ".join([f"{'family':{width}}", f"{'tests':>7}", *(f"{name:>8}" for name in names)]))
    for family, counts in (*result["families"].items(), ("total", result["total"])):
        cells = (f"{counts[name]:8,}" for name in names)
        click.echo("  ".join([f"{family:{width}}", f"{sum(counts.values()):7,}", *cells]))
    _print_some("refused by name", [f"{count:5,}  {what}" for what, count in result["refused"].items()])
    bad = [test for test in result["tests"] if test["outcome"] in ("failed", "too slow")]
    _print_some("failed and too slow", [f"{test['test']}: {test['why']}" for test in bad])
    if "groups" in result:
        _print_errors(result)
    for change in ("worse", "better"):
        _print_some(f"{change} than in the baseline", result.get(change, ()))


def _print_errors(result: dict[str, Any]) -> None:
    width = max(len(group) for group in ("group", *result["groups"]))
    heads = ("rows", "median", "p90", "worst", "bias")
    click.echo("  ".join([f"{'group':{width}}", *(f"{head:>7}" for head in heads)]) + "   % of the measured cycles")
    for group, figures in result["groups"].items():
        errors = (figures[f"{name}_err_pct"] for name in ("median_abs", "p90_abs", "max_abs"))
        cells = [*(f"{error:7.1f}" for error in errors), f"{figures['bias_pct']:+7.1f}"]
        click.echo("  ".join([f"{group:{width}}", f"{figures['n']:7}", *cells]))
    without = sum(row["err_pct"] is None for row in result["measured"])
    if without:
        click.echo(f"{without} measured rows have no test of the suite any more, or one that did not pass")


def _print_some(title: str, lines: Sequence[str]) -> None:
    if lines:
        click.echo(f"{title}:")
    for line in lines[:SHOWN]:
        click.echo(f"  {line}")
    if len(lines) > SHOWN:
        click.echo(f"  and {len(lines) - SHOWN:,} more; --json has all")
