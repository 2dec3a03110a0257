"""A run with the files of `--tt-report` (`tensim.tool_files`)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tensim.results.result import Result


def with_report(
    folder: str | Path | None, work: Callable[[], Result], on_progress: Callable[[str], object], name: str | None = None
) -> Result:
    """What `work()`, which opens devices, returns as its `Result`; what it did is written into `folder`, if that is not None.

    `name`: of the program.  Texts for the user go to the result's warnings, what could not be written to "unwritten".
    """
    if folder is None:
        return work()
    from tensim.running.execution import Files
    from tensim.tool_files.recording import recording
    from tensim.tool_files.report import write_report

    with recording() as record:
        result = work()
    files = Files(on_progress)
    result.summary["warnings"] += files.write(folder, lambda: write_report(folder, record, name)) or []
    result.summary["unwritten"] += files.unwritten
    return result
