"""Kernels of the NoC latency rows: each core times its issue loop and barrier.

Runtime arguments of all: L1 address for (begin, end) of the zone; own buffer; remote buffer; bytes; transactions per
target; what the kernel needs of targets.
"""
# ruff: noqa: F403, F405

from tensim.kernel_api import *


@device_function
def wait_for_turn():
    """Silicon's cores start one after the other, in the order of their numbers.

    Common arguments: columns of the program's cores, and the time from one core to the next in sixteenths of a cycle.
    """
    number = get_relative_logical_y() * get_common_arg_val(0) + get_relative_logical_x()
    riscv_wait(number * get_common_arg_val(1) >> 4)


@device_function
def note(stamps, begin, end):
    """Keep the zone for the host."""
    times = l1_ptr(stamps, uint32)
    times[0] = begin
    times[1] = end


@kernel
def read_cores(stamps, own, remote, nbytes, transactions, targets):
    """Read `nbytes` of each target core, `transactions` times.  Arguments 6...: x + 256 y of the targets."""
    begin = get_timestamp()
    for target in range(targets):
        place = get_arg_val(6 + target)
        source = get_noc_addr(place & 255, place >> 8, remote)
        for _ in range(transactions):
            noc_async_read(source, own, nbytes)
    noc_async_read_barrier()
    note(stamps, begin, get_timestamp())


@kernel
def read_cores_stateful(stamps, own, remote, nbytes, transactions, targets):
    """`read_cores` with the command buffer programmed once per target."""
    begin = get_timestamp()
    for target in range(targets):
        place = get_arg_val(6 + target)
        source = get_noc_addr(place & 255, place >> 8, remote)
        noc_async_read_set_state(source)
        for _ in range(transactions):
            noc_async_read_with_state(remote, own, nbytes)
    noc_async_read_barrier()
    note(stamps, begin, get_timestamp())


@kernel
def write_cores(stamps, own, remote, nbytes, transactions, targets):
    """Write `nbytes` to each target core, `transactions` times.  Arguments 6...: x and y of the targets."""
    begin = get_timestamp()
    for target in range(targets):
        destination = get_noc_addr(get_arg_val(6 + 2 * target), get_arg_val(7 + 2 * target), remote)
        for _ in range(transactions):
            noc_async_write(own, destination, nbytes)
    noc_async_write_barrier()
    note(stamps, begin, get_timestamp())


@kernel
def write_cores_stateful(stamps, own, remote, nbytes, transactions, targets):
    """`write_cores` with the command buffer programmed once per target; one packet per write."""
    begin = get_timestamp()
    for target in range(targets):
        destination = get_noc_addr(get_arg_val(6 + 2 * target), get_arg_val(7 + 2 * target), remote)
        noc_async_write_one_packet_set_state(destination, nbytes)
        for _ in range(transactions):
            noc_async_write_one_packet_with_state(own, remote)
    noc_async_write_barrier()
    note(stamps, begin, get_timestamp())


@kernel
def multicast(stamps, own, remote, nbytes, transactions, x0, y0, x1, y1, receivers, linked):
    """Multicast `nbytes` to the rectangle `transactions` times; `linked`: all but the last packet are."""
    destination = get_noc_multicast_addr(x0, y0, x1, y1, remote)
    begin = get_timestamp()
    for _ in range(transactions - 1):
        noc_async_write_multicast(own, destination, nbytes, receivers, linked=linked)
    noc_async_write_multicast(own, destination, nbytes, receivers)
    noc_async_write_barrier()
    note(stamps, begin, get_timestamp())


@kernel
def multicast_loopback(stamps, own, remote, nbytes, transactions, x0, y0, x1, y1, receivers, linked):
    """`multicast` to a rectangle that holds the sender, which is a receiver too."""
    destination = get_noc_multicast_addr(x0, y0, x1, y1, remote)
    begin = get_timestamp()
    for _ in range(transactions - 1):
        noc_async_write_multicast_loopback_src(own, destination, nbytes, receivers, linked=linked)
    noc_async_write_multicast_loopback_src(own, destination, nbytes, receivers)
    noc_async_write_barrier()
    note(stamps, begin, get_timestamp())


@kernel
def read_bank(stamps, own, remote, nbytes, transactions, bank):
    """Read a page of one DRAM bank again and again."""
    wait_for_turn()
    source = get_noc_addr_from_bank_id(bank, remote)
    begin = get_timestamp()
    for _ in range(transactions):
        noc_async_read_one_packet(source, own, nbytes)
    noc_async_read_barrier()
    note(stamps, begin, get_timestamp())


@kernel
def write_bank(stamps, own, remote, nbytes, transactions, bank):
    """Write a page of one DRAM bank again and again."""
    wait_for_turn()
    destination = get_noc_addr_from_bank_id(bank, remote)
    begin = get_timestamp()
    for _ in range(transactions):
        noc_async_write_one_packet(own, destination, nbytes)
    noc_async_write_barrier()
    note(stamps, begin, get_timestamp())


@kernel
def read_banks(stamps, own, remote, nbytes, transactions, banks, first):
    """Read one page of each DRAM bank in turn, from bank `first` on."""
    wait_for_turn()
    source = InterleavedAddrGen(remote, page_size=nbytes, dram=True)
    begin = get_timestamp()
    page = first
    for _ in range(transactions):
        noc_async_read_page(page, source, own)
        page += 1
        if page == banks:
            page = 0
    noc_async_read_barrier()
    note(stamps, begin, get_timestamp())


@kernel
def write_banks(stamps, own, remote, nbytes, transactions, banks, first):
    """Write one page of each DRAM bank in turn, from bank `first` on."""
    wait_for_turn()
    destination = InterleavedAddrGen(remote, page_size=nbytes, dram=True)
    begin = get_timestamp()
    page = first
    for _ in range(transactions):
        noc_async_write_page(page, destination, own)
        page += 1
        if page == banks:
            page = 0
    noc_async_write_barrier()
    note(stamps, begin, get_timestamp())
