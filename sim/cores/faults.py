"""What the compiled engine can refuse: codes it sets, and the words the user reads."""

from enum import IntEnum


class Fault(IntEnum):
    L1_RANGE = 1
    L1_RESERVED = 2
    DRAM_RANGE = 3
    UNKNOWN_TILE = 4
    ZERO_LENGTH = 5
    MISALIGNED = 6
    CB_MISSING = 7
    CB_TOO_MANY = 8
    CB_OVERRUN = 9
    CB_UNDERRUN = 10
    CB_STRADDLE = 11
    READ_BEFORE_BARRIER = 12
    UNORDERED_WRITERS = 13
    DST_INDEX = 14
    DST_NOT_ACQUIRED = 15
    KERNEL_RAISED = 16
    KERNEL_FAILED = 17
    INLINE_TO_DRAM = 18
    ATOMIC_NOT_L1 = 19
    MULTICAST_COUNT = 20
    MULTICAST_EMPTY = 21
    SEMAPHORE_RANGE = 22
    VC_RANGE = 23
    PACKET_TOO_LONG = 24
    PACK_UNRESERVED = 25
    UNKNOWN_OPERATION = 26
    TRID_RANGE = 27
    NOC_RANGE = 28
    TILE_OUTSIDE_CB = 29
    UNKNOWN_INSTRUCTION = 30
    LINKED_OPEN = 31
    PAGE_SIZE = 32
    TRACE_REGION = 33
    MULTICAST_INVERTED = 34
    LINKED_LEFT_OPEN = 35
    FORMAT_PAIR = 36
    UNKNOWN_FUNCTION = 37
    ILLEGAL_INSTRUCTION = 38
    JUMP_OUTSIDE = 39
    NO_MEMORY = 40
    MISALIGNED_ACCESS = 41
    STACK_OVERFLOW = 42
    CB_POINTER = 43
    DATA_NOT_KNOWN = 44
    ARGUMENT_UNSET = 45
    MULTICAST_TO_SENDER = 46
    LINKED_TO_SENDER = 47
    UNKNOWN_VALUE = 48
    INTEGER_OPERANDS = 49
    UNKNOWN_FORMAT = 50
    ACCUMULATED_FORMAT = 51
    ROWS_FORMAT = 52
    DIVISION_BY_ZERO = 53
    COPROCESSOR = 54
    COMPUTE_CORE = 55
    COPROCESSOR_LOST = 56
    FABRIC_HEADER = 57
    FABRIC_ROUTE = 58
    FABRIC_SLOT = 59
    FABRIC_PAYLOAD = 60
    TILE_SHAPE = 61


