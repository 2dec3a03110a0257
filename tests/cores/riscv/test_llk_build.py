"""Builds against the vendor's LLK: what is generated, what is marked, what an ELF holds.

Tests that need the sources run where TENSIM_LLK names a release's folder that holds tt_metal.
"""

import os
import struct
from pathlib import Path

import pytest
from click.testing import CliRunner

from tensim.cli.disassemble import disassemble
from tensim.sim.arch import load_arch
from tensim.sim.compile_budget import CompileBudget
from tensim.sim.cores.coprocessor.instruction_table import instructions
from tensim.sim.cores.disassembly.elf_listing import elf_listing
from tensim.sim.cores.riscv import toolchain
from tensim.sim.cores.riscv.compiler import Processor
from tensim.sim.cores.riscv.elf import load_elf
from tensim.sim.cores.riscv.layout import local_bytes
from tensim.sim.cores.riscv.llk import dialect, formats, functions_to_call, functions_to_inline, memory_regions
from tensim.sim.cores.riscv.llk.build import INCLUDE, LlkBuild, compile_kernel
from tensim.sim.cores.riscv.llk.coverage import bindings
from tensim.sim.cores.riscv.llk.tree import find_tree
from tensim.sim.cores.riscv.stand_ins import GUESSES
from tensim.sim.errors import BinaryError, KernelCompileError, UsageError

FLOAT32, FLOAT16, TF32, FLOAT16_B, BFP8_B, INT32, UINT16, UINT32 = 0, 1, 4, 5, 6, 8, 9, 24
needs_tree = pytest.mark.skipif("TENSIM_LLK" not in os.environ, reason="TENSIM_LLK names no LLK sources")


@pytest.mark.parametrize(
    "code, fp32_dest, to_dest, expected",
    [
        (FLOAT32, False, False, FLOAT16_B), (FLOAT32, True, False, TF32), (FLOAT32, True, True, FLOAT32),
        (FLOAT16_B, True, False, FLOAT16_B), (BFP8_B, False, False, BFP8_B), (UINT32, True, True, UINT32),
        (UINT16, False, False, UINT16),
    ],
)  # fmt: skip
def test_what_unpackers_make_of_a_format(code, fp32_dest, to_dest, expected):
    """Tables that ttnn 0.81.1 generated for recorded kernels."""
    assert formats.unpacked(code, [code], fp32_dest, to_dest) == expected


@pytest.mark.parametrize(
    "code, fp32_dest, precise, expected",
    [
        (FLOAT32, False, False, FLOAT16_B), (FLOAT32, True, False, FLOAT32), (FLOAT16_B, True, False, FLOAT16_B),
        (BFP8_B, False, False, BFP8_B), (BFP8_B, False, True, FLOAT16_B), (INT32, True, False, INT32),
        (FLOAT16, False, False, FLOAT16),
    ],
)  # fmt: skip
def test_what_packers_read_for_a_format(code, fp32_dest, precise, expected):
    """Tables that ttnn 0.81.1 generated for recorded kernels."""
    assert formats.packed(code, [code], fp32_dest, precise) == expected


def test_descriptors_hold_shapes_and_settings():
    text = formats.descriptors(
        [(0, FLOAT16_B, 32, 32), (1, BFP8_B, 16, 32)],
        is_typed=True,
        fidelity=2,
        approximate=True,
        fp32_dest=False,
        full_sync=True,
    )
    assert "unpack_src_format[64] = {5,6,255," in text and "unpack_tile_num_faces[64] = {4,2,4," in text
    assert "unpack_tile_size[64] = {2048,544,1088," in text
    assert "static_cast<ckernel::MathFidelity>(2)" in text and "APPROX = true" in text and "DstSync::SyncFull" in text


