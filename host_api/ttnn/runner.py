"""Run a ttnn program: `import ttnn` is this package, and what its operations took is told at the end.

The program's output and exit status stay as they are; the report goes to standard error.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import runpy
import sys
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, Self

from tensim.analysis.links import fabric_facts
from tensim.analysis.summary import collect
from tensim.device import current_system
from tensim.results import identity
from tensim.results.json_text import json_text
from tensim.results.run_folder import RunFolder
from tensim.sim.arch import load_arch
from tensim.sim.errors import TensimError, UsageError
from tensim.sim.host.wiring import BOARDS
from tensim.sim.output_files import require_output, write_output
from tensim.ttnn.cards import card_of

if TYPE_CHECKING:
    from tensim.results.result import Result
    from tensim.running.execution import Files
    from tensim.sim.arch import Arch
    from tensim.tool_files.recording import Recording
    from tensim.ttnn.devices import MeshDevice
    from tensim.ttnn.report import Table

INTERRUPTED = 130  # exit status after Ctrl-C
UNWRITTEN = 2  # of a program that ended well, when a file could not be written
NO_DEVICE = 2  # of a program that ended well and opened no device: nothing was simulated


@dataclass(frozen=True)
class Request:
    """What to run and how: `arguments` is the program (or -m and a module) and its own arguments."""

    arguments: tuple[str, ...]
    settings: dict[str, Any]
    timeline: str | None = None
    json_to: str | None = None
    quiet: bool = False
    folder: RunFolder | None = None
    tt_report: str | None = None
    html: str | None = None
    speedscope: str | None = None
    items: tuple[float, str] | None = None  # number and name of what the program works on, for rates


def main(arguments: Sequence[str], command: str) -> None:
    """The command line: options of tensim, the program, the program's own arguments.  Leaves by SystemExit."""
    parser = options(command)
    execute(request_of(parser.parse_args(arguments), parser))


def execute(request: Request) -> None:
    """Run a request's program.  Leaves by SystemExit."""
    try:
        run(request)
    except Exception as error:
        _fail(error)
    except KeyboardInterrupt as error:
        print(f"error: {error or 'interrupted'}", file=sys.stderr)
        sys.exit(INTERRUPTED)


def _fail(error: Exception) -> NoReturn:
    """Leave as Python does after an uncaught exception: its traceback from the program on, status 1."""
    trace = error.__traceback__
    frames = list(traceback.walk_tb(trace))
    mine = [i for i, (frame, _) in enumerate(frames) if frame.f_code.co_filename.startswith("<frozen runpy")]
    for _ in range(mine[-1] + 1 if mine else 0):
        assert trace is not None  # it has that many frames
        trace = trace.tb_next
    traceback.print_exception(type(error), error, trace)
    sys.exit(1)


def options(command: str) -> argparse.ArgumentParser:
    """The parser of the command line."""
    parser = argparse.ArgumentParser(
        command, f"{command} [options] program.py [arguments]\n       {command} [options] -m module [arguments]",
        "Run a program that says `import ttnn` on a simulated chip. Its operations are listed on standard error.",
    )  # fmt: skip
    parser.add_argument("--arch", default="wormhole_b0", help="architecture name or a YAML file of your own")
    parser.add_argument("--mesh", choices=tuple(BOARDS),
                        help="the chips of a board, and their architecture (docs/ttnn.md#several-chips, "
                        "docs/library.md#several-chips)")  # fmt: skip
    parser.add_argument("--numerics", default="fast", choices=("exact", "fast", "off"),
                        help="exact (the chip's bits), fast (float32) or off (timing only); default fast")  # fmt: skip
    parser.add_argument("--noc", default="packet", choices=("packet", "flit"), help="NoC model")
    parser.add_argument("--compute", choices=("operation", "instruction"),
                        help="compute kernels as operations or, built against the vendor's LLK, instruction by instruction; "
                        "default operation, where that can build the kernel (docs/instruction_level.md)")  # fmt: skip
    parser.add_argument("--set", dest="overrides", action="append", default=[], metavar="KEY=VALUE",
                        help="change an architecture parameter")  # fmt: skip
    parser.add_argument("--check", action=argparse.BooleanOptionalAction, default=False,
                        help="look for mistakes of kernels (docs/checks.md)")  # fmt: skip
    parser.add_argument("--max-cycles", type=int, help="stop with an error after this many simulated cycles")
    parser.add_argument("--timeline", metavar="FILE", help="write a trace that Perfetto opens")
    parser.add_argument("--speedscope", metavar="FILE", help="write profiles that speedscope opens")
    parser.add_argument("--html", metavar="FILE", help="write one self-contained HTML page about the operations")
    parser.add_argument("--tt-report", metavar="DIR",
                        help="write the files that tt-perf-report, ttnn-visualizer and tt-npe open")  # fmt: skip
    parser.add_argument("--json", dest="json_to", metavar="FILE", help="write the operations as JSON")
    parser.add_argument("-o", "--output", dest="folder", metavar="DIR",
                        help="write a run folder: result.json, configuration.yaml and log.txt")  # fmt: skip
    parser.add_argument("-m", dest="module", action="store_true", help="the program is a module, e.g. pytest")
    parser.add_argument("program", help="a Python file")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the program's own")
    return parser


