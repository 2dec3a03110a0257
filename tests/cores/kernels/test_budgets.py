"""What a kernel's text may cost to compile: refused before numba sees it, and compiled apart when somebody else wrote it."""

import time

import pytest

from tensim.sim.arch import load_arch
from tensim.sim.compile_budget import FILE_SECONDS, CompileBudget
from tensim.sim.cores.kernels import compile_apart as apart
from tensim.sim.cores.kernels.compiler import kernel_from_source
from tensim.sim.cores.riscv import foreign
from tensim.sim.cores.riscv.compiler import Build, Processor, compile_unit
from tensim.sim.engine import machine_code
from tensim.sim.errors import KernelCompileError

HEAD = "@kernel\ndef k(a):\n    "


def nested_loops(count):
    lines = ["    " * (depth + 1) + f"for i{depth} in range(a):\n" for depth in range(count)]
    return "@kernel\ndef k(a):\n" + "".join(lines) + "    " * (count + 1) + "riscv_wait(1)\n"


def nested_branches(count):
    lines = [" " * (depth + 1) + f"if a > {depth}:\n" for depth in range(count)]
    return "@kernel\ndef k(a):\n" + "".join(lines) + " " * (count + 1) + "riscv_wait(1)\n"


def nested_helpers(depth, calls):
    helpers = ["@device_function\ndef h0(a):\n    pass\n"]
    helpers += [f"@device_function\ndef h{i}(a):\n" + f"    h{i - 1}(a)\n" * calls for i in range(1, depth)]
    return "".join(helpers) + HEAD + f"h{depth - 1}(a)\n"


TOO_LARGE = {
    "a sum of 250 terms": (HEAD + "x = " + "+".join("a" * 250) + "\n", "300 operands"),
    "a comparison of 5,000": (HEAD + "x = " + "<".join("a" * 5000) + "\n", "300 operands"),
    "an and of 5,000": (HEAD + "x = " + " and ".join("a" * 5000) + "\n", "300 operands"),
    "21 loops inside each other": (nested_loops(21), "18 loops"),
    "95 branches inside each other": (nested_branches(95), "blocks inside each other|not valid Python"),
    "23 helpers that call each other ten times": (nested_helpers(23, 10), "20,000 statements"),
    "9,000 plain lines": (HEAD + "\n    ".join(f"x{i} = a * {i}" for i in range(9000)) + "\n", "3,000 lines"),
    "1,000 branches": (HEAD + "x = a\n" + "    if x > a:\n        x = x - 1\n" * 1000, "300 branches"),
    "400 operations": (HEAD + "riscv_wait(1)\n    " * 400 + "pass\n", "300 operations"),
    "a constant of 2,000 terms": ("X = " + "+".join("1" * 2000) + "\n" + HEAD + "pass\n", "nested too deeply"),
    "a text of a megabyte": ("#" * (1 << 20) + "\n" + HEAD + "pass\n", "1,048,.* characters"),
}


@pytest.mark.parametrize(("text", "why"), TOO_LARGE.values(), ids=TOO_LARGE)
def test_a_text_that_costs_too_much_is_refused_at_once(text, why):
    begun = time.process_time()
    with pytest.raises(KernelCompileError, match=why):
        kernel_from_source(text).compile()
    assert time.process_time() - begun < 10


@pytest.mark.parametrize("statement", ["D0", "x = D0"])
def test_defines_that_double_are_refused(statement):
    joint = ";" if statement == "D0" else "+"
    defines = {f"D{i}": f"D{i + 1}{joint}D{i + 1}" for i in range(30)} | {
        "D30": "riscv_wait(1)" if joint == ";" else "1"
    }
    with pytest.raises(KernelCompileError, match="too large|300 operations"):
        kernel_from_source(HEAD + statement + "\n").compile(defines=defines)


def test_what_is_within_the_limits_compiles():
    """Eighteen loops, a hundred terms, fifty branches."""
    kernel_from_source(nested_loops(18)).compile()
    kernel_from_source(HEAD + "riscv_wait(" + "+".join("a" * 100) + ")\n").compile()


@pytest.fixture
def uncached(monkeypatch):
    """Nothing is in the cache."""
    monkeypatch.setattr(machine_code, "load_or_compile", lambda name, compile_function: compile_function())


@pytest.fixture
def broken(monkeypatch):
    """The process that compiles ends at once."""
    monkeypatch.setattr(apart, "_process", None)
    monkeypatch.setattr(apart, "COMMAND", "import sys; sys.exit(1)")


def test_a_foreign_kernel_is_compiled_in_a_process_of_its_own(uncached):
    code = kernel_from_source(HEAD + "riscv_wait(a + 4711)\n", budget=CompileBudget()).compile().code
    assert code.content[:4] == b"\x7fELF" and code.frame_bytes > 0


