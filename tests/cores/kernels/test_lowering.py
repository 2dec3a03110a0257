"""The kernel language: Python's statements on 64-bit integers, with every operation posted where it stands.

Kernels run on `driver`, a machine that interprets posted operations in Python; there is no chip here.
"""

import ast
import operator

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import tensim as tt
from tensim.kernel_api import *  # noqa: F403
from tensim.sim.cores import context as ctx
from tensim.sim.cores.kernels.compiler import device_function, kernel, kernel_from_file, kernel_from_source
from tensim.sim.cores.kernels.conventions import RaiseReason
from tensim.sim.cores.operations import Op, Role
from tensim.sim.errors import KernelCompileError, UsageError
from tests.cores.kernels.driver import COSTS, READY, Driver

# ruff: noqa: F405
OUT = 1024  # L1 address of what kernels store
LOCAL = 7  # a module constant that kernels see
ALU, BRANCH, MUL, DIV, LOAD, MUL_USE = (
    COSTS[word] for word in (ctx.COST_ALU, ctx.COST_BRANCH, ctx.COST_MUL, ctx.COST_DIV, ctx.COST_LOAD, ctx.COST_MUL_USE)
)


def compiled(body, parameters="a, b", before="", **options):
    """A kernel with this body, compiled."""
    lines = "\n".join(f"    {line}" for line in body.strip("\n").split("\n"))
    return kernel_from_source(f"{before}\n@kernel\ndef k({parameters}):\n{lines}\n").compile(**options)


def stored(records):
    """Values of the STORE operations."""
    return [args[1] for op, args, *_ in records if op == Op.STORE]


def outputs(body, *args, parameters="a, b", **options):
    """What `out(value)` was called with while the kernel ran; `out` stores 32 bits."""
    before = f"@device_function\ndef out(value):\n    p = l1_ptr({OUT}, uint32)\n    p[0] = value\n" + options.pop(
        "before", ""
    )
    return stored(Driver(args).run(compiled(body, parameters, before, **options)))


def refusal(body, parameters="a, b", before="", **options):
    with pytest.raises(KernelCompileError) as error:
        compiled(body, parameters, before, **options)
    return error.value


# --- arithmetic


def wrapped(value):
    """A Python integer as a 64-bit signed one."""
    return (int(value) + (1 << 63)) % (1 << 64) - (1 << 63)


BINARY = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
    ast.LShift: operator.lshift, ast.RShift: operator.rshift,
}  # fmt: skip
COMPARE = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip


def evaluate(node, names):
    """An expression with Python's meaning, every intermediate result kept in 64 bits."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return names[node.id]
    if isinstance(node, ast.BinOp):
        return wrapped(BINARY[type(node.op)](evaluate(node.left, names), evaluate(node.right, names)))
    if isinstance(node, ast.UnaryOp):
        value = evaluate(node.operand, names)
        return wrapped({ast.USub: -value, ast.Invert: ~value, ast.Not: not value}[type(node.op)])
    if isinstance(node, ast.IfExp):
        return evaluate(node.body if evaluate(node.test, names) else node.orelse, names)
    if isinstance(node, ast.BoolOp):
        for operand in node.values:
            value = evaluate(operand, names)
            if bool(value) != isinstance(node.op, ast.And):
                return value
        return value
    values = [evaluate(operand, names) for operand in (node.left, *node.comparators)]
    return int(all(COMPARE[type(op)](x, y) for op, x, y in zip(node.ops, values, values[1:], strict=False)))


LEAVES = (
    st.sampled_from(["a", "b", "c", "s"])
    | st.integers(0, 1 << 40).map(str)
    | st.integers(-9, 9).map(lambda n: f"({n})")
)


def compound(inner):
    """Expressions one level above `inner`; divisors are odd, shift amounts are below 64."""

    def two(template, *operators):
        return st.builds(lambda x, op, y: template.format(x=x, op=op, y=y), inner, st.sampled_from(operators), inner)

    return st.one_of(
        two("({x} {op} {y})", "+", "-", "*", "&", "|", "^"),
        two("({x} {op} ({y} | 1))", "//", "%"),
        two("({x} {op} ({y} & 63))", "<<", ">>"),
        two("({x} {op} {y})", "==", "!=", "<", "<=", ">", ">="),
        two("({x} {op} {y})", "and", "or"),
        st.builds("({} < {} <= {})".format, inner, inner, inner),
        st.builds("({} if {} else {})".format, inner, inner, inner),
        st.builds("({}{})".format, st.sampled_from(["-", "~", "not "]), inner),
        st.builds("({} {} {})".format, inner, st.sampled_from(["//", "%", "*"]), st.sampled_from([1, 2, 3, 8, 10, -4])),
    )  # fmt: skip


EXPRESSIONS = st.recursive(LEAVES, compound, max_leaves=12)
ARGUMENTS = [(0, 0, 0), (1, 2, 3), (5, 0xFFFFFFFF, 63), (0x80000000, 1, 0xFFFFFFFF), (7, 7, 0)]


@settings(max_examples=6, phases=[Phase.generate])
@given(st.lists(EXPRESSIONS, min_size=25, max_size=25))
def test_expressions_have_pythons_values_in_64_bits(expressions):
    """`s` is a local that is signed and wide: 2**40 * (b - a)."""
    lines = ["s = (b - a) << 40", f"p = l1_ptr({OUT}, uint32)"]
    for text in expressions:
        lines += [f"x = {text}", "p[0] = x", "p[1] = x >> 32"]
    code = compiled("\n".join(lines), "a, b, c")
    for a, b, c in ARGUMENTS:
        names = {"a": a, "b": b, "c": c, "s": wrapped((b - a) << 40)}
        words = [word & 0xFFFFFFFF for word in stored(Driver((a, b, c)).run(code))]
        found = [wrapped(low | high << 32) for low, high in zip(words[::2], words[1::2], strict=True)]
        wanted = [evaluate(ast.parse(text, mode="eval").body, names) for text in expressions]
        assert found == wanted


def test_comparisons_see_overflowed_values():
    """A product that has wrapped is compared as what it is, not as what it would be with more bits."""
    body = "s = (b - a) << 40\nout(2)\nx = (a != 5) and (1000 > s * 114041321)\nout(x)\nout(s * 114041321 < 1000)"
    assert wrapped((1 << 40) * 114041321) < 0
    assert outputs(body, 1, 2) == [2, 1, 1]


def test_constants_fold_to_64_bits():
    values = outputs(
        "out((1 << 62) * 4 + 1)\nout((1 << 63) >> 63)\nout(2 ** 10)\nout(-7 // 2)\nout(-7 % 4)\nout(True + True)", 0, 0
    )
    assert values == [1, -1, 1024, -4, 1, 2]


def test_calls_on_integers():
    values = outputs(
        "out(min(a, b, 4))\nout(max(a, b, 6))\nout(abs(a - b))\nout(uint8(300 + a))\nout(uint16(0 - a))\nout(int32(0 - a))\n"
        "out(uint32(0 - a))\nout(bool(b))\nout(int(b))\nout(mulsi3(a, b))\nout(min(3, 2))", 5, 7,
    )  # fmt: skip
    assert values == [4, 7, 2, 305 - 256, 65531, -5, 0xFFFFFFFB, 1, 7, 35, 2]


def test_float_bits():
    before = "\nHALF = 0.5\n"
    values = outputs("out(float_bits(1.5))\nout(float_bits(-2))\nout(float_bits(HALF))", 0, 0, before=before)
    assert values == [int(np.float32(x).view(np.uint32)) for x in (1.5, -2, 0.5)]
    assert "constant" in str(refusal("x = float_bits(a)"))


def test_riscv_nop_is_text_that_takes_its_time_where_it_runs():
    small, large = (compiled(f"if a > b:\n    riscv_nop({count})") for count in (1, 5001))
    assert large.text_bytes - small.text_bytes == 4 * 5000
    assert "known when the kernel is compiled" in str(refusal("riscv_nop(a)"))


@pytest.mark.parametrize("expression", ["a // b", "a % b"])
def test_division_by_zero_stops_the_thread(expression):
    driver = Driver((3, 0))
    with pytest.raises(RuntimeError):
        driver.run(compiled(f"x = 1\np = l1_ptr({OUT})\np[0] = {expression}"))
    assert driver.words[ctx.ARG0] == RaiseReason.DIVISION_BY_ZERO
    assert driver.words[ctx.LINE] == 6


# --- loops and branches


@pytest.mark.parametrize(
    "bounds", ["b", "a, b", "a, b, 2", "b, a, -1", "b, a, -3", "a, a", "0, b, a", "b, 0, 0 - a", "-2, 2"]
)
def test_for_loops_count_like_range(bounds):
    assert outputs(f"for i in range({bounds}):\n    out(i)\n", 2, 9) == list(eval(f"range({bounds})", {"a": 2, "b": 9}))


def test_changing_the_counter_does_not_change_the_loop():
    assert outputs("for i in range(3):\n    i += 10\n    out(i)\nout(i)", 0, 0) == [10, 11, 12, 12]


def test_bounds_are_evaluated_once():
    assert outputs("for i in range(a):\n    a = 100\n    out(i)", 2, 0) == [0, 1]


LOOPS = """
i = 0
while i < a:
    i += 1
    if i == 2:
        continue
    if i == 6:
        break
    for j in range(3):
        if j == i:
            break
        out(i * 10 + j)
    out(i)