def _level(compute: str | None) -> dict[str, int]:
    """The override of --compute, nothing without it."""
    return {} if compute is None else {"tensix.instruction_level": int(compute == "instruction")}


def request_of(given: argparse.Namespace, parser: argparse.ArgumentParser) -> Request:
    """The `Request` of a parsed command line; what is wrong with it ends the command."""
    for path in (given.timeline, given.speedscope, given.json_to, given.html):
        if path is None:
            continue
        if not Path(path).resolve().parent.is_dir():
            parser.error(f"cannot write {path}: its folder does not exist")
        try:
            require_output(path)
        except OSError as error:
            parser.error(f"cannot write {path}: {error.strerror}")
    if given.tt_report is not None:
        from tensim.tool_files.report import require_folder

        try:
            require_folder(given.tt_report)
        except UsageError as error:
            parser.error(str(error))
    try:
        folder = None if given.folder is None else RunFolder(given.folder)
    except UsageError as error:
        parser.error(str(error))
    if given.mesh is not None and given.check:
        parser.error("--mesh does not go with --check")
    if given.max_cycles is not None and given.max_cycles < 1:
        parser.error(f"--max-cycles {given.max_cycles}: at least one cycle is simulated")
    arch = given.arch if given.mesh is None else BOARDS[given.mesh].arch
    if given.arch not in (parser.get_default("arch"), arch):
        parser.error(f"--mesh {given.mesh} is of {arch} chips: --arch {given.arch} does not go with it")
    try:
        overrides = dict(key_value(override) for override in given.overrides) | _level(given.compute)
        load_arch(arch, card_of(given.mesh) | overrides)
    except UsageError as error:
        parser.error(str(error))
    settings = {
        "arch": arch, "numerics": given.numerics, "noc": given.noc, "max_cycles": given.max_cycles,
        "check": given.check, "overrides": card_of(given.mesh) | overrides, "board": given.mesh,
    }  # fmt: skip
    program = ("-m", given.program) if given.module else (given.program,)
    return Request(
        (*program, *given.arguments),
        settings,
        given.timeline,
        given.json_to,
        folder=folder,
        tt_report=given.tt_report,
        html=given.html,
        speedscope=given.speedscope,
    )


def key_value(text: str) -> tuple[str, Any]:
    """(key, value) of KEY=VALUE, the value read as a YAML scalar."""
    import yaml

    key, found, value = text.partition("=")
    if not found:
        raise UsageError(f"--set {text!r} is not of the form KEY=VALUE")
    return key, yaml.safe_load(value)


