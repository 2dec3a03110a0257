"""`tensim debug`: a program stopped where its user wants, and looked at."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tensim.cli.options import check_option, complete_numerics, json_option, program_options, program_settings
from tensim.cli.output import TO_STDOUT, progress_bar, require_writable, write_json
from tensim.sim.errors import TensimError, UsageError

if TYPE_CHECKING:
    from tensim.debugger.gdb_stub import GdbStub
    from tensim.debugger.instruction_trace import InstructionTrace
    from tensim.debugger.prompt import Prompt, Script
    from tensim.results.result import Result

ENDED = {"ended": "has ended", "failed": "has failed", "left": "was left at a mistake"}
EPILOG = """Examples:

\b
  tensim debug my_program.py                                a prompt; `help` lists its commands
  tensim debug my_program.py -c continue -c why             why it hangs
  tensim debug my_program.py -c "break reader.cpp:40; continue; where; cbs; registers"
  tensim debug my_program.py --gdb 3333                     gdb-multiarch attaches to its C++ kernels
  tensim debug my_program.py --trace-instructions 0,0:BRISC trace.txt"""


@click.command(epilog=EPILOG)
@program_options
@click.option(
    "--numerics",
    default="fast",
    show_default=True,
    shell_complete=complete_numerics,
    help="exact (the chip's bits), fast (float32) or off (timing only).",
)
@check_option(True)
@click.option(
    "-c", "--command", "commands", multiple=True, metavar="COMMAND", help="A command, or some joined by `;`, in order."
)
@click.option(
    "-x",
    "--commands",
    "script",
    type=click.Path(dir_okay=False),
    help="A file of commands, which come before those of -c.",
)
@click.option(
    "--trace-instructions",
    "trace",
    nargs=2,
    metavar="X,Y:THREAD FILE",
    help="Write each instruction that a RISC-V core executes to FILE: cycle, address, word, text, source line.",
)
@click.option(
    "--gdb",
    "port",
    type=click.IntRange(0, 65535),
    metavar="PORT",
    help="Wait for a gdb-multiarch at this port of this machine (0: any), which debugs one C++ kernel.",
)
@click.option(
    "--kernel", metavar="KERNEL[:THREAD]", help="With --gdb: the kernel, where the program has several in C++."
)
@click.option(
    "--chip", type=click.IntRange(min=0), default=0, show_default=True, help="Which chip of a mesh to look at."
)
@json_option
def debug(
    commands: tuple[str, ...],
    script: str | None,
    trace: tuple[str, str] | None,
    port: int | None,
    kernel: str | None,
    chip: int,
    json_to: str | None,
    **options: Any,
) -> None:
    """Run an example by NAME, or a program FILE, under a debugger (docs/debugging.md).

    Commands come from -c and -x, then the program is left; without them from a prompt, or from standard input.
    """
    require_writable(json_to)
    settings = program_settings(**options)
    lines = _lines(commands, script)
    if json_to and not lines and not trace:
        raise UsageError("--json needs commands", hint="-c COMMAND or -x FILE")
    if port is not None and (lines or trace or json_to):
        raise UsageError("--gdb leads the program: it has no commands, traces or results of its own")
    if kernel is not None and port is None:
        raise UsageError("--kernel is for --gdb")
    show = (lambda text: None) if json_to == TO_STDOUT else click.echo
    with contextlib.ExitStack() as stack:
        traced = _opened_trace(stack, trace)
        driver = _driver(lines, show, traced) if port is None else _gdb_driver(stack, port, kernel)
        progress = stack.enter_context(progress_bar()) if lines or traced else (lambda text: None)
        from tensim.debugger.run import debug_program

        ended, result, error = debug_program(settings, driver, traced, traced is None or bool(lines), progress, chip)
    error = driver.error or error
    if driver.left:
        told = f"{len(driver.left)} commands were not run: the program {ENDED[ended]}"
        click.echo(f"tensim: {told}", err=True)
    failed = chip if error is None else error.where.get("device", chip)
    if failed != chip:
        click.echo(f"tensim: chip {failed} failed, and these commands looked at chip {chip}: see --chip", err=True)
    if json_to:
        _write(json_to, driver, ended, result, error, traced)
    if error is not None:
        error.in_json = True
        raise error
    if result is not None and result.verified is False:
        raise TensimError("the result differs from numpy's", kind="verification")


def _lines(commands: Iterable[str], script: str | None) -> list[str]:
    """The commands of files and options; UsageError for a file that cannot be read."""
    from tensim.debugger.prompt import split

    try:
        text = Path(script).read_text() if script else ""
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {script}: {error}") from error
    return [*split(text), *(one for given in commands for one in split(given))]


def _driver(lines: list[str], show: Callable[[str], object], traced: InstructionTrace | None) -> Prompt | Script:
    from tensim.debugger.prompt import Prompt, Script

    return Script(lines, show) if lines or traced is not None else Prompt([], show)


def _gdb_driver(stack: contextlib.ExitStack, port: int, kernel: str | None) -> GdbStub:
    """What waits for a gdb, and says how to call it when the kernel's ELF is known."""
    import tempfile

    from tensim.debugger.gdb_packets import Connection, listening
    from tensim.debugger.gdb_stub import GdbStub, accept

    try:
        server = stack.enter_context(listening(port))
    except OSError as error:
        raise UsageError(
            f"port {port} cannot be opened: {error.strerror}", hint="--gdb 0 takes one that is free"
        ) from error
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tensim-gdb-")))

    def meet(program: Any) -> None:
        elf = folder / f"{program.name}.elf"
        elf.write_bytes(program.image.raw)
        at = f"localhost:{server.getsockname()[1]}"
        click.echo(f"waiting for gdb: gdb-multiarch {elf} -ex 'target remote {at}'", err=True)

    return GdbStub(lambda: Connection(accept(server)), kernel, meet)


def _opened_trace(stack: contextlib.ExitStack, trace: tuple[str, str] | None) -> InstructionTrace | None:
    """The `InstructionTrace` that is asked for."""
    if not trace:
        return None
    from tensim.debugger.instruction_trace import InstructionTrace
    from tensim.debugger.locations import CORE
    from tensim.sim.cores.slots import THREAD_NAMES

    place, file = trace
    core, _, name = place.rpartition(":")
    if CORE.fullmatch(core) is None or name.upper() not in THREAD_NAMES:
        raise UsageError(f"{place!r} is not a thread", hint="--trace-instructions 0,0:BRISC FILE")
    require_writable(file)
    stream = stack.enter_context(open(file, "w"))
    return InstructionTrace(place, stream)


def _write(
    json_to: str,
    driver: Prompt | Script | GdbStub,
    ended: str,
    result: Result | None,
    error: TensimError | None,
    traced: InstructionTrace | None,
) -> None:
    told: dict[str, Any] = driver.record | {"ended": ended, "not_run": list(driver.left)}
    if result is not None:
        told |= {name: result.to_dict()[name] for name in ("name", "arch", "cycles", "verified")}
    if traced is not None:
        told["traced_instructions"] = traced.count
    write_json(told | (error.as_json() if error is not None else {}), json_to)
