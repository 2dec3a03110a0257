"""Which row of Dst an instruction means, and rows that ZEROACC has left undefined (ISA: Dst.md, ZEROACC.md).

A row of 32-bit values is undefined when that of its upper halves is; a write makes both rows defined.
"""

from tensim.sim.cores.coprocessor.costs import costs_table
from tensim.sim.cores.coprocessor.registers import register
from tensim.sim.cores.coprocessor.state import COLUMNS, DST_ROWS, config_bank, dst32_row, field, octets, thread_field
from tensim.sim.cores.coprocessor.units import units_table
from tensim.sim.engine.compiled import compiled

MATH_OFFSET, DST_BASE = register("DEST_TARGET_REG_CFG_MATH_Offset"), register("DEST_REGW_BASE_Base")
DST_ROW_BYTES = 2 * COLUMNS
BLOCK_ROWS = 8  # of Dst that a write keeps from being read
LOW_HALVES = 8  # rows from the upper halves of 32-bit values to the lower ones


@compiled()
def dst_offset(c, thread):
    """What a thread's configuration adds to the rows of Dst that its instructions name."""
    return thread_field(c, thread, MATH_OFFSET, 0) + field(c, config_bank(c, thread), DST_BASE, 0)


@compiled(inline="always")
def dst16_row(c, row):
    """Row of Dst that holds row `row` of 16-bit values: its own, or the upper halves of 32-bit ones (ISA: Dst.md, bit 11)."""
    row &= DST_ROWS - 1
    return dst32_row(row) if c.dst_access_16_as_32 != 0 else row


@compiled(inline="always")
def is_undefined(c, row):
    """Whether a row of Dst (a physical one) is marked."""
    return octets(c.dst_undefined_at)[row] != 0


@compiled()
def define_rows(c, row, wide, count):
    """Rows of Dst, physical ones below each other, have been written; `wide`: and those with the lower halves."""
    marks = octets(c.dst_undefined_at)
    for i in range(count):
        marks[row + i] = 0
        if wide:
            marks[row + LOW_HALVES + i] = 0


@compiled()
def undefine_row(c, row, wide):
    """Mark a row (physical), and with `wide` the one with its lower halves."""
    marks = octets(c.dst_undefined_at)
    marks[row] = 1
    if wide:
        marks[row + LOW_HALVES] = 1


@compiled()
def mark_written(c, row, wide):
    """An instruction that enters its unit now writes to the block of 8 rows of Dst around a row: it cannot be read meanwhile.

    Blocks are those of the physical rows of upper halves.
    """
    physical = dst32_row(row & (DST_ROWS - 1)) if wide else dst16_row(c, row)
    ready = units_table(c.units_at)[0].dst_ready
    ready[physical // BLOCK_ROWS] = c.cycle + costs_table(c.costs_at)[0].dst_write_to_read


@compiled()
def readable_at(c, row, wide):
    """Cycle from which the block of 8 rows around a row of Dst can be read."""
    physical = dst32_row(row & (DST_ROWS - 1)) if wide else dst16_row(c, row)
    return units_table(c.units_at)[0].dst_ready[physical // BLOCK_ROWS]
