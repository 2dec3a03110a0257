"""The commands of `tensim` that deal with Light Metal binaries."""

import json
import time
from pathlib import Path

import click
import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tensim.cli.command_line import (
    device_option,
    json_option,
    key_values,
    loops_option,
    main,
    one_chip,
    progress_bar,
    require_folder,
    write_json,
)
from tensim.sim.errors import TensimError, UsageError

numbering_option = click.option(
    "--numbering", type=click.Choice(["auto", "e2", "late"]), default="auto", show_default=True,
    help="Union numbers of the file: era E2, or the later releases without EnqueueProgram.",
)  # fmt: skip


def open_binary(path, numbering):
    """A verified binary."""
    from tensim.traces.light_metal.binary import Binary
    from tensim.traces.light_metal.verify import open_verified

    return open_verified(Binary.open(path), None if numbering == "auto" else numbering)


def over_files(files, one, json_to):
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
        write_json(results[0] if len(files) == 1 else {"results": results, "failed": failed}, json_to)
    return results, code


# --- capture


@main.command()
@click.argument("name")
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False), help="The file to write.")
@click.option("--arch", default="wormhole_b0", show_default=True, help="Architecture name or a YAML file of your own.")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Change an architecture parameter.")
@click.option("--grid", help="Worker cores to use, e.g. 8x8.")
@click.option("--shape", help="Problem size, e.g. 2048x2048x2048.")
@click.option("--dtype", help="bf16, bfp8, bfp4 or fp32.")
@click.option("--fidelity", help="LoFi, HiFi2, HiFi3 or HiFi4.")
@click.option("--param", "parameters", multiple=True, metavar="KEY=VALUE", help="A parameter of the program's own.")
@click.option("--numerics", default="fast", show_default=True, help="exact, fast or off.")
@click.option("--seed", default=0, show_default=True, help="Seed of the input data.")
@click.option("--compress", is_flag=True, help="Pack the data with zlib.")
@json_option
def capture(name, output, arch, overrides, grid, shape, dtype, fidelity, parameters, numerics, seed, compress, json_to):
    """Run an example by NAME, or a program FILE, and save what it asks of the device."""
    from tensim.running.programs import Settings, run_program

    require_folder(json_to)
    require_folder(output)
    settings = Settings(
        name=name, arch=arch, overrides=key_values(overrides, "--set"), grid=grid, shape=shape, dtype=dtype,
        fidelity=fidelity, parameters=key_values(parameters, "--param"), numerics=numerics, seed=seed, capture=output,
        compress=compress,
        image_hash=True,
    )  # fmt: skip
    with progress_bar() as on_progress:
        summary = run_program(settings, on_progress)
    if json_to:
        write_json(summary, json_to)
    if json_to != "-":
        click.echo(f"{summary['name']}: {summary['cycles']:,} cycles; {summary['bytes']:,} bytes in {output}")


# --- replay


def _binding(text):
    """(buffer, bytes) of NAME=FILE.npy."""
    name, found, file = text.partition("=")
    if not found:
        raise UsageError(f"--bind {text!r} is not of the form BUFFER=FILE.npy")
    try:
        return name, np.ascontiguousarray(np.load(file, allow_pickle=False)).tobytes()
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {file}: {error}") from error


def _saving(text):
    name, found, file = text.partition("=")
    if not found:
        raise UsageError(f"--save {text!r} is not of the form BUFFER=FILE.npy")
    require_folder(file)
    return name, file


@main.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--arch", help="Replay on another architecture (name or YAML file).")
@device_option
@click.option("--program", help="Only this program, by index or name, of a binary of programs.")
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Change an architecture parameter.")
@click.option("--numerics", help="exact, fast or off, instead of what was captured.")
@click.option("--bind", "bindings", multiple=True, metavar="BUFFER=FILE.npy", help="Other data for what was written.")
@click.option("--save", "savings", multiple=True, metavar="BUFFER=FILE.npy", help="Keep the buffer's final bytes.")
@click.option(
    "--kernel-path", multiple=True, type=click.Path(file_okay=False), help="Folder with kernels by file name."
)
@click.option(
    "--launch", multiple=True, metavar="PROGRAM", help="Launch a program at the end (files without launches)."
)
@click.option("--max-cycles", type=click.IntRange(1), help="Stop with an error after this many simulated cycles.")
@loops_option
@click.option("--ignore-compare", is_flag=True, help="Comparisons in the binary do not count.")
@click.option("--timeline", type=click.Path(dir_okay=False), help="Write a trace that Perfetto opens.")
@numbering_option
@json_option
def replay(files, arch, device, program, overrides, numerics, bindings, savings, kernel_path, launch, max_cycles, loops,
           ignore_compare, timeline, numbering, json_to):  # fmt: skip
    """Replay Light Metal binaries: captured runs as they were, binaries of programs one program after the other.

    Each loop of a captured run begins anew; programs run again on the same device and tensors (zeros, their goldens, or
    what --bind PROGRAM/INPUT=FILE.npy holds).
    """
    from tensim.light_metal.replay import ReplayOptions

    require_folder(json_to)
    require_folder(timeline)
    one_chip(arch, device)
    options = ReplayOptions(
        arch=arch, device=device, overrides=key_values(overrides, "--set"), numerics=numerics, bind=dict(map(_binding, bindings)),
        save=tuple(map(_saving, savings)), kernel_path=kernel_path, launch=launch, check=not ignore_compare,
        log=timeline is not None, max_cycles=max_cycles,
    )  # fmt: skip
    with progress_bar() as on_progress:
        results, code = over_files(
            files, lambda file: _replay_file(file, options, program, numbering, loops, timeline, on_progress), json_to
        )
    if json_to != "-":
        for result in results:
            _print_replay(result)
    raise SystemExit(code)


