"""Kernels of somebody else's have the compiler and the linker open nothing of the user's: every door that is known, shut twice.

Once where the operating system confines the compiler, once where it cannot and texts that might open a file are refused.
"""

import os
import subprocess
import sys
import time

import pytest

from tensim.sim.arch import load_arch
from tensim.sim.compile_budget import CompileBudget
from tensim.sim.cores.riscv import confinement, file_access, foreign, toolchain
from tensim.sim.cores.riscv.compiler import Build, Processor, compile_kernel, compile_unit
from tensim.sim.cores.riscv.program import RiscvKernel
from tensim.sim.errors import KernelCompileError

pytest.importorskip("ziglang")

ARCH = load_arch("wormhole_b0")
SECRET = b"hunter2-SECRET-0123456789abcdef"
BODY = "\nvoid kernel_main() { get_arg_val<uint32_t>(0); }\n"
KEPT = '\nextern "C" const unsigned char leaked[16];\nvoid kernel_main() { riscv_wait(leaked[get_arg_val<uint32_t>(0)]); }\n'
HEAD = ".pushsection .rodata\\n.global leaked\\nleaked:\\n"
YES_OR_NO = '\n#error "there: no"\n#else\n#error "there: yes"\n#endif\n'


def incbin(path, spelled=".incbin"):
    return f'asm("{HEAD}{spelled} \\"{path}\\"\\n.popsection");{KEPT}'


# A kernel per door; {} is the path of the secret
DOORS = {
    "incbin": lambda p: incbin(p),
    "incbin in a raw string": lambda p: f'asm(R"x({HEAD}.incbin "{p}"\n.popsection)x");{KEPT}'.replace("\\n", "\n"),
    "incbin in pieces": lambda p: incbin(p, '.inc" "bin'),
    "incbin by escapes": lambda p: incbin(p, "\\x2einc\\142in"),
    "incbin by an escape with a code": lambda p: incbin(p, "\\u{2e}incbin"),
    "incbin by an escape with a name": lambda p: incbin(p, "\\N{FULL STOP}incbin"),
    "incbin by a macro": lambda p: f'#define A(x) asm(x)\n#define S(x) #x\nA("{HEAD}" S(.incbin) " \\"{p}\\"");{KEPT}',
    "incbin by pasted tokens": lambda p: f'#define C(a, b) a##b\nC(as, m)("{HEAD}.incbin \\"{p}\\"");{KEPT}',
    "incbin over spliced lines": lambda p: incbin(p).replace("asm(", "as\\\nm("),
    "incbin behind qualifiers": lambda p: incbin(p).replace("asm(", "__asm__ __volatile__ /* ( */ ("),
    "incbin by a macro of the assembler": lambda p: (
        f'asm("{HEAD}.macro m a b\\n.\\\\a\\\\b \\"{p}\\"\\n.endm\\nm inc bin\\n.popsection");{KEPT}'
    ),
    "incbin by irp": lambda p: f'asm("{HEAD}.irp x, inc\\n.\\\\x\\\\()bin \\"{p}\\"\\n.endr\\n.popsection");{KEPT}',
    "incbin behind a condition": lambda p: f'asm("{HEAD}.ifeq 0\\n.incbin \\"{p}\\"\\n.endif\\n.popsection");{KEPT}',
    "incbin behind a label": lambda p: f'asm("{HEAD}a: b:.incbin \\"{p}\\"\\n.popsection");{KEPT}',
    "incbin behind an odd label": lambda p: f'asm("{HEAD}a@b: .incbin \\"{p}\\"\\n.popsection");{KEPT}',
    "incbin in a choice of texts": lambda p: f'asm("{HEAD}.{{inc|}}bin \\"{p}\\"\\n.popsection" :::);{KEPT}',
    "incbin in a function": lambda p: f'void kernel_main() {{ asm volatile("nop; .incbin \\"{p}\\""); }}\n',
    "incbin of a symbol's name": lambda p: (
        f'extern "C" int name asm("tensim{p}");\nvoid kernel_main() {{ asm("a@b: .incbin %0" :: "i"(&name)); }}\n'
    ),
    "incbin in a symbol's name": lambda p: (
        f'extern "C" int name asm("x\\n.incbin \\"{p}\\"");void kernel_main() {{ name = 1; }}\n'
    ),
    "an assembler text that is computed": lambda p: (
        f"struct Text {{ const char* p; constexpr const char* data() const {{ return p; }} constexpr unsigned long size() const "
        f'{{ return __builtin_strlen(p); }} }};\nvoid kernel_main() {{ asm((Text{{".incbin \\"{p}\\""}})); }}\n'
    ),
    "incbin in a section's name": lambda p: (
        f'__attribute__((section(".data\\n.incbin \\"{p}\\"\\n"))) volatile int x = 1;\nvoid kernel_main() {{ x = 2; }}\n'
    ),
    "include of the assembler": lambda p: f'asm(".include \\"{p}\\"");{BODY}',
    "include": lambda p: f'#include "{p}"{BODY}',
    "include by a macro": lambda p: f'#define F "{p}"\n#include F{BODY}',
    "include by a digraph": lambda p: f'%:include "{p}"{BODY}',
    "include in angles": lambda p: f"#include <{p}>{BODY}",
    "include_next": lambda p: f'#include_next "{p}"{BODY}',
    "include beside": lambda p: f'#include "{os.path.relpath(p, "/tmp/x")}"{BODY}',
    "import": lambda p: f'#import "{p}"{BODY}',
    "import of a module": lambda p: f'import "{p}";{BODY}',
    "embed": lambda p: f'extern "C" const unsigned char leaked[] = {{\n#embed "{p}"\n}};{BODY}',
    "embed with a limit": lambda p: (
        f'constexpr unsigned char b[] = {{\n#embed "{p}" limit(8)\n}};\nstatic_assert(b[0] == 1);{BODY}'
    ),
    "a dependency": lambda p: f'#pragma GCC dependency "{p}" NOT\n{BODY}',
    "a module": lambda p: f'#pragma clang module import "{p}"{BODY}',
    "a library": lambda p: f'#pragma comment(lib, "{p}"){BODY}',
    "a library by _Pragma": lambda p: f'_Pragma("comment(lib, \\"{p}\\")"){BODY}',
    "options of the linker": lambda p: f'#pragma comment(linker, "@{p}"){BODY}',
    "a section of libraries": lambda p: (
        f'asm(".section .deplibs,\\"MS\\",@llvm_dependent_libraries,1\\n.asciz \\"{p}\\"\\n.text");{BODY}'
    ),
    "a section of linker options": lambda p: (
        f'asm(".section .linker-options,\\"e\\",@llvm_linker_options\\n.asciz \\"lib\\"\\n.asciz \\"{p}\\"\\n.text");{BODY}'
    ),
}


