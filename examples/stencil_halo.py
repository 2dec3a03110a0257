"""Five-point stencil (mean of the four neighbours) on a 2-D grid of cores with halo exchange.

Each core keeps its block of tiles with a frame of halo tiles around it.  A tile's stencil is six small matrix
products on the matrix unit: with B the matrix that holds 1/4 next to its diagonal, and two matrices with a
single 1/4 in a corner that bring in one row or column of a neighbouring tile,

    y = B x + T above + L below        (from above and below)
      + x B + left L + right T         (from left and right)

where T picks the last row of `above` (T[0, 31] = 1/4) and L the first row of `below` (L[31, 0] = 1/4).

Per iteration the compute kernel makes the new block; NCRISC copies it into the other of two framed blocks and
sends its edge tiles into the frames of the neighbours, with one semaphore per side that counts iterations.
Two framed blocks are enough: a neighbour can only be one iteration ahead, because it needs this core's edges
to go on. Outside the domain values are zero.
"""
# ruff: noqa: F403, F405

import numpy as np

import tensim as tt
from tensim.examples.common import (
    FORMAT_ERROR,
    TILE,
    compute_config,
    create_circular_buffer,
    create_tensor,
    download_tensor,
    execute,
    grid_cores,
    grid_range,
    random_tensor,
    sharded_config,
    source_of,
    upload_tensor,
)
from tensim.examples.result import ExampleResult
from tensim.kernel_api import *
from tensim.sim.errors import UsageError

AXES = "MN"

CB_STATE = 0  # framed blocks, double-buffered
CB_COEFFICIENTS = 1  # B, T, L, zero
CB_NEXT = 16  # new block of an iteration, for the exchange
CB_FINAL = 17  # new block of the last iteration, for DRAM
BESIDE = 0
LAST_TO_FIRST = 1
FIRST_TO_LAST = 2
ZERO = 3
COEFFICIENT_TILES = 4
BLOCK_SIDE = 2  # default shape: 2x2 tiles per core
FLOPS_PER_POINT = 4  # three additions and a scaling
SEM_ABOVE = 0  # counts halos that arrived from the core above; likewise the others
SEM_BELOW = 1
SEM_LEFT = 2
SEM_RIGHT = 3


@kernel
def exchange(source_address, coefficient_address, state_address, x, y, iterations):
    """Fill framed blocks: iteration 0 from DRAM, later ones from CB_NEXT and the neighbours.

    (x, y): place of the core in the grid.  Runtime arguments 6 ...: physical x, y of the neighbour above,
    below, left, right (the core itself where there is none).
    """
    rows = get_compile_time_arg_val(0)
    columns = get_compile_time_arg_val(1)
    grid_x = get_compile_time_arg_val(2)
    grid_y = get_compile_time_arg_val(3)
    page = get_tile_size(CB_STATE)
    pitch = grid_x * columns
    frame_w = columns + 2
    frame_tiles = (rows + 2) * frame_w
    inner_bytes = columns * page
    source = InterleavedAddrGen(source_address, page_size=page, dram=True)
    coefficients = InterleavedAddrGen(coefficient_address, page_size=page, dram=True)
    has_above = y > 0
    has_below = y < grid_y - 1
    has_left = x > 0
    has_right = x < grid_x - 1

    cb_reserve_back(CB_COEFFICIENTS, COEFFICIENT_TILES)
    coefficients_l1 = get_write_ptr(CB_COEFFICIENTS)
    for i in range(COEFFICIENT_TILES):
        noc_async_read_tile(i, coefficients, coefficients_l1 + i * page)

    # Iteration 0: block and halo from DRAM; outside the domain the frame stays zero in both framed blocks.
    cb_reserve_back(CB_STATE, frame_tiles)
    for row in range(rows + 2):
        inside_y = (row > 0 or has_above) and (row < rows + 1 or has_below)
        for column in range(columns + 2):
            inside_x = (column > 0 or has_left) and (column < columns + 1 or has_right)
            address = state_address + (row * frame_w + column) * page
            if inside_x and inside_y:
                tile = (y * rows + row - 1) * pitch + x * columns + column - 1
                noc_async_read_tile(tile, source, address)
            else:
                noc_async_read_tile(ZERO, coefficients, address)
                noc_async_read_tile(ZERO, coefficients, address + frame_tiles * page)
    noc_async_read_barrier()
    cb_push_back(CB_COEFFICIENTS, COEFFICIENT_TILES)
    cb_push_back(CB_STATE, frame_tiles)

    for iteration in range(1, iterations):
        cb_reserve_back(CB_STATE, frame_tiles)
        frame = state_address + (iteration % 2) * frame_tiles * page
        first_inner = frame + (frame_w + 1) * page
        last_inner_row = first_inner + (rows - 1) * frame_w * page
        cb_wait_front(CB_NEXT, rows * columns)
        block = get_read_ptr(CB_NEXT)
        last_row = block + (rows - 1) * inner_bytes
        if has_above:
            noc_async_write(
                block,
                get_noc_addr(get_arg_val(6), get_arg_val(7), last_inner_row + frame_w * page),
                inner_bytes,
            )
        if has_below:
            noc_async_write(
                last_row,
                get_noc_addr(get_arg_val(8), get_arg_val(9), first_inner - frame_w * page),
                inner_bytes,
            )
        for row in range(rows):
            tile_row = block + row * inner_bytes
            frame_row = first_inner + row * frame_w * page
            if has_left:
                noc_async_write(tile_row, get_noc_addr(get_arg_val(10), get_arg_val(11), frame_row + inner_bytes), page)
            if has_right:
                noc_async_write(
                    tile_row + inner_bytes - page,
                    get_noc_addr(get_arg_val(12), get_arg_val(13), frame_row - page),
                    page,
                )
            noc_async_read(get_noc_addr(tile_row), frame_row, inner_bytes)
        noc_async_write_barrier()
        if has_above:
            noc_semaphore_inc(get_noc_addr(get_arg_val(6), get_arg_val(7), get_semaphore(SEM_BELOW)), 1)
        if has_below:
            noc_semaphore_inc(get_noc_addr(get_arg_val(8), get_arg_val(9), get_semaphore(SEM_ABOVE)), 1)
        if has_left:
            noc_semaphore_inc(get_noc_addr(get_arg_val(10), get_arg_val(11), get_semaphore(SEM_RIGHT)), 1)
        if has_right:
            noc_semaphore_inc(get_noc_addr(get_arg_val(12), get_arg_val(13), get_semaphore(SEM_LEFT)), 1)
        noc_async_read_barrier()
        cb_pop_front(CB_NEXT, rows * columns)
        if has_above:
            noc_semaphore_wait_min(get_semaphore(SEM_ABOVE), iteration)
        if has_below:
            noc_semaphore_wait_min(get_semaphore(SEM_BELOW), iteration)
        if has_left:
            noc_semaphore_wait_min(get_semaphore(SEM_LEFT), iteration)
        if has_right:
            noc_semaphore_wait_min(get_semaphore(SEM_RIGHT), iteration)
        cb_push_back(CB_STATE, frame_tiles)
    noc_async_atomic_barrier()


