"""What the examples share on the host: tensors on the device, work splitting, circular buffers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import tensim as tt
from tensim.sim.cores.numerics.data_format import DataFormat, tile_size
from tensim.sim.cores.numerics.host_formats import decode, encode
from tensim.sim.errors import UsageError

if TYPE_CHECKING:
    BufferConfig = tt.InterleavedBufferConfig | tt.ShardedBufferConfig
    Cores = tt.CoreCoord | tt.CoreRange | tt.CoreRangeSet

LANGUAGES = ("python", "cpp")  # in which the examples' kernels are written
CPP = Path(__file__).parent / "cpp"
TILE = 32  # rows and columns of a tile
# Relative error (Frobenius norm) allowed for a result in the format: its rounding, with
# room for the accumulation error of a 16-bit destination.  fp32 passes the matrix unit as 19-bit values.
FORMAT_ERROR = {
    DataFormat.Float16_b: 0.02,
    DataFormat.Bfp8_b: 0.03,
    # The packer cuts magnitudes to 3 bits and rounds nothing (docs/hardware/numerics.md#packer-conversions, BFP8 ->
    # BFP4 `q >> 4`): an error spread
    # over one step has the norm step / sqrt(3), where rounding would have half of it.  A step is 1/8 to 1/4 of the largest
    # of 16 datums, 1.77 standard deviations of normal ones: 0.25 of the norm at most.
    DataFormat.Bfp4_b: 0.25,
    DataFormat.Float32: 0.005,
}
# LoFi multiplies the leading mantissa bits only (5 bits of one operand, 7 of the other).
FIDELITY_ERROR = {"LoFi": 0.06, "HiFi2": 0.01, "HiFi3": 0.005, "HiFi4": 0.0}


def ceil_div(a: int, b: int) -> int:
    return -(-a // b)


def round_up(a: int, multiple: int) -> int:
    return ceil_div(a, multiple) * multiple


def matmul_tolerance(dtype: DataFormat, fidelity: tt.MathFidelity) -> float:
    """Relative error allowed for a matrix product in `dtype` at `fidelity`."""
    return FORMAT_ERROR[dtype] + FIDELITY_ERROR[fidelity.name]


@dataclass
class Tensor:
    """A 2-D tensor in tile layout on the device.

    `values`: what the device holds after rounding to `dtype`, float32, unpadded.  `tiles`: (rows, columns) of
    tiles.
    """

    buffer: tt.Buffer
    shape: tuple[int, int]
    tiles: tuple[int, int]
    dtype: DataFormat
    values: Any = None  # an array once the tensor has been written

    @property
    def address(self) -> int:
        return self.buffer.address

    @property
    def nbytes(self) -> int:
        return self.tiles[0] * self.tiles[1] * tile_size(self.dtype)


def tile_counts(shape: Sequence[int]) -> tuple[int, int]:
    """(rows, columns) of tiles that hold a 2-D shape."""
    return ceil_div(shape[0], TILE), ceil_div(shape[1], TILE)


def pad_to_tiles(array: np.ndarray) -> np.ndarray:
    """A copy of a 2-D array, filled up with zeros to whole tiles."""
    rows, columns = tile_counts(array.shape)
    padded = np.zeros((rows * TILE, columns * TILE), array.dtype)
    padded[: array.shape[0], : array.shape[1]] = array
    return padded


def interleaved_config(
    device: tt.Device, tiles: tuple[int, int], dtype: DataFormat, buffer_type: tt.BufferType | None = None
) -> tt.InterleavedBufferConfig:
    """Buffer configuration of a tile-paged interleaved tensor; DRAM unless said otherwise."""
    page = tile_size(dtype)
    return tt.InterleavedBufferConfig(
        device=device,
        size=tiles[0] * tiles[1] * page,
        page_size=page,
        buffer_type=tt.BufferType.DRAM if buffer_type is None else buffer_type,
    )


def sharded_config(
    device: tt.Device, tiles: tuple[int, int], dtype: DataFormat, layout: tt.TensorMemoryLayout, cores: tt.CoreRangeSet,
    shard_tiles: tuple[int, int],
) -> tt.ShardedBufferConfig:  # fmt: skip
    """Buffer configuration of a tensor sharded over the L1 of `cores`, `shard_tiles` (rows, columns) each."""
    page = tile_size(dtype)
    shard = tt.ShardSpec(
        grid=cores,
        shape=(shard_tiles[0] * TILE, shard_tiles[1] * TILE),
        orientation=tt.ShardOrientation.ROW_MAJOR,
    )
    return tt.ShardedBufferConfig(
        device=device,
        size=tiles[0] * tiles[1] * page,
        page_size=page,
        buffer_type=tt.BufferType.L1,
        buffer_layout=layout,
        shard_parameters=tt.ShardSpecBuffer(shard, page_shape=(TILE, TILE), tensor2d_shape_in_pages=tiles),
    )


def create_tensor(
    device: tt.Device, shape: Sequence[int], dtype: DataFormat, config: BufferConfig | None = None
) -> Tensor:
    """An uninitialised tensor; interleaved in DRAM unless a buffer configuration is given."""
    tiles = tile_counts(shape)
    buffer = tt.create_buffer(config or interleaved_config(device, tiles, dtype))
    buffer.describe([int(size) for size in shape], [count * TILE for count in tiles])
    return Tensor(buffer, tuple(shape), tiles, dtype)


def moves_data(device: tt.Device) -> bool:
    """Whether the device has values at all: with numerics off only time passes."""
    return device.chip.numerics != "off"


def no_values(shape: Sequence[int]) -> np.ndarray:
    """What stands for the values of a tensor with numerics off: zeros that take no memory, float32."""
    return np.broadcast_to(np.float32(0), shape)


def upload_tensor(
    device: tt.Device, array: np.ndarray, dtype: DataFormat, config: BufferConfig | None = None
) -> Tensor:
    """A tensor with the values of a 2-D array, rounded to `dtype` and padded with zeros to whole tiles."""
    if not moves_data(device):
        return _upload_nothing(device, array.shape, dtype, config)
    tensor = create_tensor(device, array.shape, dtype, config)
    padded = pad_to_tiles(np.asarray(array, np.float32))
    data = encode(padded, dtype)
    tensor.values = decode(data, dtype, padded.shape)[: array.shape[0], : array.shape[1]].astype(np.float32)
    tt.enqueue_write_buffer(device.command_queue(0), tensor.buffer, data, blocking=False)
    return tensor


def _upload_nothing(device, shape, dtype, config):
    """The same transfer, which takes the same time, of a tensor without values."""
    tensor = create_tensor(device, shape, dtype, config)
    tensor.values = no_values(shape)
    tt.enqueue_write_buffer(device.command_queue(0), tensor.buffer, bytes(tensor.nbytes), blocking=False)
    return tensor


def download_tensor(device: tt.Device, tensor: Tensor) -> np.ndarray:
    """Values of a tensor as a float32 array; waits for everything enqueued before."""
    data = tt.enqueue_read_buffer(device.command_queue(0), tensor.buffer, blocking=True)
    if not moves_data(device):
        return no_values(tensor.shape)
    padded = decode(bytes(data), tensor.dtype, (tensor.tiles[0] * TILE, tensor.tiles[1] * TILE))
    return padded[: tensor.shape[0], : tensor.shape[1]].astype(np.float32)


def random_tensor(
    device: tt.Device,
    rng: np.random.Generator,
    shape: Sequence[int],
    dtype: DataFormat,
    config: BufferConfig | None = None,
) -> Tensor:
    """A tensor of standard normal values."""
    if not moves_data(device):
        return _upload_nothing(device, shape, dtype, config)
    return upload_tensor(device, rng.standard_normal(shape, dtype=np.float32), dtype, config)


def matrix_product(device: tt.Device, a: Tensor, b: Tensor) -> np.ndarray:
    """Product of the values of two tensors, (M, N) float32."""
    return a.values @ b.values if moves_data(device) else no_values((a.shape[0], b.shape[1]))


def execute(device: tt.Device, program: tt.Program) -> None:
    """Enqueue the program on queue 0 and wait for it."""
    queue = device.command_queue(0)
    tt.enqueue_program(queue, program, blocking=False)
    tt.finish(queue)


def rectangle(x0: int, y0: int, x1: int, y1: int) -> tt.CoreRange:
    """CoreRange of logical cores, corners inclusive."""
    return tt.CoreRange(tt.CoreCoord(x0, y0), tt.CoreCoord(x1, y1))


def grid_range(grid: tuple[int, int]) -> tt.CoreRangeSet:
    """CoreRangeSet of the (columns, rows) grid at the origin."""
    return tt.CoreRangeSet([rectangle(0, 0, grid[0] - 1, grid[1] - 1)])


def grid_cores(grid: tuple[int, int]) -> list[tt.CoreCoord]:
    """Logical cores of a (columns, rows) grid, row-major."""
    return [tt.CoreCoord(x, y) for y in range(grid[1]) for x in range(grid[0])]


def split_work(units: int, workers: int) -> list[tuple[int, int]]:
    """Split `units` into contiguous (start, count) shares, one per worker, sizes differing by at most one."""
    share, extra = divmod(units, workers)
    starts = [worker * share + min(worker, extra) for worker in range(workers + 1)]
    return [(start, end - start) for start, end in zip(starts, starts[1:], strict=False)]


def create_circular_buffer(
    program: tt.Program, cores: Cores, index: int, pages: int, dtype: DataFormat, buffer: tt.Buffer | None = None
) -> int:
    """Circular buffer of `pages` tiles; on top of an L1 buffer when one is given."""
    page = tile_size(dtype)
    config = tt.CircularBufferConfig(pages * page, {index: dtype}).set_page_size(index, page)
    if buffer is not None:
        config = config.set_globally_allocated_address(buffer)
    return tt.create_circular_buffer(program, cores, config)


def compute_config(dtype: DataFormat, fidelity: tt.MathFidelity, **settings: Any) -> tt.ComputeConfig:
    """ComputeConfig for operands of `dtype`; fp32 operands accumulate in a 32-bit destination."""
    settings.setdefault("fp32_dest_acc_en", dtype == DataFormat.Float32)
    return tt.ComputeConfig(math_fidelity=fidelity, **settings)


def source_of(kernel: Any, language: str) -> Any:
    """What `create_kernel` takes for a kernel: the Python function, or its counterpart `cpp/MODULE/KERNEL.cpp`."""
    if language not in LANGUAGES:
        raise UsageError(f"unknown kernel language {language!r}", hint=f"choose from {', '.join(LANGUAGES)}")
    return kernel if language == "python" else CPP / Path(kernel.file).stem / f"{kernel.name}.cpp"


def require_single_core(grid: tuple[int, int], name: str) -> None:
    if grid != (1, 1):
        raise UsageError(f"{name} runs on one core; grid {grid[0]}x{grid[1]} is not possible", hint="use --grid 1x1")