@pytest.fixture(params=["confined", "refused"])
def mode(request, monkeypatch):
    """Both ways in which a kernel is kept from the user's files."""
    if request.param == "refused":
        monkeypatch.setattr(confinement, "is_available", lambda: False)
    elif not confinement.is_available():
        pytest.skip("this kernel has no Landlock")
    return request.param


def foreign_build(text, **settings):
    return Build(Processor.BRISC, ARCH, text=text, name="foreign.cpp", budget=CompileBudget(), **settings)


def secret_in(folder):
    path = folder / "secret.h"
    path.write_bytes(SECRET)
    return path


@pytest.mark.parametrize("door", DOORS)
def test_a_door_is_shut(door, mode, tmp_path):
    """Neither the binary nor a message holds a byte of the file."""
    text = DOORS[door](secret_in(tmp_path))
    try:
        elf, _ = compile_unit(foreign_build(text))
    except KernelCompileError as error:
        assert "SECRET" not in str(error) and "hunter2" not in str(error)
    else:
        assert SECRET[:7] not in elf


@pytest.mark.parametrize("what", ["has_include", "has_embed"])
def test_nothing_tells_whether_a_file_is_there(what, mode, tmp_path):
    said = []
    for name in ("secret.h", "absent.h"):
        secret_in(tmp_path)
        with pytest.raises(KernelCompileError) as caught:
            compile_unit(foreign_build(f'#if !__{what}("{tmp_path / name}"){YES_OR_NO}{BODY}'))
        said.append("there: no" in str(caught.value))
    assert said == [True, True]


