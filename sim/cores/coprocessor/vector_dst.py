"""SFPLOAD and SFPSTORE: the vector unit's way to Dst and back (ISA: SFPLOAD.md, SFPSTORE.md).

The 32 lanes are every second column of four rows of Dst.  Blackhole keeps integers in two's complement in the modes that convert
on Wormhole, and a store of float32 flushes denormals (vendor's simulator, ttsim 1.10, tensix.cpp).
"""

from tensim.sim.cores.coprocessor.address_mods import apply_address_mod, rwc_of
from tensim.sim.cores.coprocessor.dst_rows import (
    DST_BASE,
    DST_ROW_BYTES,
    LOW_HALVES,
    MATH_OFFSET,
    define_rows,
    dst16_row,
    is_undefined,
)
from tensim.sim.cores.coprocessor.faults import UNKNOWN_MODE, stop
from tensim.sim.cores.coprocessor.matrix_formats import EIGHT_BIT_EXPONENT
from tensim.sim.cores.coprocessor.registers import register
from tensim.sim.cores.coprocessor.state import (
    BLACKHOLE,
    DST_ROWS,
    chip_of,
    config_bank,
    dst32_row,
    field,
    thread_field,
    words,
)
from tensim.sim.cores.coprocessor.vector_lanes import gather_16, scatter_16
from tensim.sim.cores.coprocessor.vector_operations import (
    and_bit,
    and_not_bit,
    flush_denormals,
    join_halves,
    load_32,
    load_bf16,
    load_fp16,
    load_high,
    load_int16,
    load_low,
    load_magnitude,
    load_upper,
    move,
    or_bit,
    put,
    rotate_halves,
    store_32,
    store_bf16,
    store_fp16,
    store_int8,
    store_int16,
    to_complement,
    to_sign_magnitude,
    upper_half,
)
from tensim.sim.cores.coprocessor.vector_state import (
    ALL_ON,
    BLOCK_LOAD,
    BLOCK_STORE,
    CAPTURE_INDEX,
    DEST_INDEX,
    ENABLED,
    LANE_CONFIG,
    LANES,
    LOAD_ODD,
    SPARE,
    STORE_ODD,
    row_at,
)
from tensim.sim.engine.compiled import compiled

(
    DEFAULT,
    FP16,
    BF16,
    FP32,
    INT32,
    INT8,
    UINT16,
    HI16,
    INT16,
    LO16,
    INT32_ALL,
    ZERO,
    INT32_SM,
    INT8_COMP,
    LO16_ONLY,
    HI16_ONLY,
) = range(16)
SFPU_FP32 = register("ALU_ACC_CTRL_SFPU_Fp32_enabled")
SRC_B_OVERRIDE, SRC_B_VALUE = register("ALU_FORMAT_SPEC_REG_SrcB_override"), register("ALU_FORMAT_SPEC_REG_SrcB_val")
SRC_B_FORMAT = register("ALU_FORMAT_SPEC_REG1_SrcB")
VALUES, HIGH, ODD, MASK = SPARE, SPARE + 1, SPARE + 2, SPARE + 3


@compiled()
def resolved_mode(c, thread, mode):
    """The mode that the default one stands for."""
    if mode != DEFAULT:
        return mode
    bank = config_bank(c, thread)
    if field(c, bank, SFPU_FP32, 0) != 0:
        return FP32
    source = field(c, bank, SRC_B_FORMAT, 0)
    if field(c, bank, SRC_B_OVERRIDE, 0) != 0:
        source = field(c, bank, SRC_B_VALUE, 0)
    return BF16 if EIGHT_BIT_EXPONENT >> source & 1 else FP16


@compiled()
def lanes_address(c, thread, immediate, mode):
    """Address of lanes in Dst, 10 bits: four rows, whether odd columns, one that is not used."""
    moving = rwc_of(c, thread).dst + field(c, config_bank(c, thread), DST_BASE, 0)
    if mode == INT32_ALL:
        moving &= 3
    return (immediate + thread_field(c, thread, MATH_OFFSET, 0) + moving) & (DST_ROWS - 1)


@compiled(inline="always")
def is_wide(mode):
    """Whether a store's mode writes 32-bit values."""
    return (
        mode == FP32 or mode == INT32 or mode == INT32_ALL or mode == INT32_SM or mode == HI16 or mode == LO16
    )  # fmt: skip


