"""`tensim device`: a command with a simulated chip, register by register, in the place of a card."""

from __future__ import annotations

import itertools
import shlex
import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from tensim.cli.options import arch_option, json_option, key_values, noc_option, overrides_option
from tensim.cli.output import TO_STDOUT, require_writable, write_json

if TYPE_CHECKING:
    from tensim.sim.arch import Arch

SHOWN = 20  # tiles and operations of the printed report
NOT_PROFILED = "tensim: the device profiler has written no log: does the command run programs, and close its device?"


@click.command(context_settings={"allow_interspersed_args": False})
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@arch_option
@overrides_option
@click.option(
    "--mesh", metavar="NAME", help="Several chips with their links, and their architecture (n300, p150_x2, ...)."
)
@click.option("--python", metavar="PATH", help="An interpreter that has ttnn, whose descriptions of chips are used.")
@click.option(
    "--numerics",
    default="exact",
    show_default=True,
    type=click.Choice(["exact", "fast", "off"]),
    help="The chip's bits, float32 products, or time alone.",
)
@noc_option
@click.option(
    "--dispatch",
    default="slow",
    show_default=True,
    type=click.Choice(["slow", "fast"]),
    help="How tt-metal launches programs: by messages of the host, or by its kernels that read command queues.",
)
@click.option(
    "--unknown-registers",
    default="stop",
    show_default=True,
    type=click.Choice(["stop", "zero"]),
    help="What is not modelled stops the core that asks for it, or reads as zero and is listed at the end.",
)
@click.option(
    "--print-env",
    is_flag=True,
    help="Run no command: print the environment of one, and keep the chip there until Ctrl-C.",
)
@click.option("--timeline", metavar="FILE", help="Write the launches as a trace that Perfetto opens.")
@click.option(
    "--timeline-units",
    metavar="X-Y[,X-Y]",
    help="With it, what the units of these workers do, by the report's names of tiles.",
)
@click.option(
    "--profile",
    metavar="FOLDER",
    help="tt-metal's device profiler writes there, with a table for tt-perf-report; releases 0.64.1 to 0.64.5.",
)
@json_option
def device(
    command: tuple[str, ...],
    arch: str,
    overrides: tuple[str, ...],
    mesh: str | None,
    python: str | None,
    numerics: str,
    noc_model: str,
    dispatch: str,
    unknown_registers: str,
    print_env: bool,
    timeline: str | None,
    timeline_units: str | None,
    profile: str | None,
    json_to: str | None,
) -> None:
    """Run COMMAND with a simulated chip in the place of a card.

    Its driver (tt-umd, and what stands on it: tt-exalens, the vendor's LLK test suite, tt-metal) reads and writes registers and
    memories; RISC-V cores run what it loads.
    """
    from tensim.drop_in import profiler
    from tensim.drop_in.device import Options
    from tensim.drop_in.runner import place_of, run, wait
    from tensim.drop_in.timeline import write_timeline
    from tensim.sim.host.wiring import BOARDS
    from tensim.ttnn.cards import card_of

    require_writable(json_to)
    require_writable(timeline)
    if timeline_units and not timeline:
        raise click.UsageError("--timeline-units writes into a timeline: name its file, --timeline FILE")
    if profile and print_env:
        raise click.UsageError("--profile is for a command that tensim runs")
    if bool(command) == print_env:
        raise click.UsageError(
            "name a command to run: tensim device [OPTIONS] -- COMMAND ..., or give --print-env alone"
        )
    if mesh is not None and mesh not in BOARDS:
        raise click.UsageError(f"there is no mesh {mesh}; choose one of {', '.join(BOARDS)}")
    board = None if mesh is None else BOARDS[mesh]
    if board is not None and board.arch != "blackhole" and dispatch == "fast":
        raise click.UsageError(
            f"--dispatch fast is not for {mesh}: on several Wormholes the library dispatches from Ethernet tiles, into whose"
            " memory its prefetcher does not fit as it is built here; leave --mesh or --dispatch out"
        )
    settings = card_of(mesh) | key_values(overrides, "--set")
    place = place_of(arch if board is None else board.arch, settings, python, board)
    units = _workers(timeline_units, place.arch)
    options = Options(numerics, dispatch, unknown_registers == "zero", units, noc_model)
    if profile:
        profiler.require_profiler(place.library)
    around = profiler.variables(profile) if profile else {}
    status, result = wait(place, options, _print_environment) if print_env else run(command, place, options, around)
    files = profiler.finish(profile, place, [] if result is None else result["calls"]) if profile else ()
    if timeline:
        write_timeline(result, timeline)
    if json_to:
        write_json({"status": status, "device": result}, json_to)
    if json_to != TO_STDOUT:
        _print(result)
        for path in files:
            click.echo(f"  written: {path}")
    if profile and not files:
        click.echo(NOT_PROFILED, err=True)
    raise click.exceptions.Exit(status)


