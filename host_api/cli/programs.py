"""`tensim run` and `tensim examples`."""

import click

from tensim.cli.options import (
    CYCLES,
    check_option,
    complete_arch,
    complete_numerics,
    complete_program,
    device_option,
    json_option,
    key_values,
    loops_option,
    noc_option,
    one_chip,
    run_folder_option,
    seed_option,
)
from tensim.cli.output import PLOTS, TIMELINES, TO_STDOUT, Outputs, progress_bar, require_writable, write_json
from tensim.sim.errors import TensimError, UsageError


@click.command()
@json_option
def examples(json_to):
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
@click.argument("name", shell_complete=complete_program)
@click.option(
    "--arch", shell_complete=complete_arch, help="Architecture name or a YAML file of your own.  [default: wormhole_b0]"
)
@device_option
@click.option("--program", help="A program of a file that holds several (an example is one program).")
@loops_option
@click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="KEY=VALUE",
    help="Change an architecture parameter (or board).",
)
@click.option("--grid", help="Worker cores to use, e.g. 8x8.")
@click.option("--shape", help="Problem size, e.g. 2048x2048x2048.")
@click.option("--dtype", help="bf16, bfp8, bfp4 or fp32.")
@click.option("--fidelity", help="LoFi, HiFi2, HiFi3 or HiFi4.")
@click.option("--param", "parameters", multiple=True, metavar="KEY=VALUE", help="A parameter of the program's own.")
@click.option(
    "--numerics",
    default="fast",
    show_default=True,
    shell_complete=complete_numerics,
    help="exact (the chip's bits), fast (float32) or off (timing only).",
)
@noc_option
@check_option(True)
@seed_option
@click.option("--max-cycles", type=CYCLES, help="Stop with an error after this many simulated cycles.")
@click.option("--image-hash", is_flag=True, help="Add the SHA-256 of DRAM and L1 to the results.")
@click.option("--timeline", type=click.Path(dir_okay=False), help="Write a trace that Perfetto opens.")
@click.option(
    "--noc-trace", type=click.Path(dir_okay=False), help="Write the NoC events of the run (tensim replay-noc)."
)
@click.option("--roofline", type=click.Path(dir_okay=False), help="Write a roofline plot (.png, .svg or .pdf).")
@run_folder_option
@json_option
def run(name, arch, device, program, loops, overrides, grid, shape, dtype, fidelity, parameters, numerics, noc_model, check,
        seed, max_cycles, image_hash, timeline, noc_trace, roofline, folder, json_to):  # fmt: skip
    """Run an example by NAME, or a program FILE with a `run` function like the examples'."""
    from tensim.running.programs import Settings, run_program

    for path, suffixes in ((json_to, ()), (timeline, TIMELINES), (noc_trace, (".json",)), (roofline, PLOTS)):
        require_writable(path, suffixes)
    if program is not None:
        raise UsageError(f"{name} is a single program: --program does not apply", hint="replay FILE --program NAME")
    settings = Settings(
        program=name, arch=one_chip(arch, device) or Settings.arch, device=device, loops=loops,
        overrides=key_values(overrides, "--set"), grid=grid, shape=shape, dtype=dtype,
        fidelity=fidelity, parameters=key_values(parameters, "--param"), numerics=numerics, noc=noc_model, check=check,
        seed=seed, max_cycles=max_cycles, timeline=timeline, noc_trace=noc_trace, image_hash=image_hash,
        folder=folder,
    )  # fmt: skip
    with progress_bar() as on_progress:
        summary = run_program(settings, on_progress).to_dict()
    if json_to != TO_STDOUT:
        from tensim.cli.report import print_report

        print_report(summary)
    outputs = Outputs()
    if roofline:
        from tensim.cli.roofline import write_roofline

        outputs.write(roofline, lambda: write_roofline(summary, roofline))
    wrong = None
    if summary["verified"] is False:
        wrong = TensimError(f"the result differs from numpy's: {summary['comparison']['text']}", kind="verification")
    outputs.finish(summary, json_to, wrong)
