"""`tensim disassemble`: the instructions of a C++ kernel, with the cycles they took, by source line."""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from tensim.cli.options import complete_program, key_texts, key_values, one_chip
from tensim.cli.output import TO_STDOUT, progress_bar, require_writable, write_json
from tensim.cli.programs import run
from tensim.sim.errors import UsageError

OF_A_RUN = (
    "arch device overrides grid shape dtype fidelity parameters numerics noc_model seed max_cycles json_to".split()
)


@click.command(params=[option for option in run.params if option.name in OF_A_RUN])
@click.argument("kernel")
@click.argument("program", required=False, shell_complete=complete_program)
def disassemble(
    kernel: str,
    program: str | None,
    arch: str | None,
    device: str | None,
    overrides: tuple[str, ...],
    grid: str | None,
    shape: str | None,
    dtype: str | None,
    fidelity: str | None,
    parameters: tuple[str, ...],
    numerics: str,
    noc_model: str,
    seed: int,
    max_cycles: int | None,
    json_to: str | None,
) -> None:
    """Run PROGRAM (an example's name or a FILE) and show the instructions of its C++ KERNEL with their cycles.

    KERNEL is a kernel's name, its file's name, or the end of its path.  Cycles are totals of all cores that run it.
    Without PROGRAM it is an ELF, whose RISC-V and Tensix instructions are shown.
    """
    from tensim.running.programs import Settings, run_program

    require_writable(json_to)
    if program is None:
        _list_elf(kernel, one_chip(arch, device) or Settings.arch, json_to)
        return
    settings = Settings(
        program=program, arch=one_chip(arch, device) or Settings.arch, device=device,
        overrides=key_values(overrides, "--set"), grid=grid, shape=shape, dtype=dtype, fidelity=fidelity,
        parameters=key_texts(parameters, "--param"), numerics=numerics, noc=noc_model, seed=seed, max_cycles=max_cycles,
        disassemble=kernel,
    )  # fmt: skip
    with progress_bar() as on_progress:
        summary = run_program(settings, on_progress).to_dict()
    if json_to:
        write_json({name: summary[name] for name in ("name", "arch", "cycles", "disassembly")}, json_to)
    if json_to != TO_STDOUT:
        for thread in summary["disassembly"]:
            print_thread(thread)


def _list_elf(file: str, arch: str, json_to: str | None) -> None:
    """Show the instructions of an ELF."""
    from tensim.sim.cores.disassembly.elf_listing import elf_listing

    try:
        raw = Path(file).read_bytes()
    except OSError as error:
        raise UsageError(
            f"cannot read the ELF {file}: {error.strerror}", hint="name a PROGRAM, too, to disassemble its kernel"
        ) from error
    entries = elf_listing(raw, arch)
    if json_to:
        write_json({"file": file, "arch": arch, "instructions": entries}, json_to)
    if json_to == TO_STDOUT:
        return
    console = Console(highlight=False, soft_wrap=True)
    for (source, line), group in groupby(entries, key=itemgetter("file", "line")):
        if line:
            console.print(Text(f"{source}:{line}", style="cyan"))
        for entry in group:
            console.print(Text(f"{entry['pc']:#9x}  {entry['text']}"))


def print_thread(thread: dict[str, Any]) -> None:
    """Print the listing of one thread; instructions stand below the source line they come from."""
    console = Console(highlight=False, soft_wrap=True)
    total = sum(instruction["busy"] + instruction["stalled"] for instruction in thread["instructions"])
    console.print(f"\n[bold]{Path(thread['file']).name}[/] on {thread['thread']}: {total:,} cycles")
    console.print("      busy    stalled  address", style="dim")
    for (file, line, source), entries in groupby(thread["instructions"], key=itemgetter("file", "line", "source")):
        if line:
            console.print(Text(f"{Path(file).name}:{line}  {source}", style="cyan"))
        for entry in entries:
            cycles = f"{entry['busy']:10,} {entry['stalled']:10,}" if entry["busy"] or entry["stalled"] else " " * 21
            console.print(Text(f"{cycles}  {entry['pc']:#7x}  {entry['text']}"))
