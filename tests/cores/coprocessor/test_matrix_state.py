"""Moves, clearing, counters, banks, faults and time of the matrix unit."""

import numpy as np
import pytest

from tensim.sim.cores.coprocessor.faults import Cause
from tensim.sim.cores.coprocessor.matrix_time import matrix_cost, matrix_ready_at
from tensim.sim.cores.coprocessor.matrix_unit import matrix_needs
from tensim.sim.cores.coprocessor.state import BY_MATRIX_UNIT, BY_UNPACKERS
from tests.cores.coprocessor.coprocessor_bench import CHIPS, Bench

FP16, TF32, BF16, UINT16 = 1, 4, 5, 9
RNG = np.random.default_rng(4)


@pytest.fixture(params=CHIPS)
def bench(request):
    bench = Bench(request.param)
    bench.arrays.src_a[:] = RNG.integers(0, 1 << 19, bench.arrays.src_a.shape)
    bench.arrays.src_b[:] = RNG.integers(0, 1 << 19, bench.arrays.src_b.shape)
    bench.arrays.dst[:] = RNG.integers(0, 1 << 16, bench.arrays.dst.shape)
    use(bench, BF16)
    return bench


def use(bench, data, **more):
    bench.configure(ALU_FORMAT_SPEC_REG0_SrcA=data, ALU_FORMAT_SPEC_REG1_SrcB=data, **more)
    bench.parts["unpackers"]["format"][:] = data


def flushed(values):
    return np.where(values & 0xFF, values, 0)


def as_bf16(values):
    return (values >> 3 & 0x8000) | (values >> 3 & 0x7F00) | values & 0xFF


def as_fp16(values):
    return (values >> 3 & 0xFFE0) | values & 0x1F


# --- to Dst


def test_srca_to_dst(bench):
    bench.arrays.rwcs["src_a"][1], bench.arrays.rwcs["dst"][1] = 8, 16
    bench.do("MOVA2D", src=9, dst=35, instr_mod=2)  # aligned: rows 16 on, 48 on
    assert np.array_equal(bench.arrays.dst[48:56], as_bf16(flushed(bench.arrays.src_a[0, 16:24])))
    bench.do("MOVA2D", src=3, dst=5)
    assert np.array_equal(bench.arrays.dst[21], as_bf16(flushed(bench.arrays.src_a[0, 11])))


def test_16_bit_values_among_32_bit_ones(bench):
    """With bit 11 of the register that switches features off they are upper halves (ISA: Dst.md)."""
    bench.arrays.record["dst_access_16_as_32"] = 1 << 11
    lower = bench.arrays.dst[24:32].copy()
    bench.do("MOVA2D", src=0, dst=8, instr_mod=2)  # row 8 of 32-bit values: rows 16 on, and 24 on
    assert np.array_equal(bench.arrays.dst[16:24], as_bf16(flushed(bench.arrays.src_a[0, :8])))
    assert np.array_equal(bench.arrays.dst[24:32], lower)


def test_other_formats_to_dst(bench):
    use(bench, FP16)
    bench.do("MOVA2D", instr_mod=2)
    assert np.array_equal(bench.arrays.dst[:8], as_fp16(flushed(bench.arrays.src_a[0, :8])))
    use(bench, UINT16, ALU_ACC_CTRL_Zero_Flag_disabled_src=1)
    bench.do("MOVA2D", instr_mod=2)
    assert np.array_equal(bench.arrays.dst[:8], as_bf16(bench.arrays.src_a[0, :8]))
    use(bench, TF32, ALU_ACC_CTRL_Zero_Flag_disabled_src=0)
    bench.do("MOVA2D", instr_mod=2)
    values = flushed(bench.arrays.src_a[0, :8])
    assert np.array_equal(bench.arrays.dst[:8], as_bf16(values))
    assert np.array_equal(bench.arrays.dst[8:16], (values >> 8 & 7) << 13)


def test_two_moves_join_halves_of_32_bits(bench):
    use(bench, TF32)
    bench.do("MOVA2D", instr_mod=2)
    high = bench.arrays.dst[:8].copy()
    use(bench, BF16)
    bench.do("MOVA2D", instr_mod=2, dest_32b_lo=1)
    assert np.array_equal(bench.arrays.dst[:8], high)
    assert np.array_equal(bench.arrays.dst[8:16], as_bf16(flushed(bench.arrays.src_a[0, :8])))