@kernel
def relax(iterations):
    """One iteration per framed block: six products per tile, accumulated in the destination register."""
    rows = get_compile_time_arg_val(0)
    columns = get_compile_time_arg_val(1)
    frame_w = columns + 2
    frame_tiles = (rows + 2) * frame_w
    mm_init(CB_STATE, CB_COEFFICIENTS, CB_NEXT)
    cb_wait_front(CB_COEFFICIENTS, COEFFICIENT_TILES)
    for iteration in range(iterations):
        target = CB_FINAL if iteration == iterations - 1 else CB_NEXT
        cb_wait_front(CB_STATE, frame_tiles)
        for row in range(rows):
            for column in range(columns):
                here = (row + 1) * frame_w + column + 1
                tile_regs_acquire()
                matmul_tiles(CB_COEFFICIENTS, CB_STATE, BESIDE, here, 0)
                matmul_tiles(CB_COEFFICIENTS, CB_STATE, LAST_TO_FIRST, here - frame_w, 0)
                matmul_tiles(CB_COEFFICIENTS, CB_STATE, FIRST_TO_LAST, here + frame_w, 0)
                matmul_tiles(CB_STATE, CB_COEFFICIENTS, here, BESIDE, 0)
                matmul_tiles(CB_STATE, CB_COEFFICIENTS, here - 1, FIRST_TO_LAST, 0)
                matmul_tiles(CB_STATE, CB_COEFFICIENTS, here + 1, LAST_TO_FIRST, 0)
                tile_regs_commit()
                cb_reserve_back(target, 1)
                tile_regs_wait()
                pack_tile(0, target)
                tile_regs_release()
                cb_push_back(target, 1)
        cb_pop_front(CB_STATE, frame_tiles)


@kernel
def write_block(address, x, y):
    """Write the final block to DRAM."""
    rows = get_compile_time_arg_val(0)
    columns = get_compile_time_arg_val(1)
    pitch = get_compile_time_arg_val(2) * columns
    destination = InterleavedAddrGen(address, page_size=get_tile_size(CB_FINAL), dram=True)
    for row in range(y * rows, (y + 1) * rows):
        for column in range(x * columns, (x + 1) * columns):
            cb_wait_front(CB_FINAL, 1)
            noc_async_write_tile(row * pitch + column, destination, get_read_ptr(CB_FINAL))
            noc_async_writes_flushed()
            cb_pop_front(CB_FINAL, 1)
    noc_async_write_barrier()


