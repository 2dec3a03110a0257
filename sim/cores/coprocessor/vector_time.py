"""How long instructions of the vector unit take, and when the unit takes the next one (ISA: VectorUnit.md, "Instruction latency").

Every instruction has the unit for one cycle.  Wormhole holds back what follows an SFPSWAP, unless it is an SFPNOP, and leaves the
other results of two cycles to the program.  On Blackhole an instruction that reads a result which is not there yet waits for it in
the unit; its thread goes on with other units (add_binary_tile in llk_blackhole_op_costs.csv: 5.6 cycles a row for two loads, a sum,
a store and an INCRWC, which is 6 if the store's wait held back the INCRWC). It holds back anything behind an SFPSWAP or a rotation
of lanes, a cycle longer than the SFPNOP would take that it wants there (comments of tt-llk, ttnn 0.81.1: ckernel_sfpu_welfords.h,
ckernel_sfpu_block_max8.h).
"""

from tensim.sim.cores.coprocessor.costs import costs_table
from tensim.sim.cores.coprocessor.dst_rows import mark_written
from tensim.sim.cores.coprocessor.opcodes import opcodes
from tensim.sim.cores.coprocessor.registers import register
from tensim.sim.cores.coprocessor.state import BLACKHOLE, chip_of, config_bank, counters, field
from tensim.sim.cores.coprocessor.vector_dst import address_fields, is_wide, lanes_address, resolved_mode
from tensim.sim.cores.coprocessor.vector_macro import is_settled, macro_steps
from tensim.sim.cores.coprocessor.vector_mad import INDIRECT_A, INDIRECT_D, SFPLUT, SFPLUTFP32
from tensim.sim.cores.coprocessor.vector_shuffles import ROTATE, ROTATE_AND_COPY_4, SHIFT
from tensim.sim.cores.coprocessor.vector_state import vector_of
from tensim.sim.cores.coprocessor.vector_units import (
    MAD,
    SFPLOAD,
    SFPLOADI,
    SFPLOADMACRO,
    SFPNOP,
    SFPSHFT2,
    SFPSTORE,
    has_b,
    has_c,
    lreg_d,
    mode_of,
    sub_unit_of,
)
from tensim.sim.engine.compiled import compiled
from tensim.sim.engine.memory import lowest_bit

SFPSWAP, SFPTRANSP, SFPCONFIG, SFPENCC, SFPPUSHC, SFPPOPC, SFPCOMPC = opcodes(
    "SFPSWAP SFPTRANSP SFPCONFIG SFPENCC SFPPUSHC SFPPOPC SFPCOMPC"
)
NO_SCOREBOARD = register("CHICKEN_BITS_sfpu_scbd_disable")
LREGS_0_TO_7, LREGS_0_TO_3, LREG_7, TABLE_LREGS = 0xFF, 0xF, 1 << 7, 0x7F


@compiled()
def lregs_read(c, word):
    """Bit set of the LRegs that an instruction reads."""
    code, mode, d = word >> 24, mode_of(word), lreg_d(word)
    if code == SFPLOAD or code == SFPLOADI or code == SFPLOADMACRO or code == SFPNOP:
        return 0
    if code == SFPENCC or code == SFPPUSHC or code == SFPPOPC or code == SFPCOMPC:
        return 0
    if code == SFPTRANSP:
        return LREGS_0_TO_7
    if code == SFPCONFIG:
        return 1
    if code == SFPLUT or code == SFPLUTFP32:
        return TABLE_LREGS | (LREG_7 if mode & INDIRECT_D else 0)
    lregs = 1 << (word >> 12 & 15 if has_b(c, word) else d) | 1 << (word >> 8 & 15 if has_c(word) else d)
    if code == SFPSTORE:
        return 1 << d
    if sub_unit_of(code) == MAD:
        lregs |= 1 << (word >> 16 & 15) if has_b(c, word) else 0
        lregs |= LREG_7 if mode & (INDIRECT_A | INDIRECT_D) else 0
    elif code == SFPSHFT2 and mode <= ROTATE_AND_COPY_4:
        lregs |= LREGS_0_TO_3
    return lregs


@compiled()
def late_lregs(word):
    """Bit set of the LRegs whose results an instruction has one cycle later than others."""
    code, mode, d = word >> 24, mode_of(word), lreg_d(word)
    if code == SFPSWAP:
        return 1 << d | 1 << (word >> 8 & 15)
    if code == SFPSHFT2:
        if mode == ROTATE_AND_COPY_4:
            return LREGS_0_TO_3
        return 1 << d if mode == ROTATE or mode == SHIFT else 0
    if sub_unit_of(code) == MAD:
        return LREGS_0_TO_7 if mode & INDIRECT_D else 1 << d
    return 0


@compiled()
def has_scoreboard(c, thread):
    """Whether the unit itself waits for results."""
    return chip_of(c) == BLACKHOLE and field(c, config_bank(c, thread), NO_SCOREBOARD, 0) == 0


@compiled()
def operands_at(c, thread, word, now):
    """Cycle, `now` or later, at which the LRegs that an instruction reads hold their results."""
    lregs, ready, at = lregs_read(c, word), counters(vector_of(c).ready_at), now
    if has_scoreboard(c, thread):
        while lregs != 0:
            at = max(at, ready[lowest_bit(lregs)])
            lregs &= lregs - 1
    return at


@compiled()
def vector_ready_at(c, thread, word, now):
    """Cycle, `now` or later, at which the unit takes an instruction.

    It waits for its operands inside, while its thread goes on with other units; before the unit only as long as scheduled
    instructions of an SFPLOADMACRO are to be carried out first.
    """
    v, at = vector_of(c), now
    if word >> 24 != SFPNOP:
        at = max(at, v.free_at)
    return at if is_settled(v) else operands_at(c, thread, word, at)


@compiled()
def vector_cost(c, thread, word):
    """(cycles that an instruction which enters now has the unit, cycles until its result is there); notes what it holds up."""
    v, k, late = vector_of(c), costs_table(c.costs_at)[0], late_lregs(word)
    start = operands_at(c, thread, word, c.cycle)
    latency = start - c.cycle + (k.vector_latency if late == 0 else k.vector_late_latency)
    if late != 0:
        ready = counters(v.ready_at)
        lregs = late
        while lregs != 0:
            ready[lowest_bit(lregs)] = c.cycle + latency
            lregs &= lregs - 1
    if word >> 24 == SFPSWAP or (late != 0 and word >> 24 == SFPSHFT2 and chip_of(c) == BLACKHOLE):
        v.free_at = start + k.vector_hold
    elif word >> 24 == SFPNOP:
        v.free_at = c.cycle + 1
    elif word >> 24 == SFPSTORE:
        mode = resolved_mode(c, thread, mode_of(word))
        mark_written(c, lanes_address(c, thread, address_fields(c, word)[0], mode), is_wide(mode))
    elif word >> 24 == SFPLOADMACRO:
        latency += macro_steps(c, word)
    return start - c.cycle + 1, latency
