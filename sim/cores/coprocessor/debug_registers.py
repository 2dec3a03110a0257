"""A tile's registers for control, debugging and status, as far as they do more than keep what was written.

Behind them lie those of the interrupt controller and, in an Ethernet tile, the addresses of its cores' programs.

Configuration: ISA, BackendConfiguration.md.  Rows of Dst: ckernel_debug.h of tt-llk in ttnn 0.81.1 (dbg_get_array_row), which reads
SrcA by way of Dst.
"""

from tensim.sim.cores.coprocessor.config_unit import config_words
from tensim.sim.cores.coprocessor.state import ASKED_RESET, DST_ROWS, config_word, read_dst16
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import load_u32, store_32

DEBUG, DEBUG_BYTES = 0xFFB12000, 0x3000
CONFIG_INDEX, CONFIG_VALUE = 0x58, 0x78
ROW_COMMAND, ROW_VALUE = 0x64, 0x6C
SOFT_RESET = DEBUG + 0x1B0
FEATURE_DISABLE = DEBUG + 0x68
WIDE_DST = 1 << 11  # 16-bit values of Dst are the upper halves of 32-bit ones (ISA: Dst.md)
DST = 2  # number of an array


@compiled(inline="always")
def is_debug_register(c, address):
    """Is it an address of these registers, on a tile that has them?"""
    return c.debug_at != 0 and DEBUG <= address < DEBUG + DEBUG_BYTES


@compiled()
def load_debug_register(c, address):
    """Value of a register."""
    place = address - DEBUG
    if place == CONFIG_VALUE:
        index, count = load_u32(c.debug_at + CONFIG_INDEX) & 0x7FF, config_words(c)
        return config_word(c, index // count, index % count) if index < 2 * count else 0
    if place == ROW_VALUE:
        command = load_u32(c.debug_at + ROW_COMMAND)
        row, pair, array = command & 0xFFF, command >> 12 & 15, command >> 16 & 7
        if array != DST or row >= DST_ROWS or pair >= 8:
            return 0
        return read_dst16(c, row, 2 * pair) | read_dst16(c, row, 2 * pair + 1) << 16
    return load_u32(c.debug_at + place)


@compiled()
def store_debug_register(c, thread, address, value):
    """Set a register."""
    store_32(c.debug_at + address - DEBUG, value)
    if address == FEATURE_DISABLE:
        c.dst_access_16_as_32 = value & WIDE_DST
    elif address == SOFT_RESET:
        c.asked, c.asked_by = ASKED_RESET, thread
