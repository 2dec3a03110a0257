"""What commands print and write: JSON, errors, progress."""

from __future__ import annotations

import codecs
import io
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from tensim.sim.cores.riscv.build_progress import progress_told_to
from tensim.sim.errors import SimulatorError, UsageError
from tensim.sim.output_files import require_output, write_output

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

    from tensim.sim.errors import TensimError

TO_STDOUT = "-"
PLOTS = (".png", ".svg", ".pdf")
TIMELINES = (".json", ".json.gz")
JSON = (".json",)
PAGES = (".html", ".htm")
ARRAYS = (".npy",)
SHOWN_SKIPS = 10
PIPED_WIDTH = 160  # columns of tables where there is no terminal
TOLD_EVERY = 10  # seconds between two lines of progress where there is no terminal
# For terminals of ASCII; "?" for what is not here
PLAIN = {"µ": "u", "×": "x", "→": "->", "…": "~", **dict(zip("▁▂▃▄▅▆▇█", "_.-:=+*#", strict=True))}


def open_closed_streams() -> None:
    """Let what was closed (`2>&-`) lead to nowhere: the next file that is opened would take its place and get what is printed."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is not None:
            continue
        nowhere = os.open(os.devnull, os.O_RDWR)
        if nowhere != number:
            os.dup2(nowhere, number)
            os.close(nowhere)
        setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))


def use_plain_characters() -> None:
    """Where a terminal cannot show a character, print another one instead of failing."""

    def plain(error: UnicodeError) -> tuple[str, int]:
        assert isinstance(error, UnicodeEncodeError)  # these streams are written to
        return "".join(PLAIN.get(character, "?") for character in error.object[error.start : error.end]), error.end

    codecs.register_error("tensim.plain", plain)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not stream.encoding.lower().startswith("utf"):
            stream.reconfigure(errors="tensim.plain")


def printable(data: Any) -> Any:
    """Text, or plain data with text in it, without control characters, which a file could give to the terminal."""
    if isinstance(data, dict):
        return {printable(key): printable(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [printable(value) for value in data]
    if not isinstance(data, str):
        return data
    return "".join(c if c.isprintable() or c in "\n\t" else f"\\x{ord(c):02x}" for c in data)


def print_error(text: object) -> None:
    """A line on standard error, in red where a terminal shows it."""
    click.echo(f"{click.style('error:', fg='red')} {printable(str(text))}", err=True)


def print_skipped(skipped: Sequence[Mapping[str, Any]]) -> None:
    """The first of what was left out, [{"id", "why"}], and how many more there are."""
    for item in skipped[:SHOWN_SKIPS]:
        click.echo(f"skipped {item['id']}: {item['why']}")
    if len(skipped) > SHOWN_SKIPS:
        click.echo(f"... and {len(skipped) - SHOWN_SKIPS} more skipped (--json lists them)")


def report_error(error: TensimError, json_to: str | None) -> NoReturn:
    """Print an error, as JSON too if that was asked for, and leave with its exit code."""
    if isinstance(error, SimulatorError):
        click.secho("This is a defect of tensim; please report it:", fg="red", err=True)
    print_error(error)
    if json_to and not error.in_json:
        try:
            write_json(error.as_json(), json_to)
        except OSError as failure:
            same = str(error).startswith(f"cannot write {json_to}: ")  # said above, in other words perhaps
            if not same:
                print_error(f"cannot write {json_to}: {failure.strerror}")
    sys.exit(error.exit_code)


def require_writable(path: str | None, suffixes: tuple[str, ...] = ()) -> None:
    """UsageError now, rather than an error after the work, when a file cannot be written or has another suffix.

    `suffixes`: what its name may end in; empty: in anything.
    """
    if path in (None, TO_STDOUT):
        return
    file = Path(path)
    if suffixes and not file.name.endswith(suffixes):
        raise UsageError(f"cannot write {path}: its name must end in {' or '.join(suffixes)}")
    if not file.resolve().parent.is_dir():
        raise UsageError(f"cannot write {path}: its folder does not exist")
    try:
        require_output(file)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error


def require_apart(written: Iterable[str | None], read: Iterable[str | None] = ()) -> None:
    """UsageError when two files that a command writes are one, or one of them is a file that it reads."""
    taken = {Path(path).resolve(): path for path in read if path not in (None, TO_STDOUT)}
    for path in written:
        if path in (None, TO_STDOUT):
            continue
        file = Path(path).resolve()
        if file.exists() and not file.is_file():  # a device or a pipe takes any number
            continue
        if file in taken:
            why = f"cannot write {path}: the command reads or writes {taken[file]} already"
            error = UsageError(why, hint="another name")
            error.in_json = True  # which may be that file
            raise error
        taken[file] = path


def require_report_folder(path: str | None) -> None:
    """UsageError now, rather than an error after the work, when the folder of a report cannot be made or written to."""
    if path is not None:
        from tensim.tool_files.report import require_folder

        require_folder(path)


class Outputs:
    """Files that a command writes when its work is done: one that fails is reported at the end and stops no other."""

    def __init__(self) -> None:
        self.failures = []

    def write(self, path: str, action: Callable[[], object]) -> None:
        """`action()` writes to `path`."""
        try:
            action()
        except OSError as error:
            self.failures.append(UsageError(f"cannot write {path}: {error.strerror or error}"))
        except UsageError as error:
            self.failures.append(error)

    def write_page(self, path: str, summary: dict[str, Any]) -> None:
        """Write the HTML page of a run."""
        from tensim.html_report.page import write_html

        self.write(path, lambda: write_html(path, summary))

    def finish(
        self,
        summary: dict[str, Any],
        json_to: str | None,
        report: Callable[[dict[str, Any]], object],
        error: TensimError | None = None,
    ) -> None:
        """Write the summary of a run, which may have written files itself, as JSON; then report; then raise what failed first.

        `report(summary)` prints for people, unless JSON goes there: last, as whoever reads it may close the pipe.  `error`: what
        is wrong with the run apart from its outputs.  In JSON it stands beside the results.
        """
        self.failures += [UsageError(f"cannot write {item['file']}: {item['why']}") for item in summary["unwritten"]]
        errors = [*self.failures, *([error] if error else [])]
        if json_to:
            data = summary | (errors[0].as_json() if errors else {})
            written = len(self.failures)
            self.write(json_to, lambda: write_json(data, json_to))
            errors += self.failures[written:]
        if json_to != TO_STDOUT:
            report(summary)
        for other in errors[1:]:
            print_error(other)
        if errors:
            errors[0].in_json = True
            raise errors[0]


def write_json(data: Any, target: str) -> None:
    """Write results to a file, or to standard output."""
    from tensim.results.json_text import json_text

    text = json_text(data)
    if target == TO_STDOUT:
        click.echo(text)
    else:
        write_output(target, text + "\n")


def report_console() -> Console:
    """Where reports for people go: as wide as the terminal; elsewhere lines are not broken, so that their words can be found."""
    from rich.console import Console

    if sys.stdout.isatty() or "COLUMNS" in os.environ:
        return Console()
    return Console(width=PIPED_WIDTH, soft_wrap=True)


class progress_bar:
    """Progress on standard error: simulated time and host speed; where that is no terminal, a line from time to time."""

    def __enter__(self) -> Callable[[str], None]:
        self.begun, self.progress = time.perf_counter(), None
        if sys.stderr.isatty():
            self.progress, self.task = _start_progress()
        else:
            self.text, self.ended = "starting", threading.Event()
            self.ticker = threading.Thread(target=self._tell, daemon=True)
            self.ticker.start()
        self.builds = progress_told_to(self.update)
        self.builds.__enter__()
        return self.update

    def update(self, text: str) -> None:
        """Say what is under way."""
        if self.progress is not None:
            self.progress.update(self.task, description=text)
        else:
            self.text = text

    def _tell(self) -> None:
        while not self.ended.wait(TOLD_EVERY):
            seconds = time.perf_counter() - self.begun
            print(f"tensim: {printable(self.text)} ({seconds:.0f} s)", file=sys.stderr, flush=True)

    def __exit__(self, *exception: Any) -> None:
        self.builds.__exit__(*exception)
        if self.progress is not None:
            self.progress.stop()
        else:
            self.ended.set()
            self.ticker.join()


def _start_progress() -> tuple[Progress, TaskID]:
    """(`rich.progress.Progress`, its task)."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    spinner = "dots" if sys.stderr.encoding.lower().startswith("utf") else "line"
    columns = (
        SpinnerColumn(spinner),
        TextColumn("{task.description}"),
        BarColumn(pulse_style="cyan"),
        TimeElapsedColumn(),
    )
    progress = Progress(*columns, console=Console(stderr=True), transient=True)
    progress.start()
    return progress, progress.add_task("starting (the first run ever compiles for about a minute)", total=None)
