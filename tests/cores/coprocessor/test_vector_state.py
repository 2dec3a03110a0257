"""Configuration, scheduled instructions, addressing, random numbers, faults and time of the vector unit."""

import numpy as np
import pytest

from tensim.sim.cores.coprocessor.faults import Cause
from tensim.sim.cores.coprocessor.vector_macro import settle_vector_unit
from tensim.sim.cores.coprocessor.vector_state import (
    FLAGS,
    LANE_CONFIG,
    MACRO_MISC,
    RANDOM,
    SEQUENCES,
    TEMPLATES,
    USE_FLAGS,
)
from tensim.sim.cores.coprocessor.vector_time import vector_cost, vector_ready_at
from tensim.sim.cores.coprocessor.vector_unit import seed_random_numbers
from tests.cores.coprocessor.coprocessor_bench import CHIPS, Bench
from tests.cores.coprocessor.vector_numbers import advance

LANES = np.arange(32)
FP32 = 3


@pytest.fixture(params=CHIPS)
def bench(request):
    return Bench(request.param)


def floats(bench, number):
    return bench.vector.rows[number].view(np.float32)


def fill(bench, number, values):
    bench.vector.rows[number] = np.broadcast_to(np.asarray(values, np.float32), 32).view(np.uint32)


# --- SFPCONFIG


def test_eight_lanes_of_lreg_0_become_a_constant_register(bench):
    bench.vector.rows[0] = 100 + LANES
    bench.do("SFPCONFIG", config_dest=12)
    assert bench.vector.rows[12].tolist() == (100 + LANES % 8).tolist()


def test_the_defaults_of_constant_registers(bench):
    for number, value in ((11, -1.0), (12, 2.0**-16), (13, -0.67487759), (14, -0.34484843)):
        bench.do("SFPCONFIG", config_dest=number, instr_mod1=1)
        assert floats(bench, number).tolist() == [np.float32(value)] * 32


def test_lane_config_is_written_ored_anded_and_xored(bench):
    for mode, value, expected in ((1, 0x0105, 0x0105), (3, 0x0010, 0x0115), (5, 0x0114, 0x0114), (7, 0x0004, 0x0110)):
        bench.do("SFPCONFIG", config_dest=15, instr_mod1=mode, imm16_math=value)
        assert set(bench.vector.rows[LANE_CONFIG].tolist()) == {expected}


def test_a_mask_of_columns_and_flags_choose_the_lanes_that_are_configured(bench):
    bench.vector.rows[0] = 7
    bench.do("SFPCONFIG", config_dest=14, instr_mod1=8, imm16_math=0x0005)  # columns 0 and 1
    assert (bench.vector.rows[14] == 7).tolist() == (LANES % 8 < 2).tolist()
    bench.do("SFPENCC", instr_mod1=10, imm12_math=1)  # use flags, all clear
    bench.do("SFPCONFIG", config_dest=13)
    assert (bench.vector.rows[13] != 7).all()


