"""Kernels that re-create the compute benchmarks, one function per kernel structure.

Compile-time arguments carry the shape, so that all rows of a structure share one compiled kernel.  Circular buffers: 0 and
1 operands, 2 a running sum, 3 a scalar, 16 the result.
"""
# ruff: noqa: F403, F405

from tensim.kernel_api import *

A, B, SUM, SCALE, OUT = 0, 1, 2, 3, 16
GELU = 1  # epilogue


# --- data movement: what feeds a compute kernel, and what takes its results


@kernel
def feed():
    """`rounds` times `tiles` pages of the buffer `cb`, without data (the operands rest in L1)."""
    cb, tiles, rounds = get_compile_time_arg_val(0), get_compile_time_arg_val(1), get_compile_time_arg_val(2)
    for _ in range(rounds):
        cb_reserve_back(cb, tiles)
        cb_push_back(cb, tiles)


@kernel
def feed_pair():
    """`tiles` pages of two buffers, without data."""
    first, second, tiles = get_compile_time_arg_val(0), get_compile_time_arg_val(1), get_compile_time_arg_val(2)
    cb_reserve_back(first, tiles)
    cb_push_back(first, tiles)
    cb_reserve_back(second, tiles)
    cb_push_back(second, tiles)


@kernel
def feed_scaled_sum():
    """`tiles` pages of the sum and the scalar of MB5D, without data."""
    tiles = get_compile_time_arg_val(0)
    cb_reserve_back(SUM, tiles)
    cb_push_back(SUM, tiles)
    cb_reserve_back(SCALE, 1)
    cb_push_back(SCALE, 1)


@kernel
def drain():
    """Take `rounds` times `tiles` pages off the buffer `cb`."""
    cb, tiles, rounds = get_compile_time_arg_val(0), get_compile_time_arg_val(1), get_compile_time_arg_val(2)
    for _ in range(rounds):
        cb_wait_front(cb, tiles)
        cb_pop_front(cb, tiles)


# --- MB1, MB5A: copies


@kernel
def copy_through(rounds):
    """`rounds` times: `tiles` tiles from CB 0 to `out`, `chunk` tiles per acquire of the destination register.

    Into CB 0 itself the packer pushes the first tiles, too: its count of pushes replaces that of any other thread.
    """
    tiles, chunk, out = get_compile_time_arg_val(0), get_compile_time_arg_val(1), get_compile_time_arg_val(2)
    unary_op_init_common(A, out)
    copy_tile_init(A)
    if out == A:
        cb_reserve_back(out, tiles)
        cb_push_back(out, tiles)
    for _ in range(rounds):
        cb_wait_front(A, tiles)
        cb_reserve_back(out, tiles)
        first = 0
        while first < tiles:
            here = min(chunk, tiles - first)
            tile_regs_acquire()
            for i in range(here):
                copy_tile(A, first + i, i)
            tile_regs_commit()
            tile_regs_wait()
            for i in range(here):
                pack_tile(i, out)
            tile_regs_release()
            first += here
        cb_pop_front(A, tiles)
        cb_push_back(out, tiles)


# --- MB2: sums of blocks


@kernel
def sum_in_dst():
    """Initial tiles stay in the destination register while `blocks` blocks are combined with them; one pack."""
    tiles, blocks, resident, op = (
        get_compile_time_arg_val(0), get_compile_time_arg_val(1), get_compile_time_arg_val(2), get_compile_time_arg_val(3)
    )  # fmt: skip
    unary_op_init_common(SUM, OUT)
    copy_tile_init(SUM)
    tile_regs_acquire()
    cb_wait_front(SUM, tiles)
    for i in range(tiles):
        copy_tile(SUM, i, i)
    cb_pop_front(SUM, tiles)
    if op == 2:
        mul_tiles_init(A, A, True)
    else:
        add_reuse_dest_init(A)
    for block in range(blocks):
        if resident == 0 or block == 0:
            cb_wait_front(A, tiles)
        for i in range(tiles):
            if op == 2:
                mul_tiles(A, A, i, i, i)
            else:
                add_reuse_dest_tiles(A, i, i)
        if op == 1:
            for i in range(tiles):
                gelu_tile(i)
        if resident == 0:
            cb_pop_front(A, tiles)
    tile_regs_commit()
    cb_reserve_back(OUT, tiles)
    tile_regs_wait()
    for i in range(tiles):
        pack_tile(i, OUT)
    tile_regs_release()
    cb_push_back(OUT, tiles)


