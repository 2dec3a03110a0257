"""`tensim sweep`."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence
from typing import Any, Self

import click

from tensim.cli.options import check_option, complete_numerics, json_option, problem_options, problem_settings
from tensim.cli.output import TO_STDOUT, print_error, printable, report_console, require_writable, write_json
from tensim.sim.errors import UsageError

SHOWN = 20  # rows of the table on the terminal; all are in the file
EVERY = 10  # seconds between two lines of progress where there is no terminal


@click.command()
@problem_options
@click.option(
    "--over", "varied", multiple=True, metavar="KEY=VALUE,VALUE,...",
    help="What varies: a setting (shape, dtype, arch, program, ...), a keyword of the program, a parameter of the chip, or "
    "kernel.NAME.compile_args[2]. Several: all combinations.",
)  # fmt: skip
@click.option(
    "-o",
    "--output",
    "folder",
    required=True,
    metavar="DIR",
    help="The folder of the table; what it holds is not run again.",
)
@click.option("--processes", type=click.IntRange(1), help="Processes on this machine.  [default: one per processor]")
@click.option("--cluster", metavar="ADDRESS", help="Run elsewhere: dask://HOST:PORT or slurm://PARTITION.")
@click.option("--retry-failed", is_flag=True, help="Run failed points of the table again.")
@click.option(
    "--numerics", default="fast", show_default=True, shell_complete=complete_numerics, help="exact, fast or off."
)
@check_option(False)
@json_option
def sweep(
    varied: tuple[str, ...],
    folder: str,
    processes: int | None,
    cluster: str | None,
    retry_failed: bool,
    json_to: str | None,
    **problem: Any,
) -> None:
    """Run a program at many points, and write a table with a row for each.

    NAME is an example or a file; without one, --over program=A,B names them.  Started again, a sweep goes on where it was.
    """
    require_writable(json_to)
    if cluster is not None and processes is not None:
        raise UsageError("--processes are of this machine, --cluster is another one", hint="give one of them")
    over, settings = parse_over(varied), problem_settings(**problem)
    program = settings.pop("program")
    from tensim.sweeps.run import run_sweep
    from tensim.sweeps.table import TABLE

    teller = _Teller()
    options: dict[str, Any] = {
        "folder": folder, "processes": processes, "retry_failed": retry_failed, "on_progress": teller,
    }  # fmt: skip
    with teller:
        if cluster is None:
            rows, _ = run_sweep(program, over, settings, **options)
        else:
            from tensim.sweeps.clusters import cluster as opened

            with opened(cluster) as executor:
                rows, _ = run_sweep(program, over, settings, executor=executor, **options)
    failed = [row for row in rows if row["error"]]
    if json_to:
        write_json({"folder": folder, "points": len(rows), "failed": len(failed), "rows": rows}, json_to)
    if json_to != TO_STDOUT:
        _show(rows, list(over))
        click.echo(f"{len(rows)} points, {len(failed)} failed; {folder}/{TABLE}")
    if failed:
        which = "every point failed, the first one" if len(failed) == len(rows) else "the first point that failed"
        print_error(f"{which}: {failed[0]['error']}")
        sys.exit(1)


def _show(rows: Sequence[dict[str, Any]], names: Sequence[str]) -> None:
    """The first rows: what varied, cycles, what bounds the run, and errors."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(show_edge=False, pad_edge=False)
    for name in (*names, "cycles", "bounded by", "error"):
        table.add_column(name, justify="left" if name == "error" else "right", overflow="fold")
    for row in rows[:SHOWN]:
        cycles = "" if row["cycles"] is None else f"{row['cycles']:,}"
        cells = [*(row[name] for name in names), cycles, row["bounded_by"], row["error"]]
        table.add_row(*(escape(printable(str(cell))) for cell in cells))
    report_console().print(table)
    if len(rows) > SHOWN:
        click.echo(f"and {len(rows) - SHOWN} more")


class _Teller:
    """Progress on standard error: one line that changes on a terminal, else a line from time to time and the last one."""

    def __init__(self) -> None:
        self.terminal = sys.stderr.isatty()
        self.last: str | None = None
        self.told: float = -EVERY

    def __call__(self, text: str) -> None:
        self.last = text
        if self.terminal:
            click.echo(f"\r\x1b[K{text}", nl=False, err=True)
        elif time.monotonic() - self.told >= EVERY:
            self._line()

    def _line(self) -> None:
        self.told = time.monotonic()
        click.echo(self.last, err=True)
        self.last = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        if self.terminal and self.last is not None:
            click.echo("", err=True)
        elif self.last is not None:
            self._line()


def parse_over(texts: Iterable[str]) -> dict[str, list[Any]]:
    """{name: values} of texts like "noc.hop_cycles=3,5,9"; UsageError for another form and for a name that comes twice.

    Values of settings that are texts stay texts; others are read as YAML scalars.  A comma inside brackets divides nothing.
    """
    import yaml

    from tensim.sweeps.points import TEXTS

    over = {}
    for text in texts:
        name, found, values = text.partition("=")
        if not found or not name:
            raise UsageError(f"--over {text!r} is not of the form KEY=VALUE,VALUE,...")
        if name in over:
            raise UsageError(f"--over {name} is given twice", hint=f"--over {name}=A,B,C")
        parts = [part.strip() for part in _divided(values)]
        if not all(parts):
            raise UsageError(f"--over {text!r} has an empty value")
        try:
            over[name] = parts if name in TEXTS else [yaml.safe_load(part) for part in parts]
        except yaml.YAMLError as error:
            raise UsageError(f"--over {text!r}: a value is not a YAML scalar") from error
    return over


def _divided(text: str) -> list[str]:
    """The parts of a text between commas that stand in no brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "[{(") - (character in "]})")
        if character == "," and depth <= 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts
