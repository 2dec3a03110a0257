"""Instructions of the vector unit by sub-unit: which one an opcode belongs to, its registers, and carrying it out (ISA)."""

from tensim.sim.cores.coprocessor.faults import UNKNOWN_INSTRUCTION, UNKNOWN_MODE, stop
from tensim.sim.cores.coprocessor.opcodes import opcodes
from tensim.sim.cores.coprocessor.state import BLACKHOLE, chip_of
from tensim.sim.cores.coprocessor.vector_dst import (
    address_fields,
    lanes_address,
    load_lanes,
    move_on,
    resolved_mode,
    store_lanes,
)
from tensim.sim.cores.coprocessor.vector_mad import INDIRECT_D, execute_mad
from tensim.sim.cores.coprocessor.vector_operations import put, put_high, put_low
from tensim.sim.cores.coprocessor.vector_shuffles import ROTATE_AND_COPY_4, shuffle
from tensim.sim.cores.coprocessor.vector_simple import execute_rounding, execute_simple, signed_12
from tensim.sim.cores.coprocessor.vector_state import BONUS_LREG, ENABLED, FIRST_CONSTANT, WASTE, row_at
from tensim.sim.engine.compiled import compiled

SIMPLE, MAD, ROUND, STORE, LOAD = range(5)  # sub-units, those that SFPLOADMACRO schedules first
SFPLOAD, SFPLOADI, SFPSTORE, SFPLUT, SFPMULI, SFPADDI, SFPLOADMACRO, SFPNOP = opcodes(
    "SFPLOAD SFPLOADI SFPSTORE SFPLUT SFPMULI SFPADDI SFPLOADMACRO SFPNOP"
)
SFPMAD, SFPADD, SFPMUL, SFP_STOCH_RND, SFPSHFT2, SFPLUTFP32, SFPMUL24, SFPAND, SFPOR = opcodes(
    "SFPMAD SFPADD SFPMUL SFP_STOCH_RND SFPSHFT2 SFPLUTFP32 SFPMUL24 SFPAND SFPOR"
)
SFPARECIP, SFPLE, SFPGT, SFPSETCC, SFPSWAP, SFPCONFIG, SFPENCC, SFPTRANSP, SFPPUSHC, SFPPOPC = opcodes(
    "SFPARECIP SFPLE SFPGT SFPSETCC SFPSWAP SFPCONFIG SFPENCC SFPTRANSP SFPPUSHC SFPPOPC"
)
FLOAT_B, FLOAT_A, UNSIGNED, SIGNED, UPPER, LOWER = 0, 1, 2, 4, 8, 10  # modes of SFPLOADI


@compiled()
def sub_unit_of(code):
    """The sub-unit that executes an opcode."""
    if code == SFPLOAD or code == SFPLOADI or code == SFPLOADMACRO or code == SFPNOP:
        return LOAD
    if code == SFPSTORE:
        return STORE
    if SFPLUT <= code <= SFPADDI or SFPMAD <= code <= SFPMUL or code == SFPLUTFP32 or code == SFPMUL24:
        return MAD
    return ROUND if code == SFP_STOCH_RND or code == SFPSHFT2 else SIMPLE


@compiled()
def exists(c, code):
    """Whether the chip's vector unit has an opcode."""
    return SFPLOAD <= code < SFPLE or (chip_of(c) == BLACKHOLE and SFPLE <= code <= SFPARECIP)


@compiled(inline="always")
def lreg_d(word):
    """Number of LReg VD of an instruction."""
    return word >> 20 & 15 if SFPLOAD <= word >> 24 <= SFPLUT or word >> 24 == SFPLOADMACRO else word >> 4 & 15


@compiled(inline="always")
def mode_of(word):
    """An instruction's mode, Mod0 or Mod1 of the ISA."""
    return word >> 16 & 15 if SFPLOAD <= word >> 24 <= SFPLUT or word >> 24 == SFPLOADMACRO else word & 15


@compiled()
def has_b(c, word):
    """Whether an instruction names its LReg VB; others use VD in its stead."""
    code = word >> 24
    if (SFPMAD <= code <= SFPMUL) or code == SFPMUL24 or code == SFP_STOCH_RND or code == SFPSHFT2:
        return True
    return chip_of(c) == BLACKHOLE and (code == SFPAND or code == SFPOR) and word & 1 == 1


@compiled(inline="always")
def has_c(word):
    """Whether an instruction names its LReg VC; others use VD in its stead."""
    return word >> 24 != SFPADDI and word >> 24 != SFPMULI


@compiled()
def load_immediate(c, v, thread, word, d):
    """SFPLOADI."""
    if d >= FIRST_CONSTANT:
        return
    target, mask, value, mode = row_at(v, d), row_at(v, ENABLED), word & 0xFFFF, mode_of(word)
    if mode == UPPER:
        put_high(target, mask, target, target, target, value)
    elif mode == LOWER:
        put_low(target, mask, target, target, target, value)
    elif mode == FLOAT_B:
        put(target, mask, target, target, target, value << 16)
    elif mode == FLOAT_A:
        put(target, mask, target, target, target, (value & 0x8000) << 16 | ((value & 0x7FFF) + (112 << 10)) << 13)
    elif mode == UNSIGNED:
        put(target, mask, target, target, target, value)
    elif mode == SIGNED:
        put(target, mask, target, target, target, (value ^ 0x8000) - 0x8000)
    else:
        stop(c, UNKNOWN_MODE, thread, word, mode, 0)


@compiled()
def load(c, v, thread, word, d):
    """SFPLOAD, and that part of SFPLOADMACRO; returns the lanes' address in Dst."""
    mode = resolved_mode(c, thread, mode_of(word))
    address = lanes_address(c, thread, address_fields(c, word)[0], mode)
    if d < FIRST_CONSTANT:
        load_lanes(c, v, thread, word, mode, address, d)
    move_on(c, thread, word)
    return address


@compiled()
def store(c, v, thread, word, d, with_data):
    """SFPSTORE; without data when it only writes itself as a template."""
    mode = resolved_mode(c, thread, mode_of(word))
    if with_data:
        store_lanes(c, v, thread, word, mode, lanes_address(c, thread, address_fields(c, word)[0], mode), row_at(v, d))
    move_on(c, thread, word)


@compiled(inline="always")
def target_of(v, d):
    """Where LReg `d` is written; those that cannot be written go to waste."""
    return row_at(v, d) if d < FIRST_CONSTANT or d == BONUS_LREG else row_at(v, WASTE)


@compiled()
def has_result(word, d):
    """Whether an instruction writes LReg `d` through its target; others act on flags, or on LRegs of their own choice."""
    code, mode = word >> 24, mode_of(word)
    if code == SFPSHFT2:
        return mode > ROTATE_AND_COPY_4
    if sub_unit_of(code) == MAD:
        return mode & INDIRECT_D == 0 or d == BONUS_LREG
    if code == SFPSETCC or code == SFPSWAP or code == SFPCONFIG or code == SFPNOP or SFPENCC <= code <= SFPTRANSP:
        return False
    return not (SFPPUSHC <= code <= SFPPOPC or (SFPLE <= code <= SFPGT and mode == 1))


@compiled()
def execute_in_sub_unit(c, v, thread, word, sub_unit, b, operand, d, target):
    """Carry out an instruction of the simple, MAD or round sub-unit.

    `b`, `operand`: numbers of LRegs VB and VC; `target`: host address where LReg `d` is to be written.
    """
    code, mode = word >> 24, mode_of(word)
    if sub_unit == SIMPLE:
        execute_simple(c, v, thread, code, word, mode, b, operand, d, target)
    elif sub_unit == MAD:
        execute_mad(c, v, code, word, mode, word >> 16 & 15, row_at(v, b), row_at(v, operand), d, target)
    elif code == SFPSHFT2:
        shuffle(c, v, thread, word, mode, signed_12(word), b, row_at(v, operand), d, target)
    elif code == SFP_STOCH_RND:
        execute_rounding(v, word, mode, row_at(v, b), row_at(v, operand), target)
    elif code != SFPNOP:
        stop(c, UNKNOWN_INSTRUCTION, thread, word, 0, 0)
