"""Registers of a tile that RISC-V cores and the scalar unit reach alike: TDMA-RISC, debug, NoC overlay streams, Ethernet.

Addresses: ISA, BabyRISCV/README.md (memory map) and TDMA-RISC.md; stream registers: stream_io_map.h and noc_overlay_parameters.h
of both chips in the ttnn 0.81.1 wheel, transmit queues: tt_eth_ss_regs.h there.  Where a tile has no registers of streams of
its own, only the two that count a circular buffer's tiles exist: they are the counters of the buffer's row
(`tensim.sim.cores.circular_buffer`), which data-movement threads move too.
"""

from tensim.sim.cores.coprocessor.debug_registers import (
    FEATURE_DISABLE,
    WIDE_DST,
    is_debug_register,
    load_debug_register,
    store_debug_register,
)
from tensim.sim.cores.coprocessor.faults import UNMAPPED_REGISTER, stop
from tensim.sim.cores.coprocessor.state import ASKED_MOVER, ASKED_TRANSFER, BLACKHOLE, TDMA_BYTES, chip_of
from tensim.sim.cores.coprocessor.stream_registers import STREAM_BYTES, store_stream
from tensim.sim.cores.riscv.layout import WALL_CLOCK_HIGH, WALL_CLOCK_HIGH_AT, WALL_CLOCK_LOW
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.limits import N_CIRCULAR_BUFFERS
from tensim.sim.engine.memory import load_u32, store_32
from tensim.sim.state import circular_buffer_table

TDMA, NIUS, STREAMS, STREAMS_END = 0xFFB11000, 0xFFB20000, 0xFFB40000, 0xFFB80000
ETHERNET, ETHERNET_BYTES = 0xFFB90000, 0x20000
WORMHOLE_RAM_LOAD = ETHERNET + 0x4098  # of an Ethernet tile: fills its instruction RAM
MOVER_COMMAND = TDMA + 0x10
# by chip: STREAM_REMOTE_DEST_BUF_SIZE and _START, tiles received and acknowledged
RECEIVED, ACKNOWLEDGED = (4, 10), (3, 8)
NO_COUNTER = -1


@compiled()
def counter_of(c, address):
    """2 * circular buffer, + 1 for its popped pages, whose counter a stream register is; NO_COUNTER for another register."""
    buffer, register = (address - STREAMS) // STREAM_BYTES - c.first_stream, (address - STREAMS) % STREAM_BYTES // 4
    received, acknowledged = RECEIVED[0], ACKNOWLEDGED[0]
    if chip_of(c) == BLACKHOLE:
        received, acknowledged = RECEIVED[1], ACKNOWLEDGED[1]
    if not 0 <= buffer < N_CIRCULAR_BUFFERS or (register != received and register != acknowledged):
        return NO_COUNTER
    return 2 * buffer + (0 if register == received else 1)


@compiled()
def newest_count(c, counter):
    """(value of a counter, pages of its last change, cycle from which all see that)."""
    cb = circular_buffer_table(c.buffers_at)[counter >> 1]
    if counter & 1 == 0:
        return cb.received, cb.pushed, cb.pushed_at + c.counter_delay
    return cb.acked, cb.popped, cb.popped_at + c.counter_delay


@compiled(inline="always")
def is_ethernet(c, address):
    """Is it a register of an Ethernet tile's queues, MAC or PCS, on a tile that has them?"""
    return c.ethernet_at != 0 and ETHERNET <= address < ETHERNET + ETHERNET_BYTES


@compiled(inline="always")
def is_command(c, address):
    """Is it a register whose writing sets something off: NOC_CMD_CTRL or NOC_CLEAR_OUTSTANDING_REQ_CNT of an NIU, the command of
    an Ethernet tile's queue, what fills its instruction RAM?"""
    if address >= ETHERNET:
        return address & 0xFFF == 4 or (chip_of(c) != BLACKHOLE and address == WORMHOLE_RAM_LOAD)
    if chip_of(c) == BLACKHOLE:
        place = address & 0x7FF
        return place == 0x40 or place == 0x60
    place = address & 0x3FF
    return place == 0x28 or place == 0x50


@compiled()
def load_register(c, thread, address, now):
    """Value of a register at a cycle; stops the coprocessor for one that does not exist here."""
    if TDMA <= address < TDMA + TDMA_BYTES:
        return load_u32(c.tdma_at + (address - TDMA & ~3))
    if address == WALL_CLOCK_LOW:
        return now & 0xFFFFFFFF
    if address == WALL_CLOCK_HIGH or address == WALL_CLOCK_HIGH_AT:
        return now >> 32
    if c.niu_at != 0 and NIUS <= address < STREAMS:
        return load_u32(c.niu_at + address - NIUS)
    if c.streams_at != 0 and STREAMS <= address < STREAMS_END:
        return load_u32(c.streams_at + address - STREAMS)
    if is_debug_register(c, address):
        return load_debug_register(c, address)
    if is_ethernet(c, address):
        return load_u32(c.ethernet_at + address - ETHERNET)
    if STREAMS <= address < STREAMS_END:
        counter = counter_of(c, address)
        if counter != NO_COUNTER:
            value, change, seen_at = newest_count(c, counter)
            return (value - (change if now < seen_at else 0)) & 0xFFFFFFFF
    if address == FEATURE_DISABLE:
        return c.dst_access_16_as_32
    stop(c, UNMAPPED_REGISTER, thread, 0, address, 0)
    return 0


@compiled()
def store_register(c, thread, address, value):
    """Set a register; stops the coprocessor for one that does not exist here."""
    if TDMA <= address < TDMA + TDMA_BYTES:
        store_32(c.tdma_at + (address - TDMA & ~3), value)
        if address == MOVER_COMMAND and c.debug_at != 0:
            c.asked, c.asked_by = ASKED_MOVER, thread
        return
    if c.niu_at != 0 and NIUS <= address < STREAMS:
        store_32(c.niu_at + address - NIUS, value)
        if is_command(c, address):
            c.asked, c.asked_by, c.asked_at = ASKED_TRANSFER, thread, address
        return
    if c.streams_at != 0 and STREAMS <= address < STREAMS_END:
        store_stream(c, address - STREAMS, value)
        c.l1_stored, c.l1_stored_by = 4, thread  # cores that wait for a change look at it
        return
    if is_debug_register(c, address):
        store_debug_register(c, thread, address, value)
        return
    if is_ethernet(c, address):
        store_32(c.ethernet_at + address - ETHERNET, value)
        if is_command(c, address):
            c.asked, c.asked_by, c.asked_at = ASKED_TRANSFER, thread, address
        return
    if STREAMS <= address < STREAMS_END:
        counter = counter_of(c, address)
        if counter != NO_COUNTER:
            c.counter_written, c.counter_thread, c.counter_value = 1, thread, value
            c.counter_buffer, c.counter_received = counter >> 1, 1 - (counter & 1)
            return
    if address == FEATURE_DISABLE and value & ~WIDE_DST == 0:
        c.dst_access_16_as_32 = value & WIDE_DST
        return
    stop(c, UNMAPPED_REGISTER, thread, 0, address, 1)
