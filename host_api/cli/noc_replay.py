"""`tensim replay-noc TRACE.json...`: recorded NoC events against their simulation."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from tensim.cli.options import arch_option, json_option, key_values, noc_option, overrides_option
from tensim.cli.output import (
    SHOWN_SKIPS,
    TIMELINES,
    TO_STDOUT,
    print_error,
    progress_bar,
    report_console,
    require_writable,
    write_json,
)
from tensim.sim.errors import TensimError, UsageError

if TYPE_CHECKING:
    from tensim.sim.arch import Arch
    from tensim.sim.chip.chip import Chip
    from tensim.traces.noc_events import Recording

Rows: TypeAlias = list[dict[str, Any]]
REPORT_WIDTH = 128  # columns, also where output is not a terminal: names of recordings are long


@click.command(name="replay-noc")
@click.argument("files", nargs=-1, required=True, type=click.Path())
@click.option("--mode", default="closed", show_default=True, type=click.Choice(["closed", "open"]),
              help="closed: gaps as recorded, waits simulated; open: every transfer at its recorded time.")  # fmt: skip
@noc_option
@arch_option
@overrides_option
@click.option(
    "--timeline", type=click.Path(dir_okay=False), help="Write a trace that Perfetto opens (of one recording)."
)
@json_option
def replay_noc(
    files: tuple[str, ...],
    mode: str,
    noc_model: str,
    arch: str,
    overrides: tuple[str, ...],
    timeline: str | None,
    json_to: str | None,
) -> None:
    """Replay the NoC event traces FILES (the vendor's JSON) and compare the cycles; see docs/noc_traces.md."""
    from tensim.sim.arch import load_arch
    from tensim.validation.figures import kept_gaps, summary

    require_writable(json_to)
    require_writable(timeline, TIMELINES)
    begun = time.perf_counter()
    chip = load_arch(arch, key_values(overrides, "--set"))
    recordings, broken = read_all(files, chip)
    if timeline and len(recordings) != 1:
        raise UsageError(f"--timeline shows one recording, not {len(recordings)}")
    with progress_bar() as on_progress:
        rows, skipped, failed = replay_all(recordings, mode, noc_model, timeline, on_progress)
    result = summary(rows, skipped + broken, failed, time.perf_counter() - begun) | {
        "mode": mode, "noc_model": noc_model, "arch": chip.name, "failed": len(broken) + len(failed),
        "kept_gaps": kept_gaps(rows) if rows else None,
    }  # fmt: skip
    broken += failed
    if json_to:
        write_json(result, json_to)
    if json_to != TO_STDOUT:
        print_replay(result, skipped)
    for item in broken:
        print_error(item["why"])
    if broken:
        raise click.exceptions.Exit(UsageError.exit_code)


def read_all(files: Iterable[str], arch: Arch) -> tuple[list[Recording], Rows]:
    """(recordings of all files, [{"id", "why"}] of files that cannot be read)."""
    from tensim.traces.noc_events import read_recordings

    recordings, broken = [], []
    for file in files:
        try:
            recordings += read_recordings(file, arch)
        except UsageError as error:
            broken.append({"id": Path(file).name, "why": str(error)})
        except OSError as error:
            broken.append({"id": Path(file).name, "why": f"{file}: {error.strerror}"})
    return recordings, broken


def replay_all(
    recordings: Sequence[Recording],
    mode: str,
    noc_model: str,
    timeline: str | None,
    on_progress: Callable[[str], object],
) -> tuple[Rows, Rows, Rows]:
    """(rows, skipped, failed): every recording is in one of the three."""
    from tensim.sim.chip.chip import Chip

    chips = {}  # one per worker grid
    rows, skipped, failed = [], [], []
    for done, recording in enumerate(recordings):
        on_progress(f"replay-noc: {done} of {len(recordings)}")
        if not recording.transfers() or recording.cycles <= 0:
            skipped.append({"id": recording.id, "why": f"no transfer to simulate{in_words(recording.not_simulated)}"})
            continue
        chip = chips.get(recording.arch.digest)
        if chip is None:
            chip = chips[recording.arch.digest] = Chip(recording.arch, numerics="off", noc=noc_model)
            chip.recorders.clear()  # no row says how busy links were over time
        if timeline:
            chip.recordings.enable_log()
        try:
            rows.append(compare(chip, recording, mode))
        except TensimError as error:
            failed.append({"id": recording.id, "group": recording.arch.name, "why": f"{recording.id}: {error}"})
            chip.abort()
        if timeline:
            from tensim.traces.timeline import write_timeline

            write_timeline(chip, timeline)
    return rows, skipped, failed


def compare(chip: Chip, recording: Recording, mode: str) -> dict[str, Any]:
    """Replay one recording: its row of the results."""
    from tensim.sim.chip import statistics
    from tensim.sim.chip.noc_replay import replay
    from tensim.validation.figures import error_percent

    cycles = replay(chip, recording.events, recording.origin, mode)
    return {
        "id": recording.id,
        "group": f"{chip.arch.name}/{recording.memories()}",
        "measured": recording.cycles,
        "simulated": cycles,
        "unit": "cycles",
        "err_pct": error_percent(cycles, recording.cycles),
        "kept_gap_share": recording.kept_gap_share(mode),
        "transfers": recording.transfers(),
        "not_simulated": recording.not_simulated,
        "noc": statistics.noc(chip, cycles),
        "dram": statistics.dram(chip, cycles),
    }


def in_words(not_simulated: Mapping[str, int]) -> str:
    """What a recording holds beyond the model, behind a semicolon; empty when there is nothing."""
    return "".join(f"; not simulated: {count} {what}" for what, count in not_simulated.items())


def print_replay(result: dict[str, Any], skipped: Rows) -> None:
    """A line per recording, then the figures of each group and of all; `skipped`: what holds nothing to simulate."""
    from rich.table import Table

    from tensim.validation.figures import kept_gaps_in_words

    console = report_console()
    console.width = max(console.width, REPORT_WIDTH)
    table = Table(title=f"{result['mode']} replay on {result['arch']}: cycles")
    table.add_column("recording", overflow="fold")
    for name in ("transfers", "recorded", "simulated", "error %", "kept gaps", "busiest link", "DRAM"):
        table.add_column(name, justify="right")
    for row in result["rows"]:
        table.add_row(
            row["id"], f"{row['transfers']:,}", f"{row['measured']:,}", f"{row['simulated']:,}",
            f"{row['err_pct']:+.2f}", f"{row['kept_gap_share']:.0%}", busiest(row["noc"]), f"{row['dram']['utilization']:.1%}",
        )  # fmt: skip
    if result["rows"]:
        console.print(table)
    for name, figures in [*result["groups"].items(), ("all", result)]:
        if figures["n"]:
            click.echo(
                f"{name}: {figures['n']} recordings, |error| mean {figures['mean_abs_err_pct']:.2f} %, "
                f"worst {figures['max_abs_err_pct']:.2f} %, bias {figures['bias_pct']:+.2f} %"
            )
    if result["kept_gaps"]:
        click.echo(kept_gaps_in_words(result["kept_gaps"]))
    for row in result["rows"]:
        if row["not_simulated"]:
            click.echo(row["id"] + in_words(row["not_simulated"]))
    for item in skipped[:SHOWN_SKIPS]:
        click.echo(f"skipped {item['id']}: {item['why']}")


def busiest(noc: dict[str, Any]) -> str:
    """The link between routers with the most traffic, in words."""
    link = next((link for link in noc["links"] if link["kind"] in ("x", "y")), None)
    return "-" if link is None else f"NoC {link['noc']} {link['from']} -> {link['to']} {link['utilization']:.0%}"
