"""A program on a device of its own: opened, run, summarised, closed.  What writes files is imported when a file is asked for."""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from tensim.analysis.links import fabric_facts
from tensim.analysis.summary import collect
from tensim.device import Device, close_device, create_device, current_system, devices_of, use_system
from tensim.results import identity
from tensim.results.result import Result
from tensim.running.kernel_changes import KernelChanges
from tensim.sim.chip import statistics
from tensim.sim.chip.zones import zones
from tensim.sim.errors import TensimWarning, UsageError
from tensim.sim.host.executor import Simulation
from tensim.sim.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from tensim.examples.result import ExampleResult
    from tensim.light_metal.binary import LightMetalBinary
    from tensim.mesh_device import MeshDevice
    from tensim.running.programs import Settings
    from tensim.running.runnable import Runnable
    from tensim.sim.arch import Arch
    from tensim.sim.chip.chip import Chip

T = TypeVar("T")
Listener: TypeAlias = Callable[[str], object]  # is told what goes on
Durations: TypeAlias = list[dict[str, Any]]  # of loops, see `timed`


class Watch:
    """What looks at a run from outside: `begin` before the program runs, `end` when it has run."""

    def begin(self, devices: Sequence[Device]) -> None:
        """The device is open, or those of a mesh."""

    def end(self, chip: Chip) -> dict[str, Any]:
        """The program has run; returns what the summary has besides."""
        return {}


class Logged(Watch):
    """Another watch, beside a log that is told what kernels print: `also_told(listener)` gives a listener that does both."""

    def __init__(self, watch: Watch, also_told: Callable[[Listener], Listener]) -> None:
        self.watch, self.also_told = watch, also_told

    def begin(self, devices: Sequence[Device]) -> None:
        for device in devices:
            device.chip.printer.on_print = self.also_told(device.chip.printer.on_print)
        self.watch.begin(devices)

    def end(self, chip: Chip) -> dict[str, Any]:
        return self.watch.end(chip)


def execute(
    program: Runnable,
    settings: Settings,
    arch: Arch,
    device_options: dict[str, Any],
    begun: float,
    on_progress: Listener,
    watch: Watch,
) -> Result:
    """The `Result` of a run of a `Runnable`; `begun`: `time.perf_counter()` of its start; `watch`: a `Watch`."""
    with _system_of_its_own():
        on_progress("opening the device" if program.mesh is None else "opening the mesh")
        with warnings.catch_warnings(action="ignore", category=TensimWarning):  # the result says them
            opened = _open(program, settings, arch, device_options)
        devices = devices_of(opened)
        try:
            _observe(devices, settings, begun, on_progress)
            watch.begin(devices)
            changes = KernelChanges(settings.kernel_changes)
            current_system().executor.rewrites.append(changes)
            with identity.launches(lambda: current_system().executor) as launches:
                result, loops, binary = _completed(program, lambda: _run(program, settings, opened, on_progress))
            changes.require_used()
            chip = max((device.chip for device in devices), key=statistics.program_cycles)
            summary = collect(chip)
            summary |= {
                "name": program.name,
                "description": result.description,
                "verified": result.verified if settings.numerics != "off" else None,
                "comparison": None if settings.numerics == "off" or result.verified else result.comparison(),
                "warnings": arch.without_effect(settings.numerics, chips=len(devices)) + summary["warnings"],
                "loops": loops,
            }
            if not isinstance(opened, Device) and opened.has_fabric:
                summary["fabric"] = fabric_facts(opened.fabric)
            summary |= watch.end(chip)
            if settings.zones:
                summary["zones"] = zones(chip)
            summary |= _save(chip, binary, settings, on_progress)
            told = _identity(program, settings, chip, launches)
            output = None if settings.numerics == "off" else result.actual
            return Result(summary | {"host_seconds": time.perf_counter() - begun}, told, output=output)
        finally:
            _close(opened)


def _completed(program: Runnable, work: Callable[[], T]) -> T:
    """The result of `work`; UsageError for a program that ends the process instead of returning."""
    try:
        return work()
    except SystemExit as end:
        raise UsageError(
            f"{program.name} ends the process (SystemExit: {end.code}), so there is no result to check",
            hint="return from `run`, or raise what went wrong",
        ) from end


def _open(program: Runnable, settings: Settings, arch: Arch, device_options: dict[str, Any]) -> Device | MeshDevice:
    """The device of a program, or its mesh."""
    options: dict[str, Any] = {
        "check": settings.check,
        "arch": arch,
        "numerics": settings.numerics,
        "noc": settings.noc,
        "max_cycles": settings.max_cycles,
    }
    if program.mesh is None:
        return create_device(0, **options, **device_options)
    from tensim.mesh_device import open_mesh_device

    try:
        return open_mesh_device(**program.mesh, **options)
    except TypeError as error:
        raise UsageError(f"{program.name}: MESH: {error}") from error


def _close(opened: Device | MeshDevice) -> None:
    if isinstance(opened, Device):
        close_device(opened)
    else:
        from tensim.mesh_device import close_mesh_device

        close_mesh_device(opened)


@contextlib.contextmanager
def _system_of_its_own() -> Iterator[None]:
    """Devices that the user has open are not in the way of the program's, nor their time in that of its host."""
    before = current_system()
    use_system(Simulation(before.executor.programs))
    try:
        yield
    finally:
        use_system(before)


