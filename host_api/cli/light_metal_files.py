"""`tensim inspect`, `verify` and `diff`: what Light Metal binaries contain."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import click

from tensim.cli.light_metal_binaries import kernel_path_option, numbering_option, open_binary, over_files
from tensim.cli.options import complete_arch, json_option
from tensim.cli.output import TO_STDOUT, printable, report_console, write_json

if TYPE_CHECKING:
    from tensim.traces.light_metal.binary import Binary


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--commands", "what", flag_value="commands", help="Every command with its fields.")
@click.option("--kernels", "what", flag_value="kernels", help="Kernels with their settings.")
@click.option("--buffers", "what", flag_value="buffers", help="Buffers.")
@click.option("--hexdump", "what", flag_value="hexdump", help="The bytes.")
@kernel_path_option
@numbering_option
@json_option
def inspect(
    files: tuple[str, ...], what: str | None, kernel_path: tuple[str, ...], numbering: str, json_to: str | None
) -> NoReturn:
    """Show what Light Metal binaries contain.

    Kernels that a binary names by their library's file are looked for below --kernel-path and compiled with the binary's
    arguments, to say which are there and what they miss.
    """
    from tensim.light_metal.library_kernels import library_kernels
    from tensim.traces.light_metal.inspect import describe

    def of_file(file: str) -> dict[str, Any]:
        binary = open_binary(file, numbering)
        result = describe(binary, file) | {"library": library_kernels(binary, kernel_path)}
        if json_to != TO_STDOUT:
            PRINTERS[what or "summary"](printable(result), binary)
        return result

    _, code = over_files(files, of_file, json_to)
    raise SystemExit(code)


def _print_summary(result: dict[str, Any], binary: Binary) -> None:
    from rich.markup import escape

    from tensim.traces.light_metal.inspect import draw_program

    console = report_console()
    counts = ", ".join(f"{count} {name}" for name, count in result["counts"].items()) or "no commands"
    console.print(f"[bold]{escape(result['file'])}[/]: {result['bytes']:,} bytes, numbering {result['numbering']}")
    console.print(f"{len(result['commands'])} commands: {counts}", highlight=False)
    if result["chips"]:
        console.print(
            f"recorded on {', '.join(result['chips'])}, {len(result['links'])} links; {len(result['timeline'])} spans",
            highlight=False, markup=False,
        )  # fmt: skip
    for item in (result["binary"] or {}).get("programs", ()):
        faces = [", ".join(tensor.get("name", "") for tensor in item.get(side, ())) for side in ("inputs", "outputs")]
        targets = ", ".join(variant.get("target", "") for variant in item.get("variants", ()))
        console.print(
            f"saved program {item.get('name', '')}({faces[0]}) -> {faces[1]}, for {targets}",
            highlight=False,
            markup=False,
        )
    for program in result["programs"]:
        console.print(
            f"program {program['id']}: {len(program['kernels'])} kernels, {len(program['circular_buffers'])} circular "
            f"buffers, {program['semaphores']} semaphores, {program['launches']} launches"
        )
        for line in draw_program(program):
            console.print(f"  {line}", markup=False, highlight=False)
    if result["library"] is not None:
        _print_library(result["library"])
    elif result["programs"] and not any(program["kernels"] for program in result["programs"]):
        click.echo("no program has kernels: since 0.69 ttnn records element-wise operations without them")
    _print_buffers(result, binary)


def _print_library(library: dict[str, Any]) -> None:
    """Kernels that the binary names by file: which they are, or what became of them."""
    release = "an unknown release" if library["release"] is None else library["release"]
    click.echo(f"{len(library['files'])} kernel files of ttnn are needed, {release} ({library['because']})")
    outcomes = {}
    for kernel in library["kernels"]:
        outcomes.setdefault((kernel["file"], _outcome(kernel)), []).append(kernel["id"])
    for (file, outcome), ids in outcomes.items():
        click.echo(f"  {file}{outcome}" + (f" ({len(ids)} kernels)" if len(ids) > 1 else ""))
    if library["found_release"] is not None:
        other = "" if library["fits"] is not False else ", which is not what the file was made with"
        click.echo(f"  the kernel path holds ttnn {library['found_release']}{other}")
    elif library["kernels"][0]["status"] is None:
        click.echo("  --kernel-path FOLDER, the unpacked wheel of that release, says which are there and compile")


def _outcome(kernel: dict[str, Any]) -> str:
    """What became of a kernel, as the end of its line."""
    missing = f", misses {', '.join(kernel['missing'])}" if kernel["missing"] else ""
    texts = {
        None: "", "built": ": compiles", "not found": ": not found", "failed": f": does not compile{missing}: {kernel['why']}",
        "refused": f": refused ({kernel['refused']}){missing}: {kernel['why']}",
    }  # fmt: skip
    return texts[kernel["status"]]


def _table(rows: Iterable[dict[str, Any]], columns: Sequence[str]) -> None:
    from rich.markup import escape
    from rich.table import Table

    table = Table(show_edge=False, pad_edge=False)
    for column in columns:
        table.add_column(column)
    for row in rows:
        table.add_row(*(escape(str("" if row.get(column) is None else row[column])) for column in columns))
    report_console().print(table)


def _print_buffers(result: dict[str, Any], _: object) -> None:
    _table(result["buffers"], ("id", "name", "memory", "layout", "size", "page_size", "address", "writes", "reads"))


def _print_kernels(result: dict[str, Any], _: object) -> None:
    kernels = [kernel for program in result["programs"] for kernel in program["kernels"]]
    _table(kernels, ("id", "name", "file", "kind", "cores", "args", "compile_args", "has_source"))


def _print_commands(result: dict[str, Any], _: object) -> None:
    for command in result["commands"]:
        rest = {key: value for key, value in command.items() if key not in ("index", "command")}
        click.echo(f"{command['index']:6} {command['command']:32} {json.dumps(rest)}")


def _print_hexdump(_: object, binary: Binary) -> None:
    for start in range(0, len(binary.data), 16):
        row = bytes(binary.data[start : start + 16])
        text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
        click.echo(f"{start:08x}  {row.hex(' '):47}  {text}")


PRINTERS = {
    "summary": _print_summary, "commands": _print_commands, "kernels": _print_kernels, "buffers": _print_buffers,
    "hexdump": _print_hexdump,
}  # fmt: skip


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--arch", shell_complete=complete_arch, help="Check against this chip instead of the one the file names.")
@click.option("--grid", help="Worker grid to check against, e.g. 8x9.")
@numbering_option
@json_option
def verify(files: tuple[str, ...], arch: str | None, grid: str | None, numbering: str, json_to: str | None) -> NoReturn:
    """Check Light Metal binaries: their structure, and whether their programs fit a chip."""
    from tensim.traces.light_metal.binary import Binary
    from tensim.traces.light_metal.verify import problems_of

    def of_file(file: str) -> dict[str, Any]:
        data = Binary.open(file)
        found = problems_of(data, None if numbering == "auto" else numbering, arch, grid)
        return {"file": str(file), "ok": not found, "problems": found}

    results, code = over_files(files, of_file, json_to)
    if json_to != TO_STDOUT:
        for result in printable(results):
            click.echo(f"{result['file']}: {'ok' if result.get('ok') else 'NOT OK'}")
            for problem in result.get("problems", ()):
                place = f"byte {problem['offset']}: {problem['field']}: " if problem["field"] else ""
                click.echo(f"  {place}{problem['why']}")
    if any("error" not in result and not result["ok"] for result in results):
        code = 2
    raise SystemExit(code)


@click.command()
@click.argument("first")
@click.argument("second")
@numbering_option
@json_option
def diff(first: str, second: str, numbering: str, json_to: str | None) -> NoReturn:
    """Compare two Light Metal binaries: commands, payloads, and the cycles of both."""
    from tensim.running.differences import differences

    result = differences(open_binary(first, numbering), open_binary(second, numbering))
    if json_to:
        write_json(result, json_to)
    if json_to != TO_STDOUT:
        for row in printable(result["differences"][:40]):
            click.echo(f"command {row['index']}: {row['field']}: {row['first']} | {row['second']}")
        click.echo(f"{len(result['differences'])} differences in commands and payloads")
        click.echo(f"cycles: {result['cycles'][0]} | {result['cycles'][1]}")
    raise SystemExit(1 if result["differences"] or result["cycles"][0] != result["cycles"][1] else 0)
