"""Devices: the host, simulated accelerators, embedded targets, and meshes of accelerators (docs/hardware/runtime.md#devices)."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeAlias, cast

import numpy as np

from tensim.buffer import create_buffer, deallocate_buffer
from tensim.device import Device as MetalDevice
from tensim.queue import PendingRead
from tensim.runtime.binaries import Binary
from tensim.runtime.dtypes import DType
from tensim.runtime.encoding import decode
from tensim.runtime.errors import EmbeddedTransfer, OutOfDeviceMemory, TraceStale, UseAfterFree
from tensim.runtime.functions import COPY, FILL, NOTHING, bound
from tensim.runtime.layouts import Layout, TensorDesc
from tensim.runtime.placement import ANY, check_mask, pick_queue
from tensim.runtime.planner import Capabilities
from tensim.runtime.queues import Queue
from tensim.runtime.storage import DeviceStorage, HostStorage, buffers_of
from tensim.runtime.sync import wait as host_wait
from tensim.runtime.tensors import Tensor
from tensim.sim.errors import ProgramError, UsageError
from tensim.sim.host import commands as c
from tensim.sim.host.buffers import read_pages, write_pages
from tensim.sim.host.executor import new_id
from tensim.sim.loop.environment import FS_PER_NS
from tensim.types import BufferType

if TYPE_CHECKING:
    from tensim.runtime.bound_programs import BoundBinary
    from tensim.runtime.layouts import MemSpace
    from tensim.runtime.meshes import MeshDevice
    from tensim.runtime.placement import Queues
    from tensim.runtime.queues import Uses
    from tensim.runtime.selection import DeviceInfo
    from tensim.runtime.sync import Event, Waitable
    from tensim.runtime.system import System
    from tensim.sim.arch.loader import Arch

TOP_HOLDERS = 5  # named when memory runs out
FLOPS_PER_CYCLE = {
    "LoFi": 4096,
    "HiFi2": 2048,
    "HiFi3": 4096 / 3,
    "HiFi4": 1024,
}  # per core, docs/hardware/tensix.md#matmul-limits


class Device:
    """A device that a system has opened.  `number`: in command records; `info`: what the system declares."""

    scheme: str | None = None

    def __init__(
        self, system: System, info: DeviceInfo, params: Mapping[str, Any], number: int, num_queues: int
    ) -> None:
        self.system, self.info, self.params, self.number = system, info, params, number
        self.name, self.spec = info.spec, info.spec
        self.queues = [Queue(self, index) for index in range(num_queues)]
        self.loaded = {}  # binary id -> BoundBinary
        self.is_open, self.opened_ns = True, system.host_ns

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close(force=True)

    def home_of(self, layout: Layout) -> tuple[Layout, Any]:
        """(layout, device) that a tensor in `layout` here has."""
        return layout, self

    def queue_for(self, mask: Queues = ANY) -> Queue:
        """The queue that a mask comes to now: the fewest outstanding commands, then the lowest id.  BadQueueMask."""
        self._check_open()
        mask = check_mask(mask, len(self.queues))
        if mask & (mask - 1) == 0:
            return self.queues[mask.bit_length() - 1]
        return self.queues[pick_queue(mask, [queue.outstanding for queue in self.queues])]

    def _check_open(self) -> None:
        if not self.is_open:
            raise UseAfterFree(f"{self.name} is closed", hint="open it again")

    def run_function(
        self, kind: str, label: str, name: str, duration_ns: float, *, parameters: Any = None, reads: Iterable[Tensor] = (),
        writes: Iterable[Tensor] = (), wait: Waitable = (), queue: Queues = ANY, nbytes: int = 0,
    ) -> Event:  # fmt: skip
        """Let a queue be busy for a time, then call a registered function on tensors; returns the Event."""
        line = self.queue_for(queue)
        storages = [t.storage for t in reads], [t.storage for t in writes]
        call = bound(name, parameters, [storage.memory() for side in storages for storage in side])
        buffers = buffers_of(storages[0] + storages[1])
        emit = line.emit_function(name, call, round(duration_ns * FS_PER_NS), buffers, json.dumps(parameters))
        event = line.issue(kind, label, emit, wait=wait, reads=storages[0], writes=storages[1], nbytes=nbytes)
        for tensor in writes:
            tensor.written()
        return event

    def run_on_host(
        self,
        kind: str,
        label: str,
        function: Callable[[np.ndarray], np.ndarray],
        duration_ns: float,
        source: Tensor,
        target: Tensor,
        *,
        queue: Queues = ANY,
        nbytes: int = 0,
    ) -> Event:
        """Let a queue wait while the host makes the bytes of one host tensor from those of another; returns the Event."""
        line = self.queue_for(queue)
        (read, _), (_, write) = source.storage.memory(), target.storage.memory()
        duration = round(duration_ns * FS_PER_NS)  # recordings do not hold host memory: a replay takes the time only
        emit = line.emit_function(NOTHING, lambda: write(function(read())), duration, exclusive=False)
        event = line.issue(
            kind, label, emit, wait=[source.event], reads=[source.storage], writes=[target.storage], nbytes=nbytes
        )
        target.written()
        return event

    def record_event(self, queue: Queues = ANY) -> Event:
        """The event of everything issued so far to a queue."""
        return self.queue_for(queue).record()

    def synchronize(self) -> None:
        """The host waits for all queues."""
        host_wait([queue.record() for queue in self.queues])

    def load(self, binary: Binary) -> BoundBinary:
        """Bind a binary to this device and keep it loaded."""
        return self.loaded.setdefault(binary.id, binary.bind(cast("OpenDevice", self)))

    def unload(self, binary: Binary) -> None:
        """Forget a loaded binary; UsageError when it is not loaded."""
        if self.loaded.pop(binary.id, None) is None:
            raise UsageError(f"binary {binary.id} is not loaded on {self.name}", hint="load(binary) loads it")

    def close(self, *, force: bool = False) -> None:
        """Wait for what was issued and free everything.  UsageError while tensors live, unless forced."""
        if not self.is_open:
            return
        living = [tensor for tensor in self.system.tensors.values() if tensor.device is self and tensor.is_allocated]
        if living and not force:
            names = ", ".join(tensor.name for tensor in living[:TOP_HOLDERS])
            raise UsageError(f"{self.name} still holds {len(living)} tensors: {names}", hint="close(force=True)")
        self.is_open = False
        gone = UseAfterFree(f"{self.name} was closed", hint="open it again")
        for tensor in living:
            tensor.lose(gone)
        try:
            self._shut()
        finally:
            self.system.opened.forget(self)

    def _shut(self) -> None:
        """What closing means for the device: the host goes on."""


class HostDevice(Device):
    """The host as an executor: numpy functions, timed by the programs' own costs; tensors stay where they are."""

    scheme = "host"

    def __init__(self, system: System, info: DeviceInfo, params: Mapping[str, Any], number: int) -> None:
        num_queues = int(params.get("cqs", 1))
        system.executor.submit(c.CreateHostDevice(number, num_queues))
        super().__init__(system, info, params, number, num_queues)

    def capabilities(self) -> Capabilities:
        """The host converts everything."""
        return Capabilities()

    def home_of(self, layout: Layout) -> tuple[Layout, Any]:
        """Its tensors are those of host memory."""
        return layout.on_host(), None

    @property
    def mem(self) -> Any:
        """Host memory has no raw buffers: UsageError."""
        raise UsageError(f"{self.name} has no raw buffers", hint="numpy arrays are the host's; chips have .mem")

    def memory_view(self) -> dict[str, dict[str, int]]:
        """Host memory is not modelled."""
        return {}

    def peak_flops(self, dtype: object, fidelity: str = "HiFi4") -> float:
        """Not known."""
        raise UsageError(f"{self.name} has no model of its arithmetic speed", hint="ask a simulated chip")