def test_functions_of_vectors_are_inlined():
    module = """define void @_Z4halfN4sfpi6VectorILNS_4KindE0EEE(ptr %0) #0 {
  call void @__tensim_sfp_push() #1
}
define void @_Z4facev() #0 {
  call void @_Z4halfN4sfpi6VectorILNS_4KindE0EEE(ptr null) #1
}
define void @_Z5otherN4sfpi6VectorILNS_4KindE0EEE(ptr %0) #0 {
  ret void
}
attributes #0 = { noinline nounwind }
attributes #1 = { nounwind }"""
    marked = functions_to_inline.marked(module)
    assert "@_Z4halfN4sfpi6VectorILNS_4KindE0EEE(ptr %0) #2 {" in marked
    assert "attributes #2 = { alwaysinline  nounwind  }" in marked
    assert "@_Z4facev() #0 {" in marked and "@_Z5otherN4sfpi6VectorILNS_4KindE0EEE(ptr %0) #0 {" in marked


def test_the_packer_of_a_tile_stays_a_call():
    marked = functions_to_call.marked(
        "define linkonce_odr void @_Z8llk_packILb0ELb1EEvjjj(i32 %0, i32 %1) #5 {\n}\ndefine void @_Z9llk_pack_v() #5 {\n}\n"
    )
    assert "@_Z8llk_packILb0ELb1EEvjjj(i32 %0, i32 %1) noinline #5 {" in marked and marked.count("noinline") == 1


def test_an_assembler_statement_touches_no_variable_unless_it_says_so():
    word, barrier = (f'  call void asm sideeffect "{text}", "{operands}"() #4, !srcloc !2' for text, operands in WRITES)
    marked = memory_regions.statements_apart(f"{word}\n{barrier}")
    assert marked == f"{word.replace('() #4', '() memory(inaccessiblemem: readwrite) #4')}\n{barrier}"


WRITES = ((".ttinsn $0", "i"), ("fence", "~{memory}"))


def test_registers_and_variables_are_told_apart():
    """By addresses that are numbers, through what is derived from them in the same function; local memory is no register."""
    lines = [
        "define void @f(ptr %0) {",
        "  %1 = load i32, ptr getelementptr inbounds nuw (i8, ptr @cb_interface, i32 16), align 4, !dbg !7",
        "  %2 = getelementptr inbounds nuw i32, ptr inttoptr (i32 -1114112 to ptr), i32 %1",
        "  store volatile i32 %1, ptr %2, align 4",
        "  store volatile i32 %1, ptr @__instrn_buffer, align 4",
        "  store i32 %1, ptr inttoptr (i32 -5242880 to ptr), align 4",
        "  store i32 %1, ptr %0, align 4",
        "}",
        "define void @g(ptr %2) {",
        "  store i32 0, ptr %2, align 4",
        "}",
        "!7 = !{}",
    ]
    marked = memory_regions.registers_apart("\n".join(lines)).split("\n")
    register, variable = ", !alias.scope !11, !noalias !12", ", !alias.scope !12, !noalias !11"
    expected = [variable if at == 1 else register if at in (3, 4) else "" for at in range(len(lines))]
    assert [line.removeprefix(old) for line, old in zip(marked, lines, strict=False)] == expected
    assert '!9 = distinct !{!9, !8, !"registers"}' in marked and "!11 = !{!9}" in marked


def test_forms_that_clang_does_not_read(tmp_path):
    header = tmp_path / "power.h"
    header.write_text("auto power = [] __attribute__((always_inline)) (int x) { return x; };\n")
    folder = tmp_path / "build"
    folder.mkdir()
    names = dialect.unread(f"{header}:1:20: error: expected body of lambda expression\n")
    flags = dialect.overlay(names, folder)
    assert flags == ["-ivfsoverlay", str(folder / "overlay.json")]
    assert (folder / "readable-0.h").read_text() == "auto power = [](int x) { return x; };\n"
    assert dialect.unread("unit.cpp:1:1: error: something else\n") == set() and dialect.overlay(set(), folder) == []


