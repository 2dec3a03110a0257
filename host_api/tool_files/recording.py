"""What the files of other tools need of a run, noted while it runs: each execution of a program on each chip.

Nothing is noted unless somebody asks; then a chip tells the start and the end of every program, and keeps its record of
the NoC (`tensim.sim.chip.recordings`), from which the buffers that a program read and wrote are found.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tensim.sim.chip.launch_work import WAIT_NAMES
from tensim.sim.cores.noc_record import ARRIVED
from tensim.sim.cores.operations import Op
from tensim.sim.cores.slots import THREADS_PER_CORE
from tensim.sim.host.device import watched
from tensim.sim.loop.environment import FS_PER_NS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tensim.sim.chip.launch import Launch
    from tensim.sim.chip.launch_work import LaunchWork
    from tensim.sim.host.buffers import Buffer
    from tensim.sim.host.device import Device
    from tensim.sim.host.fabric import Fabric
    from tensim.tool_files.told import Told

ZONE_OPERATIONS = (Op.ZONE_BEGIN, Op.ZONE_END)
RUN_ID_SHIFT = 10  # a run id is the operation's number and, below it, the device's


@dataclass(frozen=True)
class BufferPlace:
    """A buffer as it lay on its device.  Addresses and sizes in bytes; `tensor_pages`: of a sharded one, (rows, columns);
    `tensor`: (shape, padded shape) of what its owner says it holds, or None.
    """

    id: int
    address: int
    size: int
    size_per_bank: int
    page_size: int
    buffer_type: int
    layout: int
    banks: tuple[int, ...]
    pages: int
    page_stride: int
    in_dram: bool
    tensor_pages: tuple[int, ...] | None
    tensor: tuple[tuple[int, ...], tuple[int, ...]] | None


class Operation:
    """One execution of a program on one chip: a `tensim.sim.chip.launch_work.LaunchWork` and what lay around it.

    `number`: from 1, per chip; `launch`: what was launched; `issued_ns`: when the host asked for it; `trace`: (metal
    trace, number of its replay), or None; `buffers`: those that were allocated when it started; `about`: what a library says of
    it (`tensim.tool_files.told.Told`), or None.  `work` is None until it has ended.
    """

    def __init__(
        self,
        device: DeviceRecord,
        number: int,
        launch: Launch,
        record: Mapping[str, Any],
        buffers: tuple[BufferPlace, ...],
        issued_ns: float,
        trace: tuple[int, int] | None,
        about: Told | None = None,
    ) -> None:
        self.device, self.number, self.launch, self._record = device, number, launch, record
        self.buffers, self.issued_ns, self.trace, self.about = buffers, issued_ns, trace, about

    @property
    def work(self) -> LaunchWork:
        """What its threads did."""
        return self._record["work"]

    @property
    def is_detailed(self) -> bool:
        """Whether the chip keeps what its threads did: it has ended, and is among the first."""
        return self._record.get("work") is not None

    @property
    def has_ended(self) -> bool:
        """Whether all of its threads are done."""
        return "ended" in self._record

    @property
    def started(self) -> int:
        """Cycle of its start."""
        return self._record["started"]

    @property
    def ended(self) -> int:
        """Cycle of its end."""
        return self._record["ended"]

    @property
    def threads(self) -> NDArray[np.int64]:
        """Indices of its threads on the chip."""
        return self.work.threads

    @property
    def flops(self) -> int:
        """Arithmetic of its matrix units: a multiply-add counts two."""
        return int(self.work.core_counters["flops"].sum())

    def waits(self, kind: str) -> NDArray[np.int64]:
        """Cycles that each thread waited, by a name of `launch_work.WAIT_NAMES`."""
        return self.work.waits[:, WAIT_NAMES.index(kind)]

    @property
    def run_id(self) -> int:
        """What joins the rows of all files: "run host ID", "GLOBAL CALL COUNT"."""
        return self.number << RUN_ID_SHIFT | self.device.id

    @property
    def cores(self) -> NDArray[np.int64]:
        """Worker indices, in order."""
        return np.unique(self.threads // THREADS_PER_CORE)

    def nanoseconds(self, cycles: float) -> float:
        """Cycles of the chip in ns."""
        return cycles * 1000 / self.device.arch.clock_mhz

    def arrivals(self) -> NDArray[Any]:
        """The packets of its threads that arrived (`noc_record`), in the order of their issue."""
        return self.device.during(self, self.device.arrivals)

    def zones(self) -> NDArray[Any]:
        """Starts and ends of its threads' zones (`noc_record`), in the order of time."""
        return self.device.during(self, self.device.zones)


