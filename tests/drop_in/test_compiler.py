"""The stand-in for the vendor's compiler: command lines, link scripts, programs that run on a tile.

Tests that need the LLK's sources run where TENSIM_LLK names a release's folder that holds tt_metal.
"""

import io
import os
import subprocess
import sys

import numpy as np
import pytest
from elftools.elf.elffile import ELFFile

from tensim.drop_in import naked
from tensim.drop_in.command_line import read
from tensim.drop_in.compiler import compile
from tensim.drop_in.launchers import install_tools
from tensim.drop_in.link_scripts import readable
from tensim.drop_in.translation import closed_program, kept_whole
from tensim.sim.cores.coprocessor.tile import Tile
from tensim.sim.errors import UsageError

needs_tree = pytest.mark.skipif("TENSIM_LLK" not in os.environ, reason="TENSIM_LLK names no LLK sources")
CHIPS = {"blackhole": "tt-bh", "wormhole_b0": "tt-wh"}
TEXT = 0x8000
SCRIPT = """ENTRY(_start)
MEMORY { CODE : ORIGIN = 0x8000, LENGTH = 16K  DATA : ORIGIN = 0xFFB00000, LENGTH = 2K }
SECTIONS {
  .init : { KEEP(*(.init)) } > CODE
  .text : { *(.text .text.*) } > CODE
  .ldm_data : { *(.rodata .rodata.* .data .data.* .sdata .sdata.*) __bss = .; *(.bss .bss.* .sbss .sbss.*) } > DATA
  .texts 0x6400000 (INFO) : { KEEP(*(.texts)) }
}
__instrn_buffer = 0xFFE40000;
__stack_top = ORIGIN(DATA) + LENGTH(DATA);
"""


# --- command lines


def test_a_command_is_read(tmp_path):
    command = read(
        "-mcpu=tt-bh-tensix -g -O3 -std=c++17 -ftt-nttp -ffast-math -Wall -Werror -Ia -I b -DX=1 -D Y -include p.h -flto=1 "
        "-Wl,-z,max-page-size=16 -nostdlib -nostartfiles -Tm.ld -T s.ld -x c++ - -lc -lgcc -o out.elf".split(),
        tmp_path,
    )
    assert command.is_link and command.chip == "blackhole" and command.is_tensix and command.level == "O3"
    assert command.front == ("-I", "a", "-I", "b", "-D", "X=1", "-D", "Y", "-include", "p.h")
    assert (
        command.sources == (("-", "c++"),) and command.scripts == ("m.ld", "s.ld") and command.libraries == ("c", "gcc")
    )
    assert command.linker == ("-z", "max-page-size=16") and command.output == "out.elf" and command.whole_program


def test_an_object_says_what_it_depends_on(tmp_path):
    command = read("-mcpu=tt-wh -Os -MMD -c -o a/b.o brisc.cc -MF a/b.d".split(), tmp_path)
    assert command.step == "compile" and command.depends == ("a/b.d", "a/b.o") and not command.is_tensix


def test_arguments_in_a_file(tmp_path):
    (tmp_path / "more").write_text("-mcpu=tt-wh '-DTEXT=\"a b\"'")
    assert read(["@more", "-c", "x.cpp"], tmp_path).front == ("-D", 'TEXT="a b"')


@pytest.mark.parametrize(
    "arguments, message",
    [
        ("-mcpu=tt-qsr32 -c x.cpp", "tt-qsr32 is not a processor that tensim has"),
        ("-mcpu=tt-bh -c -o", "missing argument to -o"),
        ("-mcpu=tt-bh -O2", "no input files"),
    ],
)
def test_what_cannot_be_done_is_said(arguments, message, tmp_path):
    with pytest.raises(UsageError, match=message):
        read(arguments.split(), tmp_path)
    status, text = compile(arguments.split(), tmp_path)
    assert status == 1 and message.encode() in text


def test_launchers_run_this_python(tmp_path):
    install_tools(tmp_path)
    result = subprocess.run([tmp_path / "riscv-tt-elf-g++", "--version"], capture_output=True, text=True)
    assert result.returncode == 0 and result.stdout.startswith("riscv-tt-elf-g++ (tensim")
    assert sys.executable in (tmp_path / "riscv-tt-elf-objcopy").read_text()