while True:
    if b == 0:
        break
    b -= 1
out(b)
"""


def test_while_break_and_continue_leave_the_innermost_loop():
    wanted = [10, 1, 30, 31, 32, 3, 40, 41, 42, 4, 50, 51, 52, 5, 0]
    assert outputs(LOOPS, 9, 4) == wanted


@pytest.mark.parametrize("a, b", [(0, 0), (0, 1), (1, 0), (1, 1), (2, 3)])
def test_branches(a, b):
    body = "if a:\n    out(1)\nelif b:\n    out(2)\nelse:\n    out(3)\nif a and b > a:\n    out(4)\n"
    body += "if not (a or b):\n    pass\nelse:\n    out(5)"
    wanted = [1 if a else 2 if b else 3] + [4] * bool(a and b > a) + [5] * bool(a or b)
    assert outputs(body, a, b) == wanted


def test_short_circuits_skip_operations():
    """The right side of `and` and `or` is loaded from L1 only when the left side leaves it open."""
    code = compiled(
        f"p = l1_ptr({OUT}, uint32)\nx = a and p[0]\ny = b or p[1]\nz = p[2] if a else p[3]\nq = x + y + z\n"
    )
    for args, wanted in (((0, 5), [12]), ((1, 0), [0, 4, 8]), ((1, 1), [0, 8]), ((0, 0), [4, 12])):
        loads = [record[1][0] - OUT for record in Driver(args).run(code) if record[0] == Op.LOAD]
        assert loads == wanted


def test_endless_loops_spend_fuel():
    """A loop without operations reports to the machine, so that a cycle limit can end it."""
    records = Driver((1, 0)).run(compiled("while a:\n    b += 1"), limit=5)
    assert [op for op, *_ in records] == [Op.SPEND] * 5
    assert all(cycles > 20_000 for *_, cycles in records)


def test_tuples_are_assigned_at_once():
    assert outputs("a, b = b, a\nout(a)\nout(b)\na, b = a + b, a - b\nout(a)\nout(b)", 3, 8) == [8, 3, 11, 5]


# --- helpers

HELPERS = """
@device_function
def sign(x, scale=1):
    if x > 0:
        return scale
    if x < 0:
        return -scale
    return 0

@device_function
def twice(x):
    x = x + x
    return x

@device_function
def find(limit, wanted):
    for i in range(limit):
        for j in range(limit):
            if i * j == wanted:
                return i, j
    return -1, -1

@device_function
def emit(x):
    if x == 0:
        return
    out(x)
