"""Simulating the cases of validations: all cores, longest first, each distinct case once, results kept per code.

A result is kept under a hash of every source file of the project and of the case: any change of code forgets it.
"""

import hashlib
import importlib
import json
import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from tensim.sim.engine.cache import cache_root, source_digest
from tensim.sim.errors import SimulatorError, TensimError
from tensim.validation.baseline import BASELINE
from tensim.validation.evidence import evidence_of
from tensim.validation.figures import error_percent
from tensim.validation.rows import Skip, cases_of

SOURCES = {".py", ".yaml", ".cpp", ".h", ".hpp", ".json", ".fbs", ".bfbs"}


def code_digest():
    """Hash of all that can change a result: sources and parameters of the packages, library versions (hex)."""
    digest = hashlib.sha256(source_digest().encode())
    for name, path in sources():
        digest.update(name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:24]


def sources():
    """(name, path) of every file that can change a result, in the order of their names."""
    for package in ("tensim", "tensim.sim", "tensim.traces", "tensim.examples", "tensim.validation"):
        folder = Path(next(iter(find_spec(package).submodule_search_locations)))
        for path in sorted(path for path in folder.rglob("*") if path.suffix in SOURCES and path != BASELINE):
            yield f"{package}/{path.relative_to(folder)}", path


@dataclass
class Selection:
    """The rows of one validation.

    `name`: in reports.  `module`: name of the module that simulates them with keyword arguments `options`.
    `cases`: [(row, case)]; `skipped`, `bad`: [{"id", "why"}] of the rows left out.  `seconds`: of one unit of a case's work.
    """

    name: str
    module: str
    cases: list = field(default_factory=list)
    skipped: list = field(default_factory=list)
    bad: list = field(default_factory=list)
    options: dict = field(default_factory=dict)
    seconds: float = 1.0

    @property
    def store(self):
        """The name under which results are kept: selections of one module share them."""
        return "-".join((self.module.removeprefix("tensim.validation."), *map(str, self.options.values())))


def select(name, module, tables, read=None, options=()):
    """The `Selection` of tables [(rows, layout)]; `read`: one of the module's `METRICS`, None: its `read`."""
    chosen = Selection(name, module.__name__, options=dict(options), seconds=getattr(module, "SECONDS", 1.0))
    for rows, layout in tables:
        parts = cases_of(rows, layout, read or module.read)
        for mine, more in zip((chosen.cases, chosen.skipped, chosen.bad), parts, strict=True):
            mine.extend(more)
    return chosen


class Results:
    """Results of one module on disk, one line per case, appended as they come: an interrupted run goes on where it was."""

    def __init__(self, store, enabled=True):
        self.known, self.path = {}, None
        if not enabled:
            return
        self.path = cache_root() / "validation" / f"{store}-{code_digest()}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.path.exists():
            for line in self.path.read_text().splitlines():
                try:
                    entry = json.loads(line)
                    self.known[entry["spec"]] = entry["result"]
                except (ValueError, KeyError):
                    continue  # the line at which a run was cut off

    def add(self, spec, result):
        """Remember the result of a case; a failure for this run only, as the machine may lack something that it has in the next."""
        self.known[repr(spec)] = result
        if self.path is not None and "error" not in result:
            with self.path.open("a") as file:
                file.write(json.dumps({"spec": repr(spec), "result": result}) + "\n")


def _work(task):
    """In a worker process: (key of the case, {"value"}, {"error"} or, of a case that cannot be simulated, {"skipped"})."""
    key, module, options = task
    try:
        return key, {"value": importlib.import_module(module).simulate(key[1], **options)}
    except Skip as why:
        return key, {"skipped": str(why)}
    except TensimError as error:
        return key, {"error": str(error)}


def simulate(selections, jobs, on_done, keep=True):
    """{store: `Results`} of all cases; `on_done(share of the work that is done, name of a selection)` after each.

    All cases of all selections go through one pool, the longest first, so that no core is idle before the last ones.
    """
    results, seconds, owners = {}, {}, {}
    for selection in selections:
        if selection.store not in results:
            results[selection.store] = Results(selection.store, keep)
        for _, case in selection.cases:
            for spec in case.specs:
                key = selection.store, spec
                seconds[key] = max(case.work * selection.seconds, seconds.get(key, 0.0))
                owners[key] = selection
    left = [(store, spec) for store, spec in seconds if repr(spec) not in results[store].known]
    left.sort(key=lambda key: -seconds[key])
    total = sum(seconds.values()) or 1.0
    done = total - sum(seconds[key] for key in left)
    tasks = [(key, owners[key].module, owners[key].options) for key in left]
    for key, result in _mapped(tasks, jobs):
        results[key[0]].add(key[1], result)
        done += seconds[key]
        on_done(done / total, owners[key].name)
    return results


def _mapped(tasks, jobs):
    if jobs <= 1 or len(tasks) <= 1:
        yield from map(_work, tasks)
        return
    with ProcessPoolExecutor(min(jobs, len(tasks)), multiprocessing.get_context("spawn")) as pool:
        try:
            for done in as_completed([pool.submit(_work, task) for task in tasks]):
                yield done.result()
        except BrokenProcessPool:
            raise SimulatorError(
                "a process that simulated rows was ended by the system",
                hint="run it again with --jobs 1: what was done is kept",
            ) from None
        finally:
            pool.shutdown(cancel_futures=True)


def compare(selection, results):
    """(rows, skipped, failures) of a simulated selection: see `tensim.validation.figures.summary`; `results`: of `simulate`.

    A row whose simulation raises is a failure: it counts against the goals.
    """
    known, rows, skipped, failures = results[selection.store].known, [], list(selection.skipped), []
    for row, case in selection.cases:
        ended = [known[repr(spec)] for spec in case.specs]
        errors = [one["error"] for one in ended if "error" in one]
        whys = [one["skipped"] for one in ended if "skipped" in one]
        if errors:
            failures.append({"id": row.id, "group": case.group, "why": errors[0]})
            continue
        if whys:
            skipped.append({"id": row.id, "why": whys[0]})
            continue
        try:
            found = _compared(case, known[repr(case.spec)])
        except Skip as why:
            skipped.append({"id": row.id, "why": str(why)})
            continue
        compared = {
            "id": row.id,
            "group": case.group,
            "measured": case.measured,
            **found,
            "unit": case.unit,
            "evidence": case.evidence or evidence_of(selection.name.split()[0], row.id, case.group),
            "columns": row.columns,
        }
        if case.cpp is not None:
            compared["cpp"] = _compared(case, known[repr(case.cpp)])
        rows.append(compared)
    return rows, skipped, failures


def _compared(case, result):
    simulated = case.value(result["value"])
    return {"simulated": simulated, "err_pct": error_percent(simulated, case.measured)}


def run_selection(selection, jobs, on_done, keep=True):
    """(rows, skipped, failures, seconds) of one selection."""
    begun = time.perf_counter()
    compared = compare(selection, simulate([selection], jobs, on_done, keep))
    return *compared, time.perf_counter() - begun