# --- texts on the way


def test_functions_become_naked_and_keep_their_calls():
    text = """define dso_local i32 @_start() #0 section ".init" !dbg !1 {
  call void @_Z7do_crt0v() #2, !dbg !2
  %1 = call noundef i32 @main(), !dbg !3
  unreachable
}
define linkonce_odr void @_Z7do_crt0v() #1 {
}
attributes #0 = { noreturn "zero-call-used-regs"="skip" }
attributes #1 = { alwaysinline nounwind }
"""
    apart = naked.apart(text)
    assert "call void @_Z7do_crt0v() #2" in apart and "call noundef i32 @main() noinline, !dbg !3" in apart
    assert "@_start() noinline #0 section" in apart
    assert '@_start() naked #0 section ".init"' in naked.naked(text)


def test_what_is_marked_as_used_stays():
    text = """@x = dso_local global i32 0, align 4
@y = dso_local global i32 0, align 4
@z = dso_local global i32 0, section ".texts", align 4
@llvm.compiler.used = appending global [1 x ptr] [ptr @x], section "llvm.metadata"
@llvm.used = appending global [1 x ptr] [ptr @z], section "llvm.metadata"
"""
    both = '@llvm.used = appending global [2 x ptr] [ptr @x, ptr @z], section "llvm.metadata"\n'
    assert both in kept_whole(text) and kept_whole(text).count("appending") == 1
    closed = closed_program(text)
    assert "@x = dso_local global" in closed and "@y = internal global" in closed and both in closed


def test_sections_for_the_host_have_addresses():
    text, names = readable("SECTIONS {\n  .a 0x6400000 (INFO) : { KEEP(*(.a)) *(.b) }\n  .c 0 (INFO) : { *(.c) }\n}\n")
    assert names == [".a"] and "KEEP(*(.a)) KEEP(*(.b)) } > TENSIM_A" in text and ".c 0 (INFO)" in text
    text, names = readable("PHDRS { t PT_LOAD; }\nSECTIONS {\n  .a 0x6400000 (INFO) : { KEEP(*(.a)) }\n}\n")
    assert names == [".a"] and "} :NONE" in text and "MEMORY" not in text


# --- programs of plain C++

PLAIN = """
extern "C" { extern int shared; __attribute__((used)) int mine = 3; int unused_by_all; }
int main() { int sum = 0; for (volatile int i = 0; i < 4; i++) sum += shared; return sum; }
extern "C" __attribute__((section(".start"), naked)) void _start() { main(); for (;;) {} }
"""
WITH_SEGMENTS = """ENTRY(_start)
PHDRS { attributes 0x70000003; text PT_LOAD; data PT_LOAD; }
SECTIONS {
  .text 0x5000 : { *(.start) *(.text .text.*) } :text
  .data 0xFFB00400 : AT(LOADADDR(.text) + SIZEOF(.text)) { __data = .; *(.data .data.* .sdata .sdata.*) } :data
  .bss : { *(.bss .bss.* .sbss .sbss.*) } :data
  .riscv.attributes 0 : { *(.riscv.attributes) } :attributes
}
"""


def linked(folder, source, *more):
    """The program of a source that is compiled and linked in two steps, as tt-metal's build does it."""
    (folder / "p.cc").write_text(source)
    (folder / "p.ld").write_text(WITH_SEGMENTS)
    common = ["-mcpu=tt-wh", "-Os", "-flto=1"]
    assert compile([*common, "-MMD", "-c", "-o", "p.o", "p.cc", "-MF", "p.d"], folder) == (0, b"")
    status, text = compile([*common, "-nostartfiles", "-Tp.ld", *more, "p.o", "-o", "p.elf"], folder)
    assert status == 0, text.decode()
    return ELFFile(io.BytesIO((folder / "p.elf").read_bytes()))


