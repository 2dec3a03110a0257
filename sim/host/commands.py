"""One record per host call: what the host API hands to the executor, and what a replay feeds to it again.

Records name every object by a global integer id.  Cores are logical (x, y) pairs; ranges are (x0, y0, x1,
y1), inclusive. Sizes and addresses are bytes.
"""

import dataclasses
from dataclasses import field
from enum import IntEnum
from typing import dataclass_transform

from tensim.sim.lazy_dataclass import dataclass

TILE_HEIGHTS, TILE_WIDTHS = (1, 2, 4, 8, 16, 32), (16, 32)  # what faces of at most 16x16 make up
Core = tuple[int, int]
Range = tuple[int, int, int, int]


class Reference(IntEnum):
    """What a runtime argument may stand for."""

    BUFFER_ADDRESS = 0
    WORKER_X = 1
    WORKER_Y = 2
    GLOBAL_SEMAPHORE_ADDRESS = 3


class Command:
    """Base of all records: two are equal when their types and fields are."""

    def __eq__(self, other):
        return type(self) is type(other) and vars(self) == vars(other)

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


# To make these methods for each of the fifty classes would take a tenth of a small run.
@dataclass_transform(eq_default=False)
def record(cls):
    """A command: a dataclass that is compared by identity."""
    return dataclass(eq=False, repr=False)(cls)


@dataclass_transform(eq_default=False)
def record_of_deletion(cls):
    """A command that Python gives when it frees an object: at its own end, too, when no class can be made any more."""
    return dataclasses.dataclass(eq=False, repr=False)(cls)


# --- devices


@record
class CreateDevice(Command):
    device: int
    num_hw_cqs: int
    l1_small_size: int
    trace_region_size: int
    arch: object  # name, path or tensim.sim.arch.Arch
    numerics: str
    noc: str
    max_cycles: int | None
    seed: int
    minimal: bool = False  # without command queues
    check: bool = False  # a choice of the run: no file keeps it


@record
class CloseDevice(Command):
    device: int


@record
class StartFabric(Command):
    """Start the routers of a mesh: devices 0, 1, ... are its chips, row after row, all just opened.

    `shape`: (rows, columns); `configuration`: "1d" or "2d"; `board`: (rows, columns, links between neighbours) of the board that
    it is a part of; `links`: that it uses of those; `torus`: rows and columns are closed; `ring`, `line`: one around the mesh in
    their place; `packet_bytes`: the largest payload, None: the chip's own; `forwarding`: False for routers that serve neighbours
    alone.
    """

    shape: tuple[int, int]
    configuration: str
    board: tuple[int, int, int]
    links: int
    torus: bool
    ring: bool
    line: bool
    packet_bytes: int | None
    forwarding: bool


@record
class CreateHostDevice(Command):
    """Queues that carry out host functions."""

    device: int
    num_queues: int


# --- buffers


@dataclass(frozen=True)
class ShardParameters:
    """Sharding of a buffer.  `shape` and `page_shape` in elements, `tensor_pages` in pages: one shard per core of
    `grid`, all (height, width), or with `round_robin` any number of dimensions and shard i on core i modulo their number,
    with `contiguous` too on core i divided by the largest number of shards on a core.
    """

    grid: tuple[Range, ...]
    shape: tuple[int, ...]
    row_major: bool
    page_shape: tuple[int, ...]
    tensor_pages: tuple[int, ...]
    round_robin: bool = False
    contiguous: bool = False


@record
class CreateBuffer(Command):
    device: int
    buffer: int
    size: int
    page_size: int
    buffer_type: int
    layout: int
    shard: ShardParameters | None = None
    address: int | None = None
    bottom_up: bool | None = None
    sub_device: int | None = None


@record_of_deletion
class DeallocateBuffer(Command):
    buffer: int


@record_of_deletion
class DeleteBuffer(Command):
    """The host dropped its last reference."""

    buffer: int


@record
class WriteBuffer(Command):
    device: int
    queue: int
    buffer: int
    data: bytes = field(repr=False)
    offset: int = 0
    blocking: bool = False


