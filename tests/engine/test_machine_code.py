"""Machine code on disk: what it calls, and that a warm start needs nothing else."""

import io
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from numba.core.errors import NumbaError

from tensim.sim.cores.kernels import kernel_runtime
from tensim.sim.cores.kernels.compiler import kernel_from_source
from tensim.sim.engine import entry_points, machine_code
from tensim.sim.engine.numba_compiler import IntegerDispatcher, object_code

KERNEL = """
@kernel
def adds(count):
    for i in range(count):
        cb_push_back({cb}, get_compile_time_arg_val(0) + {number})
"""


WARM_START = """
import sys
from tensim.cli.main import main
try:
    main(["run", "add_integers"])
except SystemExit:
    print([name for name in ("numba", "tensim.sim.engine.event_loop") if name in sys.modules])
"""


def test_a_warm_start_imports_neither_numba_nor_the_engine():
    for _ in range(2):  # the first one compiles what is missing
        done = subprocess.run([sys.executable, "-c", WARM_START], capture_output=True, text=True, timeout=600)
    assert done.stdout.splitlines()[-1] == "[]", done.stdout + done.stderr


def test_machine_code_calls_nothing_but_the_c_library():
    elffile = pytest.importorskip("elftools.elf.elffile", reason="pyelftools reads the object")
    for entry in (entry_points.run, entry_points.run_core, entry_points.encode_tiles):
        assert entry.address
        _, content = machine_code._path(entry.key).read_bytes().split(b"\n", 1)
        symbols = elffile.ELFFile(io.BytesIO(content)).get_section_by_name(".symtab").iter_symbols()
        foreign = {symbol.name for symbol in symbols if symbol["st_shndx"] == "SHN_UNDEF" and symbol.name}
        assert foreign <= set(machine_code.C_FUNCTIONS)


def test_code_that_needs_more_is_refused():
    def allocates(count):
        return len([0] * count)

    with pytest.raises(NumbaError, match="NRT"):
        object_code(allocates, 1)


def test_whatever_compiles_first_the_kernels_runtime_has_one_version_of_each_function():
    for number in range(3):
        kernel_from_source(KERNEL.format(cb=number, number=number + 7), "adds").compile()
    functions = [value for value in vars(kernel_runtime).values() if isinstance(value, IntegerDispatcher)]
    assert functions and all(len(function.signatures) <= 1 for function in functions)


def add(a, b):
    return a + b


def wanted_at_once(count, compile_function):
    """The machine code that several threads get which want the same at the same time; processes lock like them."""
    with ThreadPoolExecutor(count) as pool:
        wanted = [pool.submit(machine_code.load_or_compile, "add", compile_function) for _ in range(count)]
        return [future.result() for future in wanted]


@pytest.fixture
def compiled(tmp_path, monkeypatch):
    """Calls of a slow compilation, in a cache of its own."""
    monkeypatch.setattr(machine_code, "DIRECTORY", tmp_path)
    content, calls = object_code(add, 2), []

    def compile_function():
        calls.append(1)
        time.sleep(0.3)
        return content

    return calls, compile_function


def test_of_several_that_want_the_same_code_one_compiles(compiled, tmp_path):
    calls, compile_function = compiled
    found = wanted_at_once(4, compile_function)
    assert len(calls) == 1 and all(code.address for code in found)
    assert [path.suffix for path in (tmp_path / "machine_code").iterdir()] == [".o"]


def test_where_files_cannot_be_locked_each_compiles(compiled, monkeypatch):
    """And writes a file of its own, also when both have written before either is in place."""
    both_written, put = threading.Barrier(2, timeout=60), os.replace

    def no_locks(file, how):
        raise OSError("No locks available")

    def put_when_both_are_written(*paths):
        both_written.wait()
        put(*paths)

    monkeypatch.setattr(machine_code.fcntl, "flock", no_locks)
    monkeypatch.setattr(machine_code.os, "replace", put_when_both_are_written)
    calls, compile_function = compiled
    assert all(code.address for code in wanted_at_once(2, compile_function)) and len(calls) == 2


def test_a_compilation_that_fails_leaves_no_lock(compiled, tmp_path):
    def fails():
        raise MemoryError

    with pytest.raises(MemoryError):
        machine_code.load_or_compile("add", fails)
    calls, compile_function = compiled
    assert machine_code.load_or_compile("add", compile_function).address and calls == [1]
