"""Every instruction of RV32I and M with the values at its corners, against the definition of the instruction set."""

import pytest

from tensim.sim.errors import ProgramError
from tests.cores.riscv.assembler import (
    A0,
    A1,
    BRANCHES,
    IMMEDIATE,
    LOADS,
    REGISTER,
    S0,
    SHIFT,
    T0,
    T1,
    T2,
    ZERO,
    addi,
    arithmetic,
    auipc,
    branch,
    jal,
    jalr,
    kernel_elf,
    li,
    load,
    lui,
    store,
)  # fmt: skip
from tests.cores.riscv.machine import OUT, run, words

MIN, MAX, ONES = 0x80000000, 0x7FFFFFFF, 0xFFFFFFFF
CORNERS = (0, 1, 2, 7, 31, 32, 0x7FF, 0xFFFF, 0x12345678, MAX, MIN, MIN + 1, 0xDEADBEEF, ONES - 1, ONES)
IMMEDIATES = (0, 1, -1, 5, 2047, -2048)
SHIFTS = (0, 1, 15, 31)


def signed(value):
    value &= ONES
    return value - (1 << 32) if value & MIN else value


def divided(a, b):
    """Quotient and remainder that round towards zero."""
    quotient = abs(a) // abs(b) * (-1 if (a < 0) != (b < 0) else 1)
    return quotient, a - quotient * b


DEFINITIONS = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "xor": lambda a, b: a ^ b, "or": lambda a, b: a | b,
    "and": lambda a, b: a & b, "sll": lambda a, b: a << (b & 31), "srl": lambda a, b: a >> (b & 31),
    "sra": lambda a, b: signed(a) >> (b & 31), "slt": lambda a, b: signed(a) < signed(b), "sltu": lambda a, b: a < b,
    "mul": lambda a, b: a * b, "mulh": lambda a, b: signed(a) * signed(b) >> 32,
    "mulhsu": lambda a, b: signed(a) * b >> 32, "mulhu": lambda a, b: a * b >> 32,
    "div": lambda a, b: divided(signed(a), signed(b))[0] if b else -1, "divu": lambda a, b: a // b if b else -1,
    "rem": lambda a, b: divided(signed(a), signed(b))[1] if b else a, "remu": lambda a, b: a % b if b else a,
}  # fmt: skip


def results(program, count):
    """The words that a program leaves from OUT on; S0 points there."""
    return words(run(kernel_elf(li(S0, OUT), program)), count)


def of_pairs(name, seconds, as_register):
    program, expected = [], []
    for second in seconds:
        program.append(addi(S0, S0, 0))
        if as_register:
            program += li(A1, second)
        for first in CORNERS:
            program += li(A0, first)
            program += [arithmetic(name, T0, A0, A1 if as_register else second), store("sw", T0, S0), addi(S0, S0, 4)]
            base = name if as_register else name.replace("i", "", 1) if name != "sltiu" else "sltu"
            expected.append(int(DEFINITIONS[base](first, second & ONES)) & ONES)
    return results(program, len(expected)), expected


@pytest.mark.parametrize("name", REGISTER)
def test_two_registers(name):
    found, expected = of_pairs(name, CORNERS, True)
    assert found == expected


@pytest.mark.parametrize("name", IMMEDIATE)
def test_a_register_and_an_immediate(name):
    found, expected = of_pairs({"slti": "slti"}.get(name, name), IMMEDIATES, False)
    assert found == expected


@pytest.mark.parametrize("name", SHIFT)
def test_shifts_by_an_immediate(name):
    found, expected = of_pairs(name, SHIFTS, False)
    assert found == expected


def test_division_by_zero_and_overflow_as_the_specification_says():
    cases = [("div", 7, 0, -1), ("divu", 7, 0, -1), ("rem", 7, 0, 7), ("remu", 7, 0, 7)]
    cases += [("div", MIN, ONES, MIN), ("rem", MIN, ONES, 0), ("div", -7, 2, -3), ("rem", -7, 2, -1), ("rem", 7, -2, 1)]
    program = [
        [li(A0, a), li(A1, b), arithmetic(name, T0, A0, A1), store("sw", T0, S0), addi(S0, S0, 4)]
        for name, a, b, _ in cases
    ]
    assert results(program, len(cases)) == [result & ONES for *_, result in cases]


def test_the_first_register_stays_zero():
    program = [li(A0, 5), addi(ZERO, A0, 1), arithmetic("add", ZERO, A0, A0), load("lw", ZERO, S0), lui(ZERO, 5)]
    program += [jal(ZERO, "next"), "next", store("sw", ZERO, S0, 4), addi(T0, ZERO, 3), store("sw", T0, S0, 8)]
    assert results(program, 3) == [0, 0, 3]