def test_a_foreign_kernel_beyond_the_limits_is_refused(uncached, broken):
    with pytest.raises(KernelCompileError, match="takes more than 60 s or 3 GB to compile"):
        kernel_from_source(HEAD + "riscv_wait(a + 4712)\n", budget=CompileBudget()).compile()


SHORT_OF_TIME = f"import {apart.__name__} as apart; apart.SECONDS = 1; apart.main()"


def test_a_foreign_kernel_that_takes_too_long_is_ended_and_the_next_one_compiled(uncached, monkeypatch):
    """By the same process, whose children the limits are for."""
    monkeypatch.setattr(apart, "_process", None)
    monkeypatch.setattr(apart, "COMMAND", SHORT_OF_TIME)
    slow = HEAD + "x = a\n" + "    x = x * 3 + a\n" * 1200
    with pytest.raises(KernelCompileError, match="to compile"):
        kernel_from_source(slow, budget=CompileBudget()).compile()
    code = kernel_from_source(HEAD + "riscv_wait(a + 4740)\n", budget=CompileBudget()).compile().code
    assert code.content[:4] == b"\x7fELF"


def test_a_process_that_was_killed_is_replaced(uncached):
    for number in (4730, 4731):
        code = kernel_from_source(HEAD + f"riscv_wait(a + {number})\n", budget=CompileBudget()).compile().code
        assert code.content[:4] == b"\x7fELF"
        process = apart._process._process
        process.kill()
        process.wait()


def test_a_foreign_kernel_has_fewer_lines_than_one_of_ones_own(uncached):
    text = HEAD + "x = a\n" + "    x = x * 3 + a\n" * (apart.MAX_LINES + 100)
    begun = time.process_time()
    why = r"1,5\d\d lines of generated code, of which a kernel of a file may have 1,400"
    with pytest.raises(KernelCompileError, match=why):
        kernel_from_source(text, budget=CompileBudget()).compile()
    assert time.process_time() - begun < 5
    kernel_from_source(text)  # nothing is wrong with it


def test_the_kernels_of_a_file_share_a_budget(uncached):
    """A thousand kernels that each keep within the limits would take a day."""
    budget = CompileBudget()
    kernels = [kernel_from_source(HEAD + f"riscv_wait(a + {4713 + i})\n", budget=budget) for i in range(2)]
    kernels[0].compile()
    taken = FILE_SECONDS - budget.seconds
    assert 0 < taken < apart.SECONDS
    budget.seconds = 0
    kernels[0].compile()  # which is compiled already
    with pytest.raises(KernelCompileError, match="the file's kernels take more than 300 s to compile, before kernel k"):
        kernels[1].compile()


def test_a_kernel_beyond_its_limit_counts_for_its_file(uncached, broken):
    budget = CompileBudget()
    with pytest.raises(KernelCompileError):
        kernel_from_source(HEAD + "riscv_wait(a + 4720)\n", budget=budget).compile()
    assert budget.seconds == FILE_SECONDS - apart.SECONDS


ARCH = load_arch("wormhole_b0")
CPP = "void kernel_main() { get_arg_val<uint32_t>(%d); }\n"


def build(number, budget):
    """A C++ kernel that nobody has compiled, for BRISC."""
    return Build(Processor.BRISC, ARCH, text=CPP % number, name="foreign.cpp", budget=budget)


def test_kernels_in_cpp_share_the_budget_of_their_file():
    pytest.importorskip("ziglang")
    budget = CompileBudget()
    compile_unit(build(1, budget))
    taken = FILE_SECONDS - budget.seconds
    assert 0 < taken < foreign.SECONDS
    budget.seconds = 0
    with pytest.raises(KernelCompileError, match="take more than 300 s to compile, before kernel foreign.cpp"):
        compile_unit(build(2, budget))
    assert budget.seconds == 0


def test_a_kernel_in_cpp_beyond_the_limits_is_refused(monkeypatch):
    """The compiler is ended by a signal, and what it took is paid."""
    pytest.importorskip("ziglang")
    monkeypatch.setattr(foreign, "SECONDS", 1)
    slow = "constexpr int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\n"
    slow += "".join(f"constexpr int x{i} = f(22);\n" for i in range(200))
    budget = CompileBudget()
    with pytest.raises(KernelCompileError, match="takes more than 1 s, 2 GB or 64 MB of output to compile"):
        compile_unit(Build(Processor.BRISC, ARCH, text=slow + CPP % 3, name="foreign.cpp", budget=budget))
    assert budget.seconds < FILE_SECONDS - 0.9