class DeviceRecord:
    """The executions on one device.  The device calls `launched` and `closing`."""

    def __init__(self, device: Device) -> None:
        self._device, self.chip, self.id, self.arch = device, device.chip, device.id, device.arch
        self.operations: list[Operation] = []
        self._places: tuple[BufferPlace, ...] = ()
        self._record: tuple[NDArray[Any], NDArray[Any], NDArray[Any]] | None = None
        self.about: Told | None = None
        self.tiles = device.chip.arrays["tiles"].copy()  # what every tile of the chip is
        device.chip.recordings.record_noc()
        device.observers.append(self)

    @property
    def fabric(self) -> Fabric | None:
        """The `tensim.sim.host.fabric.Fabric` that joins its chip to others, or None."""
        return self._device.fabric

    def launched(self, launch_id: int, launch: Launch, issued_fs: int, trace: tuple[int, int] | None) -> None:
        """A program starts."""
        number, record = len(self.operations) + 1, self.chip.launches[launch_id]
        buffers, issued_ns = self._buffers(), issued_fs / FS_PER_NS
        if self.about is not None and trace is None:
            trace = self.about.trace
        self.operations.append(Operation(self, number, launch, record, buffers, issued_ns, trace, self.about))

    def closing(self) -> None:
        """The chip is about to give its memory back."""
        self._take()

    def _buffers(self) -> tuple[BufferPlace, ...]:
        """The allocated buffers; the same tuple as long as nothing is allocated or freed."""
        places = tuple(self._place(buffer) for buffer in self._device.buffers.values())
        if places != self._places:
            self._places = places
        return self._places

    @staticmethod
    def _place(buffer: Buffer) -> BufferPlace:
        tensor_pages = tuple(buffer.shard.tensor_pages) if buffer.shard else None
        assert buffer.address is not None  # it is allocated
        return BufferPlace(
            buffer.id, buffer.address, buffer.size, buffer.size_per_bank, buffer.page_size, buffer.buffer_type,
            buffer.layout, tuple(buffer.bank_banks()), buffer.num_dev_pages, buffer.aligned_page_size, buffer.in_dram,
            tensor_pages, buffer.tensor,
        )  # fmt: skip

    def _take(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """What the chip has recorded of the NoC, sorted by time, once."""
        if self._record is None:
            record = self.chip.recordings.noc_record()
            record = record[np.argsort(record["time"], kind="stable")]
            arrived = record["moment"] == ARRIVED
            is_zone = np.isin(record["operation"], ZONE_OPERATIONS) & ~arrived
            self._record = record[arrived], record[is_zone], record[~arrived & ~is_zone]
        return self._record

    @property
    def arrivals(self) -> NDArray[Any]:
        """Packets that arrived, by the time of their issue."""
        return self._take()[0]

    @property
    def zones(self) -> NDArray[Any]:
        """Starts and ends of zones."""
        return self._take()[1]

    @property
    def calls(self) -> NDArray[Any]:
        """Calls of data-movement threads."""
        return self._take()[2]

    def during(self, operation: Operation, record: NDArray[Any]) -> NDArray[Any]:
        """The rows of a time-sorted record that belong to the threads of an operation."""
        first, last = np.searchsorted(record["time"], (operation.started, operation.ended + 1))
        rows = record[first:last]
        return rows[np.isin(rows["thread"], operation.threads)]

    def finished(self) -> list[Operation]:
        """The operations that have ended, up to those of which the chip keeps no details (`launch_work.MAX_DETAILED`)."""
        return [operation for operation in self.operations if operation.is_detailed]

    @property
    def undetailed(self) -> int:
        """How many operations have ended of which the chip keeps no details."""
        return sum(not operation.is_detailed and operation.has_ended for operation in self.operations)


class Recording:
    """The devices that were opened in a block, in their order, with what ran on them."""

    def __init__(self) -> None:
        self.devices: list[DeviceRecord] = []

    def _opened(self, device: Device) -> None:
        self.devices.append(DeviceRecord(device))

    def operations(self) -> list[Operation]:
        """All operations that have ended, in the order in which the host asked for them."""
        found = [operation for device in self.devices for operation in device.finished()]
        return sorted(found, key=lambda operation: (operation.issued_ns, operation.number, operation.device.id))


def describe_next(device: Device, about: Callable[[], Told | None]) -> None:
    """Say what a library says (`Told`, or None) of the next programs of a `tensim.sim.host.device.Device` to who records it."""
    for observer in device.observers:
        if isinstance(observer, DeviceRecord):
            observer.about = about()


@contextlib.contextmanager
def recording() -> Iterator[Recording]:
    """A block in which every device that is opened is recorded; gives the `Recording`."""
    record = Recording()
    with watched(record._opened):
        yield record
