"""The folder of `--tt-report`: everything that the tools of the ecosystem read about a run (docs/tool_files.md)."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tensim.sim.chip.launch_work import MAX_DETAILED
from tensim.sim.errors import UsageError
from tensim.sim.output_files import remove_output, require_output, write_output
from tensim.tool_files.device_log import family, write_device_log
from tensim.tool_files.memory_database import is_ours, write_database
from tensim.tool_files.noc_traces import write_noc_traces
from tensim.tool_files.npe_view import LARGEST, traffic_of, write_views
from tensim.tool_files.operands import Described, name_of, operands_of, title_of
from tensim.tool_files.operations_csv import write_operations
from tensim.tool_files.topology import CLUSTER, MESH, write_topology

if TYPE_CHECKING:
    from tensim.tool_files.recording import DeviceRecord, Operation, Recording
    from tensim.ttnn.signposts import Signpost

HOST_PROFILE = "tracy_profile_log_host.tracy"  # versions of the visualizer before 0.108 look for its name
KNOWN = ("wormhole_b0", "blackhole")  # chips that tt-perf-report has roofs of
OURS = (
    "profile_log_device.csv", "db.sqlite", "topology.json", CLUSTER, MESH, "ops_perf_results_*.csv",
    "noc_trace_dev*.json", "npe_viz/*",
)  # fmt: skip


def require_folder(path: str | Path) -> None:
    """UsageError now, rather than after the work, when a folder cannot be made or written to, or holds somebody else's report."""
    folder = Path(path)
    foreign = None if is_ours(folder) else next(iter(_old_files(folder)), None)
    if foreign is not None:
        raise UsageError(
            f"{path} holds a report that tensim did not write ({foreign.name})",
            hint="choose another folder, or an empty one",
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        require_output(folder / "db.sqlite")
    except OSError as error:
        raise UsageError(f"cannot write into {path}: {error.strerror}", hint="--tt-report takes a folder") from error


def write_report(
    folder: str | Path, recording: Recording, name: str | None = None, signposts: Iterable[Signpost] = ()
) -> list[str]:
    """Write the files of a `Recording`; returns warnings, texts for the user.

    `name`: of the program, for operations; without one each is named after its compute kernel.  `signposts`: what the program
    put between them, in order.  Files of an earlier report
    in the folder are replaced.  OSError when a file cannot be written; UsageError when nothing ran.
    """
    operations = recording.operations()
    if not operations:
        raise UsageError(
            "no program ran to its end, so there is nothing to report", hint="run one that launches kernels"
        )
    folder = Path(folder)
    require_folder(folder)
    for old in _old_files(folder):
        remove_output(old)
    devices = [device for device in recording.devices if device.finished()]
    described = [_described(operation, name) for operation in operations]
    write_device_log(folder, devices)
    stamp = time.strftime("%Y_%m_%d_%H_%M_%S")
    write_operations(folder / f"ops_perf_results_{stamp}.csv", described, signposts)
    write_output(folder / HOST_PROFILE, b"")
    write_database(folder, described, devices, name or folder.resolve().name)
    left_out = write_views(folder, described)
    write_noc_traces(folder, described, devices)
    write_topology(folder, devices)
    return _warnings(devices, left_out)


def _old_files(folder: Path) -> list[Path]:
    """Files in a folder that a report would replace or stand beside."""
    return [file for pattern in OURS for file in sorted(folder.glob(pattern))]


def _described(operation: Operation, name: str | None) -> Described:
    """What the writers take of an operation."""
    operands, title = operands_of(operation), title_of(operation, name)
    return Described(operation, title, name_of(operation, operands, title), operands, traffic_of(operation))


def _warnings(devices: Sequence[DeviceRecord], left_out: Iterable[str]) -> list[str]:
    """What the user should know of the tools that are to read the files."""
    found = []
    for chip in sorted({family(device.arch) for device in devices}):
        if chip not in KNOWN:
            found.append(
                f"tt-perf-report knows no {chip} and refuses ops_perf_results_*.csv; the other files can be opened"
            )
    for device in devices:
        if device.undetailed:
            found.append(
                f"{device.undetailed:,} executions on device {device.id} are left out: a chip keeps the details of its "
                f"first {MAX_DETAILED:,}"
            )
    found += [f"{file} is left out: it would have more than {LARGEST:,} packets" for file in left_out]
    return found