# The three values are error_a, error_b, error_c of the machine record.
MESSAGES = {
    Fault.FABRIC_HEADER: "wrong header of a fabric packet: send type {a}, {b} bytes of payload; types are 1 to 5 and a payload "
    "has at most {c} bytes",
    Fault.FABRIC_ROUTE: "the route {a:#x} of a fabric packet leads from here ({b}, 0 to 3: north, south, east, west) to where "
    "no router is ({c}; -1: it ends at no chip)",
    Fault.FABRIC_SLOT: "over-run of sender channel {a} of a router: {b} packets wait in {c} slots; wait for an empty slot before "
    "each",
    Fault.FABRIC_PAYLOAD: "a write of {a} bytes asked of a router; it writes 1 to {b}",
    Fault.L1_RANGE: "access outside L1: address {a:#x}, {b} bytes, of core {c}",
    Fault.L1_RESERVED: "write into the reserved firmware area of L1: address {a:#x}, {b} bytes, user memory starts at {c:#x}",
    Fault.DRAM_RANGE: "access outside DRAM bank {c}: offset {a:#x}, {b} bytes",
    Fault.UNKNOWN_TILE: "NoC address {a:#x} names tile x={b}, y={c}, which is neither a worker core nor a DRAM endpoint",
    Fault.ZERO_LENGTH: "NoC transfer of {b} bytes (address {a:#x})",
    Fault.MISALIGNED: "misaligned NoC transfer: source {a:#x} and destination {b:#x} differ modulo {c}",
    Fault.ARGUMENT_UNSET: "a runtime argument is read that was not set: word {a} of {b} unique and {c} common ones",
    Fault.CB_MISSING: "circular buffer {a} is not configured on this core",
    Fault.CB_TOO_MANY: "circular buffer {a}: {b} pages asked of a buffer that holds {c}",
    Fault.CB_OVERRUN: "circular buffer {a} over-run: push of {b} pages with {c} free",
    Fault.CB_UNDERRUN: "circular buffer {a} under-run: pop of {b} pages with {c} available",
    Fault.CB_STRADDLE: "circular buffer {a}: a block of {b} pages straddles the end of the buffer of {c} pages",
    Fault.READ_BEFORE_BARRIER: "L1 {a:#x} (+{b}) is used before the barrier of the NoC read that fills it from {c:#x} on",
    Fault.UNORDERED_WRITERS: "two writers without ordering: address {a:#x}, {b} bytes, also written by the transfer of thread {c}",
    Fault.DST_INDEX: "Dst tile index {a} beyond the capacity of {b} tiles",
    Fault.DST_NOT_ACQUIRED: "Dst used without tile_regs_acquire / tile_regs_wait",
    Fault.KERNEL_RAISED: "{message}",
    Fault.KERNEL_FAILED: "{message}",
    Fault.INLINE_TO_DRAM: "inline write to DRAM (NoC address {a:#x}); the chip allows L1 and registers only",
    Fault.ATOMIC_NOT_L1: "atomic on NoC address {a:#x}; the chip allows L1 only",
    Fault.MULTICAST_COUNT: "multicast to {b} cores, but num_dests says {a}",
    Fault.MULTICAST_EMPTY: "multicast rectangle without a worker core (address {a:#x})",
    Fault.MULTICAST_TO_SENDER: "multicast without loopback (address {a:#x}) to a rectangle in which the sender is the only worker "
    "core: nobody gets it",
    Fault.LINKED_TO_SENDER: "linked multicast to the sender alone (address {a:#x}): cores have hung behind it",
    Fault.SEMAPHORE_RANGE: "semaphore address {a:#x} is not a 4-byte aligned L1 address",
    Fault.PACKET_TOO_LONG: "one-packet call of {a} bytes; the largest packet is {b} bytes",
    Fault.PACK_UNRESERVED: "circular buffer {a}: pack to page {b} with {c} pages reserved",
    Fault.UNKNOWN_OPERATION: "unknown operation {a}",
    Fault.TRID_RANGE: "transaction id {a} is not in 0..15",
    Fault.NOC_RANGE: "NoC index {a} is not 0 or 1",
    Fault.VC_RANGE: "static virtual channel {a} of a request is not in 0..3; leave it out for the default one",
    Fault.TILE_OUTSIDE_CB: "circular buffer {a}: tile {b} lies beyond its end ({c} pages)",
    Fault.LINKED_OPEN: "NoC address {a:#x}: a linked multicast of this core is open to other cores; "
    "only a multicast to the same rectangle may follow it",
    Fault.LINKED_LEFT_OPEN: "the kernel ends with a linked multicast open on NoC {a}; the last one must be unlinked",
    Fault.MULTICAST_INVERTED: "inverted multicast rectangle (address {a:#x}): NoC 0 runs from small to large coordinates, "
    "NoC 1 from large to small; this is NoC {b}",
    Fault.PAGE_SIZE: "circular buffer {a}: a page of {b} bytes does not hold a tile of {c} bytes",
    Fault.FORMAT_PAIR: "operands of formats {a} and {b}: the matrix unit takes two with 8-bit exponents, two with 5-bit "
    "exponents or two integers (docs/hardware/numerics.md#products)",
    Fault.UNKNOWN_FUNCTION: "unknown function {a} of the vector unit; there are {b} with as many operands",
    Fault.UNKNOWN_VALUE: "{message}",
    Fault.UNKNOWN_INSTRUCTION: "a series of instruction {a} of the coprocessor; there are {b}",
    Fault.INTEGER_OPERANDS: "operands of formats {a} and {b}: the matrix unit computes with numbers, and of integers it multiplies "
    "tiles of 8 bits alone (docs/hardware/numerics.md#products)",
    Fault.UNKNOWN_FORMAT: "the vector unit has no such call for data format {a} (with {b}); "
    "docs/hardware/kernel_api.md#data-formats-of-vector-calls lists them",
    Fault.ACCUMULATED_FORMAT: "accumulation in L1 of data format {a}: the packer adds Float32, Float16_b and Float16 alone",
    Fault.TILE_SHAPE: "circular buffer {a} has tiles of {b} datums: operations that move numbers within a tile (products, "
    "reductions, broadcasts, transpositions, tilizing) know those of 32x32 and 16x32",
    Fault.ROWS_FORMAT: "rows of data format {a}: block floats come in tiles, their 16 neighbours share an exponent",
    Fault.ILLEGAL_INSTRUCTION: "illegal instruction {a:#010x} (a trap of the compiler, or no RV32IM code)",
    Fault.JUMP_OUTSIDE: "jump to {a:#x}, which is no instruction of the kernel's text of {b} bytes",
    Fault.NO_MEMORY: "access to {a:#x}, {b} bytes: neither L1 nor the core's local memory",
    Fault.MISALIGNED_ACCESS: "misaligned access to {a:#x}, {b} bytes",
    Fault.STACK_OVERFLOW: "stack overflow: the stack pointer is {a:#x}; the stack lies between the kernel's data, which end at "
    "{b:#x}, and the end of local memory at {c:#x}",
    Fault.CB_POINTER: "store of {b:#x} to {a:#x}: of a circular buffer's state only the read and the write pointer can be "
    "written, with addresses inside the buffer",
    Fault.DATA_NOT_KNOWN: "data that are not known with numerics=off reach {message}",
    Fault.COPROCESSOR: "{message}",
    Fault.COMPUTE_CORE: "{message}",
    Fault.COPROCESSOR_LOST: "the model of the coprocessor has not come back from a step",
    Fault.DIVISION_BY_ZERO: "{a} is divided by zero, of which C++ says nothing and RISC-V that the quotient is all ones",
    Fault.TRACE_REGION: "write into the trace region of DRAM bank {c}: offset {a:#x}, {b} bytes",
}
SIMULATOR_FAULTS = {Fault.COPROCESSOR_LOST}
FRONT_END_FAULTS = {Fault.UNKNOWN_OPERATION, Fault.UNKNOWN_FUNCTION}  # the simulator's, unless a binary asks for it