def test_attributes_of_template_parameters_are_passed_over(tmp_path):
    """The LLK of releases 0.77 and 0.78 has them."""
    header = tmp_path / "wide.h"
    header.write_text(
        "template <[[maybe_unused]] int a, [[maybe_unused]] bool b = false>\nint f([[maybe_unused]] int c);\n"
    )
    names = dialect.unread(f"{header}:1:11: error: 'maybe_unused' attribute cannot be applied to types\n")
    assert names == dialect.unread(f"{header}:1:35: error: an attribute list cannot appear here\n") == {str(header)}
    dialect.overlay(names, tmp_path)
    readable = (tmp_path / "readable-0.h").read_text()
    assert readable == "template <int a, bool b = false>\nint f([[maybe_unused]] int c);\n"


@pytest.mark.parametrize("macro", ["SFPU_BINARY_CALL_FN", "SFPU_CALL_FN", "SFPU_UNARY_CALL_NO_TEMPLATE_ARGS"])
def test_functions_as_arguments_of_macros(tmp_path, macro):
    """Releases 0.71 to 0.73, and later ones."""
    header = tmp_path / "macros.h"
    header.write_text(f"#define {macro}(DST, FN) call(::ckernel::sfpu::FN, DST)\n")
    dialect.overlay(dialect.unread(f"{header}:1:40: note: expanded from macro '{macro}'\n"), tmp_path)
    assert "[&](auto... values) { ::ckernel::sfpu::FN(values...); }, DST)" in (tmp_path / "readable-0.h").read_text()


@pytest.mark.parametrize("template", ["", "<APPROXIMATE>"])
def test_functions_as_arguments_of_functions(tmp_path, template):
    """Releases to 0.71."""
    header, call = tmp_path / "gcd.h", f"_llk_math_eltwise_binary_sfpu_params_{template}"
    header.write_text(f"void f() {{ {call}(sfpu::calculate_sfpu_gcd, 0, 1, 2, mode); }}\n")
    said = f"{header}:1:12: error: no matching function for call to '_llk_math_eltwise_binary_sfpu_params_'\n"
    dialect.overlay(dialect.unread(said), tmp_path)
    expected = f"{call}([&](auto... values) {{ sfpu::calculate_sfpu_gcd(values...); }}, 0, 1, 2, mode)"
    assert expected in (tmp_path / "readable-0.h").read_text()


@pytest.mark.parametrize("name", ["uint", "std::uint32_t"])
def test_a_type_in_the_place_of_unsigned(tmp_path, name):
    """Releases 0.66 to 0.68."""
    header = tmp_path / "pointer.h"
    header.write_text(f"volatile {name} short *pointer();\n")
    dialect.overlay(dialect.unread(f"{header}:1:10: error: 'short type-name' is invalid\n"), tmp_path)
    assert (tmp_path / "readable-0.h").read_text() == "volatile unsigned short *pointer();\n"


def test_clang_stumbles_over_a_file_once(tmp_path, monkeypatch):
    monkeypatch.setattr(toolchain, "cache_folder", lambda: tmp_path / "cpp")
    first, second, other = (str(tmp_path / name) for name in ("power.h", "short.h", "macros.h"))
    for name in (first, second, other):
        Path(name).touch()
    assert dialect.known() == set()
    dialect.remember(f"{first}:1:20: error: expected body of lambda expression\n")
    dialect.remember(f"{second}:3:1: error: 'short type-name' is invalid\n")
    dialect.remember(
        f"{other}:7:1: note: expanded from macro 'SFPU_ONE_NO_TEMPLATE_ARGS'\n"
    )  # of which others may read it
    assert dialect.known() == {first, second}
    Path(first).unlink()
    assert dialect.overlay(dialect.known(), tmp_path) == []  # nothing of a file that is there no more