"""


def test_helpers_are_functions_of_their_own():
    body = "x = 50\nout(twice(twice(a)) + x)\nout(sign(a - b, scale=3))\nout(sign(b - a))\nout(sign(x=0))\nemit(0)\nemit(a)\nout(a)"
    assert outputs(body, 3, 8, before=HELPERS) == [62, -3, 1, 0, 3, 3]


def test_helpers_return_from_nested_loops():
    body = "i, j = find(9, a)\nout(i)\nout(j)\ni, j = find(3, b)\nout(i)\nout(j)"
    assert outputs(body, 35, 100, before=HELPERS) == [5, 7, -1, -1]


def test_return_leaves_a_kernel():
    assert outputs("for i in range(9):\n    if i == a:\n        return\n    out(i)\nout(99)", 2, 0) == [0, 1]


# --- arguments


def test_arguments():
    body = "out(a)\nout(get_arg_val(1))\nout(get_common_arg_val(0))\nout(get_compile_time_arg_val(1))\nout(get_arg(0))"
    before = f"@device_function\ndef out(value):\n    p = l1_ptr({OUT}, uint32)\n    p[0] = value\n"
    driver = Driver((3, 0xFFFFFFFF), common=(9,), compile_args=(1, -2))
    assert stored(driver.run(compiled(body, before=before))) == [3, 0xFFFFFFFF, 9, -2, 3]


@pytest.mark.parametrize(
    "call, reason",
    [("get_arg_val(2)", "ARGUMENT_INDEX"), ("get_common_arg_val(0)", "COMMON_ARGUMENT_INDEX"),
     ("get_compile_time_arg_val(0)", "COMPILE_ARGUMENT_INDEX"), ("get_write_ptr(32)", "CIRCULAR_BUFFER_INDEX"),
     ("get_noc_addr_from_bank_id(4, 0)", "BANK_INDEX")],
)  # fmt: skip
def test_indices_outside_stop_the_thread(call, reason):
    driver = Driver((3, 4))
    driver.words[ctx.CHECKED] = 1
    with pytest.raises(RuntimeError):
        driver.run(compiled(f"p = l1_ptr({OUT})\np[0] = {call}"))
    assert driver.words[ctx.ARG0] == RaiseReason[reason]


def test_named_compile_time_arguments():
    body = 'out(get_named_compile_time_arg_val("width") + 1)'
    assert outputs(body, 0, 0, named_compile_args={"width": 41}) == [42]
    error = refusal(body.replace("out", "int").replace("int(get", "x = (get"), named_compile_args={"height": 1})
    assert "no named compile-time argument 'width'" in str(error) and error.hint == "given: height"


def test_defines_fold_branches():
    """A define is a constant; the branch not taken is not compiled, so its calls need not exist."""
    body = "if FAST:\n    out(SCALE * 2)\nelse:\n    no_such_call()\nif MODE == 2:\n    out(b)"
    assert outputs(body, 1, 2, defines={"FAST": 1, "SCALE": "a + 3", "MODE": 3}) == [8]
    assert "no_such_call" in str(refusal(body.replace("out", "int"), defines={"FAST": 0, "SCALE": 1, "MODE": 2}))


def test_defines_stand_for_calls_and_statements():
    body = "SFPU_OPS\nBINARY(a, b)"
    defines = {"SFPU_OPS": "first second", "first": "out(1); out(a);", "second": "out(2)", "BINARY": "add"}
    assert outputs(body, 5, 6, defines=defines, before="@device_function\ndef add(x, y):\n    out(x + y)\n") == [
        1,
        5,
        2,
        11,
    ]


def test_module_constants_and_enumerations():
    before = "import anything\nfrom enum import IntEnum\nWIDTH = 4\nAREA = WIDTH * WIDTH\n"
    before += "class Mode(IntEnum):\n    A = 1\n    B = AREA + 1\n"
    assert outputs("out(AREA)\nout(Mode.B)\nout(PoolType.MAX)\nout(ReduceDim.REDUCE_SCALAR)", 0, 0, before=before) == [
        16,
        17,
        2,
        2,
    ]


# --- memory


@pytest.mark.parametrize(
    "name, dtype", [(n, np.dtype(n)) for n in ("uint8", "int8", "uint16", "int16", "uint32", "int32")]
)
def test_typed_pointers(name, dtype):
    """Loads extend by the type's sign, stores keep its low bytes, indices count elements."""
    body = f"p = l1_ptr(a, {name})\nq = p + 2\nq[1] = q[0] - 1\np[4] += 3\np[b] = 0 - 1\nx, y = p[0], p[b]\np[6] = x\np[7] = y * 2"
    driver = Driver((OUT, 5))
    memory = driver.l1[OUT : OUT + 8 * dtype.itemsize].view(dtype)
    memory[:] = (np.arange(8) * 37 - 100).astype(dtype)
    wanted = memory.copy()
    wanted[3] = int(wanted[2]) - 1 & (1 << 8 * dtype.itemsize) - 1 if dtype.kind == "u" else wanted[2] - 1
    wanted[4] += dtype.type(3)
    wanted[5] = np.array(-1).astype(dtype)
    wanted[6], wanted[7] = wanted[0], np.array(int(wanted[5]) * 2).astype(dtype)
    records = driver.run(compiled(body))
    assert memory.tolist() == wanted.tolist()
    assert {args[1] for op, args, *_ in records if op == Op.LOAD} == {dtype.itemsize}