def test_loads_extend_and_stores_cut():
    program = [li(A0, 0x8190A2B3), store("sw", A0, S0), store("sb", A0, S0, 4), store("sh", A0, S0, 6)]
    expected = [0x8190A2B3, 0xA2B300B3]
    for name, offsets in (("lb", range(4)), ("lbu", range(4)), ("lh", (0, 2)), ("lhu", (0, 2)), ("lw", (0,))):
        for offset in offsets:
            program += [load(name, T0, S0, offset), store("sw", T0, S0, 4 * len(expected))]
            size = 1 << (LOADS[name] & 3)
            value = 0x8190A2B3 >> 8 * offset & ((1 << 8 * size) - 1)
            if LOADS[name] < 4 and value >> (8 * size - 1):
                value -= 1 << 8 * size
            expected.append(value & ONES)
    assert results(program, len(expected)) == expected


@pytest.mark.parametrize("name", BRANCHES)
def test_branches(name):
    holds = {
        "beq": lambda a, b: a == b, "bne": lambda a, b: a != b, "blt": lambda a, b: signed(a) < signed(b),
        "bge": lambda a, b: signed(a) >= signed(b), "bltu": lambda a, b: a < b, "bgeu": lambda a, b: a >= b,
    }[name]  # fmt: skip
    program, expected = [], []
    for a in CORNERS:
        for b in (0, 1, MAX, MIN, ONES):
            label = f"taken {a} {b}"
            program += [li(A0, a), li(A1, b), addi(T0, ZERO, 1), branch(name, A0, A1, label), addi(T0, ZERO, 0), label]
            program += [store("sw", T0, S0), addi(S0, S0, 4)]
            expected.append(int(holds(a, b)))
    assert results(program, len(expected)) == expected


def test_jumps_link_and_upper_immediates_add_the_program_counter():
    program = [jal(T0, "over"), addi(T1, ZERO, 99), "over", auipc(A0, 1), jalr(T1, T0, 16)]
    program += [addi(A0, ZERO, 0), store("sw", T0, S0), store("sw", T1, S0, 4), store("sw", A0, S0, 8)]
    start = 8  # behind the two instructions of results()
    assert results(program, 3) == [start + 4, start + 16, start + 8 + 0x1000]


def test_fences_do_nothing():
    assert results([0x0FF0000F, 0x0000100F, addi(T2, ZERO, 4), store("sw", T2, S0)], 1) == [4]


FAULTS = {
    "illegal": ([0], "illegal_instruction", "0x00000000"),
    "breakpoint": ([0x00100073], "illegal_instruction", "0x00100073"),
    "compressed": ([0x00014501], "illegal_instruction", "0x00014501"),
    "misaligned load": ([load("lw", T0, S0, 2)], "misaligned_access", f"{OUT + 2:#x}"),
    "misaligned half": ([load("lhu", T0, S0, 1)], "misaligned_access", f"{OUT + 1:#x}"),
    "misaligned store": ([store("sh", T0, S0, 3)], "misaligned_access", f"{OUT + 3:#x}"),
    "beyond L1": ([li(S0, 0x200000), load("lw", T0, S0)], "no_memory", "0x200000"),
    "store beyond memory": ([li(S0, 0xFFB10000), store("sw", T0, S0)], "no_memory", "0xffb10000"),
    "firmware": ([li(S0, 0x100), store("sw", T0, S0)], "l1_reserved", "0x100"),
    "jump out": ([li(S0, 0x4000), jalr(ZERO, S0)], "jump_outside", "0x4000"),
    "jump between": ([jalr(ZERO, ZERO, 2)], "jump_outside", "0x2"),
    "stack": ([arithmetic("sub", 2, 2, S0)], "stack_overflow", "stack pointer"),
    "stack by immediate": ([li(T0, 4096), arithmetic("add", 2, T0, 2)], "stack_overflow", "stack pointer"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_name_the_instruction(name):
    program, kind, part = FAULTS[name]
    with pytest.raises(ProgramError) as caught:
        results(program, 0)
    assert caught.value.kind == kind and part in caught.value.message
    assert caught.value.where["thread"] == "BRISC" and caught.value.where["kernel"] == "kernel"
    assert caught.value.where["pc"] == 8 + 4 * (sum(len(p) if isinstance(p, list) else 1 for p in program) - 1)
