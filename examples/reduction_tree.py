"""Sum of one tensor per core along a binary tree over the cores, with remote writes and remote semaphores.

At level l the core whose index is an odd multiple of 2^l sends its partial sum to the core 2^l before it,
into that core's slot for level l, and increments that core's semaphore l.  A core adds what it receives level
by level; core 0 ends with the total and writes it to DRAM.  One slot and one semaphore per level: arrivals
need no order and no back-pressure.
"""
# ruff: noqa: F403, F405

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
)
from tensim.examples.result import ExampleResult
from tensim.kernel_api import *
from tensim.sim.errors import UsageError

AXES = "MN"
SHAPE = "64x64"

CB_OWN = 0
CB_INCOMING = 1
CB_PARTIAL = 24
CB_RESULT = 16
ROUNDING_GROWTH = 2  # every level rounds once more; independent errors add up in quadrature


@kernel
def receiver(source_address, first, tiles, levels):
    """Read the core's own tiles, then make each level's arrival visible to the compute kernel."""
    page = get_tile_size(CB_OWN)
    source = InterleavedAddrGen(source_address, page_size=page, dram=True)
    cb_reserve_back(CB_OWN, tiles)
    own = get_write_ptr(CB_OWN)
    for i in range(tiles):
        noc_async_read_tile(first + i, source, own + i * page)
    noc_async_read_barrier()
    cb_push_back(CB_OWN, tiles)
    for level in range(levels):
        cb_reserve_back(CB_INCOMING, tiles)
        noc_semaphore_wait(get_semaphore(level), 1)
        cb_push_back(CB_INCOMING, tiles)


@kernel
def add_levels(tiles, levels):
    """own + incoming of level 0 + incoming of level 1 + ..., tile by tile."""
    binary_op_init_common(CB_OWN, CB_INCOMING, CB_RESULT)
    source = CB_OWN
    if levels == 0:
        copy_tile_to_dst_init_short(CB_OWN)
        for _ in range(tiles):
            cb_wait_front(CB_OWN, 1)
            tile_regs_acquire()
            copy_tile(CB_OWN, 0, 0)
            tile_regs_commit()
            cb_pop_front(CB_OWN, 1)
            cb_reserve_back(CB_RESULT, 1)
            tile_regs_wait()
            pack_tile(0, CB_RESULT)
            tile_regs_release()
            cb_push_back(CB_RESULT, 1)
    add_tiles_init(CB_OWN, CB_INCOMING)
    for level in range(levels):
        target = CB_RESULT if level == levels - 1 else CB_PARTIAL
        for _ in range(tiles):
            cb_wait_front(source, 1)
            cb_wait_front(CB_INCOMING, 1)
            tile_regs_acquire()
            add_tiles(source, CB_INCOMING, 0, 0, 0)
            tile_regs_commit()
            cb_pop_front(source, 1)
            cb_pop_front(CB_INCOMING, 1)
            cb_reserve_back(target, 1)
            tile_regs_wait()
            pack_tile(0, target)
            tile_regs_release()
            cb_push_back(target, 1)
        source = CB_PARTIAL


@kernel
def sender(tiles, level, is_root, incoming_address, parent_x, parent_y, result_address):
    """Send the partial sum to the parent; the root writes the total to DRAM."""
    page = get_tile_size(CB_RESULT)
    cb_wait_front(CB_RESULT, tiles)
    result = get_read_ptr(CB_RESULT)
    if is_root:
        destination = InterleavedAddrGen(result_address, page_size=page, dram=True)
        for i in range(tiles):
            noc_async_write_tile(i, destination, result + i * page)
        noc_async_write_barrier()
    else:
        slot = incoming_address + level * tiles * page
        noc_async_write(result, get_noc_addr(parent_x, parent_y, slot), tiles * page)
        noc_async_write_barrier()
        noc_semaphore_inc(get_noc_addr(parent_x, parent_y, get_semaphore(level)), 1)
        noc_async_atomic_barrier()
    cb_pop_front(CB_RESULT, tiles)


def tree_levels(index, count):
    """Levels at which core `index` of `count` receives: its trailing zero bits, while a partner exists."""
    level = 0
    while index % (2 << level) == 0 and index + (1 << level) < count:
        level += 1
    return level


def send_level(index):
    """Level at which core `index` > 0 sends: the position of its lowest set bit."""
    return (index & -index).bit_length() - 1


def run(device, *, shape, dtype, fidelity, grid, rng, kernels: str = "python"):
    """`shape`: (M, N) elements of the tensor that every core contributes; M a multiple of 32."""
    m, n = shape
    if m % TILE:
        raise UsageError(f"reduction_tree needs M in whole tiles of {TILE} rows, not {m}")
    cores, core_list = grid_range(grid), grid_cores(grid)
    count, depth = len(core_list), max(1, (len(core_list) - 1).bit_length())
    source = random_tensor(device, rng, (count * m, n), dtype)
    total = create_tensor(device, shape, dtype)
    tiles = total.tiles[0] * total.tiles[1]
    slots = (depth * tiles, 1)
    incoming = tt.create_buffer(
        sharded_config(device, (count * slots[0], 1), dtype, tt.TensorMemoryLayout.HEIGHT_SHARDED, cores, slots)
    )

    program = tt.create_program()
    for index in (CB_OWN, CB_PARTIAL, CB_RESULT):
        create_circular_buffer(program, cores, index, tiles, dtype)
    create_circular_buffer(program, cores, CB_INCOMING, slots[0], dtype, buffer=incoming)
    for _ in range(depth):
        tt.create_semaphore(program, cores, 0)
    receive = tt.create_kernel(program, source_of(receiver, kernels), cores, tt.ReaderDataMovementConfig())
    send = tt.create_kernel(program, source_of(sender, kernels), cores, tt.WriterDataMovementConfig())
    compute = tt.create_kernel(program, source_of(add_levels, kernels), cores, compute_config(dtype, fidelity))
    for index, core in enumerate(core_list):
        levels = tree_levels(index, count)
        level = send_level(index) if index else 0
        parent = device.worker_core_from_logical_core(core_list[index - (1 << level) if index else 0])
        tt.set_runtime_args(program, receive, core, [source.address, index * tiles, tiles, levels])
        tt.set_runtime_args(program, compute, core, [tiles, levels])
        target = [incoming.address, parent.x, parent.y, total.address]
        tt.set_runtime_args(program, send, core, [tiles, level, int(index == 0), *target])
    execute(device, program)
    return ExampleResult(
        expected=source.values.reshape(count, m, n).sum(axis=0),
        actual=download_tensor(device, total),
        tolerance=ROUNDING_GROWTH * FORMAT_ERROR[dtype],
        flops=(count - 1) * m * n,
        bytes_moved=source.nbytes + total.nbytes,
        description=f"tree sum of {count} tensors of {m}x{n} {dtype.name}, {depth} levels",
    )
