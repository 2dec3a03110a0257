"""Programs of the vector unit through the pass: the words compute what numpy does."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tensim.sim.cores.coprocessor.instruction_table import CHIPS, text_of
from tensim.sim.cores.riscv.vector import lowering
from tensim.sim.errors import KernelCompileError
from tests.cores.riscv.vector_machine import VectorMachine, bits
from tests.cores.riscv.vector_programs import (
    FLOATS,
    INTEGERS,
    ir_text,
    lowered_text,
    programs,
    run_function,
    source_of,
    words_of,
)

HEADER = '#include "sfpi.h"\n'


def lanes(seed):
    """{variable: 32 lanes} that meet signs, zeros and the ends of the range."""
    random = np.random.default_rng(seed)
    edges = np.array([0, 1, -1, 0x7FFFFFFF, -0x80000000, 5, 255, -7])
    variables = {}
    for name in INTEGERS:
        values = random.integers(-0x80000000, 0x7FFFFFFF, 32)
        values[random.permutation(32)[:16]] = random.choice(edges, 16)
        variables[name] = values
    for name in FLOATS:
        variables[name] = random.integers(-8, 9, 32).astype(np.float64)
    return variables


def run(words, chip, variables):
    """{variable: lanes as bits} that a program's words leave in Dst."""
    dst = {2 * at: (variables[name] & 0xFFFFFFFF).astype(np.uint32) for at, name in enumerate(INTEGERS)}
    dst |= {2 * (at + 4): bits(variables[name].astype(np.float32)) for at, name in enumerate(FLOATS)}
    machine = VectorMachine(chip, dst)
    machine.run(words)
    found = {name: machine.dst[2 * (at + 8)] for at, name in enumerate(INTEGERS)}
    return found | {name: machine.dst[2 * (at + 12)] for at, name in enumerate(FLOATS)}


LATE = tuple(attempt for attempt in lowering.ATTEMPTS if attempt.is_late and attempt.keeps_raw)


@pytest.mark.parametrize("attempts", [lowering.ATTEMPTS, LATE], ids=["any", "late"])
@pytest.mark.parametrize("chip", CHIPS)
@settings(
    max_examples=3, deadline=None, phases=[Phase.explicit, Phase.generate], suppress_health_check=list(HealthCheck)
)
@given(st.lists(programs, min_size=6, max_size=6), st.integers(0, 1000))
def test_words_compute_what_the_program_says(chip, attempts, batch, seed):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lowering, "ATTEMPTS", attempts)
        compute_what_they_say(chip, batch, seed)


def compute_what_they_say(chip, batch, seed):
    """Programs compute in the vector unit what they say."""
    fitting = {}
    for number, program in enumerate(batch):
        source = source_of(program, f"program_{number}")
        try:
            fitting |= {number: words_of(HEADER + source, chip)[f"program_{number}"]}
        except KernelCompileError as error:
            assert "more than eight vector values" in error.message
    for number, words in fitting.items():
        variables = lanes(seed)
        found = run(words, chip, variables)
        everywhere = np.ones(32, bool)
        for statement in batch[number]:
            statement.run(variables, everywhere)
        for name in INTEGERS:
            np.testing.assert_array_equal(found[name], (variables[name] & 0xFFFFFFFF).astype(np.uint32), err_msg=name)
        for name in FLOATS:
            np.testing.assert_array_equal(found[name], bits((variables[name] + 0.0).astype(np.float32)), err_msg=name)


def names(source, chip):
    """Instructions of the function `k`, by name."""
    return [text_of(chip, word).split()[0] for word in words_of(HEADER + source, chip)["k"]]


ONE_OF_EACH = """
extern "C" void k() {
    sfpi::vFloat x = sfpi::dst_reg[0], y = sfpi::dst_reg[1];
    sfpi::dst_reg[2] = BODY;
}
"""


