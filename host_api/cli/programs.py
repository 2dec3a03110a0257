"""`tensim run` and `tensim examples`."""

from __future__ import annotations

from typing import Any

import click

from tensim.cli.options import (
    check_option,
    complete_numerics,
    html_option,
    json_option,
    loops_option,
    program_options,
    program_settings,
    speedscope_option,
    tt_report_option,
)
from tensim.cli.output import (
    JSON,
    PAGES,
    PLOTS,
    TIMELINES,
    Outputs,
    progress_bar,
    require_apart,
    require_report_folder,
    require_writable,
    write_json,
)
from tensim.sim.errors import TensimError


@click.command()
@json_option
def examples(json_to: str | None) -> None:
    """List the example programs."""
    from tensim.examples import EXAMPLES

    rows = [
        {"name": name, "description": e.description, "shape": "x".join(e.axes), "default": e.shape}
        for name, e in EXAMPLES.items()
    ]
    if json_to:
        write_json({"examples": rows}, json_to)
        return
    for row in rows:
        click.echo(f"{row['name']:22} {row['description']}  ({row['shape']}, default {row['default']})")


@click.command()
@program_options
@loops_option
@click.option(
    "--numerics",
    default="fast",
    show_default=True,
    shell_complete=complete_numerics,
    help="exact (the chip's bits), fast (float32) or off (timing only).",
)
@click.option(
    "--numerics-threads",
    type=click.IntRange(1, 64),
    help="Threads for tile arithmetic that takes long, as that of exact products; by default as many as there are processors.",
)
@check_option(True)
@click.option("--image-hash", is_flag=True, help="Add the SHA-256 of DRAM and L1 to the results.")
@click.option("--zones", is_flag=True, help="Add the time spent in the kernels' profiler zones to the results.")
@click.option("--timeline", type=click.Path(dir_okay=False), help="Write a trace that Perfetto opens.")
@speedscope_option
@click.option(
    "--noc-trace", type=click.Path(dir_okay=False), help="Write the NoC events of the run (tensim replay-noc)."
)
@html_option
@tt_report_option
@click.option("--roofline", type=click.Path(dir_okay=False), help="Write a roofline plot (.png, .svg or .pdf).")
@json_option
def run(
    timeline: str | None,
    speedscope: str | None,
    noc_trace: str | None,
    html: str | None,
    tt_report: str | None,
    roofline: str | None,
    json_to: str | None,
    numerics_threads: int | None,
    **options: Any,
) -> None:
    """Run an example by NAME, or a program FILE with a `run` function like the examples'."""
    from tensim.running.programs import run_program

    if numerics_threads is not None:
        from tensim.sim.chip.numerics_threads import set_numerics_threads

        set_numerics_threads(numerics_threads)
    named = (timeline, TIMELINES), (speedscope, JSON), (noc_trace, JSON), (roofline, PLOTS), (html, PAGES)
    for path, suffixes in ((json_to, ()), *named):
        require_writable(path, suffixes)
    require_apart((json_to, timeline, speedscope, noc_trace, roofline, html), (options["name"], options["program"]))
    require_report_folder(tt_report)
    settings = program_settings(
        timeline=timeline, speedscope=speedscope, noc_trace=noc_trace, tt_report=tt_report, **options
    )
    with progress_bar() as on_progress:
        summary = run_program(settings, on_progress).to_dict()
    outputs = Outputs()
    if roofline:
        from tensim.cli.roofline import write_roofline

        outputs.write(roofline, lambda: write_roofline(summary, roofline))
    if html:
        outputs.write_page(html, summary)
    wrong = None
    if summary["verified"] is False:
        wrong = TensimError(f"the result differs from numpy's: {summary['comparison']['text']}", kind="verification")
    outputs.finish(summary, json_to, _print_report, wrong)


def _print_report(summary: dict[str, Any]) -> None:
    from tensim.cli.report import print_report  # not for JSON

    print_report(summary)
