"""Addressing counters of matrix and vector instructions and how an instruction moves them on (ISA: RWCs.md)."""

from tensim.sim.cores.coprocessor.registers import register
from tensim.sim.cores.coprocessor.state import DST_ROWS, SRC_ROWS, WORMHOLE, chip_of, rwc_table, thread_field
from tensim.sim.engine.compiled import compiled

SRC_MASK, DST_MASK = SRC_ROWS - 1, DST_ROWS - 1
SET_BASE = register("ADDR_MOD_SET_Base")
A_INCREMENT, A_CARRIAGE, A_CLEAR, B_INCREMENT, B_CARRIAGE, B_CLEAR = (
    register(f"ADDR_MOD_AB_SEC0_Src{name}") for name in ("AIncr", "ACR", "AClear", "BIncr", "BCR", "BClear")
)
DST_INCREMENT, DST_CARRIAGE, DST_CLEAR, DST_TO_CARRIAGE = (
    register(f"ADDR_MOD_DST_SEC0_Dest{name}") for name in ("Incr", "CR", "Clear", "CToCR")
)
FIDELITY_INCREMENT, FIDELITY_CLEAR = (
    register("ADDR_MOD_DST_SEC0_FidelityIncr"),
    register("ADDR_MOD_DST_SEC0_FidelityClear"),
)
BIAS_INCREMENT, BIAS_CLEAR = register("ADDR_MOD_BIAS_SEC0_BiasIncr"), register("ADDR_MOD_BIAS_SEC0_BiasClear")
SECTIONS = 8


@compiled(inline="always")
def rwc_of(c, thread):
    """A thread's counters."""
    return rwc_table(c.rwcs_at)[thread]


@compiled()
def advance_src_a(c, thread, rwc, further):
    """SrcA's counter by the section of ADDR_MOD that lies some words further."""
    step = thread_field(c, thread, A_INCREMENT, further)
    if thread_field(c, thread, A_CLEAR, further) != 0:
        rwc.src_a, rwc.src_a_cr = 0, 0
    elif thread_field(c, thread, A_CARRIAGE, further) != 0:
        rwc.src_a_cr = (rwc.src_a_cr + step) & SRC_MASK
        rwc.src_a = rwc.src_a_cr
    else:
        rwc.src_a = (rwc.src_a + step) & SRC_MASK


@compiled()
def advance_src_b(c, thread, rwc, further):
    """SrcB's counter by the section of ADDR_MOD that lies some words further."""
    step = thread_field(c, thread, B_INCREMENT, further)
    if thread_field(c, thread, B_CLEAR, further) != 0:
        rwc.src_b, rwc.src_b_cr = 0, 0
    elif thread_field(c, thread, B_CARRIAGE, further) != 0:
        rwc.src_b_cr = (rwc.src_b_cr + step) & SRC_MASK
        rwc.src_b = rwc.src_b_cr
    else:
        rwc.src_b = (rwc.src_b + step) & SRC_MASK


@compiled()
def advance_dst(c, thread, rwc, section):
    """Dst's counter by a section of ADDR_MOD."""
    step = thread_field(c, thread, DST_INCREMENT, section)
    if thread_field(c, thread, DST_CLEAR, section) != 0:
        rwc.dst, rwc.dst_cr = 0, 0
    elif thread_field(c, thread, DST_TO_CARRIAGE, section) != 0:
        rwc.dst = (rwc.dst + step) & DST_MASK
        rwc.dst_cr = rwc.dst
    elif thread_field(c, thread, DST_CARRIAGE, section) != 0:
        rwc.dst_cr = (rwc.dst_cr + step) & DST_MASK
        rwc.dst = rwc.dst_cr
    else:
        rwc.dst = (rwc.dst + step) & DST_MASK


@compiled()
def apply_address_mod(c, thread, mode, with_fidelity):
    """Move a thread's counters on by the ADDR_MOD that an instruction names; the vector unit leaves the fidelity phase alone.

    Wormhole's instructions have two bits for it and reach the upper four by a bias; Blackhole's have three (tt-llk,
    assembly.yaml).
    """
    rwc, section = rwc_of(c, thread), mode
    if rwc.extra_addr_mod != 0 or thread_field(c, thread, SET_BASE, 0) != 0:
        section = (mode + 4) % SECTIONS
    words = 2 * section if chip_of(c) == WORMHOLE else section  # Wormhole's have a word for a bias count between them
    advance_src_a(c, thread, rwc, words)
    advance_src_b(c, thread, rwc, words)
    advance_dst(c, thread, rwc, section)
    if with_fidelity:
        if thread_field(c, thread, FIDELITY_CLEAR, section) != 0:
            rwc.fidelity = 0
        else:
            rwc.fidelity = (rwc.fidelity + thread_field(c, thread, FIDELITY_INCREMENT, section)) & 3
    if thread_field(c, thread, BIAS_CLEAR, section) != 0:
        rwc.extra_addr_mod = 0
    elif thread_field(c, thread, BIAS_INCREMENT, section) & 3 != 0:
        rwc.extra_addr_mod ^= 1