def test_values_are_read_where_they_stand():
    """A load comes before the store that follows it, and a circular buffer's pointer is that of its moment."""
    assert outputs(f"p = l1_ptr({OUT}, uint32)\nx = p[0]\np[0] = x + 1\nout(x)\nout(p[0])", 0, 0) == [1, 0, 0]
    cb = {ctx.CB_WRITE_PTR: 4096, ctx.CB_PAGE_SIZE: 64}
    code = compiled(f"x = get_write_ptr(3)\ncb_push_back(3, 2)\np = l1_ptr({OUT})\np[0] = x\np[1] = get_write_ptr(3)")
    assert stored(Driver((0, 0), cbs={3: cb}).run(code)) == [4096, 4096 + 128]


# --- lines and costs


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


# --- what is refused, with file, line and reason

REFUSED = {
    "nothing_like_this(a)": "no call 'nothing_like_this'",
    "topk_local_sort(0, 0, 0)": "topk_local_sort: sorting networks",
    "welford_init()": "welford_init: Welford",
    "rand_tile(0, 0, 0)": "rand_tile: random numbers",
    "quant_tile_init(0)": "quant_tile_init: quantised",
    "max_reduce_with_indices(0, 1)": "max_reduce_with_indices: index reductions",
    "remote_cb_wait_front(0, 1)": "remote_cb_wait_front: remote circular buffers",
    "DPRINT(1)": "DPRINT takes one literal text",
    "DPRINT('{} {}', 1)": "the text of DPRINT does not fit 1 values",
    "DPRINT('{:q}', 1)": "the text of DPRINT does not fit",
    "DPRINT('{:>999999999}', 1)": "up to 99 wide",
    "DPRINT('{:{}}', 1, 2)": "up to 99 wide",
    "DPRINT('{:c}', 1)": "none of an integer",
    "DPRINT('{0.real}', 1)": "field '0.real' is not a value",
    "DPRINT('{', 1)": "the text of DPRINT does not fit",
    "DPRINT('{}{}{}{}{}{}{}{}{}', 1, 2, 3, 4, 5, 6, 7, 8, 9)": "DPRINT takes up to 8 values",
    "x = yield": "Yield is not part",
    "try:\n    pass\nexcept ValueError:\n    pass": "Try is not part",
    "with open(a):\n    pass": "with is not part",
    "f = lambda: 1": "Lambda is not part",
    "x = 'text'": "a str is not part",
    "x = f'{a}'": "JoinedStr is not part",
    "x = 1.5": "a float is not part",
    "x = None": "a NoneType is not part",
    "x = [a]": "List is not part",
    "x = {a: b}": "Dict is not part",
    "x = [i for i in range(a)]": "ListComp is not part",
    "x = a / b": "operator Div is not part",
    "x = a ** b": "** needs small constants",
    "x = a // 0": "division by zero",
    "x = a << 64": "a shift by 64",
    "x = a is b": "comparison Is is not part",
    "import os": "Import is not part",
    "def f():\n    pass": "FunctionDef is not part",
    "class C:\n    pass": "ClassDef is not part",
    "global a": "Global is not part",
    "del a": "Delete is not part",
    "a == b": "has no effect",
    "a.x = 1": "a.x cannot be assigned",
    "a.x += 1": "a.x cannot be assigned",
    "a[0] = 1": "only an L1 pointer can be indexed",
    "x = y = a": "chained assignment",
    "x = missing": "unknown name 'missing'",
    "x = later\nlater = 1": "later is used before it is assigned",
    "break": "break outside of a loop",
    "continue": "continue outside of a loop",
    "for x in (1, 2):\n    pass": "range(...) only",
    "for x in range(0, 9, 0):\n    pass": "step of zero",
    "for x in range(3):\n    pass\nelse:\n    pass": "for loop has the form",
    "while a:\n    pass\nelse:\n    pass": "while ... else",
    "return a": "a kernel returns nothing",
    "a()": "a is a variable and cannot be called",
    "print(a)": "print: kernels print with DPRINT",
    "x = cb_push_back(0, 1)": "cb_push_back has no value",
    "cb_push_back(0)": "cb_push_back needs the argument 'n'",
    "cb_push_back(0, 1, 2)": "cb_push_back takes 2 arguments, not 3",
    "cb_push_back(0, n=1, pages=2)": "cb_push_back has no parameter 'pages'",
    "cb_push_back(0, cb=1, n=2)": "cb_push_back got 'cb' twice",
    "cb_push_back(*a)": "* arguments",
    "cb_push_back(**a)": "** arguments",
    "_pack(0, 0, 0)": "no call '_pack'",
    "p = l1_ptr(a, float64)": "not an element type",
    "x = l1_ptr(a)\nx = 1": "x cannot also be an integer",
    "noc_async_read_page(0, a, b)": "needs an address generator",
    "noc_async_read_barrier()\ntile_regs_acquire()": "tile_regs_acquire belongs to compute kernels",
    "copy_tile(0, 0, 0)\nnoc_async_write_barrier()": "noc_async_write_barrier belongs to data-movement kernels",
}  # fmt: skip


