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
from tensim.sim.engine import entry_points, machine_code, sealed_files
from tensim.sim.engine.numba_compiler import IntegerDispatcher, SealedFiles, object_code
from tensim.sim.engine.sealed_files import read_sealed, write_atomically, write_sealed
from tensim.sim.errors import TensimWarning

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
    print([name for name in ("numba", "tensim.sim.loop.event_loop") if name in sys.modules])
"""


def test_a_warm_start_imports_neither_numba_nor_the_engine():
    for _ in range(2):  # the first one compiles what is missing
        done = subprocess.run([sys.executable, "-c", WARM_START], capture_output=True, text=True, timeout=600)
    assert done.stdout.splitlines()[-1] == "[]", done.stdout + done.stderr


def test_machine_code_calls_nothing_but_the_c_library():
    elffile = pytest.importorskip("elftools.elf.elffile", reason="pyelftools reads the object")
    for entry in (entry_points.run, entry_points.run_core, entry_points.encode_tiles):
        assert entry.address
        _, content = read_sealed(machine_code._path(entry.key)).split(b"\n", 1)
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
    monkeypatch.setattr(sealed_files.os, "replace", put_when_both_are_written)
    calls, compile_function = compiled
    assert all(code.address for code in wanted_at_once(2, compile_function)) and len(calls) == 2


def test_a_compilation_that_fails_leaves_no_lock(compiled, tmp_path):
    def fails():
        raise MemoryError

    with pytest.raises(MemoryError):
        machine_code.load_or_compile("add", fails)
    calls, compile_function = compiled
    assert machine_code.load_or_compile("add", compile_function).address and calls == [1]


# --- damaged files


def halved(data):
    return data[: len(data) // 2]


def flipped(data):
    return data[:-20] + bytes([data[-20] ^ 4]) + data[-19:]


DAMAGES = {
    "halved": halved, "flipped": flipped, "a flipped head": lambda data: bytes([data[3] ^ 1]).join((data[:3], data[4:])),
    "empty": lambda data: b"", "cut in its head": lambda data: data[:40], "longer": lambda data: data + b"x",
    "of another version": lambda data: data.split(b"\n", 1)[1], "garbage": lambda data: bytes(range(256)) * 8,
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_code_is_compiled_anew(damage, compiled, tmp_path):
    calls, compile_function = compiled
    machine_code.load_or_compile("add", compile_function)
    (path,) = (tmp_path / "machine_code").glob("*.o")
    right = path.read_bytes()
    path.write_bytes(DAMAGES[damage](right))
    assert machine_code.load("add") is None
    assert machine_code.load_or_compile("add", compile_function).address and len(calls) == 2
    assert path.read_bytes() == right and machine_code.load("add").address


def test_code_that_cannot_be_read_is_compiled_anew(compiled, tmp_path, monkeypatch):
    calls, compile_function = compiled
    machine_code.load_or_compile("add", compile_function)
    (path,) = (tmp_path / "machine_code").glob("*.o")
    path.unlink()
    path.symlink_to(path)  # which root cannot open either
    assert machine_code.load_or_compile("add", compile_function).address and len(calls) == 2
    assert machine_code.load("add").address


def test_two_that_find_damaged_code_compile_it_once(compiled, tmp_path):
    calls, compile_function = compiled
    machine_code.load_or_compile("add", compile_function)
    (path,) = (tmp_path / "machine_code").glob("*.o")
    path.write_bytes(halved(path.read_bytes()))
    assert all(code.address for code in wanted_at_once(4, compile_function)) and len(calls) == 2


def test_code_that_cannot_be_kept_is_used(compiled, tmp_path, monkeypatch):
    """The disk is full: a warning, the code, and no part of a file."""

    def full(path, target):
        raise OSError(28, "No space left on device")

    calls, compile_function = compiled
    monkeypatch.setattr(sealed_files.os, "replace", full)
    with pytest.warns(TensimWarning, match="cannot be kept in .*No space left on device"):
        assert machine_code.load_or_compile("add", compile_function).address
    assert list((tmp_path / "machine_code").iterdir()) == []


DAMAGED_ENGINE = """
import os, pathlib, sys
from tensim.sim.engine import entry_points, machine_code
path = machine_code._path(entry_points.probe.key)
machine_code.DIRECTORY = folder = pathlib.Path(sys.argv[1])
copy = machine_code._path(entry_points.probe.key)
copy.parent.mkdir(parents=True, exist_ok=True)
copy.write_bytes(path.read_bytes()[: -int(sys.argv[2])])
print(entry_points.probe.is_compiled, bool(entry_points.probe.address), entry_points.probe.is_compiled)
"""


@pytest.mark.parametrize("missing", [1000, 1])
def test_a_damaged_entry_point_counts_as_not_compiled(missing, tmp_path):
    assert entry_points.probe.address  # in the cache
    command = [sys.executable, "-c", DAMAGED_ENGINE, str(tmp_path), str(missing)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.stdout.split() == ["False", "True", "True"], done.stderr


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_damaged_files_of_numba_count_as_absent(damage, suffix, tmp_path):
    files = SealedFiles(str(tmp_path), "function", "stamp")
    files.save("key", {"some": "data"})
    assert files.load("key") == {"some": "data"}
    (path,) = tmp_path.glob(f"*{suffix}")
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    assert files.load("key") is None
    files.save("key", {"other": "data"})
    assert files.load("key") == {"other": "data"}


def test_all_cached_functions_of_the_engine_have_sealed_files():
    kernel_from_source(KERNEL.format(cb=3, number=11), "adds").compile()
    functions = [value for value in vars(kernel_runtime).values() if isinstance(value, IntegerDispatcher)]
    assert functions and all(isinstance(function._cache._cache_file, SealedFiles) for function in functions)


def test_what_fails_to_be_written_leaves_the_old_file(tmp_path, monkeypatch):
    write_sealed(tmp_path / "file", b"old")
    with pytest.raises(TypeError):
        write_atomically(tmp_path / "file", "no bytes")
    assert read_sealed(tmp_path / "file") == b"old" and len(list(tmp_path.iterdir())) == 1
