"""Buffers, regions of buffers, tensor accessors and global semaphores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tensim.device import Device
from tensim.references import ReferenceInt
from tensim.sim.cores.tensor_accessors import pack_tensor_accessor_args
from tensim.sim.errors import UsageError
from tensim.sim.host import commands as c
from tensim.sim.host.buffer_commands import check_region
from tensim.sim.host.executor import new_id
from tensim.sim.host.large_bytes import bytes_of
from tensim.types import (
    BufferDistributionSpec,
    BufferRegion,
    BufferType,
    CoreCoord,
    CoreSpec,
    InterleavedBufferConfig,
    ShardedBufferConfig,
    ShardOrientation,
    ShardSpecBuffer,
    SubDeviceId,
    TensorMemoryLayout,
    core_coord,
    range_tuples,
)

if TYPE_CHECKING:
    from tensim.sim.arch import Arch
    from tensim.sim.host.buffers import Buffer as BufferState
    from tensim.sim.host.semaphore_commands import GlobalSemaphore as SemaphoreState

HostData: TypeAlias = bytes | bytearray | memoryview | np.ndarray | Sequence[int]  # bytes, an array, or 32-bit words


class Buffer:
    """Handle of a buffer; dropping the last reference frees it."""

    def __init__(self, device: Device, buffer_id: int, state: BufferState) -> None:
        self.device, self.unique_id, self._state = device, buffer_id, state
        self._executor = device.system.executor

    def __del__(self) -> None:
        self._executor.submit(c.DeleteBuffer(self.unique_id))

    def __repr__(self) -> str:
        return f"Buffer({self.size} B of {self.page_size} B pages, {self.buffer_type.name}, {self.address:#x})"

    @property
    def address(self) -> int:
        """Address in every bank (lock-step); readable after deallocation too."""
        address = self._state.address
        assert address is not None  # since the buffer was made
        return ReferenceInt(address, c.Reference.BUFFER_ADDRESS, self.unique_id)

    @property
    def size(self) -> int:
        """Bytes of the host's view."""
        return self._state.size

    @property
    def page_size(self) -> int:
        return self._state.page_size

    @property
    def num_pages(self) -> int:
        return self._state.num_pages

    @property
    def num_dev_pages(self) -> int:
        """Pages on the device, with those that fill partial shards."""
        return self._state.num_dev_pages

    @property
    def aligned_page_size(self) -> int:
        """Bytes from one page to the next in a bank."""
        return self._state.aligned_page_size

    @property
    def aligned_size_per_bank(self) -> int:
        """Bytes the buffer takes in each bank."""
        return self._state.size_per_bank

    @property
    def buffer_type(self) -> BufferType:
        return BufferType(self._state.buffer_type)

    @property
    def buffer_layout(self) -> TensorMemoryLayout:
        return TensorMemoryLayout(self._state.layout)

    @property
    def is_allocated(self) -> bool:
        return self._state.allocated

    def page_location(self, page: int) -> tuple[int, int]:
        """(bank, address in the bank) of a page; a bank of L1 is a worker index."""
        if not 0 <= page < self.num_pages:
            raise UsageError(f"page {page} is not one of the buffer's {self.num_pages}")
        (bank,), (offset,) = self._state.pages(page, 1)
        return int(bank), self.address + int(offset)

    def page_address(self, bank: int, page: int) -> int:
        """Address of a page, which must lie in `bank`."""
        where, address = self.page_location(page)
        if where != bank:
            raise UsageError(f"page {page} lies in bank {where}, not in bank {bank}")
        return address

    def describe(self, shape: Sequence[int], padded_shape: Sequence[int] | None = None) -> None:
        """Say that the buffer holds a tensor of this shape, for what reports show (docs/tool_files.md); nothing else changes.

        `padded_shape`: with what fills tiles, if that is more.  UsageError for a shape of other than positive sizes, or of
        other ranks.
        """
        shape, padded = tuple(shape), tuple(padded_shape or shape)
        sizes = (*shape, *padded)
        if len(shape) != len(padded) or any(type(size) is not int or size <= 0 for size in sizes) or not shape:
            raise UsageError(
                f"shape {list(shape)}, padded {list(padded)}: a tensor has positive sizes in equally many dimensions"
            )
        self._state.tensor = shape, padded

    def allow_unordered_writes(self) -> None:
        """Say that nobody looks at what kernels write here, so that their writes may overtake each other; nothing else changes.

        Checks then find no race between two writes (docs/checks.md); a read that nothing orders behind a write stays one.
        """
        self._state.unordered = True

    def shard_cores(self) -> list[CoreCoord]:
        """Logical core of each shard, in shard order; empty for interleaved buffers."""
        return [CoreCoord(*core) for core in self._state.cores]

    def view(self, region: BufferRegion) -> BufferView:
        """A view of whole pages of the buffer."""
        check_region(self._state, region.offset, region.size)
        return BufferView(self, region)