def _replay_file(file, options, program, numbering, loops, timeline, on_progress):
    from tensim.running.programs import summarise
    from tensim.running.replay import LightMetalReplay

    binary = open_binary(file, numbering)
    if binary.reader.root("binary").binary is not None:
        from tensim.running.saved_programs import run_saved

        return run_saved(file, binary, options, program, loops, timeline, on_progress)
    if program is not None:
        raise UsageError(f"{file} is a captured run, there is no --program to choose", hint="leave --program out")
    durations = []
    for round_number in range(loops):
        begun = time.perf_counter()
        on_progress(f"{file}: replay {round_number + 1} of {loops}")
        replay = LightMetalReplay(binary, options=options)
        try:
            replay.execute()
            chip = replay.chips[0] if replay.chips else None
            if chip is None:
                raise UsageError(f"{file} opens no device", hint="give --arch")
            summary = summarise(chip)
            durations.append({name: summary[name] for name in ("cycles", "device_seconds")})
            if timeline:
                from tensim.traces.timeline import write_timeline

                summary["timeline_events"] = write_timeline(chip, timeline)
            replay.save_buffers()
            images = chip.image_sha256()
        finally:
            replay.close()
        seconds = time.perf_counter() - begun
    passed = all(one["passed"] for one in replay.compares) if options.check else None
    return summary | {
        "file": str(file), "name": Path(file).name, "commands": len(binary), "compares": replay.compares,
        "captured_cycles": binary.root.cycles, "differs": replay.differs,
        "image_sha256": images, "verified": passed if replay.compares else None, "warnings": replay.warnings,
        "host_seconds": seconds, "loops": durations,
    }  # fmt: skip


def _print_replay(result):
    console = Console()
    if "error" in result:
        console.print(f"[red]{escape(result['file'])}: {escape(result['error']['message'])}[/]")
        return
    console.print(
        f"{escape(result['name'])}: {result['commands']:,} commands, [bold]{result['cycles']:,} cycles[/] on "
        f"{result['arch']}, {result['host_seconds']:.2f} s of host time"
    )
    if result["differs"]:
        names = ", ".join(one["parameter"] for one in result["differs"][:5])
        more = f" and {len(result['differs']) - 5} more" if len(result["differs"]) > 5 else ""
        console.print(
            f"  on another chip than the captured one ({names}{more}): captured {result['captured_cycles']:,} cycles"
        )
    for one in result["compares"]:
        verdict = "[green]equal[/]" if one["passed"] else f"[red]{one['mismatches']:,} of {one['total']:,} differ[/]"
        console.print(f"  compare {escape(one['name'] or 'buffer')}: {verdict}")
        for index, want, got in one["first"]:
            console.print(f"    [{index}] expected {want}, got {got}", markup=False)
    for warning in result["warnings"]:
        console.print(f"  [yellow]warning:[/] {escape(warning)}")


# --- inspect, verify, diff


@main.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--commands", "what", flag_value="commands", help="Every command with its fields.")
@click.option("--kernels", "what", flag_value="kernels", help="Kernels with their settings.")
@click.option("--buffers", "what", flag_value="buffers", help="Buffers.")
@click.option("--hexdump", "what", flag_value="hexdump", help="The bytes.")
@numbering_option
@json_option
def inspect(files, what, numbering, json_to):
    """Show what Light Metal binaries hold."""
    from tensim.traces.light_metal.inspect import describe

    def one(file):
        binary = open_binary(file, numbering)
        result = describe(binary, file)
        if json_to != "-":
            PRINTERS[what or "summary"](result, binary)
        return result

    _, code = over_files(files, one, json_to)
    raise SystemExit(code)


