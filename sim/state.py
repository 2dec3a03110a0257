"""The state of one chip as data: records that the compiled engine reads and writes.

`MACHINE` is one record of scalars: the clock, the free lists, every timing parameter, and the host addresses of the
arrays.  Compiled functions take that record alone and look at an array through a view (`threads_of(m)[i]`), so their
compile time does not grow with the state; a call from Python passes the record's address.
"""

import numpy as np

from tensim.sim.dram.channel import BANK_DTYPE, CHANNEL_DTYPE, DRAM_PARAMS_DTYPE
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.event_heap import make_order, push
from tensim.sim.engine.limits import N_CIRCULAR_BUFFERS
from tensim.sim.engine.memory import floats_at, in_cache_lines
from tensim.sim.engine.tables import table
from tensim.sim.noc.packet_state import LINK_DTYPE, NOC_PARAMS_DTYPE, PACKET_DTYPE, VC_DTYPE

# --- why a thread is not running (column of the stall table)
WAIT_CB_FRONT = 0  # + circular-buffer index
WAIT_CB_BACK = N_CIRCULAR_BUFFERS  # + circular-buffer index
WAIT_READ_BARRIER = 2 * N_CIRCULAR_BUFFERS
WAIT_WRITE_BARRIER = 65
WAIT_FLUSH = 66
WAIT_ATOMIC_BARRIER = 67
WAIT_SEMAPHORE = 68
WAIT_DST_FREE = 69  # tile_regs_acquire: the pack thread still holds every section
WAIT_DST_READY = 70  # tile_regs_wait: the math thread has not committed
WAIT_SOURCE_FREE = 71  # unpack: both source banks are full
WAIT_SOURCE_READY = 72  # math: no source bank is full
WAIT_NOC_ISSUE = 73  # a command buffer or the NIU is busy with an earlier packet
WAIT_COPROCESSOR = 74  # a compute thread at the instruction level: the coprocessor, or another of its threads
WAIT_MAILBOX = 75  # a compute thread: a word from another one, or room for one to it
WAIT_NONE = 79
N_REASONS = 80
N_INSTRUCTION_WORDS = 128  # (unit, cycles) of up to 64 coprocessor instructions
FIFO_ENTRIES = 64  # calls of a compute thread whose end is remembered: (end cycle, instructions pushed so far)
UNIT_SLOTS = 8  # execution units of a core's coprocessor

# --- kinds of log entries beyond the stall reasons; `line` holds the bytes
LOG_DRAM = 1000  # + bank
LOG_NOC = 2000  # + noc
# + noc: from issue to completion; `operation`: kind of transaction, `target`: tile, or tiles + DRAM bank
LOG_TRANSFER = 3000
# + index of a circular buffer; `line`: pages in it from now on, `target`: +1 after a push, -1 after a pop
LOG_LEVEL = 4000
LOG_ZONE_BEGIN, LOG_ZONE_END = 5000, 5001  # `line`: number of the zone in its kernel
LOG_LINK = 5500  # a packet on a router's link; `target`: its sender channel
LOG_UNIT = 6000  # + unit of a tile's coprocessor at the instruction level; `thread`: whose instruction; `operation`: its opcode

# --- thread states
IDLE, RUNNING, PARKED, ENDED = 0, 1, 2, 3
ROUTING = 4  # no kernel's: it stands for the router of an Ethernet tile, whose writes bear its number

EXACT = 2  # data_on with numerics=exact; 1 with fast, 0 with off

# --- why the engine returned; STOP_TEAM: other threads could help with tile arithmetic
RUNNING_ON = -1  # `stop` while the engine runs
STOP_LIMIT, STOP_LAUNCH_DONE, STOP_FUEL, STOP_MEMORY, STOP_ERROR, STOP_EMPTY, STOP_LOG, STOP_TEAM = range(8)

