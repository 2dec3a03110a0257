"""Registers of a tile that RISC-V cores and the scalar unit reach alike: TDMA-RISC, debug, NoC overlay streams.

Addresses: ISA, BabyRISCV/README.md (memory map) and TDMA-RISC.md; stream registers: stream_io_map.h and noc_overlay_parameters.h
of both chips in the ttnn 0.81.1 wheel.  Of the streams only the two registers that count a circular buffer's tiles exist here.
"""

from tensim.sim.cores.coprocessor.faults import UNMAPPED_REGISTER, stop
from tensim.sim.cores.coprocessor.state import BLACKHOLE, N_STREAMS, TDMA_BYTES
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import load_u32, store_32

TDMA, DEBUG, STREAMS, STREAMS_END = 0xFFB11000, 0xFFB12000, 0xFFB40000, 0xFFB80000
STREAM_BYTES = 0x1000
RECEIVED, ACKNOWLEDGED = (
    (4, 10),
    (3, 8),
)  # by chip: STREAM_REMOTE_DEST_BUF_SIZE and _START, tiles received and acknowledged
WALL_CLOCK_LOW, WALL_CLOCK_HIGH, WALL_CLOCK_HIGH_AT = DEBUG + 0x1F0, DEBUG + 0x1F4, DEBUG + 0x1F8


@compiled()
def stream_register(c, address):
    """Host address of a counter of tiles, or 0 for another register of a stream."""
    stream, register = (address - STREAMS) // STREAM_BYTES, (address - STREAMS) % STREAM_BYTES // 4
    received, acknowledged = RECEIVED[0], ACKNOWLEDGED[0]
    if c.chip == BLACKHOLE:
        received, acknowledged = RECEIVED[1], ACKNOWLEDGED[1]
    if stream >= N_STREAMS or (register != received and register != acknowledged):
        return 0
    return c.streams_at + 8 * stream + (0 if register == received else 4)


@compiled()
def load_register(c, thread, address, now):
    """Value of a register at a cycle; stops the coprocessor for one that does not exist here."""
    if TDMA <= address < TDMA + TDMA_BYTES:
        return load_u32(c.tdma_at + (address - TDMA & ~3))
    if address == WALL_CLOCK_LOW:
        return now & 0xFFFFFFFF
    if address == WALL_CLOCK_HIGH or address == WALL_CLOCK_HIGH_AT:
        return now >> 32
    if STREAMS <= address < STREAMS_END:
        place = stream_register(c, address)
        if place != 0:
            return load_u32(place)
    stop(c, UNMAPPED_REGISTER, thread, 0, address, 0)
    return 0


@compiled()
def store_register(c, thread, address, value):
    """Set a register; stops the coprocessor for one that does not exist here."""
    if TDMA <= address < TDMA + TDMA_BYTES:
        store_32(c.tdma_at + (address - TDMA & ~3), value)
        return
    if STREAMS <= address < STREAMS_END:
        place = stream_register(c, address)
        if place != 0:
            store_32(place, value)
            c.streams_written |= 1 << ((address - STREAMS) // STREAM_BYTES)
            return
    stop(c, UNMAPPED_REGISTER, thread, 0, address, 1)