def test_a_program_of_two_steps(tmp_path):
    """Symbols of another program, relocations that stay, a start without a prologue, variables that are marked as used."""
    (tmp_path / "other.cc").write_text('extern "C" { int shared = 7; }')
    (tmp_path / "other.ld").write_text(
        "SECTIONS { .text 0x100 : { *(.text*) } .data 0xFFB00040 : { *(.data* .sdata*) } }"
    )
    assert compile("-mcpu=tt-wh -O2 -nostdlib -Tother.ld other.cc -o other.elf -Wl,-u,shared".split(), tmp_path)[0] == 0
    elf = linked(tmp_path, PLAIN, "-Wl,--just-symbols=other.elf", "-Wl,--emit-relocs")
    names = {symbol.name: symbol["st_value"] for symbol in elf.get_section_by_name(".symtab").iter_symbols()}
    assert names["mine"] == 0xFFB00400 and names["shared"] == 0xFFB00040 and "unused_by_all" not in names
    assert elf.get_section_by_name(".rela.text").num_relocations() > 0
    first = int.from_bytes(elf.get_section_by_name(".text").data()[:4], "little")
    assert first & 0x7F == 0x17, "the start calls at once (auipc)"
    assert (tmp_path / "p.d").read_text().startswith("p.o: ") and f" {tmp_path}/p.cc" in (tmp_path / "p.d").read_text()
    assert compile("-mcpu=tt-wh -Os -flto=1 -MMD -c -o q.o p.cc".split(), tmp_path)[0] == 0
    assert (tmp_path / "q.o").read_bytes() == (tmp_path / "p.o").read_bytes()
    assert (tmp_path / "q.d").read_text().startswith("q.o: ")


@pytest.mark.parametrize(
    ("language", "text"), [("c++", "int f(int x) { return 3 * x; }"), ("c", "int f(void) { return 1; }")]
)
def test_the_same_source_gives_the_same_bytes(language, text, tmp_path, monkeypatch):
    """Debug information names the folder where the compiler runs, as GCC has it, and no folder of files in between."""
    monkeypatch.setattr("tensim.sim.cores.riscv.compiler.cached_files", lambda key, make: make())
    (tmp_path / f"p.{language[0]}").write_text(text)
    for source, given in ((f"p.{language[0]}", b""), ("-", text.encode())):
        made = []
        for _ in range(2):
            command = f"-mcpu=tt-bh-tensix -g -O2 -x {language} -c {source} -o p.o".split()
            assert compile(command, tmp_path, given) == (0, b"")
            made.append((tmp_path / "p.o").read_bytes())
        assert made[0] == made[1]
        assert f"\0{tmp_path}\0".encode() in made[0]


def test_a_segment_without_content_stays(tmp_path):
    """The vendor's library finds the segment of data by its address, whether there are data or not."""
    elf = linked(tmp_path, 'extern "C" __attribute__((section(".start"), naked)) void _start() { for (;;) {} }')
    segments = [(one["p_vaddr"], one["p_memsz"]) for one in elf.iter_segments() if one["p_type"] == "PT_LOAD"]
    assert (0xFFB00400, 0) in segments


MODES = """
volatile int told;
template <int N> __attribute__((noinline)) inline void tell(int mode) {
    if (mode == 1) { for (int i = 0; i < N; i++) told = i; } else { for (int i = N; i > 0; i--) told = i; }
}
extern "C" __attribute__((section(".start"))) void _start() { tell<8>(1); tell<8>(1); for (;;) {} }
"""


MEMORY = """
ENTRY(_start)
MEMORY { CODE : ORIGIN = 0x5000, LENGTH = LENGTH_OF_CODE DATA : ORIGIN = 0xFFB00000, LENGTH = 2K }
SECTIONS { .text : { *(.start) *(.text .text.*) } > CODE .bss : { *(.bss* .sbss*) } > DATA }
"""


def program_of(folder, length, source):
    """The program of a source for a memory of `length`."""
    (folder / "p.ld").write_text(MEMORY.replace("LENGTH_OF_CODE", length))
    status, text = compile("-mcpu=tt-wh -O3 -nostdlib -Tp.ld -x c++ - -o p.elf".split(), folder, source.encode())
    assert status == 0, text.decode()
    return ELFFile(io.BytesIO((folder / "p.elf").read_bytes()))


def test_an_inline_function_is_made_for_its_calls(tmp_path):
    """What it does for arguments that nobody gives is left out."""
    assert program_of(tmp_path, "140", MODES).get_section_by_name(".text")["sh_size"] <= 140


