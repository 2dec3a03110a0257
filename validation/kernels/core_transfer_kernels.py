"""Kernels that move data between the L1s of cores: gathers, bursts of writes, rounds of a row of cores."""
# ruff: noqa: F403, F405

from tensim.kernel_api import *

MINE, OTHERS = 0, 1


@kernel
def gather_tiles(cb, first, step, count, tile, piece, source, sources):
    """Read tiles first, first + step, ... from the cores in turn, whose NoC (x, y) follow; a barrier per tile."""
    index = first
    for _ in range(count):
        core = index % sources
        x = get_arg_val(8 + 2 * core)
        y = get_arg_val(9 + 2 * core)
        cb_reserve_back(cb, 1)
        target = get_write_ptr(cb)
        for offset in range(0, tile, piece):
            noc_async_read(get_noc_addr(x, y, source + offset), target + offset, piece)
        noc_async_read_barrier()
        cb_push_back(cb, 1)
        index += step


@kernel
def write_tiles(address, count, tile):
    """Writer of the gathered tiles, given back when they have left L1."""
    target = InterleavedAddrGen(address, page_size=tile, dram=True)
    for page in range(count):
        cb_wait_front(MINE, 1)
        noc_async_write_page(page, target, get_read_ptr(MINE))
        noc_async_writes_flushed()
        cb_pop_front(MINE, 1)
    noc_async_write_barrier()


@kernel
def gather_and_write(address, pairs, tile, piece, source, sources):
    """Gathers every second tile itself, and writes both its own and those of the other RISC-V core to DRAM."""
    target = InterleavedAddrGen(address, page_size=tile, dram=True)
    for pair in range(pairs):
        core = (2 * pair + 1) % sources
        x = get_arg_val(6 + 2 * core)
        y = get_arg_val(7 + 2 * core)
        cb_reserve_back(OTHERS, 1)
        local = get_write_ptr(OTHERS)
        for offset in range(0, tile, piece):
            noc_async_read(get_noc_addr(x, y, source + offset), local + offset, piece)
        noc_async_read_barrier()
        cb_push_back(OTHERS, 1)
        cb_wait_front(MINE, 1)
        cb_wait_front(OTHERS, 1)
        noc_async_write_page(2 * pair, target, get_read_ptr(MINE))
        noc_async_write_page(2 * pair + 1, target, get_read_ptr(OTHERS))
        noc_async_writes_flushed()
        cb_pop_front(MINE, 1)
        cb_pop_front(OTHERS, 1)
    noc_async_write_barrier()


@kernel
def write_burst(pages, size, source, target, one_packet, cores, first):
    """`pages` writes to `cores` cores in turn, whose NoC (x, y) follow, beginning with `first`; one barrier."""
    core = first
    for page in range(pages):
        address = get_noc_addr(get_arg_val(7 + 2 * core), get_arg_val(8 + 2 * core), target + page * size)
        if one_packet == 1:
            noc_async_write_one_packet(source + page * size, address, size)
        else:
            noc_async_write(source + page * size, address, size)
        core += 1
        if core == cores:
            core = 0
    noc_async_write_barrier()


@kernel
def exchange_unicast(exchanges, cores, me, size, dispatches, data, ready, done):
    """Ordered rounds of a row of cores: in its round a core sends every other one `dispatches` pieces of `size` bytes."""
    ready_at = get_semaphore(ready)
    done_at = get_semaphore(done)
    received = 0
    for _ in range(exchanges):
        for sender in range(cores):
            if sender == me:
                for dispatch in range(dispatches):
                    noc_semaphore_wait(ready_at, cores - 1)
                    noc_semaphore_set(ready_at, 0)
                    source = data + dispatch * size
                    for core in range(cores):
                        if core != me:
                            x = get_arg_val(8 + 2 * core)
                            y = get_arg_val(9 + 2 * core)
                            noc_async_write(source, get_noc_addr(x, y, source), size)
                            noc_semaphore_inc(get_noc_addr(x, y, done_at), 1)
                noc_async_write_barrier()
            else:
                to = get_noc_addr(get_arg_val(8 + 2 * sender), get_arg_val(9 + 2 * sender), ready_at)
                for _ in range(dispatches):
                    noc_semaphore_inc(to, 1)
                    received += 1
                    noc_semaphore_wait_min(done_at, received)
    noc_async_atomic_barrier()


@kernel
def exchange_multicast(exchanges, cores, me, size, dispatches, data, ready, done):
    """The same with one multicast of a piece and one of the flag; the row's ends are its first and last core."""
    ready_at = get_semaphore(ready)
    done_at = get_semaphore(done)
    x0 = get_arg_val(8)
    y0 = get_arg_val(9)
    x1 = get_arg_val(6 + 2 * cores)
    for _ in range(exchanges):
        for sender in range(cores):
            if sender == me:
                for dispatch in range(dispatches):
                    noc_semaphore_wait(ready_at, cores - 1)
                    noc_semaphore_set(ready_at, 0)
                    source = data + dispatch * size
                    noc_async_write_multicast(
                        source, get_noc_multicast_addr(x0, y0, x1, y0, source), size, cores - 1, linked=True
                    )
                    noc_semaphore_set(done_at, 1)
                    noc_semaphore_set_multicast(done_at, get_noc_multicast_addr(x0, y0, x1, y0, done_at), cores - 1)
                    noc_async_writes_flushed()
            else:
                to = get_noc_addr(get_arg_val(8 + 2 * sender), get_arg_val(9 + 2 * sender), ready_at)
                for _ in range(dispatches):
                    noc_semaphore_set(done_at, 0)
                    noc_semaphore_inc(to, 1)
                    noc_semaphore_wait(done_at, 1)
    noc_async_atomic_barrier()
