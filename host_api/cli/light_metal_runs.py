"""`tensim capture` and `tensim replay`: programs saved as Light Metal binaries, and run from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

import click

from tensim.cli.light_metal_binaries import kernel_path_option, numbering_option, open_binary, over_files
from tensim.cli.options import (
    CYCLES,
    arch_option,
    check_option,
    complete_arch,
    complete_numerics,
    complete_program,
    device_option,
    html_option,
    json_option,
    key_texts,
    key_values,
    loops_option,
    one_chip,
    overrides_option,
    run_folder_option,
    seed_option,
    speedscope_option,
    tt_report_option,
)
from tensim.cli.output import (
    ARRAYS,
    JSON,
    PAGES,
    TIMELINES,
    TO_STDOUT,
    Outputs,
    print_error,
    printable,
    progress_bar,
    report_console,
    require_apart,
    require_report_folder,
    require_writable,
)
from tensim.sim.errors import UsageError
from tensim.sim.input_files import read_array


@click.command()
@click.argument("name", shell_complete=complete_program)
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False), help="The file to write.")
@arch_option
@overrides_option
@click.option("--grid", help="Worker cores to use, e.g. 8x8.")
@click.option("--shape", help="Problem size, e.g. 2048x2048x2048.")
@click.option("--dtype", help="bf16, bfp8, bfp4 or fp32.")
@click.option("--fidelity", help="LoFi, HiFi2, HiFi3 or HiFi4.")
@click.option("--param", "parameters", multiple=True, metavar="KEY=VALUE", help="A parameter of the program's own.")
@click.option(
    "--numerics", default="fast", show_default=True, shell_complete=complete_numerics, help="exact, fast or off."
)
@check_option(True)
@seed_option
@click.option("--compress", is_flag=True, help="Pack the data with zlib.")
@json_option
def capture(
    name: str,
    output: str,
    arch: str,
    overrides: tuple[str, ...],
    grid: str | None,
    shape: str | None,
    dtype: str | None,
    fidelity: str | None,
    parameters: tuple[str, ...],
    numerics: str,
    check: bool,
    seed: int,
    compress: bool,
    json_to: str | None,
) -> None:
    """Run an example by NAME, or a program FILE, and save what it asks of the device."""
    from tensim.running.programs import Settings, run_program

    require_writable(json_to)
    require_writable(output)
    require_apart((json_to, output), (name,))
    settings = Settings(
        program=name, arch=arch, overrides=key_values(overrides, "--set"), grid=grid, shape=shape, dtype=dtype,
        fidelity=fidelity, parameters=key_texts(parameters, "--param"), numerics=numerics, check=check, seed=seed,
        capture=output, compress=compress, image_hash=True,
    )  # fmt: skip
    with progress_bar() as on_progress:
        summary = run_program(settings, on_progress).to_dict()

    def report(summary: dict[str, Any]) -> None:
        written = "nothing written" if summary["unwritten"] else f"{summary['bytes']:,} bytes in {output}"
        click.echo(f"{summary['name']}: {summary['cycles']:,} cycles; {written}")

    Outputs().finish(summary, json_to, report)


def _binding(text: str) -> tuple[str, bytes]:
    """(buffer, bytes) of NAME=FILE.npy."""
    import numpy as np

    name, found, file = text.partition("=")
    if not found:
        raise UsageError(f"--bind {text!r} is not of the form BUFFER=FILE.npy")
    return name, np.ascontiguousarray(read_array(file)).tobytes()


def _saving(text: str) -> tuple[str, str]:
    name, found, file = text.partition("=")
    if not found:
        raise UsageError(f"--save {text!r} is not of the form BUFFER=FILE.npy")
    require_writable(file, ARRAYS)
    return name, file


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--arch", shell_complete=complete_arch, help="Replay on another architecture (name or YAML file).")
@device_option
@click.option("--program", help="Only this program, by index or name, of a binary of programs.")
@overrides_option
@click.option("--numerics", shell_complete=complete_numerics, help="exact, fast or off, instead of what was captured.")
@click.option(
    "--bind", "bindings", multiple=True, metavar="BUFFER=FILE.npy", help="Replace the data written to a buffer."
)
@click.option("--save", "savings", multiple=True, metavar="BUFFER=FILE.npy", help="Save the buffer's final bytes.")
@kernel_path_option
@click.option(
    "--launch", multiple=True, metavar="PROGRAM", help="Launch a program at the end (files without launches)."
)
@check_option(False)
@click.option("--max-cycles", type=CYCLES, help="Stop with an error after this many simulated cycles.")
@loops_option
@click.option("--ignore-compare", is_flag=True, help="Ignore the comparisons in the binary.")
@click.option("--timeline", type=click.Path(dir_okay=False), help="Write a trace that Perfetto opens.")
@speedscope_option
@html_option
@tt_report_option
@numbering_option
@run_folder_option
@json_option
def replay(
    files: tuple[str, ...],
    arch: str | None,
    device: str | None,
    program: str | None,
    overrides: tuple[str, ...],
    numerics: str | None,
    bindings: tuple[str, ...],
    savings: tuple[str, ...],
    kernel_path: tuple[str, ...],
    launch: tuple[str, ...],
    check: bool,
    max_cycles: int | None,
    loops: int,
    ignore_compare: bool,
    timeline: str | None,
    speedscope: str | None,
    html: str | None,
    tt_report: str | None,
    numbering: str,
    folder: str | None,
    json_to: str | None,
) -> NoReturn:
    """Replay Light Metal binaries: captured runs as they were, binaries of programs one program after the other.

    Each loop of a captured run begins anew; programs run again on the same device and tensors (zeros, their goldens, or
    what --bind PROGRAM/INPUT=FILE.npy holds).
    """
    from tensim.light_metal.replay import ReplayOptions

    require_writable(json_to)
    require_writable(timeline, TIMELINES)
    require_writable(speedscope, JSON)
    require_writable(html, PAGES)
    require_apart((json_to, timeline, speedscope, html), files)
    for name, given in (("--html", html), ("--tt-report", tt_report)):
        if given is not None and len(files) > 1:
            raise UsageError(f"{name} is for one file", hint="replay the files one by one")
    require_report_folder(tt_report)
    one_chip(arch, device)
    from tensim.running.execution import LogFiles

    logs = LogFiles(timeline, speedscope)
    options = ReplayOptions(
        arch=arch, device=device, overrides=key_values(overrides, "--set"), numerics=numerics, bind=dict(map(_binding, bindings)),
        save=tuple(map(_saving, savings)), kernel_path=kernel_path, launch=launch, check=not ignore_compare,
        log=logs.wanted, max_cycles=max_cycles, check_kernels=check,
    )  # fmt: skip
    from tensim.running.replay import replay_file

    def one(file: str) -> dict[str, Any]:
        path = folder if folder is None or len(files) == 1 else Path(folder) / Path(file).name
        binary = open_binary(file, numbering)
        return replay_file(file, binary, options, program, loops, logs, path, on_progress, tt_report).to_dict()

    with progress_bar() as on_progress:
        results, code = over_files(files, one, json_to)
    if html is not None and "error" not in results[0]:
        pages = Outputs()
        pages.write_page(html, results[0])
        for failure in pages.failures:
            print_error(failure)
            code = 2
    if json_to != TO_STDOUT:
        for result in printable(results):
            _print_replay(result)
    for item in (item for result in results for item in result.get("unwritten", ())):
        print_error(f"cannot write {item['file']}: {item['why']}")
        code = 2
    raise SystemExit(code)


def _print_replay(result: dict[str, Any]) -> None:
    from rich.markup import escape

    console = report_console()
    if "error" in result:
        console.print(f"[red]{escape(result['file'])}: {escape(result['error']['message'])}[/]")
        return
    console.print(
        f"{escape(result['name'])}: {result['commands']:,} commands, [bold]{result['cycles']:,} cycles[/] on "
        f"{result['arch']}, {result['host_seconds']:.2f} s of host time"
    )
    if result["differs"]:
        names = ", ".join(item["parameter"] for item in result["differs"][:5])
        more = f" and {len(result['differs']) - 5} more" if len(result["differs"]) > 5 else ""
        console.print(
            f"  on another chip than the captured one ({names}{more}): captured {result['captured_cycles']:,} cycles"
        )
    for item in result["compares"]:
        verdict = "[green]equal[/]" if item["passed"] else f"[red]{item['mismatches']:,} of {item['total']:,} differ[/]"
        console.print(f"  compare {escape(item['name'] or 'buffer')}: {verdict}")
        for index, want, got in item["first"]:
            console.print(f"    [{index}] expected {want}, got {got}", markup=False)
    for warning in result["warnings"]:
        console.print(f"  [yellow]warning:[/] {escape(warning)}")