@kernel
def sum_by_packer():
    """`blocks` blocks are copied and packed one after another; the packer adds them to the initial tiles in L1, where the
    reader has put them (the buffer SUM tells when)."""
    tiles, blocks, resident, op = (
        get_compile_time_arg_val(0), get_compile_time_arg_val(1), get_compile_time_arg_val(2), get_compile_time_arg_val(3)
    )  # fmt: skip
    unary_op_init_common(SUM, OUT)
    copy_tile_init(SUM)
    cb_reserve_back(OUT, tiles)
    cb_wait_front(SUM, tiles)
    cb_pop_front(SUM, tiles)
    pack_reconfig_l1_acc(1)
    for block in range(blocks):
        if resident == 0 or block == 0:
            cb_wait_front(A, tiles)
        tile_regs_acquire()
        for i in range(tiles):
            if op == 2:
                mul_tiles(A, A, i, i, i)
            else:
                copy_tile(A, i, i)
        if op == 1:
            for i in range(tiles):
                gelu_tile(i)
        tile_regs_commit()
        tile_regs_wait()
        for i in range(tiles):
            pack_tile(i, OUT, i, True)
        tile_regs_release()
        if resident == 0:
            cb_pop_front(A, tiles)
    pack_reconfig_l1_acc(0)
    cb_push_back(OUT, tiles)


# --- MB3, MB5C, MB5D: matrix products


@kernel
def matmul_k_in_dst():
    """C[mt, nt] subblock by subblock, each over all of K in the destination register; K blocks wait in L1."""
    mt, nt, kt, rt = (
        get_compile_time_arg_val(0), get_compile_time_arg_val(1), get_compile_time_arg_val(2), get_compile_time_arg_val(3)
    )  # fmt: skip
    ct, epilogue = get_compile_time_arg_val(4), get_compile_time_arg_val(5)
    mm_block_init(A, B, OUT, 0, ct, rt, 1)
    if epilogue == GELU:
        gelu_tile_init()
    cb_wait_front(A, mt * kt)
    cb_wait_front(B, nt * kt)
    cb_reserve_back(OUT, mt * nt)
    for row in range(0, mt, rt):
        for column in range(0, nt, ct):
            tile_regs_acquire()
            for k in range(kt):
                matmul_block(A, B, k * mt + row, k * nt + column, 0, 0, ct, rt, 1)
            if epilogue == GELU:
                for i in range(rt * ct):
                    gelu_tile(i)
            tile_regs_commit()
            tile_regs_wait()
            for i in range(rt * ct):
                pack_tile(i, OUT)
            tile_regs_release()
    cb_pop_front(A, mt * kt)
    cb_pop_front(B, nt * kt)
    cb_push_back(OUT, mt * nt)


