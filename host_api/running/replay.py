"""Replay of Light Metal binaries with everything that they may name: chips by their specs, host functions by their names."""

from __future__ import annotations

import contextlib
import os
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tensim.analysis.links import fabric_facts
from tensim.analysis.summary import collect
from tensim.light_metal.replay import Replay, ReplayOptions
from tensim.results import identity
from tensim.results.result import Result
from tensim.results.run_folder import RunFolder
from tensim.running.device_choice import choose_chip
from tensim.running.execution import Files, unheard
from tensim.running.tool_report import with_report
from tensim.runtime.functions import bound_to_buffers
from tensim.sim.chip.statistics import program_cycles
from tensim.sim.errors import UsageError

if TYPE_CHECKING:
    from tensim.device import Device
    from tensim.light_metal.binary import LightMetalBinary
    from tensim.running.execution import LogFiles
    from tensim.sim.arch import Arch
    from tensim.sim.chip.chip import Chip
    from tensim.sim.host.executor import Executor
    from tensim.traces.light_metal.binary import Binary


class LightMetalReplay(Replay):
    """Replays a binary on a device that it opens itself, or on `device`.

    `binary`: LightMetalBinary, bytes or a file name.  Afterwards `compares` holds the comparisons' results, `reads` the
    bytes of every read in order, `error` what stopped the replay.
    """

    def __init__(
        self,
        binary: LightMetalBinary | Binary | bytes | str | os.PathLike,
        device: Device | None = None,
        options: ReplayOptions | None = None,
    ) -> None:
        super().__init__(binary, device, options, find_chip=choose_chip, find_function=bound_to_buffers)


def replay_file(
    file: str | Path,
    binary: Binary,
    options: ReplayOptions,
    program: str | None,
    loops: int,
    logs: LogFiles,
    folder: str | Path | None,
    on_progress: Callable[[str], object],
    tt_report: str | Path | None = None,
) -> Result:
    """The `Result` of the replays of an opened `binary`, `loops` of them; in the run folder, too, if there is one.

    `file`: its path; `options`: ReplayOptions; `program`: the one to run of a binary of programs, or None; `logs`:
    `LogFiles` to write; `tt_report`: folder of `tensim.tool_files` to write, or None.
    """
    with contextlib.ExitStack() as stack:
        configure: Callable[[dict[str, Any], Arch], object] = unheard
        if folder is not None:
            run_folder = stack.enter_context(RunFolder(folder))
            on_progress, configure = run_folder.also_told(on_progress), run_folder.configure

        def work() -> Result:
            if binary.reader.root("binary").binary is not None:
                from tensim.running.saved_programs import run_saved

                return run_saved(file, binary, options, program, loops, logs, on_progress, configure)
            if program is not None:
                raise UsageError(f"{file} is a captured run: --program does not apply", hint="leave --program out")
            return _replay_loops(file, binary, options, loops, logs, on_progress, configure)

        result = with_report(tt_report, work, on_progress)
        if folder is not None:
            run_folder.finish(result)
    return result


def _replay_loops(
    file: str | Path,
    binary: Binary,
    options: ReplayOptions,
    loops: int,
    logs: LogFiles,
    on_progress: Callable[[str], object],
    configure: Callable[[dict[str, Any], Arch], object],
) -> Result:
    """The `Result` of replays of a captured run; each loop begins anew."""
    durations, written = [], Files(on_progress)
    for number in range(loops):
        begun = time.perf_counter()
        on_progress(f"{file}: replay {number + 1} of {loops}")
        replay = LightMetalReplay(binary, options=options)
        try:
            with (
                warnings.catch_warnings(record=True) as told,
                identity.launches(partial(_executor_of, replay)) as launches,
            ):
                replay.execute()
            if not replay.chips:
                raise UsageError(f"{file} opens no device", hint="give --arch")
            chip = replay.chips[0] if replay.fabric is None else max(replay.chips, key=program_cycles)
            summary = collect(chip)
            if replay.fabric is not None:
                summary["fabric"] = fabric_facts(replay.fabric)
            durations.append({name: summary[name] for name in ("cycles", "device_seconds")})
            summary |= logs.write(written, chip, Path(file).name)
            if options.save:
                written.write(", ".join(name for _, name in options.save), replay.save_buffers)
            summary["unwritten"] = written.unwritten
            images = chip.memory.image_sha256()
            repeatable = _identity(file, chip, options, loops) | launches.identity()
            configure(repeatable, chip.arch)
        finally:
            replay.close()
        seconds = time.perf_counter() - begun
    passed = all(item["passed"] for item in replay.compares) if options.check else None
    summary |= {
        "file": str(file), "name": Path(file).name, "commands": len(binary), "compares": replay.compares,
        "captured_cycles": binary.root.cycles, "differs": replay.differs,
        "image_sha256": images, "verified": passed if replay.compares else None,
        "warnings": [str(warning.message) for warning in told] + summary["warnings"],
        "host_seconds": seconds, "loops": durations,
    }  # fmt: skip
    return Result(summary, repeatable)


def _executor_of(replay: LightMetalReplay) -> Executor:
    return replay.system.executor


def _identity(file: str | Path, chip: Chip, options: ReplayOptions, loops: int) -> dict[str, Any]:
    return (
        identity.of_tensim()
        | identity.of_program(Path(file).name, file)
        | identity.of_chip(chip, options.device, options.overrides)
        | identity.of_choices(seed=chip.seed, loops=loops, check=options.check_kernels, max_cycles=options.max_cycles)
    )
