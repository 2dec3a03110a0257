"""Kernels that are refused, with file, line and reason; kernels as text."""

import pytest

import tensim as tt
from tensim.kernel_api import *  # noqa: F403
from tensim.sim.cores.kernels.compiler import device_function, kernel, kernel_from_file, kernel_from_source
from tensim.sim.errors import KernelCompileError, UsageError
from tests.cores.kernels.driver import Driver
from tests.cores.kernels.lowered import LOCAL, OUT, refusal, stored

# ruff: noqa: F405

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

    assert error.value.where["file"].endswith("test_refused_kernels.py")
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
