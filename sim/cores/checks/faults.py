"""What the checker refuses: codes, the words the user reads, and what to do."""

from enum import IntEnum

FIRST = 100  # of the codes; smaller ones are the engine's own (`tensim.sim.cores.faults`)


class Check(IntEnum):
    CB_UNPACK_UNWAITED = 100
    CB_POP_UNWAITED = 101
    CB_PUSH_UNRESERVED = 102
    CB_UNPACK_EARLY = 103
    CB_READ_UNRESERVED = 104
    CB_OVERWRITTEN = 105
    CB_SOURCE_FREE = 106
    CB_BEYOND_END = 107
    SOURCE_POPPED = 108
    SOURCE_OVERWRITTEN = 109
    WRITES_AT_END = 110
    READS_AT_END = 111
    PAGE_BEYOND_BUFFER = 112
    OUTSIDE_BUFFERS = 113
    CB_OWN_PAGES = 114
    LOAD_UNWRITTEN = 115
    SEMAPHORE_MISSING = 116
    UNWRITTEN_L1 = 117
    UNWRITTEN_DST = 118
    INIT_MISSING = 119
    INIT_WRONG = 120
    FORMAT_A = 121
    FORMAT_B = 122
    FORMAT_OUT = 123
    SIGNAL_BEFORE_DATA = 124
    RACE_READ = 125
    RACE_WRITE = 126
    RACE_WRITES = 127
    PAGE_BEYOND_L1 = 128
    INIT_BUFFER = 129
    ATOMICS_AT_END = 130
    DST_HELD = 131
    CB_TWO_PRODUCERS = 133
    CB_TWO_CONSUMERS = 134
    CB_POP_AWAITED = 135
    UNWRITTEN_SENT = 136
    UNWRITTEN_READ = 137
    GENERATOR_PAGE = 138
    GENERATOR_MEMORY = 139


