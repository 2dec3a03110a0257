"""A compute kernel has the calls that its headers declare, and is told which header it lacks."""

import os
import re
from io import BytesIO
from pathlib import Path

import pytest

pytest.importorskip("elftools")

from elftools.elf.elffile import ELFFile

from tensim.sim.arch import load_arch
from tensim.sim.cores.riscv import call_headers, release_headers
from tensim.sim.cores.riscv.compiler import Build, Processor, compile_kernel, compile_unit
from tensim.sim.cores.riscv.header_names import forwarders
from tensim.sim.errors import KernelCompileError

KERNEL = """#include "api/compute/common.h"
{first}
void kernel_main() {{
    {call}
}}
"""

# Names for which many kernels have functions of their own
OFTEN_OF_KERNELS = {"add_block", "sub_block", "mul_block", "transpose_block"}


def build(call, first=""):
    text = KERNEL.format(first=first, call=call)
    compile_unit(Build(Processor.TRISC1, load_arch("wormhole_b0"), text=text, strict_headers=True))


@pytest.mark.parametrize(
    ("call", "header"),
    [
        ("exp_tile(0);", "api/compute/eltwise_unary/exp.h"),
        ("exp_tile<true>(0);", "api/compute/eltwise_unary/exp.h"),
        ("mul_tiles_init(0, 1);", "api/compute/eltwise_binary.h"),
    ],
)
def test_a_call_without_its_header_is_refused_with_line_and_header(call, header):
    with pytest.raises(KernelCompileError, match=f"declares {call.split('<')[0].split('(')[0]}") as found:
        build(call)
    assert found.value.where["line"] == 4 and found.value.hint == f'#include "{header}"'
    build(call, f'#include "compute_kernel_api/{header.removeprefix("api/compute/")}"')


def test_headers_bring_what_they_include_and_conditions_count():
    """common.h includes reg_api.h, eltwise_unary.h tile_move_copy.h."""
    calls = "tile_regs_acquire();\ncopy_tile(0, 0, 0);\nSTEP\n#if 0\nrecip_tile(0);\n#endif"
    names = ("eltwise_unary", "exp")
    build(
        calls,
        "#define STEP exp_tile(0);\n" + "".join(f'#include "api/compute/eltwise_unary/{name}.h"\n' for name in names),
    )


def test_a_kernel_may_have_a_function_of_a_calls_name():
    build("volatile int seen = exp_tile(3);", "inline int exp_tile(int x) { return x; }")


def test_headers_have_two_names_by_release():
    assert call_headers.header_of("exp_tile") == "eltwise_unary/exp.h"
    assert {"exp_tile", "mul_tiles", "matmul_tiles", "copy_tile", "pack_tile"} <= set(call_headers.calls())
    assert call_headers.declared_by("compute_kernel_api/common.h") == call_headers.declared_by("api/compute/common.h")


def test_every_header_of_the_releases_is_there():
    """But those behind the API, and those of experiments, which few kernels include."""
    behind = re.compile(r"api/|experimental/|sentinel/|debug/cb_hash|llk_")
    names = {name.removeprefix("api/compute/") for name in forwarders()}
    assert [header for header in call_headers.headers() if not behind.match(header) and header not in names] == []


def test_every_call_of_a_header_is_there_or_says_that_it_is_not_modelled():
    headers = [name for name in forwarders() if name.startswith("api/compute/")]
    names = sorted({name for header in headers for name in call_headers.declared_by(header)} - OFTEN_OF_KERNELS)
    includes = "".join(f'#include "{header}"\n' for header in headers)
    build("", includes + "".join(f"namespace n{i} {{ using ckernel::{name}; }}\n" for i, name in enumerate(names)))


@pytest.mark.parametrize(
    ("older", "call"),
    [
        ("where_fp32_tile(0, 1, 2, 0)", "where_tile<DataFormat::Float32>(0, 1, 2, 0)"),
        ("bitwise_xor_uint16_binary_tile(0, 1, 2)", "bitwise_xor_binary_tile<DataFormat::UInt16>(0, 1, 2)"),
        ("logical_not_unary_tile_int32(3)", "logical_not_tile<DataFormat::Int32>(3)"),
        ("rsub_uint32_tile(0, 1, 2)", "rsub_int32_tile(0, 1, 2)"),
        ("any_tiles_bcast<EltwiseBinaryType::ELWSUB, BroadcastType::COL>(0, 1, 2, 3, 4)", "sub_tiles_bcast_cols(0, 1, 2, 3, 4)"),
    ],
)  # fmt: skip
def test_older_names_stand_for_the_calls_of_today(older, call):
    """Each has the code of the other, on the thread that computes."""
    headers = "".join(f'#include "{name}"\n' for name in forwarders() if name.startswith("api/compute/"))
    first, second = (
        compile_kernel(
            Build(Processor.TRISC1, load_arch("wormhole_b0"), text=KERNEL.format(first=headers, call=f"{one};"))
        )
        for one in (older, call)
    )
    first, second = (ELFFile(BytesIO(one.elf)).get_section_by_name(".text").data() for one in (first, second))
    assert first == second


@pytest.mark.skipif("TENSIM_LLK" not in os.environ, reason="the vendor's headers are not here")
def test_the_table_has_the_calls_of_a_release():
    folder = Path(os.environ["TENSIM_LLK"]) / "tt_metal/hw/inc/api/compute"
    for path in folder.rglob("*.h"):
        names = set(release_headers.DECLARED.findall(path.read_text())) & set(call_headers.calls())
        assert names <= set(call_headers.declared_by(str(path.relative_to(folder)))), path
