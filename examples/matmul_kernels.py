"""Kernels of the blocked matrix product; see `blocked_matmul` for how they work together."""
# ruff: noqa: F403, F405

from tensim.kernel_api import *

CB_IN0 = 0
CB_IN1 = 1
CB_OUT = 16
CB_PARTIALS = 24


# --- device: in0 on NCRISC


@device_function
def send_block(start, nbytes, ready, received, receivers, x0, y0, x1, y1, flush):
    """Multicast `nbytes` of L1 from `start` to the same address of the receivers, once all are ready.

    `flush`: block and value leave by separate queues, so the block must have left before the value is issued.
    """
    noc_semaphore_wait(ready, receivers)
    noc_semaphore_set(ready, 0)
    noc_async_write_multicast(start, get_noc_multicast_addr(x0, y0, x1, y1, start), nbytes, receivers, linked=True)
    if flush:
        noc_async_writes_flushed()
    noc_semaphore_set_multicast(received, get_noc_multicast_addr(x0, y0, x1, y1, received), receivers)


@device_function
def receive_block(sender_ready, received):
    """Tell the sender that there is space and wait for its block."""
    noc_semaphore_set(received, 0)
    noc_semaphore_inc(sender_ready, 1)
    noc_semaphore_wait(received, 1)


@kernel
def in0_sender(in0_address, first_row, valid_rows, receivers, x0, y0, x1, y1):
    """Read in0 blocks from DRAM and multicast them.

    The core owns `valid_rows` tile rows from `first_row`; (x0, y0)-(x1, y1) is the rectangle of the
    `receivers`.
    """
    out_blocks_h = get_compile_time_arg_val(0)
    out_blocks_w = get_compile_time_arg_val(1)
    k_blocks = get_compile_time_arg_val(2)
    out_block_h = get_compile_time_arg_val(3)
    block_w = get_compile_time_arg_val(4)
    ready = get_semaphore(get_compile_time_arg_val(5))
    received = get_semaphore(get_compile_time_arg_val(6))
    flush = get_compile_time_arg_val(8)
    k_tiles = k_blocks * block_w
    block_tiles = out_block_h * block_w
    tile_bytes = get_tile_size(CB_IN0)
    source = InterleavedAddrGen(in0_address, page_size=tile_bytes, dram=True)
    noc_semaphore_set(received, 1)
    for block_row in range(out_blocks_h):
        for _column in range(out_blocks_w):
            for k in range(k_blocks):
                cb_reserve_back(CB_IN0, block_tiles)
                start = get_write_ptr(CB_IN0)
                address = start
                for row in range(block_row * out_block_h, (block_row + 1) * out_block_h):
                    if row < valid_rows:
                        page = (first_row + row) * k_tiles + k * block_w
                        for column in range(block_w):
                            noc_async_read_tile(page + column, source, address + column * tile_bytes)
                    address += block_w * tile_bytes
                noc_async_read_barrier()
                if receivers > 0:
                    send_block(start, block_tiles * tile_bytes, ready, received, receivers, x0, y0, x1, y1, flush)
                cb_push_back(CB_IN0, block_tiles)
    noc_async_write_barrier()


@kernel
def in0_receiver(sender_x, sender_y):
    """Receive in0 blocks from the core at physical (sender_x, sender_y)."""
    blocks = get_compile_time_arg_val(0) * get_compile_time_arg_val(1) * get_compile_time_arg_val(2)
    block_tiles = get_compile_time_arg_val(3) * get_compile_time_arg_val(4)
    sender_ready = get_noc_addr(sender_x, sender_y, get_semaphore(get_compile_time_arg_val(5)))
    received = get_semaphore(get_compile_time_arg_val(6))
    for _ in range(blocks):
        cb_reserve_back(CB_IN0, block_tiles)
        receive_block(sender_ready, received)
        cb_push_back(CB_IN0, block_tiles)
    noc_async_atomic_barrier()


