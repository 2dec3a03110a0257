"""A compute kernel has the calls that its headers declare, and is told which header it lacks."""

import os
from pathlib import Path

import pytest

from tensim.sim.arch import load_arch
from tensim.sim.cores.riscv import call_headers, release_headers
from tensim.sim.cores.riscv.compiler import Build, Processor, compile_unit
from tensim.sim.errors import KernelCompileError

KERNEL = """#include "api/compute/common.h"
{first}
void kernel_main() {{
    {call}
}}
"""


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


@pytest.mark.skipif("TENSIM_LLK" not in os.environ, reason="the vendor's headers are not here")
def test_the_table_has_the_calls_of_a_release():
    folder = Path(os.environ["TENSIM_LLK"]) / "tt_metal/hw/inc/api/compute"
    for path in folder.rglob("*.h"):
        names = set(release_headers.DECLARED.findall(path.read_text())) & set(call_headers.calls())
        assert names <= set(call_headers.declared_by(str(path.relative_to(folder)))), path