LONG = """
volatile int told;
inline void tell(int x) { STEPS }
extern "C" __attribute__((section(".start"))) void _start() { for (;;) CALLS }
"""


@pytest.mark.parametrize("calls", [1, 2])
def test_an_inline_function_that_is_called_once_goes_into_its_caller(calls, tmp_path):
    """However long it is; one that is called twice is not copied."""
    steps = " ".join(f"told = x * {number} + told;" for number in range(3, 103))
    elf = program_of(tmp_path, "8K", LONG.replace("STEPS", steps).replace("CALLS", "{ " + calls * "tell(told);" + " }"))
    functions = {
        one.name for one in elf.get_section_by_name(".symtab").iter_symbols() if one.name.startswith("_Z4tell")
    }
    assert bool(functions) == (calls > 1)


# --- programs of vectors

PROGRAM = """
#include <cstdint>
#include "sfpi.h"
using namespace sfpi;
extern "C" const uint32_t __stack_top[];
__attribute__((section(".texts"), used)) static const char text[] = "told to the host";
volatile uint32_t told;
int main() {
    TTI_SFPENCC(3, 0, 0, 10);
    for (int row = 0; row < 8; row++) {
        vInt x = dst_reg[0].mode<DataLayout::U16>();
        v_if (x < 100) { x = x + x; } v_else { x = x ^ 0x55; } v_endif;
        dst_reg[0].mode<DataLayout::U16>() = x;
        dst_reg++;
    }
    told = reinterpret_cast<uint32_t>(text);
    return 0;
}
extern "C" __attribute__((section(".init"), naked, noreturn)) int _start() {
    asm volatile("la sp, %0" :: "i"(__stack_top) : "memory");
    main();
    asm volatile("ebreak");
    for (;;) {}
}
"""


def built(chip, folder, source=PROGRAM, more=()):
    """The program of a source that stands on standard input."""
    llk = f"{os.environ['TENSIM_LLK']}/tt_metal/tt-llk/tt_llk_{chip}/common/inc"
    (folder / "all.ld").write_text(SCRIPT)
    arguments = (
        f"-mcpu={CHIPS[chip]}-tensix -O3 -std=c++17 -nostdlib -I{llk} -DCOMPILE_FOR_TRISC=1 -Tall.ld -x c++ - -o p.elf"
    )
    arguments += f" -DARCH_{'BLACKHOLE' if chip == 'blackhole' else 'WORMHOLE'}"
    status, text = compile([*arguments.split(), *more], folder, source.encode())
    return status, text.decode()


def ran(elf, chip, values):
    """A tile whose math thread has run a program; `values`: of Dst, [rows, 16]."""
    tile, idle = Tile(chip), (0x00100073).to_bytes(4, "little")
    text = b"".join(elf.get_section_by_name(name).data() for name in (".init", ".text"))
    tile.load(1, text, TEXT, elf["e_entry"])
    for thread in (0, 2):
        tile.load(thread, idle, TEXT, TEXT)
    tile.arrays.dst[: len(values)] = values
    tile.run()
    return tile


@needs_tree
@pytest.mark.parametrize("chip", CHIPS)
def test_a_vector_program_runs(chip, tmp_path):
    status, text = built(chip, tmp_path)
    assert status == 0, text
    with open(tmp_path / "p.elf", "rb") as file:
        elf = ELFFile(file)
        texts = elf.get_section_by_name(".texts")
        assert texts["sh_addr"] == 0x6400000 and not texts["sh_flags"] & 2 and texts.data() == b"told to the host\0"
        numbers = np.arange(256).reshape(16, 16)
        assert (
            ran(elf, chip, numbers).arrays.dst[:16].tolist()
            == np.where(numbers < 100, 2 * numbers, numbers ^ 0x55).tolist()
        )


@needs_tree
def test_a_bad_source_is_shown_with_its_line(tmp_path):
    status, text = built("blackhole", tmp_path, "int main() {\n    return missing;\n}\n")
    assert status == 1 and "<stdin>:2:12: error: use of undeclared identifier 'missing'" in text
    status, text = built("blackhole", tmp_path, 'extern int other();\nextern "C" int _start() { return other(); }\n')
    assert status == 1 and "undefined symbol: other()" in text