@record
class ReadBuffer(Command):
    """`fetch`: the bytes are wanted; without it only time passes."""

    device: int
    queue: int
    buffer: int
    offset: int
    size: int
    blocking: bool
    fetch: bool = True


@record
class CompareBuffer(Command):
    """A blocking read whose bytes are compared with `golden` (None while capturing: with what is read now).

    `rtol`, `atol`: allowed relative and absolute difference of values of `format` (a DataFormat; Invalid: of bytes).
    """

    device: int
    queue: int
    buffer: int
    golden: bytes | None = field(repr=False)
    name: str = ""
    rtol: float = 0.0
    atol: float = 0.0
    format: int = 255


@record
class WriteDirect(Command):
    """Host back door (detail::WriteToBuffer): no queue, no simulated time."""

    buffer: int
    data: bytes = field(repr=False)


@record
class ReadDirect(Command):
    """Host back door (detail::ReadFromBuffer)."""

    buffer: int


# --- programs


@record
class CreateProgram(Command):
    program: int


@record_of_deletion
class DeleteProgram(Command):
    program: int


@dataclass(frozen=True)
class DataMovementParameters:
    """Where a data-movement kernel runs and what it is compiled with."""

    processor: int
    noc: int
    noc_mode: int = 0
    compile_args: tuple[int, ...] = ()
    defines: tuple[tuple[str, str], ...] = ()
    named_compile_args: tuple[tuple[str, int], ...] = ()
    opt_level: str = "O2"  # of a C++ kernel's build


@dataclass(frozen=True)
class ComputeParameters:
    """Settings of the compute engine and what a compute kernel is compiled with."""

    math_fidelity: int
    fp32_dest_acc_en: bool
    dst_full_sync_en: bool
    math_approx_mode: bool
    bfp8_pack_precise: bool
    unpack_to_dest_mode: tuple[int, ...] = ()
    compile_args: tuple[int, ...] = ()
    defines: tuple[tuple[str, str], ...] = ()
    named_compile_args: tuple[tuple[str, int], ...] = ()
    opt_level: str = "O3"  # of a C++ kernel's build


@record
class CreateKernel(Command):
    """`references`: as in SetRuntimeArgs, with position 0, of the compile-time arguments."""

    program: int
    kernel: object  # tensim.sim.cores.kernels.compiler.Kernel
    cores: tuple[Range, ...]
    config: DataMovementParameters | ComputeParameters
    references: tuple[tuple[int, int, int, int], ...] = ()


@record
class SetRuntimeArgs(Command):
    """Unique arguments: one tuple per core of `cores`.

    `references`: the arguments that stand for something of the chip, (position in `cores`, index, Reference, key); key:
    the buffer or global semaphore, or x | y << 16 of the logical core.
    """

    program: int
    kernel: int
    cores: tuple[Core, ...]
    args: tuple[tuple[int, ...], ...]
    references: tuple[tuple[int, int, int, int], ...] = ()


@record
class UpdateRuntimeArg(Command):
    """One word written through a view; `core` None: a common argument.  `references`: as in SetRuntimeArgs, of this word."""

    program: int
    kernel: int
    core: Core | None
    index: int
    value: int
    references: tuple[tuple[int, int, int, int], ...] = ()


@record
class SetCommonRuntimeArgs(Command):
    """`references` as in SetRuntimeArgs, with position 0."""

    program: int
    kernel: int
    args: tuple[int, ...]
    references: tuple[tuple[int, int, int, int], ...] = ()


@record
class CreateCircularBuffer(Command):
    """`formats`, `page_sizes` and `tiles` by index; `tiles` holds (height, width) of a tile.  `offset`: bytes from the start of
    `buffer`.
    """

    program: int
    cores: tuple[Range, ...]
    total_size: int
    formats: tuple[tuple[int, int], ...]
    page_sizes: tuple[tuple[int, int], ...]
    tiles: tuple[tuple[int, int, int], ...] = ()
    buffer: int | None = None
    offset: int = 0


@record
class UpdateCircularBuffer(Command):
    """New total size, page size of an index, or underlying buffer; None leaves a field alone."""

    program: int
    circular_buffer: int
    total_size: int | None = None
    index: int | None = None
    page_size: int | None = None
    buffer: int | None = None


