"""profile_log_device.csv: the device profiler's zones, as tt-metal's post-processing and ttnn-visualizer read them.

Every launched core has a firmware zone, and every thread a firmware and a kernel zone, with the simulated cycles; user
zones keep their names; the waits of compute threads for circular buffers are the two summed zones of tt-metal.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tensim.sim.chip.zones import zone_name
from tensim.sim.cores.operations import Op
from tensim.sim.cores.slots import BRISC, NCRISC, THREADS_PER_CORE, TRISC0, TRISC2
from tensim.sim.output_files import output_file
from tensim.tool_files.text import cell

if TYPE_CHECKING:
    from tensim.sim.arch import Arch
    from tensim.sim.chip.launch import KernelLaunch, Launch
    from tensim.tool_files.recording import DeviceRecord, Operation

FILE = "profile_log_device.csv"
COLUMNS = (
    "PCIe slot", "core_x", "core_y", "RISC processor type", "timer_id", "time[cycles since reset]", "data", "run host ID",
    "trace id", "trace id counter", "zone name", "type", "source line", "source file", "meta data",
)  # fmt: skip
PROCESSORS = ("BRISC", "NCRISC", "TRISC_0", "TRISC_1", "TRISC_2")
FIRMWARE = ("brisc.cc", "ncrisc.cc", "trisc.cc", "trisc.cc", "trisc.cc")
WAITS = {TRISC0: "CB-COMPUTE-WAIT-FRONT", TRISC2: "CB-COMPUTE-RESERVE-BACK"}
END_OF_ZONE = 1 << 16  # what the id of a zone's end is above that of its start


def write_device_log(folder: str | Path, devices: Sequence[DeviceRecord]) -> None:
    """Write the log of `devices` (`DeviceRecord`), which are chips of one architecture, into `folder`.

    Its first line has the clock of the first one: cycles of chips with other clocks are in its cycles.
    """
    arch = devices[0].arch
    with output_file(Path(folder) / FILE) as file:
        cores = arch.grid[0] * arch.grid[1]
        file.write(f"ARCH: {cell(family(arch))}, CHIP_FREQ[MHz]: {int(arch.clock_mhz)}, Max Compute Cores: {cores}\n")
        file.write(", ".join(COLUMNS) + "\n")
        for device in devices:
            scale = arch.clock_mhz / device.arch.clock_mhz
            for operation in device.finished():
                for row in _rows(operation, scale):
                    file.write(",".join(map(str, row)) + "\n")


def family(arch: Arch) -> str:
    """The chip that tools know an architecture as: the one that comes with tensim and has its NoC grid, else its own name."""
    from tensim.sim.arch import architectures, load_arch

    known = architectures()
    if arch.name in known:
        return arch.name
    return next((name for name in known if load_arch(name).noc_size == arch.noc_size), arch.name)


def kernel_of(launch: Launch) -> dict[int, tuple[KernelLaunch, Any]]:
    """{thread index: (kernel, what its thread runs)} of a launch."""
    found = {}
    for kernel in launch.kernels:
        slots = (kernel.slot,) if kernel.slot is not None else range(TRISC0, TRISC2 + 1)
        for slot in slots:
            program = kernel.compiled.on(slot)
            found.update((core * THREADS_PER_CORE + slot, (kernel, program)) for core in kernel.cores)
    return found


def named_zones(operation: Operation) -> dict[int, list[tuple[str, int, int]]]:
    """{thread: [(name, first cycle, last cycle)]} of the zones that kernels opened, outer ones first.

    A zone of a whole kernel ends with it.
    """
    kernels, opened, found = kernel_of(operation.launch), {}, {}

    def close(thread: int, end: int) -> None:
        number, begun = opened[thread].pop()
        found.setdefault(thread, []).append((zone_name(kernels[thread][1], number), begun, end))

    for entry in operation.zones():
        thread = int(entry["thread"])
        if entry["operation"] == Op.ZONE_BEGIN:
            opened.setdefault(thread, []).append((int(entry["arguments"][0]), int(entry["time"])))
        elif opened.get(thread):
            close(thread, int(entry["time"]))
    for thread, end in zip(operation.threads.tolist(), operation.work.ends.tolist(), strict=True):
        while opened.get(thread):
            close(thread, end)
    return {thread: sorted(zones, key=lambda zone: (zone[1], -zone[2])) for thread, zones in found.items()}


def _rows(operation: Operation, scale: float) -> Iterator[tuple[Any, ...]]:
    """The rows of one operation, core by core, processor by processor, in the order of time."""
    kernels, zones, launched = kernel_of(operation.launch), named_zones(operation), operation.threads.tolist()
    index = {thread: i for i, thread in enumerate(launched)}
    trace = operation.trace or ("", "")
    at = lambda cycle: round(cycle * scale)  # noqa: E731
    for core in operation.cores.tolist():
        x, y = operation.device.arch.worker_coords[core]
        mine = np.flatnonzero(operation.threads // THREADS_PER_CORE == core)
        first, last = operation.started, int(operation.work.ends[mine].max())

        def row(
            slot: int,
            name: str,
            kind: str,
            time: float,
            data: int = 0,
            file: str = "",
            line: int = 0,
            end: bool = False,
            core_x: int = x,
            core_y: int = y,
        ) -> tuple[Any, ...]:
            timer = (zlib.crc32(name.encode()) & 0xFFFF) + (END_OF_ZONE if end else 0)
            return (
                operation.device.id, core_x, core_y, PROCESSORS[slot], timer, at(time), data, operation.run_id,
                *trace, cell(name), kind, line, cell(file), "",
            )  # fmt: skip

        for slot in range(THREADS_PER_CORE):
            thread = core * THREADS_PER_CORE + slot
            if thread not in index and slot != BRISC:
                continue  # the firmware of the others is not started
            firmware = f"{_kind(slot)}-FW"
            yield row(slot, firmware, "ZONE_START", first, file=FIRMWARE[slot])
            if thread in index:
                i = index[thread]
                start, end = int(operation.work.starts[i]), int(operation.work.ends[i])
                about = _source(*kernels[thread])
                spans = [(f"{_kind(slot)}-KERNEL", start, end), *zones.get(thread, ())]
                for name, time, is_end in _marks(spans):
                    yield row(slot, name, "ZONE_END" if is_end else "ZONE_START", time, end=is_end, **about)
                if slot in WAITS:
                    waits = (
                        operation.waits("circular_buffer_front")
                        if slot == TRISC0
                        else operation.waits("circular_buffer_back")
                    )
                    yield row(slot, WAITS[slot], "ZONE_TOTAL", end, data=at(int(waits[i])), **about)
            yield row(slot, firmware, "ZONE_END", last, file=FIRMWARE[slot], end=True)


def _source(kernel: KernelLaunch, program: Any) -> dict[str, Any]:
    """File of a kernel, and its first line where that is known."""
    return {"file": kernel.compiled.file, "line": program.first_row if program is kernel.compiled else 1}


def _kind(slot: int) -> str:
    return {BRISC: "BRISC", NCRISC: "NCRISC"}.get(slot, "TRISC")


def _marks(spans: Iterable[tuple[str, int, int]]) -> list[tuple[str, int, bool]]:
    """(name, cycle, whether it is the end) of nested spans: what ends is written before what begins then, inner ones first."""
    marks, opened = [], []

    def close(until: float) -> None:
        while opened and opened[-1][2] <= until:
            name, _, end = opened.pop()
            marks.append((name, end, True))

    for span in sorted(spans, key=lambda span: (span[1], -span[2])):
        close(span[1])
        opened.append(span)
        marks.append((span[0], span[1], False))
    close(float("inf"))
    return marks