@kernel
def in0_sharded(shard_address, my_column, x0, y0, x1, y1):
    """in0 lies block-sharded in L1: the cores of a row take turns to multicast the K blocks they hold.

    Runtime arguments 6 ...: physical x, y of each core of the row.  A K block as wide as the shard goes out
    straight from the shard; a narrower one is first gathered in the circular buffer, from where it need not
    come back.
    """
    out_blocks_h = get_compile_time_arg_val(0)
    out_blocks_w = get_compile_time_arg_val(1)
    k_blocks = get_compile_time_arg_val(2)
    out_block_h = get_compile_time_arg_val(3)
    block_w = get_compile_time_arg_val(4)
    ready = get_semaphore(get_compile_time_arg_val(5))
    received = get_semaphore(get_compile_time_arg_val(6))
    valid = get_semaphore(get_compile_time_arg_val(7))
    flush = get_compile_time_arg_val(8)
    shard_w = get_compile_time_arg_val(9)
    columns = get_compile_time_arg_val(10)
    tile_bytes = get_tile_size(CB_IN0)
    block_tiles = out_block_h * block_w
    nbytes = block_tiles * tile_bytes
    row_bytes = block_w * tile_bytes
    blocks_per_shard = shard_w // block_w
    straight = blocks_per_shard == 1 and columns > 1
    for block_row in range(out_blocks_h):
        for _column in range(out_blocks_w):
            for k in range(k_blocks):
                cb_reserve_back(CB_IN0, block_tiles)
                start = get_write_ptr(CB_IN0)
                owner = k // blocks_per_shard
                noc_semaphore_set(received, 0)
                if owner == my_column:
                    offset = block_row * out_block_h * shard_w + (k % blocks_per_shard) * block_w
                    source = shard_address + offset * tile_bytes
                    if not straight:
                        for row in range(out_block_h):
                            noc_async_read(
                                get_noc_addr(source + row * shard_w * tile_bytes),
                                start + row * row_bytes,
                                row_bytes,
                            )
                        noc_async_read_barrier()
                    if columns > 1:
                        noc_semaphore_wait(ready, columns - 1)
                        noc_semaphore_set(ready, 0)
                        block_at = get_noc_multicast_addr(x0, y0, x1, y1, start)
                        received_at = get_noc_multicast_addr(x0, y0, x1, y1, received)
                        if straight:
                            noc_async_write_multicast_loopback_src(source, block_at, nbytes, columns, linked=True)
                            if flush:
                                noc_async_writes_flushed()
                            noc_semaphore_set_multicast_loopback_src(valid, received_at, columns)
                            noc_semaphore_wait(received, 1)
                        else:
                            noc_async_write_multicast(start, block_at, nbytes, columns - 1, linked=True)
                            if flush:
                                noc_async_writes_flushed()
                            noc_semaphore_set_multicast(valid, received_at, columns - 1)
                else:
                    owner_x = get_arg_val(6 + 2 * owner)
                    owner_y = get_arg_val(7 + 2 * owner)
                    noc_semaphore_inc(get_noc_addr(owner_x, owner_y, ready), 1)
                    noc_semaphore_wait(received, 1)
                cb_push_back(CB_IN0, block_tiles)
    noc_async_write_barrier()
    noc_async_atomic_barrier()


# --- device: in1 and output on BRISC


@device_function
def write_out_block(destination, row0, column0, rows, columns, block_h, block_w, subblock_h, subblock_w, pitch):
    """Write an out block as its subblocks come from the packer, without tiles beyond (rows, columns).

    (row0, column0): tile position of the block in the output; `pitch`: tiles in a row of the output.
    """
    subblock_tiles = subblock_h * subblock_w
    tile_bytes = get_tile_size(CB_OUT)
    for sub_row in range(0, block_h, subblock_h):
        for sub_column in range(0, block_w, subblock_w):
            cb_wait_front(CB_OUT, subblock_tiles)
            address = get_read_ptr(CB_OUT)
            for row in range(sub_row, sub_row + subblock_h):
                for column in range(sub_column, sub_column + subblock_w):
                    if row < rows and column < columns:
                        noc_async_write_tile((row0 + row) * pitch + column0 + column, destination, address)
                    address += tile_bytes
            noc_async_writes_flushed()
            cb_pop_front(CB_OUT, subblock_tiles)