class SimAccelerator(Device):
    """A simulated chip.  `metal`: its handle in the plain host API; `timing`: cycle, or functional (host variants)."""

    scheme = "sim"

    def __init__(self, system: System, info: DeviceInfo, params: Mapping[str, Any], number: int) -> None:
        record = system.opened.record_of(info, params, number)
        state = system.executor.submit(record)
        self.metal, self.chip, self.state = MetalDevice(number, state, system.sim), state.chip, state
        super().__init__(system, info, params, number, record.num_hw_cqs)
        self.timing = params.get("timing", "cycle")
        self._freed = []  # (buffer type, first byte, end, uses) of memory that commands used and nobody has since
        self.mem = Memory(self)

    @property
    def arch(self) -> Arch:
        return self.chip.arch

    def capabilities(self) -> Capabilities:
        """What it converts by itself."""
        return Capabilities()

    def peak_flops(self, dtype: object, fidelity: str = "HiFi4") -> float:
        """Floating-point operations a second of all worker cores together (docs/hardware/tensix.md#matmul-limits).

        The matrix unit takes every `dtype` at the speed of its `fidelity`.
        """
        if fidelity not in FLOPS_PER_CYCLE:
            raise UsageError(f"there is no fidelity {fidelity!r}", hint=", ".join(FLOPS_PER_CYCLE))
        columns, rows = self.arch.grid
        return columns * rows * FLOPS_PER_CYCLE[fidelity] * self.arch.clock_mhz * 1e6

    # --- memory

    def allocate(self, desc: TensorDesc, layout: Layout, name: str | None) -> DeviceStorage:
        """A buffer for a tensor.  OutOfDeviceMemory; LayoutUnsupported."""
        storage = self.allocate_buffer(layout.buffer_config(desc, self.metal), name or "tensor")
        padded = layout.padded_shape(desc.shape)
        if desc.shape and desc.volume and len(padded) == len(desc.shape):
            storage.buffer.describe(tuple(map(int, desc.shape)), tuple(map(int, padded)))
        return storage

    def allocate_buffer(self, config: Any, name: str) -> DeviceStorage:
        """A storage for a buffer; commands that still use its memory come before its first use."""
        self._check_open()
        try:
            buffer = create_buffer(config)
        except ProgramError as error:
            raise self._out_of_memory(error, config) from None
        storage = DeviceStorage(self, buffer, name)
        self._inherit(storage)
        return storage

    def _out_of_memory(self, error: ProgramError, config: Any) -> OutOfDeviceMemory:
        view = self.memory_view()[BufferType(config.buffer_type).name]
        holders = sorted(self.state.buffers.values(), key=lambda b: -b.size)[:TOP_HOLDERS]
        largest = [f"buffer {b.id}: {b.size} B" for b in holders]
        return OutOfDeviceMemory(
            f"{config.size} B do not fit {BufferType(config.buffer_type).name} of {self.name}: the largest free block has "
            f"{view['largest_free']} B per bank in {view['banks']} banks ({error.message})",
            where={"request": config.size, "pool": view, "holders": largest},
            hint="deallocate tensors, or use DRAM; the largest holders: " + (", ".join(largest) or "none"),
        )

    def free_buffer(self, buffer: Any, uses: Uses) -> None:
        """Give a buffer back at once; who gets its memory next comes behind `uses`, whether they are over or not:
        what is known of that depends on when the host looked.
        """
        events = [event for event in (uses.last_write, *uses.reads) if event is not None]
        if events:
            start = int(buffer.address)
            self._freed.append((buffer.buffer_type, start, start + buffer.aligned_size_per_bank, events))
        if self.is_open:
            deallocate_buffer(buffer)

    def _inherit(self, storage: DeviceStorage) -> None:
        buffer, kept = storage.buffer, []
        start, end = int(buffer.address), int(buffer.address) + buffer.aligned_size_per_bank
        for kind, first, last, events in self._freed:
            if kind != buffer.buffer_type or first >= end or start >= last:
                kept.append((kind, first, last, events))
                continue
            for event in events:
                storage.uses.read(event)
            rest = (first, min(last, start)), (max(first, end), last)
            kept += [(kind, *part, events) for part in rest if part[0] < part[1]]
        self._freed = kept

    def memory_view(self) -> dict[str, dict[str, int]]:
        """{pool: {"banks", "total", "allocated", "free", "largest_free" (bytes per bank), "blocks"}}."""
        return {BufferType(kind).name: allocator.view() for kind, allocator in self.state.allocators.items()}

    def peek(self, buffer: Any) -> np.ndarray:
        """A buffer's bytes at the device's present time."""
        data = read_pages(self.state, buffer._state, 0, buffer.size)
        return np.frombuffer(data, np.uint8)

    def poke(self, buffer: Any, data: Any) -> None:
        """Replace a buffer's bytes at the device's present time."""
        write_pages(self.state, buffer._state, 0, np.ascontiguousarray(data).tobytes())

    # --- transfers

    def write(self, target: Tensor, data: Any, *, wait: Waitable = (), queue: Queues = ANY, label: str = "") -> Event:
        """Write bytes into a tensor over PCIe; returns the Event."""
        line, storage = self.queue_for(queue), cast(DeviceStorage, target.storage)
        record = c.WriteBuffer(self.number, line.id, storage.buffer.unique_id, data)
        event = line.issue(
            "upload", label or f"upload {target.name}", lambda: self.system.executor.submit(record), wait=wait,
            writes=[storage], nbytes=len(data),
        )  # fmt: skip
        target.written()
        return event

    def read(
        self,
        source: Tensor,
        into: HostStorage,
        *,
        wait: Waitable = (),
        queue: Queues = ANY,
        label: str = "",
        arrived: Callable[[np.ndarray], np.ndarray] | None = None,
    ) -> Event:
        """Read a tensor's bytes over PCIe into a HostStorage; returns the Event.

        `arrived(bytes)`: gives what the storage is to hold, if that is something else.
        """
        line, storage = self.queue_for(queue), cast(DeviceStorage, source.storage)
        record = c.ReadBuffer(self.number, line.id, storage.buffer.unique_id, 0, storage.buffer.size, False)

        def emit() -> Any:
            item = self.system.executor.submit(record)
            read = PendingRead(item, storage.buffer.size)

            def keep(_: object) -> None:
                if item.error is None:
                    data = np.frombuffer(bytes(read), np.uint8)
                    into.data = data if arrived is None else np.array(arrived(data))

            item.done.callbacks.append(keep)
            return item

        return line.issue(
            "download", label or f"download {source.name}", emit, wait=wait, reads=[storage], writes=[into],
            nbytes=storage.buffer.size,
        )  # fmt: skip

    def copy(self, queue: Queue, target: Tensor, source: Tensor, *, wait: Waitable, label: str) -> Event:
        """Copy a tensor into another of the same layout, at the rate of the memory."""
        if target.layout != source.layout or target.desc.shape != source.desc.shape:
            raise UsageError("copy needs two tensors of one shape and layout", hint="to_layout_into converts")
        ns = self.system.rates.between(self, self).step_ns("copy", self.name, source.nbytes)
        return self.run_function(
            "copy", label, COPY, ns, reads=[source], writes=[target], wait=wait, queue=1 << queue.id,
            nbytes=source.nbytes,
        )  # fmt: skip

    def fill(self, queue: Queue, tensor: Tensor, value: int, *, wait: Waitable, label: str) -> Event:
        """Fill a tensor's bytes, at the rate of the memory."""
        ns = self.system.rates.between(self, self).step_ns("copy", self.name, tensor.nbytes)
        return self.run_function(
            "fill", label, FILL, ns, parameters={"nbytes": tensor.nbytes, "value": value}, writes=[tensor], wait=wait,
            queue=1 << queue.id, nbytes=tensor.nbytes,
        )  # fmt: skip

    # --- traces, faults

    @contextlib.contextmanager
    def capture(self, queue: int = 0) -> Iterator[TraceCapture]:
        """Capture the programs submitted in the block; gives a `TraceCapture` to replay behind it."""
        trace = TraceCapture(self, self.queues[queue])
        self.system.executor.submit(c.BeginTraceCapture(self.number, queue, trace.id))
        self.system.capturing = trace
        try:
            yield trace
        finally:
            self.system.capturing = None
            self.system.executor.submit(c.EndTraceCapture(self.number, queue, trace.id))
            trace.end()

    def inject_fault(self, where: str, at_ns: float) -> None:
        """Let the command that runs at `at_ns` fail; `where` names it in the error."""
        self.state.inject_fault(round(at_ns * FS_PER_NS), where)

    def _shut(self) -> None:
        self.system.executor.submit(c.CloseDevice(self.number))


