"""The log of tt-metal's device profiler as a table of operations that tt-perf-report opens.

Times are the log's zones; names and tensors are those of the calls that the command's Python has noted.  On a card the vendor's
host tracer records these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from tensim.drop_in.operation_calls import call_of
from tensim.library.operation_names import OperationNames
from tensim.tool_files.device_log import family
from tensim.tool_files.operands import Operands, told_operands
from tensim.tool_files.operations_csv import tensor_cells, write_rows, zone_columns
from tensim.tool_files.told import Told

if TYPE_CHECKING:
    from tensim.sim.arch import Arch

REPORT = "reports/ops_perf_results.csv"
CHIP, RUN, CORE, TIME = "PCIe slot", "run host ID", "RISC processor type", "time[cycles since reset]"
PLACE = [CHIP, "core_x", "core_y", CORE]
SLOTS = {"BRISC": 0, "NCRISC": 1, "TRISC_0": 2, "TRISC_1": 3, "TRISC_2": 4}
ZONE = r"-(FW|KERNEL)$"


class Program(NamedTuple):
    """A program's zones: `firmware` and `kernels` have the columns of PLACE, "begin" and "end" (cycles)."""

    chip: int
    run: int
    firmware: pd.DataFrame
    kernels: pd.DataFrame


def programs_of(log: str | Path) -> Iterator[Program]:
    """The programs of a log that ran on workers, chip by chip as they began."""
    rows = pd.read_csv(log, skiprows=1, skipinitialspace=True)
    rows["kind"] = rows["zone name"].astype(str).str.extract(ZONE)
    rows = rows[rows["kind"].notna() & rows[CORE].isin(SLOTS)]
    rows["turn"] = rows.groupby([*PLACE, RUN, "kind", "type"]).cumcount()  # of programs that share a number
    keys = [*PLACE, RUN, "kind", "turn"]
    begins, ends = (rows[rows["type"] == f"ZONE_{side}"][[*keys, TIME]] for side in ("START", "END"))
    zones = begins.merge(ends, on=keys, suffixes=("_begin", "_end"))
    zones = zones.rename(columns={f"{TIME}_begin": "begin", f"{TIME}_end": "end"})
    parts = [part for _, part in zones.groupby([CHIP, RUN, "turn"])]
    for part in sorted(parts, key=lambda part: (part[CHIP].iloc[0], part["begin"].min())):
        firmware, kernels = part[part["kind"] == "FW"], part[part["kind"] == "KERNEL"]
        if len(firmware) and len(kernels):
            yield Program(int(part[CHIP].iloc[0]), int(part[RUN].iloc[0]), firmware, kernels)


def write_report(
    folder: str | Path, log: str | Path, calls: Sequence[dict[str, Any]], arch: Arch, library: Path
) -> Path:
    """Write the table of a log into a folder; `calls`: `operation_calls.read`; `library`: where the classes are named."""
    names, rows, operands = OperationNames(library), [], []
    before: dict[int, int] = {}
    for program in programs_of(log):
        row, found = _row(program, call_of(program.run, calls), arch, names, before.get(program.chip))
        before[program.chip] = int(program.kernels["end"].max())
        rows.append(row)
        operands.append(found)
    path = Path(folder, REPORT)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_rows(path, rows, operands)
    return path


def _row(
    program: Program, call: dict[str, Any] | None, arch: Arch, names: OperationNames, before: int | None
) -> tuple[dict[str, Any], Operands]:
    """({column: value}, the operands) of a program; `before`: when the kernels of the one before it ended."""

    def ns(cycles: float) -> float:
        return 1000 * cycles / arch.clock_mhz

    firmware, kernels = program.firmware, program.kernels
    places = kernels["core_x"].to_numpy() * arch.noc_size[1] + kernels["core_y"].to_numpy()
    starts, ends = (kernels[side].to_numpy(np.int64) for side in ("begin", "end"))
    begin, end = int(firmware["begin"].min()), int(firmware["end"].max())
    operands, name = Operands((), (), None), f"Program{program.run}"
    fidelity = call and call["fidelity"]
    if call is not None:
        name = names.of(call["name"], ())
        operands = told_operands(Told(call, name), program.chip, arch)
        if fidelity is None:  # readers want it of a product
            name = name.replace("Matmul", "MatMul")
    row = {
        "OP CODE": name, "OP TYPE": "tt_dnn_device", "GLOBAL CALL COUNT": program.run, "DEVICE ID": program.chip,
        "DEVICE ARCH": family(arch), "ATTRIBUTES": str({"program": call["name"]} | call["settings"]) if call else "{}",
        "MATH FIDELITY": fidelity, "CORE COUNT": len(np.unique(places)), "AVAILABLE WORKER CORE COUNT": arch.grid[0] * arch.grid[1],
        "DEVICE FW START CYCLE": begin, "DEVICE FW END CYCLE": end, "DEVICE FW DURATION [ns]": round(ns(end - begin)),
    }  # fmt: skip
    slots = kernels[CORE].map(SLOTS).to_numpy()
    return row | zone_columns(ns, places, slots, starts, ends, before) | tensor_cells(operands), operands
