"""Kernels of the all-reduce families: data movement between the cores of a group, sums of blocks.

A block is `tiles` tiles.  Buffers: `A` what arrives, a block per core of the group, two rounds deep, so that a core which is a
round ahead writes where nobody reads any more; `B` the core's own block; `SUM` a place for what a multicast brings; `OUT` sums.
Semaphores count over all rounds and are never reset.
"""
# ruff: noqa: F403, F405

from tensim.kernel_api import *
from tensim.validation.compute.kernels import OUT, SUM, A, B

ARRIVED, RESULT = 0, 1  # semaphores: blocks that have come, results that have come


@device_function
def post_block(source, x, y, target, nbytes):
    """Write a block to a core and count it there, when it has landed."""
    noc_async_write(source, get_noc_addr(x, y, target), nbytes)
    noc_async_write_barrier()
    noc_semaphore_inc(get_noc_addr(x, y, get_semaphore(ARRIVED)), 1)


@device_function
def multicast_block(source, target, nbytes, x0, y0, x1, y1, others):
    """Write a block to the `others` cores of the group's rectangle and count it there."""
    result = get_semaphore(RESULT)
    noc_async_write_multicast(source, get_noc_multicast_addr(x0, y0, x1, y1, target), nbytes, others)
    noc_async_write_barrier()
    noc_semaphore_inc_multicast(get_noc_multicast_addr(x0, y0, x1, y1, result), 1, others)


@device_function
def hand_over(blocks, tiles):
    """Give the blocks that have come to the compute kernel, wait for its sums."""
    cb_push_back(A, blocks * tiles)
    cb_wait_front(OUT, tiles)


@kernel
def ring_push(position, next_x, next_y):
    """Every hop forwards the block that came last; all blocks are summed when they are there."""
    tiles, size, rounds = get_compile_time_arg_val(0), get_compile_time_arg_val(1), get_compile_time_arg_val(2)
    nbytes = tiles * get_tile_size(A)
    arrived = get_semaphore(ARRIVED)
    came = 0
    for _ in range(rounds):
        cb_reserve_back(A, size * tiles)
        slots = get_write_ptr(A)
        slot = position
        for _hop in range(size - 1):
            block = slots + slot * nbytes
            post_block(block, next_x, next_y, block, nbytes)
            came += 1
            noc_semaphore_wait_min(arrived, came)
            slot = (slot + size - 1) % size
        hand_over(size, tiles)
        cb_pop_front(OUT, tiles)
    noc_async_atomic_barrier()


@kernel
def ring_pull(position, next_x, next_y, last_x, last_y):
    """Every hop reads the block that came last from the core before, which has announced it."""
    tiles, size, rounds = get_compile_time_arg_val(0), get_compile_time_arg_val(1), get_compile_time_arg_val(2)
    nbytes = tiles * get_tile_size(A)
    arrived = get_semaphore(ARRIVED)
    came = 0
    for _ in range(rounds):
        cb_reserve_back(A, size * tiles)
        slots = get_write_ptr(A)
        slot = position
        for _hop in range(size - 1):
            noc_semaphore_inc(get_noc_addr(next_x, next_y, arrived), 1)
            came += 1
            noc_semaphore_wait_min(arrived, came)
            slot = (slot + size - 1) % size
            block = slots + slot * nbytes
            noc_async_read(get_noc_addr(last_x, last_y, block), block, nbytes)
            noc_async_read_barrier()
        hand_over(size, tiles)
        cb_pop_front(OUT, tiles)
    noc_async_atomic_barrier()


@kernel
def unicast_all_gather(position):
    """The own block to each other core, one after the other, then the counts.  Arguments 1...: x + 256 y of the group."""
    tiles, size, rounds = get_compile_time_arg_val(0), get_compile_time_arg_val(1), get_compile_time_arg_val(2)
    nbytes = tiles * get_tile_size(A)
    arrived = get_semaphore(ARRIVED)
    for done in range(rounds):
        cb_reserve_back(A, size * tiles)
        block = get_write_ptr(A) + position * nbytes
        for i in range(1, size):
            place = get_arg_val(1 + (position + i) % size)
            noc_async_write(block, get_noc_addr(place & 255, place >> 8, block), nbytes)
        noc_async_write_barrier()
        for i in range(1, size):
            place = get_arg_val(1 + (position + i) % size)
            noc_semaphore_inc(get_noc_addr(place & 255, place >> 8, arrived), 1)
        noc_semaphore_wait_min(arrived, (done + 1) * (size - 1))
        hand_over(size, tiles)
        cb_pop_front(OUT, tiles)
    noc_async_atomic_barrier()


