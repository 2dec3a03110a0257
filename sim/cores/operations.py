"""The operation vocabulary: everything a kernel can ask of the machine.

A kernel thread posts one operation at a time in its context block (see `context.py`): an opcode and up to ten integer
arguments.  Kernel front ends produce these records; the machine models consume them; neither knows the other.
Arguments are listed behind each opcode in the order of the context words `ARG0...`.
"""

from collections.abc import Iterable
from enum import IntEnum

from tensim.sim.cores.slots import FIRST_COMPUTE_SLOT, MATH_SLOT, PACK_SLOT, UNPACK_SLOT


class Op(IntEnum):
    # --- any thread
    SPEND = 0  # nothing but the plain-code cycles carried by the record
    LOAD = 1  # address, bytes (1, 2, 4), signed -> value            a load from the core's own L1
    STORE = 2  # address, value, bytes                                a store to the core's own L1
    FAIL = 3  # message id                                            raise / failed assert in the kernel
    # --- circular buffers (data movement, unpack: wait/pop; data movement, pack: reserve/push)
    CB_RESERVE_BACK = 4  # cb, pages
    CB_PUSH_BACK = 5  # cb, pages
    CB_WAIT_FRONT = 6  # cb, pages
    CB_POP_FRONT = 7  # cb, pages
    CB_PAGES_RESERVABLE = 8  # cb, pages -> 0 or 1
    CB_PAGES_AVAILABLE = 9  # cb, pages -> 0 or 1
    # --- NoC (data movement).  issue: one of Issue; trid: -1 none, else 0..15
    NOC_READ = 10  # source NoC address, L1 destination, bytes, noc, trid, issue, vc (-1 default)
    NOC_WRITE = 11  # L1 source, destination NoC address, bytes, noc, trid, issue, posted, vc (-1 default)
    NOC_MULTICAST = 12  # L1 source, multicast address, bytes, destinations, linked, loopback, noc
    NOC_INLINE_WRITE = 13  # destination NoC address, value, byte enables (0xF), noc, posted, vc (-1 default)
    NOC_ATOMIC_INC = 14  # NoC address, increment, noc, posted, vc (-1 default)
    NOC_BARRIER = 15  # kind (Barrier), noc, trid
    NOC_SET_STATE = 16  # command buffer (0 read, 1 write), NoC address, bytes (0 unset), noc, posted, vc, trid
    NOC_READ_WITH_STATE = 17  # source offset (low 36 bits), L1 destination, bytes (0: from state), noc, trid, counted
    NOC_WRITE_WITH_STATE = 18  # L1 source, destination offset (low 36 bits), bytes (0: from state), noc, trid
    NOC_MULTICAST_INC = 19  # multicast address, increment, destinations, noc
    NOC_INC_ISSUED = 20  # reads, noc          counts reads that were issued with counted = 0
    RISCV_WAIT = 21  # cycles
    NOC_READS_ENDED = 25  # noc, trid -> 0 or 1
    TIMESTAMP = 24  # -> the wall-clock register: cycles since the chip's reset
    # --- semaphores
    SEM_WAIT = 22  # L1 address, value
    SEM_WAIT_MIN = 23  # L1 address, value
    # --- Dst synchronisation: ACQUIRE, COMMIT on MATH; WAIT, RELEASE on PACK
    DST_ACQUIRE = 30
    DST_COMMIT = 31
    DST_WAIT = 32
    DST_RELEASE = 33
    # --- unpack thread.  Every unpack delivers one token (a full SrcA/SrcB bank) per tile pair to the math thread
    UNPACK_A = 40  # cb, tile, transpose, tilize width in tiles (0: tile layout), tiles (tokens), bcast (Bcast)
    UNPACK_AB = 41  # cb0, cb1, tile0, tile1, bcast (Bcast), transpose, direction (Reduction)
    UNPACK_MATMUL = 42  # cb0, cb1, tile0, tile1, ct, rt, kt, transpose    ct*rt tokens, in0 tile0 + r*kt, in1 tile1 + c
    UNPACK_REUSE = 43  # cb, tile, reuse (Reuse)        one operand from L1, the other comes from Dst
    # --- math thread
    MATH_COPY = 50  # idst, bcast (Bcast; ROW: unary_bcast)
    MATH_BINARY = 51  # op (Binary), idst, bcast, accumulate, reuse
    MATH_MATMUL = 52  # idst, ct, rt                        Dst[idst + r*ct + c] += in0[r] @ in1[c]
    MATH_REDUCE = 53  # pool (Pool), dim (ReduceDim), idst
    SFPU_UNARY = 54  # function (see sfpu.py) + Approximation << FUNCTION_BITS, idst, p0, p1, p2 (32-bit patterns)
    SFPU_BINARY = 55  # function, idst0, idst1, odst, p0
    MATH_TRANSPOSE_DST = 56  # idst
    MATH_COPY_DST = 57  # idst from, idst to
    SFPU_TERNARY = 58  # function, idst0, idst1, idst2, odst, p0
    SFPU_REDUCE = 59  # pool (Pool), dim (ReduceDim), idst, data format      the tile in Dst itself
    # --- pack thread
    PACK = 60  # idst, cb, out tile (-1: next in order), tiles, untilize (full_ct in tiles, 0: tile layout), block_ct
    # --- configuration on any compute thread; charges the init or reconfigure cost
    CONFIG = 70  # register (Config), value
    TT_INSTRUCTION = 71  # instruction (Instruction), count      on any compute thread
    # --- words from one compute thread to another
    MAILBOX_WRITE = 72  # receiver (Mailbox), value
    MAILBOX_READ = 73  # sender (Mailbox) -> value
    # --- debugging
    ZONE_BEGIN = 80  # name id
    ZONE_END = 81  # name id
    PRINT = 82  # number of a text in the kernel, values
    PRINT_TILE = 83  # cb, tile, first row, end row, first column, end column, untilize
    PRINT_DST = 84  # idst      on the math thread


