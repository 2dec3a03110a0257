"""What data mean to the matrix unit: formats of sources, width of Dst, fidelity phase, rows (ISA: MVMUL.md, "Functional model").

On Blackhole a bank of a source knows the format that it was unpacked to, unless the thread's configuration says otherwise
(vendor's simulator, ttsim 1.10, tensix.cpp).
"""

from tensim.sim.cores.coprocessor.address_mods import rwc_of
from tensim.sim.cores.coprocessor.dst_rows import dst_offset
from tensim.sim.cores.coprocessor.opcodes import opcodes
from tensim.sim.cores.coprocessor.registers import register
from tensim.sim.cores.coprocessor.state import BLACKHOLE, SRC_ROWS, chip_of, config_bank, field, thread_field
from tensim.sim.cores.coprocessor.unpackers import bank_formats
from tensim.sim.engine.compiled import compiled

GMPOOL, GAPOOL, MOVB2D, MOVDBGB2D = opcodes("GMPOOL GAPOOL MOVB2D MOVDBGB2D")
FP16, TF32, BF16, INT8 = 1, 4, 5, 14
# fp32 tf32 bf16 bfp8 bfp4 int32 int16 bfp2
EIGHT_BIT_EXPONENT = sum(1 << number for number in (0, 4, 5, 6, 7, 8, 9, 15))
KEEP_FP16, KEEP_TF32, KEEP_BF16 = 0x8FFFE000, 0xFFFFE000, 0xFFFF0000  # bits of a word that a source has
FORCE_FP16, FIDELITY_BASE = register("FP16A_FORCE_Enable"), register("FIDELITY_BASE_Phase")
INTEGERS, WIDE_DST = register("ALU_ACC_CTRL_INT8_math_enabled"), register("ALU_ACC_CTRL_Fp32_enabled")
KEEP_DENORMALS = register("ALU_ACC_CTRL_Zero_Flag_disabled_src")
A_OVERRIDE, A_VALUE, A_FORMAT = (
    register(f"ALU_FORMAT_SPEC_{name}") for name in ("REG_SrcA_override", "REG_SrcA_val", "REG0_SrcA")
)
B_OVERRIDE, B_VALUE, B_FORMAT = (
    register(f"ALU_FORMAT_SPEC_{name}") for name in ("REG_SrcB_override", "REG_SrcB_val", "REG1_SrcB")
)
NO_IMPLIED_A, NO_IMPLIED_B = register("DISABLE_IMPLIED_SRCA_FMT_Base"), register("DISABLE_IMPLIED_SRCB_FMT_Base")


@compiled()
def format_of_a(c, thread, from_b):
    """Number of the format that stands for SrcA's; `from_b`: for an instruction that reads SrcB only, which takes its bank's."""
    bank = config_bank(c, thread)
    if chip_of(c) == BLACKHOLE and thread_field(c, thread, NO_IMPLIED_A, 0) == 0:
        return bank_formats(c, 1)[c.matrix_bank_b] if from_b else bank_formats(c, 0)[c.matrix_bank_a]
    return field(c, bank, A_VALUE, 0) if field(c, bank, A_OVERRIDE, 0) != 0 else field(c, bank, A_FORMAT, 0)


@compiled()
def format_of_b(c, thread):
    """Number of SrcB's format."""
    bank = config_bank(c, thread)
    if chip_of(c) == BLACKHOLE and thread_field(c, thread, NO_IMPLIED_B, 0) == 0:
        return bank_formats(c, 1)[c.matrix_bank_b]
    return field(c, bank, B_VALUE, 0) if field(c, bank, B_OVERRIDE, 0) != 0 else field(c, bank, B_FORMAT, 0)


@compiled(inline="always")
def is_narrow(number):
    """Whether a format has a 5-bit exponent."""
    return EIGHT_BIT_EXPONENT >> number & 1 == 0


@compiled()
def kept_bits(number):
    """Mask of the bits of a word that a source of a format has."""
    if number == TF32:
        return KEEP_TF32
    return KEEP_FP16 if is_narrow(number) else KEEP_BF16


@compiled()
def forced_to_fp16(c, thread):
    """Whether a thread takes all data for fp16 in a 16-bit Dst."""
    return thread_field(c, thread, FORCE_FP16, 0) != 0


@compiled()
def computes_integers(c, thread):
    """Whether products are of integers."""
    return not forced_to_fp16(c, thread) and field(c, config_bank(c, thread), INTEGERS, 0) != 0


@compiled()
def has_wide_dst(c, thread):
    """Whether Dst holds 32-bit values to arithmetic."""
    bank = config_bank(c, thread)
    return not forced_to_fp16(c, thread) and (field(c, bank, WIDE_DST, 0) != 0 or field(c, bank, INTEGERS, 0) != 0)


@compiled()
def flushes_denormals(c, thread):
    """Whether values of sources without exponent count as 0."""
    return field(c, config_bank(c, thread), KEEP_DENORMALS, 0) == 0


@compiled()
def fidelity_phase(c, thread):
    """The fidelity phase of a product, 0 to 3."""
    return (rwc_of(c, thread).fidelity + thread_field(c, thread, FIDELITY_BASE, 0)) & 3


@compiled()
def address_mod_of(c, word):
    """The ADDR_MOD of an instruction that has one: two bits from bit 15, on Blackhole three from bit 14 (pools: 15)."""
    if chip_of(c) != BLACKHOLE:
        return word >> 15 & 3
    code = word >> 24
    return word >> 15 & 7 if code == GMPOOL or code == GAPOOL else word >> 14 & 7


@compiled()
def dst_row_of(c, thread, word):
    """Row of Dst that an instruction names, with counter and offsets; whoever takes several rows masks the low bits."""
    mask = 0x7FF if chip_of(c) == BLACKHOLE and (word >> 24 == MOVB2D or word >> 24 == MOVDBGB2D) else 0xFFF
    return ((word & mask) + rwc_of(c, thread).dst + dst_offset(c, thread)) & 0x3FF


@compiled(inline="always")
def src_row(row):
    """A row of a source, wrapped."""
    return row & (SRC_ROWS - 1)