def _identity(program: Runnable, settings: Settings, chip: Chip, launches: identity.Launches) -> dict[str, Any]:
    """What makes the result of a program repeatable."""
    chosen = program.chosen(settings.options)
    return (
        identity.of_tensim()
        | identity.of_program(program.name, program.source_file(), chosen.parameters)
        | identity.of_chip(chip, settings.device, settings.overrides)
        | identity.of_choices(
            shape=chosen.shape, dtype=chosen.dtype, fidelity=chosen.fidelity, grid=chosen.grid, seed=settings.seed,
            loops=settings.loops, check=settings.check, max_cycles=settings.max_cycles,
        )
        | {"kernel_changes": dict(settings.kernel_changes)}
        | launches.identity()
    )  # fmt: skip


def timed(chips: Sequence[Chip], work: Callable[[], T]) -> tuple[T, dict[str, Any]]:
    """(result of `work`, {"cycles", "device_seconds"} that the programs of chips took in it, on the one where it is longest)."""
    before = [statistics.program_cycles(chip) for chip in chips]
    result, chip = work(), chips[0]
    cycles = max(statistics.program_cycles(chip) - begun for chip, begun in zip(chips, before, strict=True))
    return result, {"cycles": cycles, "device_seconds": cycles / (chip.arch.clock_mhz * 1e6)}


def _observe(devices: Sequence[Device], settings: Settings, begun: float, on_progress: Listener) -> None:
    """Switch on what the settings ask to have recorded, and the reports of progress."""
    for device in devices:
        if settings.timeline or settings.zones or settings.speedscope:
            device.chip.recordings.enable_log()
        if settings.noc_trace:
            device.chip.recordings.record_noc()
    chip = devices[0].chip

    def report(now: object, chips: object) -> None:
        rate = int(chip.machine["operations"]) / max(time.perf_counter() - begun, 1e-9)
        on_progress(f"simulated {chip.cycle:,} cycles, {rate / 1e6:.2f} M operations/s")

    devices[0].system.env.on_progress(report)


def _run(
    program: Runnable, settings: Settings, device: Device | MeshDevice, on_progress: Listener
) -> tuple[ExampleResult, Durations, LightMetalBinary | None]:
    """(result, durations, Light Metal binary or None) of all loops."""
    if not settings.capture:
        return *_run_loops(program, settings, device, on_progress), None
    from tensim.light_metal.capture import light_metal_begin_capture, light_metal_end_capture

    light_metal_begin_capture(settings.compress)
    try:
        result, loops = _run_loops(program, settings, device, on_progress)
    finally:
        binary = light_metal_end_capture()
    return result, loops, binary


def _run_loops(
    program: Runnable, settings: Settings, device: Device | MeshDevice, on_progress: Listener
) -> tuple[ExampleResult, Durations]:
    """(result, durations): of a wrong loop if there is one, else of the last; without data none is wrong."""
    results, loops = [], []
    chips = [one.chip for one in devices_of(device)]
    for number in range(settings.loops):
        on_progress("running" if settings.loops == 1 else f"loop {number + 1} of {settings.loops}")
        result, duration = timed(chips, lambda: program.run_on(device, settings.options))
        results.append(result)
        loops.append(duration)
    if settings.numerics == "off":
        return results[-1], loops
    return next((item for item in results if not item.verified), results[-1]), loops


def unheard(*told: object) -> None:
    """A listener that does not listen."""


class Files:
    """Files that a run writes when its work is done.  `unwritten`: [{"file", "why"}] of those that failed."""

    def __init__(self, on_progress: Listener) -> None:
        self.on_progress = on_progress
        self.unwritten: list[dict[str, str]] = []

    def write(self, path: str | Path, action: Callable[[], T]) -> T | None:
        """What `action()`, which writes to `path`, returns; None when it fails."""
        self.on_progress(f"writing {path}")
        try:
            return action()
        except OSError as error:
            self.unwritten.append({"file": str(path), "why": error.strerror or str(error)})
        except UsageError as error:
            why = error.message.removeprefix(f"cannot write {path}: ")
            self.unwritten.append({"file": str(path), "why": why})
        return None


@dataclass(frozen=True)
class LogFiles:
    """Files made of a chip's log (`tensim.sim.chip.recordings`); None: not wanted."""

    timeline: str | None = None
    speedscope: str | None = None

    @property
    def wanted(self) -> bool:
        """Whether there is to be one."""
        return self.timeline is not None or self.speedscope is not None

    def write(self, files: Files, chip: Chip, name: str) -> dict[str, Any]:
        """Write them; what a summary says of them.  `files`: `Files`; `name`: of what ran."""
        said: dict[str, Any] = {}
        timeline, speedscope = self.timeline, self.speedscope
        if timeline:
            from tensim.traces.timeline import write_timeline

            said["timeline_events"] = files.write(timeline, lambda: write_timeline(chip, timeline))
        if speedscope:
            from tensim.tool_files.speedscope import write_speedscope

            files.write(speedscope, lambda: write_speedscope(chip, speedscope, name))
        return said


def _save(chip: Chip, binary: LightMetalBinary | None, settings: Settings, on_progress: Listener) -> dict[str, Any]:
    """Write the files that the settings ask for; what the summary says of them, "unwritten" those that failed."""
    said: dict[str, Any] = {}
    files, capture = Files(on_progress), settings.capture
    if binary is not None and capture is not None:
        files.write(capture, lambda: binary.save_to_file(capture))
        said |= {"file": capture, "bytes": binary.size()}
    if settings.disassemble:
        from tensim.running.disassembly import disassembly

        said["disassembly"] = disassembly(chip, settings.disassemble)
    if settings.image_hash:
        said["image_sha256"] = chip.memory.image_sha256()
    said |= LogFiles(settings.timeline, settings.speedscope).write(files, chip, str(settings.program))
    if settings.noc_trace:
        from tensim.traces.noc_events import write_noc_events

        said["noc_trace_events"] = files.write(settings.noc_trace, lambda: write_noc_events(chip, settings.noc_trace))
    return said | {"unwritten": files.unwritten}
