"""Kernels of one operation of a compute thread, with the others not waiting on it, and of small chains of operations.

The math thread runs alone when the unpack thread only marks source banks valid (SETDVALID); the unpack thread runs alone
when the math thread only frees them (CLEARDVALID).  Which operation: the compile-time argument 0, an index of `OPS`.
"""
# ruff: noqa: F403, F405

from tensim.kernel_api import *
from tensim.validation.compute.kernels import OUT, A, B

PACKED = 4  # tiles of a pack call of `pack_alone`
# Operations by name, as in kernel names of the data; the number selects the branch in the kernels below
OPS = {
    name: i
    for i, name in enumerate(
        "copy add mul sub_bcast_cols mul_bcast_cols transpose "
        "reduce_max_row reduce_sum_row reduce_max_column reduce_sum_column reduce_max_scalar reduce_sum_scalar".split()
    )
}
INITS = {
    name: i
    for i, name in enumerate(
        "mul_tiles_init copy_tile_init compute_kernel_hw_startup add_tiles_init mm_block_init_short reduce_init".split()
    )
}


@device_function
def operation(op, tile, dst):
    """One call of operation `op` on tile `tile` of the operands."""
    if op == 0:
        copy_tile(A, tile, dst)
    elif op == 1:
        add_tiles(A, B, tile, tile, dst)
    elif op == 2:
        mul_tiles(A, B, tile, tile, dst)
    elif op == 3:
        sub_tiles_bcast_cols(A, B, tile, tile, dst)
    elif op == 4:
        mul_tiles_bcast_cols(A, B, tile, tile, dst)
    elif op == 5:
        transpose_wh_tile(A, tile, dst)
    elif op == 6:
        reduce_tile(A, B, tile, 0, dst, pool=PoolType.MAX, dim=ReduceDim.REDUCE_ROW)
    elif op == 7:
        reduce_tile(A, B, tile, 0, dst, pool=PoolType.SUM, dim=ReduceDim.REDUCE_ROW)
    elif op == 8:
        reduce_tile(A, B, tile, 0, dst, pool=PoolType.MAX, dim=ReduceDim.REDUCE_COL)
    elif op == 9:
        reduce_tile(A, B, tile, 0, dst, pool=PoolType.SUM, dim=ReduceDim.REDUCE_COL)
    elif op == 10:
        reduce_tile(A, B, tile, 0, dst, pool=PoolType.MAX, dim=ReduceDim.REDUCE_SCALAR)
    else:
        reduce_tile(A, B, tile, 0, dst, pool=PoolType.SUM, dim=ReduceDim.REDUCE_SCALAR)


@device_function
def initialise(op):
    """What operation `op` needs of the units."""
    if op == 0:
        copy_tile_init(A)
    elif op == 1:
        add_tiles_init(A, B)
    elif op == 2:
        mul_tiles_init(A, B)
    elif op == 3:
        sub_bcast_cols_init_short(A, B)
    elif op == 4:
        mul_bcast_cols_init_short(A, B)
    elif op == 5:
        transpose_wh_init_short(A)
    else:
        reduce_init_short(A, B)


@kernel
def math_alone():
    op, rounds = get_compile_time_arg_val(0), get_compile_time_arg_val(1)
    initialise(op)
    tile_regs_acquire()
    for _ in range(rounds):
        UNPACK(tt_instruction("SETDVALID", 1))
        MATH(operation(op, 0, 0))


@kernel
def unpack_alone():
    """The math thread frees the banks of a tile one by one, which takes it `validation.free_banks_cycles`."""
    op, rounds = get_compile_time_arg_val(0), get_compile_time_arg_val(1)
    cb_wait_front(A, 1)
    cb_wait_front(B, 1)
    for _ in range(rounds):
        UNPACK(operation(op, 0, 0))
        MATH(tt_instruction("CLEARDVALID", 1))
        MATH(tt_instruction("NOP", get_compile_time_arg_val(2)))


@kernel
def pack_alone():
    """The harness packs without the kernel API's addresses: a call for PACKED tiles of the destination register."""
    rounds = get_compile_time_arg_val(1)
    tile_regs_acquire()
    tile_regs_commit()
    tile_regs_wait()
    for _ in range(rounds):
        cb_reserve_back(OUT, PACKED)
        pack_tile_block(0, OUT, PACKED)
        cb_push_back(OUT, PACKED)


