"""Kernels of the NoC latency rows: cores meet, then each times its issue loop and barrier.

Runtime arguments of all: L1 address for (begin, end) of the zone; own buffer; remote buffer; bytes; transactions per
target; what the kernel needs of targets.
"""
# ruff: noqa: F403, F405

from tensim.kernel_api import *

ARRIVED, GO = 0, 1  # semaphores of the meeting
GROUP = 4  # cores that one of the first to know wakes, itself included
MEETING_NOC = 0


@device_function
def meet_all():
    """Let all cores of the program go on together: the first core counts the others, then tells every fourth of a row.

    Rows come one after the other, in the order in which the cores are numbered.  The cores that are told first wake the
    three behind them.  It goes over NoC 0, whatever the NoC of the transactions: silicon's skew is the same on both.
    Common arguments: columns and rows of the program's cores, then the x of its columns and the y of its rows.
    """
    columns = get_common_arg_val(0)
    rows = get_common_arg_val(1)
    arrived = get_semaphore(ARRIVED)
    go = get_semaphore(GO)
    x = get_relative_logical_x()
    y = get_relative_logical_y()
    if columns * rows > 1:
        if x == 0 and y == 0:
            noc_semaphore_wait(arrived, columns * rows - 1)
            for row in range(rows):
                target_y = get_common_arg_val(2 + columns + row)
                for column in range(0, columns, GROUP):
                    if column + row > 0:
                        noc_semaphore_inc(get_noc_addr(get_common_arg_val(2 + column), target_y, go), 1, MEETING_NOC)
        else:
            first = get_noc_addr(get_common_arg_val(2), get_common_arg_val(2 + columns), arrived)
            noc_semaphore_inc(first, 1, MEETING_NOC)
            noc_async_atomic_barrier(MEETING_NOC)
            noc_semaphore_wait(go, 1)
        if x & (GROUP - 1) == 0:
            for column in range(x + 1, min(x + GROUP, columns)):
                noc_semaphore_inc(
                    get_noc_addr(get_common_arg_val(2 + column), get_common_arg_val(2 + columns + y), go),
                    1,
                    MEETING_NOC,
                )
        noc_async_atomic_barrier(MEETING_NOC)


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
    meet_all()
    source = get_noc_addr_from_bank_id(bank, remote)
    begin = get_timestamp()
    for _ in range(transactions):
        noc_async_read_one_packet(source, own, nbytes)
    noc_async_read_barrier()
    note(stamps, begin, get_timestamp())


@kernel
def write_bank(stamps, own, remote, nbytes, transactions, bank):
    """Write a page of one DRAM bank again and again."""
    meet_all()
    destination = get_noc_addr_from_bank_id(bank, remote)
    begin = get_timestamp()
    for _ in range(transactions):
        noc_async_write_one_packet(own, destination, nbytes)
    noc_async_write_barrier()
    note(stamps, begin, get_timestamp())


@kernel
def read_banks(stamps, own, remote, nbytes, transactions, banks, first):
    """Read one page of each DRAM bank in turn, from bank `first` on."""
    meet_all()
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
    meet_all()
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
