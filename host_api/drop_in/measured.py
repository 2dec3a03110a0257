"""What silicon measured of the performance tests of the vendor's LLK suite: which test measures the same, and how far it is off.

`llk_blackhole_op_costs.csv`: cycles of one thread per tile, or per call of a vector function; `llk_wormhole_l1_to_l1_points.csv`:
cycles of whole kernels (docs/validation.md).  A row is compared where the suite still measures its case.  What one thread does
alone depends on the fidelity and the width of Dst, but not on the formats in L1, of which other threads make nothing: products
are compared over all formats.  The suite's tests of vector functions copy each tile to Dst before, which its test of copies
measures alone and the rows leave out: it is taken off.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tensim.library.survey import Survey
from tensim.sim.errors import UsageError

Values = tuple[tuple[str, str], ...]  # names and words of parameters (`survey_child.values_of`)
Row = Mapping[str, str]
RUNS = "LLK_PERF_RUN_TYPES"  # environment: which of its five ways of running a test the suite takes
FACES = 4  # of a tile
FORMATS = {"bf16": "Float16_b", "f16": "Float16", "bfp8": "Bfp8_b", "fp32": "Float32", "fp32(tf32)": "Float32"}
UNARY = {
    "gelu_tile": "Gelu", "gtz_tile": "GreaterThanZero", "hardsigmoid_tile": "Hardsigmoid", "recip_tile": "Reciprocal",
    "trunc_tile": "Trunc",
}  # fmt: skip
BINARY = {
    "add_binary_tile": ("perf_eltwise_binary_sfpu.py::test_perf_eltwise_binary_sfpu_float", "SfpuElwadd"),
    "atan2_binary_tile": ("perf_eltwise_binary_sfpu.py::test_perf_eltwise_binary_sfpu_atan2", "SfpuAtan2"),
}


@dataclass(frozen=True)
class Choice:
    """A parametrisation of a test: the first of a function, FILE::NAME, that has these values."""

    function: str
    values: Values

    def is_of(self, test: Mapping[str, Any]) -> bool:
        """Is a test of a survey such a one?"""
        values = test.get("values", {})
        return test["test"].partition("[")[0] == self.function and all(values.get(k) == v for k, v in self.values)


@dataclass(frozen=True)
class Point:
    """A row, FILE:N: the cycles of a zone in one of the suite's ways of running a test, per tile where `per_tile`.

    What compares with it is `share` times what is left of the zone without that of the test `less`.
    """

    row: str
    group: str
    cycles: float
    test: Choice
    run: str
    zone: str = "TILE_LOOP"
    per_tile: bool = True
    share: float = 1.0
    less: Choice | None = None

    def choices(self) -> list[Choice]:
        """The tests that are to be run."""
        return [choice for choice in (self.test, self.less) if choice is not None]

    def simulated(self, tests: Sequence[Mapping[str, Any]]) -> float | None:
        """The same of a survey's tests; None where one of them did not pass, or is none of the suite's."""
        found = [self._time(choice, tests) for choice in self.choices()]
        if any(time is None for time in found):
            return None
        whole, *less = (time for time in found if time is not None)
        return self.share * (whole - sum(less))

    def _time(self, choice: Choice, tests: Sequence[Mapping[str, Any]]) -> float | None:
        passed = (test for test in tests if test["outcome"] == "passed" and choice.is_of(test))
        rows = next((test["times"] for test in passed if "times" in test), [])
        row = next((row for row in rows if row["marker"] == self.zone), None)
        time: float | None = None if row is None else row.get(f"mean({self.run})")
        if row is None or time is None or not self.per_tile:
            return time
        return time / ((row.get("loop_factor") or 1) * (row.get("tile_cnt") or 1))


def points_of(paths: Iterable[str | Path], arch: str) -> list[Point]:
    """The rows of files that have a test, of a chip.  UsageError for a file of other columns."""
    found = []
    for path in map(Path, paths):
        with open(path, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        read = next((read for column, read in READERS.items() if rows and column in rows[0]), None)
        if read is None:
            raise UsageError(f"{path} has no rows that the LLK suite measures, or is no CSV of such rows")
        for number, row in enumerate(rows, 1):
            point = read(f"{path.name}:{number}", row) if row["arch"] == arch else None
            found += [] if point is None else [point]
    return found


def selected(plan: Survey, points: Sequence[Point]) -> Survey:
    """A survey of the suite reduced to the tests of some points, in the ways of running them that are compared.

    Changes this process's environment.
    """
    choices = list(dict.fromkeys(choice for point in points for choice in point.choices()))
    os.environ[RUNS] = ",".join(sorted({point.run for point in points}))
    files = sorted({choice.function.partition("::")[0] for choice in choices})
    chosen = tuple({"function": choice.function, "values": dict(choice.values)} for choice in choices)
    return replace(plan, patterns=tuple(files), chosen=chosen)


def compared(points: Iterable[Point], tests: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """[{"row", "group", "measured", "simulated", "err_pct"}] in cycles; None in the last two where no test says it."""
    rows = []
    for point in points:
        simulated = point.simulated(tests)
        error = None if simulated is None else 100 * (simulated - point.cycles) / point.cycles
        rows.append({
            "row": point.row, "group": point.group, "measured": point.cycles, "simulated": simulated, "err_pct": error,
        })  # fmt: skip
    return rows


def _choice(function: str, **values: str) -> Choice:
    return Choice(function, tuple(values.items()))


def _operation(name: str, row: Row) -> Point | None:
    """A row of `llk_blackhole_op_costs.csv`."""
    operation, engine, extra = row["ttkernel_op"], row["engine"].split()[0], row["extra_config"]
    wide = "Yes" if row["fp32_dest_acc"] == "1" else "No"
    formats = {"input": row["input_format"], "output": row["output_format"]}
    cycles, run = float(row["cycles"]), f"{engine.upper()}_ISOLATE"
    if operation in UNARY or operation in BINARY:
        return _vector(name, operation, wide, formats, cycles)
    if operation == "reduce_tile":
        if engine == "math" and "HiFi4" not in extra:  # the suite's fidelity
            return None
        test = _choice(
            "perf_reduce.py::test_perf_reduce", **formats, dest_acc=wide,
            reduce_dim=next(dim for dim in ("Row", "Column", "Scalar") if f"Reduce{dim}" in extra),
            pool_type="Sum" if "Sum" in extra else "Max",
        )  # fmt: skip
        return Point(name, f"reductions, {engine}", cycles, test, run)
    if operation == "mul_tiles":
        what = {"math_fidelity": extra.removeprefix("math_fidelity=")} if engine == "math" else formats
        test = _choice(
            "perf_eltwise_binary.py::test_perf_eltwise_binary", **what, dest_acc=wide, math_op="Elwmul",
            tile_dimensions="(32, 32)", acc_to_dest="False", transpose_srca="No",
        )  # fmt: skip
        return Point(name, f"products, {engine}", cycles, test, run)
    return None


def _vector(name: str, operation: str, wide: str, formats: Mapping[str, str], cycles: float) -> Point:
    """Of a function of one operand a face, of one of two a tile, whose operands are two tiles of the test's."""
    if operation in UNARY:
        test = _choice(
            "perf_eltwise_unary_sfpu.py::test_perf_eltwise_unary_sfpu", **formats, dest_acc=wide,
            mathop=UNARY[operation], approx_mode="No",
        )  # fmt: skip
    else:
        function, mathop = BINARY[operation]
        test = _choice(function, **formats, dest_acc=wide, mathop=mathop)
    copy = _choice(
        "perf_eltwise_unary_datacopy.py::test_perf_eltwise_unary_datacopy", **formats, dest_acc=wide, num_faces="4",
        tilize="No",
    )  # fmt: skip
    direct = wide == "Yes" and formats["input"] == "Float32"  # unpacked to Dst
    share = 1 / FACES if operation in UNARY else 2.0
    return Point(name, "vector functions", cycles, test, "MATH_ISOLATE", share=share, less=None if direct else copy)


def _kernel(name: str, row: Row) -> Point | None:
    """A row of `llk_wormhole_l1_to_l1_points.csv`; the suite has no parametrisation for some of them any more."""
    if row["test"] != "perf_math_matmul":
        return None  # perf_matmul: the row does not say of which shape its tiles are
    test = _choice(
        "perf_math_matmul.py::test_perf_math_matmul", input=FORMATS[row["input_format"]],
        output=FORMATS[row["output_format"]], math_fidelity=row["math_fidelity"], dest_acc=row["fp32_dest_acc"],
        dest_sync=row["dest_sync"], dst_index=row["dst_index"], in0_tile_r_dim=row["in0_tile_rows"], rt_dim="1",
        ct_dim=row["tiles"], kt_dim="1", throttle="0", num_blocks="1",
    )  # fmt: skip
    cycles = float(row["cycles_median_of_10"])
    return Point(name, "small matrix products, L1 to L1", cycles, test, "L1_TO_L1", row["zone"], per_tile=False)


READERS: dict[str, Callable[[str, Row], Point | None]] = {"ttkernel_op": _operation, "in0_tile_rows": _kernel}
