"""Kernels of the families that evaluate an expression on tiles of one core, operands in L1.

Buffers: `A` and `B` operands, `SUM` and `PARTIAL` intermediate results, `SCALE` the scaler, `OUT` results, which the kernel
takes away itself at the end of a round.
"""
# ruff: noqa: F403, F405

from tensim.kernel_api import *
from tensim.validation.compute.kernels import OUT, SCALE, SUM, A, B
from tensim.validation.kernels.reduction_kernels import fold, pack_one, take

SQRT, EXP, RECIP = 0, 1, 2  # vector functions
ADD, MUL = 0, 1
# what a round of `evaluate` runs
PARTIAL = 4  # a second intermediate result
FUSED_CHAIN, FUSED_REUSE, FUSED_VECTOR, FUSED_REDUCE = 0, 1, 2, 3
PASS_SQRT, PASS_ADD, PASS_MUL, PASS_EXP, PASS_REDUCE, PASS_RECIP = 4, 5, 6, 7, 8, 9
UNFUSED_CHAIN, UNFUSED_PRODUCT, UNFUSED_REDUCE = 10, 11, 12


@device_function
def vector_init(function):
    if function == SQRT:
        sqrt_tile_init()
    elif function == EXP:
        exp_tile_init()
    else:
        recip_tile_init()


@device_function
def vector_tile(function, dst):
    if function == SQRT:
        sqrt_tile(dst)
    elif function == EXP:
        exp_tile(dst)
    else:
        recip_tile(dst)


@device_function
def pack_section(target, tiles):
    """Hand over `tiles` tiles of the math thread's section."""
    tile_regs_commit()
    cb_reserve_back(target, tiles)
    tile_regs_wait()
    for i in range(tiles):
        pack_tile(i, target)
    tile_regs_release()
    cb_push_back(target, tiles)


@device_function
def vector_pass(source, target, tiles, block, function):
    """A vector function of each tile, `block` tiles per section."""
    reconfig_data_format_srca(source)
    pack_reconfig_data_format(target)
    copy_tile_to_dst_init_short(source)
    vector_init(function)
    for _ in range(0, tiles, block):
        cb_wait_front(source, block)
        tile_regs_acquire()
        for i in range(block):
            copy_tile(source, i, i)
            vector_tile(function, i)
        pack_section(target, block)
        if source != A:
            cb_pop_front(source, block)


@device_function
def binary_pass(source, target, tiles, block, op):
    """source + B or source * B, tile by tile."""
    reconfig_data_format(source, B)
    pack_reconfig_data_format(target)
    if op == ADD:
        add_tiles_init(source, B)
    else:
        mul_tiles_init(source, B)
    for first in range(0, tiles, block):
        cb_wait_front(source, block)
        tile_regs_acquire()
        for i in range(block):
            if op == ADD:
                add_tiles(source, B, i, first + i, i)
            else:
                mul_tiles(source, B, i, first + i, i)
        pack_section(target, block)
        if source != A:
            cb_pop_front(source, block)


@device_function
def reduce_pass(target, tiles):
    """The sum of the rows of all tiles."""
    reconfig_data_format(A, SCALE)
    pack_reconfig_data_format(target)
    reduce_init_short(A, SCALE)
    tile_regs_acquire()
    fold(A, 0, tiles, 0)
    pack_one(target)
    reduce_uninit()


@device_function
def fused_pass(what, tiles, block):
    """The whole expression in Dst: exp(sqrt(x) + y), or sqrt(x) * b with b from a buffer or as a second tile of Dst."""
    for first in range(0, tiles, block):
        tile_regs_acquire()
        copy_tile_to_dst_init_short(A)
        sqrt_tile_init()
        for i in range(block):
            copy_tile(A, first + i, i)
            sqrt_tile(i)
        if what == FUSED_REUSE:
            mul_reuse_dest_init(B)
            for i in range(block):
                mul_reuse_dest_tiles(B, first + i, i)
        else:
            copy_tile_to_dst_init_short(B)
            for i in range(block):
                copy_tile(B, first + i, block + i)
            if what == FUSED_VECTOR:
                mul_binary_tile_init()
                for i in range(block):
                    mul_binary_tile(i, block + i, i)
            else:
                add_binary_tile_init()
                for i in range(block):
                    add_binary_tile(i, block + i, i)
                exp_tile_init()
                for i in range(block):
                    exp_tile(i)
        pack_section(OUT, block)


@device_function
def fused_reduce(tiles):
    reduce_init_short(A, SCALE)
    tile_regs_acquire()
    fold(A, 0, tiles, 0)
    recip_tile_init()
    recip_tile(0)
    pack_one(OUT)
    reduce_uninit()


@kernel
def evaluate():
    """`rounds` times: an expression in one pass or several, or one of its passes alone."""
    what, tiles, block, rounds = (
        get_compile_time_arg_val(0), get_compile_time_arg_val(1), get_compile_time_arg_val(2), get_compile_time_arg_val(3)
    )  # fmt: skip
    results = get_compile_time_arg_val(4)
    compute_kernel_hw_startup(A, B, OUT)
    cb_wait_front(A, tiles)
    cb_wait_front(B, tiles)
    cb_wait_front(SCALE, 1)
    for _ in range(rounds):
        if what == FUSED_REDUCE:
            fused_reduce(tiles)
        elif what < PASS_SQRT:
            fused_pass(what, tiles, block)
        elif what == PASS_SQRT:
            vector_pass(A, OUT, tiles, block, SQRT)
        elif what == PASS_EXP:
            vector_pass(A, OUT, tiles, block, EXP)
        elif what == PASS_RECIP:
            vector_pass(A, OUT, results, block, RECIP)
        elif what == PASS_ADD:
            binary_pass(A, OUT, tiles, block, ADD)
        elif what == PASS_MUL:
            binary_pass(A, OUT, tiles, block, MUL)
        elif what == PASS_REDUCE:
            reduce_pass(OUT, tiles)
        elif what == UNFUSED_CHAIN:
            vector_pass(A, SUM, tiles, block, SQRT)
            binary_pass(SUM, PARTIAL, tiles, block, ADD)
            vector_pass(PARTIAL, OUT, tiles, block, EXP)
        elif what == UNFUSED_PRODUCT:
            vector_pass(A, SUM, tiles, block, SQRT)
            binary_pass(SUM, OUT, tiles, block, MUL)
        else:
            reduce_pass(SUM, tiles)
            vector_pass(SUM, OUT, 1, 1, RECIP)
        take(OUT, results)


@kernel
def multiply_subblocks():
    """A block of `m` x `n` products of one K step, `rt` x `ct` tiles per section."""
    m, n, rt, ct = (
        get_compile_time_arg_val(0), get_compile_time_arg_val(1), get_compile_time_arg_val(2), get_compile_time_arg_val(3)
    )  # fmt: skip
    rounds = get_compile_time_arg_val(4)
    mm_block_init(A, B, OUT, 0, ct, rt, 1)
    cb_wait_front(A, m)
    cb_wait_front(B, n)
    for _ in range(rounds):
        for row in range(0, m, rt):
            for column in range(0, n, ct):
                tile_regs_acquire()
                matmul_block(A, B, row, column, 0, 0, ct, rt, 1)
                pack_section(OUT, rt * ct)
        take(OUT, m * n)
