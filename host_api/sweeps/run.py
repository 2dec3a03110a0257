"""Running the points of a sweep: what is missing in the table is handed to an executor, and each outcome becomes a row."""

from __future__ import annotations

import concurrent.futures
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import BrokenExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tensim.results.code_digest import code_digest
from tensim.results.result import require_pandas
from tensim.sim.errors import TensimError, UsageError
from tensim.sweeps.points import Point, points_of, program_name
from tensim.sweeps.progress import Progress
from tensim.sweeps.table import SweepTable
from tensim.sweeps.worker import Outcome, run_point

if TYPE_CHECKING:
    import pandas

LIVES = 2  # how often a point may end its process, alone in it
AHEAD = 2  # points handed over for each process
WINDOW = 256  # of an executor that does not say how many processes it has
POLL_SECONDS = 0.2  # between two looks at futures that tell nobody when they are done


def sweep(
    program: str | Path | Callable,
    over: Mapping[str, Iterable[Any]] | Iterable[Mapping[str, Any]],
    *,
    folder: str | Path | None = None,
    executor: concurrent.futures.Executor | None = None,
    processes: int | None = None,
    retry_failed: bool = False,
    on_progress: Callable[[str], None] | None = None,
    **settings: Any,
) -> pandas.DataFrame:
    """Run a program at many points; returns a DataFrame with a row per point, in their order.

    `over`: {name: values}, all combinations of which are points, or a list of points, {name: value} each.  Names: settings of
    `tensim.run` (shape, dtype, arch, ...), `program`, keywords of the program's `run`, parameters of the architecture, and
    what kernels are compiled with (`kernel.NAME.compile_args[2]`).  `settings`: of all points, as `tensim.run` takes them.

    `folder`: where the table is written, row by row; what it holds of the same sweep is not run again, except failed points with
    `retry_failed`.  `executor`: any concurrent.futures.Executor whose workers have tensim; without one, `processes` of this
    machine, by default all its processors.  `on_progress`: called with a line of text when a point is done.

    A point that fails is a row with its "error".  UsageError for names that cannot vary, wrong settings and wrong folders, and
    without pandas.
    """
    pandas = require_pandas("sweep")
    rows, columns = run_sweep(
        program, over, settings, folder=folder, executor=executor, processes=processes, retry_failed=retry_failed,
        on_progress=on_progress,
    )  # fmt: skip
    return pandas.DataFrame(rows, columns=columns)


def run_sweep(
    program: str | Path | Callable,
    over: Mapping[str, Iterable[Any]] | Iterable[Mapping[str, Any]],
    settings: dict[str, Any],
    *,
    folder: str | Path | None = None,
    executor: concurrent.futures.Executor | None = None,
    processes: int | None = None,
    retry_failed: bool = False,
    on_progress: Callable[[str], None] | None = None,
) -> tuple[list[dict[str, Any]], list[str]]:
    """(rows, columns) of a sweep: what `sweep` makes a DataFrame of."""
    if processes is not None and processes < 1:
        raise UsageError(f"{processes} processes; a sweep needs one at least")
    points = points_of(program, over, settings)
    names = list(dict.fromkeys(name for point in points for name in point.values))
    definition = {"program": None if program is None else program_name(program), "settings": settings}
    with SweepTable(folder, definition, names, code_digest(), retry_failed) as table:
        missing = list({point.key: point for point in points if not table.has(point)}.values())
        progress = Progress(len(points), len(points) - len(missing), table.dropped, on_progress)
        if missing:
            _run_missing(missing, table, progress, executor, processes)
        return table.of(points), table.columns