def run(request: Request) -> None:
    """Run the program; reports and files are written whatever its end.  SystemExit and exceptions pass through."""
    from tensim.ttnn import substitution

    first, *rest = request.arguments
    if first != "-m" and not Path(first).is_file():
        refuse(request, f"there is no program {first}")
    with observed(request) as watch:
        substitution.install()
        if first == "-m":
            sys.argv = rest
            sys.path.insert(0, os.getcwd())
            runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
            return
        sys.argv = [first, *rest]
        sys.path.insert(0, str(Path(first).resolve().parent))
        runpy.run_path(first, run_name="__main__")
    if watch.result is None:
        sys.exit(no_device(first))


def no_device(program: str) -> int:
    """Say that a program which ended well has opened no device; the exit status."""
    print(
        f"error: {program} has opened no device, so that nothing was simulated\n"
        "  hint: a ttnn program says `import ttnn` and opens a device when it is run as a script; `tensim run` takes programs "
        "with a `run` function",
        file=sys.stderr,
    )
    return NO_DEVICE


def refuse(request: Request, message: str) -> NoReturn:
    """Leave with status 2, the reason as JSON, too, where that was asked for."""
    error = UsageError(message)
    print(f"error: {message}", file=sys.stderr)
    if request.json_to:
        write_output(request.json_to, json_text(error.as_json()) + "\n")
    sys.exit(error.exit_code)


def _in_json(error: BaseException) -> dict[str, Any]:
    """How a program ended, as other commands say it; what is no error of tensim has the kind of its class."""
    if isinstance(error, TensimError):
        return error.as_json()["error"]
    interrupted = isinstance(error, KeyboardInterrupt)
    kind, message = ("interrupted", "interrupted") if interrupted else (type(error).__name__, "")
    return {"kind": kind, "message": str(error) or message, "hint": None, "where": {}}