@pytest.mark.parametrize("body", list(REFUSED))
def test_refusals_name_file_line_and_reason(body):
    """All of them when the kernel is made, before it is compiled for a core; unknown names at the latest then."""
    error = refusal(f"b = a\n{body}")
    assert REFUSED[body] in str(error)
    assert error.where["file"].startswith("<kernel ")
    assert error.where["line"] in range(5, 6 + body.count("\n"))


@pytest.mark.parametrize("parameters", ["*a", "**a", "a=1", "*, a", "a, /"])
def test_kernels_take_plain_parameters(parameters):
    assert "plain positional parameters" in str(refusal("pass", parameters))


def test_recursion_is_refused():
    before = "@device_function\ndef f(x):\n    return g(x)\n@device_function\ndef g(x):\n    return f(x)\n"
    assert "recursion is not possible in a kernel: k -> f -> g -> f" in str(refusal("x = f(a)", before=before))


def test_a_helper_that_may_end_without_a_value_is_refused():
    before = "@device_function\ndef f(x):\n    if x:\n        return 1\n"
    assert "f may end without returning a value" in str(refusal("x = f(a)", before=before))


def test_break_in_a_helper_does_not_leave_the_callers_loop():
    before = "@device_function\ndef f():\n    break\n"
    assert "break outside of a loop" in str(refusal("for i in range(3):\n    f()", before=before))


def test_a_bad_kernel_is_refused_when_it_is_decorated():
    with pytest.raises(KernelCompileError, match="cb_pop_front takes 2 arguments") as error:

        @kernel
        def wrong():
            cb_pop_front(0, 1, 2)

    assert error.value.where["file"].endswith("test_lowering.py")
    assert "cb_pop_front(0, 1, 2)" in open(__file__).read().split("\n")[error.value.where["line"] - 1]


table = [1, 2]


def plain():
    return 1


def test_names_of_the_module_that_are_not_constants():
    @kernel
    def uses_table():
        noc_async_read_inc_num_issued(table)

    with pytest.raises(KernelCompileError, match="unknown name 'table'"):
        uses_table.compile()
    with pytest.raises(KernelCompileError, match="plain is a plain Python function"):

        @kernel
        def uses_plain():
            noc_async_read_inc_num_issued(plain())


