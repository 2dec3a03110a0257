"""The `tensim` command."""

import json
import sys
import time
from pathlib import Path

import click
import yaml
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from sim.errors import SimulatorError, TensimError, UsageError

TO_STDOUT = "-"
err = Console(stderr=True)


class Commands(click.Group):
    """A command group that reports tensim's errors the way section 9 of the design page says."""

    def main(self, *args, **kwargs):
        kwargs["standalone_mode"] = False
        try:
            sys.exit(super().main(*args, **kwargs) or 0)
        except click.exceptions.Exit as end:
            sys.exit(end.exit_code)
        except click.ClickException as error:
            self._report(UsageError(error.format_message(), hint="see tensim --help"))
        except click.Abort:
            self._report(TensimError("interrupted", kind="interrupted"))
        except KeyboardInterrupt:
            self._report(TensimError("interrupted", kind="interrupted"))
        except TensimError as error:
            self._report(error)

    @staticmethod
    def _report(error):
        if isinstance(error, SimulatorError):
            err.print("[red]tensim itself is at fault; please report this:[/]")
        err.print(f"[red]error:[/] {error}", highlight=False, markup=True)
        if any(argument == "--json" or argument.startswith("--json=") for argument in sys.argv[1:]):
            write_json(error.as_json(), json_target(sys.argv[1:]))
        sys.exit(error.exit_code)


def json_target(arguments):
    """Where `--json` among raw arguments points: a file name, or standard output."""
    for index, argument in enumerate(arguments):
        if argument.startswith("--json="):
            return argument.split("=", 1)[1]
        if argument == "--json":
            following = arguments[index + 1] if index + 1 < len(arguments) else TO_STDOUT
            return following if following.endswith(".json") else TO_STDOUT
    return TO_STDOUT


def write_json(data, target):
    text = json.dumps(data, indent=2, default=str)
    if target == TO_STDOUT:
        click.echo(text)
    else:
        Path(target).write_text(text + "\n")


def key_values(pairs, what):
    """{key: value} of KEY=VALUE options, values read as YAML scalars."""
    result = {}
    for pair in pairs:
        key, found, value = pair.partition("=")
        if not found:
            raise UsageError(f"{what} {pair!r} is not of the form KEY=VALUE")
        result[key] = yaml.safe_load(value)
    return result


@click.group(cls=Commands)
@click.version_option(package_name="tensim")
def main():
    """Simulate programs for Tenstorrent-class chips, cycle by cycle."""


@main.command()
@click.option("--json", "json_to", is_flag=False, flag_value=TO_STDOUT, default=None, metavar="[FILE]")
def examples(json_to):
    """List the example programs."""
    from examples import EXAMPLES

    rows = [
        {"name": name, "description": e.description, "shape": "x".join(e.axes), "default": e.defaults.shape}
        for name, e in EXAMPLES.items()
    ]
    if json_to:
        write_json({"examples": rows}, json_to)
        return
    for row in rows:
        click.echo(f"{row['name']:22} {row['description']}  ({row['shape']}, default {row['default']})")


@main.command()
@click.argument("name")
@click.option("--arch", default="wormhole_b0", show_default=True, help="Architecture name or a YAML file of your own.")
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
@click.option("--numerics", default="fast", show_default=True, help="fast (float32 arithmetic) or off (timing only).")
@click.option("--noc", "noc_model", default="packet", show_default=True, help="NoC model.")
@click.option("--seed", default=0, show_default=True, help="Seed of the input data.")
@click.option("--max-cycles", type=int, help="Stop with an error after this many simulated cycles.")
@click.option("--timeline", type=click.Path(dir_okay=False), help="Write a trace that Perfetto opens.")
@click.option("--json", "json_to", is_flag=False, flag_value=TO_STDOUT, default=None, metavar="[FILE]",
              help="Write the results as JSON to standard output, or to FILE.")  # fmt: skip
def run(name, arch, overrides, grid, shape, dtype, fidelity, parameters, numerics, noc_model, seed, max_cycles,
        timeline, json_to):  # fmt: skip
    """Run an example by NAME, or a program FILE with a `run` function like the examples'."""
    from host_api.report import print_report
    from host_api.runner import Settings, run_program

    settings = Settings(
        name=name, arch=arch, overrides=key_values(overrides, "--set"), grid=grid, shape=shape, dtype=dtype,
        fidelity=fidelity, parameters=key_values(parameters, "--param"), numerics=numerics, noc=noc_model, seed=seed,
        max_cycles=max_cycles, timeline=timeline,
    )  # fmt: skip
    with progress_bar() as on_progress:
        summary = run_program(settings, on_progress)
    if json_to:
        write_json(summary, json_to)
    if json_to != TO_STDOUT:
        print_report(summary)
    if summary["verified"] is False:
        raise TensimError("the result differs from numpy's", kind="verification")


class progress_bar:
    """Progress on standard error: simulated time and host speed; silent when it is not a terminal."""

    def __enter__(self):
        self.progress = Progress(
            SpinnerColumn(), TextColumn("{task.description}"), BarColumn(pulse_style="cyan"), TimeElapsedColumn(),
            console=err, transient=True, disable=not err.is_terminal,
        )  # fmt: skip
        self.progress.start()
        self.task = self.progress.add_task("starting (the first run ever compiles for about a minute)", total=None)
        self.begun = time.perf_counter()
        return self.update

    def update(self, text):
        self.progress.update(self.task, description=text)

    def __exit__(self, *exception):
        self.progress.stop()


if __name__ == "__main__":
    main()
