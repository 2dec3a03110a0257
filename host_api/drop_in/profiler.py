"""tt-metal's device profiler on a chip at register level: its zones are compiled into firmware and kernels, and its host code,
which only a release built with Tracy has, writes them to a log.

The driver's simulation device says a clock of 0 MHz, by which the log's readers divide: the chip's goes into its place.
Sources: SimulationChip::get_clock of tt-umd; tt_metal/tools/profiler/kernel_profiler.hpp.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tensim.sim.engine.sealed_files import write_atomically
from tensim.sim.errors import UsageError

if TYPE_CHECKING:
    from tensim.drop_in.runner import Place
    from tensim.library.environment import Library

LOG = ".logs/profile_log_device.csv"
TRACY_MARK = b"TRACY_PORT"  # which only a Tracy that serves reads; the other one has empty functions
CLOCK = re.compile(rb"(CHIP_FREQ\[MHz\]: )0$", re.M)


def require_profiler(library: Library) -> None:
    """UsageError where a library is built without its profiler."""
    folders = library.folder / "build/lib", library.folder.parent / "ttnn.libs"
    if not any(TRACY_MARK in path.read_bytes() for folder in folders for path in folder.glob("libtracy*.so*")):
        raise UsageError(
            f"ttnn {library.release} is built without its device profiler",
            hint="name an interpreter with one that has it (0.64.1 to 0.64.5): --python; or tensim ttnn --library --tt-report",
        )


def variables(folder: str | Path) -> dict[str, str]:
    """The environment in which the library profiles into a folder."""
    return {"TT_METAL_DEVICE_PROFILER": "1", "TT_METAL_PROFILER_DIR": os.path.abspath(folder)}


def finish(folder: str | Path, place: Place, calls: Sequence[dict[str, Any]]) -> tuple[Path, ...]:
    """Give the log in a folder its clock, and write its table of operations (`calls`: those that were noted).

    The paths of both; () where the library has written no log.
    """
    from tensim.drop_in.profiler_report import write_report

    log = Path(folder, LOG)
    if not log.is_file():
        return ()
    write_atomically(log, CLOCK.sub(rb"\g<1>%d" % place.arch.clock_mhz, log.read_bytes(), count=1))
    return log, write_report(folder, log, calls, place.arch, place.library.folder)