def test_bindings_are_said_in_the_librarys_types():
    text = bindings("uint32_t n = get_arg(args::tiles); DataflowBuffer out(dfb::out);", GUESSES[0])
    assert "namespace args { constexpr experimental::CtaVal<uint32_t> tiles{2u}; }" in text
    assert "DFBBindingToken<dfb::AccessPattern::STRIDED, dfb::AccessPattern::STRIDED> out{0," in text
    assert 'if constexpr (name == "out") return &out;' in text


def test_no_sources_is_a_clear_error(tmp_path, monkeypatch):
    monkeypatch.delenv("TENSIM_LLK", raising=False)
    with pytest.raises(UsageError, match="LLK sources are not here"):
        find_tree([tmp_path])


def program_of(body, folder):
    """An ELF of a function at 0x1000, made without the vendor's sources."""
    tools = toolchain.toolchain()
    (folder / "unit.cpp").write_text(f"""
__asm__(".macro .ttinsn word\\n .4byte ((((\\\\word) << 2) & 0xffffffff) | (((\\\\word) >> 30) & 3))\\n.endm\\n");
#include "tensim_vector.h"
extern "C" void _start() {{ {body} }}
""")
    (folder / "link.ld").write_text(
        "ENTRY(_start) SECTIONS { .text 0x1000 : { *(.text*) } /DISCARD/ : { *(.riscv.attributes) } }"
    )
    flags = [*tools.flags, "-O2", f"-I{INCLUDE}"]
    for command in (
        [*tools.compile, *flags, "-c", "unit.cpp", "-o", "unit.o"],
        [*tools.link, "-T", "link.ld", "unit.o", "-o", "unit.elf"],
    ):
        result = toolchain.run(command, cwd=folder)
        assert result.returncode == 0, result.stderr
    return (folder / "unit.elf").read_bytes()


def test_listing_names_tensix_words_and_their_lines(tmp_path):
    word = instructions("blackhole")["SEMPOST"].word(sem_sel=4)
    raw = program_of(f"tensim::issue({word}u);", tmp_path)
    entries = elf_listing(raw, "blackhole")
    texts = [entry["text"] for entry in entries]
    assert "SEMPOST sem_sel=4" in texts and any(text.startswith("jalr") for text in texts)
    assert entries[texts.index("SEMPOST sem_sel=4")]["file"].endswith("unit.cpp")


def test_listing_refuses_what_is_no_program(tmp_path):
    with pytest.raises(BinaryError, match="no ELF that can be read"):
        elf_listing(b"no ELF", "blackhole")
    raw = bytearray(program_of("", tmp_path))
    struct.pack_into("<H", raw, 18, 3)
    with pytest.raises(BinaryError, match="not for a 32-bit RISC-V core"):
        elf_listing(bytes(raw), "blackhole")


KERNEL = """#include <cstdint>
#if __has_include("api/compute/common.h")
#include "api/compute/eltwise_unary/eltwise_unary.h"
#include "api/compute/eltwise_unary/exp.h"
#include "api/compute/tile_move_copy.h"
#else
#include "compute_kernel_api/eltwise_unary/eltwise_unary.h"
#include "compute_kernel_api/eltwise_unary/exp.h"
#include "compute_kernel_api/tile_move_copy.h"
#endif
void kernel_main() {
    init_sfpu(0, 16);
    exp_tile_init();
    tile_regs_acquire();
    cb_wait_front(0, 1);
    copy_tile(0, 0, 0);
    exp_tile(0);
    tile_regs_commit();
    tile_regs_wait();
    cb_reserve_back(16, 1);
    pack_tile(0, 16);
    cb_push_back(16, 1);
    cb_pop_front(0, 1);
    tile_regs_release();
}
"""


def build_of(text, arch, processor=Processor.TRISC1, **settings):
    buffers = ((0, FLOAT16_B, 32, 32), (16, FLOAT16_B, 32, 32))
    return LlkBuild(
        processor, arch, text=text, name="kernel.cpp", circular_buffers=buffers, tree=find_tree(), text_address=0x20000,
        local_memory=local_bytes(arch, processor.value), **settings,
    )  # fmt: skip


