"""A compile command of the library becomes one of our kernels: both releases' commands and generated files."""

from types import SimpleNamespace

import pytest

from tensim.library.identifiers import Commands
from tensim.library.kernels import kernel_of_command
from tensim.library.runner import Kernels
from tensim.sim.arch import load_arch
from tensim.sim.errors import KernelCompileError, UsageError
from tensim.sim.host.commands import ComputeParameters, DataMovementParameters
from tensim.sim.host.frozen_program import BuildTarget

BUILD_MACROS = (
    "NUM_DRAM_BANKS=12 NUM_L1_BANKS=64 IS_NOT_POW2_NUM_DRAM_BANKS=1 PCIE_NOC_X=0 ARCH_WORMHOLE KERNEL_BUILD".split()
)
READER = """
void kernel_main() {
    cb_reserve_back(0, SHARE);
    *reinterpret_cast<volatile uint32_t*>(get_write_ptr(0)) =
        get_compile_time_arg_val(1) + get_named_compile_time_arg_val("rows") + bound;
    cb_push_back(0, SHARE);
}
"""
COMPUTE = "void kernel_main() { copy_tile_init(0); cb_wait_front(0, 1); copy_tile(0, 0, TILE); cb_pop_front(0, 1); }"


def array(kind, name, given, rest):
    values = ",".join(str(given.get(index, rest)) for index in range(32))
    return f"constexpr {kind} {name}[32] = {{\n    {values},\n}};\n"


def formats(given, tiles=None, unpacked=None, packed=None):
    """{name: text of the arrays} for circular buffers of some formats."""
    tiles = tiles or {}
    heights, widths = ({index: tile[place] for index, tile in tiles.items()} for place in (0, 1))
    return {
        "unpack_data_format": array("int", "unpack_src_format", given, 255)
        + array("int", "unpack_dst_format", unpacked or given, 255),
        "unpack_tile_dims": array("int", "unpack_tile_r_dim", heights, 32)
        + array("int", "unpack_tile_c_dim", widths, 32),
        "pack_data_format": array("int", "pack_src_format", packed or given, 255)
        + array("int", "pack_dst_format", given, 255),
    }


@pytest.fixture(params=["one file of descriptors", "a file for each"])
def library(request, tmp_path):
    """Writes what the library generates for a kernel; `command` makes a command for it."""
    joined = request.param == "one file of descriptors"
    root, generated = tmp_path / "root", tmp_path / "cache/kernels/reader/123"
    (root / "tt_metal").mkdir(parents=True)
    (root / "ttnn/cpp").mkdir(parents=True)

    def write(name, text, place=generated):
        place.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
        return place / name

    def describe(fidelity=255, approximate="true", dest="false", sync="Half", **arrays):
        number = f"static_cast<ckernel::MathFidelity>({fidelity})" if joined else fidelity
        texts = {
            "math_fidelity": f"constexpr auto MATH_FIDELITY = {number};\n",
            "math_approx_mode": f"constexpr bool APPROX = {approximate};\n",
            "dst_accum_mode": f"constexpr bool DST_ACCUM_MODE = {dest};\n",
            "dst_sync_mode": f"#define DST_SYNC_MODE DstSync::Sync{sync}\n",
        } | formats(**arrays)
        if joined:
            write("chlkc_descriptors.h", "#pragma once\n" + "".join(texts.values()))
        else:
            for name, text in texts.items():
                write(f"chlkc_{name}.h", text)

    def command(processor, *more):
        folder = generated / processor
        folder.mkdir(parents=True, exist_ok=True)
        source = f"{root}/tt_metal/hw/firmware/src/tt-1xx/{processor.rstrip('012')}k.cc"
        core = (
            f"-DCOMPILE_FOR_TRISC={processor[-1]}" if processor[-1].isdigit() else f"-DCOMPILE_FOR_{processor.upper()}"
        )
        macros = [f"-D{one}" for one in BUILD_MACROS] + [core, *more]
        paths = ["-I.", "-I..", f"-I{root}/", f"-I{root}/ttnn/cpp", f"-I{root}/tt_metal/hw/inc"]
        kept = ["-O2", "-std=c++17", *paths, "-c", "-o", "kernel.o"]
        return ([*kept, *macros, source] if joined else [*kept, source, *macros]), folder

    return SimpleNamespace(root=root, generated=generated, write=write, describe=describe, command=command)


