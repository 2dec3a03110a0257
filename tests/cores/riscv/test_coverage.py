"""`tensim coverage`: kernels of a folder built with stand-ins, counted as built, refused or failed."""

import json

import pytest

pytest.importorskip("ziglang")

from tensim.sim.arch import load_arch
from tensim.sim.cores.riscv import coverage, stand_ins

GOOD = '#include "dataflow_api.h"\nvoid kernel_main() { riscv_wait(get_compile_time_arg_val(9)); }\n'
BINDINGS = """#include "experimental/kernel_args.h"
void kernel_main() {
    constexpr uint32_t rows = get_arg(args::rows);
    Noc noc;
    DataflowBuffer buffer(dfb::in);
    const auto s = TensorAccessor(tensor::input);
    Semaphore<> done(sem::done);
    noc.async_read(s, buffer, 32, {.page_id = rows}, {});
    done.up(1);
}
"""
MACRO = "void kernel_main() { riscv_wait(ROWS_OF_MY_PROGRAM); }\n"
ARRAY = "void kernel_main() { constexpr uint8_t cores[4][2] = CORES_OF_MY_PROGRAM; riscv_wait(cores[0][1]); }\n"
CHOICE = """#if BYTES == 4
constexpr uint32_t wide = 1;
#endif
void kernel_main() { riscv_wait(wide); }
"""
DIVIDED = (
    "void kernel_main() { static_assert(get_compile_time_arg_val(0) % 32 == 0 && get_compile_time_arg_val(0)); }\n"
)


@pytest.fixture
def library(tmp_path):
    """A folder like an unpacked library: kernels that include headers by paths from its root."""
    folder = tmp_path / "ttnn/cpp/ttnn/operations/kernels"
    folder.mkdir(parents=True)
    texts = {
        "good.cpp": GOOD, "bindings.cpp": BINDINGS, "macro.cpp": MACRO, "divided.cpp": DIVIDED,
        "array.cpp": ARRAY, "choice.cpp": CHOICE,
        "root.cpp": '#include "ttnn/operations/kernels/own.hpp"\nvoid kernel_main() { own(); }\n',
        "own.hpp": "inline void own() { riscv_wait(1); }\n", "part.cpp": "void helper() {}\n",
        "fabric.cpp": '#include "tt_metal/fabric/hw/inc/edm_fabric/edm_handshake.hpp"\nvoid kernel_main() {}\n',
        "wrong.cpp": "void kernel_main() { call_of_nobody(); }\n",
    }  # fmt: skip
    for name, text in texts.items():
        (folder / name).write_text(text)
    return tmp_path


def test_each_kernel_with_an_entry_is_in_one_class(library):
    outcomes, count = coverage.coverage([library], load_arch("wormhole_b0"))
    result = coverage.report(outcomes, count)
    assert (result["kernels"], result["entry"], result["built"]) == (10, 9, 7)
    assert result["refused"] == {"fabric": 1}
    (failed,) = result["failed"]
    assert failed["file"].endswith("wrong.cpp") and "call_of_nobody" in failed["why"]
    assert result["missing"] == {"call_of_nobody": 1}


def test_the_command_prints_json_and_succeeds_with_failures(library):
    from click.testing import CliRunner

    from tensim.cli.coverage import coverage as command

    result = CliRunner().invoke(command, [str(library), "--json=-"])
    assert result.exit_code == 0
    assert json.loads(result.stdout)["entry"] == 9


SHAPED = """
namespace place { enum : uint32_t { BYTES = 3, COUNT }; }
static constexpr uint32_t K = get_compile_time_arg_val(2);
constexpr uint32_t bytes = get_compile_time_arg_val(place::BYTES), count = get_compile_time_arg_val(place::COUNT);
constexpr auto mode = static_cast<Mode>(get_compile_time_arg_val(7));
constexpr uint32_t tile_w = get_compile_time_arg_val(5);
"""


def test_arguments_are_known_by_the_names_that_a_kernel_gives_them():
    places = stand_ins.argument_places(SHAPED)
    assert places == {"K": 2, "bytes": 3, "count": 4, "mode": 7, "tile_w": 5}
    assert stand_ins.with_names(SHAPED, stand_ins.GUESSES[0]).arguments[:7] == (2, 2, 2, 2, 2, 32, 2)


def test_an_assertion_says_what_to_try():
    message = "kernel.cpp:4: static assertion failed due to requirement 'K == 512 || K == 1024': K must be 512 or 1024"
    tried = [guess.arguments[2] for guess in stand_ins.repaired(message, SHAPED, stand_ins.GUESSES[0])]
    assert tried[:2] == [512, 1024] and 2 not in tried
    assert stand_ins.repaired("kernel.cpp:4: no member named 'x'", SHAPED, stand_ins.GUESSES[0]) == []


def test_an_enumeration_is_known_by_its_alias():
    text = """namespace attention::places { enum : uint32_t { ROWS, BYTES }; }
    namespace of = attention::places;
    constexpr uint32_t bytes = get_compile_time_arg_val(of::BYTES);"""
    assert stand_ins.argument_places(text.replace("attention::places {", "places {")) == {"bytes": 1}


BUFFERED = """constexpr uint32_t cb_in = get_compile_time_arg_val(1), cb_out = get_compile_time_arg_val(2);
static_assert(cb_in != cb_out && get_compile_time_arg_val(0) == 2);
void kernel_main() {}
"""


def test_circular_buffers_that_arguments_name_differ_where_they_have_to(library):
    path = library / "ttnn/cpp/ttnn/operations/kernels/buffered.cpp"
    path.write_text(BUFFERED)
    assert stand_ins.with_names(BUFFERED, stand_ins.GUESSES[-1]).arguments[:4] == (2, 0, 1, 2)
    assert coverage.Coverage(load_arch("blackhole"), [], library).outcome(path).built
