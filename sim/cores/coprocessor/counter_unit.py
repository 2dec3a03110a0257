"""Miscellaneous unit: the addressing counters of unpackers and packers (ISA: ADCs.md, SETADC.md to ADDRCRZW.md)."""

from tensim.sim.cores.coprocessor.faults import UNKNOWN_INSTRUCTION, UNKNOWN_MODE, stop
from tensim.sim.cores.coprocessor.opcodes import opcodes
from tensim.sim.cores.coprocessor.state import N_THREADS, PACKERS, UNPACKER_0, adc_table
from tensim.sim.engine.compiled import compiled

SETADC, SETADCXX, SETADCXY, SETADCZW, INCADCXY, INCADCZW, ADDRCRXY, ADDRCRZW, DMANOP, NOP = opcodes(
    "SETADC SETADCXX SETADCXY SETADCZW INCADCXY INCADCZW ADDRCRXY ADDRCRZW DMANOP NOP"
)
X_MASK, Y_MASK, ZW_MASK = (1 << 18) - 1, (1 << 13) - 1, (1 << 8) - 1  # widths of the counters
X, Y, Z, W = range(4)


@compiled(inline="always")
def adc_of(c, thread, owner, channel):
    """The counters of a channel of UNPACKER_0, UNPACKER_1 or PACKERS."""
    return adc_table(c.adcs_at)[(thread * N_THREADS + owner) * 2 + channel]


@compiled()
def set_counter(adc, axis, value):
    """Set a counter and the base that its carriage returns to."""
    if axis == X:
        adc.x = adc.x_cr = value & X_MASK
    elif axis == Y:
        adc.y = adc.y_cr = value & Y_MASK
    elif axis == Z:
        adc.z = adc.z_cr = value & ZW_MASK
    else:
        adc.w = adc.w_cr = value & ZW_MASK


@compiled()
def add_to_counter(adc, axis, step):
    """Add to a counter alone."""
    if axis == X:
        adc.x = (adc.x + step) & X_MASK
    elif axis == Y:
        adc.y = (adc.y + step) & Y_MASK
    elif axis == Z:
        adc.z = (adc.z + step) & ZW_MASK
    else:
        adc.w = (adc.w + step) & ZW_MASK


@compiled()
def carry_counter(adc, axis, step):
    """Add to the base of a counter and set the counter to it."""
    if axis == X:
        adc.x = adc.x_cr = (adc.x_cr + step) & X_MASK
    elif axis == Y:
        adc.y = adc.y_cr = (adc.y_cr + step) & Y_MASK
    elif axis == Z:
        adc.z = adc.z_cr = (adc.z_cr + step) & ZW_MASK
    else:
        adc.w = adc.w_cr = (adc.w_cr + step) & ZW_MASK


@compiled()
def change_pair(c, code, thread, owner, word):
    """One of the instructions that change two counters of both channels, on the counters of one owner."""
    first = X if code == SETADCXY or code == INCADCXY or code == ADDRCRXY else Z
    for i in range(4):  # fields of 3 bits: channel 0, channel 1; first axis, second
        adc, axis, value = adc_of(c, thread, owner, i >> 1), first + (i & 1), word >> (6 + 3 * i) & 7
        if code == INCADCXY or code == INCADCZW:
            add_to_counter(adc, axis, value)
        elif word >> i & 1 != 0:
            if code == SETADCXY or code == SETADCZW:
                set_counter(adc, axis, value)
            else:
                carry_counter(adc, axis, value)


@compiled()
def execute_counters(c, thread, word):
    """Carry out an instruction of the miscellaneous unit on addressing counters."""
    code, owners = word >> 24, word >> 21 & 7
    if code == NOP or code == DMANOP:
        return
    other = 0
    if code == SETADC:
        other = word >> 16 & 3
    elif SETADCXY <= code <= ADDRCRZW:
        other = word >> 18 & 3
    elif code != SETADCXX:
        stop(c, UNKNOWN_INSTRUCTION, thread, word, 0, 0)
        return
    if other > N_THREADS:
        stop(c, UNKNOWN_MODE, thread, word, other, 0)
        return
    which = thread if other == 0 else other - 1
    for owner in range(UNPACKER_0, PACKERS + 1):
        if owners >> owner & 1 == 0:
            continue
        if code == SETADC:
            # Bits 16 and 17 name a thread, and are none of the value's: kernels set an end of 255 for another thread
            # (tt-llk, ttnn 0.81.1: llk_unpack_AB_face_compressed_mm.h)
            set_counter(adc_of(c, which, owner, word >> 20 & 1), word >> 18 & 3, word & 0xFFFF)
        elif code == SETADCXX:
            set_counter(adc_of(c, thread, owner, 0), X, word & 0x3FF)
            set_counter(adc_of(c, thread, owner, 1), X, word >> 10 & 0x3FF)
        else:
            change_pair(c, code, which, owner, word)