def test_srcb_to_dst(bench):
    b = flushed(bench.arrays.src_b[0])
    key = "movb2d_instr_mod" if bench.chip == "blackhole" else "instr_mod"
    for mode, rows, expected in (
        (4, slice(16, 20), b[20:24]), (2, slice(16, 24), np.tile(b[21], (8, 1))), (0, slice(17, 18), b[21:22]),
        (5, slice(16, 20), np.tile(b[20:24, :1], 16)), (3, slice(16, 24), np.full((8, 16), b[21, 0])),
    ):  # fmt: skip
        bench.arrays.dst[:] = 0x1234
        bench.do("MOVB2D", src=21, dst=17, **{key: mode})
        assert np.array_equal(bench.arrays.dst[rows], as_bf16(expected)), mode
        assert (bench.arrays.dst == 0x1234).sum() >= 16 * (1024 - 8)


def test_columns_that_the_vector_unit_blocks(bench):
    bench.do("SFPCONFIG", config_dest=15, instr_mod1=1, imm16_math=1 << 10)  # odd columns
    bench.arrays.dst[:] = 0x1234
    bench.do("MOVA2D", instr_mod=2)
    assert (bench.arrays.dst[:8, 1::2] == 0x1234).all()
    assert np.array_equal(bench.arrays.dst[:8, ::2], as_bf16(flushed(bench.arrays.src_a[0, :8, ::2])))


# --- from Dst


@pytest.mark.parametrize("name", ["MOVD2A", "MOVD2B"])
def test_dst_to_a_source(bench, name):
    source = bench.arrays.src_a if name == "MOVD2A" else bench.arrays.src_b
    dst = bench.arrays.dst.astype(np.uint32)
    bench.do(name, src=21, dst=18, instr_mod=2)
    assert np.array_equal(source[0, 20:24], (dst[16:20] & 0xFF00) << 3 | dst[16:20] & 0xFF)
    use(bench, FP16)
    bench.do(name, src=1, dst=18)
    assert np.array_equal(source[0, 1], (dst[18] & 0xFFE0) << 3 | dst[18] & 0x1F)
    use(bench, TF32, ALU_ACC_CTRL_Fp32_enabled=1)
    bench.do(name, dst=8, instr_mod=2)  # upper halves in row 16 on, lower ones in row 24 on
    assert np.array_equal(source[0, :4], (dst[16:20] & 0xFF00) << 3 | (dst[24:28] >> 13) << 8 | dst[16:20] & 0xFF)
    use(bench, BF16)
    bench.do(name, dst=8, instr_mod=2, dest_32b_lo=1)
    assert np.array_equal(source[0, :4], (dst[24:28] & 0xFF00) << 3 | dst[24:28] & 0xFF)


def test_dst_of_16_bits_has_no_lower_halves_and_no_tf32(bench):
    for data, low in ((BF16, 1), (TF32, 0)):
        bench.arrays.record["fault"] = 0
        use(bench, data)
        bench.do("MOVD2A", dest_32b_lo=low)
        assert bench.fault[0] == Cause.MISUSE


def test_srcb_to_srca(bench):
    bench.do("MOVB2A", srca=5, srcb=18, instr_mod=2)
    assert np.array_equal(bench.arrays.src_a[0, 4:8], flushed(bench.arrays.src_b[0, 16:20]))


# --- clearing and shifting


def test_zeroacc(bench):
    undefined = bench.arrays.dst_undefined
    key = "where" if bench.chip == "blackhole" else "dst"
    wide = {"use_32_bit_mode": 1} if bench.chip == "blackhole" else {"clear_mode": 1 | 4}
    bench.do("ZEROACC", **{key: 3, "clear_mode": 1})
    assert np.flatnonzero(undefined).tolist() == list(range(48, 64))
    undefined[:] = 0
    bench.do("ZEROACC", **{"clear_mode": 1, key: 3, **wide})
    assert np.flatnonzero(undefined).tolist() == list(range(96, 128))
    undefined[:] = 0
    bench.do("ZEROACC", **{key: 1, "clear_mode": 2})
    assert np.flatnonzero(undefined).tolist() == list(range(512, 1024))
    bench.do("ZEROACC", clear_mode=3)
    assert undefined.all()
    undefined[:] = 0
    bench.arrays.rwcs["dst"][1] = 4
    bench.do("ZEROACC", **{key: 3})
    assert np.flatnonzero(undefined).tolist() == [7]
    undefined[:] = 0
    bench.configure(ALU_ACC_CTRL_Fp32_enabled=1)
    bench.do("ZEROACC", **{key: 3})
    assert np.flatnonzero(undefined).tolist() == [7, 15]