def built(found, chip="wormhole_b0"):
    """The ELF files of a kernel."""
    target = BuildTarget(load_arch(chip), found.circular_buffers)
    return found.kernel.build(found.parameters, target).programs


def test_a_data_movement_kernel(library):
    file = library.write("reader.cpp", READER, library.root / "ttnn/cpp")
    library.write("bindings_generated.h", "constexpr uint32_t bound = 5;\n")
    library.write("kernel_includes.hpp", f'#include "bindings_generated.h"\nvoid kernel_main();\n#include "{file}"\n')
    library.write(
        "named_ct_arg_map_generated.h", '#define KERNEL_COMPILE_TIME_ARG_MAP {"rows",64},{"last",4294967295u}\n'
    )
    library.describe(given={0: 5, 3: 6}, tiles={3: (16, 32)})
    macros = [
        "-DKERNEL_COMPILE_TIME_ARGS=2,2048,7",
        "-DNOC_INDEX=1",
        "-DNOC_MODE=0",
        "-DSHARE=1",
        "-DFLAG",
        "-DTWO=a b",
    ]
    found = kernel_of_command(*library.command("ncrisc", *macros))
    assert found.parameters == DataMovementParameters(
        processor=1, noc=1, noc_mode=0, compile_args=(2, 2048, 7),
        defines=(("SHARE", "1"), ("FLAG", "1"), ("TWO", "a b")), named_compile_args=(("rows", 64), ("last", 4294967295)),
    )  # fmt: skip
    assert found.circular_buffers == ((0, 5, 32, 32), (3, 6, 16, 32)) and found.slots == (1,)
    assert found.kernel.file == str(file)
    paths = found.kernel.include_paths
    assert str(library.generated) in paths and str(library.root / "ttnn/cpp") in paths
    theirs = [path for path in paths if "tt_metal" in path]
    assert theirs == [str(library.root / "tt_metal/api")], (
        "our headers stand for the library's, but for types of its host"
    )
    assert set(built(found)) == {1}


def test_the_three_commands_of_a_compute_kernel_give_one_kernel(library):
    file = library.write("compute.cpp", COMPUTE, library.root / "ttnn/cpp")
    for name in ("unpack", "math", "pack"):
        library.write(
            f"chlkc_{name}.cpp", f'#define TRISC_{name.upper()}\n#include "defines_generated.h"\n#include "{file}"\n'
        )
    library.write("defines_generated.h", "#define NOC_MODE 0\n#define TILE 0\n#define OP(a, b) add(a, b)\n")
    library.describe(2, "false", "true", "Full", given={0: 5, 16: 5})
    found = [
        kernel_of_command(*library.command(f"trisc{number}", "-DKERNEL_COMPILE_TIME_ARGS=1")) for number in range(3)
    ]
    assert found[0].parameters == ComputeParameters(
        math_fidelity=2, fp32_dest_acc_en=True, dst_full_sync_en=True, math_approx_mode=False, bfp8_pack_precise=False,
        unpack_to_dest_mode=(0,) * 32, compile_args=(1,), defines=(("TILE", "0"), ("OP(a, b)", "add(a, b)")), opt_level="O2",
    )  # fmt: skip
    assert found[0].slots == (2, 3, 4) and found[0].circular_buffers == ((0, 5, 32, 32), (16, 5, 32, 32))
    for other in found[1:]:
        assert other[1:] == found[0][1:]
        assert vars(other.kernel) == vars(found[0].kernel)
    assert set(built(found[0])) == {2, 3, 4}


