"""What the checker knows beside the machine's state: records and tables that exist only when a chip checks its kernels.

`SHADOW` is one record with the addresses of the tables; the machine's record holds its address (`shadow_at`).
"""

import numpy as np

from tensim.sim.cores.slots import THREADS_PER_CORE
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.limits import N_CIRCULAR_BUFFERS
from tensim.sim.engine.tables import table
from tensim.sim.state import TILE_WORKER, cores_of, tiles_of, transactions_of  # noqa: F401


def _record(fields):
    return np.dtype([(name, np.int64) for name in fields.split()], align=True)


# `line`: row of the line table that a fault names, -1 for the line at which the thread stands; `other`, `other_line`,
# `other_cycle`: a second thread of the fault, -1 for none, its row, and when it was there
# `l1_at`, `dram_at`, `dst_at`: states of memory (`tensim.sim.cores.checks.memory`), kept if `data` is not 0; `origins_at`:
# `n_origins` places where memory that nobody wrote was used; `semaphores_at`: for each core, a bit per semaphore that exists
# Races (`tensim.sim.cores.checks.clocks`, `races`): `clocks_at`: the clocks of each thread, `clock_bytes` for one; `cells_at`,
# `dram_cells_at`: who touched what; `ends_at`: pushes and pops; `steps_at`: what data-movement threads did; `words_at`:
# `n_words` words of L1 that synchronise beside semaphores; `signals_at`: their clocks; `versions`: the last one given
# `unordered_at`: `n_unordered` buffers whose writers need no order (`UNORDERED`); `uses_at`: what each thread of a core did with
# each of its circular buffers (`USE`); `blocks_at`: `n_blocks` of each L1 (`BLOCK`), the first of which begins `lead` bytes before
# it
SHADOW = _record(
    "buffers_at configured_at threads_at writes_at cores_at line other other_line other_cycle "
    "data l1_at dram_at dst_at origins_at n_origins semaphores_at semaphore_base "
    "n_cores clocks_at clock_bytes cells_at dram_cells_at ends_at steps_at words_at n_words signals_at versions "
    "unordered_at n_unordered uses_at blocks_at n_blocks lead"
)
# A circular buffer of a core.  `waited`: pages that its consumer has waited for and not popped; `polled`: that its producer
# has asked for with cb_pages_reservable_at_back; `used`: some thread has reserved, pushed, waited or popped; `tensor`: it lies
# on an L1 buffer of the host; `producer`, `consumer`: the thread + 1 that pushes, that pops, SEVERAL when there are more;
# `early`: the thread + 1 that unpacked from it before anybody used it, at `early_line`, up to `early_tile`; `pushes`, `pops`:
# how often (`END`); `waiter`: as `consumer`, that waits
BUFFER = _record("waited polled used tensor producer consumer early early_line early_tile pushes pops waiter")
SEVERAL = 1 << 32
# What a thread did with a circular buffer: pages it has pushed and popped; pages it waited for last, 0 once that is over, and
# its clock then; where it did something last
USE = _record("pushed popped waits clock line")
# `seen`: operations of the thread at the last look; `n_writes`: entries of its list of writes; `dram_at`, `n_dram`: the DRAM
# buffers that its program can know (`DRAM_BUFFER`); `named_at`: for each, whether an argument lies in it (1) or is its address (2);
# `l1_at`, `n_l1`, `l1_named_at`, `l1_names`: the same of L1 buffers;
# `read_line`: of the last read; `clock`: counts what may order others behind the thread, `first`: at its start, `ended`: at its
# last push or pop; `version`: changes with what it knows of other cores, `merged_at`: for each thread of its core, the version
# that it has taken over; `waits`: operation that orders it behind others once it is over, 0 for none, with arguments;
# `polls_at`: for each row of its lines, whether loads there poll; `reads_at`: of an unpack thread, bytes and moment of some reads;
# `atomic_line`: of the last increment; `hides`: what its program's queue does not know at the start is another queue's, between
# the clocks at `order_at` and those at `start_at`, 0: there is no such thing; `suspects_at`:
# `n_suspects` generators that do not fit (`SUSPECT`)
THREAD = _record(
    "seen n_writes dram_at n_dram named_at names l1_at n_l1 l1_named_at l1_names read_line "
    "clock first ended version merged_at waits waits_a waits_b waits_c polls_at reads_at atomic_line hides order_at start_at "
    "suspects_at n_suspects"
)
# A NoC write whose source has not been given free: not all of it has arrived, and nobody has waited for it.
# `start`, `end`: L1 addresses, NO_SOURCE for words that a call carries itself; `packets`: those that have not arrived; `line`:
# of the call; `state`: of its bytes; `free`: LEFT or THERE, when its thread has waited for that; `target`: tile, -1 for those of
# the rectangle `area` (`area_of`); `unwritten`: with a state of several kinds, what becomes of bytes that nobody has written
WRITE = _record("start end packets noc trid posted line state free target area unwritten")
NO_SOURCE, TOLD = -1, -1  # TOLD, an area: a word behind it on its NoC tells of it, so later signals need not
LEFT, THERE = 1, 2
MAX_WRITES = 64  # of a thread; the oldest is forgotten
# What a core's compute threads work on: states of the operands unpacked last, and of those in the two source banks; what the
# threads are set up for (`tensim.sim.cores.tensix.initialisation`), formats plus 1 of both operands and the result, 0: unknown;
# `untilizes`: the unpackers have been set up to untilize, so that tiles may come to the packer in that order; `constants`:
# the vector function for which the vector unit has constants (`vector_code`); `unpacked`, `computed`, `committed`, `released`,
# `mailed_...` (a word in a mailbox, by sender): clocks of its threads at the last such operation
CORE = _record(
    "a b token0_a token0_b token1_a token1_b unpack_mode math_mode pack_mode format_a format_b format_out untilizes constants "
    "unpacked computed committed released mailed_0 mailed_1 mailed_2"
)
# Where a thread used memory that nobody wrote: `kind` and `address` as in `tensim.sim.cores.checks.memory`
ORIGIN = _record("thread line line_base kind address cycle")
GRANULE = 16  # bytes that share a state of memory (`tensim.sim.cores.checks.memory`)
UNWRITTEN, WRITTEN, IN_PIECES, LEFT_OVER = range(4)
FIRST_ORIGIN, MAX_ORIGINS = 4, 252
MIXED = -1  # of several states
# What was not written: L1 that was unpacked (its address), a tile of Dst (its index), L1 that a NoC write took (its address),
# L1 of a core and DRAM that a NoC read took: `tensim.sim.cores.checks.memory.place_of`
L1_BYTES, DST_TILE, L1_SENT, L1_READ, DRAM_READ = range(5)
PLACE_SHIFT = 40  # of the number of a core or bank, above the address in it
# A DRAM buffer by its place in every bank: `stride` of its pages, `pages` of them over `banks` banks (0: sharded)
DRAM_BUFFER = _record("start end stride pages banks")
# What a data-movement thread did when its clock stood somewhere: when, and its row of the line table
STEP = _record("cycle line")
MAX_STEPS = 256  # of a thread; older ones are forgotten
# Who touched a cell, 64 bytes of L1 or 64 units of DRAM, last: clock << 32 | row of its lines << 16 | lane of the clocks; a bit
# per unit; when
CELL = np.dtype(
    [(name, np.int64) for name in "writer written reader read".split()]
    + [("written_at", np.int32), ("read_at", np.int32)],
    align=True,
)
CELL_SHIFT = 6
# 2 KiB of L1, a tile of 16 bits: who wrote or read all of it at once, which stands here then and not in its cells; 0: what stands
# in the cells, which say nothing as long as `in_cells` is 0
BLOCK = np.dtype(
    [(name, np.int64) for name in "writer reader in_cells".split()] + [("written_at", np.int32), ("read_at", np.int32)],
    align=True,
)
BLOCK_SHIFT = 11
CELL_UNITS = 1 << CELL_SHIFT  # a bit for each in a word
DRAM_UNIT_SHIFT = 4  # 16 bytes: transfers with DRAM are aligned to no less
MAX_READS = 128  # of a thread; a power of two
LANES = 7  # clocks of a core: of its threads, and of what its two data-movement threads have sent to the NoC
MAX_WORDS = 1 << 10
# A push or pop of a circular buffer: pages up to then, the thread and its clock
END = _record("pages thread clock")
MAX_ENDS = 16  # pushes, and as many pops, of a buffer; older ones are forgotten
# An L1 buffer by its place in every worker's L1; `held_at`: for each worker, bytes of the pages that it holds
L1_BUFFER = _record("start end held_at")
# A buffer whose host says that nobody looks at what several threads write there, by its place in every bank or L1
UNORDERED = _record("in_dram start end")
# An address generator that the kernel's text makes and that does not fit the buffer at its base: where its pages would lie (every
# `stride` bytes from `start` on, in each bank of DRAM or each L1), and the fault of a transfer there with its values
SUSPECT = _record("in_dram start end stride code a c")
CONFIGURED = 1 + N_CIRCULAR_BUFFERS  # words of a core's list of circular buffers: their number, their indices