def test_blackholes_zeroacc_counts_tiles_from_the_threads_half():
    bench = Bench("blackhole")
    bench.configure_thread(DEST_TARGET_REG_CFG_MATH_Offset=512)
    bench.do("ZEROACC", where=1, clear_mode=1)
    assert np.flatnonzero(bench.arrays.dst_undefined).tolist() == list(range(528, 544))
    bench.do("ZEROACC", where=1, clear_mode=1, clear_zero_flags=1)
    assert not bench.arrays.dst_undefined.any()
    bench.configure(DEST_ACCESS_CFG_zeroacc_absolute_tile_mode=1)
    bench.do("ZEROACC", where=1, clear_mode=1)
    assert np.flatnonzero(bench.arrays.dst_undefined).tolist() == list(range(16, 32))


def test_zerosrc(bench):
    bench.arrays.record["matrix_bank_a"] = 1
    bench.do("ZEROSRC", src_mask=1, write_mode=1)
    assert not bench.arrays.src_a[1].any() and bench.arrays.src_a[0].any() and bench.arrays.src_b.any(axis=(1, 2)).all()
    bench.do("ZEROSRC", src_mask=3, zero_val=1)
    assert (bench.arrays.src_a[0] == 0x7FFFF).all() and not bench.arrays.src_b[0].any() and bench.arrays.src_b[1].any()
    bench.do("ZEROSRC", src_mask=3, bank_mask=1)
    assert not bench.arrays.src_a.any() and not bench.arrays.src_b.any()


def test_transpose_and_shifts(bench):
    b = bench.arrays.src_b[0].copy()
    bench.do("TRNSPSRCB")
    assert np.array_equal(bench.arrays.src_b[0, 16:32], b[16:32].T)
    bench.arrays.rwcs["src_b"][1] = 40
    bench.do("SHIFTXB", shift_row=2)
    assert np.array_equal(bench.arrays.src_b[0, 42], np.roll(b[42], -1))
    bench.do("SHIFTXB", shift_row=3, rot_shift=1)
    assert np.array_equal(bench.arrays.src_b[0, 43], [*b[43, 1:], 0])
    a = bench.arrays.src_a[0].copy()
    bench.do("MOVA2D", src=35)  # the next shift begins there
    bench.do("SHIFTXA", shift_mode=2)
    assert np.array_equal(bench.arrays.src_a[0, :16], np.pad(a[32:48, :-1], ((0, 0), (1, 0))))
    bench.do("SHIFTXA", shift_mode=3)
    assert np.array_equal(bench.arrays.src_a[0, :16], np.pad(a[32:48, 1:], ((0, 0), (0, 1))))
    bench.do("SHIFTXA", shift_mode=1)
    assert bench.fault[0] == Cause.UNKNOWN_MODE


# --- counters and banks


def counters(bench, thread=1):
    return {name: int(bench.arrays.rwcs[name][thread]) for name in bench.arrays.rwcs.dtype.names}


def test_setrwc_and_incrwc(bench):
    bench.do("SETRWC", BitMask=15, rwc_a=3, rwc_b=4, rwc_d=5)
    assert counters(bench) == dict(
        dst=5, dst_cr=5, src_a=3, src_a_cr=3, src_b=4, src_b_cr=4, fidelity=0, extra_addr_mod=0
    )
    bench.do("INCRWC", rwc_a=2, rwc_b=3, rwc_d=8, rwc_cr=1)
    assert counters(bench) | {} == dict(
        dst=13, dst_cr=5, src_a=5, src_a_cr=5, src_b=7, src_b_cr=4, fidelity=0, extra_addr_mod=0
    )
    bench.do("SETRWC", BitMask=7, rwc_a=1, rwc_b=1, rwc_d=2, rwc_cr=7)
    assert [counters(bench)[key] for key in ("src_a", "src_b", "dst", "dst_cr")] == [6, 5, 7, 7]
    bench.do("INCRWC", rwc_d=4)
    bench.do("SETRWC", rwc_d=1, rwc_cr=8)
    assert [counters(bench)[key] for key in ("dst", "dst_cr")] == [12, 12]
    assert counters(bench, 0) == dict.fromkeys(counters(bench, 0), 0)


