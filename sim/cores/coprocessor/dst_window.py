"""Dst in the address space of Blackhole's TRISCs: value after value in rows of 16, as wide as the thread's format says.

Addresses, formats and fields: ckernel_dest.h and ckernel_debug.h (dbg_copy_dest_tile) of tt-llk in ttnn 0.81.1.  With swizzling the
values are those of the vector unit's loads and stores (`vector_dst`), without they are the bits as they lie in Dst.
"""

from tensim.sim.cores.coprocessor.dst_rows import define_rows, dst16_row, is_undefined
from tensim.sim.cores.coprocessor.faults import UNKNOWN_MODE, stop
from tensim.sim.cores.coprocessor.registers import register
from tensim.sim.cores.coprocessor.state import (
    BLACKHOLE,
    COLUMNS,
    DST_ROWS,
    N_THREADS,
    chip_of,
    config_bank,
    dst32_row,
    field,
    read_dst16,
    read_dst32,
    write_dst16,
    write_dst32,
)
from tensim.sim.cores.coprocessor.words import (
    bf16_of_dst16,
    dst16_of_bf16,
    dst16_of_fp16,
    dst32_of_fp32,
    fp16_of_dst16,
    fp32_of_dst32,
)
from tensim.sim.engine.compiled import compiled

WINDOW, WINDOW_END = 0xFFBD8000, 0xFFBE0000
FLOAT32, INT32, FP16, BF16, INT16, INT8 = range(6)  # formats
FORMATS = tuple(register(f"RISC_DEST_ACCESS_CTRL_SEC{i}_fmt") for i in range(N_THREADS))
UNSIGNED = tuple(register(f"RISC_DEST_ACCESS_CTRL_SEC{i}_unsigned_int") for i in range(N_THREADS))
AS_IT_LIES = tuple(register(f"RISC_DEST_ACCESS_CTRL_SEC{i}_no_swizzle") for i in range(N_THREADS))
INT8_EXPONENT = 16  # that an 8-bit integer has in Dst (ISA: Dst.md)


@compiled(inline="always")
def in_window(c, thread, address):
    """Is it an address of Dst?"""
    return chip_of(c) == BLACKHOLE and thread < N_THREADS and WINDOW <= address < WINDOW_END


@compiled()
def access(c, thread):
    """(format, whether integers are unsigned, whether the bits are as they lie in Dst) of a thread."""
    bank = config_bank(c, thread)
    number, plain, raw = FORMATS[0], UNSIGNED[0], AS_IT_LIES[0]
    if thread == 1:
        number, plain, raw = FORMATS[1], UNSIGNED[1], AS_IT_LIES[1]
    elif thread == 2:
        number, plain, raw = FORMATS[2], UNSIGNED[2], AS_IT_LIES[2]
    return field(c, bank, number, 0), field(c, bank, plain, 0) != 0, field(c, bank, raw, 0) != 0


@compiled()
def from_dst16(value, format, is_unsigned):
    """A 16-bit value of Dst in a format."""
    if format == BF16:
        return bf16_of_dst16(value)
    if format == FP16:
        return fp16_of_dst16(value)
    if format == INT8:
        magnitude = value >> 5 & (255 if is_unsigned else 127)
        return -magnitude & 255 if value & 0x8000 and not is_unsigned else magnitude
    return value


@compiled()
def to_dst16(value, format, is_unsigned):
    """What lies in Dst of a value."""
    if format == BF16:
        return dst16_of_bf16(value)
    if format == FP16:
        return dst16_of_fp16(value)
    if format == INT8:
        negative = not is_unsigned and value & 0x80 != 0
        magnitude = (256 - value & 127) if negative else value & 255
        return (0x8000 if negative else 0) | magnitude << 5 | (INT8_EXPONENT if magnitude != 0 else 0)
    return value & 0xFFFF


@compiled()
def size_in_window(format):
    """Bytes of a value."""
    return 4 if format == FLOAT32 or format == INT32 else 1 if format == INT8 else 2


@compiled()
def load_window(c, thread, address):
    """The value at an address, in the low bits."""
    format, is_unsigned, raw = access(c, thread)
    index = (address - WINDOW) // size_in_window(format)
    row, column = index // COLUMNS % DST_ROWS, index % COLUMNS
    if size_in_window(format) == 4:
        if is_undefined(c, dst32_row(row & DST_ROWS // 2 - 1)):
            return 0
        value = read_dst32(c, row & DST_ROWS // 2 - 1, column)
        return value if raw else fp32_of_dst32(value)
    row = dst16_row(c, row)
    if is_undefined(c, row):
        return 0
    value = read_dst16(c, row, column)
    return value if raw else from_dst16(value, format, is_unsigned)


@compiled()
def store_window(c, thread, address, value, size):
    """Store a value of as many bytes as the format has."""
    format, is_unsigned, raw = access(c, thread)
    if size != size_in_window(format):
        stop(c, UNKNOWN_MODE, thread, 0, address, format)
        return
    index = (address - WINDOW) // size
    row, column = index // COLUMNS % DST_ROWS, index % COLUMNS
    if size == 4:
        row &= DST_ROWS // 2 - 1
        write_dst32(c, row, column, value if raw else dst32_of_fp32(value))
        define_rows(c, dst32_row(row), True, 1)
        return
    row = dst16_row(c, row)
    write_dst16(c, row, column, value & 0xFFFF if raw else to_dst16(value, format, is_unsigned))
    define_rows(c, row, False, 1)