@pytest.mark.parametrize(
    "body, on_wormhole, on_blackhole",
    [
        ("x * y + 3.0f", ["SFPLOADI", "SFPMAD"], ["SFPLOADI", "SFPMAD"]),
        ("x * y - 3.0f", ["SFPLOADI", "SFPMAD"], ["SFPLOADI", "SFPMAD"]),
        ("x * y + 1.0f", ["SFPMAD"], ["SFPMAD"]),  # LReg 10
        ("x - y", ["SFPMAD"], ["SFPADD"]),  # by LReg 11; by the addend's sign
        ("x - y * x", ["SFPMUL", "SFPNOP", "SFPMAD"], ["SFPMAD"]),
        ("x * 0.5f", ["SFPMULI"], ["SFPMULI"]),
        ("x * 0.3f", ["SFPLOADI", "SFPLOADI", "SFPMUL"], ["SFPLOADI", "SFPLOADI", "SFPMUL"]),
        ("sfpi::max(x, 1.0f)", ["SFPSWAP"], ["SFPSWAP"]),
        ("sfpi::setexp(x, 127)", ["SFPSETEXP"], ["SFPSETEXP"]),
        ("sfpi::setman(x, y)", ["SFPSETMAN"], ["SFPSETMAN"]),
        ("sfpi::abs(x)", ["SFPABS"], ["SFPABS"]),
        ("sfpi::subvec_shflror1(x)", ["SFPSHFT2"], ["SFPSHFT2"]),
        ("x * (sizeof(int) == 4 ? sfpi::vConst1 : sfpi::vConst0)", ["SFPMUL"], ["SFPMUL"]),
        ("sfpi::vFloat(__builtin_rvtt_sfpxloadi(0x4b40, 0)) * x", ["SFPLOADI", "SFPMUL"], ["SFPLOADI", "SFPMUL"]),  # 0.67
        # names of releases 0.66 to 0.75, which give bits, and from 0.70 on numbers
        ("sfpi::reinterpret<sfpi::vFloat>(sfpi::float_to_fp16b(x, 0))", ["SFP_STOCH_RND"], ["SFP_STOCH_RND"]),
        ("sfpi::float_to_fp16b(x, sfpi::RoundMode::NearestEven) + y", ["SFP_STOCH_RND", "SFPADD"], ["SFP_STOCH_RND", "SFPADD"]),
        ("sfpi::int32_to_float(sfpi::exexp(x, sfpi::ExponentMode::NoDebias), sfpi::RoundMode::NearestEven)",
         ["SFPEXEXP", "SFPCAST"], ["SFPEXEXP", "SFPCAST"]),
    ],
)  # fmt: skip
def test_instructions_of_an_expression(body, on_wormhole, on_blackhole):
    """Multiplication and addition are one instruction, numbers take the shortest form."""
    for chip, expected in (("wormhole_b0", on_wormhole), ("blackhole", on_blackhole)):
        found = names(ONE_OF_EACH.replace("BODY", body), chip)
        needed = [name for name in found if name not in ("SFPLOAD", "SFPSTORE")]
        gap = ["SFPNOP"] if needed[-1] == "SFPNOP" else []
        assert needed == expected + gap, (chip, found)


@pytest.mark.parametrize("name", ["__builtin_rvtt_bh_sfpmul24", "__builtin_rvtt_sfpmul24"])
def test_products_of_24_bits(name):
    found = names(f"""extern "C" void k() {{
        sfpi::vInt a = sfpi::dst_reg[0], b = sfpi::dst_reg[1];
        sfpi::dst_reg[0] = sfpi::vInt({name}(a.get(), b.get(), 1));
    }}""", "blackhole")  # fmt: skip
    assert found == ["SFPLOAD", "SFPLOAD", "SFPMUL24", "SFPSTORE"]


def test_predicated_assignment_needs_no_move():
    found = names("""extern "C" void k() {
        sfpi::vFloat x = sfpi::dst_reg[0], slope = sfpi::dst_reg[1];
        v_if(x < 0.0f) { x = x * slope; } v_endif;
        sfpi::dst_reg[0] = x;
    }""", "blackhole")  # fmt: skip
    assert found == ["SFPLOAD", "SFPLOAD", "SFPSETCC", "SFPMUL", "SFPENCC", "SFPSTORE"]


