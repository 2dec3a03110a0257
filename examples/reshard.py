"""A tensor moved from one sharded layout in L1 to another: every core fetches its new shard.

Both data-movement cores work: NCRISC on NoC 0 fetches the upper half of the shard's rows, BRISC on NoC 1 the
lower half. The source is addressed page by page through a tensor accessor, which knows the source's sharding.
"""
# ruff: noqa: F403, F405

import tensim as tt
from tensim.examples.common import (
    TILE,
    ceil_div,
    create_tensor,
    download_tensor,
    execute,
    grid_cores,
    grid_range,
    random_tensor,
    sharded_config,
    source_of,
)
from tensim.examples.result import ExampleResult
from tensim.kernel_api import *
from tensim.sim.cores.numerics.data_format import tile_size
from tensim.sim.errors import UsageError

AXES = "MN"

TILES_PER_SIDE = 2  # default shape: 2x2 tiles per core in the block-sharded layout
LAYOUTS = ("height", "width", "block")


@kernel
def fetch_shard(source_address, shard_address, first_row, rows, first_column, columns):
    """Fetch `rows` x `columns` tiles from tile position (first_row, first_column) into consecutive L1 pages.

    Compile-time arguments: page size in bytes, tiles in a row of the tensor, tiles in a row of the shard,
    accessor.
    """
    page = get_compile_time_arg_val(0)
    pitch = get_compile_time_arg_val(1)
    shard_pitch = get_compile_time_arg_val(2)
    source = TensorAccessor(TensorAccessorArgs(3), source_address, page)
    for row in range(rows):
        address = shard_address + row * shard_pitch * page
        for column in range(columns):
            noc_async_read_page((first_row + row) * pitch + first_column + column, source, address)
            address += page
    noc_async_read_barrier()


def shard_shape(layout, tiles, grid):
    """(rows, columns) of tiles in a shard of a `tiles` tensor over the (columns, rows) grid."""
    count = grid[0] * grid[1]
    cuts = {"height": (count, 1), "width": (1, count), "block": (grid[1], grid[0])}[layout]
    return ceil_div(tiles[0], cuts[0]), ceil_div(tiles[1], cuts[1])


def shard_position(layout, index, shard, grid):
    """Tile position (row, column) of the shard that core `index` (row-major) owns."""
    if layout == "block":
        return (index // grid[0]) * shard[0], (index % grid[0]) * shard[1]
    return (index * shard[0], 0) if layout == "height" else (0, index * shard[1])


def _config(device, layout, tiles, dtype, grid):
    names = tt.TensorMemoryLayout
    memory_layout = {
        "height": names.HEIGHT_SHARDED, "width": names.WIDTH_SHARDED, "block": names.BLOCK_SHARDED,
    }[layout]  # fmt: skip
    return sharded_config(device, tiles, dtype, memory_layout, grid_range(grid), shard_shape(layout, tiles, grid))


def _check(layout):
    if layout not in LAYOUTS:
        raise UsageError(f"unknown sharded layout {layout!r}", hint=f"choose from {', '.join(LAYOUTS)}")


def run(
    device, *, shape, dtype, fidelity, grid, rng, source: str = "height", target: str = "block", kernels: str = "python"
):
    """`shape`: (M, N) elements; by default TILES_PER_SIDE tiles per core in each direction.

    `source`, `target`: "height", "width" or "block".
    """
    _check(source)
    _check(target)
    shape = shape or (grid[1] * TILES_PER_SIDE * TILE, grid[0] * TILES_PER_SIDE * TILE)
    tiles = ceil_div(shape[0], TILE), ceil_div(shape[1], TILE)
    before = random_tensor(device, rng, shape, dtype, _config(device, source, tiles, dtype, grid))
    after = create_tensor(device, shape, dtype, _config(device, target, tiles, dtype, grid))
    shard = shard_shape(target, tiles, grid)
    page = tile_size(dtype)

    program, cores = tt.create_program(), grid_range(grid)
    compile_args = [page, tiles[1], shard[1], *tt.TensorAccessorArgs(before.buffer).get_compile_time_args()]
    fetchers = [
        tt.create_kernel(program, source_of(fetch_shard, kernels), cores, config(compile_args=compile_args))
        for config in (tt.ReaderDataMovementConfig, tt.WriterDataMovementConfig)
    ]
    for index, core in enumerate(grid_cores(grid)):
        row, column = shard_position(target, index, shard, grid)
        rows, columns = max(0, min(shard[0], tiles[0] - row)), max(0, min(shard[1], tiles[1] - column))
        upper = ceil_div(rows, 2)
        for kernel, first, count in zip(fetchers, (0, upper), (upper, rows - upper), strict=True):
            address = after.address + first * shard[1] * page
            args = [before.address, address, row + first, count, column, columns]
            tt.set_runtime_args(program, kernel, core, args)
    execute(device, program)
    return ExampleResult(
        expected=before.values,
        actual=download_tensor(device, after),
        tolerance=0.0,
        flops=0,
        bytes_moved=before.nbytes,
        description=(f"{shape[0]}x{shape[1]} {dtype.name}, {source}- to {target}-sharded on {grid[0]}x{grid[1]} cores"),
    )