# --- a thread's NoC bookkeeping, in words: the counters of each NoC, then saved command-buffer states
N_TRIDS = 16
READ_BUFFER, WRITE_BUFFER, WORD_BUFFER, ATOMIC_BUFFER = range(4)
NOC_COUNTERS = np.dtype(
    [(name, np.int64) for name in (
        "reads_out writes_out atomics_out "  # requests whose response has not come
        "write_flush_at posted_flush_at "  # cycle from which the tails of all writes have left
        "padding "
        "writes_unsent posted_unsent"  # writes whose tail has not left yet
    ).split()]
    + [
        ("command_free", np.int64, 4),  # cycle from which a command buffer, READ_BUFFER to ATOMIC_BUFFER, is free
        ("niu_free", np.int64),  # from which the NIU takes the next request: behind the one before and, in packets, multicasts
        ("padding_behind", np.int64, 3),
        ("trid_reads", np.int64, N_TRIDS),  # as reads_out, by transaction id
        ("trid_writes", np.int64, N_TRIDS),
        ("trid_flush_at", np.int64, N_TRIDS),
        ("trid_unsent", np.int64, N_TRIDS),  # as writes_unsent
    ]
)  # fmt: skip
SAVED_CALL = np.dtype([(name, np.int64) for name in "address size posted vc trid".split()])  # for calls `with_state`
# A read's destination until its barrier
OPEN_READ = np.dtype([(name, np.int64) for name in "begin end noc trid".split()])
MAX_OPEN_READS = 24
# What a thread knows of its requests: NOC_COUNTERS[2] by NoC, SAVED_CALL[2, 2] by NoC and command buffer (READ_BUFFER or
# WRITE_BUFFER), OPEN_READ[MAX_OPEN_READS], in whole cache lines
SAVED_CALLS = 2 * NOC_COUNTERS.itemsize
OPEN_READS = SAVED_CALLS + 2 * 2 * SAVED_CALL.itemsize
NOC_WORDS = -(-(OPEN_READS + MAX_OPEN_READS * OPEN_READ.itemsize) // 64) * 8
NOC_BYTES, NOC_COUNTER_BYTES, SAVED_CALL_BYTES = 8 * NOC_WORDS, NOC_COUNTERS.itemsize, SAVED_CALL.itemsize

THREAD = np.dtype(
    [(name, np.int64) for name in (
        "function frame context core slot launch state operation phase step count event_at in_event_heap "
        "wait wait_a wait_b wait_c wait_since line line_base first_line n_lines sequence busy started ended "
        "operations fraction role reads_open issued issue_busy pushed drained fifo_head attempts "
        "load_1 load_2 load_3 load_4 store_1 store_2 store_3 store_4 stored_at riscv began executes woken_at heap_at"
    ).split()],
    align=True,
)  # fmt: skip

MAILBOX_ENTRIES = 4
# Words from one compute thread of a core to another: [core][receiver][sender]
MAILBOX = np.dtype([("head", np.int64), ("count", np.int64), ("words", np.int64, MAILBOX_ENTRIES)])
TO_READ, TO_WRITE = range(2)  # why a thread waits for one

CORE = in_cache_lines(
    [(name, np.int64) for name in (
        "tile x y fidelity_phases fp32_dest sections capacity approx pack_relu pack_threshold l1_accumulate "
        "src_started src_filled src_taken src_released src_complete_0 src_complete_1 src_passed_by "
        "dst_acquired dst_committed dst_released "
        "fresh semaphore_waiters linked_noc0 linked_noc1 fpu_busy sfpu_busy source_rows flops products product_calls "
        "product_tiles unpack_hold "
        "bank_a bank_b token0_a token0_b token1_a token1_b unpack_to_dst pack_precise "
        "port0_loads port1_loads port0_stores port1_stores port0_begun port1_begun dst_terms dst_rounded long_sums "
        "sensitive_functions wide_products router_event other_tiles"
    ).split()]
)  # fmt: skip

# A tile of the chip, y * width + x.  `kind`: 0 for neither worker nor DRAM; `index`: of the worker core or the first DRAM bank
CHIP_TILE = np.dtype([(name, np.int64) for name in "kind index open_writes".split()], align=True)
TILE_WORKER, TILE_DRAM = 1, 2

TRANSACTION = np.dtype(
    [(name, np.int64) for name in (
        "kind stage thread noc source target address local size trid posted staging value key next_open previous_open issued"
    ).split()],
    align=True,
)  # fmt: skip
READ, WRITE, ATOMIC, INLINE = 0, 1, 2, 3

LAUNCH = np.dtype([(name, np.int64) for name in "live started ended".split()], align=True)
# What a thread did: cycles at work (`issue`: of them, the RISC-V core of a compute thread), between start and end, of its
# longest program; operations; waits by reason.
WORK = np.dtype(
    [(name, np.int64) for name in "busy issue time longest operations".split()] + [("stalls", np.int64, N_REASONS)],
    align=True,
)
# What a thread moved over the NoC: transfers, their bytes, cycles from issue to completion, by the columns below; read
# barriers and write barriers; read packets under way and since when any is, cycles with any under way; 1 + the thread that
# last woke it from a semaphore; of its read barriers, only each `barrier_period`-th waits (experiments without data), 0: all;
# ONLY_FLUSHED: all do, and its write barriers wait until writes have left, not until they have arrived
ONLY_FLUSHED = -1
TRAFFIC = np.dtype(
    [(name, np.int64, 4) for name in "transfers bytes cycles".split()]
    + [
        (name, np.int64)
        for name in "read_barriers write_barriers reads_out reading_since reading woken_by barrier_period".split()
    ],
    align=True,
)
DRAM_READS, L1_READS, DRAM_WRITES, L1_WRITES = range(4)
# `line_base`: of the kernel that `line` belongs to
LOG = np.dtype(
    [(name, np.int64) for name in "thread kind start end line operation line_base target".split()], align=True
)
# A call of a data-movement thread (`tensim.sim.cores.noc_record`)
NOC_CALL = np.dtype(
    [(name, np.int64) for name in "thread operation moment time".split()] + [("arguments", np.int64, 7)], align=True
)

_ADDRESSES = (
    "threads cores circular_buffers tiles links vcs ports channels banks transactions packets event_heap stalls lines noc_words "
    "log launches "
    "staging staging_free staging_uses dram_chunks spare_chunks noc_params dram_params receivers workers_mask src_a src_b dst "
    "noc_columns noc_rows scratch staging_known l1_known "
    "done sfpu_cycles l1 noc_calls traffic touched semaphore_writers mailboxes "
    "instruction_cycles unit_free fifo flits flit_model fabric fabric_model self prints checker shadow oddities"
).split()
# `knows`: with numerics off, whether a word above the reserved L1 is known (`tensim.sim.engine.known_words`)
_COUNTERS = (
    "now event_heap_size event_heap_capacity n_transactions free_transaction transactions_used n_tiles n_channels "
    "n_done log_on n_log log_capacity staging_left staging_bytes n_spare chunk_bytes chunks_per_bank l1_size "
    "bank_bytes dram_tile_bytes data_on grid_width flit_bytes max_packet max_cycles stop error error_thread error_a error_b "
    "error_c reserved_end turned_corners l1_congruence dram_read_congruence dram_write_congruence operations "
    "n_source_words n_dst_words trace_start record_on n_noc_calls noc_calls_capacity "
    "limit l1_posted instructions touched_shift touched_words first_reads semaphore_base n_prints prints_room user_base "
    "n_oddities n_workers knows"
).split()

# What other threads read while the event loop runs: behind what it writes all the time
_QUEUES = (
    "operations_at queues_at source_formats_at source_uses_at ready_at team_at run_at queue_room patience"
).split()

# Timing parameters: field of the machine record -> (dotted key of the architecture YAML, scale).
# Scale 1024 keeps fractional cycles as fixed point.
PARAMETERS = {
    "issue_read": ("riscv.issue.read", 1),
    "issue_read_overlap": ("riscv.issue.read_overlap", 1),
    "issue_read_stateful": ("riscv.issue.read_stateful", 1),
    "issue_read_stateful_overlap": ("riscv.issue.read_stateful_overlap", 1),
    "issue_read_one_packet": ("riscv.issue.read_one_packet", 1),
    "issue_read_dram": ("riscv.issue.read_dram", 1),
    "issue_read_dram_overlap": ("riscv.issue.read_dram_overlap", 1),
    "issue_read_page": ("riscv.issue.read_page", 1),
    "issue_write": ("riscv.issue.write", 1),
    "issue_write_stateful": ("riscv.issue.write_stateful", 1),
    "issue_write_one_packet": ("riscv.issue.write_one_packet", 1),
    "issue_write_page": ("riscv.issue.write_page", 1),
    "issue_multicast": ("riscv.issue.multicast", 1),
    "issue_inline_write": ("riscv.issue.inline_write", 1),
    "issue_atomic": ("riscv.issue.atomic", 1),
    "issue_set_state": ("riscv.issue.set_state", 1),
    "multicast_sent": ("noc.multicast_sent_cycles", 1),
    "write_sent": ("noc.write_sent_cycles", 1),
    "backoff_cycles": ("noc.backoff_cycles", 1),
    "backoff_doublings": ("noc.backoff_doublings", 1),
    "backoff_seed": ("noc.backoff_seed", 1),
    "barrier_poll": ("riscv.issue.barrier_poll", 1),
    "timestamp": ("riscv.issue.timestamp", 1),
    "semaphore_poll": ("riscv.issue.semaphore_poll", 1),
    "cb_call": ("riscv.issue.cb_call", 1),
    "alu": ("riscv.alu", 1),
    "branch": ("riscv.branch", 1),
    "mul": ("riscv.mul", 1),
    "mul_use": ("riscv.mul_use", 1),
    "division_short": ("riscv.division.short", 1),
    "division_base": ("riscv.division.base", 1),
    "division_bits": ("riscv.division.bits", 1),
    "division_longest": ("riscv.division.longest", 1),
    "local_load": ("riscv.local_load", 1),
    "mailbox_load": ("riscv.mailbox_load", 1),
    "fetch_miss": ("riscv.fetch_miss", 1),
    "l1_load": ("riscv.l1_load", 1),
    "l1_store": ("riscv.l1_store", 1024),
    "l1_store_delay": ("riscv.l1_store_delay", 1),
    "store_merges": ("riscv.store_merges", 1),
    "l1_noc_latency": ("l1.noc_access_latency", 1),
    "l1_noc_write_latency": ("l1.noc_write_latency", 1),
    "unpack_bytes": ("tensix.unpack.bytes_per_cycle", 1),
    "unpack_matmul_bytes": ("tensix.unpack.matmul_bytes_per_cycle", 1),
    "unpack_b_bytes": ("tensix.unpack.src_b_bytes_per_cycle", 1),
    "unpack_datums": ("tensix.unpack.datums_per_cycle", 1),
    "unpack_overhead": ("tensix.unpack.tile_overhead", 1024),
    "unpack_matmul_overhead": ("tensix.unpack.matmul_overhead", 1024),
    "unpack_joint_bytes": ("tensix.unpack.joint_bytes_per_cycle", 1),
    "unpack_transpose": ("tensix.unpack.transpose_extra", 1024),
    "mvmul_cycles": ("tensix.math.mvmul_cycles", 1024),
    "mvmuls_per_tile": ("tensix.math.mvmuls_per_tile", 1),
    "math_overhead": ("tensix.math.call_overhead", 1024),
    "math_block_overhead": ("tensix.math.block_overhead", 1024),
    "dst_hazard": ("tensix.math.dst_hazard", 1),
    "eltwise_instructions": ("tensix.math.eltwise_instructions", 1),
    "eltwise_overhead": ("tensix.math.eltwise_overhead", 1024),
    "copy_instructions": ("tensix.math.copy_instructions", 1),
    "lone_bit_quirk": ("tensix.math.lone_bit_quirk", 1),
    "moves_by_src_b": ("tensix.math.moves_by_src_b", 1),
    "copy_overhead": ("tensix.math.copy_overhead", 1024),
    "dest_reuse_cycles": ("tensix.math.dest_reuse", 1024),
    "reduce_overhead": ("tensix.math.reduce_overhead", 1024),
    "reduce_max_row": ("tensix.math.reduce_max_row", 1024),
    "reduce_scalar": ("tensix.math.reduce_scalar", 1024),
    "reduce_wide_scalar": ("tensix.math.reduce_wide_scalar", 1024),
    "unpack_pair_bytes": ("tensix.unpack.pair_bytes_per_cycle", 1),
    "unpack_pair_overhead": ("tensix.unpack.pair_overhead", 1024),
    "unpack_tilize_bytes": ("tensix.unpack.tilize_bytes_per_cycle", 1),
    "unpack_bank_period": ("tensix.unpack.bank_period", 1),
    "unpack_conflict_percent": ("tensix.unpack.bank_conflict_factor", 100),
    "pack_untilize": ("tensix.pack.untilize_tile", 1024),
    "pack_untilize_call": ("tensix.pack.untilize_call", 1024),
    "issue_unpack_pair": ("tensix.issue.unpack_pair", 1),
    "reduce_wide_row": ("tensix.math.reduce_wide_row", 1024),
    "reduce_row_groups": ("tensix.math.reduce_row_groups", 1),
    "sfpu_reduce_row": ("tensix.sfpu_reduce.row", 1),
    "sfpu_reduce_col": ("tensix.sfpu_reduce.col", 1),
    "sfpu_reduce_scalar": ("tensix.sfpu_reduce.scalar", 1),
    "transpose_extra": ("tensix.math.transpose_extra", 1),
    "pack_bytes": ("tensix.pack.bytes_per_cycle", 1),
    "pack_minimum": ("tensix.pack.minimum_cycles", 1),
    "pack_overhead": ("tensix.pack.tile_overhead", 1024),
    "pack_unpack_hold": ("tensix.pack.unpack_hold", 1024),
    "pack_l1_acc_percent": ("tensix.pack.l1_accumulate_factor", 100),
    "pack_l1_shared_percent": ("tensix.pack.l1_accumulate_shared", 100),
    "init_unpack": ("tensix.init.unpack", 1),
    "init_math": ("tensix.init.math", 1),
    "init_pack": ("tensix.init.pack", 1),
    "short_init_unpack": ("tensix.short_init.unpack", 1),
    "short_init_math": ("tensix.short_init.math", 1),
    "short_init_pack": ("tensix.short_init.pack", 1),
    "pack_mode_cycles": ("tensix.pack.mode_change", 1),
    "reconfig_cycles": ("tensix.reconfig", 1),
    "issue_unpack": ("tensix.issue.unpack", 1),
    "issue_math": ("tensix.issue.math", 1),
    "issue_pack": ("tensix.issue.pack", 1),
    "issue_pack_more": ("tensix.issue.pack_more", 1),
    "issue_sync": ("tensix.issue.sync", 1),
    "fifo_unpack": ("tensix.fifo.unpack", 1),
    "fifo_math": ("tensix.fifo.math", 1),
    "fifo_pack": ("tensix.fifo.pack", 1),
    "call_instructions": ("tensix.fifo.call_instructions", 1),
    "reuse_instructions": ("tensix.fifo.reuse_instructions", 1),
    "cb_visible": ("tensix.cb_visible", 1),
    "sync_cycles": ("tensix.sync", 1),
    "sync_lag": ("tensix.sync_lag", 1),
}

# `flit_model`: the compiled function that moves flits (`tensim.sim.cores.niu.flits`), 0 with the packet model; `fabric_model`:
# the one that lets routers act (`tensim.sim.cores.fabric`), 0 without, and `fabric` their state; `checker`: the
# one that looks for mistakes of kernels (`tensim.sim.cores.checks`), 0 without checks, and `shadow` the record of its state;
# `team`: of threads that take part in tile arithmetic (`tensim.sim.cores.tensix.queues`), 0 without, and `run`
# the engine's loop, which other objects of machine code call then
MACHINE = np.dtype(
    [(name, np.int64) for name in [*(f"{name}_at" for name in _ADDRESSES), *_COUNTERS, *PARAMETERS, *_QUEUES]],
    align=True,
)


WORD = np.dtype(np.int64)
# A circular buffer on a core.  Kernels read it, too: the columns CB_ of `tensim.sim.cores.context` say what its words mean.
CIRCULAR_BUFFER = np.dtype(
    [(name, np.int64) for name in (
        "pages page_size base size format write_ptr read_ptr received acked tile_size tile_hw packed reserved faces "
        "front_waiters "  # the parked consumers, a bit per slot of the core
        "back_waiters "  # the parked producers
        "pushed_at pushed "  # cycle and pages of the newest push, so that a core that looks late knows since when it could go on
        "popped_at popped "  # and of the newest pop
        "level_at"
    ).split()]
    + [("level_cycles", np.int64, 9)]
    + [(name, np.int64) for name in "level_scale tiles_packed producer consumer".split()]
    + [("own_pointers", np.int64, 4), ("pack_received", np.int64), ("unpack_acked", np.int64)],
)  # fmt: skip
CIRCULAR_BUFFER_BYTES = CIRCULAR_BUFFER.itemsize


# --- views: the machine's arrays inside compiled code, as tables or, where loops over data want vectors, as numpy arrays
machine_table = table(MACHINE)
thread_table, core_table, tile_table, transaction_table = map(table, (THREAD, CORE, CHIP_TILE, TRANSACTION))
launch_table, log_table, noc_call_table, word_table = map(table, (LAUNCH, LOG, NOC_CALL, WORD))
traffic_table, circular_buffer_table, noc_counter_table = map(table, (TRAFFIC, CIRCULAR_BUFFER, NOC_COUNTERS))
saved_call_table, open_read_table, mailbox_table = map(table, (SAVED_CALL, OPEN_READ, MAILBOX))
link_table, vc_table, packet_table = map(table, (LINK_DTYPE, VC_DTYPE, PACKET_DTYPE))
noc_params_table = table(NOC_PARAMS_DTYPE)
channel_table, bank_table, dram_params_table = map(table, (CHANNEL_DTYPE, BANK_DTYPE, DRAM_PARAMS_DTYPE))


@compiled(inline="always")
def threads_of(m):
    return thread_table(m.threads_at)


@compiled(inline="always")
def cores_of(m):
    return core_table(m.cores_at)


@compiled(inline="always")
def tiles_of(m):
    return tile_table(m.tiles_at)


@compiled(inline="always")
def links_of(m):
    return link_table(m.links_at)


@compiled(inline="always")
def vcs_of(m):
    return vc_table(m.vcs_at)


@compiled(inline="always")
def channels_of(m):
    return channel_table(m.channels_at)


@compiled(inline="always")
def banks_of(m):
    return bank_table(m.banks_at)


@compiled(inline="always")
def noc_params_of(m):
    return noc_params_table(m.noc_params_at)


@compiled(inline="always")
def dram_params_of(m):
    return dram_params_table(m.dram_params_at)


@compiled(inline="always")
def transactions_of(m):
    return transaction_table(m.transactions_at)


@compiled(inline="always")
def packets_of(m):
    """The packet of each transaction, by the transaction's index: a transaction has one on its way at a time."""
    return packet_table(m.packets_at)


@compiled(inline="always")
def ports_of(m):
    return word_table(m.ports_at)


@compiled(inline="always")
def launches_of(m):
    return launch_table(m.launches_at)


@compiled(inline="always")
def log_of(m):
    return log_table(m.log_at)


@compiled(inline="always")
def traffic_of(m):
    return traffic_table(m.traffic_at)


@compiled(inline="always")
def semaphore_writers_of(m):
    """1 + the last thread that changed each semaphore of each core: of another core, of its own."""
    return word_table(m.semaphore_writers_at)


@compiled(inline="always")
def mailboxes_of(m):
    return mailbox_table(m.mailboxes_at)


@compiled(inline="always")
def touched_of(m):
    return word_table(m.touched_at)


@compiled(inline="always")
def noc_calls_of(m):
    return noc_call_table(m.noc_calls_at)


@compiled(inline="always")
def event_heap_of(m):
    return word_table(m.event_heap_at)


@compiled(inline="always")
def schedule(m, time, key, event):
    """Put an event into the machine's heap."""
    m.event_heap_size = push(event_heap_of(m), m.event_heap_size, make_order(time, key), event)


@compiled()
def bank_of(m, tile, offset):
    """DRAM bank behind a DRAM tile for an offset in the tile's address space."""
    return tiles_of(m)[tile].index + offset // m.bank_bytes


@compiled(inline="always")
def circular_buffers_of(m):
    return circular_buffer_table(m.circular_buffers_at)


@compiled(inline="always")
def circular_buffer_words(m, row):
    """A circular buffer as words: whose pointer a thread moves depends on its slot."""
    return word_table(m.circular_buffers_at + CIRCULAR_BUFFER_BYTES * row)


@compiled(inline="always")
def stalls_of(m):
    return word_table(m.stalls_at)


@compiled(inline="always")
def lines_of(m):
    return word_table(m.lines_at)


@compiled(inline="always")
def noc_counters_of(m, thread, noc):
    """What a thread has under way on a NoC."""
    return noc_counter_table(m.noc_words_at + NOC_BYTES * thread + NOC_COUNTER_BYTES * noc)[0]


@compiled(inline="always")
def saved_call_of(m, thread, noc, buffer):
    """What a thread has set once for its calls `with_state` of READ_BUFFER or WRITE_BUFFER."""
    number = 2 * noc + buffer
    return saved_call_table(m.noc_words_at + NOC_BYTES * thread + SAVED_CALLS + SAVED_CALL_BYTES * number)[0]


@compiled(inline="always")
def open_reads_of(m, thread):
    """Where a thread's reads without a barrier go, the oldest first (`reads_open` of its record)."""
    return open_read_table(m.noc_words_at + NOC_BYTES * thread + OPEN_READS)


@compiled(inline="always")
def done_of(m):
    return word_table(m.done_at)


@compiled(inline="always")
def staging_free_of(m):
    return word_table(m.staging_free_at)


@compiled(inline="always")
def staging_uses_of(m):
    return word_table(m.staging_uses_at)


@compiled(inline="always")
def receivers_of(m):
    return word_table(m.receivers_at)


@compiled(inline="always")
def workers_mask_of(m):
    return word_table(m.workers_mask_at)


@compiled(inline="always")
def noc_columns_of(m):
    return word_table(m.noc_columns_at)


@compiled(inline="always")
def noc_rows_of(m):
    return word_table(m.noc_rows_at)


@compiled(inline="always")
def sfpu_cycles_of(m):
    return word_table(m.sfpu_cycles_at)


@compiled(inline="always")
def instruction_cycles_of(m):
    return word_table(m.instruction_cycles_at)


@compiled(inline="always")
def unit_free_of(m):
    return word_table(m.unit_free_at)


@compiled(inline="always")
def fifo_of(m):
    return word_table(m.fifo_at)


@compiled(inline="always")
def src_a_of(m):
    return floats_at(m.src_a_at, m.n_source_words)


@compiled(inline="always")
def src_b_of(m):
    return floats_at(m.src_b_at, m.n_source_words)


@compiled(inline="always")
def dst_of(m):
    return floats_at(m.dst_at, m.n_dst_words)
