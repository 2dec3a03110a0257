"""The options that several commands share, and what a shell completes for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

import click
from click.shell_completion import CompletionItem

from tensim.sim.errors import UsageError

if TYPE_CHECKING:
    from tensim.running.options import Text
    from tensim.running.programs import Settings

C = TypeVar("C", bound=Callable[..., Any])  # a command, or the function that becomes one
Completed: TypeAlias = list[Any]  # names, or a `CompletionItem` for what the shell completes
NOC_MODELS = ("packet", "flit")
NUMERICS = ("exact", "fast", "off")


def complete_arch(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> Completed:
    """Names of architectures; a YAML file of the user's own is completed by the shell."""
    from tensim.sim.arch import architectures

    return _completed(architectures(), incomplete)


def complete_numerics(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> Completed:
    """Choices of --numerics."""
    return _completed(NUMERICS, incomplete)


def complete_program(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> Completed:
    """Names of examples; a Python file is completed by the shell."""
    from tensim.examples import EXAMPLES

    return _completed(EXAMPLES, incomplete)


def _completed(names: Iterable[str], incomplete: str) -> Completed:
    """The names that begin so; files where none does."""
    return [name for name in names if name.startswith(incomplete)] or [CompletionItem(incomplete, type="file")]


json_option = click.option(
    "--json",
    "json_to",
    metavar="[FILE]",
    help="Results as JSON to standard output, or to FILE (a name ending in .json).",
)
run_folder_option = click.option(
    "-o",
    "--output",
    "folder",
    metavar="DIR",
    type=click.Path(file_okay=False),
    help="Write a run folder: result.json, configuration.yaml and log.txt.",
)
arch_option = click.option(
    "--arch",
    default="wormhole_b0",
    show_default=True,
    shell_complete=complete_arch,
    help="Architecture name or a YAML file of your own.",
)
COMPUTE_LEVELS = ("operation", "instruction")  # values 0 and 1 of the parameter `tensix.instruction_level`
_LEVEL = "tensim.compute"  # where the context keeps the choice until --set is read


def _keep_level(ctx: click.Context, parameter: click.Parameter, value: str | None) -> None:
    ctx.meta[_LEVEL] = value


def _with_level(ctx: click.Context, parameter: click.Parameter, overrides: tuple[str, ...]) -> tuple[str, ...]:
    """The overrides, with that of --compute."""
    level = ctx.meta.get(_LEVEL)
    return overrides if level is None else (*overrides, f"tensix.instruction_level={COMPUTE_LEVELS.index(level)}")


compute_option = click.option(
    "--compute",
    type=click.Choice(COMPUTE_LEVELS),
    is_eager=True,
    expose_value=False,
    callback=_keep_level,
    help="C++ compute kernels as operations of the compute API, or built against the vendor's LLK and executed instruction by "
    "instruction (docs/instruction_level.md).  [default: operation, where it can build the kernel]",
)
overrides_option = click.option(
    "--set",
    "overrides",
    multiple=True,
    metavar="KEY=VALUE",
    callback=_with_level,
    help="Change an architecture parameter.",
)
device_option = click.option(
    "--device",
    metavar="SPEC",
    help="The chip as a device spec instead of --arch, e.g. 'sim://blackhole?cqs=2'; alternatives, joined by ',', in order.",
)
noc_option = click.option(
    "--noc",
    "noc_model",
    default=NOC_MODELS[0],
    show_default=True,
    type=click.Choice(NOC_MODELS),
    help="NoC model: packets that hold links hop by hop, or routers stepped flit by flit (slower).",
)


def check_option(default: bool) -> Callable[[C], C]:
    """--check: on where users run what they write, off where a run is repeated or timed (docs/checks.md)."""
    return click.option(
        "--check/--no-check",
        default=default,
        show_default=True,
        help="Look for mistakes of kernels: circular buffers, barriers, pages, memory nobody wrote (docs/checks.md).",
    )


speedscope_option = click.option(
    "--speedscope", type=click.Path(dir_okay=False), help="Write profiles that speedscope opens (.json)."
)
html_option = click.option(
    "--html", type=click.Path(dir_okay=False), help="Write one self-contained HTML page about the run."
)
tt_report_option = click.option(
    "--tt-report",
    type=click.Path(file_okay=False),
    metavar="DIR",
    help="Write the files that tt-perf-report, ttnn-visualizer and tt-npe open (docs/tool_files.md).",
)
CYCLES = click.IntRange(1, 2**62)
seed_option = click.option(
    "--seed", default=0, show_default=True, type=click.IntRange(0, 2**32 - 1), help="Seed of the input data."
)
loops_option = click.option(
    "--loops",
    default=1,
    show_default=True,
    type=click.IntRange(1),
    help="Run the program this many times; the time of each run is reported.",
)


_CHOICES = (
    click.option(
        "--arch",
        shell_complete=complete_arch,
        help="Architecture name or a YAML file of your own.  [default: wormhole_b0]",
    ),
    device_option,
    click.option("--program", help="A program of a file that holds several (an example is one program)."),
    click.option(
        "--set",
        "overrides",
        multiple=True,
        metavar="KEY=VALUE",
        callback=_with_level,
        help="Change an architecture parameter (or board).",
    ),
    click.option("--grid", help="Worker cores to use, e.g. 8x8."),
    click.option("--shape", help="Problem size, e.g. 2048x2048x2048."),
    click.option("--dtype", help="bf16, bfp8, bfp4 or fp32."),
    click.option("--fidelity", help="LoFi, HiFi2, HiFi3 or HiFi4."),
    click.option("--param", "parameters", multiple=True, metavar="KEY=VALUE", help="A parameter of the program's own."),
    noc_option,
    compute_option,
    seed_option,
    click.option("--max-cycles", type=CYCLES, help="Stop with an error after this many simulated cycles."),
)
_PROGRAM_OPTIONS = (click.argument("name", shell_complete=complete_program), *_CHOICES, run_folder_option)
_PROBLEM_OPTIONS = (click.argument("name", required=False, shell_complete=complete_program), *_CHOICES)


def program_options(command: C) -> C:
    """What chooses a program, its chip and its problem: of the commands that run one."""
    for option in reversed(_PROGRAM_OPTIONS):
        command = option(command)
    return command


def problem_options(command: C) -> C:
    """The same of a command that runs many: what all of them have in common, the program too or not."""
    for option in reversed(_PROBLEM_OPTIONS):
        command = option(command)
    return command


def problem_settings(**given: Any) -> dict[str, Any]:
    """{name: value} of what `problem_options` and a command's own settings say beyond the defaults; "program" in any case."""
    settings, defaults = vars(program_settings(folder=None, **given)), vars(_default_settings())
    return {name: value for name, value in settings.items() if name == "program" or value != defaults[name]}


def _default_settings() -> Settings:
    from tensim.running.programs import Settings

    return Settings("")


def program_settings(
    name: str | None,
    arch: str | None,
    device: str | None,
    program: str | None,
    overrides: tuple[str, ...],
    grid: str | None,
    shape: str | None,
    dtype: str | None,
    fidelity: str | None,
    parameters: tuple[str, ...],
    noc_model: str,
    seed: int,
    max_cycles: int | None,
    folder: str | None,
    **further: Any,
) -> Settings:
    """The `Settings` of `program_options`, with `further` ones of the command's own."""
    from tensim.running.programs import Settings

    if program is not None:
        raise UsageError(f"{name} is a single program: --program does not apply", hint="replay FILE --program NAME")
    # without a name only where points of a sweep have their own
    return Settings(
        program=cast(str, name), arch=one_chip(arch, device) or Settings.arch, device=device,
        overrides=key_values(overrides, "--set"), grid=grid, shape=shape, dtype=dtype, fidelity=fidelity,
        parameters=key_texts(parameters, "--param"), noc=noc_model, seed=seed, max_cycles=max_cycles, folder=folder,
        **further,
    )  # fmt: skip


def one_chip(arch: str | None, device: str | None) -> str | None:
    """The architecture asked for; UsageError when there is a device spec, too."""
    if arch is not None and device is not None:
        raise UsageError("--arch and --device both choose the chip", hint="give one of them")
    return arch


def key_texts(pairs: Iterable[str], what: str) -> dict[str, Text]:
    """{key: value} of KEY=VALUE options, values as they were typed."""
    if not pairs:
        return {}
    from tensim.running.options import Text

    result = {}
    for pair in pairs:
        key, found, value = pair.partition("=")
        if not found:
            raise UsageError(f"{what} {pair!r} is not of the form KEY=VALUE")
        result[key] = Text(value)
    return result


def key_values(pairs: Iterable[str], what: str) -> dict[str, Any]:
    """{key: value} of KEY=VALUE options, values read as YAML scalars."""
    if not pairs:
        return {}
    import yaml

    result = {}
    for key, value in key_texts(pairs, what).items():
        try:
            result[key] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise UsageError(f"{what} {key}={value}: the value is not a YAML scalar") from error
    return result
