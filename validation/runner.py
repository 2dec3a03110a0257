"""Simulating the cases of a validation: both cores, longest first, each distinct case once, results kept per code.

A result is kept under a hash of every source file of the project and of the case: any change of code forgets it.
"""

import hashlib
import importlib
import json
import multiprocessing
import time
from pathlib import Path

from sim.cache import cache_root, source_digest
from sim.errors import TensimError

PROJECT = Path(__file__).parent.parent


def code_digest():
    """Hash of all that can change a result: sources and parameters of the packages, library versions (hex)."""
    digest = hashlib.sha256(source_digest().encode())
    for package in ("sim", "host_api", "examples", "validation"):
        for path in sorted([*(PROJECT / package).rglob("*.py"), *(PROJECT / package).rglob("*.yaml")]):
            digest.update(str(path.relative_to(PROJECT)).encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:24]


class Results:
    """Results of one kind on disk, one line per case, appended as they come: an interrupted run goes on where it was."""

    def __init__(self, kind, enabled=True):
        self.known, self.path = {}, None
        if not enabled:
            return
        self.path = cache_root() / "validation" / f"{kind}-{code_digest()}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.path.exists():
            for line in self.path.read_text().splitlines():
                try:
                    entry = json.loads(line)
                    self.known[entry["spec"]] = entry["result"]
                except (ValueError, KeyError):
                    continue  # the line at which a run was cut off

    def add(self, spec, result):
        """Remember the result of a case."""
        self.known[repr(spec)] = result
        if self.path is not None:
            with self.path.open("a") as file:
                file.write(json.dumps({"spec": repr(spec), "result": result}) + "\n")


def _work(task):
    """In a worker process: (spec, {"value"} or {"error"})."""
    module, spec, options = task
    try:
        return spec, {"value": importlib.import_module(module).simulate(spec, **options)}
    except TensimError as error:
        return spec, {"error": str(error)}


def simulate(module, cases, jobs, results, on_done, options):
    """{spec: {"value"} or {"error"}} of all cases; `on_done(share of the work that is done)` after each."""
    work = {}
    for case in cases:
        work[case.spec] = max(case.work, work.get(case.spec, 0.0))
    left = sorted((spec for spec in work if repr(spec) not in results.known), key=lambda spec: -work[spec])
    total, done = sum(work.values()) or 1.0, sum(work[spec] for spec in work if repr(spec) in results.known)
    on_done(done / total)
    tasks = [(module.__name__, spec, options) for spec in left]
    for spec, result in _mapped(tasks, jobs):
        results.add(spec, result)
        done += work[spec]
        on_done(done / total)
    return {spec: results.known[repr(spec)] for spec in work}


def _mapped(tasks, jobs):
    if jobs <= 1 or len(tasks) <= 1:
        yield from map(_work, tasks)
        return
    with multiprocessing.get_context("spawn").Pool(min(jobs, len(tasks))) as pool:
        yield from pool.imap_unordered(_work, tasks)


def validate(kind, module, rows_by_file, jobs, on_done, keep=True, read=None, options=()):
    """(rows, skipped, bad, seconds): see `validation.figures.summary`; `rows_by_file`: [(rows, layout)].

    `read`: one of the module's `METRICS`; None: its `read`.
    `options`: keyword arguments of the module's `simulate`.
    """
    from validation.figures import error_percent
    from validation.rows import cases_of

    begun = time.perf_counter()
    cases, skipped, bad = [], [], []
    for rows, layout in rows_by_file:
        for mine, more in zip((cases, skipped, bad), cases_of(rows, layout, read or module.read), strict=True):
            mine.extend(more)
    options = dict(options)
    results = Results("-".join((kind, *map(str, options.values()))), keep)
    values = simulate(module, [case for _, case in cases], jobs, results, on_done, options)
    compared = []
    for row, case in cases:
        result = values[case.spec]
        if "error" in result:
            skipped.append({"id": row.id, "why": f"its simulation failed: {result['error']}"})
            continue
        simulated = case.value(result["value"])
        compared.append(
            {
                "id": row.id,
                "group": case.group,
                "measured": case.measured,
                "simulated": simulated,
                "unit": case.unit,
                "err_pct": error_percent(simulated, case.measured),
                "columns": row.columns,
            }
        )
    return compared, skipped, bad, time.perf_counter() - begun