OpenDevice: TypeAlias = HostDevice | SimAccelerator
AnyDevice: TypeAlias = "HostDevice | SimAccelerator | MeshDevice"  # what a program is bound to


class TraceCapture:
    """A captured metal trace: programs only, addresses frozen.  `ranges`: memory that it uses, (type, first, end) per bank."""

    def __init__(self, device: SimAccelerator, queue: Queue) -> None:
        self.device, self.queue, self.id, self.ranges = device, queue, new_id(), []
        self._tensors = []

    def use(self, tensors: Iterable[Tensor]) -> None:
        """A captured program uses these."""
        self._tensors += tensors

    def end(self) -> None:
        """Freeze the addresses."""
        for tensor in self._tensors:
            buffer = tensor.storage.buffer
            start = int(buffer.address)
            self.ranges.append((tensor, buffer.buffer_type, start, start + buffer.aligned_size_per_bank))

    def check(self) -> None:
        """TraceStale when memory of the trace now belongs to something else."""
        for tensor, kind, start, end in self.ranges:
            if tensor.is_allocated:
                continue
            for other in self.device.state.buffers.values():
                first = other.address
                if other.buffer_type == kind and first < end and start < first + other.size_per_bank:
                    raise TraceStale(
                        f"trace {self.id} uses {tensor.name} at {start:#x}, which was freed; buffer {other.id} now occupies it",
                        where={"expected": tensor.name, "found": other.id},
                        hint="keep the tensors of a trace, or capture again",
                    )

    def replay(self, *, wait: Waitable = (), label: str | None = None) -> Event:
        """Enqueue the programs of the trace; returns the Event."""
        self.check()
        record = c.ReplayTrace(self.device.number, self.queue.id, self.id, False)
        storages = list({id(t): t.storage for t, *_ in self.ranges if t.is_allocated}.values())
        return self.queue.issue(
            "trace_replay", label or f"trace {self.id}", lambda: self.device.system.executor.submit(record), wait=wait,
            writes=storages,
        )  # fmt: skip

    def release(self) -> None:
        """Give its memory back."""
        self.device.system.executor.submit(c.ReleaseTrace(self.device.number, self.id))


