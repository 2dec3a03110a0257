"""Kernels that tilize rows of tiles in L1, and the fused (A + B) @ C of `compute_block_size`.

Buffers: `A`, `B` row-major operands, `WEIGHTS` the tilized C, then the tilized operands, their sum and the product, `OUT`.
"""
# ruff: noqa: F403, F405

from tensim.kernel_api import *
from tensim.validation.compute.kernels import OUT, A, B
from tensim.validation.kernels.reduction_kernels import take

WEIGHTS, TILED_A, TILED_B, ADDED, PRODUCT = 4, 5, 6, 7, 8


@kernel
def tilize_rows():
    """`rounds` times `height` rows of `width` tiles, each handed over through its buffers."""
    height, width, rounds = get_compile_time_arg_val(0), get_compile_time_arg_val(1), get_compile_time_arg_val(2)
    compute_kernel_hw_startup(A, A, OUT)
    tilize_init_short(A)
    for _ in range(rounds):
        for _row in range(height):
            cb_wait_front(A, width)
            cb_reserve_back(OUT, width)
            tilize_block(A, width, OUT)
            cb_push_back(OUT, width)
            cb_pop_front(A, width)


@kernel
def tilize_in_place():
    """The same without buffer calls: operand and result stay where they are."""
    height, width, rounds = get_compile_time_arg_val(0), get_compile_time_arg_val(1), get_compile_time_arg_val(2)
    compute_kernel_hw_startup(A, A, OUT)
    tilize_init_short(A)
    cb_reserve_back(OUT, height * width)
    for _ in range(rounds):
        for row in range(height):
            tilize_block(A, width, OUT, row * width, row * width)


@device_function
def reconfigure(reconfig, first, second, target):
    """The calls before each operation of a library, if it makes them."""
    if reconfig != 0:
        reconfig_data_format(first, second)
        pack_reconfig_data_format(target)


@device_function
def tilize_rows_of(source, target, rows, width):
    tilize_init_short(source)
    for _ in range(rows):
        cb_wait_front(source, width)
        cb_reserve_back(target, width)
        tilize_block(source, width, target)
        cb_push_back(target, width)
        cb_pop_front(source, width)
    tilize_uninit(source)


@kernel
def sum_then_product():
    """`rounds` times, block of rows by block: tilize A, tilize B, add, multiply by C, untilize."""
    blocks, rows, k, n = (
        get_compile_time_arg_val(0), get_compile_time_arg_val(1), get_compile_time_arg_val(2), get_compile_time_arg_val(3)
    )  # fmt: skip
    reconfig, chunk, rounds = get_compile_time_arg_val(4), get_compile_time_arg_val(5), get_compile_time_arg_val(6)
    compute_kernel_hw_startup(A, B, OUT)
    cb_wait_front(WEIGHTS, k * n)
    for _ in range(rounds):
        for _block in range(blocks):
            reconfigure(reconfig, A, A, TILED_A)
            tilize_rows_of(A, TILED_A, rows, k)
            reconfigure(reconfig, B, B, TILED_B)
            tilize_rows_of(B, TILED_B, rows, k)
            reconfigure(reconfig, TILED_A, TILED_B, ADDED)
            add_tiles_init(TILED_A, TILED_B)
            cb_wait_front(TILED_A, rows * k)
            cb_wait_front(TILED_B, rows * k)
            cb_reserve_back(ADDED, rows * k)
            for first in range(0, rows * k, chunk):
                tile_regs_acquire()
                for i in range(chunk):
                    add_tiles(TILED_A, TILED_B, first + i, first + i, i)
                tile_regs_commit()
                tile_regs_wait()
                for i in range(chunk):
                    pack_tile(i, ADDED)
                tile_regs_release()
            cb_push_back(ADDED, rows * k)
            cb_pop_front(TILED_A, rows * k)
            cb_pop_front(TILED_B, rows * k)
            reconfigure(reconfig, WEIGHTS, ADDED, PRODUCT)
            mm_block_init_short(ADDED, WEIGHTS, 0, chunk, 1, k)
            cb_wait_front(ADDED, rows * k)
            cb_reserve_back(PRODUCT, rows * n)
            for row in range(rows):
                for column in range(0, n, chunk):
                    tile_regs_acquire()
                    for step in range(k):
                        matmul_block(ADDED, WEIGHTS, row * k + step, step * n + column, 0, 0, chunk, 1, k)
                    tile_regs_commit()
                    tile_regs_wait()
                    for i in range(chunk):
                        pack_tile(i, PRODUCT)
                    tile_regs_release()
            cb_push_back(PRODUCT, rows * n)
            cb_pop_front(ADDED, rows * k)
            reconfigure(reconfig, PRODUCT, PRODUCT, OUT)
            copy_tile_to_dst_init_short(PRODUCT)
            pack_untilize_dest_init(OUT)
            cb_wait_front(PRODUCT, rows * n)
            for _row in range(rows):
                cb_reserve_back(OUT, n)
                pack_untilize_block(PRODUCT, 1, OUT, 0, n)
                cb_push_back(OUT, n)
                cb_pop_front(PRODUCT, n)
            pack_untilize_uninit(OUT)
            take(OUT, rows * n)


@kernel
def feed_operands():
    """C once, then the row-major operands, a block after the other."""
    blocks, tiles, weights = get_compile_time_arg_val(0), get_compile_time_arg_val(1), get_compile_time_arg_val(2)
    cb_reserve_back(WEIGHTS, weights)
    cb_push_back(WEIGHTS, weights)
    for _ in range(blocks):
        cb_reserve_back(A, tiles)
        cb_push_back(A, tiles)
        cb_reserve_back(B, tiles)
        cb_push_back(B, tiles)
