"""The traps through which C++ code acts on the machine: what instructions of the custom-0 space mean.

An operation is a run of such instructions: its arguments one by one, then the trap itself.  `ARGUMENTS` says how many an
operation or service has and how wide each is; the header `tensim_operations.h` and the loader both follow it.
"""

from enum import IntEnum

from tensim.sim.cores import operations

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
ARGUMENTS = operations.ARGUMENTS | {
    Service.END: "", Service.FAIL_ASSERT: "u", Service.DPRINT: "uuu", Service.RESULT_HIGH: "",
}  # fmt: skip
RESULTS = operations.RESULTS | {Service.RESULT_HIGH}