@kernel
def init_alone():
    init, rounds = get_compile_time_arg_val(0), get_compile_time_arg_val(1)
    for _ in range(rounds):
        if init == 0:
            mul_tiles_init(A, B)
        elif init == 1:
            copy_tile_init(A)
        elif init == 2:
            compute_kernel_hw_startup(A, B, OUT)
        elif init == 3:
            add_tiles_init(A, B)
        elif init == 4:
            mm_block_init_short(A, B, 0, 1, 1, 1)
        else:
            reduce_init_short(A, B)


@kernel
def matmul_call_loop():
    """`rounds` calls of matmul_tiles on the same operands: unpack and math threads together."""
    rounds = get_compile_time_arg_val(1)
    mm_init(A, B, OUT)
    cb_wait_front(A, 1)
    cb_wait_front(B, 1)
    tile_regs_acquire()
    for _ in range(rounds):
        matmul_tiles(A, B, 0, 0, 0)


@kernel
def operation_stream(rounds):
    """`rounds` times: `tiles` calls of an operation, `chunk` per acquire, packed tile by tile or as a block.

    Operands rest in L1, results leave it `batch` tiles at a time.
    """
    op, tiles, chunk, batch = (
        get_compile_time_arg_val(0), get_compile_time_arg_val(1), get_compile_time_arg_val(2), get_compile_time_arg_val(3)
    )  # fmt: skip
    blockwise = get_compile_time_arg_val(4)
    binary_op_init_common(A, B, OUT)
    initialise(op)
    cb_wait_front(A, tiles)
    cb_wait_front(B, tiles)
    for _ in range(rounds):
        for begin in range(0, tiles, batch):
            cb_reserve_back(OUT, batch)
            for first in range(begin, begin + batch, chunk):
                tile_regs_acquire()
                for i in range(chunk):
                    operation(op, first + i, i)
                tile_regs_commit()
                tile_regs_wait()
                if blockwise:
                    pack_tile_block(0, OUT, chunk)
                else:
                    for i in range(chunk):
                        pack_tile(i, OUT)
                tile_regs_release()
            cb_push_back(OUT, batch)


@kernel
def fused_chain():
    """MB5E: abs(neg(relu(sigmoid(c) + tanh(b)))), `chunk` results per acquire, two tiles of Dst each."""
    tiles, chunk = get_compile_time_arg_val(0), get_compile_time_arg_val(1)
    unary_op_init_common(A, OUT)
    cb_wait_front(A, tiles)
    cb_wait_front(B, tiles)
    cb_reserve_back(OUT, tiles)
    for first in range(0, tiles, chunk):
        tile_regs_acquire()
        for i in range(chunk):
            copy_tile_to_dst_init_short(A)
            copy_tile(A, first + i, 2 * i)
            sigmoid_tile_init()
            sigmoid_tile(2 * i)
            copy_tile_to_dst_init_short(B)
            copy_tile(B, first + i, 2 * i + 1)
            tanh_tile_init()
            tanh_tile(2 * i + 1)
            add_binary_tile_init()
            add_binary_tile(2 * i, 2 * i + 1, 2 * i)
            relu_tile_init()
            relu_tile(2 * i)
            negative_tile_init()
            negative_tile(2 * i)
            abs_tile_init()
            abs_tile(2 * i)
        tile_regs_commit()
        tile_regs_wait()
        for i in range(chunk):
            pack_tile(2 * i, OUT)
        tile_regs_release()
    cb_pop_front(A, tiles)
    cb_pop_front(B, tiles)
    cb_push_back(OUT, tiles)


@kernel
def matmul_packed(rounds):
    """tt-llk's loop from L1 to L1: `rounds` times `tiles` products side by side, then packed."""
    tiles = get_compile_time_arg_val(0)
    mm_block_init(A, B, OUT, 0, tiles, 1, 1)
    cb_wait_front(A, 1)
    cb_wait_front(B, tiles)
    cb_reserve_back(OUT, tiles)
    for _ in range(rounds):
        tile_regs_acquire()
        matmul_block(A, B, 0, 0, 0, 0, tiles, 1, 1)
        tile_regs_commit()
        tile_regs_wait()
        for i in range(tiles):
            pack_tile(i, OUT, i, True)
        tile_regs_release()