def coefficients():
    """B, T, L and a zero tile as one (4 * 32, 32) array."""
    tiles = np.zeros((COEFFICIENT_TILES, TILE, TILE), np.float32)
    tiles[BESIDE] = 0.25 * (np.eye(TILE, k=1) + np.eye(TILE, k=-1))
    tiles[LAST_TO_FIRST, 0, TILE - 1] = 0.25
    tiles[FIRST_TO_LAST, TILE - 1, 0] = 0.25
    return tiles.reshape(COEFFICIENT_TILES * TILE, TILE)


def reference(values, iterations):
    """The stencil in numpy, zero outside the domain."""
    for _ in range(iterations):
        framed = np.pad(values, 1)
        values = 0.25 * (framed[:-2, 1:-1] + framed[2:, 1:-1] + framed[1:-1, :-2] + framed[1:-1, 2:])
    return values


def _check(shape, grid, iterations):
    if iterations < 1:
        raise UsageError(f"stencil_halo needs at least one iteration, not {iterations}")
    if shape[0] % (TILE * grid[1]) or shape[1] % (TILE * grid[0]):
        raise UsageError(
            f"shape {shape[0]}x{shape[1]} does not split into whole tiles over {grid[0]}x{grid[1]} cores",
            hint=f"M must be a multiple of {TILE * grid[1]}, N of {TILE * grid[0]}",
        )


def _neighbours(device, grid, x, y):
    """Physical x, y of the cores above, below, left and right; the core itself beyond the edge."""
    args = []
    for dx, dy in ((0, -1), (0, 1), (-1, 0), (1, 0)):
        inside = 0 <= x + dx < grid[0] and 0 <= y + dy < grid[1]
        place = tt.CoreCoord(x + dx, y + dy) if inside else tt.CoreCoord(x, y)
        core = device.worker_core_from_logical_core(place)
        args += [core.x, core.y]
    return args


def run(device, *, shape, dtype, fidelity, grid, rng, iterations: int = 4, kernels: str = "python"):
    """`shape`: (M, N) points, whole tiles per core; by default BLOCK_SIDE x BLOCK_SIDE tiles each."""
    shape = shape or (grid[1] * BLOCK_SIDE * TILE, grid[0] * BLOCK_SIDE * TILE)
    _check(shape, grid, iterations)
    rows, columns = shape[0] // TILE // grid[1], shape[1] // TILE // grid[0]
    frame_tiles, cores = (rows + 2) * (columns + 2), grid_range(grid)
    field = random_tensor(device, rng, shape, dtype)
    weights = upload_tensor(device, coefficients(), dtype)
    result = create_tensor(device, shape, dtype)
    frames = (2 * frame_tiles, 1)
    layout = tt.TensorMemoryLayout.HEIGHT_SHARDED
    all_frames = (frames[0] * grid[0] * grid[1], 1)
    state = tt.create_buffer(sharded_config(device, all_frames, dtype, layout, cores, frames))

    program = tt.create_program()
    create_circular_buffer(program, cores, CB_STATE, frames[0], dtype, buffer=state)
    create_circular_buffer(program, cores, CB_COEFFICIENTS, COEFFICIENT_TILES, dtype)
    create_circular_buffer(program, cores, CB_NEXT, rows * columns, dtype)
    create_circular_buffer(program, cores, CB_FINAL, rows * columns, dtype)
    for _ in (SEM_ABOVE, SEM_BELOW, SEM_LEFT, SEM_RIGHT):
        tt.create_semaphore(program, cores, 0)
    sizes = [rows, columns, *grid]
    mover = tt.create_kernel(
        program, source_of(exchange, kernels), cores, tt.ReaderDataMovementConfig(compile_args=sizes)
    )
    writer = tt.create_kernel(
        program, source_of(write_block, kernels), cores, tt.WriterDataMovementConfig(compile_args=sizes)
    )
    compute = tt.create_kernel(
        program, source_of(relax, kernels), cores, compute_config(dtype, fidelity, compile_args=sizes)
    )
    for core in grid_cores(grid):
        place, addresses = [core.x, core.y], [field.address, weights.address, state.address]
        neighbours = _neighbours(device, grid, core.x, core.y)
        tt.set_runtime_args(program, mover, core, [*addresses, *place, iterations, *neighbours])
        tt.set_runtime_args(program, writer, core, [result.address, *place])
        tt.set_runtime_args(program, compute, core, [iterations])
    execute(device, program)
    return ExampleResult(
        expected=reference(field.values, iterations),
        actual=download_tensor(device, result),
        tolerance=2 * FORMAT_ERROR[dtype],
        flops=FLOPS_PER_POINT * shape[0] * shape[1] * iterations,
        bytes_moved=field.nbytes + result.nbytes,
        description=(
            f"{iterations} stencil iterations on {shape[0]}x{shape[1]} {dtype.name}, {grid[0]}x{grid[1]} cores"
        ),
    )
