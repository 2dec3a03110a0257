"""Lines and costs of lowered kernels."""

import pytest

from tensim.kernel_api import *  # noqa: F403
from tensim.sim.cores.kernels.compiler import kernel_from_source
from tensim.sim.cores.operations import Op, Role
from tests.cores.kernels.driver import READY, Driver
from tests.cores.kernels.lowered import ALU, BRANCH, DIV, LOAD, MUL, MUL_USE, OUT, compiled

# ruff: noqa: F405


def test_operations_carry_their_lines():
    source = "@device_function\ndef note(p):\n    p[0] = 1\n\n@kernel\ndef k():\n"
    source += f"    p = l1_ptr({OUT})\n    p[1] = 2\n    note(p)\n    p[2] = (\n        3)\n"
    code = kernel_from_source(source).compile()
    assert [line for op, _, line, _ in Driver().run(code) if op == Op.STORE] == [8, 3, 10]
    assert code.lines[3] == "    p[0] = 1"


def test_operations_of_the_library_carry_the_callers_line():
    code = kernel_from_source("@kernel\ndef k():\n    pack_relu_config(1)\n    untilize_block(0, 1, 1)\n").compile()
    assert [line for _, _, line, _ in Driver(role=Role.PACK, cbs={0: {}}).run(code)] == [3, 4, 4, 4]


@pytest.mark.parametrize(
    "expression, cycles",
    [("a", 0), ("a + b", ALU), ("a + b - 1", 2 * ALU), ("a * b", MUL + MUL_USE), ("a * 8", ALU), ("a // b", DIV), ("a // 3", MUL),
     ("a // 4", ALU), ("a % 4", ALU), ("a << b", ALU), ("a < b", ALU), ("3 * 4 + 5", 0), ("a if b else 2", BRANCH),
     ("get_arg_val(1)", LOAD), ("get_compile_time_arg_val(0) * 3", 0), ("min(a, b)", ALU + BRANCH)],
)  # fmt: skip
def test_plain_code_costs(expression, cycles):
    """Beside the loads of the two parameters; what is known before the kernel starts is free."""
    records = Driver((6, 2), compile_args=(3,)).run(compiled(f"p = l1_ptr({OUT})\np[0] = {expression}"))
    assert [record[3] for record in records if record[0] == Op.STORE] == [2 * LOAD + cycles]


@pytest.mark.parametrize(
    "body, cycles",
    [("x = a * b\np[0] = x", MUL + MUL_USE), ("x = a * b\ny = a + b\np[0] = x", MUL + ALU),
     ("p[0] = a * b + 1", MUL + MUL_USE + ALU), ("p[0] = a * b * a", 2 * (MUL + MUL_USE)),
     ("p[5] = a", 0), ("p[a] = b", 2 * ALU), ("p[600] = a", ALU),
     ("if a < b:\n    p[0] = 1", BRANCH), ("if a:\n    p[0] = 1", BRANCH), ("if a < b < 9:\n    p[0] = 1", BRANCH + 2 * ALU)],
)  # fmt: skip
def test_instructions_wait_for_products_and_hold_small_offsets_and_comparisons(body, cycles):
    records = Driver((6, 8)).run(compiled(f"p = l1_ptr(a + {OUT})\n{body}"))
    assert [record[3] for record in records if record[0] == Op.STORE] == [2 * LOAD + ALU + cycles]


def test_a_load_blocks_the_first_instruction_that_uses_it():
    body = f"p = l1_ptr({OUT})\nx = p[0]\np[1] = a + b\np[2] = x\nfor i in range(2):\n    p[3] = x + i"
    cycles = [record[3] for record in Driver((6, 2)).run(compiled(body)) if record[0] == Op.STORE]
    assert cycles == [ALU, READY, READY + ALU, READY + ALU]


def test_loads_that_a_loop_tests_are_waited_for_inside_it():
    body = f"p = l1_ptr({OUT})\nx = p[0]\nn = 0\nwhile x == 0 and n < 2:\n    x = p[0]\n    n += 1\np[1] = x"
    driver = Driver((6, 2))
    records = driver.run(compiled(body))
    assert [record[0] for record in records[:4]] == [Op.LOAD, Op.LOAD, Op.LOAD, Op.STORE]
    assert all(record[3] >= READY for record in records[1:4])


@pytest.mark.parametrize(
    ("choice", "cycles"),
    [("", 0), (", 1, 2", 0), (", get_compile_time_arg_val(0)", 0), (", noc=a", 4), (", vc=a", 3), (", a, b", 7)],
)
def test_a_noc_or_virtual_channel_known_only_at_run_time_costs_instructions(choice, cycles):
    """Small transfers of a probe that takes both as arguments, docs/validation/dram.md."""
    records = Driver((1, 2), compile_args=(1,)).run(compiled(f"noc_async_write({OUT}, {OUT}, 64{choice})"))
    assert [record[3] for record in records if record[0] == Op.NOC_WRITE] == [2 * LOAD + cycles * ALU]


@pytest.mark.parametrize(("additions", "missed"), [(1020, 0), (1150, 96), (1278, 192), (2046, 512)])
def test_a_long_loop_is_fetched_again(additions, missed):
    """Lines of a two-way cache of 256 lines: none, three of each crowded set, all."""
    lines = [additions % 60, *[60] * (additions // 60)]
    statements = "\n".join("    x = x" + " + 1" * line for line in lines)
    records = Driver((2, 0)).run(compiled(f"p = l1_ptr({OUT})\nx = b\nfor i in range(a):\n{statements}\np[0] = x"))
    assert sum(record[3] for record in records) == 2 * LOAD + 2 * (additions * ALU + BRANCH + ALU + missed)


def test_rounds_of_a_loop_cost_a_branch_and_an_addition():
    records = Driver((4, 0)).run(compiled(f"p = l1_ptr({OUT})\nfor i in range(a):\n    p[0] = i"))
    assert [cycles for *_, cycles in records if cycles][1:4] == [BRANCH + ALU] * 3


def test_failures_carry_their_message():
    code = compiled('assert a == 3, "a is three"\nif b:\n    raise ValueError("b is set")\nassert a < b')
    for args, message in (((2, 0), "a is three"), ((3, 1), "b is set"), ((3, 0), "assertion failed: a < b")):
        op, words, *_ = Driver(args).run(code)[-1]
        assert op == Op.FAIL and code.messages[words[0]] == message