class EmbeddedDevice(SimAccelerator):
    """A chip that runs one image from boot: no tensors go in or out while it runs."""

    scheme = "embedded"

    def __init__(self, system: System, info: DeviceInfo, params: Mapping[str, Any], number: int) -> None:
        super().__init__(system, info, params, number)
        self.image: BoundBinary | None = None
        self._results: dict[str, Tensor] | None = None

    def flash(self, image: Any) -> Event:
        """Put a binary (or the bytes of one) with its resident tensors into the device; returns the Event of the end of boot."""
        self.image = (image if isinstance(image, Binary) else Binary.load(image)).bind(self)
        self._results = None
        boot = float(self.params.get("boot_ns", 0))
        return self.run_function("boot", f"boot {self.name}", NOTHING, boot)

    def reset(self) -> None:
        """Back to before boot."""
        self.image = self._results = None

    def run(self, entry: int | str = 0, *, wait: Waitable = ()) -> Event:
        """Run a program of the image; returns the Event of its end."""
        if self.image is None:
            raise UsageError(f"{self.name} holds no image", hint="flash a binary first")
        self._results, event = self.image.run_resident(entry, wait)
        return event

    def result(self, name: str) -> np.ndarray:
        """An output of the last run, by its name: a debug back door without simulated time."""
        if self._results is None or name not in self._results:
            known = ", ".join(self._results or ()) or "none: nothing has run"
            raise UsageError(f"{self.name} has no result {name!r}", hint=f"its results: {known}")
        tensor = self._results[name]
        host_wait(tensor.event)
        return decode(tensor.bytes_now(), tensor.desc, tensor.layout)

    def write(self, target: Tensor, data: Any, **async_kw: Any) -> NoReturn:
        raise EmbeddedTransfer(f"{target.name} cannot be uploaded to {self.name}", hint="build it into the image")

    def read(self, source: Tensor, into: HostStorage, **async_kw: Any) -> NoReturn:
        raise EmbeddedTransfer(f"{source.name} cannot be downloaded from {self.name}", hint="result(name) looks at it")