def _print_summary(result, binary):
    from tensim.traces.light_metal.inspect import draw_program

    console = Console()
    counts = ", ".join(f"{count} {name}" for name, count in result["counts"].items()) or "no commands"
    console.print(f"[bold]{escape(result['file'])}[/]: {result['bytes']:,} bytes, numbering {result['numbering']}")
    console.print(f"{len(result['commands'])} commands: {counts}", highlight=False)
    if result["chips"]:
        console.print(
            f"recorded on {', '.join(result['chips'])}, {len(result['links'])} links; {len(result['timeline'])} spans",
            highlight=False, markup=False,
        )  # fmt: skip
    for one in (result["binary"] or {}).get("programs", ()):
        faces = [", ".join(tensor["name"] for tensor in one.get(side, ())) for side in ("inputs", "outputs")]
        targets = ", ".join(variant["target"] for variant in one.get("variants", ()))
        console.print(
            f"saved program {one['name']}({faces[0]}) -> {faces[1]}, for {targets}", highlight=False, markup=False
        )
    for program in result["programs"]:
        console.print(
            f"program {program['id']}: {len(program['kernels'])} kernels, {len(program['circular_buffers'])} circular "
            f"buffers, {program['semaphores']} semaphores, {program['launches']} launches"
        )
        for line in draw_program(program):
            console.print(f"  {line}", markup=False, highlight=False)
    _print_buffers(result, binary)


def _table(rows, columns):
    table = Table(show_edge=False, pad_edge=False)
    for column in columns:
        table.add_column(column)
    for row in rows:
        table.add_row(*(escape(str("" if row.get(column) is None else row[column])) for column in columns))
    Console().print(table)


def _print_buffers(result, _):
    _table(result["buffers"], ("id", "name", "memory", "layout", "size", "page_size", "address", "writes", "reads"))


def _print_kernels(result, _):
    kernels = [kernel for program in result["programs"] for kernel in program["kernels"]]
    _table(kernels, ("id", "name", "file", "kind", "cores", "args", "compile_args", "has_source"))


def _print_commands(result, _):
    for command in result["commands"]:
        rest = {key: value for key, value in command.items() if key not in ("index", "command")}
        click.echo(f"{command['index']:6} {command['command']:32} {json.dumps(rest)}")


def _print_hexdump(_, binary):
    for start in range(0, len(binary.data), 16):
        row = bytes(binary.data[start : start + 16])
        text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in row)
        click.echo(f"{start:08x}  {row.hex(' '):47}  {text}")


PRINTERS = {
    "summary": _print_summary, "commands": _print_commands, "kernels": _print_kernels, "buffers": _print_buffers,
    "hexdump": _print_hexdump,
}  # fmt: skip


@main.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--arch", help="Check against this chip instead of the one the file names.")
@click.option("--grid", help="Worker grid to check against, e.g. 8x9.")
@numbering_option
@json_option
def verify(files, arch, grid, numbering, json_to):
    """Check Light Metal binaries: their structure, and whether their programs fit a chip."""
    from tensim.traces.light_metal.binary import Binary
    from tensim.traces.light_metal.verify import problems_of

    def one(file):
        data = Binary.open(file)
        found = problems_of(data, None if numbering == "auto" else numbering, arch, grid)
        return {"file": str(file), "ok": not found, "problems": found}

    results, code = over_files(files, one, json_to)
    if json_to != "-":
        for result in results:
            click.echo(f"{result['file']}: {'ok' if result.get('ok') else 'NOT OK'}")
            for problem in result.get("problems", ()):
                click.echo(f"  byte {problem['offset']}: {problem['field']}: {problem['why']}")
    if any("error" not in result and not result["ok"] for result in results):
        code = 2
    raise SystemExit(code)


@main.command()
@click.argument("first")
@click.argument("second")
@numbering_option
@json_option
def diff(first, second, numbering, json_to):
    """Compare two Light Metal binaries: commands, payloads, and the cycles of both."""
    from tensim.running.differences import differences

    result = differences(open_binary(first, numbering), open_binary(second, numbering))
    if json_to:
        write_json(result, json_to)
    if json_to != "-":
        for row in result["differences"][:40]:
            click.echo(f"command {row['index']}: {row['field']}: {row['first']} | {row['second']}")
        click.echo(f"{len(result['differences'])} differences in commands and payloads")
        click.echo(f"cycles: {result['cycles'][0]} | {result['cycles'][1]}")
    raise SystemExit(1 if result["differences"] or result["cycles"][0] != result["cycles"][1] else 0)