class BufferView:
    """A region of a buffer; takes the place of the buffer in reads and writes and keeps it alive."""

    def __init__(self, buffer: Buffer, region: BufferRegion) -> None:
        self.buffer, self.region = buffer, region

    @property
    def size(self) -> int:
        return self.region.size

    @property
    def page_size(self) -> int:
        return self.buffer.page_size

    @property
    def address(self) -> int:
        """Address of the whole buffer (lock-step: a region has no address of its own)."""
        return self.buffer.address


def resolve(target: Buffer | BufferView, region: BufferRegion | None = None) -> tuple[Buffer, int, int]:
    """(buffer, offset, size) of a buffer or view, cut to a region."""
    if isinstance(target, BufferView):
        buffer, base = target.buffer, target.region
    else:
        buffer, base = target, BufferRegion(0, target.size)
    if region is None:
        return buffer, base.offset, base.size
    if region.offset < 0 or region.offset + region.size > base.size:
        raise UsageError(f"region of {region.size} B at offset {region.offset} is outside {base.size} B")
    return buffer, base.offset + region.offset, region.size


def shard_record(parameters: object) -> c.ShardParameters:
    """The record of shard parameters; UsageError when they are none."""
    if isinstance(parameters, BufferDistributionSpec):
        return _distribution_record(parameters)
    if not isinstance(parameters, ShardSpecBuffer):
        raise UsageError("a sharded buffer needs shard_parameters (ShardSpecBuffer or BufferDistributionSpec)")
    spec = parameters.tensor_shard_spec
    return c.ShardParameters(
        range_tuples(spec.grid),
        tuple(int(n) for n in spec.device_shape),
        spec.orientation == ShardOrientation.ROW_MAJOR,
        tuple(int(n) for n in parameters.page_shape),
        tuple(int(n) for n in parameters.tensor2d_shape_in_pages),
    )


def _distribution_record(spec: BufferDistributionSpec) -> c.ShardParameters:
    cores = [core_coord(core) for core in spec.cores]
    return c.ShardParameters(
        tuple((*core, *core) for core in cores),
        tuple(int(n) for n in spec.shard_shape_in_pages),
        True,
        (1,) * len(spec.shard_shape_in_pages),
        tuple(int(n) for n in spec.tensor_shape_in_pages),
        round_robin=True,
        contiguous=spec.contiguous,
    )


def create_buffer(
    config: InterleavedBufferConfig | ShardedBufferConfig,
    address: int | None = None,
    *,
    bottom_up: bool | None = None,
    sub_device_id: SubDeviceId | None = None,
) -> Buffer:
    """Allocate a buffer.

    `config`: InterleavedBufferConfig or ShardedBufferConfig; `address`: a fixed address that is neither
    reserved nor freed; `bottom_up`: direction of growth instead of the memory's default; `sub_device_id`:
    allocate in the local L1 of a sub-device.  UsageError for a bad configuration, ProgramError (kind
    out_of_memory) when nothing fits.
    """
    device = config.device
    if device is None:
        raise UsageError("a buffer configuration needs a device")
    record = c.CreateBuffer(
        device.id,
        new_id(),
        int(config.size),
        int(config.page_size),
        int(config.buffer_type),
        int(config.buffer_layout),
        shard_record(config.shard_parameters) if isinstance(config, ShardedBufferConfig) else None,
        None if address is None else int(address),
        bottom_up,
        sub_device_id,
    )
    return Buffer(device, record.buffer, device._submit(record))