def test_a_text_repeated_with_another_entry_is_its_file(library):
    """A release writes the text of newer kernels once more, under an entry of its own."""
    file = library.write("compute.cpp", COMPUTE, library.root / "ttnn/cpp")
    text = COMPUTE.replace("void kernel_main", "namespace chlkc_unpack { void unpack_main")
    library.write(
        "chlkc_unpack.cpp", f'#define TRISC_UNPACK\n#include "defines_generated.h"\n#line 1 "{file}"\n{text}}}\n'
    )
    library.write("defines_generated.h", "#define TILE 0\n")
    library.describe(4, given={0: 5})
    found = kernel_of_command(*library.command("trisc1"))
    assert found.kernel.file == str(file) and set(built(found)) == {2, 3, 4}


def test_a_compute_text_under_an_entry_of_its_processor(library):
    """The older release renames the entry of a kernel that came as a text."""
    text = COMPUTE.replace("void kernel_main", "namespace chlkc_unpack {\nvoid unpack_main")
    library.write(
        "chlkc_unpack.cpp",
        f'#define TRISC_UNPACK\n#include "defines_generated.h"\n\n{text}\n\n}}  // namespace chlkc_unpack\n',
    )
    library.write("defines_generated.h", "#define TILE 0\n")
    library.describe(4, given={0: 5})
    found = kernel_of_command(*library.command("trisc0"))
    assert found.kernel.name == "reader" and set(built(found)) == {2, 3, 4}


@pytest.mark.parametrize("tile", [(8, 32), (32, 16), (16, 16)])
def test_tiles_that_operations_do_not_know_are_refused_where_there_is_no_other_level(library, tile):
    """As datums alone a 32x16 tile was a 16x32 one, and a product silently wrong."""
    file = library.write("compute.cpp", COMPUTE, library.root / "ttnn/cpp")
    library.write("chlkc_unpack.cpp", f'#include "defines_generated.h"\n#include "{file}"\n')
    library.write("defines_generated.h", "#define TILE 0\n#define OP(a, b) add(a, b)\n")
    library.describe(given={0: 5, 16: 5}, tiles={0: (16, 32), 16: tile})
    found = kernel_of_command(*library.command("trisc1", "-DKERNEL_COMPILE_TIME_ARGS=1"))
    with pytest.raises(KernelCompileError, match=f"circular buffer 16 has tiles of {tile[0]}x{tile[1]}"):
        built(found, "grayskull")


def test_a_text_without_a_file(library):
    library.write("kernel_includes.hpp", "void kernel_main() { cb_push_back(0, 1); }\n")
    library.describe(given={0: 5})
    found = kernel_of_command(*library.command("brisc"))
    assert found.kernel.name == "reader" and found.slots == (0,) and set(built(found)) == {0}


def test_texts_under_one_name_are_kernels_of_their_own(library):
    library.describe(given={0: 5})
    kernels = Kernels(Commands(library.root / "commands"), load_arch("wormhole_b0"))
    made = []
    for pages in (1, 2, 1):
        library.write("kernel_includes.hpp", f"void kernel_main() {{ cb_push_back(0, {pages}); }}\n")
        made.append(kernels.build(*library.command("brisc")))
    assert made[0] is made[2] and made[1] is not made[0]
    assert "(0, 2)" in made[1].kernel.source and "(0, 1)" in made[0].kernel.source


@pytest.mark.parametrize(
    "given, unpacked, packed, modes, precise",
    [
        ({0: 0, 1: 6}, {0: 0, 1: 6}, {0: 0, 1: 6}, (1, 0), False),
        ({0: 24, 1: 6}, {0: 24, 1: 6}, {0: 24, 1: 6}, (1, 0), False),
        ({0: 0, 1: 6}, {0: 4, 1: 6}, {0: 0, 1: 5}, (0, 0), True),
    ],
    ids=["Float32 reaches Dst", "UInt32 reaches Dst", "Tf32, and blocks of exact datums"],
)
def test_settings_that_only_the_formats_tell(library, given, unpacked, packed, modes, precise):
    library.write("chlkc_unpack.cpp", COMPUTE)
    library.write("defines_generated.h", "")
    library.describe(4, given=given, unpacked=unpacked, packed=packed)
    parameters = kernel_of_command(*library.command("trisc0")).parameters
    assert parameters.unpack_to_dest_mode[:2] == modes and parameters.bfp8_pack_precise is precise