def test_wormhole_waits_for_two_cycle_instructions():
    source = """extern "C" void k() {
        sfpi::vFloat x = sfpi::dst_reg[0];
        x = x * x; x = x * x;
        sfpi::dst_reg[0] = x;
    }"""
    assert names(source, "wormhole_b0") == ["SFPLOAD", "SFPMUL", "SFPNOP", "SFPMUL", "SFPNOP", "SFPSTORE"]
    assert names(source, "blackhole") == ["SFPLOAD", "SFPMUL", "SFPMUL", "SFPSTORE"]


@pytest.mark.parametrize("chip", CHIPS)
def test_loops_keep_values_in_their_registers(chip):
    """A variable that a loop changes stays where it is; a number that is known at run time comes by the instruction buffer."""
    text = lowered_text(HEADER + """extern "C" void k(int n, unsigned scale, int at) {
        sfpi::vFloat sum = 0.0f, factor = __builtin_bit_cast(float, scale);
        #pragma clang loop unroll(disable)
        for (int i = 0; i < n; i++) { sum = sum + sfpi::dst_reg[at] * factor; sfpi::dst_reg++; }
        sfpi::dst_reg[0] = sum;
    }""", chip)  # fmt: skip
    assert text.count("store volatile i32") == 3  # two halves of the number, the load from Dst
    loop = text[text.index("phi") : text.index("br i1", text.index("phi"))]
    assert "addrspace(77)" not in loop and loop.count(".ttinsn") <= 3  # SFPMAD, perhaps a gap, INCRWC


def test_alternatives_inside_of_conditions():
    source = """extern "C" void k() {
        sfpi::vInt a = sfpi::dst_reg[0].mode<sfpi::DataLayout::I32>(), b = sfpi::dst_reg[1].mode<sfpi::DataLayout::I32>();
        v_if((a == 5 || b == 255) && (a != 0 || b == 0)) { a = 1; } v_else { a = 2; } v_endif;
        sfpi::dst_reg[8].mode<sfpi::DataLayout::I32>() = a;
        sfpi::dst_reg[9].mode<sfpi::DataLayout::I32>() = b;
        sfpi::dst_reg[12].mode<sfpi::DataLayout::I32>() = a;
        sfpi::dst_reg[13].mode<sfpi::DataLayout::I32>() = b;
    }"""
    variables = lanes(3)
    a, b = variables["a"], variables["b"]
    holds = ((a == 5) | (b == 255)) & ((a != 0) | (b == 0))
    for chip in CHIPS:
        found = run(words_of(HEADER + source, chip)["k"], chip, variables)
        np.testing.assert_array_equal(found["a"], np.where(holds, 1, 2))


def test_registers_of_raw_words_are_left_alone():
    """What raw words read and write lies in registers by number; values keep away from those."""
    source = """extern "C" void k() {
        sfpi::vFloat kept = sfpi::dst_reg[0];
        sfpi::l_reg[sfpi::LRegs::LReg0] = kept + 1.0f;
        tensim::issue(0x7Cu << 24 | 0u << 8 | 1u << 4);  // SFPMOV: LReg 1 from LReg 0
        sfpi::vFloat moved = sfpi::l_reg[sfpi::LRegs::LReg1];
        sfpi::dst_reg[8].mode<sfpi::DataLayout::F32>() = moved;
        sfpi::dst_reg[9].mode<sfpi::DataLayout::F32>() = kept;
        sfpi::dst_reg[12].mode<sfpi::DataLayout::F32>() = moved;
        sfpi::dst_reg[13].mode<sfpi::DataLayout::F32>() = moved;
    }"""
    variables = lanes(5) | {"a": np.full(32, 0x40000000)}  # 2.0
    for chip in CHIPS:
        found = run(words_of(HEADER + source, chip)["k"], chip, variables)
        np.testing.assert_array_equal(found["a"], bits(np.full(32, 3.0)))
        np.testing.assert_array_equal(found["b"], bits(np.full(32, 2.0)))


