"""Running one program on one device, as the settings say.

`tensim.running.execution`, and with it the engine, is imported when the program and the chip are known to exist: a wrong
name costs no second.
"""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import time
from collections.abc import Callable
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from tensim.results.result import Result
from tensim.running.options import Options
from tensim.running.runnable import Runnable, find_program
from tensim.running.tool_report import with_report
from tensim.sim.errors import UsageError
from tensim.sim.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tensim.running.execution import Watch
    from tensim.running.runnable import Runnable
    from tensim.sim.arch import Arch

# an example's name, a file, a function, or what it is
Program: TypeAlias = "str | Path | Callable[..., Any] | Runnable"


@dataclass(frozen=True)
class Settings:
    """What to run and how; None means the program's default.  `program`: an example's name, a file or a function."""

    program: Program
    arch: str = "wormhole_b0"
    device: str | None = None  # a device spec, in place of `arch`
    overrides: dict[str, Any] = field(default_factory=dict)
    grid: str | None = None
    shape: str | None = None
    dtype: str | None = None
    fidelity: str | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    numerics: str = "fast"
    noc: str = "packet"
    check: bool = False
    seed: int = 0
    loops: int = 1  # how often the program runs, one after the other
    max_cycles: int | None = None
    timeline: str | None = None
    speedscope: str | None = None  # file of speedscope profiles to write
    noc_trace: str | None = None  # file of a NoC event trace to write
    tt_report: str | None = None  # folder of the files that tt-perf-report, ttnn-visualizer and tt-npe open
    image_hash: bool = False
    zones: bool = False  # add the time spent in profiler zones
    capture: str | None = None  # file of a Light Metal binary to write
    compress: bool = False
    disassemble: str | None = None  # C++ kernel whose instructions the summary lists
    kernel_changes: dict[str, Any] = field(default_factory=dict)  # `tensim.running.kernel_changes`
    folder: str | None = None  # run folder to write (`tensim.results.run_folder`)

    @property
    def options(self) -> Options:
        """Those of the program's `run`."""
        return Options(self.shape, self.dtype, self.fidelity, self.grid, self.seed, self.parameters)


def run(program: str | Path | Callable[..., Any], **settings: Any) -> Result:
    """Run a program on a device of its own and return its `Result`.

    `program`: an example's name, the path of a file with a `run` function, or such a function (`tensim.examples`).
    `settings`: those of `Settings`, which are the options of `tensim run`: `arch` (a name, a YAML file), `overrides`
    ({key: value}), `shape` ("512x512x512" or a tuple), `dtype`, `fidelity`, `grid`, `parameters`, `numerics`, `noc`, `check`,
    `seed`, `loops`, `max_cycles`, `image_hash`, `zones`, `folder` and more.  A wrong output is no error: see `Result.verified`.
    UsageError for a setting or value that does not exist; ProgramError for what a chip cannot do.
    """
    return run_program(settings_of(program, settings))


def settings_of(program: Program, given: dict[str, Any]) -> Settings:
    """The `Settings` with these names and values; sizes may be tuples.  UsageError for a name that is none."""
    known = [one.name for one in dataclasses.fields(Settings)][1:]
    for name in given:
        if name not in known:
            close = difflib.get_close_matches(name, known, 1) or known
            raise UsageError(f"there is no setting {name!r}", hint=f"did you mean {', '.join(map(str, close))}?")
    sizes = {name: "x".join(map(str, given[name])) for name in ("shape", "grid") if isinstance(given.get(name), tuple)}
    return Settings(program, **{**given, **sizes})


def run_program(
    settings: Settings, on_progress: Callable[[str], object] = lambda text: None, watch: Watch | None = None
) -> Result:
    """Run a program and return its `Result`.  The device is closed in any case.

    `watch`: a `tensim.running.execution.Watch` that looks at the run.
    """
    begun = time.perf_counter()
    program = find_program(settings.program)
    arch, device_options = _chip(settings, program)
    with contextlib.ExitStack() as stack:
        from tensim.running.execution import Logged, Watch, execute

        watch = watch or Watch()
        if settings.folder is not None:
            from tensim.results.run_folder import RunFolder

            folder = stack.enter_context(RunFolder(settings.folder))
            on_progress, watch = folder.also_told(on_progress), Logged(watch, folder.also_told)
        options = {"seed": settings.seed, **device_options}
        work = lambda: execute(program, settings, arch, options, begun, on_progress, watch)  # noqa: E731
        result = with_report(settings.tt_report, work, on_progress, program.name)
        if settings.folder is not None:
            folder.configure(result.identity, arch)
            folder.finish(result)
    return result


def _chip(settings: Settings, program: Runnable) -> tuple[Arch, dict[str, Any]]:
    """(Arch, further options of create_device) of the settings; a mesh is of its board's chips."""
    from tensim.sim.arch import load_arch

    if program.mesh is not None:
        from tensim.mesh_device import board_of

        if settings.device is not None:
            raise UsageError(
                f"{program.name} runs on a mesh, which --device {settings.device} does not hold", hint="leave it out"
            )
        arch = board_of(program.mesh.get("board")).arch
        if settings.arch not in (Settings.arch, arch):
            raise UsageError(
                f"{program.name} runs on a mesh of {arch} chips, not on {settings.arch}", hint="leave --arch out"
            )
        return load_arch(arch, settings.overrides), {}
    if settings.device is None:
        return load_arch(settings.arch, settings.overrides), {}
    from tensim.running.device_choice import choose_chip

    chosen = choose_chip(settings.device)
    return chosen.load(settings.overrides), chosen.device_options()