@kernel
def in1_sender_writer(
    in1_address, out_address, first_row, valid_rows, first_column, valid_columns, receivers, x0, y0, x1, y1
):
    """Read in1 blocks from DRAM, multicast them to (x0, y0)-(x1, y1), write the core's output."""
    out_blocks_h = get_compile_time_arg_val(0)
    out_blocks_w = get_compile_time_arg_val(1)
    k_blocks = get_compile_time_arg_val(2)
    out_block_h = get_compile_time_arg_val(3)
    out_block_w = get_compile_time_arg_val(4)
    block_k = get_compile_time_arg_val(5)
    subblock_h = get_compile_time_arg_val(6)
    subblock_w = get_compile_time_arg_val(7)
    n_tiles = get_compile_time_arg_val(8)
    writes = get_compile_time_arg_val(9)
    ready = get_semaphore(get_compile_time_arg_val(10))
    received = get_semaphore(get_compile_time_arg_val(11))
    flush = get_compile_time_arg_val(12)
    block_tiles = block_k * out_block_w
    tile_bytes = get_tile_size(CB_IN1)
    source = InterleavedAddrGen(in1_address, page_size=tile_bytes, dram=True)
    destination = InterleavedAddrGen(out_address, page_size=get_tile_size(CB_OUT), dram=True)
    noc_semaphore_set(received, 1)
    for block_row in range(out_blocks_h):
        for block_column in range(out_blocks_w):
            column0 = block_column * out_block_w
            columns = min(out_block_w, valid_columns - column0)
            for k in range(k_blocks):
                cb_reserve_back(CB_IN1, block_tiles)
                start = get_write_ptr(CB_IN1)
                address = start
                for row in range(k * block_k, (k + 1) * block_k):
                    page = row * n_tiles + first_column + column0
                    for column in range(columns):
                        noc_async_read_tile(page + column, source, address + column * tile_bytes)
                    address += out_block_w * tile_bytes
                noc_async_read_barrier()
                if receivers > 0:
                    send_block(start, block_tiles * tile_bytes, ready, received, receivers, x0, y0, x1, y1, flush)
                cb_push_back(CB_IN1, block_tiles)
            if writes:
                row0 = block_row * out_block_h
                write_out_block(
                    destination, first_row + row0, first_column + column0, valid_rows - row0, columns,
                    out_block_h, out_block_w, subblock_h, subblock_w, n_tiles,
                )  # fmt: skip
    noc_async_write_barrier()


@kernel
def in1_receiver_writer(sender_x, sender_y, out_address, first_row, valid_rows, first_column, valid_columns):
    """Receive in1 blocks from the core at physical (sender_x, sender_y), write the core's output."""
    out_blocks_h = get_compile_time_arg_val(0)
    out_blocks_w = get_compile_time_arg_val(1)
    k_blocks = get_compile_time_arg_val(2)
    out_block_h = get_compile_time_arg_val(3)
    out_block_w = get_compile_time_arg_val(4)
    block_tiles = get_compile_time_arg_val(5) * out_block_w
    subblock_h = get_compile_time_arg_val(6)
    subblock_w = get_compile_time_arg_val(7)
    n_tiles = get_compile_time_arg_val(8)
    writes = get_compile_time_arg_val(9)
    sender_ready = get_noc_addr(sender_x, sender_y, get_semaphore(get_compile_time_arg_val(10)))
    received = get_semaphore(get_compile_time_arg_val(11))
    destination = InterleavedAddrGen(out_address, page_size=get_tile_size(CB_OUT), dram=True)
    for block_row in range(out_blocks_h):
        for block_column in range(out_blocks_w):
            for _ in range(k_blocks):
                cb_reserve_back(CB_IN1, block_tiles)
                receive_block(sender_ready, received)
                cb_push_back(CB_IN1, block_tiles)
            if writes:
                row0 = block_row * out_block_h
                column0 = block_column * out_block_w
                write_out_block(
                    destination, first_row + row0, first_column + column0, valid_rows - row0,
                    valid_columns - column0, out_block_h, out_block_w, subblock_h, subblock_w, n_tiles,
                )  # fmt: skip
    noc_async_write_barrier()
    noc_async_atomic_barrier()