def test_too_many_values_name_the_line():
    loads = "".join(f"sfpi::vFloat v{i} = sfpi::dst_reg[{i}];\n" for i in range(9))
    stores = "".join(f"sfpi::dst_reg[{i}] = v{8 - i};\n" for i in range(9))
    with pytest.raises(KernelCompileError, match="more than eight vector values") as error:
        words_of(HEADER + f'extern "C" void k() {{\n{loads}{stores}}}', "blackhole")
    assert error.value.where["file"].endswith("unit.cpp") and 3 <= error.value.where["line"] <= 20


@pytest.mark.parametrize("chip", CHIPS)
def test_a_value_is_made_where_it_is_first_needed_if_it_does_not_fit_before(chip):
    """Four values and what four operations make of them: eight, and one more for what lies between."""
    loads = "".join(f"sfpi::vInt v{i} = sfpi::dst_reg[{i}].mode<sfpi::DataLayout::U32>();\n" for i in range(4))
    made = "".join(f"sfpi::vInt w{i} = ~v{i};\n" for i in range(4))
    between = "sfpi::vInt x = sfpi::dst_reg[4].mode<sfpi::DataLayout::U32>(); x = (x & v0) + (x | v1);\n"
    between += "sfpi::dst_reg[8].mode<sfpi::DataLayout::U32>() = x;\n"
    stores = "".join(f"sfpi::dst_reg[{9 + i}].mode<sfpi::DataLayout::U32>() = w{i} + v{i};\n" for i in range(4))
    source = HEADER + f'extern "C" void k() {{\n{loads}{made}{between}{stores}}}'
    words = words_of(source, chip)["k"]
    lanes_of = {2 * i: np.full(32, 0x100 + i, np.uint32) for i in range(5)}
    machine = VectorMachine(chip, dict(lanes_of))
    machine.run(words)
    assert all((machine.dst[2 * (9 + i)] == 0xFFFFFFFF).all() for i in range(4))
    x = 0x104
    assert (machine.dst[16] == (x & 0x100) + (x | 0x101)).all()


def test_vectors_in_memory_are_refused():
    with pytest.raises(KernelCompileError, match="lies in memory"):
        words_of(
            HEADER + """extern "C" void k(int i) {
            sfpi::vFloat values[2] = {sfpi::dst_reg[0], sfpi::dst_reg[1]};
            sfpi::dst_reg[0] = values[i];
        }""", "blackhole")  # fmt: skip


def test_conditions_nest_as_deep_as_the_flags_stack():
    def nested(depth):
        inside = "v_if(x < 0.0f) {" * depth + "} v_endif; x = x + 1.0f;" * depth
        return f'extern "C" void k() {{ sfpi::vFloat x = sfpi::dst_reg[0]; {inside} sfpi::dst_reg[0] = x; }}'

    assert names(nested(9), "blackhole").count("SFPPUSHC") == 8
    with pytest.raises(KernelCompileError, match="nested deeper than the 8 entries"):
        names(nested(10), "blackhole")


def test_conditions_are_numbers_where_they_are_kept():
    """A comparison kept as an integer is 1 or 0; one that is only tested again needs no register."""
    kept = """extern "C" void k() {
        sfpi::vInt a = sfpi::dst_reg[0].mode<sfpi::DataLayout::I32>(), b = sfpi::dst_reg[1].mode<sfpi::DataLayout::I32>();
        sfpi::vInt holds = a == b || a == 5;
        sfpi::dst_reg[8].mode<sfpi::DataLayout::I32>() = holds;
        sfpi::dst_reg[9].mode<sfpi::DataLayout::I32>() = holds;
        sfpi::dst_reg[12].mode<sfpi::DataLayout::I32>() = a;
        sfpi::dst_reg[13].mode<sfpi::DataLayout::I32>() = a;
    }"""
    variables = lanes(7)
    for chip in CHIPS:
        found = run(words_of(HEADER + kept, chip)["k"], chip, variables)
        np.testing.assert_array_equal(found["a"], (variables["a"] == variables["b"]) | (variables["a"] == 5))
    tested = """extern "C" void k() {
        sfpi::vFloat x = sfpi::dst_reg[0];
        sfpi::vInt holds = x == 0.0f;
        v_if(holds) { x = 1.0f; } v_endif;
        sfpi::dst_reg[0] = x;
    }"""
    assert names(tested, "blackhole") == ["SFPLOAD", "SFPSETCC", "SFPLOADI", "SFPENCC", "SFPSTORE"]