def _run_missing(
    points: list[Point],
    table: SweepTable,
    progress: Progress,
    executor: concurrent.futures.Executor | None,
    processes: int | None,
) -> None:
    def done(point: Point, outcome: Outcome) -> None:
        table.add(point, outcome.figures, outcome.error, outcome.sources)
        progress.done(failed=bool(outcome.error))

    if executor is None:
        _run_locally(points, table, progress, processes, done)
        return
    window = AHEAD * getattr(executor, "_max_workers", WINDOW // AHEAD)
    for point, future in _completed(executor, points, window):
        outcome = _outcome_of(future)
        if outcome.code != code_digest():
            raise UsageError(
                "a worker runs another tensim than this process", hint="install the same version, from the same sources"
            )
        done(point, outcome)


def _outcome_of(future: concurrent.futures.Future[Outcome]) -> Outcome:
    """What a future of somebody else's executor holds; one that fails is a failed point."""
    try:
        return future.result()
    except BrokenExecutor as error:
        raise TensimError(
            f"the executor cannot run anything any more: {error}",
            kind="executor",
            hint="start again: the table goes on",
        ) from error
    except Exception as error:  # whatever the executor raises for a worker that died, or for a task that it gave up
        return Outcome({}, f"{type(error).__name__}: {' '.join(str(error).split())}", {}, code_digest())


def _completed(
    executor: concurrent.futures.Executor, points: Iterable[Point], window: int
) -> Iterator[tuple[Point, concurrent.futures.Future[Outcome]]]:
    """Yield (point, future) as the points end; no more than `window` are handed over at a time."""
    waiting, futures = iter(points), {}
    try:
        while True:
            for point in waiting:
                futures[executor.submit(run_point, point.settings)] = point
                if len(futures) >= window:
                    break
            if not futures:
                return
            for future in _some_done(futures):
                yield futures.pop(future), future
    finally:
        for future in futures:
            future.cancel()


def _some_done(futures: Iterable[concurrent.futures.Future[Outcome]]) -> list[concurrent.futures.Future[Outcome]]:
    """The futures that are done, at least one; those that failed behind the others, whose rows come first."""
    if all(isinstance(future, concurrent.futures.Future) for future in futures):
        done = concurrent.futures.wait(futures, return_when=concurrent.futures.FIRST_COMPLETED).done
        return sorted(done, key=lambda future: future.cancelled() or future.exception() is not None)
    while True:
        found = [future for future in futures if future.done()]
        if found:
            return found
        time.sleep(POLL_SECONDS)


# --- this machine


def _run_locally(
    points: list[Point],
    table: SweepTable,
    progress: Progress,
    processes: int | None,
    done: Callable[[Point, Outcome], None],
) -> None:
    """Run points in processes of this machine; one that dies is replaced."""
    from tensim.sweeps import local_processes

    processes = min(processes or local_processes.usable_processors(), len(points))
    programs = list(dict.fromkeys(point.settings["program"] for point in points))
    progress.say("starting")
    pool, suspects, died = local_processes.start(processes, programs), [], {}
    try:
        while True:
            alone = bool(suspects)
            batch = suspects[:1] if alone else [point for point in points if not table.has(point)]
            if not batch:
                return
            lost = _run_batch(pool, batch, 1 if alone else AHEAD * processes, done)
            if not lost:
                suspects = suspects[1:]
                continue
            local_processes.kill(pool)
            pool = local_processes.start(processes, programs)
            if not alone:
                suspects = lost
                continue
            (point,) = lost
            died[point.key] = died.get(point.key, 0) + 1
            if died[point.key] == LIVES:
                table.add(point, {}, "the process that simulated it died: out of memory, or killed", {})
                progress.done(failed=True)
                suspects = suspects[1:]
    finally:
        local_processes.kill(pool)


def _run_batch(
    pool: concurrent.futures.Executor, points: list[Point], window: int, done: Callable[[Point, Outcome], None]
) -> list[Point]:
    """Run points in a pool; returns those that were under way when one of its processes died, or nothing."""
    ended = set()
    handed_over = []

    def noted(points: Iterable[Point]) -> Iterator[Point]:
        for point in points:
            handed_over.append(point)
            yield point

    try:
        for point, future in _completed(pool, noted(points), window):
            done(point, future.result())
            ended.add(point.key)
    except BrokenProcessPool:
        return [point for point in handed_over if point.key not in ended]
    return []