@kernel
def mcast_all_gather(position, x0, y0, x1, y1):
    """The own block to all others by one multicast."""
    tiles, size, rounds = get_compile_time_arg_val(0), get_compile_time_arg_val(1), get_compile_time_arg_val(2)
    nbytes = tiles * get_tile_size(A)
    for done in range(rounds):
        cb_reserve_back(A, size * tiles)
        block = get_write_ptr(A) + position * nbytes
        multicast_block(block, block, nbytes, x0, y0, x1, y1, size - 1)
        noc_semaphore_wait_min(get_semaphore(RESULT), (done + 1) * (size - 1))
        hand_over(size, tiles)
        cb_pop_front(OUT, tiles)
    noc_async_atomic_barrier()


@kernel
def reduce_root_mcast(position, x0, y0, x1, y1, root_x, root_y):
    """All blocks go to the first core of the group, which sums them and multicasts the sum."""
    tiles, size, rounds = get_compile_time_arg_val(0), get_compile_time_arg_val(1), get_compile_time_arg_val(2)
    nbytes = tiles * get_tile_size(A)
    for done in range(rounds):
        if position == 0:
            cb_reserve_back(A, size * tiles)
            noc_semaphore_wait_min(get_semaphore(ARRIVED), (done + 1) * (size - 1))
            hand_over(size, tiles)
            multicast_block(get_read_ptr(OUT), get_write_ptr(SUM), nbytes, x0, y0, x1, y1, size - 1)
            cb_pop_front(OUT, tiles)
        else:
            slot = get_write_ptr(A) + ((done % 2) * size + position) * nbytes
            post_block(get_write_ptr(B), root_x, root_y, slot, nbytes)
            noc_semaphore_wait_min(get_semaphore(RESULT), done + 1)
    noc_async_atomic_barrier()


@kernel
def reduce_scatter_mcast(position, x0, y0, x1, y1):
    """Each of the `owners` first cores sums its part of the blocks, `part` tiles, and multicasts the sum.

    Arguments 5...: x + 256 y of the group.
    """
    part, size, rounds, owners = (
        get_compile_time_arg_val(0), get_compile_time_arg_val(1), get_compile_time_arg_val(2), get_compile_time_arg_val(3)
    )  # fmt: skip
    nbytes = part * get_tile_size(A)
    arrived = get_semaphore(ARRIVED)
    result = get_semaphore(RESULT)
    own = get_write_ptr(B)
    for done in range(rounds):
        slot = get_write_ptr(A) + position * nbytes
        if position >= owners:  # nothing is pushed here: the write pointer stays
            slot += (done % 2) * size * nbytes
        for i in range(owners):
            if i != position:
                place = get_arg_val(5 + i)
                noc_async_write(own + i * nbytes, get_noc_addr(place & 255, place >> 8, slot), nbytes)
        noc_async_write_barrier()
        for i in range(owners):
            if i != position:
                place = get_arg_val(5 + i)
                noc_semaphore_inc(get_noc_addr(place & 255, place >> 8, arrived), 1)
        others = owners
        if position < owners:
            others -= 1
            cb_reserve_back(A, size * part)
            noc_semaphore_wait_min(arrived, (done + 1) * (size - 1))
            hand_over(size, part)
            target = get_write_ptr(SUM) + position * nbytes
            multicast_block(get_read_ptr(OUT), target, nbytes, x0, y0, x1, y1, size - 1)
            cb_pop_front(OUT, part)
        noc_semaphore_wait_min(result, (done + 1) * others)
    noc_async_atomic_barrier()