@needs_tree
@pytest.mark.parametrize("chip", ["wormhole_b0", "blackhole"])
@pytest.mark.parametrize(
    "processor, word", [(Processor.TRISC0, "SETADC"), (Processor.TRISC1, "SFPSTORE"), (Processor.TRISC2, "SETADC")]
)
def test_a_kernel_becomes_three_programs(chip, processor, word):
    arch = load_arch(chip)
    raw = compile_kernel(build_of(KERNEL, arch, processor, fp32_dest=True)).elf
    image = load_elf(raw, local_bytes(arch, processor.value), 0x20000)
    assert image.entry == 0 and image.data_end < local_bytes(arch, processor.value)
    listing = [entry["text"] for entry in elf_listing(raw, chip)]
    assert (
        any(text.startswith(word) for text in listing) or word != "SFPSTORE"
    )  # others come from the MOP's configuration


COPIES = """#include <cstdint>
#include "api/compute/eltwise_unary/eltwise_unary.h"
#include "api/compute/tile_move_copy.h"
void kernel_main() {
    unary_op_init_common(0, 16);
    copy_tile_init(0);
    for (uint32_t round = 0; round < 64; round++) {
        tile_regs_acquire();
        for (uint32_t i = 0; i < 4; i++) copy_tile(0, i, i);
        tile_regs_commit();
        tile_regs_wait();
        for (uint32_t i = 0; i < 4; i++) pack_tile(i, 16);
        tile_regs_release();
    }
}
"""


@needs_tree
@pytest.mark.parametrize("chip", ["wormhole_b0", "blackhole"])
def test_what_describes_a_buffer_stays_in_registers_from_tile_to_tile(chip):
    """The vendor's compiler makes some 20 instructions of a tile, with one load: that of the semaphore it waits for."""
    raw = compile_kernel(build_of(COPIES, load_arch(chip), Processor.TRISC0)).elf
    listing = [entry["text"] for entry in elf_listing(raw, chip)]
    tiles = [at for at, text in enumerate(listing) if text.startswith("MOP ")]
    between = listing[tiles[0] : tiles[1]]
    assert len(between) <= 20 and sum(text.startswith("lw ") for text in between) == 1


@needs_tree
@pytest.mark.parametrize("chip", ["wormhole_b0", "blackhole"])
def test_each_tile_that_is_packed_is_a_call(chip):
    raw = compile_kernel(build_of(COPIES, load_arch(chip), Processor.TRISC2)).elf
    listing = [entry["text"] for entry in elf_listing(raw, chip)]
    assert sum(text.startswith("MOP ") for text in listing) == 1


@needs_tree
def test_a_saved_files_kernel_is_refused():
    build = build_of(KERNEL, load_arch("blackhole"), budget=CompileBudget())
    with pytest.raises(KernelCompileError, match="of a saved file is not built against the LLK"):
        compile_kernel(build)


@needs_tree
def test_errors_name_the_kernels_line():
    with pytest.raises(KernelCompileError, match="nothing_of_the_kind") as error:
        compile_kernel(build_of(KERNEL.replace("exp_tile(0);", "nothing_of_the_kind(0);"), load_arch("blackhole")))
    assert error.value.where["file"] == "kernel.cpp" and error.value.where["line"] == 17


def test_disassemble_shows_an_elf(tmp_path):
    word = instructions("blackhole")["SEMPOST"].word(sem_sel=4)
    path = tmp_path / "kernel.elf"
    path.write_bytes(program_of(f"tensim::issue({word}u);", tmp_path))
    shown = CliRunner().invoke(disassemble, [str(path), "--arch", "blackhole"])
    assert shown.exit_code == 0 and "SEMPOST sem_sel=4" in shown.output
    missing = CliRunner().invoke(disassemble, [str(tmp_path / "none.elf"), "--arch", "blackhole"])
    assert isinstance(missing.exception, UsageError) and "cannot read the ELF" in missing.exception.message
