"""Folders of `--tt-report`: two executions of a matmul, and several chips with a metal trace."""

from dataclasses import dataclass
from pathlib import Path

import pytest

import tensim as tt
from tensim.kernel_api import *  # noqa: F403
from tensim.kernel_api import DeviceZoneScopedN, kernel
from tensim.running.programs import Settings, run_program
from tensim.running.runnable import find_program
from tensim.tool_files.recording import recording
from tensim.tool_files.report import write_report

SHAPE = "256x512x256"


@dataclass(frozen=True)
class Report:
    """A folder; of a run of one program its summary, of one with a metal trace the trace's id."""

    folder: Path
    summary: dict | None = None
    trace: int | None = None

    @property
    def operations_csv(self):
        (path,) = self.folder.glob("ops_perf_results_*.csv")
        return path


@pytest.fixture(scope="session")
def matmul(tmp_path_factory):
    """Two executions of a product of matrices with operands in DRAM."""
    folder = tmp_path_factory.mktemp("matmul")
    settings = Settings(program="matmul_multicast", shape=SHAPE, grid="4x4", loops=2, tt_report=str(folder))
    return Report(folder, run_program(settings))


@kernel
def nothing(cycles):
    """A kernel with a zone around its work."""
    DeviceZoneScopedN("turns, and more")
    for _ in range(cycles):
        pass


def zoned():
    program = tt.create_program()
    where = tt.CoreRange((0, 0), (1, 0))
    reader = tt.create_kernel(program, nothing, where, tt.ReaderDataMovementConfig())
    for core in ((0, 0), (1, 0)):
        tt.set_runtime_args(program, reader, core, [10])
    return program


@pytest.fixture(scope="session")
def chips(tmp_path_factory):
    """On each of two chips an element-wise sum; on the first one a program live and in two replays of a trace."""
    folder = tmp_path_factory.mktemp("chips")
    add = find_program("eltwise_add")
    with recording() as record:
        with tt.create_device(0, trace_region_size=1 << 20) as first, tt.create_device(1) as second:
            for device in (first, second):
                add.run_on(device)
            program, queue = zoned(), first.command_queue()
            tt.enqueue_program(queue, program, blocking=True)
            trace = tt.begin_trace_capture(first, 0)
            tt.enqueue_program(queue, program, blocking=False)
            tt.end_trace_capture(first, 0, trace)
            for _ in range(2):
                tt.replay_trace(first, 0, trace, blocking=True)
    assert write_report(folder, record) == []
    return Report(folder, trace=trace)
