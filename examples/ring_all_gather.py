"""All-gather inside a chip: every core ends with the shards of all cores, along a ring in both directions.

The cores form a ring in snake order, so that neighbours are adjacent but for the closing link.  Shard i goes
to slot i of every core's gather buffer, hence no transfer waits for space.  NCRISC on NoC 0 passes shards
forward, BRISC on NoC 1 backward; each covers half of the ring.  In step s a core passes on the shard that it
received in step s - 1, once the direction's semaphore says that it is there.
"""
# ruff: noqa: F403, F405

import numpy as np

import tensim as tt
from tensim.examples.common import (
    TILE,
    create_circular_buffer,
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
from tensim.sim.errors import UsageError

AXES = "MN"
SHAPE = "32x64"

CB_PAGE = 0  # carries the page size only
SEM_FORWARD = 0
SEM_BACKWARD = 1
SEM_LOADED = 2


@kernel
def pass_shards(source_address, gather_address, position, size, tiles, steps, direction, next_x, next_y):
    """Send `steps` shards to the neighbour, starting with the core's own.

    `position` of `size` in the ring; `direction` is 1 (shards arrive from position - 1) or size - 1 (from
    position + 1). The forward kernel also loads the core's own shard from DRAM.
    """
    page = get_tile_size(CB_PAGE)
    shard_bytes = tiles * page
    forward = direction == 1
    if forward:
        source = InterleavedAddrGen(source_address, page_size=page, dram=True)
        for i in range(tiles):
            noc_async_read_tile(position * tiles + i, source, gather_address + position * shard_bytes + i * page)
        noc_async_read_barrier()
        noc_semaphore_set(get_semaphore(SEM_LOADED), 1)
        arrived = get_semaphore(SEM_FORWARD)
    else:
        noc_semaphore_wait(get_semaphore(SEM_LOADED), 1)
        arrived = get_semaphore(SEM_BACKWARD)
    slot = position
    for step in range(steps):
        noc_semaphore_wait_min(arrived, step)
        address = gather_address + slot * shard_bytes
        noc_async_write(address, get_noc_addr(next_x, next_y, address), shard_bytes)
        noc_async_write_barrier()
        noc_semaphore_inc(get_noc_addr(next_x, next_y, arrived), 1)
        slot = (slot + size - direction) % size
    noc_semaphore_wait_min(arrived, steps)
    noc_async_atomic_barrier()


def snake(grid):
    """Logical cores of the grid, every other row backwards, so that successors are adjacent."""
    rows = [grid_cores(grid)[y * grid[0] : (y + 1) * grid[0]] for y in range(grid[1])]
    return [core for y, row in enumerate(rows) for core in (row if y % 2 == 0 else row[::-1])]


def run(device, *, shape, dtype, fidelity, grid, rng, kernels: str = "python"):
    """`shape`: (M, N) elements of one core's shard; M a multiple of 32."""
    m, n = shape
    if m % TILE:
        raise UsageError(f"ring_all_gather needs M in whole tiles of {TILE} rows, not {m}")
    ring, cores = snake(grid), grid_range(grid)
    size = len(ring)
    if size < 2:
        raise UsageError("ring_all_gather needs at least two cores")
    source = random_tensor(device, rng, (size * m, n), dtype)
    tiles = source.tiles[0] * source.tiles[1] // size
    copies = (size * source.tiles[0], source.tiles[1])
    layout = tt.TensorMemoryLayout.HEIGHT_SHARDED
    config = sharded_config(device, copies, dtype, layout, cores, source.tiles)
    gathered = create_tensor(device, (size * size * m, n), dtype, config)

    program = tt.create_program()
    create_circular_buffer(program, cores, CB_PAGE, 1, dtype)
    for _ in (SEM_FORWARD, SEM_BACKWARD, SEM_LOADED):
        tt.create_semaphore(program, cores, 0)
    forward = tt.create_kernel(program, source_of(pass_shards, kernels), cores, tt.ReaderDataMovementConfig())
    backward = tt.create_kernel(program, source_of(pass_shards, kernels), cores, tt.WriterDataMovementConfig())
    backward_steps = (size - 1) // 2
    for position, core in enumerate(ring):
        common = [source.address, gathered.address, position, size, tiles]
        for kernel, steps, direction in (
            (forward, size - 1 - backward_steps, 1),
            (backward, backward_steps, size - 1),
        ):
            neighbour = device.worker_core_from_logical_core(ring[(position + direction) % size])
            args = [*common, steps, direction, neighbour.x, neighbour.y]
            tt.set_runtime_args(program, kernel, core, args)
    execute(device, program)
    return ExampleResult(
        expected=np.tile(source.values, (size, 1)),
        actual=download_tensor(device, gathered),
        tolerance=0.0,
        flops=0,
        bytes_moved=source.nbytes,
        description=f"all-gather of {m}x{n} {dtype.name} shards around a ring of {size} cores",
    )
