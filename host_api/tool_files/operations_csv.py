"""ops_perf_results_*.csv: a row for every operation, as tt-metal's profiler writes and tt-perf-report reads it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tensim.sim.chip.statistics import FIDELITY_PHASES, peak_flops_per_cycle
from tensim.sim.cores.slots import BRISC, NCRISC, THREADS_PER_CORE, TRISC0, TRISC2
from tensim.sim.output_files import output_file
from tensim.tool_files.device_log import family
from tensim.tool_files.operands import fidelity_of
from tensim.tool_files.text import cell

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tensim.sim.chip.launch import KernelLaunch, Launch
    from tensim.tool_files.operands import Described, Operands
    from tensim.tool_files.recording import Operation
    from tensim.ttnn.signposts import Signpost

Integers: TypeAlias = "NDArray[np.int64]"
COLUMNS = (
    "OP CODE", "OP TYPE", "GLOBAL CALL COUNT", "DEVICE ID", "DEVICE ARCH", "ATTRIBUTES", "MATH FIDELITY", "CORE COUNT",
    "AVAILABLE WORKER CORE COUNT", "PARALLELIZATION STRATEGY", "HOST START TS", "HOST END TS", "HOST DURATION [ns]",
    "DEVICE FW START CYCLE", "DEVICE FW END CYCLE", "OP TO OP LATENCY [ns]", "OP TO OP LATENCY BR/NRISC START [ns]",
    "DEVICE FW DURATION [ns]", "DEVICE KERNEL DURATION [ns]", "DEVICE KERNEL DURATION DM START [ns]",
    "DEVICE KERNEL DURATION PER CORE MIN [ns]", "DEVICE KERNEL DURATION PER CORE MAX [ns]",
    "DEVICE KERNEL DURATION PER CORE AVG [ns]", "DEVICE KERNEL FIRST TO LAST START [ns]",
    "DEVICE BRISC KERNEL DURATION [ns]", "DEVICE NCRISC KERNEL DURATION [ns]", "DEVICE TRISC0 KERNEL DURATION [ns]",
    "DEVICE TRISC1 KERNEL DURATION [ns]", "DEVICE TRISC2 KERNEL DURATION [ns]", "DEVICE ERISC KERNEL DURATION [ns]",
    "DEVICE COMPUTE CB WAIT FRONT [ns]", "DEVICE COMPUTE CB RESERVE BACK [ns]", "DISPATCH TOTAL CQ CMD OP TIME [ns]",
    "DISPATCH GO SEND WAIT TIME [ns]",
)  # fmt: skip
TENSOR_COLUMNS = (
    "W_PAD[LOGICAL]", "Z_PAD[LOGICAL]", "Y_PAD[LOGICAL]", "X_PAD[LOGICAL]", "LAYOUT", "DATATYPE", "MEMORY",
)  # fmt: skip
LAST_COLUMNS = (
    "METAL TRACE ID", "METAL TRACE REPLAY SESSION ID", "COMPUTE KERNEL SOURCE", "COMPUTE KERNEL HASH",
    "DATA MOVEMENT KERNEL SOURCE", "DATA MOVEMENT KERNEL HASH", "PROGRAM HASH", "PROGRAM CACHE HIT",
    "TENSIX DM 0 MAX KERNEL SIZE [B]", "TENSIX DM 1 MAX KERNEL SIZE [B]", "TENSIX COMPUTE 0 MAX KERNEL SIZE [B]",
    "TENSIX COMPUTE 1 MAX KERNEL SIZE [B]", "TENSIX COMPUTE 2 MAX KERNEL SIZE [B]", "ACTIVE ETH DM 0 MAX KERNEL SIZE [B]",
    "ACTIVE ETH DM 1 MAX KERNEL SIZE [B]", "IDLE ETH DM 0 MAX KERNEL SIZE [B]", "IDLE ETH DM 1 MAX KERNEL SIZE [B]",
    "PM IDEAL [ns]", "PM COMPUTE [ns]", "PM BANDWIDTH [ns]", "PM REQ I BW", "PM REQ O BW", "PM FPU UTIL (%)", "NOC UTIL (%)",
    "MULTICAST NOC UTIL (%)", "DRAM BW UTIL (%)", "DRAM BW UTIL PER CTRL (%)", "ETH BW UTIL (%)", "NPE CONG IMPACT (%)",
)  # fmt: skip
NO_MODEL = 1  # what a performance model says that there is none


def write_operations(path: str | Path, described: Sequence[Described], signposts: Iterable[Signpost] = ()) -> None:
    """Write the table; `described`: the operations (`operands.Described`), `signposts`: between them, both in the host's order."""
    before, seen, rows = {}, set(), []
    ahead = list(signposts)
    for one in described:
        while ahead and ahead[0].issued_ns < one.operation.issued_ns:  # an issue takes the host's time
            rows.append(_signpost_row(ahead.pop(0)))
        device = one.operation.device.id
        row = _row(one, before.get(device))
        program = (device, row["PROGRAM HASH"])
        row["PROGRAM CACHE HIT"] = program in seen
        seen.add(program)
        before[device] = one.operation
        rows.append(row)
    write_rows(path, rows + [_signpost_row(one) for one in ahead], [one.operands for one in described])


