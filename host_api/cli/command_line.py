"""What every `tensim` command shares: the group, errors, JSON, progress."""

import json
import sys
import time
from pathlib import Path

import click
import yaml
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from tensim.sim.errors import SimulatorError, TensimError, UsageError

TO_STDOUT = "-"
NOC_MODELS = ("packet", "flit")  # those of `tensim.sim.chip.chip`, which the command line does not load before it must
err = Console(stderr=True)


class Commands(click.Group):
    """A command group that reports tensim's errors the way section 9 of the design page says."""

    def main(self, args=None, **kwargs):
        args, json_to = explicit_json(sys.argv[1:] if args is None else list(args))
        kwargs["standalone_mode"] = False
        try:
            sys.exit(super().main(args, **kwargs) or 0)
        except click.exceptions.Exit as end:
            sys.exit(end.exit_code)
        except click.ClickException as error:
            report_error(UsageError(error.format_message(), hint="see tensim --help"), json_to)
        except (click.Abort, KeyboardInterrupt):
            report_error(TensimError("interrupted", kind="interrupted"), json_to)
        except TensimError as error:
            report_error(error, json_to)
        except OSError as error:
            report_error(UsageError(f"{error.strerror}: {error.filename}"), json_to)


def report_error(error, json_to):
    """Print an error, as JSON too if that was asked for, and leave with its exit code."""
    if isinstance(error, SimulatorError):
        err.print("[red]tensim itself is at fault; please report this:[/]")
    err.print(f"[red]error:[/] {escape(str(error))}", highlight=False, soft_wrap=True)
    if json_to:
        try:
            write_json(error.as_json(), json_to)
        except OSError as failure:
            err.print(f"[red]error:[/] cannot write {escape(json_to)}: {failure.strerror}")
    sys.exit(error.exit_code)


def explicit_json(arguments):
    """(arguments with the value of --json spelled out, that value or None): a following *.json names the file."""
    result, target, rest = [], None, iter(range(len(arguments)))
    for i in rest:
        argument = arguments[i]
        if argument == "--json":
            named = i + 1 < len(arguments) and arguments[i + 1].endswith(".json")
            argument = f"--json={arguments[next(rest)] if named else TO_STDOUT}"
        if argument.startswith("--json="):
            target = argument.removeprefix("--json=")
        result.append(argument)
    return result, target


def require_folder(path):
    """UsageError now, rather than an error after the work, when a file cannot be written."""
    if path not in (None, TO_STDOUT) and not Path(path).resolve().parent.is_dir():
        raise UsageError(f"cannot write {path}: its folder does not exist")


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
        try:
            result[key] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise UsageError(f"{what} {pair!r}: the value is not a YAML scalar") from error
    return result


json_option = click.option(
    "--json",
    "json_to",
    metavar="[FILE]",
    help="Results as JSON to standard output, or to FILE (a name ending in .json).",
)

device_option = click.option(
    "--device",
    metavar="SPEC",
    help="The chip as a device spec in place of --arch, e.g. 'sim://blackhole?cqs=2'; several with ',' are tried in order.",
)
noc_option = click.option(
    "--noc",
    "noc_model",
    default=NOC_MODELS[0],
    show_default=True,
    type=click.Choice(NOC_MODELS),
    help="NoC model: packets that hold links hop by hop, or routers stepped flit by flit (slower).",
)
loops_option = click.option(
    "--loops",
    default=1,
    show_default=True,
    type=click.IntRange(1),
    help="Run this often; the time of each is reported.",
)


def one_chip(arch, device):
    """The architecture asked for; UsageError when there is a device spec, too."""
    if arch is not None and device is not None:
        raise UsageError("--arch and --device both choose the chip", hint="give one of them")
    return arch


@click.group(cls=Commands)
@click.version_option(package_name="tensim")
def main():
    """Simulate programs for Tenstorrent-class chips, cycle by cycle."""


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