@record
class CreateSemaphore(Command):
    """`id`: None for the first that is free on its cores."""

    program: int
    cores: tuple[Range, ...]
    initial: int
    id: int | None = None


@record
class AssignBufferToProgram(Command):
    program: int
    buffer: int


@record
class CompileProgram(Command):
    device: int
    program: int


@record
class CreateGlobalSemaphore(Command):
    device: int
    semaphore: int
    cores: tuple[Range, ...]
    initial: int
    buffer_type: int


@record
class ResetGlobalSemaphore(Command):
    semaphore: int
    value: int


@record_of_deletion
class DeleteGlobalSemaphore(Command):
    semaphore: int


# --- queues


@record
class EnqueueProgram(Command):
    """`joined`: the call that enqueues it has been charged with the program of another chip, and they begin together."""

    device: int
    queue: int
    program: int
    blocking: bool
    joined: bool = False


@record
class EnqueueFunction(Command):
    """A program known by its time: `function()` is called when `duration_fs` femtoseconds are over.

    `name`: under which whoever replays finds the function; `buffers`: those it reads, then those it writes; `parameters`:
    JSON, what else it needs; `exclusive`: the workers of the device are busy with it.
    """

    device: int
    queue: int
    name: str
    function: object
    duration_fs: int
    buffers: tuple[int, ...] = ()
    exclusive: bool = True
    parameters: str = "null"


@record
class TransferBuffer(Command):
    """Copy a buffer into one of another device, of the same size; the queue carries it out.  `via`: auto, eth, pcie, host."""

    device: int
    queue: int
    source: int
    target: int
    via: str = "auto"


@record
class RecordEvent(Command):
    device: int
    queue: int
    event: int
    sub_devices: tuple[int, ...] = ()


@record
class WaitForEvent(Command):
    device: int
    queue: int
    event: int


@record
class SynchronizeEvent(Command):
    event: int


@record
class QueryEvent(Command):
    event: int


@record
class CreateEvent(Command):
    """An event that the host will signal, or that happens when all events `of` have (`any`: the first); queues may wait
    for it before.
    """

    event: int
    of: tuple[int, ...] = ()
    any: bool = False


@record
class SignalEvent(Command):
    """The host signals an event; `error`: as failed, for this reason."""

    event: int
    error: str = ""


@record
class WaitEvents(Command):
    """The host waits for all events, or for the first of them (`any`), at most `timeout_fs` femtoseconds."""

    events: tuple[int, ...]
    any: bool = False
    timeout_fs: int | None = None


@record
class HostWork(Command):
    """The host works for some femtoseconds."""

    duration_fs: int


@record
class Finish(Command):
    """`queue` None: all queues of the device."""

    device: int
    queue: int | None
    sub_devices: tuple[int, ...] = ()


# --- traces


@record
class BeginTraceCapture(Command):
    device: int
    queue: int
    trace: int


@record
class EndTraceCapture(Command):
    device: int
    queue: int
    trace: int


@record
class ReplayTrace(Command):
    """`joined`: as of `EnqueueProgram`."""

    device: int
    queue: int
    trace: int
    blocking: bool
    joined: bool = False


@record
class ReleaseTrace(Command):
    device: int
    trace: int


@record
class LoadTrace(Command):
    device: int
    queue: int
    trace: int
    descriptor: object = field(repr=False)  # tensim.sim.host.trace_descriptor.TraceDescriptor


# --- sub-devices


@record
class CreateSubDeviceManager(Command):
    device: int
    manager: int
    sub_devices: tuple[tuple[Range, ...], ...]
    local_l1_size: int


@record
class LoadSubDeviceManager(Command):
    """`manager` None: back to one sub-device with all cores."""

    device: int
    manager: int | None


@record
class RemoveSubDeviceManager(Command):
    device: int
    manager: int


@record
class SetStallGroup(Command):
    """Sub-devices that reads, writes and finish wait for; None: all."""

    device: int
    sub_devices: tuple[int, ...] | None