@pytest.mark.parametrize("door", ["include", "incbin", "include of the assembler", "a library", "embed"])
def test_a_pipe_hangs_nothing(door, mode, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    begun = time.monotonic()
    try:
        compile_unit(foreign_build(DOORS[door](tmp_path / "pipe")))
    except KernelCompileError:
        pass
    assert time.monotonic() - begun < 60


def test_a_pipe_among_the_kernels_own_headers_is_waited_for_so_long_and_no_longer(mode, tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe.h")
    monkeypatch.setattr(foreign, "WAITED_SECONDS", 2)
    build = foreign_build(f'#include "pipe.h"{BODY}', include_paths=(str(tmp_path),))
    with pytest.raises(KernelCompileError, match="takes more than"):
        compile_unit(build)
    assert build.budget.seconds <= CompileBudget().seconds - 2


def test_variables_of_the_environment_name_no_headers(mode, tmp_path, monkeypatch):
    (tmp_path / "named.h").write_text("#define NAMED 1\n")
    for name in ("CPATH", "CPLUS_INCLUDE_PATH", "C_INCLUDE_PATH"):
        monkeypatch.setenv(name, str(tmp_path))
    with pytest.raises(KernelCompileError, match="'named.h' file not found"):
        compile_unit(foreign_build(f"#include <named.h>{BODY}"))


def test_a_link_leads_out_of_no_folder(mode, tmp_path):
    """Of the kernel's own folders; where nothing confines, the preprocessor alone looks there, at what the user has linked."""
    if mode == "refused":
        pytest.skip("a link that the user has made is followed")
    headers = tmp_path / "headers"
    headers.mkdir()
    (headers / "link.h").symlink_to(secret_in(tmp_path))
    with pytest.raises(KernelCompileError) as caught:
        compile_unit(foreign_build(f'#include "link.h"{BODY}', include_paths=(str(headers),)))
    assert "hunter2" not in str(caught.value)


def test_the_same_text_as_a_kernel_of_the_users_own_is_another_object(tmp_path):
    """Which may open the file: what that brought into the cache is not given to somebody else's kernel."""
    text = incbin(secret_in(tmp_path))
    own = compile_kernel(Build(Processor.BRISC, ARCH, text=text, name="foreign.cpp"))
    assert SECRET in own.elf
    with pytest.raises(KernelCompileError):
        compile_kernel(foreign_build(text))


LEGAL = {
    "a fence": 'void kernel_main() { asm volatile("fence" ::: "memory"); __asm__ __volatile__("nop // a comment"); }',
    "labels": 'void kernel_main() { asm volatile("1: addi %0, %0, -1\\n\\tbnez %0, 1b; nop" :: "r"(get_arg_val<uint32_t>(0))); }',
    "words": 'asm(".pushsection .text\\n.balign 4\\n.global x\\nx: .word 0x13, 0x67\\n.popsection");' + BODY,
    "headers": '#include <vector>\n#include <algorithm>\n#include <cstdint>\n#include "dataflow_api.h"\n#pragma once\n'
    + BODY,
    "operations": 'void kernel_main() { noc_async_read_barrier(); cb_reserve_back(0, 1); DPRINT << ".incbin" << ENDL(); }',
    "a question about a header": '#if !__has_include("dataflow_api.h") || __has_include("absent.h")\n#error no\n#endif\n'
    + BODY,
}


@pytest.mark.parametrize("name", LEGAL)
def test_a_kernel_that_opens_nothing_compiles(name, mode):
    elf, inputs = compile_unit(foreign_build(LEGAL[name]))
    assert elf[:4] == b"\x7fELF"


def test_a_kernels_own_folders_are_open(mode, tmp_path):
    kernels, headers = tmp_path / "kernels", tmp_path / "headers"
    for folder in (kernels, headers):
        folder.mkdir()
    (kernels / "near.h").write_text("#define NEAR 1\n")
    (headers / "far.h").write_text("#define FAR 2\n")
    (kernels / "k.cpp").write_text(
        '#include "near.h"\n#include "far.h"\nvoid kernel_main() { riscv_wait(NEAR + FAR); }\n'
    )
    build = Build(
        Processor.BRISC, ARCH, source=kernels / "k.cpp", include_paths=(str(headers),), budget=CompileBudget()
    )
    assert {os.path.basename(name) for name in compile_unit(build)[1]} >= {"k.cpp", "near.h", "far.h"}


def test_macros_of_a_saved_file_open_nothing_for_a_kernel_of_the_users(mode, tmp_path):
    path = tmp_path / "kernels" / "k.cpp"
    path.parent.mkdir()
    path.write_text("void kernel_main() { EXTRA; }\n")
    extra = f'asm volatile(".incbin \\"{secret_in(tmp_path)}\\"")'
    build = Build(Processor.BRISC, ARCH, source=path, defines=(("EXTRA", extra),), budget=CompileBudget())
    with pytest.raises(KernelCompileError) as caught:
        compile_unit(build)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        'asm(".rept 2000000000\\nnop\\n.endr");' + BODY,
        'asm(".space 0x60000000, 1");' + BODY,
        "".join(f"#define M{i} M{i + 1} M{i + 1}\n" for i in range(30)) + "#define M30 +1\nint x = M0;" + BODY,
    ],
    ids=["memory", "output", "macros"],
)
def test_what_takes_too_much_is_ended(text):
    begun = time.monotonic()
    with pytest.raises(KernelCompileError, match="takes more than 120 s, 2 GB or 64 MB of output"):
        compile_unit(foreign_build(text))
    assert time.monotonic() - begun < 120


def test_messages_are_bounded():
    with pytest.raises(KernelCompileError) as caught:
        compile_unit(foreign_build("".join(f"int a{i} = b{i};\n" for i in range(5000)) + BODY))
    assert len(str(caught.value)) < 25_000


# --- where reports quote files that a binary names