# Codes that belong together are contiguous
FIRST_NOC_CALL, LAST_NOC_CALL = Op.NOC_READ, Op.NOC_MULTICAST_INC
FIRST_DST_CALL, LAST_DST_CALL = Op.DST_ACQUIRE, Op.DST_RELEASE
FIRST_UNPACK, LAST_UNPACK = Op.UNPACK_A, Op.UNPACK_REUSE
FIRST_MATH, LAST_MATH = Op.MATH_COPY, Op.SFPU_REDUCE
FIRST_COMPUTE, LAST_COMPUTE = Op.DST_ACQUIRE, Op.MAILBOX_READ  # all that compute threads alone can post
OF_ONE_THREAD = {  # of a compute core's three
    UNPACK_SLOT: range(FIRST_UNPACK, LAST_UNPACK + 1),
    MATH_SLOT: (Op.DST_ACQUIRE, Op.DST_COMMIT, *range(FIRST_MATH, LAST_MATH + 1)),
    PACK_SLOT: (Op.DST_WAIT, Op.DST_RELEASE, Op.PACK),
}


def belongs(op, slot):
    """Whether a thread of the slot has the operation."""
    if slot < FIRST_COMPUTE_SLOT:
        return not FIRST_COMPUTE <= op <= LAST_COMPUTE
    if FIRST_NOC_CALL <= op <= LAST_NOC_CALL:
        return False
    return not any(op in theirs for other, theirs in OF_ONE_THREAD.items() if other != slot)


class Barrier(IntEnum):
    READ = 0
    WRITE = 1
    WRITES_FLUSHED = 2
    POSTED_WRITES_FLUSHED = 3
    ATOMIC = 4
    FULL = 5
    READ_TRID = 6
    WRITE_TRID = 7
    WRITE_FLUSHED_TRID = 8


class SavedBuffer(IntEnum):
    """Command buffers that a thread sets once for its calls `with_state`; numbers as in `tensim.sim.state`."""

    READ = 0
    WRITE = 1


class Issue(IntEnum):
    """How a NoC call is written; decides its RISC-V issue cost."""

    PLAIN = 0  # noc_async_read / noc_async_write
    ONE_PACKET = 1
    STATEFUL = 2
    PAGE = 3  # through an address generator or tensor accessor (address arithmetic included)


class Bcast(IntEnum):
    NONE = 0
    COL = 1
    ROW = 2
    SCALAR = 3


class Binary(IntEnum):
    ADD = 0
    SUB = 1
    MUL = 2


class Reuse(IntEnum):
    NONE = 0
    DEST_TO_SRCA = 1
    DEST_TO_SRCB = 2


class Pool(IntEnum):
    SUM = 0
    AVG = 1
    MAX = 2
    MIN = 3  # the vector unit alone


class ReduceDim(IntEnum):
    ROW = 0  # result in column 0
    COL = 1  # result in row 0
    SCALAR = 2  # result in element 0, 0


