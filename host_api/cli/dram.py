"""`tensim dram`: address traces against the command-level DRAM model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tensim.cli.options import arch_option, json_option
from tensim.cli.output import PLOTS, TO_STDOUT, print_error, report_console, require_writable, write_json
from tensim.sim.errors import UsageError


@click.command()
@click.argument("traces", nargs=-1, required=True, type=click.Path())
@arch_option
@click.option("--channel-map", default="bank", show_default=True, help="bank, or interleave:BYTES over all channels.")
@click.option("--load", type=click.FloatRange(0.001, 10), help="Arrival rate as a share of peak; default: all at once.")
@click.option("--plot", type=click.Path(dir_okay=False), help="Plot the latency-load curve of each trace.")
@json_option
def dram(
    traces: tuple[str, ...], arch: str, channel_map: str, load: float | None, plot: str | None, json_to: str | None
) -> None:
    """Serve the requests of TRACES (lines: R|W ADDRESS [BYTES]) from the memory of a chip, at command level."""
    from tensim.sim.arch import load_arch
    from tensim.sim.dram.timing import build_timing
    from tensim.traces.dram_trace import ChannelMap, latency_load, plot_latency_load, read_trace, serve_requests

    require_writable(json_to)
    require_writable(plot, PLOTS)
    chip = load_arch(arch)
    mapped, burst = ChannelMap(chip, channel_map), int(build_timing(chip)["burst_bytes"])
    results, curves = [], {}
    for path in traces:
        try:
            requests = read_trace(path, burst)
            results.append({"file": path, **serve_requests(chip, requests, mapped, load)})
            if plot:
                curves[Path(path).name] = results[-1]["curve"] = latency_load(chip, requests, mapped)
        except (UsageError, OSError) as error:
            text = str(error) if isinstance(error, UsageError) else f"{path}: {error.strerror}"
            results.append({"file": path, "error": {"kind": "usage", "message": text}})
            print_error(text)
    if curves:
        plot_latency_load(curves, plot)
    good = [result for result in results if "error" not in result]
    failed = len(results) - len(good)
    if json_to:
        write_json(results[0] if len(results) == 1 else {"results": results, "failed": failed}, json_to)
    if json_to != TO_STDOUT and good:
        _print(good)
    if failed:
        raise click.exceptions.Exit(2)


def _print(results: list[dict[str, Any]]) -> None:
    from rich.table import Table

    table = Table(title=f"{results[0]['arch']}: command-level DRAM")
    table.add_column("trace")
    names = ("requests", "GB/s", "of peak", "row hits", "mean ns", "p99 ns", "max ns")
    for name in names:
        table.add_column(name, justify="right")
    for result in results:
        hits, bursts = (sum(row[key] for row in result["channels"]) for key in ("row_hits", "bursts"))
        latency = result["latency_ns"]
        table.add_row(
            result["file"], f"{result['requests']:,}", f"{result['gb_per_s']:.2f}", f"{result['share_of_peak']:.1%}",
            f"{hits / bursts:.1%}", *(f"{latency[key]:,.0f}" for key in ("mean", "p99", "max")),
        )  # fmt: skip
    report_console().print(table)