@kernel
def matmul_k_by_packer():
    """C[mt, nt] of every step of K is packed into L1, where the packer adds it up; then the epilogue, if there is one."""
    mt, nt, kt, rt = (
        get_compile_time_arg_val(0), get_compile_time_arg_val(1), get_compile_time_arg_val(2), get_compile_time_arg_val(3)
    )  # fmt: skip
    ct, epilogue = get_compile_time_arg_val(4), get_compile_time_arg_val(5)
    target = SUM if epilogue == GELU else OUT
    mm_block_init(A, B, target, 0, ct, rt, 1)
    cb_reserve_back(target, mt * nt)
    for k in range(kt):
        cb_wait_front(A, mt)
        cb_wait_front(B, nt)
        if k == 1:
            pack_reconfig_l1_acc(1)
        tile = 0
        for row in range(0, mt, rt):
            for column in range(0, nt, ct):
                tile_regs_acquire()
                matmul_block(A, B, row, column, 0, 0, ct, rt, 1)
                tile_regs_commit()
                tile_regs_wait()
                for i in range(rt * ct):
                    pack_tile(i, target, tile + i, True)
                tile_regs_release()
                tile += rt * ct
        cb_pop_front(A, mt)
        cb_pop_front(B, nt)
    pack_reconfig_l1_acc(0)
    cb_push_back(target, mt * nt)
    if epilogue == GELU:
        copy_tile_init(SUM)
        cb_wait_front(SUM, mt * nt)
        cb_reserve_back(OUT, mt * nt)
        for first in range(0, mt * nt, rt * ct):
            tile_regs_acquire()
            for i in range(rt * ct):
                copy_tile(SUM, first + i, i)
            for i in range(rt * ct):
                gelu_tile(i)
            tile_regs_commit()
            tile_regs_wait()
            for i in range(rt * ct):
                pack_tile(i, OUT)
            tile_regs_release()
        cb_pop_front(SUM, mt * nt)
        cb_push_back(OUT, mt * nt)


@kernel
def matmul_scaled_accumulate():
    """MB5D: scale * acc + A B.  Each subblock begins with its scaled tiles of `acc`; K blocks wait in L1."""
    mt, nt, kt, rt = (
        get_compile_time_arg_val(0), get_compile_time_arg_val(1), get_compile_time_arg_val(2), get_compile_time_arg_val(3)
    )  # fmt: skip
    ct = get_compile_time_arg_val(4)
    mm_block_init(A, B, OUT, 0, ct, rt, 1)
    cb_wait_front(SUM, mt * nt)
    cb_wait_front(SCALE, 1)
    cb_wait_front(A, mt * kt)
    cb_wait_front(B, nt * kt)
    cb_reserve_back(OUT, mt * nt)
    done = 0
    for row in range(0, mt, rt):
        for column in range(0, nt, ct):
            tile_regs_acquire()
            mul_tiles_bcast_scalar_init_short(SUM, SCALE)
            for i in range(rt * ct):
                mul_tiles_bcast_scalar(SUM, SCALE, done + i, 0, i)
            mm_block_init_short(A, B, 0, ct, rt, 1)
            for k in range(kt):
                matmul_block(A, B, k * mt + row, k * nt + column, 0, 0, ct, rt, 1)
            tile_regs_commit()
            tile_regs_wait()
            for i in range(rt * ct):
                pack_tile(i, OUT)
            tile_regs_release()
            done += rt * ct
    cb_pop_front(A, mt * kt)
    cb_pop_front(B, nt * kt)
    cb_push_back(OUT, mt * nt)


@kernel
def matmul_tile_loop():
    """MB3 utilisation, mm1: `blocks` blocks of K, `bk` tiles deep, tile by tile; earlier blocks are reloaded."""
    mt, nt, bk, blocks = (
        get_compile_time_arg_val(0), get_compile_time_arg_val(1), get_compile_time_arg_val(2), get_compile_time_arg_val(3)
    )  # fmt: skip
    mm_init(A, B, OUT)
    for block in range(blocks):
        cb_wait_front(A, mt * bk)
        cb_wait_front(B, nt * bk)
        for row in range(mt):
            for column in range(nt):
                tile_regs_acquire()
                if block > 0:
                    copy_tile_to_dst_init_short(SUM)
                    cb_wait_front(SUM, 1)
                    copy_tile(SUM, 0, 0)
                    cb_pop_front(SUM, 1)
                    mm_init_short(A, B)
                for k in range(bk):
                    matmul_tiles(A, B, row * bk + k, k * nt + column, 0)
                tile_regs_commit()
                cb_reserve_back(SUM, 1)
                tile_regs_wait()
                pack_tile(0, SUM)
                tile_regs_release()
                cb_push_back(SUM, 1)
        cb_pop_front(A, mt * bk)
        cb_pop_front(B, nt * bk)