@compiled()
def odd_columns(v, address, exchange):
    """Row of masks: lanes that take the odd one of two columns.  `exchange`: bit of LaneConfig that asks for it."""
    odd, every, config = row_at(v, ODD), row_at(v, ALL_ON), row_at(v, LANE_CONFIG)
    put(odd, every, odd, odd, odd, -(address >> 1 & 1))
    if v.config_bits >> exchange & 1:
        or_bit(odd, every, odd, odd, config, exchange)
    return odd


@compiled()
def lanes_mask(v, mode, block):
    """Lanes that a load or a store acts on.  `block`: bit of LaneConfig that leaves a lane out."""
    enabled = row_at(v, ALL_ON) if mode == INT32_ALL else row_at(v, ENABLED)
    if v.config_bits >> block & 1 == 0:
        return enabled
    mask = row_at(v, MASK)
    and_not_bit(mask, row_at(v, ALL_ON), mask, enabled, row_at(v, LANE_CONFIG), block)
    return mask


@compiled()
def clear_undefined(c, row, lanes):
    """Lanes of rows of Dst (physical ones) that are undefined read as 0."""
    values = words(lanes)
    for i in range(4):
        if is_undefined(c, row + i):
            for lane in range(LANES // 4 * i, LANES // 4 * (i + 1)):
                values[lane] = 0


@compiled()
def gather_narrow(c, v, address, odd):
    """16-bit values as they lie in Dst, into the row VALUES."""
    values, row = row_at(v, VALUES), dst16_row(c, address & ~3)
    gather_16(c.dst_at + DST_ROW_BYTES * row, odd, values)
    clear_undefined(c, row, values)


@compiled()
def gather_wide(c, v, address, odd):
    """32-bit values as they lie in Dst, into the row VALUES."""
    values, high, row = row_at(v, VALUES), row_at(v, HIGH), dst32_row(address & ~3)
    gather_16(c.dst_at + DST_ROW_BYTES * row, odd, high)
    gather_16(c.dst_at + DST_ROW_BYTES * (row + LOW_HALVES), odd, values)
    join_halves(values, row_at(v, ALL_ON), values, high, values, 0)
    clear_undefined(c, row, values)


@compiled()
def load_lanes(c, v, thread, word, mode, address, d):
    """The data of an SFPLOAD: from Dst into LReg `d`, below 8."""
    target, mask, odd = row_at(v, d), lanes_mask(v, mode, BLOCK_LOAD), odd_columns(v, address, LOAD_ODD)
    values, config = row_at(v, VALUES), row_at(v, LANE_CONFIG)
    if mode == FP32 or mode == INT32 or mode == INT32_ALL or mode == INT32_SM:
        gather_wide(c, v, address, odd)
        if mode == INT32_SM and chip_of(c) != BLACKHOLE:
            load_32(values, mask, values, values, values, 0)
            to_complement(target, mask, values, values, values, 0)
        else:
            load_32(target, mask, values, values, values, 0)
    else:
        gather_narrow(c, v, address, odd)
        if mode == FP16:
            load_fp16(target, mask, values, config, values, 0)
        elif mode == BF16:
            load_bf16(target, mask, values, values, values, 0)
        elif mode == INT8:
            load_magnitude(target, mask, values, values, values, 127)
        elif mode == INT8_COMP and chip_of(c) != BLACKHOLE:
            load_magnitude(values, mask, values, values, values, 1023)
            to_complement(target, mask, values, values, values, 0)
        elif mode == LO16_ONLY:
            load_low(target, mask, values, target, values, 0)
        elif mode == HI16_ONLY:
            load_high(target, mask, values, target, values, 0)
        elif mode == INT16:
            load_int16(target, mask, values, values, values, 0)
        elif mode == UINT16 or mode == LO16:
            move(target, mask, values, values, values, 0)
        elif mode == HI16:
            load_upper(target, mask, values, values, values, 0)
        elif mode == ZERO:
            put(target, mask, values, values, values, 0)
        else:
            stop(c, UNKNOWN_MODE, thread, word, mode, 0)
    if d < 4 and v.config_bits >> DEST_INDEX & v.config_bits >> CAPTURE_INDEX & 1:
        capture_index(v, address, odd, mask, row_at(v, d + 4))


@compiled()
def capture_index(v, address, odd, mask, target):
    """Where in Dst the values of a load lie (row * 16 + column), in lanes that are configured so."""
    index, config = words(row_at(v, VALUES)), row_at(v, LANE_CONFIG)
    for lane in range(LANES):
        index[lane] = ((address & ~3) + lane // 8) << 4 | 2 * (lane & 7) | words(odd)[lane] & 1
    both = row_at(v, HIGH)
    and_bit(both, row_at(v, ALL_ON), both, mask, config, DEST_INDEX)
    and_bit(both, row_at(v, ALL_ON), both, both, config, CAPTURE_INDEX)
    move(target, both, target, target, row_at(v, VALUES), 0)


@compiled()
def stored_value(c, v, thread, word, mode, source, values):
    """What lies in Dst of an LReg (host address `source`) that a store's mode takes, into the row at `values`."""
    every = row_at(v, ALL_ON)
    if mode == FP16:
        store_fp16(values, every, source, source, source, 0)
    elif mode == BF16:
        store_bf16(values, every, source, source, source, 0)
    elif mode == FP32:
        flush_denormals(values, every, source, source, source, 0)
        store_32(values, every, values, values, values, 0)
    elif mode == INT32 or mode == INT32_ALL or (mode == INT32_SM and chip_of(c) == BLACKHOLE):
        store_32(values, every, source, source, source, 0)
    elif mode == INT32_SM:
        to_sign_magnitude(values, every, source, source, source, 0)
        store_32(values, every, values, values, values, 0)
    elif mode == INT8:
        store_int8(values, every, source, source, source, 0)
    elif mode == INT8_COMP and chip_of(c) != BLACKHOLE:
        to_sign_magnitude(values, every, source, source, source, 0)
        store_int8(values, every, values, values, values, 0)
    elif mode == LO16_ONLY or mode == UINT16 or mode == HI16:
        move(values, every, source, source, source, 0)
    elif mode == HI16_ONLY:
        upper_half(values, every, source, source, source, 0)
    elif mode == INT16:
        store_int16(values, every, source, source, source, 0)
    elif mode == LO16:
        rotate_halves(values, every, source, source, source, 0)
    elif mode == ZERO:
        put(values, every, source, source, source, 0)
    else:
        stop(c, UNKNOWN_MODE, thread, word, mode, 0)


@compiled()
def define_written(c, row, mask, wide):
    """Of four rows of Dst (physical ones), those that a store has written to are defined."""
    on = words(mask)
    for i in range(4):
        if is_undefined(c, row + i):
            for lane in range(LANES // 4 * i, LANES // 4 * (i + 1)):
                if on[lane] != 0:
                    define_rows(c, row + i, wide, 1)


@compiled()
def store_lanes(c, v, thread, word, mode, address, source):
    """The data of an SFPSTORE: the row at `source` into Dst."""
    values, mask, odd = row_at(v, VALUES), lanes_mask(v, mode, BLOCK_STORE), odd_columns(v, address, STORE_ODD)
    stored_value(c, v, thread, word, mode, source, values)
    if c.fault != 0:
        return
    if is_wide(mode):
        row = dst32_row(address & ~3)
        scatter_16(c.dst_at + DST_ROW_BYTES * (row + LOW_HALVES), odd, mask, values)
        upper_half(values, row_at(v, ALL_ON), values, values, values, 0)
        scatter_16(c.dst_at + DST_ROW_BYTES * row, odd, mask, values)
        define_written(c, row, mask, True)
    else:
        row = dst16_row(c, address & ~3)
        scatter_16(c.dst_at + DST_ROW_BYTES * row, odd, mask, values)
        define_written(c, row, mask, False)


@compiled()
def address_fields(c, word):
    """(immediate, ADDR_MOD) of SFPLOAD, SFPSTORE and SFPLOADMACRO; Blackhole's have a bit more for the latter."""
    if chip_of(c) == BLACKHOLE:
        return word & 0x1FFF, word >> 13 & 7
    return word & 0x3FFF, word >> 14 & 3


@compiled()
def move_on(c, thread, word):
    """Move the thread's counters on after a load or a store."""
    apply_address_mod(c, thread, address_fields(c, word)[1], False)