class Reduction(IntEnum):
    """What two operands are unpacked for: the direction of a reduction, or none."""

    ROW, COL, SCALAR = ReduceDim.ROW, ReduceDim.COL, ReduceDim.SCALAR
    NONE = 3


class Mailbox(IntEnum):
    """A compute thread as the mailboxes count them (ThreadId)."""

    UNPACK = 0
    MATH = 1
    PACK = 2


class Approximation(IntEnum):
    """Which form of a vector-unit function is computed."""

    KERNEL = 0  # as the kernel's math_approx_mode says
    ACCURATE = 1
    APPROXIMATE = 2
    UNCLAMPED = 3  # approximate, without limiting large negative inputs: the exponential alone has it


# Tiles whose numbers lie where operations look for them: all four faces whole, or the two upper ones.  Tiles of other shapes are
# right where each number meets the one at its own place alone.
OPERATION_TILES = ((32, 32), (16, 32))


# What the arguments of compute operations may be, by their place; any other value stops the kernel
DOMAINS: dict[Op, dict[int, Iterable[IntEnum]]] = {
    Op.NOC_BARRIER: {0: Barrier},
    Op.NOC_SET_STATE: {0: SavedBuffer},
    Op.UNPACK_AB: {4: Bcast},
    Op.UNPACK_REUSE: {2: (Reuse.DEST_TO_SRCA, Reuse.DEST_TO_SRCB)},
    Op.MATH_COPY: {1: Bcast},
    Op.MATH_BINARY: {0: Binary, 2: Bcast, 4: Reuse},
    Op.MATH_REDUCE: {0: (Pool.SUM, Pool.AVG, Pool.MAX), 1: ReduceDim},
    Op.SFPU_REDUCE: {0: Pool, 1: ReduceDim},
    Op.MAILBOX_WRITE: {0: Mailbox},
    Op.MAILBOX_READ: {0: Mailbox},
}


def unknown_value(op, place, value):
    """What is wrong with an argument that is outside its domain."""
    members = list(DOMAINS[op][place])
    known = ", ".join(f"{member.name} ({member:d})" for member in members)
    return f"{op.name} has no {type(members[0]).__name__} {value}; it knows {known}"


FUNCTION_BITS = 8  # of the number of a unary function


class Config(IntEnum):
    INIT = 0  # a full *_init: unit configuration written from scratch
    SHORT_INIT = 1  # *_init_short and per-operation inits
    RECONFIG = 2  # reconfig_data_format*
    PACK_RELU = 3  # value: 0 off, 1 relu, 2 relu with minimum threshold, 3 with maximum
    PACK_L1_ACC = 4  # value: 0 or 1
    HW_STARTUP = 5
    SFPU_INIT = 6  # *_tile_init of a vector function


class Role(IntEnum):
    """Bit of a kernel thread; a compute kernel is instantiated three times with one bit each."""

    DATA_MOVEMENT = 1
    UNPACK = 2
    MATH = 4
    PACK = 8


# --- how wide the arguments of an operation are, in order: u unsigned, s signed, q 64 bits

ARGUMENTS = {
    Op.SPEND: "", Op.LOAD: "uuu", Op.STORE: "uuu", Op.FAIL: "u",
    Op.CB_RESERVE_BACK: "uu", Op.CB_PUSH_BACK: "uu", Op.CB_WAIT_FRONT: "uu", Op.CB_POP_FRONT: "uu",
    Op.CB_PAGES_RESERVABLE: "uu", Op.CB_PAGES_AVAILABLE: "uu",
    Op.NOC_READ: "quuusus", Op.NOC_WRITE: "uquusuus", Op.NOC_MULTICAST: "uquuuuu", Op.NOC_INLINE_WRITE: "quuuus",
    Op.NOC_ATOMIC_INC: "quuus", Op.NOC_BARRIER: "uus", Op.NOC_SET_STATE: "uquuuss", Op.NOC_READ_WITH_STATE: "quuusu",
    Op.NOC_WRITE_WITH_STATE: "uuuus", Op.NOC_MULTICAST_INC: "quuu", Op.NOC_INC_ISSUED: "uu", Op.RISCV_WAIT: "u",
    Op.TIMESTAMP: "", Op.NOC_READS_ENDED: "uu", Op.SEM_WAIT: "uu", Op.SEM_WAIT_MIN: "uu",
    Op.DST_ACQUIRE: "", Op.DST_COMMIT: "", Op.DST_WAIT: "", Op.DST_RELEASE: "",
    Op.UNPACK_A: "uuuuuu", Op.UNPACK_AB: "uuuuuuu", Op.UNPACK_MATMUL: "uuuuuuuu", Op.UNPACK_REUSE: "uuu",
    Op.MATH_COPY: "uu", Op.MATH_BINARY: "uuuuu", Op.MATH_MATMUL: "uuu", Op.MATH_REDUCE: "uuu",
    Op.SFPU_UNARY: "uuuuu", Op.SFPU_BINARY: "uuuuu", Op.MATH_TRANSPOSE_DST: "u", Op.MATH_COPY_DST: "uu",
    Op.SFPU_TERNARY: "uuuuuu", Op.SFPU_REDUCE: "uuuu", Op.PACK: "uusuuu", Op.CONFIG: "uu", Op.TT_INSTRUCTION: "uu",
    Op.MAILBOX_WRITE: "uu", Op.MAILBOX_READ: "u", Op.ZONE_BEGIN: "u", Op.ZONE_END: "u",
}  # fmt: skip
RESULTS = {
    Op.LOAD, Op.CB_PAGES_RESERVABLE, Op.CB_PAGES_AVAILABLE, Op.NOC_READS_ENDED, Op.TIMESTAMP, Op.MAILBOX_READ,
}  # fmt: skip

