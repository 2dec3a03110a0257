"""`tensim compare`."""

from __future__ import annotations

import math

import click

from tensim.cli.options import json_option
from tensim.cli.output import TO_STDOUT, printable, require_apart, require_writable, write_json
from tensim.sim.errors import TensimError, UsageError


@click.command()
@click.argument("first", metavar="A", type=click.Path())
@click.argument("second", metavar="B", type=click.Path())
@click.option(
    "--fail-above",
    metavar="PERCENT",
    help="Exit with 1 when the cycles, or the time from start to end, moved by more than this, e.g. 0.5%.",
)
@json_option
def compare(first: str, second: str, fail_above: str | None, json_to: str | None) -> None:
    """Compare two results: what `--json FILE` wrote, saved results, or run folders.

    Exit status: 0; 1 when the cycles, or the time from the first start to the last end of a program, moved in either direction
    by more than --fail-above; 2 when they cannot be compared.
    """
    require_writable(json_to)
    require_apart((json_to,), (first, second))
    limit = None if fail_above is None else percent(fail_above)
    from tensim.results.comparison import compare as compared

    comparison = compared(first, second)
    exceeded = None if limit is None else comparison.moved_by_more(limit)
    if json_to:
        write_json(comparison.to_dict() | {"fail_above": limit, "exceeded": exceeded}, json_to)
    if json_to != TO_STDOUT:
        click.echo(printable(comparison.text()))
    if exceeded:
        moved = comparison.moved_furthest
        what = "the cycles" if moved is comparison.cycles else "the time from start to end"
        error = TensimError(f"{what} moved by {moved.relative:+.3%}, more than {limit:.3%}", kind="moved")
        error.in_json = True
        raise error


def percent(text: str) -> float:
    """The share that a text of percent says, with or without the sign; UsageError for another text."""
    try:
        share = float(text.strip().removesuffix("%")) / 100
    except ValueError:
        share = math.nan
    if not 0 <= share < math.inf:
        raise UsageError(f"--fail-above {text!r} is no limit in percent", hint="as 0.5%")
    return share