def test_sign_of_a_sum_is_tested_by_the_sum():
    source = """extern "C" void k() {
        sfpi::vFloat x = sfpi::dst_reg[0];
        v_if(sfpi::exexp(x) >= 3) { x = 1.0f; } v_endif;
        sfpi::dst_reg[0] = x;
    }"""
    found = names(source, "blackhole")
    assert found == ["SFPLOAD", "SFPEXEXP", "SFPIADD", "SFPLOADI", "SFPENCC", "SFPSTORE"]


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("times", [0, 1, 4])
def test_loops_that_exchange_values_and_keep_old_ones(chip, times):
    """What meets at a loop's head and behind it means the values of one moment."""
    text = lowered_text(HEADER + """extern "C" void k(int n) {
        sfpi::vFloat x = sfpi::dst_reg[0], y = sfpi::dst_reg[1], before = 0.25f;
        #pragma clang loop unroll(disable)
        for (int i = 0; i < n; i++) {
            before = x;
            sfpi::vFloat next = x + y;
            v_if(next >= 6.0f) { next = next - 6.0f; } v_endif;
            x = y;
            y = next;
        }
        sfpi::dst_reg[2] = before;
        sfpi::dst_reg[3] = x;
        sfpi::dst_reg[4] = y;
    }""", chip)  # fmt: skip
    x, y, before = np.arange(32) % 5, np.arange(32) % 6, np.full(32, 0.25)
    machine = VectorMachine(chip, {0: bits(x.astype(np.float32)), 2: bits(y.astype(np.float32))})
    run_function(text, machine, {"%0": times})
    for _ in range(times):
        total = x + y
        before, x, y = x, y, np.where(total >= 6, total - 6, total)
    for address, expected in ((4, before), (6, x), (8, y)):
        np.testing.assert_array_equal(machine.dst[address], bits(expected.astype(np.float32)))


def test_an_outermost_region_pushes_no_flags_and_an_alternative_inside_does():
    """As the vendor's compiler has it: tt-llk, ckernel_sfpu_relu.h, and ckernel_sfpu_heaviside.h of its library (ttnn 0.81.1)."""
    inside = "v_if(x < 0.0f) { y = 0.25f; } v_elseif(x == 0.0f) { y = 2.0f; } v_else { y = 1.0f; } v_endif;"
    for chip in CHIPS:
        assert flags(inside, chip) == ["SFPCOMPC", "SFPPUSHC", "SFPCOMPC", "SFPPOPC", "SFPENCC"]


def flags(inside, chip):
    """Instructions that push, pop, complement or reset flags, of statements between a load of x and y and a store of y."""
    source = f"""extern "C" void k() {{
        sfpi::vFloat x = sfpi::dst_reg[0], y = sfpi::dst_reg[1];
        {inside}
        sfpi::dst_reg[0] = y;
    }}"""
    return [name for name in names(source, chip) if name in ("SFPPUSHC", "SFPPOPC", "SFPENCC", "SFPCOMPC")]


