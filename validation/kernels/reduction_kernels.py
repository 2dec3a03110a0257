"""Kernels of the reduction families: one core, operands in L1, `rounds` rounds, each of which takes its
results off the output buffer before the next one begins.

Buffers: `A` the operand, `B` a tile of zeros, `SUM` what has been accumulated, `SCALE` the scaler, `OUT` the results.
"""
# ruff: noqa: F403, F405

from tensim.kernel_api import *
from tensim.validation.compute.kernels import OUT, SCALE, SUM, A


@device_function
def take(cb, tiles):
    """Take results off a buffer: the next round waits for them."""
    cb_wait_front(cb, tiles)
    cb_pop_front(cb, tiles)


@device_function
def pack_one(cb):
    """Hand over the math thread's section, a single tile, to buffer `cb`."""
    tile_regs_commit()
    cb_reserve_back(cb, 1)
    tile_regs_wait()
    pack_tile(0, cb)
    tile_regs_release()
    cb_push_back(cb, 1)


@device_function
def fold(cb, first, tiles, dim):
    """Reduce `tiles` tiles of a buffer into tile 0 of Dst."""
    for i in range(tiles):
        reduce_tile(cb, SCALE, first + i, 0, 0, dim=dim)


@device_function
def add_up(first, tiles):
    """Add `tiles` tiles of the operand to tile 0 of Dst, two at a time (an odd one first)."""
    start = 0
    if tiles % 2 != 0:
        copy_tile_to_dst_init_short(A)
        copy_tile(A, first, 0)
        start = 1
    add_tiles_init(A, A, True)
    for i in range(start, tiles, 2):
        add_tiles(A, A, first + i, first + i + 1, 0)


@kernel
def reduce_by_tile():
    """`outputs` results, each of `reduced` reduce_tile calls."""
    outputs, reduced, dim, rounds = (
        get_compile_time_arg_val(0), get_compile_time_arg_val(1), get_compile_time_arg_val(2), get_compile_time_arg_val(3)
    )  # fmt: skip
    compute_kernel_hw_startup(A, SCALE, OUT)
    cb_wait_front(SCALE, 1)
    cb_wait_front(A, outputs * reduced)
    for _ in range(rounds):
        reduce_init_short(A, SCALE)
        for output in range(outputs):
            tile_regs_acquire()
            fold(A, output * reduced, reduced, dim)
            pack_one(OUT)
        reduce_uninit()
        take(OUT, outputs)


@kernel
def accumulate_then_reduce():
    """Tiles are accumulated in Dst into the buffer SUM, one reduce_tile follows."""
    reduced, dim, rounds = get_compile_time_arg_val(1), get_compile_time_arg_val(2), get_compile_time_arg_val(3)
    compute_kernel_hw_startup(A, SCALE, OUT)
    cb_wait_front(SCALE, 1)
    cb_wait_front(A, reduced)
    for _ in range(rounds):
        tile_regs_acquire()
        add_up(0, reduced)
        pack_one(SUM)
        cb_wait_front(SUM, 1)
        reduce_init_short(SUM, SCALE)
        tile_regs_acquire()
        fold(SUM, 0, 1, dim)
        pack_one(OUT)
        reduce_uninit()
        cb_pop_front(SUM, 1)
        take(OUT, 1)