def deallocate_buffer(buffer: Buffer) -> None:
    """Free a buffer now; idempotent.  UsageError for anything else."""
    if not isinstance(buffer, Buffer):
        raise UsageError(f"deallocate_buffer takes a Buffer, not {buffer!r}")
    buffer._executor.submit(c.DeallocateBuffer(buffer.unique_id))


def write_to_buffer(buffer: Buffer, data: HostData) -> None:
    """Put data into a buffer at once, without a queue and without simulated time."""
    buffer._executor.submit(c.WriteDirect(buffer.unique_id, as_bytes(data)))


def read_from_buffer(buffer: Buffer) -> bytes:
    """Bytes of a buffer as they are now, without a queue and without simulated time."""
    return buffer._executor.submit(c.ReadDirect(buffer.unique_id))


def as_bytes(data: HostData) -> bytes:
    """Host data (bytes-like, numpy array, list of 32-bit words) as bytes."""
    if isinstance(data, list | tuple):
        try:
            return b"".join(int(word).to_bytes(4, "little", signed=word < 0) for word in data)
        except OverflowError:
            raise UsageError("a list of host data holds 32-bit words") from None
    if isinstance(data, np.ndarray):
        return bytes_of(data)
    if hasattr(data, "tobytes"):
        return data.tobytes()
    return bytes(data)


class TensorAccessorArgs:
    """Compile-time arguments that tell a kernel's TensorAccessor how a buffer is laid out."""

    def __init__(self, buffer: Buffer) -> None:
        self._args = self._pack(buffer._state, buffer.device.arch)

    @staticmethod
    def _pack(state: BufferState, arch: Arch) -> list[int]:
        if state.shard is None:
            return pack_tensor_accessor_args(state.in_dram, state.aligned_page_size)
        banks = list(dict.fromkeys(state.shard_banks))
        return pack_tensor_accessor_args(
            state.in_dram,
            state.aligned_page_size,
            tensor_pages=state.shard.tensor_pages,
            shard_pages=state.shard_pages,
            banks=[(bank, 0) if state.in_dram else arch.kernel_coords[bank] for bank in banks],
            contiguous=state.shard.contiguous,
        )

    def get_compile_time_args(self) -> list[int]:
        """The arguments, to be put into a configuration's compile_args."""
        return list(self._args)

    def append_to(self, compile_args: list[int]) -> None:
        """Append the arguments to a list."""
        compile_args.extend(self._args)


class GlobalSemaphore:
    """Handle of a semaphore that outlives programs; dropping the last reference frees it."""

    def __init__(self, device: Device, number: int, state: SemaphoreState) -> None:
        self.device, self.id, self._state = device, number, state

    def __del__(self) -> None:
        self.device.system.executor.submit(c.DeleteGlobalSemaphore(self.id))

    @property
    def address(self) -> int:
        """L1 address of the word on each of its cores."""
        address = self._state.address
        assert address is not None  # since the buffer was made
        return ReferenceInt(address, c.Reference.GLOBAL_SEMAPHORE_ADDRESS, self.id)

    def reset_semaphore_value(self, value: int) -> None:
        """Write a value to all cores, by the host and at once."""
        self.device._submit(c.ResetGlobalSemaphore(self.id, int(value)))


def create_global_semaphore(
    device: Device, cores: CoreSpec, initial_value: int, buffer_type: BufferType = BufferType.L1
) -> GlobalSemaphore:
    """A semaphore at one L1 address of `cores`, for use by several programs."""
    record = c.CreateGlobalSemaphore(device.id, new_id(), range_tuples(cores), int(initial_value), int(buffer_type))
    return GlobalSemaphore(device, record.semaphore, device._submit(record))