# --- what an operation keeps its thread busy for: parameters of an architecture

READ_COSTS = {
    Issue.PLAIN: "riscv.issue.read, riscv.issue.read_dram",
    Issue.ONE_PACKET: "riscv.issue.read_one_packet",
    Issue.PAGE: "riscv.issue.read_page",
}
WRITE_COSTS = {
    Issue.PLAIN: "riscv.issue.write",
    Issue.ONE_PACKET: "riscv.issue.write_one_packet",
    Issue.PAGE: "riscv.issue.write_page",
}
ISSUE_WORD = 5  # argument of NOC_READ and NOC_WRITE that holds the Issue
COSTS = {
    Op.STORE: "riscv.l1_store",
    Op.NOC_MULTICAST: "riscv.issue.multicast",
    Op.NOC_INLINE_WRITE: "riscv.issue.inline_write",
    Op.NOC_ATOMIC_INC: "riscv.issue.atomic",
    Op.NOC_MULTICAST_INC: "riscv.issue.atomic",
    Op.NOC_BARRIER: "riscv.issue.barrier_poll",
    Op.NOC_READS_ENDED: "riscv.issue.barrier_poll",
    Op.NOC_SET_STATE: "riscv.issue.set_state",
    Op.NOC_READ_WITH_STATE: "riscv.issue.read_stateful",
    Op.NOC_WRITE_WITH_STATE: "riscv.issue.write_stateful",
    Op.SEM_WAIT: "riscv.issue.semaphore_poll",
    Op.SEM_WAIT_MIN: "riscv.issue.semaphore_poll",
    Op.TIMESTAMP: "riscv.issue.timestamp",
    **dict.fromkeys((op for op in Op if op.name.startswith("CB_")), "riscv.issue.cb_call"),
    **dict.fromkeys((op for op in Op if op.name.startswith("DST_")), "tensix.issue.sync, tensix.sync"),
    Op.UNPACK_A: "tensix.issue.unpack, tensix.unpack",
    Op.UNPACK_REUSE: "tensix.issue.unpack, tensix.unpack",
    Op.UNPACK_MATMUL: "tensix.issue.unpack, tensix.unpack",
    Op.UNPACK_AB: "tensix.issue.unpack_pair, tensix.unpack",
    **dict.fromkeys((op for op in Op if op.name.startswith("MATH_")), "tensix.issue.math, tensix.math"),
    **dict.fromkeys((Op.SFPU_UNARY, Op.SFPU_BINARY, Op.SFPU_TERNARY), "tensix.issue.math, tensix.vector_costs"),
    Op.SFPU_REDUCE: "tensix.issue.math, tensix.sfpu_reduce",
    Op.PACK: "tensix.issue.pack, tensix.pack",
    Op.TT_INSTRUCTION: "tensix.instructions",
    Op.MAILBOX_WRITE: "riscv.alu",
    Op.MAILBOX_READ: "riscv.mailbox_load",
}
CONFIG_COSTS = {
    Config.INIT: "tensix.init",
    Config.SHORT_INIT: "tensix.short_init",
    Config.RECONFIG: "tensix.reconfig",
    Config.PACK_RELU: "tensix.reconfig",
    Config.PACK_L1_ACC: "tensix.pack.mode_change",
    Config.HW_STARTUP: "tensix.init",
    Config.SFPU_INIT: "tensix.vector_costs",
}
