"""Where a tensor lies: the buffer of the host API for its description, and the cores or banks of its shards."""

from __future__ import annotations

import math

import tensim.buffer as buffers
import tensim.types as metal
from tensim.device import Device
from tensim.sim.host.buffers import expand
from tensim.ttnn.cores import Box, Place, pair
from tensim.ttnn.devices import MeshDevice
from tensim.ttnn.enums import BufferType, DataType, ShardDistributionStrategy, ShardOrientation, TensorMemoryLayout
from tensim.ttnn.errors import ArgumentError, check_type
from tensim.ttnn.memory import EMPTY_PAGE, SHARDED, NdShardSpec, TensorSpec, flat_spec, nd_spec

_LAYOUTS = {
    TensorMemoryLayout.HEIGHT_SHARDED: metal.TensorMemoryLayout.HEIGHT_SHARDED,
    TensorMemoryLayout.WIDTH_SHARDED: metal.TensorMemoryLayout.WIDTH_SHARDED,
    TensorMemoryLayout.BLOCK_SHARDED: metal.TensorMemoryLayout.BLOCK_SHARDED,
}


def _in_blocks(spec: TensorSpec) -> bool:
    """Whether rows and columns of shards lie on those of cores; otherwise shards are dealt to the cores of the grid."""
    return nd_spec(spec.memory_config).shard_distribution_strategy == ShardDistributionStrategy.GRID_2D


def cores_of_shards(spec: TensorSpec) -> list[Place]:
    nd = nd_spec(spec.memory_config)
    turned = nd.orientation == ShardOrientation.COL_MAJOR
    if _in_blocks(spec):
        return _block_cores(nd.grid.ranges()[0].corners, spec, turned)
    return expand([item.corners for item in nd.grid.ranges()], not turned)


def _block_counts(spec: TensorSpec) -> tuple[int, int]:
    """(down, across): shards of a tensor in blocks; an empty tensor keeps one of a row, and one row of what has no width."""
    shard = spec.shard_pages(len(spec.pages))
    down, across = (-(-a // b) for a, b in zip(spec.pages_2d, (math.prod(shard[:-1]), shard[-1]), strict=True))
    return max(down, 1) if across else 1, max(across, 1)


def _block_cores(corners: Box, spec: TensorSpec, turned: bool) -> list[Place]:
    """Cores of block shards: rows of shards on rows of cores, or on columns."""
    (x0, y0, *_), (down, across) = corners, _block_counts(spec)
    places = [(row, column) for row in range(down) for column in range(across)]
    return [(x0 + row, y0 + column) if turned else (x0 + column, y0 + row) for row, column in places]


def _blocks_fit(spec: TensorSpec, nd: NdShardSpec) -> bool:
    (down, across), (columns, rows) = _block_counts(spec), pair(nd.grid.ranges()[0].grid_size())
    on_columns, on_rows = (down, across) if nd.orientation == ShardOrientation.COL_MAJOR else (across, down)
    return on_columns <= columns and on_rows <= rows


def _buffer_config(spec: TensorSpec, host: Device) -> metal.InterleavedBufferConfig | metal.ShardedBufferConfig:
    config = spec.memory_config
    kind = metal.BufferType(config.buffer_type.value)
    size = spec.num_pages * spec.page_size
    if config.interleaved:
        return metal.InterleavedBufferConfig(host, size, spec.page_size, kind)
    if config.nd_shard_spec is None:
        raise ArgumentError(f"MemoryConfig: {config.memory_layout} needs a shard_spec")
    parameters: metal.ShardSpecBuffer | metal.BufferDistributionSpec
    blocks = config.memory_layout == TensorMemoryLayout.BLOCK_SHARDED
    if size and config.memory_layout in SHARDED and blocks == _in_blocks(spec):
        one = flat_spec(config)
        shard = metal.ShardSpec(
            one.grid.host(), (one.shape[0], one.shape[1]), metal.ShardOrientation(one.orientation.value)
        )
        parameters = metal.ShardSpecBuffer(shard, spec.page_shape, spec.pages_2d)
        layout = _LAYOUTS[config.memory_layout]
    else:
        nd = config.nd_shard_spec
        cores = tuple(metal.CoreCoord(*core) for core in cores_of_shards(spec))
        contiguous = nd.shard_distribution_strategy == ShardDistributionStrategy.CONTIGUOUS_1D
        pages = spec.distributed_pages
        parameters = metal.BufferDistributionSpec(pages, spec.shard_pages(len(pages)), cores, contiguous)
        layout = metal.TensorMemoryLayout.BLOCK_SHARDED
    return metal.ShardedBufferConfig(host, size, spec.page_size, kind, layout, parameters)


def _check_shards(spec: TensorSpec, device: MeshDevice) -> None:
    """ArgumentError for shards without elements, of more dimensions than the tensor in memory, or outside the device."""
    nd, rank = spec.memory_config.nd_shard_spec, len(spec.padded_shape)
    if nd is None:
        return
    if not all(nd.shard_shape):
        raise ArgumentError(f"NdShardSpec: shard_shape {list(nd.shard_shape)} has no elements")
    if len(nd.shard_shape) > rank:
        raise ArgumentError(
            f"NdShardSpec: shard_shape {list(nd.shard_shape)} has more dimensions than the tensor's {rank}"
        )
    if _in_blocks(spec) and (len(nd.shard_shape) > 2 or nd.grid.size() != 1 or not _blocks_fit(spec, nd)):
        raise ArgumentError(f"NdShardSpec: shard_distribution_strategy: GRID_2D lays no such shards on {nd.grid}")
    if spec.padded_shape[-1] % spec.page_shape[1]:
        raise ArgumentError(
            f"NdShardSpec: an empty tensor's rows are a multiple of {EMPTY_PAGE} B, not {spec.padded_shape}"
        )
    in_dram = spec.memory_config.buffer_type == BufferType.DRAM
    columns, rows = pair(device.dram_grid_size() if in_dram else device.compute_with_storage_grid_size())
    for x, y in cores_of_shards(spec):
        if x >= columns or y >= rows:
            place = "DRAM bank" if in_dram else "core"
            raise ArgumentError(f"ShardSpec: grid: {place} {x}-{y} is outside the device's {columns}x{rows}")


def buffer_of(spec: TensorSpec, device: MeshDevice) -> buffers.Buffer:
    """A buffer for a tensor of this description, of undefined contents."""
    check_type("allocate_tensor_on_device", "mesh_device", device, MeshDevice)
    device.check_open()
    if spec.dtype == DataType.FP8_E4M3 and device.host.arch.name != "blackhole":
        raise ArgumentError(f"Tensor: dtype: {spec.dtype} is no format of {device.host.arch.name}")
    _check_shards(spec, device)
    buffer = buffers.create_buffer(_buffer_config(spec, device.host))
    if 0 < spec.shape.rank == spec.padded_shape.rank and 0 not in tuple(spec.shape):
        buffer.describe(list(map(int, spec.shape)), list(map(int, spec.padded_shape)))
    return buffer
