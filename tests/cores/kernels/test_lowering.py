"""What kernels become: values, loops, branches, helpers and arguments."""

import ast
import operator

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tensim.kernel_api import *  # noqa: F403
from tensim.sim.cores import context as ctx
from tensim.sim.cores.kernels.conventions import RaiseReason
from tensim.sim.cores.operations import Op
from tests.cores.kernels.driver import Driver
from tests.cores.kernels.lowered import OUT, compiled, outputs, refusal, stored

# ruff: noqa: F405


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
