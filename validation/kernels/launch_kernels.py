"""Kernels that stream pages between DRAM and DRAM on many cores."""
# ruff: noqa: F403, F405

from tensim.kernel_api import *
from tensim.validation.compute.kernels import OUT, A


@kernel
def read_pages(source_address, first, rows, columns, pitch):
    """`rows` runs of `columns` pages, `pitch` pages apart, `batch` pages per barrier."""
    batch = get_compile_time_arg_val(0)
    source = InterleavedAddrGen(source_address, page_size=get_tile_size(A), dram=True)
    for row in range(rows):
        for column in range(0, columns, batch):
            cb_reserve_back(A, batch)
            target = get_write_ptr(A)
            for i in range(batch):
                noc_async_read_tile(first + row * pitch + column + i, source, target + i * get_tile_size(A))
            noc_async_read_barrier()
            cb_push_back(A, batch)


@kernel
def write_pages(target_address, first, rows, columns, pitch):
    """The mirror image."""
    batch = get_compile_time_arg_val(0)
    target = InterleavedAddrGen(target_address, page_size=get_tile_size(OUT), dram=True)
    for row in range(rows):
        for column in range(0, columns, batch):
            cb_wait_front(OUT, batch)
            source = get_read_ptr(OUT)
            for i in range(batch):
                noc_async_write_tile(first + row * pitch + column + i, target, source + i * get_tile_size(OUT))
            noc_async_write_barrier()
            cb_pop_front(OUT, batch)


@kernel
def relu_tiles(tiles):
    """relu, one tile per section."""
    unary_op_init_common(A, OUT)
    copy_tile_init(A)
    relu_tile_init()
    for _ in range(tiles):
        cb_wait_front(A, 1)
        tile_regs_acquire()
        copy_tile(A, 0, 0)
        relu_tile(0)
        tile_regs_commit()
        cb_reserve_back(OUT, 1)
        tile_regs_wait()
        pack_tile(0, OUT)
        tile_regs_release()
        cb_pop_front(A, 1)
        cb_push_back(OUT, 1)