def test_banks_flip_and_go_back_to_the_unpackers(bench):
    bench.do("SETRWC", clear_ab_vld=3)
    record, a, b = bench.arrays.record, bench.arrays.src_a_owner, bench.arrays.src_b_owner
    assert (record["matrix_bank_a"][0], record["matrix_bank_b"][0]) == (1, 1)
    assert a.tolist() == b.tolist() == [BY_UNPACKERS, BY_MATRIX_UNIT]
    bench.configure_thread(CLR_DVALID_SrcB_Disable=1)
    bench.do("MVMUL", clear_dvalid=3)
    assert a.tolist() == [BY_UNPACKERS] * 2 and b.tolist() == [BY_UNPACKERS, BY_MATRIX_UNIT]
    assert (record["matrix_bank_a"][0], record["matrix_bank_b"][0]) == (0, 0)
    a[:] = b[:] = BY_MATRIX_UNIT
    bench.do("CLEARDVALID", cleardvalid=3, reset=2)
    assert a.tolist() == b.tolist() == [BY_UNPACKERS, BY_MATRIX_UNIT] and record["matrix_bank_a"][0] == 0
    bench.do("CLEARDVALID", cleardvalid=1)
    assert record["matrix_bank_a"][0] == 1
    record["unpack_bank_b"] = 1
    bench.do("CLEARDVALID", reset=1)
    assert a.tolist() == b.tolist() == [BY_UNPACKERS] * 2
    assert not any(record[name][0] for name in ("matrix_bank_a", "matrix_bank_b", "unpack_bank_a", "unpack_bank_b"))


def test_address_mods(bench):
    bench.configure_thread(
        further=2, ADDR_MOD_AB_SEC0_SrcAIncr=8, ADDR_MOD_AB_SEC0_SrcBIncr=3, ADDR_MOD_AB_SEC0_SrcBCR=1,
        ADDR_MOD_DST_SEC0_DestIncr=16, ADDR_MOD_DST_SEC0_DestCToCR=1, ADDR_MOD_DST_SEC0_FidelityIncr=1,
    )  # fmt: skip
    bench.configure_thread(further=3, ADDR_MOD_AB_SEC0_SrcAClear=1, ADDR_MOD_DST_SEC0_DestCR=1, ADDR_MOD_DST_SEC0_DestIncr=4,
                           ADDR_MOD_DST_SEC0_FidelityClear=1, ADDR_MOD_BIAS_SEC0_BiasIncr=1)  # fmt: skip
    bench.configure_thread(further=6, ADDR_MOD_AB_SEC0_SrcAIncr=1)
    for _ in range(2):
        bench.do("MVMUL", addr_mode=2)
    assert counters(bench) == dict(
        dst=32, dst_cr=32, src_a=16, src_a_cr=0, src_b=6, src_b_cr=6, fidelity=2, extra_addr_mod=0
    )
    bench.do("MVMUL", addr_mode=3)
    assert counters(bench) == dict(
        dst=36, dst_cr=36, src_a=0, src_a_cr=0, src_b=6, src_b_cr=6, fidelity=0, extra_addr_mod=1
    )
    bench.do("MVMUL", addr_mode=2)  # with the bias section 6
    assert counters(bench)["src_a"] == 1
    bench.do("SETRWC", BitMask=15)
    bench.arrays.rwcs["extra_addr_mod"] = 0
    if bench.chip == "blackhole":
        bench.do("GMPOOL", pool_addr_mode=6)
        bench.do("MVMUL", addr_mode=6)
        assert counters(bench)["src_a"] == 2
    else:
        bench.configure_thread(ADDR_MOD_SET_Base=1)
        bench.do("GMPOOL", addr_mode=2)
        assert counters(bench)["src_a"] == 1


def test_implied_formats_of_blackhole():
    bench = Bench("blackhole")
    bench.arrays.src_a[:] = 0x45678
    bench.configure(ALU_FORMAT_SPEC_REG0_SrcA=FP16)
    bench.parts["unpackers"]["format"][0, 0] = [BF16, FP16]  # banks of SrcA
    bench.do("MOVA2D")
    assert bench.arrays.dst[0, 0] == as_bf16(0x45678)
    bench.arrays.record["matrix_bank_a"] = 1
    bench.do("MOVA2D")
    assert bench.arrays.dst[0, 0] == as_fp16(0x45678)
    bench.arrays.record["matrix_bank_a"] = 0
    bench.configure_thread(DISABLE_IMPLIED_SRCA_FMT_Base=1)
    bench.do("MOVA2D")
    assert bench.arrays.dst[0, 0] == as_fp16(0x45678)


# --- faults, needs, time