def test_masked_rows_of_lanes_stay(bench):
    bench.do("SFPCONFIG", config_dest=15, instr_mod1=1, imm16_math=0x2000)  # the second row
    bench.do("SFPLOADI", lreg_ind=1, instr_mod0=2, imm16=9)
    assert bench.vector.rows[1].tolist() == [0 if lane // 8 == 1 else 9 for lane in range(32)]


# --- templates and SFPLOADMACRO


def test_an_instruction_with_vd_from_12_on_writes_itself_as_a_template(bench):
    word = bench.word("SFPMAD", lreg_dest=13, lreg_src_a=1, lreg_src_b=2, lreg_src_c=3)
    bench.run(word)
    assert set(bench.vector.rows[TEMPLATES + 1].tolist()) == {word}
    bench.vector.rows[:8] = 1
    bench.do("SFPCONFIG", config_dest=15, instr_mod1=1, imm16_math=2)  # no backdoor: it executes, and writes nothing
    bench.run(bench.word("SFPNOT", lreg_dest=12, lreg_c=1))
    assert set(bench.vector.rows[TEMPLATES].tolist()) == {0} and (bench.vector.rows[:8] == 1).all()


def schedule(bench, sequence, misc, templates):
    """Set macro 0: `sequence`, 32 bits."""
    bench.vector.rows[SEQUENCES], bench.vector.rows[MACRO_MISC] = sequence, misc
    for i, word in enumerate(templates):
        bench.vector.rows[TEMPLATES + i] = word


def macro(bench, d=0, address=0, mode=FP32):
    low, high = d & 3, d >> 2
    bench.do("SFPLOADMACRO", lreg_ind=low, instr_mod0=mode, dest_reg_addr=address | high)


def put_fp32(bench, values):
    """32 floats into rows 0 to 3, even columns, of a 32-bit Dst."""
    fill(bench, 7, values)
    bench.do("SFPSTORE", lreg_ind=7, instr_mod0=FP32)


def read_fp32(bench, address):
    bench.do("SFPLOAD", lreg_ind=6, instr_mod0=FP32, dest_reg_addr=address)
    return floats(bench, 6).tolist()


def sequence_of(simple=0, mad=0, rounding=0, store=0):
    return simple | mad << 8 | rounding << 16 | store << 24


def step_of(kind, delay=0, own_b=False, bonus=False):
    return kind | delay << 3 | bonus << 6 | own_b << 7


def test_a_macro_loads_multiplies_and_stores(bench):
    put_fp32(bench, 1.0 + LANES)
    fill(bench, 4, 3.0)
    mad = bench.word("SFPMAD", lreg_src_a=4, lreg_src_b=4, lreg_src_c=9, lreg_dest=12)  # VB becomes the macro's
    schedule(bench, sequence_of(mad=step_of(4, 0, own_b=True), store=step_of(3, 2)), FP32, [mad])
    macro(bench, d=2, address=0)
    assert floats(bench, 2).tolist() == (1.0 + LANES).tolist()  # the load only
    bench.do("SFPNOP")
    assert floats(bench, 2).tolist() == (1.0 + LANES).tolist()  # the MAD sub-unit takes two cycles
    bench.do("SFPNOP")
    assert floats(bench, 2).tolist() == (3.0 * (1.0 + LANES)).tolist()
    bench.do("SFPNOP")
    assert bench.vector.record["pending"][0] == 0 and bench.fault == (0, 0, 0)
    assert read_fp32(bench, 0) == (3.0 * (1.0 + LANES)).tolist()


def test_the_extra_register_and_four_units_at_once(bench):
    put_fp32(bench, LANES - 16.0)
    setsgn = bench.word("SFPSETSGN", lreg_dest=12, lreg_c=0, imm12_math=0, instr_mod1=1)
    mad = bench.word("SFPMUL", lreg_src_a=10, lreg_src_b=10, lreg_src_c=9, lreg_dest=13)
    rounding = bench.word("SFP_STOCH_RND", lreg_src_c=0, lreg_dest=14, instr_mod1=1)
    steps = sequence_of(step_of(4), step_of(5, 1, own_b=True), step_of(6, 3, bonus=True), step_of(3, 4, bonus=True))
    schedule(bench, steps, FP32, [setsgn, mad, rounding])
    macro(bench, d=1, address=0)
    for _ in range(5):
        bench.do("SFPNOP")
    assert floats(bench, 16).tolist() == np.abs(LANES - 16.0).tolist()
    assert read_fp32(bench, 0) == np.abs(LANES - 16.0).tolist()


def test_a_delay_in_instructions_waits_for_instructions_only(bench):
    put_fp32(bench, 5.0)
    for kind, left in ((0, 0), (8, 1)):  # the store's delay counts cycles, then instructions
        schedule(bench, sequence_of(store=step_of(3, 2)), FP32 | kind << 8, [])
        bench.arrays.record["cycle"] = 100
        macro(bench, d=0, address=0)
        for cycle, expected in ((102, 1), (103, 1), (104, left)):  # it would execute in cycle 103
            bench.arrays.record["cycle"] = cycle
            settle_vector_unit(bench.arrays.record[0])
            assert bench.vector.record["pending"][0] == expected
        for cycle in (110, 111, 112):
            bench.arrays.record["cycle"] = cycle
            bench.do("SFPNOP")
        assert bench.vector.record["pending"][0] == 0
        bench.arrays.record["cycle"] = bench.vector.record["last_cycle"] = 0


def test_a_scheduled_instruction_takes_the_place_of_one_for_its_sub_unit(bench):
    put_fp32(bench, 5.0)
    negate = bench.word("SFPMOV", lreg_dest=12, instr_mod1=1)
    schedule(bench, sequence_of(simple=step_of(4)), FP32, [negate])
    macro(bench, d=0)
    fill(bench, 3, 1.0)
    bench.do("SFPMOV", lreg_dest=3, lreg_c=9)  # lost
    assert floats(bench, 0)[0] == -5.0 and floats(bench, 3)[0] == 1.0
    macro(bench, d=0)
    bench.do("SFPADD", lreg_src_a=10, lreg_src_b=3, lreg_src_c=3, lreg_dest=3)  # another sub-unit
    assert floats(bench, 0)[0] == -5.0 and floats(bench, 3)[0] == 2.0


def test_a_macro_without_a_store_leaves_the_one_that_is_due(bench):
    put_fp32(bench, 5.0)
    schedule(bench, sequence_of(store=step_of(3, 1)), FP32, [])
    bench.vector.rows[SEQUENCES + 1] = 0
    macro(bench, d=2, address=0)
    bench.vector.rows[2] = np.full(32, 7.0, np.float32).view(np.int32)
    bench.do("SFPLOADMACRO", lreg_ind=4, instr_mod0=FP32)
    bench.do("SFPNOP")
    assert read_fp32(bench, 0) == [7.0] * 32


def test_what_executes_in_one_cycle_reads_before_any_of_it_writes(bench):
    put_fp32(bench, 5.0)
    negate = bench.word("SFPMOV", lreg_dest=12, instr_mod1=1)
    schedule(bench, sequence_of(simple=step_of(4)), FP32, [negate])
    macro(bench, d=0)
    bench.do("SFPADD", lreg_src_a=10, lreg_src_b=0, lreg_src_c=9, lreg_dest=3)
    assert floats(bench, 3)[0] == 5.0 and floats(bench, 0)[0] == -5.0


def test_a_macro_a_cycle():
    """Squares of 16-bit integers: each cycle loads one register, multiplies the last one and stores what is three cycles old."""
    bench = Bench("blackhole")
    bench.configure_thread(ADDR_MOD_DST_SEC0_DestIncr=2)
    bench.arrays.dst[:16] = np.arange(256).reshape(16, 16)
    square = bench.word("SFPMUL24", lreg_src_a=0, lreg_src_b=0, lreg_src_c=9, lreg_dest=12)
    steps = sequence_of(mad=step_of(4, 0, own_b=True, bonus=True), store=step_of(3, 2, bonus=True))
    schedule(bench, steps, 0x10 | 6, [square])
    for _ in range(8):
        macro(bench, d=0, mode=6)
    for _ in range(3):
        bench.do("SFPNOP")
    assert bench.vector.record["pending"][0] == 0 and bench.vector.record["staged"][0] == 0
    assert bench.arrays.dst[:16].ravel().tolist() == [i * i for i in range(256)]


def test_a_macro_reads_a_register_before_the_load_of_its_cycle_writes_it():
    """Products of two tiles into a third, three cycles each: the multiplication comes with the next first load."""
    bench = Bench("blackhole")
    bench.configure_thread(further=1, ADDR_MOD_DST_SEC0_DestIncr=2)
    bench.arrays.dst[:4], bench.arrays.dst[4:8] = np.arange(64).reshape(4, 16), 100 + np.arange(64).reshape(4, 16)
    product = bench.word("SFPMUL24", lreg_src_a=0, lreg_src_b=0, lreg_src_c=9, lreg_dest=12)
    steps = sequence_of(mad=step_of(4, 1, own_b=True, bonus=True), store=step_of(3, 3, bonus=True))
    schedule(bench, steps, 6, [product])
    for _ in range(2):
        bench.do("SFPLOAD", lreg_ind=0, instr_mod0=6)
        macro(bench, d=1, address=8, mode=6)
        bench.do("SFPLOAD", lreg_ind=1, instr_mod0=6, dest_reg_addr=4, sfpu_addr_mode=1)
    for _ in range(4):
        bench.do("SFPNOP")
    assert bench.arrays.dst[8:12].ravel().tolist() == [i * (100 + i) for i in range(64)]


def test_a_scheduled_swap_clamps_before_a_rounding_stores(bench):
    """Positive part of float32 as 16-bit integers, a register in turn every two cycles, in steps of instructions."""
    bench.configure_thread(ADDR_MOD_DST_SEC0_DestIncr=2)
    values = np.arange(-32, 32).reshape(4, 16) * 1.25
    for i in range(2):
        fill(bench, 7, values[:, i::2].ravel())
        bench.do("SFPSTORE", lreg_ind=7, instr_mod0=2, dest_reg_addr=2 * i)
        bench.arrays.rwcs["dst"] = 0
    clamp = bench.word("SFPSWAP", lreg_src_c=9, lreg_dest=12, instr_mod1=9)
    to_integer = bench.word("SFP_STOCH_RND", lreg_dest=13, instr_mod1=6)
    steps = sequence_of(step_of(4, 0, own_b=True), 0, step_of(5, 2, bonus=True), step_of(3, 3, bonus=True))
    schedule(bench, steps, 0x100 | 6, [clamp, to_integer])
    for i in range(2):
        macro(bench, d=i, mode=2)
        bench.do("SFPNOP")
    for _ in range(3):
        bench.do("SFPNOP")
    assert bench.arrays.dst[:4].tolist() == np.floor(np.maximum(values, 0) + 0.5).astype(int).tolist()


def test_a_scheduled_swap_of_a_load_and_a_constant_keeps_the_larger(bench):
    """What the load has and LReg 12 of the template: both results go to the load's LReg."""
    put_fp32(bench, LANES - 16.0)
    bench.vector.rows[12] = np.full(32, -3.0, np.float32).view(np.int32)
    larger = bench.word("SFPSWAP", lreg_dest=12, lreg_src_c=0, instr_mod1=1)
    schedule(bench, sequence_of(step_of(4, 0), store=step_of(3, 2)), FP32, [larger])
    macro(bench, d=1, address=0)
    for _ in range(4):
        bench.do("SFPNOP")
    assert read_fp32(bench, 0) == np.maximum(LANES - 16.0, -3.0).tolist()
    assert (bench.vector.rows[12].view(np.float32) == -3.0).all()


def test_scheduled_flags_and_registers_by_lreg_7(bench):
    put_fp32(bench, LANES - 8.0)
    bench.do("SFPENCC", instr_mod1=10, imm12_math=3)
    setcc = bench.word("SFPSETCC", lreg_dest=12, instr_mod1=0)
    mad = bench.word("SFPMAD", lreg_src_a=9, lreg_src_b=9, lreg_src_c=0, lreg_dest=13, instr_mod1=8)
    bench.vector.rows[7], bench.vector.rows[5] = 5, 0
    schedule(bench, sequence_of(simple=step_of(4, 1), mad=step_of(5, 0)), FP32, [setcc, mad])
    macro(bench, d=1)
    bench.do("SFPNOP")
    bench.do("SFPLOADI", lreg_ind=1, instr_mod0=2, imm16=77)
    bench.do("SFPNOP")
    assert floats(bench, 5).tolist() == (LANES - 8.0).tolist()
    assert (bench.vector.rows[FLAGS] != 0).tolist() == (LANES < 8).tolist()
    assert (bench.vector.rows[1] == 77).all()  # no older value comes back, and the flags were those before


def test_a_load_beside_scheduled_flags_obeys_those_of_the_cycle_before(bench):
    """A choice between two numbers in three cycles: flags of the condition, then all lanes again, each beside the next load."""
    bench.do("SFPENCC", instr_mod1=10, imm12_math=3)
    for address, values in ((0, LANES % 3 == 0), (4, LANES + 100.0), (8, LANES - 100.0)):
        fill(bench, 7, values)
        bench.do("SFPSTORE", lreg_ind=7, instr_mod0=FP32, dest_reg_addr=address)
    bench.vector.rows[TEMPLATES] = bench.word("SFPSETCC", lreg_dest=12, instr_mod1=6)
    bench.vector.rows[TEMPLATES + 1] = bench.word("SFPENCC", lreg_dest=13)
    bench.vector.rows[SEQUENCES], bench.vector.rows[SEQUENCES + 2] = (
        sequence_of(step_of(4), store=step_of(3, 2)),
        step_of(5),
    )
    bench.vector.rows[MACRO_MISC] = 0x770
    bench.do("SFPLOADMACRO", lreg_ind=0, instr_mod0=FP32, dest_reg_addr=0)
    bench.do("SFPLOADMACRO", lreg_ind=8, instr_mod0=FP32, dest_reg_addr=4)
    bench.do("SFPLOAD", lreg_ind=0, instr_mod0=FP32, dest_reg_addr=8)
    bench.do("SFPNOP")
    assert read_fp32(bench, 0) == np.where(LANES % 3 == 0, LANES + 100.0, LANES - 100.0).tolist()


def test_macros_that_differ_between_lanes_stop(bench):
    bench.vector.rows[SEQUENCES] = LANES
    macro(bench)
    assert bench.fault[0] == Cause.MISUSE


# --- addressing


def test_addresses_of_dst(bench):
    """Instruction, thread's offset, counter and base add up; the counter moves on."""
    bench.configure_thread(DEST_TARGET_REG_CFG_MATH_Offset=64, ADDR_MOD_DST_SEC0_DestIncr=2)
    bench.configure_thread(further=1, ADDR_MOD_DST_SEC0_DestIncr=8)
    bench.configure(DEST_REGW_BASE_Base=16)
    bench.arrays.rwcs["dst"][1] = 4
    fill(bench, 0, 1.5)
    bench.do("SFPSTORE", lreg_ind=0, instr_mod0=2, dest_reg_addr=2)  # 64 + 16 + 4 + 2: odd columns of rows 84 to 87
    assert bench.arrays.dst[84:88, 1::2].tolist() == [[0x407F] * 8] * 4  # bf16 1.5 as Dst has it
    assert not bench.arrays.dst[84:88, ::2].any() and np.count_nonzero(bench.arrays.dst) == 32
    assert bench.arrays.rwcs["dst"][1] == 6
    mode = "sfpu_addr_mode"
    bench.do("SFPLOAD", lreg_ind=1, instr_mod0=2, **{mode: 1})
    assert bench.arrays.rwcs["dst"][1] == 14 and bench.arrays.rwcs["dst"][0] == 0


def test_the_default_format_follows_the_configuration(bench):
    fill(bench, 0, 1.5)
    for values, word in (
        ({"ALU_FORMAT_SPEC_REG1_SrcB": 5}, 0x407F), ({"ALU_FORMAT_SPEC_REG1_SrcB": 1}, 0x400F),
        ({"ALU_ACC_CTRL_SFPU_Fp32_enabled": 1}, 0x407F),
    ):  # fmt: skip
        bench.arrays.dst[:] = 0xAAAA
        bench.configure(**values)
        bench.do("SFPSTORE", lreg_ind=0)
        assert bench.arrays.dst[0, 0] == word
        assert (bench.arrays.dst[8, 0] == 0) == ("ALU_ACC_CTRL_SFPU_Fp32_enabled" in values)


def test_undefined_rows_read_as_zero_and_become_defined(bench):
    bench.arrays.dst[:] = 0x3FFF
    bench.arrays.dst_undefined[1] = 1
    bench.do("SFPLOAD", lreg_ind=0, instr_mod0=6)
    assert bench.vector.rows[0].tolist() == [0 if lane // 8 == 1 else 0x3FFF for lane in range(32)]
    bench.do("SFPENCC", instr_mod1=10, imm12_math=1)  # no lane
    bench.do("SFPSTORE", lreg_ind=0, instr_mod0=6)
    assert bench.arrays.dst_undefined[1] == 1
    bench.do("SFPENCC", instr_mod1=10, imm12_math=0)
    bench.do("SFPSTORE", lreg_ind=0, instr_mod0=6)
    assert not bench.arrays.dst_undefined.any()


# --- random numbers, faults, data that do not move


def test_random_numbers_after_a_seed(bench):
    seed_random_numbers(bench.arrays.record[0], 12345)
    number, expected = 12345, []
    for i in range(32 + 64):
        number = advance(number)
        if i >= 32 and i % 2:
            expected.insert(0, number)
    assert bench.vector.rows[RANDOM].tolist() == expected


def test_what_stops_the_unit(bench):
    for do, cause in (
        (lambda b: b.do("SFPPOPC"), Cause.STACK_DEPTH),
        (lambda b: [b.do("SFPPUSHC") for _ in range(9)], Cause.STACK_DEPTH),
        (lambda b: b.do("SFPPUSHC", instr_mod1=1), Cause.UNKNOWN_MODE),
        (lambda b: b.do("SFPSHFT2", instr_mod1=9), Cause.UNKNOWN_MODE),
        (lambda b: b.do("SFPLOADI", instr_mod0=3), Cause.UNKNOWN_MODE),
        (lambda b: b.do("SFPCAST", instr_mod1=4), Cause.UNKNOWN_MODE),
        (lambda b: b.run(0x9A000000), Cause.UNKNOWN_INSTRUCTION),
    ):
        other = Bench(bench.chip)
        do(other)
        assert other.fault[0] == cause
    if bench.chip == "wormhole_b0":
        bench.run(0x99000000)  # Blackhole's SFPARECIP
        assert bench.fault[0] == Cause.UNKNOWN_INSTRUCTION
    else:
        bench.do("SFPARECIP", instr_mod1=2)
        assert bench.fault[0] == Cause.UNKNOWN_MODE


def test_an_index_spoils_what_other_instructions_write_to_lregs_4_to_7(bench):
    bench.do("SFPCONFIG", config_dest=15, instr_mod1=1, imm16_math=4)
    bench.do("SFPSWAP", lreg_dest=5, lreg_src_c=4)
    bench.do("SFPMOV", lreg_dest=3, lreg_c=9)
    assert bench.fault == (0, 0, 0)
    bench.do("SFPMOV", lreg_dest=4, lreg_c=9)
    assert bench.fault[0] == Cause.MISUSE


def test_without_data_only_counters_move(bench):
    bench.arrays.record["data_on"] = 0
    bench.configure_thread(ADDR_MOD_DST_SEC0_DestIncr=2)
    bench.do("SFPLOADI", lreg_ind=0, instr_mod0=2, imm16=3)
    bench.do("SFPSTORE", lreg_ind=0, instr_mod0=6)
    assert not bench.vector.rows[0].any() and bench.arrays.rwcs["dst"][1] == 2
    assert not bench.vector.rows[FLAGS].any() and not bench.vector.rows[USE_FLAGS].any()


# --- time


def ready(bench, word, now=0):
    return vector_ready_at(bench.arrays.record[0], 1, word, now)


def cost(bench, cycle, word):
    bench.arrays.record["cycle"] = cycle
    return vector_cost(bench.arrays.record[0], 1, word)


@pytest.mark.parametrize("chip, waits", [("wormhole_b0", 0), ("blackhole", 1)])
@pytest.mark.parametrize(
    "name, fields, reads",
    [("SFPMOV", {"lreg_dest": 0, "lreg_c": 2}, True), ("SFPMOV", {"lreg_dest": 0, "lreg_c": 3}, False),
     ("SFPSTORE", {"lreg_ind": 2}, True), ("SFPNOP", {}, False)],
)  # fmt: skip
def test_blackhole_waits_for_results_of_two_cycles_in_the_unit(chip, waits, name, fields, reads):
    """The unit takes the instruction, so that its thread goes on with other units, and has it for a cycle longer."""
    bench, waits = Bench(chip), waits * reads
    assert cost(bench, 10, bench.word("SFPMAD", lreg_dest=2)) == (1, 2)
    assert ready(bench, bench.word(name, **fields), 11) == 11
    assert cost(bench, 11, bench.word(name, **fields)) == (1 + waits, 1 + waits)


def test_scheduled_instructions_go_before_one_that_waits():
    """An instruction of an SFPLOADMACRO that is still to come may write what the waiting one reads: it stays before the unit."""
    bench = Bench("blackhole")
    cost(bench, 10, bench.word("SFPMAD", lreg_dest=2))
    bench.vector.record["pending"] = 1
    assert ready(bench, bench.word("SFPSTORE", lreg_ind=2), 11) == 12


@pytest.mark.parametrize("chip, following", [("wormhole_b0", 12), ("blackhole", 13)])
def test_a_swap_holds_back_all_but_a_nop(chip, following):
    """Blackhole stalls for two cycles; with the SFPNOP that it wants, what follows is one earlier."""
    bench = Bench(chip)
    bench.arrays.record["cycle"] = 10
    vector_cost(bench.arrays.record[0], 1, bench.word("SFPSWAP", lreg_dest=1, lreg_src_c=2))
    assert ready(bench, bench.word("SFPMOV", lreg_dest=4, lreg_c=5), 11) == following
    assert ready(bench, bench.word("SFPNOP"), 11) == 11
    bench.arrays.record["cycle"] = 11
    vector_cost(bench.arrays.record[0], 1, bench.word("SFPNOP"))
    assert ready(bench, bench.word("SFPMOV", lreg_dest=4, lreg_c=5), 12) == 12


def test_only_blackhole_holds_back_what_follows_a_rotation():
    for chip, following in (("wormhole_b0", 11), ("blackhole", 13)):
        bench = Bench(chip)
        bench.arrays.record["cycle"] = 10
        vector_cost(bench.arrays.record[0], 1, bench.word("SFPSHFT2", lreg_dest=1, lreg_src_c=2, instr_mod1=3))
        assert ready(bench, bench.word("SFPMOV", lreg_dest=4, lreg_c=5), 11) == following


def test_a_macro_is_busy_until_its_last_instruction(bench):
    schedule(bench, sequence_of(mad=step_of(2, 1), store=step_of(3, 5)), FP32, [])
    assert vector_cost(bench.arrays.record[0], 1, bench.word("SFPLOADMACRO", instr_mod0=FP32)) == (1, 7)


def test_blackholes_scoreboard_can_be_switched_off():
    bench = Bench("blackhole")
    bench.configure(CHICKEN_BITS_sfpu_scbd_disable=1)
    vector_cost(bench.arrays.record[0], 1, bench.word("SFPMAD", lreg_dest=2))
    assert ready(bench, bench.word("SFPMOV", lreg_dest=0, lreg_c=2), 1) == 1