class observed:
    """A block whose devices are opened as a request says and whose operations are reported behind it.

    `facts`: what else the report is to say, by name.  `result`: the `Result` afterwards; None when no device was opened.
    `unwritten`: [{"file", "why"}] of files that could not be written; with one of them a program that ended well leaves with
    status 2, behind its report.
    """

    def __init__(self, request: Request) -> None:
        self.request, self.logged = request, 0
        self.result: Result | None = None
        self.unwritten: list[dict[str, str]] = []
        self.facts: dict[str, Any] = {}
        self._summaries: list[dict[str, Any]] = []
        self._arch: Arch | None = None
        self._begun, self._folder = time.perf_counter(), request.folder
        self._recording = contextlib.ExitStack()
        self._record: Recording | None = None  # of the devices, for --tt-report

    def __enter__(self) -> Self:
        from tensim.ttnn import devices, measurements

        settings = dict(self.request.settings)
        if self.request.timeline or self.request.speedscope:
            settings["log"] = True
        devices.before_closing(self._note)
        if self.request.tt_report is not None:
            from tensim.tool_files.recording import recording

            self._record = self._recording.enter_context(recording())
        devices.configure(**settings)
        measurements.use_details(True)
        self._observers = current_system().executor.observers
        self._launches = identity.Launches(lambda: current_system().executor)
        self._observers.append(self._launches)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        from tensim.ttnn import measurements, report
        from tensim.ttnn.devices import has_stopped, open_devices, synchronize_device
        from tensim.ttnn.pace import paced, replays

        self._observers.remove(self._launches)
        for device in open_devices().values():
            if kind in (None, SystemExit) and not has_stopped(device):
                synchronize_device(device)
            self._note(device)
        table = report.rows(measurements.all_operations())
        pace = paced(measurements.all_operations(), self.request.items)
        if pace is not None:
            self.facts["pace"] = pace
        traces = replays(measurements.all_operations())
        if traces:
            self.facts["traces"] = traces
        if self._summaries:
            self.result = report.result(table, self._summaries, self._repeatable())
            self.result.summary.update(host_seconds=time.perf_counter() - self._begun, **self.facts)
        self._recording.close()
        stopped = kind not in (None, SystemExit)
        self._write(table, _in_json(error) if stopped and error is not None else None)
        if not self.request.quiet:
            sys.stdout.flush()
            if table or not stopped:
                print(report.text(table, self.facts), file=sys.stderr)
            for text in self.result.warnings if self.result is not None else ():
                print(f"warning: {text}", file=sys.stderr)
        for item in self.unwritten:
            print(f"error: cannot write {item['file']}: {item['why']}", file=sys.stderr)
        if (
            self.unwritten
            and (kind is None or (kind is SystemExit and isinstance(error, SystemExit) and not error.code))
            and not self.request.quiet
        ):
            sys.exit(UNWRITTEN)

    def _write(self, table: Table, failed: dict[str, Any] | None) -> None:
        """Write the files that were asked for; `failed`: how the program ended, if not well.  What cannot be is in `unwritten`."""
        from tensim.running.execution import Files
        from tensim.ttnn import report

        files, request, result = Files(lambda text: None), self.request, self.result
        if request.json_to:
            data = report.operations(table) if result is None else result.to_dict()
            text = json_text(data | ({"error": failed} if failed else {})) + "\n"
            files.write(request.json_to, lambda: write_output(request.json_to, text))
        html = request.html
        if html and result is not None:
            files.write(html, lambda: write_output(html, result.to_html()))
        if self._record is not None and request.tt_report is not None:
            self._write_report(files, request.tt_report, self._record)
        if self._folder is not None:
            if failed:
                self._folder.log(f"{failed['kind']}: {failed['message']}")
            if self.result is None:
                self._folder.log("the program has opened no device")
            elif table or not failed:
                assert self._arch is not None  # of the device that there is a result of
                self._folder.configure(self.result.identity, self._arch)
                self._folder.finish(self.result)
            files.unwritten += self._folder.unwritten
        self.unwritten += files.unwritten

    def _write_report(self, files: Files, folder: str, record: Recording) -> None:
        """The files of `--tt-report`; what goes wrong with them does not hide what the program said."""
        from tensim.tool_files.report import write_report
        from tensim.ttnn.signposts import all_signposts

        def work() -> list[str]:
            try:
                return write_report(folder, record, signposts=all_signposts())
            except UsageError as error:  # a program that has run nothing
                return [f"cannot write {folder}: {error}"]

        for text in files.write(folder, work) or ():
            print(f"warning: {text}", file=sys.stderr)

    def _repeatable(self) -> dict[str, Any]:
        """What makes the result repeatable."""
        first, *rest = self.request.arguments or (sys.argv[0],)
        name = rest[0] if first == "-m" else Path(first).name
        settings = self.request.settings
        chosen = identity.of_choices(check=settings.get("check"), max_cycles=settings.get("max_cycles"))
        program = identity.of_program(name, None if first == "-m" else first, {"arguments": rest})
        return identity.of_tensim() | program | self._chip | chosen | self._launches.identity()

    def _note(self, device: MeshDevice) -> None:
        """Keep what the chips of a device did, which is about to be closed."""
        for one in device.chips:
            chip = one.host.chip
            self._summaries.append(collect(chip))
            settings = self.request.settings
            self._arch = chip.arch
            self._chip = identity.of_chip(chip, settings.get("board"), settings.get("overrides"))
            self._write_logs(one)
        if device.joined is not None and device.joined.has_fabric:
            carried = self.facts.get("fabric", {"links": []})["links"]  # by a mesh before this one
            found = fabric_facts(device.joined.fabric)
            self.facts["fabric"] = found | {"links": [*carried, *found["links"]]}

    def _write_logs(self, device: MeshDevice) -> None:
        """Files of a chip's log; a second chip gets files beside those of the first."""
        from tensim.running.execution import Files, LogFiles

        named = (self.request.timeline, self.request.speedscope)
        paths = [path and str(_numbered(Path(path), self.logged)) for path in named]
        files = Files(lambda text: None)
        LogFiles(*paths).write(
            files, device.host.chip, self.request.arguments[0] if self.request.arguments else "pytest"
        )
        self.unwritten += files.unwritten
        self.logged += 1


def _numbered(path: Path, number: int) -> Path:
    """A file's path for the device of this number from 0."""
    return path.with_stem(f"{path.stem}_{number}") if number else path
