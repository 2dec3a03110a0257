"""Addressing counters and banks: SETRWC, INCRWC, CLEARDVALID, and the flip of banks that instructions end with (ISA)."""

from tensim.sim.cores.coprocessor.address_mods import DST_MASK, SRC_MASK, rwc_of
from tensim.sim.cores.coprocessor.frontend import look_at_gates
from tensim.sim.cores.coprocessor.registers import register
from tensim.sim.cores.coprocessor.state import BY_UNPACKERS, counters, thread_field
from tensim.sim.engine.compiled import compiled

KEEP_A, KEEP_B = register("CLR_DVALID_SrcA_Disable"), register("CLR_DVALID_SrcB_Disable")
TO_CARRIAGE = 8  # of SETRWC's rwc_cr: Dst's counter plus a value becomes its base
FLIP_A, FLIP_B = 1, 2


@compiled()
def flip_banks(c, thread, which):
    """Give banks back to the unpackers, unless the thread is configured to keep them, and go on with the other ones."""
    if which != 0:
        look_at_gates(c)
    if which & FLIP_A:
        if thread_field(c, thread, KEEP_A, 0) == 0:
            counters(c.src_a_owner_at)[c.matrix_bank_a] = BY_UNPACKERS
        c.matrix_bank_a ^= 1
    if which & FLIP_B:
        if thread_field(c, thread, KEEP_B, 0) == 0:
            counters(c.src_b_owner_at)[c.matrix_bank_b] = BY_UNPACKERS
        c.matrix_bank_b ^= 1


@compiled()
def clear_valid(c, word):
    """CLEARDVALID: give banks to the unpackers; or all, and everyone starts with bank 0."""
    owners_a, owners_b, which, stay = (
        counters(c.src_a_owner_at),
        counters(c.src_b_owner_at),
        word >> 22 & 3,
        word >> 1 & 1,
    )
    look_at_gates(c)
    if word & 1:
        for bank in range(2):
            owners_a[bank] = owners_b[bank] = BY_UNPACKERS
        c.matrix_bank_a, c.matrix_bank_b, c.unpack_bank_a, c.unpack_bank_b = 0, 0, 0, 0
        return
    if which & FLIP_A:
        owners_a[c.matrix_bank_a] = BY_UNPACKERS
        c.matrix_bank_a ^= 1 - stay
    if which & FLIP_B:
        owners_b[c.matrix_bank_b] = BY_UNPACKERS
        c.matrix_bank_b ^= 1 - stay


@compiled()
def set_counters(c, thread, word):
    """SETRWC."""
    rwc, mask, carriage = rwc_of(c, thread), word & 15, word >> 18 & 15
    a, b, dst = word >> 6 & 15, word >> 10 & 15, word >> 14 & 15
    if mask & 1:
        rwc.src_a = (a + (rwc.src_a_cr if carriage & 1 else 0)) & SRC_MASK
        rwc.src_a_cr = rwc.src_a
    if mask & 2:
        rwc.src_b = (b + (rwc.src_b_cr if carriage & 2 else 0)) & SRC_MASK
        rwc.src_b_cr = rwc.src_b
    if mask & 4 or carriage & TO_CARRIAGE:
        base = rwc.dst if carriage & TO_CARRIAGE else rwc.dst_cr if carriage & 4 else 0
        rwc.dst = (dst + base) & DST_MASK
        rwc.dst_cr = rwc.dst
    if mask & 8:
        rwc.fidelity = 0
    flip_banks(c, thread, word >> 22 & 3)


@compiled()
def increment_counters(c, thread, word):
    """INCRWC."""
    rwc, carriage = rwc_of(c, thread), word >> 18 & 7
    a, b, dst = word >> 6 & 15, word >> 10 & 15, word >> 14 & 15
    rwc.src_a = ((rwc.src_a_cr if carriage & 1 else rwc.src_a) + a) & SRC_MASK
    rwc.src_b = ((rwc.src_b_cr if carriage & 2 else rwc.src_b) + b) & SRC_MASK
    rwc.dst = ((rwc.dst_cr if carriage & 4 else rwc.dst) + dst) & DST_MASK
    if carriage & 1:
        rwc.src_a_cr = rwc.src_a
    if carriage & 2:
        rwc.src_b_cr = rwc.src_b
    if carriage & 4:
        rwc.dst_cr = rwc.dst
