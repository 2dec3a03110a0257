"""Registers of NoC overlay streams as software without streams uses them: memory, and words that count what is written elsewhere.

ISA, NoC/Overlay/AsGeneralUse.md; indices: noc_overlay_parameters.h of both chips in ttnn 0.81.1.  A write to
STREAM_REMOTE_DEST_BUF_SPACE_AVAILABLE_UPDATE adds to a word of STREAM_REMOTE_DEST_BUF_SPACE_AVAILABLE, a write to
STREAM_REMOTE_DEST_BUF_SIZE sets them all: tt-metal's dispatcher counts workers by them that are done.
"""

from tensim.sim.cores.coprocessor.state import BLACKHOLE, chip_of
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import load_u32, store_32

STREAM_BYTES = 0x1000
# Wormhole's and Blackhole's: size of the remote buffer, first of the words that say how much of it is free, what adds to these
WORMHOLE_SIZE, WORMHOLE_AVAILABLE, WORMHOLE_UPDATE = 4, 64, 34
BLACKHOLE_SIZE, BLACKHOLE_AVAILABLE, BLACKHOLE_UPDATE = 10, 297, 270
DESTINATIONS, NUMBER_BITS = 32, 6
COUNT_MASK = (1 << 17) - 1


@compiled()
def effect_of(chip, register, value):
    """What writing a value to a stream's register changes: (first register, how many, whether it adds, amount)."""
    size, available, update = WORMHOLE_SIZE, WORMHOLE_AVAILABLE, WORMHOLE_UPDATE
    if chip == BLACKHOLE:
        size, available, update = BLACKHOLE_SIZE, BLACKHOLE_AVAILABLE, BLACKHOLE_UPDATE
    if register == size:
        return available, DESTINATIONS, False, value & COUNT_MASK
    if register == update:
        number = value & (1 << NUMBER_BITS) - 1
        return available + number % DESTINATIONS, 1, True, value >> NUMBER_BITS & COUNT_MASK
    return register, 1, False, value


@compiled()
def store_stream(c, place, value):
    """A core writes a word to the registers of the streams, `place` bytes behind the first."""
    stream_at = c.streams_at + place - place % STREAM_BYTES
    first, count, adds, amount = effect_of(chip_of(c), place % STREAM_BYTES // 4, value)
    for register in range(first, first + count):
        at = stream_at + 4 * register
        store_32(at, (load_u32(at) + amount) & COUNT_MASK if adds else amount)
    store_32(c.streams_at + (place & ~3), value)


def write_stream(chip, streams, place, value):
    """The same of others than the tile's cores: `streams`, uint32, holds the registers."""
    base = place // STREAM_BYTES * (STREAM_BYTES // 4)
    first, count, adds, amount = effect_of.py_func(chip, place % STREAM_BYTES // 4, value)
    for index in range(base + first, base + first + count):
        streams[index] = (int(streams[index]) + amount) & COUNT_MASK if adds else amount
    streams[place // 4] = value
