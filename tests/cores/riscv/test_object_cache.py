"""The cache of C++ kernels and of what they need: a damaged file costs a compilation, nothing else."""

import itertools
import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest

from tensim.sim.arch import load_arch
from tensim.sim.cores.riscv import compiler, toolchain
from tensim.sim.cores.riscv.compiler import Build, Processor, compile_kernel

pytest.importorskip("ziglang")

ARCH = load_arch("wormhole_b0")
# Divides, which needs the arithmetic library
TEXT = "void kernel_main() { uint64_t a = get_arg_val<uint32_t>(0); riscv_wait(uint32_t((a << 20) / (a + %d))); }\n"
NUMBERS = itertools.count(1)  # of kernels that nobody has built
DAMAGES = {
    "halved": lambda data: data[: len(data) // 2], "empty": lambda data: b"", "garbage": lambda data: bytes(range(256)),
    "flipped": lambda data: data[:-9] + bytes([data[-9] ^ 8]) + data[-8:],
}  # fmt: skip


def forget():
    """As a new process."""
    for function in (
        toolchain.include_folder, toolchain.prepared, toolchain.precompiled_head, toolchain.mend_prepared,
        toolchain.arithmetic_library,
    ):  # fmt: skip
        function.cache_clear()


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A cache of its own with everything that a kernel needs."""
    folder = tmp_path_factory.mktemp("cpp")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(toolchain, "cache_folder", lambda: folder)
        forget()
        compile_kernel(build(0))
        yield folder
    forget()


@pytest.fixture
def builds(filled, monkeypatch):
    """Kernels that were built, not found."""
    calls, plain = [], compiler._build

    def counted(build, *rest):
        calls.append(build)
        return plain(build, *rest)

    monkeypatch.setattr(compiler, "_build", counted)
    forget()
    return calls


def build(number):
    return Build(Processor.BRISC, ARCH, text=TEXT % number, name="k.cpp")


def damage(path, how):
    path.write_bytes(DAMAGES[how](path.read_bytes()))


@pytest.mark.parametrize("how", DAMAGES)
@pytest.mark.parametrize("suffix", [".json", ".elf"])
def test_a_damaged_object_is_built_anew(how, suffix, filled, builds):
    right = compile_kernel(build(0)).text_bytes
    for path in (filled / "objects").glob(f"*{suffix}"):
        damage(path, how)
    builds.clear()
    assert compile_kernel(build(0)).text_bytes == right and len(builds) == 1
    assert compile_kernel(build(0)).text_bytes == right and len(builds) == 1


def test_a_record_of_another_version_is_built_anew(filled, builds):
    right = compile_kernel(build(0)).text_bytes
    for path in (filled / "objects").glob("*.json"):
        path.write_text(json.dumps({"elf": "x.elf", "files": {}}))
    builds.clear()
    assert compile_kernel(build(0)).text_bytes == right and len(builds) == 1


# The list of a folder's files in every way, files by turns: their hashes tell of any damage alike
NEEDED = (
    *itertools.product(["runtime-*/complete"], DAMAGES),
    *zip(
        ["include-*/dataflow_api.h", "include-*/complete", "runtime-*/standard.h", "arithmetic-*/*.a"],
        DAMAGES,
        strict=True,
    ),
)


@pytest.mark.parametrize(("what", "how"), NEEDED)
def test_what_kernels_need_is_made_anew(what, how, filled, builds):
    (path,) = filled.glob(what)
    damage(path, how)
    forget()
    assert compile_kernel(build(next(NUMBERS))).elf  # whose object is not there
    assert all(toolchain._is_whole(folder) for folder in filled.glob("*-*"))


@pytest.mark.parametrize("what", ["standard.h.pch", "runtime.o", "heads/*/head.h.pch"])
def test_precompiled_headers_and_the_runtime_are_made_anew(what, filled, builds):
    path = max(filled.glob(f"runtime-*/{what}"), key=os.path.getmtime)  # heads behind mended headers are others
    damage(path, "flipped")
    forget()
    assert compile_kernel(build(next(NUMBERS))).elf
    path.unlink()
    forget()
    assert compile_kernel(build(next(NUMBERS))).elf and path.exists()


def test_several_at_once_mend_it(filled, builds):
    (path,) = filled.glob("runtime-*/standard.h.pch")
    damage(path, "halved")
    forget()
    with ThreadPoolExecutor(3) as pool:
        assert all(
            found.elf for found in pool.map(compile_kernel, map(build, (next(NUMBERS), next(NUMBERS), next(NUMBERS))))
        )


def test_an_object_that_cannot_be_read_is_built_anew(filled, builds):
    right = compile_kernel(build(0)).text_bytes
    for path in (filled / "objects").glob("*.json"):
        path.unlink()
        os.symlink(path, path)  # which leads to itself
    builds.clear()
    assert compile_kernel(build(0)).text_bytes == right and len(builds) == 1


def test_the_same_version_installed_anew_makes_its_precompiled_headers_anew(tmp_path, monkeypatch):
    """Its headers then have other times, and clang takes no precompiled header of those before."""
    packaged, headers, program = toolchain._packaged(), tmp_path / "headers", tmp_path / "clang"
    includes = [flag for flag in packaged.flags if flag.startswith(("-nostdinc", "-isystem", "-D", "/"))]

    def install(header, script):
        headers.mkdir(exist_ok=True)
        (headers / "optional").write_text(header)
        program.write_text(f'{script}exec {" ".join(packaged.compile)} -isystem {headers} {" ".join(includes)} "$@"\n')
        program.chmod(0o755)
        toolchain._named.cache_clear()
        forget()

    monkeypatch.setattr(toolchain, "cache_folder", lambda: tmp_path / "cpp")
    monkeypatch.setenv("TENSIM_CXX", str(program))
    install("#include_next <optional>\n", "#!/bin/sh\n")
    before = toolchain.prepared(toolchain.toolchain(), "O2")
    install("#include_next <optional>\n// packed anew\n", "#!/bin/sh\n\n")
    tools = toolchain.toolchain()
    (_, precompiled), _ = toolchain.prepared(tools, "O2")
    kernel = tmp_path / "kernel.cpp"
    kernel.write_text("std::optional<int> nothing;\n")
    command = [*tools.compile, *tools.flags, "-O2", "-fsyntax-only", str(kernel), "-include-pch"]
    assert not toolchain.run([*command, precompiled]).returncode
    assert "has been modified since" in toolchain.run([*command, before[0][1]]).stderr
    forget()
    toolchain._named.cache_clear()


def test_a_cache_that_was_moved_is_used(tmp_path, monkeypatch, filled, builds):
    """Its precompiled header, which names files by their paths, is made anew."""
    before = {path.name for path in filled.glob("runtime-*")}
    moved = tmp_path / "moved"
    filled.rename(moved)
    monkeypatch.setattr(toolchain, "cache_folder", lambda: moved)
    forget()
    try:
        assert compile_kernel(build(next(NUMBERS))).elf
    finally:
        for path in moved.glob("runtime-*"):
            if path.name not in before:
                shutil.rmtree(path)
        moved.rename(filled)
        forget()