# {c} is a worker, or -1 - a DRAM bank
ON_CORE = (Check.RACE_READ, Check.RACE_WRITE, Check.RACE_WRITES, Check.PAGE_BEYOND_L1)
RACES = (Check.RACE_READ, Check.RACE_WRITE, Check.RACE_WRITES)
# {a}, {b}, {c} are error_a, error_b, error_c of the machine record, {d} the cycle of the other access, {place} what {a} and {c}
# say.
MESSAGES = {
    Check.CB_UNPACK_UNWAITED: "circular buffer {a}: tile {b} is unpacked, but the kernel has waited for {c} pages",
    Check.CB_POP_UNWAITED: "circular buffer {a}: {b} pages are popped, but the kernel has waited for {c}",
    Check.CB_PUSH_UNRESERVED: "circular buffer {a}: {b} pages are pushed, but the kernel has reserved {c}",
    Check.CB_UNPACK_EARLY: "circular buffer {a}: tile {b} was unpacked before anything was pushed; the kernel does not wait for it",
    Check.CB_READ_UNRESERVED: "circular buffer {a}: a NoC read of {c} bytes to {b:#x}, which lies in no page that was reserved",
    Check.CB_OVERWRITTEN: "circular buffer {a}: {c} bytes arrive at {b:#x} in a page that was pushed and not popped yet",
    Check.CB_SOURCE_FREE: "circular buffer {a}: a NoC write of {c} bytes from {b:#x}, which lies in no page that was reserved or "
    "waited for",
    Check.CB_BEYOND_END: "circular buffer {a}: a transfer of {c} bytes at {b:#x} goes beyond its end",
    Check.SOURCE_POPPED: "circular buffer {a}: a page is popped while a NoC write from {b:#x} may still read it",
    Check.SOURCE_OVERWRITTEN: "L1 {a:#x} (+{b}) is overwritten while a NoC write may still read it from {c:#x} on",
    Check.WRITES_AT_END: "the kernel ends with {a} NoC writes in flight",
    Check.READS_AT_END: "the kernel ends with {a} NoC reads in flight",
    Check.ATOMICS_AT_END: "the kernel ends with {a} increments in flight",
    Check.DST_HELD: "the kernel ends with a section of Dst that was committed and never released",
    Check.CB_TWO_PRODUCERS: "circular buffer {a}: a second thread pushes, whose write pointer is behind by the {b} pages of others",
    Check.CB_TWO_CONSUMERS: "circular buffer {a}: a second thread pops, whose read pointer is behind by the {b} pages of others",
    Check.CB_POP_AWAITED: "circular buffer {a}: {b} pages are popped, but another thread waits for {c} and nothing orders the pop "
    "behind that",
    Check.UNWRITTEN_SENT: "a result of the program derives from L1 {a:#x}, which nobody had written when it was sent from here",
    Check.GENERATOR_PAGE: "an address generator with pages of {a} B is used at {b:#x}, where a buffer with pages of {c} B begins",
    Check.GENERATOR_MEMORY: "an address generator for {a} is used at {b:#x}, where a buffer begins in {c}",
    Check.UNWRITTEN_READ: "a result of the program derives from {place}, which nobody had written when it was read here",
    Check.CB_OWN_PAGES: "circular buffer {a}: the thread waits for {b} pages with {c} there, and it alone is at both ends",
    Check.LOAD_UNWRITTEN: "a load of L1 {a:#x} (+{b}), which nobody has written",
    Check.UNWRITTEN_L1: "a result of the program derives from L1 {a:#x}, which nobody had written when it was unpacked here",
    Check.UNWRITTEN_DST: "a result of the program derives from tile {a} of Dst, which nobody had written when it was used here",
    Check.INIT_MISSING: "the thread's units were never set up for this operation: it needs {a}",
    Check.INIT_WRONG: "the thread's units are set up for another operation (by {b}): this one needs {a}",
    Check.FORMAT_A: "circular buffer {a} has format {b}, but the first operand's unpacker is configured for format {c}",
    Check.FORMAT_B: "circular buffer {a} has format {b}, but the second operand's unpacker is configured for format {c}",
    Check.FORMAT_OUT: "circular buffer {a} has format {b}, but the packer is configured for format {c}",
    Check.INIT_BUFFER: "circular buffer {a} is used, but the thread's units were configured for one that this core does not have",
    Check.SIGNAL_BEFORE_DATA: "a semaphore of a core is changed while a NoC write from {a:#x} to it may be on its way",
    Check.RACE_READ: "{place} (+{b}) is read, but nothing orders that behind the write at cycle {d}",
    Check.RACE_WRITE: "{place} (+{b}) is written, but nothing orders that behind the read at cycle {d}",
    Check.RACE_WRITES: "{place} (+{b}) is written, but nothing orders that behind the other write at cycle {d}",
    Check.SEMAPHORE_MISSING: "semaphore {a} does not exist on core {b}",
    Check.PAGE_BEYOND_BUFFER: "page {a} of a buffer of {b} pages (DRAM address {c:#x})",
    Check.PAGE_BEYOND_L1: "{place} (+{b}) lies behind the pages that the core holds of a buffer",
    Check.OUTSIDE_BUFFERS: "DRAM bank {c}, offset {a:#x} (+{b}): no buffer of the program lies there",
}
ADVICE = {
    Check.CB_UNPACK_UNWAITED: "wait for all pages that are unpacked: cb_wait_front(cb, pages), and count tiles from the first page",
    Check.CB_POP_UNWAITED: "cb_wait_front(cb, pages) before cb_pop_front(cb, pages)",
    Check.CB_PUSH_UNRESERVED: "cb_reserve_back(cb, pages) before the pages are filled and pushed",
    Check.CB_UNPACK_EARLY: "cb_wait_front(cb, pages) before the pages are unpacked",
    Check.CB_READ_UNRESERVED: "cb_reserve_back(cb, pages) before the read, and read to get_write_ptr(cb) and the pages behind it",
    Check.CB_OVERWRITTEN: "the sender must know that there is room: the receiver reserves the pages, then says so by a semaphore",
    Check.CB_SOURCE_FREE: "write before cb_pop_front, from get_read_ptr(cb) after cb_wait_front",
    Check.CB_BEYOND_END: "the buffer wraps: a block of pages must divide its size, or be moved in two pieces",
    Check.SOURCE_POPPED: "noc_async_writes_flushed() or noc_async_write_barrier() before cb_pop_front",
    Check.SOURCE_OVERWRITTEN: "noc_async_writes_flushed() or noc_async_write_barrier() before the memory is used again",
    Check.WRITES_AT_END: "noc_async_writes_flushed() or noc_async_write_barrier() at the end of the kernel",
    Check.READS_AT_END: "noc_async_read_barrier() behind the last read",
    Check.ATOMICS_AT_END: "noc_async_atomic_barrier() at the end of the kernel; a barrier for writes does not wait for increments",
    Check.DST_HELD: "tile_regs_release() behind the last tile that is packed: the next program's first product waits for it",
    Check.CB_TWO_PRODUCERS: "let one thread push to the buffer, or each of them whole rounds of it",
    Check.CB_TWO_CONSUMERS: "let one thread pop from the buffer, or each of them whole rounds of it",
    Check.CB_POP_AWAITED: "a buffer of its own for each thread, or the thread that pops waits until the other one is done",
    Check.UNWRITTEN_SENT: "fill the memory before it is sent: what the simulator shows as zeros is anything on the chip",
    Check.GENERATOR_PAGE: "give the generator the page size of the buffer",
    Check.GENERATOR_MEMORY: "say of the generator in which memory its buffer lies",
    Check.UNWRITTEN_READ: "write the memory before it is read; look at the core, the address and the size of who should have",
    Check.CB_OWN_PAGES: "let one thread fill the buffer and another one take from it",
    Check.LOAD_UNWRITTEN: "write the memory first, or wait for the transfer that brings the data",
    Check.UNWRITTEN_L1: "fill the pages before they are pushed: what the simulator shows as zeros is anything on the chip",
    Check.UNWRITTEN_DST: "compute the tile between tile_regs_acquire and tile_regs_commit, with the same index",
    Check.INIT_MISSING: "call the operation's initialisation before the first one (mm_init, add_tiles_init, ...)",
    Check.INIT_WRONG: "call the operation's initialisation again when the kernel comes back to it from another operation",
    Check.FORMAT_A: "reconfig_data_format(a, b), or an initialisation with the buffers that come next",
    Check.FORMAT_B: "reconfig_data_format(a, b), or an initialisation with the buffers that come next",
    Check.FORMAT_OUT: "pack_reconfig_data_format(cb) before the first tile is packed",
    Check.INIT_BUFFER: "name the circular buffers that the operation uses in its initialisation",
    Check.SIGNAL_BEFORE_DATA: "noc_async_write_barrier() before that: neither writes and increments nor the two NoCs have an order",
    Check.RACE_READ: "the writer says that the data are there (noc_async_write_barrier() and a semaphore, or cb_push_back), and "
    "the reader waits for that",
    Check.RACE_WRITE: "the reader says that it is done (a barrier and a semaphore, or cb_pop_front), and the writer waits for that",
    Check.RACE_WRITES: "one writer waits until the other one says that it is done (a barrier and a semaphore); a semaphore is set "
    "before others are told that they may count or set it",
    Check.SEMAPHORE_MISSING: "create_semaphore(program, cores, value) for all cores that wait for it or count it up",
    Check.PAGE_BEYOND_BUFFER: "pages are counted from 0; look at the number of pages that the host passed",
    Check.PAGE_BEYOND_L1: "pages are counted from 0; look at the number of pages, and at the cores that hold shards",
    Check.OUTSIDE_BUFFERS: "look at the address and the page size of the address generator",
}  # fmt: skip