@pytest.mark.parametrize(
    "inside, expected",
    [
        ("v_if(x < 0.0f) { v_if(x < y) { y = 1.0f; } v_endif; } v_endif;", ["SFPENCC"]),
        ("v_if(x < 0.0f) { y = x; } v_elseif(x == 0.0f) { y = 1.0f; } v_endif;", ["SFPCOMPC", "SFPENCC"]),
        (
            "v_if(x < 0.0f) { v_if(x < y) { y = 1.0f; } v_endif; y = y + x; } v_endif;",
            ["SFPPUSHC", "SFPPOPC", "SFPENCC"],
        ),
        (
            "v_if(x < 0.0f) { v_if(y == x || y == 2.0f) { y = 1.0f; } v_endif; } v_endif;",
            ["SFPPUSHC", "SFPCOMPC", "SFPPOPC", "SFPENCC"],
        ),
    ],
    ids=["nested", "second condition", "something behind it", "either of two conditions"],
)
def test_a_region_that_ends_with_the_one_around_it_pushes_no_flags(inside, expected):
    """Silicon's atan2 (`llk_blackhole_op_costs.csv`) takes 39.5 and 58.5 cycles a row, not 43.5 and 62.5."""
    for chip in CHIPS:
        assert flags(inside, chip) == expected