@kernel
def tree_reduce_mcast(position, x0, y0, x1, y1, levels, parent_x, parent_y, level, parent_levels):
    """A binary tree: a core adds what comes of `levels` levels to its block and sends the sum up to its parent, where it is
    of `level`; the root multicasts the total.  `A` holds `depth` blocks."""
    tiles, size, rounds, depth = (
        get_compile_time_arg_val(0), get_compile_time_arg_val(1), get_compile_time_arg_val(2), get_compile_time_arg_val(3)
    )  # fmt: skip
    nbytes = tiles * get_tile_size(A)
    slots = get_write_ptr(A)
    for done in range(rounds):
        for i in range(levels):
            cb_reserve_back(A, tiles)
            noc_semaphore_wait_min(get_semaphore(2 + i), done + 1)
            cb_push_back(A, tiles)
        source = get_write_ptr(B)
        if levels > 0:
            cb_wait_front(OUT, tiles)
            source = get_read_ptr(OUT)
        if position == 0:
            multicast_block(source, get_write_ptr(SUM), nbytes, x0, y0, x1, y1, size - 1)
        else:
            target = slots + (done * parent_levels + level) % depth * nbytes
            noc_async_write(source, get_noc_addr(parent_x, parent_y, target), nbytes)
            noc_async_write_barrier()
            noc_semaphore_inc(get_noc_addr(parent_x, parent_y, get_semaphore(2 + level)), 1)
        if levels > 0:
            cb_pop_front(OUT, tiles)
        if position != 0:
            noc_semaphore_wait_min(get_semaphore(RESULT), done + 1)
    noc_async_atomic_barrier()


# --- sums of blocks


@kernel
def sum_blocks():
    """`blocks` blocks of `tiles` tiles, pairs of them added into Dst, `chunk` tiles per section (an odd block is copied)."""
    tiles, blocks, rounds, chunk = (
        get_compile_time_arg_val(0), get_compile_time_arg_val(1), get_compile_time_arg_val(2), get_compile_time_arg_val(3)
    )  # fmt: skip
    binary_op_init_common(A, A, OUT)
    for _ in range(rounds):
        cb_wait_front(A, blocks * tiles)
        cb_reserve_back(OUT, tiles)
        for first in range(0, tiles, chunk):
            here = min(chunk, tiles - first)
            tile_regs_acquire()
            start = 0
            if blocks % 2 != 0:
                copy_tile_to_dst_init_short(A)
                for i in range(here):
                    copy_tile(A, first + i, i)
                start = 1
            add_tiles_init(A, A, True)
            for block in range(start, blocks, 2):
                for i in range(here):
                    tile = block * tiles + first + i
                    add_tiles(A, A, tile, tile + tiles, i)
            tile_regs_commit()
            tile_regs_wait()
            for i in range(here):
                pack_tile(i, OUT)
            tile_regs_release()
        cb_pop_front(A, blocks * tiles)
        cb_push_back(OUT, tiles)


@kernel
def add_levels(levels):
    """`levels` blocks one after the other onto the own block."""
    tiles, _size, rounds, chunk = (
        get_compile_time_arg_val(0), get_compile_time_arg_val(1), get_compile_time_arg_val(2), get_compile_time_arg_val(3)
    )  # fmt: skip
    binary_op_init_common(A, B, OUT)
    for _ in range(rounds):
        for level in range(levels):
            last = level == levels - 1
            target = OUT if last else SUM
            left = B if level == 0 else SUM
            add_tiles_init(left, A)
            cb_wait_front(A, tiles)
            if level > 0:
                cb_wait_front(SUM, tiles)
            cb_reserve_back(target, tiles)
            for first in range(0, tiles, chunk):
                here = min(chunk, tiles - first)
                tile_regs_acquire()
                for i in range(here):
                    add_tiles(left, A, first + i, first + i, i)
                tile_regs_commit()
                tile_regs_wait()
                for i in range(here):
                    pack_tile(i, target)
                tile_regs_release()
            cb_pop_front(A, tiles)
            if level > 0:
                cb_pop_front(SUM, tiles)
            cb_push_back(target, tiles)
