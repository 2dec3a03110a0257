"""Advice that has been tried: a program runs again with one resource free, or with one thing changed, in several processes.

The runs are without data (`numerics` off) where the kernels allow it, so that each costs a fraction of the first one.
"""

from __future__ import annotations

import contextlib
import dataclasses
import multiprocessing
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tensim.analysis.access_patterns import access_patterns
from tensim.analysis.summary import RunFacts
from tensim.analysis.tried import Outcome, deeper_each, judged, tried_advice
from tensim.analysis.what_if import Experiment, free_links, free_resources
from tensim.device import Device, current_system
from tensim.results.result import Result
from tensim.running.execution import Watch
from tensim.running.programs import Settings, run_program, settings_of
from tensim.running.runnable import find_program
from tensim.sim.chip.experiments import rotate_banks, turn_corners, wait_seldom
from tensim.sim.chip.numerics_threads import set_numerics_threads
from tensim.sim.errors import ProgramError, TensimError, UsageError

if TYPE_CHECKING:
    from tensim.sim.arch import Arch
    from tensim.sim.chip.chip import Chip

PROCESSES = 2
PATIENCE = 4  # times the cycles of the first run, after which an experiment is given up


def advise(program: str | Path | Callable, **settings: Any) -> Result:
    """Run a program, find what bounds it, and try what could help; returns the `Result` with what was found.

    `program`, `settings`: as of `tensim.run`.  Its "advice" has measured gains, the largest first; "what_if" lists all
    experiments (docs/verdicts.md).  UsageError and ProgramError as `tensim.run`.
    """
    return advise_program(settings_of(program, settings))


def advise_program(
    settings: Settings, on_progress: Callable[[str], object] = lambda text: None, processes: int = PROCESSES
) -> Result:
    """`advise` for `Settings`; `processes`: that run experiments at a time."""
    program = find_program(settings.program)
    settings = dataclasses.replace(
        settings, loops=1, check=False, timeline=None, speedscope=None, noc_trace=None, tt_report=None, capture=None
    )
    first = _First()
    result, settings = _first_run(settings, first, on_progress)
    time = result["span_cycles"]
    if first.run.verdict is None:
        raise UsageError("there is nothing to advise on: no program ran on the device")
    experiments = [*free_resources(first.arch), *deeper_each(first.run.works)]
    experiments += [] if program.mesh is None else free_links(first.arch)
    experiments += [one.experiment for one in first.advice if one.experiment is not None]
    limit = PATIENCE * result["last_cycle"] + 1_000_000
    trials = dataclasses.replace(settings, max_cycles=limit, folder=None, image_hash=False)
    outcomes = _try_all(trials, first.arch, _distinct(experiments), time, on_progress, processes)
    verdict = judged(first.run.verdict, outcomes)
    return dataclasses.replace(
        result,
        summary=result.summary
        | {
            "verdict": verdict.to_dict() | {"confirmed": verdict.bounded_by == first.run.verdict.bounded_by},
            "bounded_by": verdict.bounded_by,
            "advice": [one.to_dict() for one in tried_advice(first.advice, outcomes)],
            "what_if": [one.to_dict() for one in outcomes],
        },
    )


def _distinct(experiments: Iterable[Experiment]) -> list[Experiment]:
    """Each name once."""
    return list({one.name: one for one in experiments}.values())


class _First(Watch):
    """What is looked at in the first run."""

    def begin(self, devices: Sequence[Device]) -> None:
        for device in devices:
            device.chip.recordings.record_noc()

    def end(self, chip: Chip) -> dict[str, Any]:
        self.arch, self.run = chip.arch, RunFacts(chip)
        self.advice = self.run.advice(access_patterns(chip))
        return {"last_cycle": chip.cycle}


class _Changed(Watch):
    """A run of an experiment: command records rewritten, barriers left out."""

    def __init__(self, experiment: Experiment) -> None:
        self.experiment = experiment

    def begin(self, devices: Sequence[Device]) -> None:
        if self.experiment.rewrite is not None:
            current_system().executor.rewrites.append(self.experiment.rewrite)
        for chip in (device.chip for device in devices):
            if self.experiment.barrier_periods:
                wait_seldom(chip, self.experiment.barrier_periods)
            if self.experiment.rotated_banks:
                rotate_banks(chip)
            if self.experiment.turned_corners:
                turn_corners(chip)


def _first_run(settings: Settings, first: _First, on_progress: Callable[[str], object]) -> tuple[Result, Settings]:
    """(`Result`, the settings it ran with): without data if its kernels can do without."""
    on_progress("running the program")
    try:
        timing = dataclasses.replace(settings, numerics="off")
        return run_program(timing, on_progress, first), timing
    except ProgramError as error:
        if "numerics=off" not in str(error):
            raise
        return run_program(settings, on_progress, first), settings


# --- experiments


_work = {}  # what a forked process finds: nothing of it can or must be pickled


def _try_all(
    settings: Settings,
    arch: Arch,
    experiments: list[Experiment],
    time: int,
    on_progress: Callable[[str], object],
    processes: int,
) -> list[Outcome]:
    """The `Outcome` of every experiment, in their order."""
    _work.update(settings=settings, values=arch.values(), experiments=experiments, time=time)
    with contextlib.ExitStack() as stack:
        stack.callback(_work.clear)
        if processes > 1 and "fork" in multiprocessing.get_all_start_methods():
            context = multiprocessing.get_context("fork")
            pool = stack.enter_context(ProcessPoolExecutor(processes, context, set_numerics_threads, (1,)))
            found = pool.map(_try, range(len(experiments)))
        else:
            found = map(_try, range(len(experiments)))
        outcomes = []
        for number, (cycles, error) in enumerate(found):
            one = experiments[number]
            on_progress(f"experiment {number + 1} of {len(experiments)}: {one.description}")
            outcomes.append(Outcome(one, cycles, None if cycles is None else 1 - cycles / time, error))
        return outcomes


def _try(number: int) -> tuple[int | None, str | None]:
    """(cycles, None) of an experiment, or (None, why it cannot be made)."""
    settings, one = _work["settings"], _work["experiments"][number]
    overrides = {key: value for key, value in one.overrides.items() if key in _work["values"]}
    changed = dataclasses.replace(settings, overrides={**settings.overrides, **overrides})
    try:
        return run_program(changed, watch=_Changed(one))["span_cycles"], None
    except TensimError as error:
        return None, str(error).split("\n")[0]