# --- device: compute


@kernel
def multiply_blocks():
    """Multiply in0 and in1 blocks subblock by subblock, carrying partial sums from K block to K block.

    With L1 accumulation the packer adds every K block but the last to the partials; the last one reloads them
    into the destination.  Without it every K block reloads.  `shared` says that output and partials share
    their L1 range, so that new partials must wait until the writer has taken the output of the previous out
    block.
    """
    out_blocks = get_compile_time_arg_val(0)
    k_blocks = get_compile_time_arg_val(1)
    out_block_h = get_compile_time_arg_val(2)
    out_block_w = get_compile_time_arg_val(3)
    block_k = get_compile_time_arg_val(4)
    subblock_h = get_compile_time_arg_val(5)
    subblock_w = get_compile_time_arg_val(6)
    l1_acc = get_compile_time_arg_val(7)
    shared = get_compile_time_arg_val(8)
    in0_block_tiles = out_block_h * block_k
    in1_block_tiles = block_k * out_block_w
    out_block_tiles = out_block_h * out_block_w
    subblock_tiles = subblock_h * subblock_w
    mm_block_init(CB_IN0, CB_IN1, CB_PARTIALS, 0, subblock_w, subblock_h, block_k)
    for _ in range(out_blocks):
        for k in range(k_blocks):
            last = k == k_blocks - 1
            reload = k > 0 and (last or l1_acc == 0)
            if last:
                target = CB_OUT
                if l1_acc:
                    pack_reconfig_l1_acc(0)
                pack_reconfig_data_format(CB_OUT)
            else:
                target = CB_PARTIALS
                if k == 0:
                    pack_reconfig_data_format(CB_PARTIALS)
                if l1_acc and k == 1:
                    pack_reconfig_l1_acc(1)
            cb_wait_front(CB_IN0, in0_block_tiles)
            cb_wait_front(CB_IN1, in1_block_tiles)
            done = 0
            for sub_row in range(0, out_block_h, subblock_h):
                for sub_column in range(0, out_block_w, subblock_w):
                    tile_regs_acquire()
                    if reload:
                        copy_tile_to_dst_init_short_with_dt(CB_IN1, CB_PARTIALS)
                        cb_wait_front(CB_PARTIALS, subblock_tiles)
                        copy_block_matmul_partials(CB_PARTIALS, 0, 0, subblock_tiles)
                        cb_pop_front(CB_PARTIALS, subblock_tiles)
                        mm_block_init_short_with_dt(CB_IN0, CB_IN1, CB_PARTIALS, 0, subblock_w, subblock_h, block_k)
                    in0_tile = sub_row * block_k
                    in1_tile = sub_column
                    for _inner in range(block_k):
                        matmul_block(CB_IN0, CB_IN1, in0_tile, in1_tile, 0, 0, subblock_w, subblock_h, block_k)
                        in0_tile += 1
                        in1_tile += out_block_w
                    tile_regs_commit()
                    done += subblock_tiles
                    if shared and k == 0 and not last:
                        cb_reserve_back(CB_OUT, done)
                    cb_reserve_back(target, subblock_tiles)
                    tile_regs_wait()
                    pack_tile_block(0, target, subblock_tiles)
                    tile_regs_release()
                    cb_push_back(target, subblock_tiles)
            if l1_acc and k < k_blocks - 2:
                cb_wait_front(CB_PARTIALS, out_block_tiles)
                cb_pop_front(CB_PARTIALS, out_block_tiles)
            cb_pop_front(CB_IN0, in0_block_tiles)
            cb_pop_front(CB_IN1, in1_block_tiles)