shadow_table, buffer_table, thread_table, write_table, dram_table, words_table, use_table, suspect_table = map(
    table, (SHADOW, BUFFER, THREAD, WRITE, DRAM_BUFFER, np.dtype(np.int64), USE, SUSPECT)
)
core_table, origin_table, step_table, cell_table, end_table = map(table, (CORE, ORIGIN, STEP, CELL, END))
block_table = table(BLOCK)
clock_table, l1_buffer_table, unordered_table = table(np.dtype(np.int32)), table(L1_BUFFER), table(UNORDERED)


@compiled(inline="always")
def shadow_of(m):
    return shadow_table(m.shadow_at)[0]


@compiled(inline="always")
def worker_at(m, s, tile):
    """Number of the worker on a tile, -1 where none is.  A router of the fabric is none: what lies there is not followed."""
    t = tiles_of(m)[tile]
    return t.index if t.kind == TILE_WORKER and t.index < s.n_cores else -1


@compiled(inline="always")
def buffer_of(s, core, index):
    """The shadow of a circular buffer."""
    return buffer_table(s.buffers_at)[core * N_CIRCULAR_BUFFERS + index]


@compiled(inline="always")
def use_of(s, core, index, slot):
    """What a thread of a core did with a circular buffer."""
    return use_table(s.uses_at)[(core * N_CIRCULAR_BUFFERS + index) * THREADS_PER_CORE + slot]


@compiled(inline="always")
def configured_of(s, core):
    """A core's list of circular buffers: their number, then their indices."""
    return words_table(s.configured_at + 8 * CONFIGURED * core)


@compiled(inline="always")
def core_of(s, core):
    """The shadow of a core."""
    return core_table(s.cores_at)[core]


@compiled(inline="always")
def thread_of(s, thread):
    """The shadow of a thread."""
    return thread_table(s.threads_at)[thread]


@compiled(inline="always")
def writes_of(s, thread):
    """A thread's list of writes."""
    return write_table(s.writes_at + thread * MAX_WRITES * WRITE_BYTES)


WRITE_BYTES = WRITE.itemsize