def write_rows(path: str | Path, rows: Iterable[dict[str, Any]], operands: Sequence[Operands]) -> None:
    """Write rows {column: value} with the columns of their operands, of which readers want those of the first ones."""
    inputs = max((len(one.inputs) for one in operands), default=0)
    outputs = max((len(one.outputs) for one in operands), default=0)
    sides = [("INPUT", max(inputs, 1)), ("OUTPUT", max(outputs, 1))]
    tensors = [f"{side}_{i}_{column}" for side, count in sides for i in range(count) for column in TENSOR_COLUMNS]
    columns = (*COLUMNS, *tensors, *LAST_COLUMNS)
    with output_file(path) as file:
        file.write(",".join(columns) + "\n")
        for row in rows:
            file.write(",".join(cell(row.get(column)) for column in columns) + "\n")


def _signpost_row(one: Signpost) -> dict[str, Any]:
    """{column: value} of a signpost: readers know it by its type."""
    return {
        "OP CODE": one.name, "OP TYPE": "signpost", "ATTRIBUTES": one.message.replace("\n", " "),
        "HOST START TS": round(one.issued_ns),
    }  # fmt: skip


def _row(one: Described, before: Operation | None) -> dict[str, Any]:
    """{column: value} of an operation; `before`: the one before it on its chip, or None."""
    operation, operands, traffic = one.operation, one.operands, one.traffic
    arch, ns = operation.device.arch, operation.nanoseconds
    host_ns = arch["host.enqueue_program_ns"]
    row = {
        "OP CODE": one.name, "OP TYPE": "tt_dnn_device", "GLOBAL CALL COUNT": operation.run_id,
        "DEVICE ID": operation.device.id, "DEVICE ARCH": family(arch), "ATTRIBUTES": _attributes(one),
        "MATH FIDELITY": fidelity_of(operation.launch), "CORE COUNT": len(operation.cores),
        "AVAILABLE WORKER CORE COUNT": arch.grid[0] * arch.grid[1],
        "HOST START TS": round(operation.issued_ns - host_ns), "HOST END TS": round(operation.issued_ns),
        "HOST DURATION [ns]": round(host_ns), "DEVICE FW START CYCLE": operation.started,
        "DEVICE FW END CYCLE": operation.ended, "DEVICE FW DURATION [ns]": round(ns(operation.ended - operation.started)),
        "METAL TRACE ID": operation.trace and operation.trace[0],
        "METAL TRACE REPLAY SESSION ID": operation.trace and operation.trace[1],
    }  # fmt: skip
    row |= _durations(operation, before) | _kernels(operation.launch) | _model(operation, operands)
    row |= {
        "NOC UTIL (%)": f"{traffic.link_util:.1f}", "MULTICAST NOC UTIL (%)": f"{traffic.multicast_util:.1f}",
        "DRAM BW UTIL (%)": f"{traffic.dram_util:.1f}",
    }  # fmt: skip
    return row | tensor_cells(operands)


def tensor_cells(operands: Operands) -> dict[str, Any]:
    """{column: value} of the tensors."""
    row: dict[str, Any] = {}
    for side, tensors in (("INPUT", operands.inputs), ("OUTPUT", operands.outputs)):
        for i, tensor in enumerate(tensors):
            sizes = zip(tensor.shape, tensor.logical, strict=True)
            values = [f"{padded}[{logical}]" for padded, logical in sizes] + [
                tensor.layout,
                tensor.dtype,
                tensor.memory,
            ]
            row |= {f"{side}_{i}_{column}": v for column, v in zip(TENSOR_COLUMNS, values, strict=True)}
    return row


def _attributes(one: Described) -> str:
    """The settings of a call as text; without a library that says them, the program's name."""
    settings = one.operation.about.operation["settings"] if one.operation.about is not None else {}
    return str({"program": one.title} | {name: text.replace("\n", " ") for name, text in settings.items()})