@pytest.mark.parametrize("kind", ["file", "pipe"])
def test_reports_quote_no_file_that_a_foreign_binary_names(kind, tmp_path):
    path = tmp_path / "named.h"
    os.mkfifo(path) if kind == "pipe" else path.write_bytes(SECRET)
    text = f'void kernel_main() {{\n#line 1 "{path}"\nriscv_wait(get_arg_val<uint32_t>(0));\n}}\n'
    kernel = compile_kernel(foreign_build(text))
    for folders in ((), None) if kind == "pipe" else ((),):
        program = RiscvKernel("foreign", "foreign.cpp", {0: kernel.elf}, ARCH, text, folders).on(0)
        places = [program.place(row) for row in range(program.n_rows)]
        assert any(place["file"] == str(path) for place in places)
        assert not any("hunter2" in place["source"] for place in places)


# --- the means


def test_a_confined_process_opens_what_it_may_and_nothing_else(tmp_path):
    if not confinement.is_available():
        pytest.skip("this kernel has no Landlock")
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "file").write_text("text")
    readable = [sys.prefix, sys.base_prefix, "/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache"]
    code = f"""
import pathlib
for path in ({str(inside / "file")!r}, {str(outside / "file")!r}, "/etc/passwd", "/proc/self/environ"):
    for call in (lambda: open(path), lambda: open(path, "a")):
        try:
            call().close(); print("yes", end=" ")
        except OSError:
            print("no", end=" ")
"""
    with confinement.Confinement([*readable, tmp_path / "absent"], [inside]) as confined:
        command = [os.path.realpath(sys.executable), "-I", "-c", code]
        said = subprocess.run(command, preexec_fn=confined.enter, capture_output=True, text=True, cwd=inside)
    assert said.stdout.split() == ["yes", "yes"] + ["no"] * 6, said.stderr


def test_without_landlock_nothing_is_claimed(monkeypatch):
    monkeypatch.setattr(confinement, "version", lambda: 0)
    assert not confinement.is_available.__wrapped__()


@pytest.mark.parametrize(
    "text",
    [
        'int x;\n  # pragma comment(lib, "x")\n', 'int x;\n\t#pragma comment(lib, "x")',
        'int x; asm { nop }', 'asm(L".incbin \\"x\\"");', "\\u0061sm(\"nop\");", 'int a = "unclosed;', "# ident \"x\"",
        '__attribute__((section("x\\n.incbin \\"f\\""))) int x;', '__attribute__((section("x;.include \\"f\\""))) int x;',
        '__attribute__((optimize("profile-use=/etc/passwd"))) void f();', "#pragma GCC pch_preprocess \"f\"",
        'asm("nop\\r.incbin x");', 'asm("nop /* \\n */ .incbin x");', 'asm("%0" :: "i"(f));', 'asm(".file 1 %0");',
        "# 1 \"x\" asm(\".incbin x\")", 'asm("nop" ";.in" "cbin x");', "asm(\".incbin x\" R\"(\n)\");",
    ],
)  # fmt: skip
def test_a_preprocessed_text_that_may_open_a_file_is_refused(text):
    with pytest.raises(file_access.FileAccess):
        file_access.refuse_file_access(text, copies_strings=True)


def test_what_a_text_holds_is_told_with_its_line():
    text = '# 1 "kernel.cpp" 2\nint x;\n\n  asm(".incbin x");\n'
    with pytest.raises(file_access.FileAccess) as caught:
        file_access.refuse_file_access(text)
    assert (caught.value.file, caught.value.line) == ("kernel.cpp", 3)


def test_the_text_of_another_compiler_is_read_too(tmp_path):
    """g++ of the host stands for one that TENSIM_CXX names."""
    source = tmp_path / "unit.cpp"
    source.write_text(
        '#include <vector>\n#include <string>\n#include <cstdio>\nint main() { asm("nop"); puts("a.b"); }\n'
    )
    try:
        done = subprocess.run(["g++", "-E", str(source)], capture_output=True, text=True)
    except FileNotFoundError:
        pytest.skip("no g++ here")
    with pytest.raises(file_access.FileAccess, match="incbin"):
        file_access.refuse_file_access(done.stdout + '\nasm(".incbin x");\n', copies_strings=True)
    tools = toolchain.Toolchain(("g++",), ("g++",), (), "g++", None, ())
    places = toolchain._folders_of(tools)
    assert places and not any(os.path.expanduser("~").startswith(f"{place}/") for place in places)
    with confinement.Confinement(places, [tmp_path]) as confined:
        command = ["g++", "-c", str(source), "-o", str(tmp_path / "unit.o")]
        enter = confined.enter if confinement.is_available() else None
        made = subprocess.run(
            command, preexec_fn=enter, env={"PATH": os.environ["PATH"], "TMPDIR": str(tmp_path)}, capture_output=True
        )
    assert made.returncode == 0, made.stderr
