"""The context block: the memory that a kernel thread and the event loop share.

A kernel is a generator that gets one argument, the address of its context block: `CONTEXT_WORDS` little-endian int64
words.  The first words are the mailbox (operation record and result); the rest describes the thread's surroundings and
does not change while the thread runs, but for the kernel's own notes (PENDING, UNSET_READS and what follows).  A generator
frame holds only integers, so abandoning it leaks nothing.
"""

OPCODE = 0  # Op
LINE = 1  # source line (absolute line number in the kernel's file) of the operation
CYCLES = 2  # plain-code cycles since the previous operation, charged before this one
ARG0 = 3  # ... ARG0 + 9
MAX_ARGS = 10
RESULT = 13

L1 = 16  # host address of byte 0 of the core's L1
L1_SIZE = 17
N_ARGS = 18  # unique runtime arguments (uint32 words at host address ARGS)
ARGS = 19
N_COMMON_ARGS = 20
COMMON_ARGS = 21
N_COMPILE_ARGS = 22  # compile-time arguments (int64 words at host address COMPILE_ARGS)
COMPILE_ARGS = 23
MY_X = 24  # NoC-0 physical coordinates of this core, the ones get_noc_addr takes
MY_Y = 25
LOGICAL_X = 26
LOGICAL_Y = 27
NOC = 28  # noc_index: the kernel's default NoC
ROLE = 29  # Role
CORE = 30  # worker index
THREAD = 31  # thread index, see `slots`
N_DRAM_BANKS = 32
DRAM_BANKS = 33  # host address of int64[2, n]: for each NoC coordinates and byte offset of each bank as a NoC address
N_L1_BANKS = 34
L1_BANKS = 35  # int64[n], the same for L1 banks on both NoCs (one per worker core, row-major over the compute grid)
DRAM_ALIGNMENT = 36  # page alignment of interleaved DRAM buffers, bytes
L1_ALIGNMENT = 37
SEMAPHORE_BASE = 38  # L1 address of semaphore 0 of the running program; semaphore i is at + 16 * i
CBS = 39  # host address of int64[N_CIRCULAR_BUFFERS, CB_WORDS]: this core's circular buffers
MAX_BURST = 40  # NOC_MAX_BURST_SIZE, bytes
L1_ARGS = 41  # L1 address of the unique runtime arguments; L1_COMMON_ARGS likewise
L1_COMMON_ARGS = 42
RELATIVE_X = 43  # logical coordinates relative to the sub-device
RELATIVE_Y = 44
COST_ALU = 45  # cycles of plain code: arithmetic, branches, multiplication, division, loads of arguments and locals
COST_BRANCH = 46
COST_MUL = 47
COST_DIV = 48
COST_LOAD = 49
PENDING = 50  # plain-code cycles that the next posted operation will carry
TIME = 51  # cycle at which the core goes on after its last operation, for front ends that follow a clock
COST_MUL_USE = 52  # cycles that an instruction right behind a multiplication waits for its product
READY = 53  # cycle at which the value of the last load from L1 can be used
ICACHE_LINES = 54  # instruction cache, in lines of 16 bytes
FETCH_MISS = 55  # cycles that a line which is not in it costs
KERNEL_X = 56  # coordinates of this core in the words of tensor accessors: translated ones where the chip has them
KERNEL_Y = 57
CHECKED = 58  # whether kernels are checked (docs/checks.md)
# how often a runtime argument that was not set has been read without checks; UNSET_LINE, UNSET_INDEX: at first
UNSET_READS = 59
UNSET_LINE = 60
UNSET_INDEX = 61
POINTERS = 62  # first of the thread's own two pointers among the columns of a circular buffer: write, read
CONTEXT_WORDS = 64

# Columns of a circular buffer's row (int64)
CB_PAGES = 0  # capacity in pages; 0: this index is not configured on this core
CB_PAGE_SIZE = 1  # bytes
CB_BASE = 2  # L1 address
CB_SIZE = 3  # bytes
CB_FORMAT = 4  # DataFormat code
CB_WRITE_PTR = 5  # L1 address of the next page to push, as the pack thread knows it
CB_READ_PTR = 6  # L1 address of the next page to pop, as the unpack thread knows it
CB_RECEIVED = 7  # pages pushed since launch
CB_ACKED = 8  # pages popped since launch
CB_TILE_SIZE = 9  # bytes of one tile in this format
CB_TILE_HW = 10  # datums of a tile (1024 for 32x32)
CB_PACKED = 11  # tiles packed in order since the last push
CB_RESERVED = 12  # pages reserved and not yet pushed (checks only)
CB_FACES = 13
# 14 to 19: `tensim.sim.cores.circular_buffer`.  Statistics:
CB_LEVEL_AT = 20  # since when it has had as many pages as now
CB_LEVEL_CYCLES = 21  # ... + CB_LEVELS - 1: cycles at each level, 0 for empty, then in eighths of its pages, rounded up
CB_LEVELS = 9
CB_LEVEL_SCALE = 30  # times pages: their level, 1 << CB_LEVEL_BITS each
CB_TILES_PACKED = 31
CB_PRODUCER = 32  # 1 + the thread that last reserved or pushed pages; 33: that last waited for some or popped them
CB_CONSUMER = 33
CB_OWN_POINTERS = 34  # the write and the read pointer of the BRISC, then those of the NCRISC
CB_PACK_RECEIVED = 38  # pages that the pack thread has pushed
CB_UNPACK_ACKED = 39  # pages that the unpack thread has popped
CB_WORDS = 40
CB_LEVEL_BITS = 32
CB_LEVEL_ONE = 1 << CB_LEVEL_BITS

# NoC address: bits 0-35 offset in the tile, 36-41 x, 42-47 y; multicast: 36-41 x end, 42-47 y end, 48-53 x start,
# 54-59 y start.  Coordinates are NoC-0 physical ones for both NoCs.  Same field order as Wormhole's.
NOC_OFFSET_MASK = (1 << 36) - 1
