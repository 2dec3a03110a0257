"""What the commands on Light Metal binaries share: opening one, doing something for several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from tensim.cli.output import print_error, write_json
from tensim.sim.errors import TensimError

if TYPE_CHECKING:
    from tensim.traces.light_metal.binary import Binary

numbering_option = click.option(
    "--numbering", type=click.Choice(["auto", "e2", "late"]), default="auto", show_default=True,
    help="Union numbers of the file: era E2, or the later releases without EnqueueProgram.",
)  # fmt: skip

kernel_path_option = click.option(
    "--kernel-path", multiple=True, type=click.Path(file_okay=False),
    help="Folder with kernels by file name, or the root of their library.",
)  # fmt: skip


def open_binary(path: str, numbering: str) -> Binary:
    """A verified binary; what is wrong with a file names it."""
    from tensim.light_metal.binary import verified_file
    from tensim.traces.light_metal.binary import Binary

    return verified_file(path, Binary.open(path), None if numbering == "auto" else numbering)


def over_files(
    files: Sequence[str], one: Callable[[str], dict[str, Any]], json_to: str | None
) -> tuple[list[dict[str, Any]], int]:
    """Do `one` for every file; print JSON for one file, or {"results", "failed"} for several.  The worst exit code."""
    results, code = [], 0
    for file in files:
        try:
            result = one(file)
        except TensimError as error:
            if len(files) == 1:
                raise
            result, code = {"file": str(file), **error.as_json()}, max(code, error.exit_code)
        if result.get("ok") is False or result.get("verified") is False:
            code = max(code, 1)
        results.append(result)
    if json_to:
        failed = sum("error" in r or r.get("ok") is False or r.get("verified") is False for r in results)
        try:
            write_json(results[0] if len(files) == 1 else {"results": results, "failed": failed}, json_to)
        except OSError as error:  # the command still shows what it found
            print_error(f"cannot write {json_to}: {error.strerror}")
            code = 2
    return results, code
