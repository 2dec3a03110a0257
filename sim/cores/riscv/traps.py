"""The traps through which C++ code acts on the machine: what instructions of the custom-0 space mean.

An operation is a run of such instructions: its arguments one by one, then the trap itself.  `ARGUMENTS` says how many an
operation has and how wide each is; the header `tensim_operations.h` and the loader both follow it.
"""

from enum import IntEnum

from tensim.sim.cores.operations import Op

OPCODE = 0x0B  # custom-0


class Form(IntEnum):
    """funct3 of a trap instruction."""

    CALL = 0  # I-type: immediate = operation (an `Op`, or a `Service`), rd = result
    UNSIGNED = 1  # R-type: next argument = rs1, zero-extended
    PAIR = 2  # R-type: next argument = rs1 | rs2 << 32
    SIGNED = 3  # R-type: next argument = rs1, sign-extended
    IMMEDIATE = 4  # I-type: next argument = the signed immediate


class Service(IntEnum):
    """What a kernel asks of its front end rather than of the machine."""

    END = 256  # the kernel returns
    FAIL_ASSERT = 257  # address of "file:line: condition" in the section .tensim_strings
    DPRINT = 258  # kind (Print), value, extra
    RESULT_HIGH = 259  # -> bits 32 to 63 of the last operation's result


class Print(IntEnum):
    """What a DPRINT trap adds to the line of its thread: value, extra."""

    TEXT = 0  # address of a text that ends with a zero byte, in .tensim_strings or local memory
    UNSIGNED = 1
    SIGNED = 2
    FLOAT = 3  # bits
    CHARACTER = 4
    UNSIGNED_64 = 5  # low word, high word
    SIGNED_64 = 6
    POINTER = 7
    BFLOAT16 = 8  # bits
    BOOLEAN = 9
    FORMAT = 10  # address of a format text with {}, number of values that follow
    MANIPULATOR = 11  # Manipulator, its value
    LINE_END = 12
    BUFFER_TILE = 13  # circular buffer | pointer << 8 | width << 16, tile; kinds of `tensim.sim.cores.print_tiles`
    DST_TILE = 14  # tile
    SLICE = 15  # which rows and columns of the tile before, two words


class Manipulator(IntEnum):
    """State of a DPRINT stream."""

    HEX = 0
    OCT = 1
    DEC = 2
    FIXED = 3
    DEFAULT_FLOAT = 4
    WIDTH = 5
    PRECISION = 6


# Arguments of each operation, in order: u unsigned, s signed, q 64 bits
ARGUMENTS = {
    Op.SPEND: "", Op.LOAD: "uuu", Op.STORE: "uuu", Op.FAIL: "u",
    Op.CB_RESERVE_BACK: "uu", Op.CB_PUSH_BACK: "uu", Op.CB_WAIT_FRONT: "uu", Op.CB_POP_FRONT: "uu",
    Op.CB_PAGES_RESERVABLE: "uu", Op.CB_PAGES_AVAILABLE: "uu",
    Op.NOC_READ: "quuusus", Op.NOC_WRITE: "uquusuus", Op.NOC_MULTICAST: "uquuuuu", Op.NOC_INLINE_WRITE: "quuuus",
    Op.NOC_ATOMIC_INC: "quuus", Op.NOC_BARRIER: "uus", Op.NOC_SET_STATE: "uquuuss", Op.NOC_READ_WITH_STATE: "quuusu",
    Op.NOC_WRITE_WITH_STATE: "uuuus", Op.NOC_MULTICAST_INC: "quuu", Op.NOC_INC_ISSUED: "uu", Op.RISCV_WAIT: "u",
    Op.TIMESTAMP: "", Op.SEM_WAIT: "uu", Op.SEM_WAIT_MIN: "uu",
    Op.DST_ACQUIRE: "", Op.DST_COMMIT: "", Op.DST_WAIT: "", Op.DST_RELEASE: "",
    Op.UNPACK_A: "uuuuu", Op.UNPACK_AB: "uuuuuuu", Op.UNPACK_MATMUL: "uuuuuuuu", Op.UNPACK_REUSE: "uuu",
    Op.MATH_COPY: "uu", Op.MATH_BINARY: "uuuuu", Op.MATH_MATMUL: "uuu", Op.MATH_REDUCE: "uuu",
    Op.SFPU_UNARY: "uuuuu", Op.SFPU_BINARY: "uuuuu", Op.MATH_TRANSPOSE_DST: "u", Op.MATH_COPY_DST: "uu",
    Op.SFPU_TERNARY: "uuuuuu", Op.SFPU_REDUCE: "uuuu", Op.PACK: "uusuuu", Op.CONFIG: "uu", Op.TT_INSTRUCTION: "uu",
    Op.ZONE_BEGIN: "u", Op.ZONE_END: "u",
    Service.END: "", Service.FAIL_ASSERT: "u", Service.DPRINT: "uuu", Service.RESULT_HIGH: "",
}  # fmt: skip
RESULTS = {Op.LOAD, Op.CB_PAGES_RESERVABLE, Op.CB_PAGES_AVAILABLE, Op.TIMESTAMP, Service.RESULT_HIGH}