class Memory:
    """Raw buffers of an accelerator."""

    def __init__(self, device: SimAccelerator) -> None:
        self.device = device

    def alloc(self, nbytes: int, space: MemSpace, *, align: int = 32) -> Tensor:
        """A row-major tensor of bytes.  UsageError for an alignment that the memory does not have."""
        if align < 1 or align & (align - 1) or self.device.arch.dram_alignment % align:
            raise UsageError(
                f"alignment {align} B is not available; the memory is aligned to {self.device.arch.dram_alignment} B",
                hint="a power of two that divides it",
            )
        return Tensor.empty(TensorDesc((nbytes,), DType.U8), Layout(space), self.device)

    def free(self, buffer: Tensor) -> None:
        """Give a buffer back."""
        buffer.deallocate(force=True)

    def write(self, buffer: Tensor, data: Any, **async_kw: Any) -> Event:
        """Write bytes; returns the Event."""
        return self.device.write(buffer, np.ascontiguousarray(data).view(np.uint8).tobytes(), **async_kw)

    def read(self, buffer: Tensor, out: np.ndarray, **async_kw: Any) -> Event:
        """Read bytes into an array once the returned Event has happened.

        `out`: a numpy array of as many bytes, without gaps and writeable; UsageError for any other.
        """
        size = buffer.nbytes
        if (
            not isinstance(out, np.ndarray)
            or out.nbytes != size
            or not (out.flags.c_contiguous and out.flags.writeable)
        ):
            raise UsageError(
                f"the array cannot take the {size} B of {buffer.name}",
                hint=f"np.empty({size}, np.uint8), or another array of {size} B that is contiguous and writeable",
            )
        storage = HostStorage(None, "raw read")
        event = self.device.read(buffer, storage, **async_kw)

        def arrived(_: object) -> None:
            if storage.data is not None:
                out.reshape(-1).view(np.uint8)[:] = storage.data

        event._state.done.callbacks.append(arrived)
        return event

    def fill(self, buffer: Tensor, value: int = 0, *, wait: Waitable = (), queue: Queues = ANY) -> Event:
        """Fill with a byte; returns the Event."""
        return self.device.queue_for(queue).fill(buffer, value, wait=wait)
