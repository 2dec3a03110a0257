"""The kernels that golden cases of numerics run: one core, operands in DRAM, whole tiles."""
# ruff: noqa: F403, F405

from tensim.kernel_api import *

CB_A, CB_B, CB_SCALER = 0, 1, 2
CB_OUT, CB_DST, CB_PARTIALS = 16, 17, 24
ADD, SUB = 0, 1


@kernel
def read_operands():
    """Bring all pages of each operand into its circular buffer; runtime arguments: address and pages of each."""
    for cb in range(3):
        address = get_arg_val(2 * cb)
        pages = get_arg_val(2 * cb + 1)
        if pages > 0:
            source = InterleavedAddrGen(address, page_size=get_entry_size(cb), dram=True)
            cb_reserve_back(cb, pages)
            target = get_write_ptr(cb)
            for page in range(pages):
                noc_async_read_tile(page, source, target + page * get_entry_size(cb))
            noc_async_read_barrier()
            cb_push_back(cb, pages)


@kernel
def write_results():
    """Write results to DRAM as they come; runtime arguments: circular buffer, address, pages and first page of each."""
    for result in range(2):
        cb = get_arg_val(4 * result)
        address = get_arg_val(4 * result + 1)
        pages = get_arg_val(4 * result + 2)
        first = get_arg_val(4 * result + 3)
        if pages > 0:
            destination = InterleavedAddrGen(address, page_size=get_entry_size(cb), dram=True)
            cb_wait_front(cb, first + pages)
            source = get_read_ptr(cb)
            for page in range(pages):
                noc_async_write_tile(page, destination, source + (first + page) * get_entry_size(cb))
            noc_async_write_barrier()
            cb_pop_front(cb, first + pages)


@device_function
def pack_results(dst_pages):
    """Dst tile 0 to the output, and as it is to CB_DST when that is asked for."""
    cb_reserve_back(CB_OUT, 1)
    tile_regs_wait()
    pack_tile(0, CB_OUT)
    cb_push_back(CB_OUT, 1)
    if dst_pages > 0:
        cb_reserve_back(CB_DST, 1)
        pack_reconfig_data_format(CB_DST)
        pack_tile(0, CB_DST)
        cb_push_back(CB_DST, 1)
        pack_reconfig_data_format(CB_OUT)
    tile_regs_release()


@kernel
def multiply_matrices():
    """Matrix product with 1x1 subblocks; compile-time: tiles of M, N, K and of K per block, L1 accumulation, dst pages.

    Partial sums of a block but the last rest in CB_PARTIALS: added up there by the packer, or reloaded for each block.
    The last block always reloads them into Dst.
    """
    rows = get_compile_time_arg_val(0)
    columns = get_compile_time_arg_val(1)
    inner = get_compile_time_arg_val(2)
    block_w = get_compile_time_arg_val(3)
    l1_accumulate = get_compile_time_arg_val(4)
    dst_pages = get_compile_time_arg_val(5)
    mm_init(CB_A, CB_B, CB_OUT)
    cb_wait_front(CB_A, rows * inner)
    cb_wait_front(CB_B, inner * columns)
    blocks = inner // block_w
    for row in range(rows):
        for column in range(columns):
            for block in range(blocks):
                tile_regs_acquire()
                last = block == blocks - 1
                if block > 0 and (last or l1_accumulate == 0):
                    copy_tile_to_dst_init_short_with_dt(CB_B, CB_PARTIALS)
                    cb_wait_front(CB_PARTIALS, 1)
                    copy_tile(CB_PARTIALS, 0, 0)
                    cb_pop_front(CB_PARTIALS, 1)
                    mm_init_short_with_dt(CB_A, CB_B, CB_PARTIALS)
                for k in range(block * block_w, (block + 1) * block_w):
                    matmul_tiles(CB_A, CB_B, row * inner + k, k * columns + column, 0)
                tile_regs_commit()
                if last:
                    pack_reconfig_l1_acc(0)
                    pack_results(dst_pages)
                else:
                    pack_reconfig_data_format(CB_PARTIALS)
                    if block == 0 or l1_accumulate == 0:
                        cb_reserve_back(CB_PARTIALS, 1)
                    pack_reconfig_l1_acc(l1_accumulate if block > 0 else 0)
                    tile_regs_wait()
                    pack_tile(0, CB_PARTIALS, 0, True)
                    tile_regs_release()
                    if block == blocks - 2 or l1_accumulate == 0:
                        cb_push_back(CB_PARTIALS, 1)
                    pack_reconfig_data_format(CB_OUT)