def test_kernels_cannot_be_called():
    @kernel
    def nothing():
        pass

    @device_function
    def helper():
        pass

    with pytest.raises(UsageError, match="pass it to create_kernel"):
        nothing()
    with pytest.raises(UsageError, match="only a kernel can call it"):
        helper()
    with pytest.raises(UsageError):
        cb_push_back(0, 1)


@pytest.mark.parametrize(
    "call, config, home",
    [
        ("tile_regs_acquire()", "ReaderDataMovementConfig", "compute"),
        ("noc_async_read_barrier()", "ComputeConfig", "data-movement"),
    ],
)
def test_a_kernel_runs_on_its_own_kind_of_core(call, config, home):
    program = tt.create_program()
    with pytest.raises(UsageError, match=f"kernel k calls .*, as {home} kernels do"):
        source = f"@kernel\ndef k():\n    {call}\n"
        tt.create_kernel_from_string(program, source, tt.CoreCoord(0, 0), getattr(tt, config)())


# --- kernels as text


def test_text_is_never_executed(tmp_path):
    witness = tmp_path / "witness"
    attack = f"open({str(witness)!r}, 'w')"
    texts = [
        f"{attack}\n@kernel\ndef k():\n    pass\n",
        f"x = {attack}\n@kernel\ndef k():\n    pass\n",
        f"@kernel\ndef k(a={attack}):\n    pass\n",
        f"@kernel\n@({attack})\ndef k():\n    pass\n",
        f"@kernel\ndef k():\n    {attack}\n",
        f"class C(IntEnum):\n    A = {attack}\n@kernel\ndef k():\n    pass\n",
        f"@kernel\ndef k():\n    X\n    {attack}\n",
    ]
    for text in texts:
        try:
            kernel_from_source(text).compile(defines={"X": attack})
        except KernelCompileError:
            pass
        assert not witness.exists()


@pytest.mark.parametrize(
    "text, reason",
    [("def k(:\n", "not valid Python"), ("x = 1\n", "expected one kernel, found none"), ("def f():\n    pass\n", "f is neither"),
     ("@kernel\ndef a():\n    pass\n@kernel\ndef b():\n    pass\n", "expected one kernel, found a, b"),
     ("for i in x:\n    pass\n", "For is not allowed"), ("x = [1]\n", "is not a constant number")],
)  # fmt: skip
def test_texts_that_are_no_kernels(text, reason):
    with pytest.raises(KernelCompileError, match=reason):
        kernel_from_source(text)


def test_one_of_several_kernels(tmp_path):
    path = tmp_path / "two.py"
    path.write_text(f"@kernel\ndef a():\n    l1_ptr({OUT})[0] = 1\n\n@kernel\ndef b():\n    l1_ptr({OUT})[0] = 2\n")
    assert stored(Driver().run(kernel_from_file(path, "b").compile())) == [2]
    with pytest.raises(KernelCompileError, match="no kernel 'c'") as error:
        kernel_from_file(path, "c")
    assert error.value.hint == "there are a, b"
    with pytest.raises(UsageError, match="cannot read kernel file"):
        kernel_from_file(tmp_path / "missing.py")


@device_function
def scaled(x):
    """A helper that sees a constant of this module."""
    return x * LOCAL


@kernel
def decorated(n):
    words = l1_ptr(OUT, uint32)
    for i in range(n):
        words[i] = scaled(i)
    cb_push_back(0, LOCAL)
    noc_async_read_page(3, InterleavedAddrGen(64, page_size=32, dram=True), 2048)


def test_the_source_of_a_kernel_stands_for_itself():
    """The text holds helpers and constants, and posts the same operations."""
    again = kernel_from_source(decorated.source, "decorated")
    records = [Driver((3,), cbs={0: {}}).run(item.compile()) for item in (decorated, again)]
    plain_records = [[(op, args, cycles) for op, args, _, cycles in record] for record in records]
    assert plain_records[0] == plain_records[1]
    assert stored(records[0]) == [0, LOCAL, 2 * LOCAL]
    assert again.source == decorated.source and again.digest == decorated.digest