def _workers(text: str | None, arch: Arch) -> tuple[tuple[int, int], ...]:
    """Names of workers: X-Y, several behind commas.  UsageError for what is none."""
    known = {f"{x}-{y}": (x, y) for x, y in arch.kernel_coords}
    wanted = text.split(",") if text else []
    for name in wanted:
        if name not in known:
            first, last = list(known)[0], list(known)[-1]
            raise click.UsageError(f"{name!r} is no worker of {arch.name}, which go from {first} to {last}")
    return tuple(known[name] for name in dict.fromkeys(wanted))


def _by_operation(launches: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Lines of the operations that the launches belong to, those that take longest first."""
    times: dict[str, list[int]] = {}
    for one in launches:
        if one["operation"]:
            times.setdefault(one["operation"], []).append(one["end_cycles"] - one["begin_cycles"])
    longest = sorted(times, key=lambda name: -sum(times[name]))
    for name in longest[:SHOWN]:
        mine = times[name]
        yield f"    {name}: {sum(mine):,} cycles in {len(mine)}, {statistics.median(mine):,.0f} in the median"
    if len(longest) > SHOWN:
        yield f"    and {len(longest) - SHOWN} more operations"


def _print_environment(variables: Mapping[str, str]) -> None:
    for name, value in variables.items():
        click.echo(f"export {name}={shlex.quote(value)}")
    click.echo("# the chip is there until Ctrl-C")


def _print(result: dict[str, Any] | None) -> None:
    if result is None:
        click.echo("tensim: the command has not opened the device", err=True)
        return
    cycles, clock = result["cycles"], result["clock_mhz"]
    click.echo(
        f"\n{result['arch']} {result['board']}: {cycles:,} cycles, {1e3 * result['seconds']:,.3f} ms at {clock} MHz"
    )
    launches = result["launches"]
    by = "dispatcher" if any(one["by"] == "dispatcher" for one in launches) else "host"  # who launches dispatchers, too
    ended = [one for one in launches if one["by"] == by and one["end_cycles"] is not None]
    if ended:
        times = [one["end_cycles"] - one["begin_cycles"] for one in ended]
        pairs = [pair for pair in itertools.pairwise(ended) if pair[0]["chip"] == pair[1]["chip"]]
        gaps = [after["begin_cycles"] - before["end_cycles"] for before, after in pairs]
        between = f", {statistics.median(gaps):,.0f} between two" if gaps else ""
        click.echo(
            f"  {len(ended)} launches: {statistics.median(times):,.0f} cycles in the median{between}; --json has all"
        )
    for line in _by_operation(ended):
        click.echo(line)
    for tile in result["tiles"][:SHOWN]:
        cores = ", ".join(f"{name} {count:,}" for name, count in tile["cores"].items() if count)
        units = ", ".join(f"{name} {unit['cycles']:,}" for name, unit in tile["units"].items())
        chip = f"chip {tile['chip']}, " if result["chips"] > 1 else ""
        click.echo(f"  {chip}tile {tile['place']}: instructions {cores}; busy cycles {units or 'none'}")
    if len(result["tiles"]) > SHOWN:
        click.echo(f"  and {len(result['tiles']) - SHOWN} more tiles; --json has all")
    for link in result["links"]:
        click.echo(
            f"  chip {link['chip']}, tile {link['place']}: {link['packets']:,} payloads, {link['bytes']:,} B over its link"
        )
    for error in dict.fromkeys(result["errors"]):
        click.echo(f"  stopped: {error}")
    if result["unknown_registers"]:
        click.echo(f"  read as zero: {', '.join(map(hex, result['unknown_registers']))}")