def _durations(operation: Operation, before: Operation | None) -> dict[str, Any]:
    """The columns of time that come from the kernels' zones, and of waits."""
    ns, slots, work = operation.nanoseconds, operation.threads % THREADS_PER_CORE, operation.work
    ended = None if before is None else int(before.work.ends.max())
    zones = zone_columns(ns, operation.threads // THREADS_PER_CORE, slots, work.starts, work.ends, ended)
    return zones | {
        "DEVICE COMPUTE CB WAIT FRONT [ns]": round(ns(int(operation.waits("circular_buffer_front")[slots == TRISC0].sum()))),
        "DEVICE COMPUTE CB RESERVE BACK [ns]": round(ns(int(operation.waits("circular_buffer_back")[slots == TRISC2].sum()))),
    }  # fmt: skip


def zone_columns(
    ns: Callable[[float], float], cores: Integers, slots: Integers, starts: Integers, ends: Integers, before: int | None
) -> dict[str, Any]:
    """The columns of time of kernels whose threads, in `slots` of `cores`, started and ended so; `before`: the end of the program
    before. `ns(cycles)`.
    """
    _, places = np.unique(cores, return_inverse=True)
    first, last = np.full(places.max() + 1, np.iinfo(np.int64).max), np.zeros(places.max() + 1, np.int64)
    np.minimum.at(first, places, starts)
    np.maximum.at(last, places, ends)
    spans, moves = last - first, slots <= NCRISC
    row = {
        "DEVICE KERNEL DURATION [ns]": round(ns(int(ends.max() - starts.min()))),
        "DEVICE KERNEL DURATION DM START [ns]": round(ns(int(ends.max() - starts[moves].min()))) if moves.any() else "",
        "DEVICE KERNEL DURATION PER CORE MIN [ns]": round(ns(int(spans.min()))),
        "DEVICE KERNEL DURATION PER CORE MAX [ns]": round(ns(int(spans.max()))),
        "DEVICE KERNEL DURATION PER CORE AVG [ns]": round(ns(float(spans.mean()))),
        "DEVICE KERNEL FIRST TO LAST START [ns]": round(ns(int(starts.max() - starts.min()))),
        "OP TO OP LATENCY [ns]": 0, "OP TO OP LATENCY BR/NRISC START [ns]": 0,
    }  # fmt: skip
    for slot, name in ((BRISC, "BRISC"), (NCRISC, "NCRISC"), *((TRISC0 + i, f"TRISC{i}") for i in range(3))):
        mine = slots == slot
        row[f"DEVICE {name} KERNEL DURATION [ns]"] = (
            round(ns(int(ends[mine].max() - starts[mine].min()))) if mine.any() else ""
        )
    if before is not None:
        row["OP TO OP LATENCY [ns]"] = round(ns(int(starts.min() - before)))
        begun = starts[moves].min() if moves.any() else starts.min()
        row["OP TO OP LATENCY BR/NRISC START [ns]"] = round(ns(int(begun - before)))
    return row


def _kernels(launch: Launch) -> dict[str, Any]:
    """Sources, sizes and hashes of the kernels."""
    row: dict[str, Any] = {}
    hashes: list[str] = []
    compute = [kernel for kernel in launch.kernels if kernel.compute is not None]
    movers = [kernel for kernel in launch.kernels if kernel.compute is None]
    for what, kernels in (("COMPUTE", compute), ("DATA MOVEMENT", movers)):
        names = [f"{kernel.compiled.name}/{_hash(kernel)}/" for kernel in kernels]
        row[f"{what} KERNEL SOURCE"] = [kernel.compiled.file for kernel in kernels]
        row[f"{what} KERNEL HASH"] = names
        hashes += names
    for slot in (BRISC, NCRISC):
        sizes = [kernel.compiled.text_bytes for kernel in movers if kernel.slot == slot]
        row[f"TENSIX DM {slot} MAX KERNEL SIZE [B]"] = max(sizes, default="")
    for i in range(3):
        row[f"TENSIX COMPUTE {i} MAX KERNEL SIZE [B]"] = max((k.compiled.text_bytes for k in compute), default="")
    row["PROGRAM HASH"] = _digest(repr(hashes))
    return row


def _hash(kernel: KernelLaunch) -> int:
    """A number of a kernel's text and compile-time arguments, the same in every process."""
    lines = getattr(kernel.compiled, "lines", None)
    return _digest(repr((kernel.compiled.file, sorted(lines.items()) if lines else None, list(kernel.compile_args))))


def _digest(text: str) -> int:
    import hashlib

    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little") >> 1


def _model(operation: Operation, operands: Operands) -> dict[str, Any]:
    """The columns of the performance model: what arithmetic and DRAM take at the least, for a product of matrices."""
    none: dict[str, Any] = dict.fromkeys(
        ("PM IDEAL [ns]", "PM COMPUTE [ns]", "PM BANDWIDTH [ns]", "PM REQ I BW", "PM REQ O BW"), NO_MODEL
    )
    fidelity = fidelity_of(operation.launch)
    if operands.matmul is None or fidelity is None:
        return none
    arch, phases = operation.device.arch, FIDELITY_PHASES[fidelity]
    per_cycle = peak_flops_per_cycle(operation.device.chip) * len(operation.cores) / phases
    compute = operation.nanoseconds(operation.flops / per_cycle)
    moved = sum(t.buffer.size for t in (*operands.inputs, *operands.outputs) if t.buffer.in_dram)
    bandwidth = operation.nanoseconds(moved / (arch["dram.bank_bytes_per_cycle"] * arch.dram_banks))
    ideal, duration = max(compute, bandwidth), operation.nanoseconds(operation.ended - operation.started)
    per_ns = [[round(t.buffer.size / max(ideal, 1), 3) for t in side] for side in (operands.inputs, operands.outputs)]
    return {
        "PM IDEAL [ns]": round(ideal), "PM COMPUTE [ns]": round(compute), "PM BANDWIDTH [ns]": round(bandwidth),
        "PM REQ I BW": per_ns[0], "PM REQ O BW": per_ns[1], "PM FPU UTIL (%)": round(100 * compute / duration, 3),
    }  # fmt: skip
