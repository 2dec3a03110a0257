"""The mover: copies within L1 and from L1 to the configuration, and clears either (ISA: Mover.md, XMOV.md)."""

from tensim.sim.cores.coprocessor.config_unit import config_words, put_config
from tensim.sim.cores.coprocessor.faults import L1_ADDRESS, UNKNOWN_MODE, stop
from tensim.sim.cores.coprocessor.registers import register
from tensim.sim.cores.coprocessor.state import config_bank, field
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import copy_bytes, load_u32, zero_bytes

SOURCE, TARGET, SIZE, DIRECTION = (
    register(f"THCON_SEC0_REG6_{name}")
    for name in ("Source_address", "Destination_address", "Buffer_size", "Transfer_direction")
)
CLEAR_L1, TO_CONFIG, CLEAR_CONFIG, TO_L1 = range(4)
UNIT = 16  # bytes
# cycles for units of 16 B: a copy of eight in eleven, a clear of one a cycle (ISA: Mover.md, Performance)
COPY_UNITS, COPY_CYCLES = 8, 11


@compiled()
def mover_cycles(count, direction):
    """Cycles that the mover takes for `count` bytes."""
    units = (count + UNIT - 1) // UNIT
    if direction == TO_L1 or direction == TO_CONFIG:
        return (units * COPY_CYCLES + COPY_UNITS - 1) // COPY_UNITS
    return units


@compiled()
def execute_mover(c, thread, word):
    """XMOV; returns its cycles."""
    bank = config_bank(c, thread)
    source, target = field(c, bank, SOURCE, 0) << 4, field(c, bank, TARGET, 0) << 4
    count, direction = (field(c, bank, SIZE, 0) & 0xFFFF) << 4, field(c, bank, DIRECTION, 0) & 3
    reads = direction == TO_L1 or direction == TO_CONFIG
    if reads and source + count > c.l1_size:
        stop(c, L1_ADDRESS, thread, word, source, count)
    elif direction == TO_L1 or direction == CLEAR_L1:
        if target + count > c.l1_size:
            stop(c, L1_ADDRESS, thread, word, target, count)
        elif reads:
            copy_bytes(c.l1_at + target, c.l1_at + source, count)
        else:
            zero_bytes(c.l1_at + target, count)
    elif target // 4 + count // 4 > 2 * config_words(c):
        stop(c, UNKNOWN_MODE, thread, word, target, direction)
    else:
        for i in range(count // 4):
            index = target // 4 + i
            into = 0 if index < config_words(c) else 1
            value = load_u32(c.l1_at + source + 4 * i) if reads else 0
            put_config(c, into, index - into * config_words(c), value)
    return mover_cycles(count, direction)