def test_what_stops_the_unit(bench):
    for do, cause in (
        (lambda b: b.do("MVMUL", instr_mod19=2), Cause.UNKNOWN_MODE),
        (lambda b: b.do("CONV3S1"), Cause.UNKNOWN_INSTRUCTION),
        (lambda b: b.do("TRNSPSRCA"), Cause.UNKNOWN_INSTRUCTION),
        (lambda b: b.do("SETIBRWC"), Cause.UNKNOWN_INSTRUCTION),
        (lambda b: (b.arrays.rwcs["fidelity"].fill(1), b.do("ELWADD")), Cause.MISUSE),
        (lambda b: (b.configure(ALU_ACC_CTRL_Zero_Flag_disabled_src=1), b.do("MVMUL")), Cause.MISUSE),
    ):
        other = Bench(bench.chip)
        do(other)
        assert other.fault[0] == cause


def test_which_sources_an_instruction_waits_for(bench):
    for needs, names in (
        (3, "MVMUL DOTPV GAPOOL GMPOOL ELWADD ELWSUB ELWMUL"), (1, "MOVA2D SHIFTXA"), (2, "MOVB2D MOVB2A TRNSPSRCB SHIFTXB"),
        (0, "MOVD2A MOVD2B MOVDBGA2D SETRWC INCRWC ZEROACC ZEROSRC CLEARDVALID GATESRCRST CLREXPHIST"),
    ):  # fmt: skip
        for name in names.split():
            assert matrix_needs(bench.word(name)) == needs, name


def enters(bench, name, cycle, **values):
    """The cost of an instruction that enters the unit at a cycle."""
    bench.arrays.record["cycle"] = cycle
    return matrix_cost(bench.arrays.record[0], 1, bench.word(name, **values))


def ready(bench, name, now, **values):
    return matrix_ready_at(bench.arrays.record[0], 1, bench.word(name, **values), now)


def test_a_block_of_dst_cannot_be_read_after_a_write():
    for chip, distance in (("wormhole_b0", 5), ("blackhole", 6)):
        bench = Bench(chip)
        assert enters(bench, "MVMUL", 100, dst=16) == (1, 5)
        assert ready(bench, "MVMUL", 101, dst=16) == 100 + distance
        assert ready(bench, "ELWADD", 101, dst=16) == 101
        assert ready(bench, "ELWADD", 101, dst=16, dest_accum_en=1) == 100 + distance
        assert ready(bench, "MVMUL", 101, dst=24) == 101
        assert ready(bench, "MOVD2A", 101, dst=20) == 100 + distance


def test_products_of_tiles_take_what_was_measured_on_blackhole():
    """mul_tiles, cycles a tile with two to four fidelity phases (llk_blackhole_op_costs.csv): each face is cleared, then every
    phase goes over its two blocks."""
    for phases, measured in ((2, 36.2), (3, 60.1), (4, 84.1)):
        bench, now, starts = Bench("blackhole"), 0, []
        for tile in range(4):
            starts.append(now)
            for face in range(4):
                words = [("ZEROACC", dict(where=4 * tile + face, clear_mode=1))]
                words += [
                    ("ELWMUL", dict(dst=64 * tile + 16 * face + 8 * block)) for _ in range(phases) for block in (0, 1)
                ]
                for name, values in words:
                    now = ready(bench, name, now, **values)
                    now += enters(bench, name, now, **values)[0]
        assert abs((starts[3] - starts[0]) / 3 - measured) < 0.5


def test_moves_hold_back_others(bench):
    assert enters(bench, "MOVB2D", 100) == (1, 4)
    assert ready(bench, "MVMUL", 101, dst=64) == 104 and ready(bench, "ELWADD", 101, dst=64) == 101
    assert enters(bench, "MOVD2A", 200) == (1, 2)
    assert ready(bench, "MOVD2A", 201, dst=64) == 201 and ready(bench, "SETRWC", 201) == 202
    assert enters(bench, "MOVD2B", 300) == (1, 4)
    assert ready(bench, "MOVD2B", 301, dst=64) == 301 and ready(bench, "SETRWC", 301) == 304
    assert enters(bench, "SHIFTXB", 400) == (2, 2) and enters(bench, "SETRWC", 500) == (1, 1)


def test_without_data_only_banks_and_counters_move(bench):
    bench.arrays.record["data_on"] = 0
    before = bench.arrays.dst.copy()
    bench.do("MVMUL", clear_dvalid=1)
    bench.do("ZEROACC", clear_mode=3)
    assert np.array_equal(bench.arrays.dst, before) and not bench.arrays.dst_undefined.any()
    assert bench.arrays.record["matrix_bank_a"][0] == 1