@pytest.mark.parametrize(
    "body, value, expected",
    [
        ("x * -y", lambda x, y: x * -y, ["SFPMUL"]),
        ("-x * -y + 1.0f", lambda x, y: x * y + 1, ["SFPMAD"]),
        ("y * -x - 0.0f", lambda x, y: y * -x, ["SFPMAD"]),  # a step of Newton's: Blackhole's LReg 9, subtracted
        ("x - -y", lambda x, y: x + y, ["SFPADD"]),
        ("-x + y", lambda x, y: y - x, ["SFPADD"]),
        ("x - y * -x", lambda x, y: x + y * x, ["SFPMAD"]),
        ("-x * 0.75f", lambda x, y: -x * 0.75, ["SFPMOV", "SFPMULI"]),
        ("-x * 0.75f + y", lambda x, y: y - x * 0.75, ["SFPLOADI", "SFPMAD"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_signs_of_operands_cost_blackhole_nothing(body, value, expected):
    """The vendor's compiler folds them into the mode: log of sfpi, 2025-02-13.  An instruction with a number in it has none."""
    source = ONE_OF_EACH.replace("BODY", body)
    assert [name for name in names(source, "blackhole") if name not in ("SFPLOAD", "SFPSTORE")] == expected
    x, y = np.arange(1, 33, dtype=np.float32), np.arange(-7, 25, dtype=np.float32)
    machine = VectorMachine("blackhole", {0: bits(x), 2: bits(y)})
    machine.run(words_of(HEADER + source, "blackhole")["k"])
    np.testing.assert_array_equal(machine.dst[4], bits(value(x, y) + np.float32(0)))


def test_a_number_that_a_register_holds_is_not_loaded():
    """Its reader in the condition and the assignment take LReg 10."""
    source = """extern "C" void k() {
        sfpi::vFloat x = sfpi::dst_reg[0], one = 1.0f;
        v_if(x > one) { x = one; } v_endif;
        sfpi::dst_reg[0] = x;
    }"""
    assert names(source, "blackhole") == ["SFPLOAD", "SFPGT", "SFPMOV", "SFPENCC", "SFPSTORE"]


ORDER = [0xFFC00000, 0xFF800000, 0xC0000000, 0x80000000, 0, 0x3F800000, 0x7F800000, 0x7FC00000]  # as Blackhole has it


def comparison(symbol):
    """Program that writes to Dst whether the floats of its first two row groups compare so."""
    return f"""extern "C" void k() {{
        sfpi::vFloat x = sfpi::dst_reg[0], y = sfpi::dst_reg[2];
        sfpi::vInt found = 0;
        v_if(x {symbol} y) {{ found = 1; }} v_endif;
        sfpi::dst_reg[8].mode<sfpi::DataLayout::I32>() = found;
    }}"""


@pytest.mark.parametrize("symbol, holds", [("<", lambda a, b: a < b), (">", lambda a, b: a > b), ("<=", lambda a, b: a <= b),
                                           (">=", lambda a, b: a >= b)])  # fmt: skip
def test_blackhole_orders_floats_by_sign_and_magnitude(symbol, holds):
    """-NaN < -inf < ... < -0 < 0 < ... < inf < NaN, measured on silicon: tt-llk, ckernel_sfpu_relu.h (ttnn 0.81.1)."""
    words = words_of(HEADER + comparison(symbol), "blackhole")["k"]
    assert not any(text_of("blackhole", word).startswith(("SFPMAD", "SFPADD")) for word in words)
    for first in range(len(ORDER)):
        for second in range(0, len(ORDER), 4):
            a = np.full(32, ORDER[first], np.uint32)
            b = np.array([ORDER[(second + lane) % len(ORDER)] for lane in range(32)], np.uint32)
            machine = VectorMachine("blackhole", {0: a, 4: b})
            machine.run(words)
            wanted = [holds(first, (second + lane) % len(ORDER)) for lane in range(32)]
            np.testing.assert_array_equal(machine.dst[16], np.array(wanted, np.uint32))


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("symbol", ["==", "!="])
def test_floats_are_equal_when_their_bits_are(symbol, chip):
    """An infinity is: test_sfpu_comp_unary_threshold.py of tt-llk; -0 and 0 are not: ckernel_sfpu_binary_pow.h (ttnn 0.81.1)."""
    words = words_of(HEADER + comparison(symbol), chip)["k"]
    b = np.array(ORDER * 4, np.uint32)
    for first in ORDER:
        machine = VectorMachine(chip, {0: np.full(32, first, np.uint32), 4: b})
        machine.run(words)
        np.testing.assert_array_equal(machine.dst[16], ((b == first) == (symbol == "==")).astype(np.uint32))


@pytest.mark.parametrize("condition, holds", [("x >= {}", lambda a, b: a >= b), ("x < {}", lambda a, b: a < b),
                                              ("{} >= x", lambda a, b: b >= a), ("{} < x", lambda a, b: b < a)])  # fmt: skip
def test_blackhole_orders_floats_and_programmable_constants(condition, holds):
    """As the destination of a comparison, the constant's register would make the instruction a template (ISA: SFPCONFIG.md)."""
    source = f"""extern "C" void k() {{
        sfpi::vFloat x = sfpi::dst_reg[0];
        sfpi::vInt found = 0;
        v_if({condition.format("sfpi::vConstFloatPrgm1")}) {{ found = 1; }} v_endif;
        sfpi::dst_reg[8].mode<sfpi::DataLayout::I32>() = found;
    }}"""
    x = np.arange(-16, 16, dtype=np.float32)
    machine = VectorMachine("blackhole", {0: bits(x)})
    machine.registers[13] = bits(np.float32(3))
    machine.run(words_of(HEADER + source, "blackhole")["k"])
    np.testing.assert_array_equal(machine.dst[16], holds(x, 3).astype(np.uint32))


FULL = f"""extern "C" void k() {{
    {"".join(f"sfpi::vFloat k{i} = sfpi::dst_reg[{i}];" for i in range(5))}
    sfpi::vFloat x = sfpi::dst_reg[6], y = sfpi::dst_reg[7];
    y = y * (2.0f - x * y);
    sfpi::dst_reg[6] = x; sfpi::dst_reg[7] = y;
    {"".join(f"sfpi::dst_reg[{i + 8}] = k{i};" for i in range(5))}
}}"""


def test_a_number_less_a_value_saves_a_register_where_there_are_few():
    """The power of two float32 on Wormhole (ckernel_sfpu_unary_power.h) needs every one of the eight."""
    assert names(FULL, "wormhole_b0").count("SFPADDI") == 1


def test_registers_do_not_depend_on_the_hashes_of_names():
    text = ir_text(HEADER + FULL, "wormhole_b0")
    code = "import sys; from tensim.sim.cores.riscv.vector.lowering import lowered; print(lowered(sys.stdin.read(), 'wormhole_b0'))"
    made = {
        subprocess.run(
            [sys.executable, "-c", code], input=text, env=os.environ | {"PYTHONHASHSEED": seed}, text=True,
            capture_output=True, check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }  # fmt: skip
    assert len(made) == 1
