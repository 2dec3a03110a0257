"""`tensim coverage`: which C++ kernels below a folder compile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tensim.cli.options import arch_option, json_option
from tensim.cli.output import TO_STDOUT, require_writable, write_json
from tensim.sim.errors import UsageError

SHOWN = 30  # names and failures of the printed report


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path())
@arch_option
@click.option(
    "--compute",
    "level",
    type=click.Choice(["operation", "instruction"]),
    default="operation",
    show_default=True,
    help="instruction: build compute kernels against the vendor's LLK, and count only those.",
)
@json_option
def coverage(folders: tuple[str, ...], arch: str, level: str, json_to: str | None) -> None:
    """Compile every C++ kernel below FOLDERS with stand-ins for what its host program would give."""
    from rich.console import Console
    from rich.progress import Progress

    from tensim.sim.arch import load_arch
    from tensim.sim.cores.riscv import coverage as kernels
    from tensim.sim.cores.riscv.llk.coverage import LlkCoverage

    require_writable(json_to)
    for folder in folders:
        if not Path(folder).is_dir():
            raise UsageError(f"{folder} is not a folder")
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("compile", total=None)
        outcomes, count = kernels.coverage(
            folders,
            load_arch(arch),
            lambda done, total: bar.update(task, completed=done, total=total),
            LlkCoverage if level == "instruction" else kernels.Coverage,
        )
    result = kernels.report(outcomes, count)
    if json_to:
        write_json(result, json_to)
    if json_to != TO_STDOUT:
        _print(result)


def _print(result: dict[str, Any]) -> None:
    refused = sum(result["refused"].values())
    click.echo(
        f"{result['kernels']} kernel files, {result['entry']} with an entry function: {result['built']} built, "
        f"{refused} refused, {len(result['failed'])} failed"
    )
    for reason, number in result["refused"].items():
        click.echo(f"  refused ({reason}): {number}")
    for name, number in list(result["missing"].items())[:SHOWN]:
        click.echo(f"  {number} kernels wait for {name}")
    for failure in result["failed"][:SHOWN]:
        click.echo(f"  {failure['file']}: {failure['why'].splitlines()[0]}")