@kernel
def combine_tiles():
    """Element-wise operation; compile-time: operation, broadcast, tiles per column and row, dst pages."""
    operation = get_compile_time_arg_val(0)
    broadcast = get_compile_time_arg_val(1)
    rows = get_compile_time_arg_val(2)
    columns = get_compile_time_arg_val(3)
    dst_pages = get_compile_time_arg_val(4)
    init_bcast(CB_A, CB_B, CB_OUT)
    cb_wait_front(CB_A, rows * columns)
    cb_wait_front(CB_B, 1)
    for row in range(rows):
        for column in range(columns):
            a = row * columns + column
            b = a
            if broadcast == BroadcastType.ROW:
                b = column
            elif broadcast == BroadcastType.COL:
                b = row
            elif broadcast == BroadcastType.SCALAR:
                b = 0
            cb_wait_front(CB_B, b + 1)
            tile_regs_acquire()
            if operation == ADD:
                add_tiles_bcast(CB_A, CB_B, a, b, 0, dim=broadcast)
            elif operation == SUB:
                sub_tiles_bcast(CB_A, CB_B, a, b, 0, dim=broadcast)
            else:
                mul_tiles_bcast(CB_A, CB_B, a, b, 0, dim=broadcast)
            tile_regs_commit()
            pack_results(dst_pages)


@kernel
def copy_tiles():
    """Tiles through Dst into another format; compile-time: tiles per column and row, whether to transpose the tensor."""
    rows = get_compile_time_arg_val(0)
    columns = get_compile_time_arg_val(1)
    transpose = get_compile_time_arg_val(2)
    if transpose == 1:
        transpose_wh_init(CB_A, CB_OUT)
    else:
        unary_op_init_common(CB_A, CB_OUT)
    cb_wait_front(CB_A, rows * columns)
    for i in range(rows * columns):
        tile_regs_acquire()
        if transpose == 1:
            transpose_wh_tile(CB_A, (i % rows) * columns + i // rows, 0)
        else:
            copy_tile(CB_A, i, 0)
        tile_regs_commit()
        pack_results(0)


@kernel
def change_layout():
    """Tiles to row-major data or back; compile-time: tiles per column and row, whether to tilize."""
    rows = get_compile_time_arg_val(0)
    columns = get_compile_time_arg_val(1)
    tilize = get_compile_time_arg_val(2)
    if tilize == 1:
        tilize_init(CB_A, columns, CB_OUT)
    else:
        unary_op_init_common(CB_A, CB_OUT)
        untilize_init(CB_A)
    for _row in range(rows):
        cb_wait_front(CB_A, columns)
        cb_reserve_back(CB_OUT, columns)
        if tilize == 1:
            tilize_block(CB_A, columns, CB_OUT)
        else:
            untilize_block(CB_A, columns, CB_OUT)
        cb_push_back(CB_OUT, columns)
        cb_pop_front(CB_A, columns)


@kernel
def reduce_columns():
    """Reduction down the columns; compile-time: pool, tiles per column and row."""
    pool = get_compile_time_arg_val(0)
    rows = get_compile_time_arg_val(1)
    columns = get_compile_time_arg_val(2)
    reduce_init(CB_A, CB_SCALER, CB_OUT)
    cb_wait_front(CB_SCALER, 1)
    cb_wait_front(CB_A, rows * columns)
    for column in range(columns):
        tile_regs_acquire()
        for row in range(rows):
            reduce_tile(CB_A, CB_SCALER, row * columns + column, 0, 0, pool=pool, dim=ReduceDim.REDUCE_COL)
        tile_regs_commit()
        pack_results(0)


@kernel
def sum_rows():
    """Sums along the rows, as products with a column of scalers; compile-time: tiles per column and row."""
    rows = get_compile_time_arg_val(0)
    columns = get_compile_time_arg_val(1)
    mm_init(CB_A, CB_SCALER, CB_OUT)
    cb_wait_front(CB_SCALER, 1)
    cb_wait_front(CB_A, rows * columns)
    for row in range(rows):
        tile_regs_acquire()
        for column in range(columns):
            matmul_tiles(CB_A, CB_SCALER, row * columns + column, 0, 0)
        tile_regs_commit()
        pack_results(0)


@kernel
def largest_of_rows():
    """Maxima along the rows; compile-time: tiles per column and row."""
    rows = get_compile_time_arg_val(0)
    columns = get_compile_time_arg_val(1)
    reduce_init(CB_A, CB_SCALER, CB_OUT)
    cb_wait_front(CB_SCALER, 1)
    cb_wait_front(CB_A, rows * columns)
    for row in range(rows):
        tile_regs_acquire()
        for column in range(columns):
            tile = row * columns + column
            reduce_tile(CB_A, CB_SCALER, tile, 0, 0, pool=PoolType.MAX, dim=ReduceDim.REDUCE_ROW)
        tile_regs_commit()
        pack_results(0)