@pytest.mark.parametrize("present", [True, False])
def test_accessors_of_releases_without_page_sizes(library, present):
    text = "uint32_t AlignedPageSize;" if present else "uint32_t PageSize;"
    library.write("tensor_accessor_args.h", text, library.root / "tt_metal/hw/inc/api/tensor")
    library.write("kernel_includes.hpp", "void kernel_main() {}\n")
    library.describe(given={})
    defines = dict(kernel_of_command(*library.command("brisc")).kernel.defines)
    assert ("TENSIM_ACCESSOR_PAGE_WORD" in defines) != present and defines["TENSIM_LIBRARY_DEFAULTS"] == "1"


@pytest.mark.parametrize(
    "header, text, untyped",
    [
        ("dataflow_buffer.h", "struct DFBBindingToken { uint16_t id; };", True),  # 0.76 to 0.78
        ("dfb_binding_token.h", "struct DFBBindingToken { uint16_t id; };", True),  # 0.79, 0.80
        ("dfb_binding_token.h", "template <Pattern producer> struct DFBBindingToken { uint16_t id; };", False),
    ],
)
def test_how_releases_name_what_is_bound(library, header, text, untyped):
    library.write(header, text, library.root / "tt_metal/hw/inc/api/dataflow")
    library.write("kernel_includes.hpp", "void kernel_main() {}\n")
    library.describe(given={})
    assert (
        "TENSIM_UNTYPED_BUFFER_TOKENS" in dict(kernel_of_command(*library.command("brisc")).kernel.defines)
    ) == untyped


@pytest.mark.parametrize("text", ["void power_tile();", "void power_tile(); void power_iterative_tile();"])
def test_exponents_of_releases_that_have_integers_for_them(library, text):
    library.write("compute_kernel_api.h", text, library.root / "tt_metal/include")
    library.write("chlkc_unpack.cpp", COMPUTE)
    library.write("defines_generated.h", "")
    library.describe(given={})
    defines = dict(kernel_of_command(*library.command("trisc0")).kernel.defines)
    assert ("TENSIM_INTEGER_EXPONENT" in defines) != ("power_iterative_tile" in text)


def test_what_is_no_kernel(library):
    arguments, folder = library.command("brisc")
    source = next(one for one in arguments if one.endswith(".cc"))
    firmware = [one.replace("-DKERNEL_BUILD", "-DFW_BUILD").replace("brisck.cc", "brisc.cc") for one in arguments]
    link = ["-O2", "-nostartfiles", "-Tkernel_brisc.ld", "brisck.o", "-o", "brisc.elf"]
    header = [*(one for one in arguments if one not in (source, "-c")), "-x", "c++-header", "pch.h"]
    for command in (["--version"], firmware, link, header):
        assert kernel_of_command(command, folder) is None


def test_kernels_of_other_cores_and_incomplete_files_are_refused(library):
    arguments, folder = library.command("brisc")
    with pytest.raises(UsageError, match="erisck.cc is no kernel of a Tensix core"):
        kernel_of_command([one.replace("brisck.cc", "erisck.cc") for one in arguments], folder)
    with pytest.raises(UsageError, match="no kernel_includes.hpp"):
        kernel_of_command(arguments, folder)
    library.write("chlkc_unpack.cpp", COMPUTE)
    library.write("defines_generated.h", "")
    with pytest.raises(UsageError, match="do not define APPROX, DST_ACCUM_MODE, MATH_FIDELITY"):
        kernel_of_command(*library.command("trisc0"))
