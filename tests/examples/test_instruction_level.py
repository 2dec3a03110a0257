"""Compute kernels at the instruction level: built against the vendor's LLK, the bits of the operation level and nearly its time.

They run where TENSIM_TTNN_SOURCES or TENSIM_LLK names a release's sources; the examples' kernels are in the words of 0.66.
"""

import json
import os
from pathlib import Path

import numpy as np
import pytest

import tensim as tt
from tensim.running.options import Options
from tensim.running.runnable import find_program
from tensim.sim.arch import load_arch
from tensim.sim.chip.statistics import program_cycles
from tensim.sim.cores.riscv.kernel import INSTRUCTION_LEVEL as LEVEL
from tensim.sim.cores.riscv.llk.tree import tree_at
from tensim.sim.errors import CycleLimitError, DeadlockError, KernelCompileError, ProgramError, UsageError
from tensim.traces.timeline import write_timeline
from tests.chip.test_known_data import pack_over_a_table
from tests.examples.test_cpp_kernels import replayed

pytest.importorskip("ziglang", reason="C++ kernels need the extra tensim[cpp]")
CHIPS = ("wormhole_b0", "blackhole")
NAMED = [*os.environ.get("TENSIM_TTNN_SOURCES", "").split(os.pathsep), os.environ.get("TENSIM_LLK", "")]
TREES = [tree for name in NAMED if name for tree in [tree_at(Path(name) / "ttnn") or tree_at(name)] if tree]
CLASSIC = next((tree for tree in TREES if (tree.root / "tt_metal/include/compute_kernel_api").is_dir()), None)
pytestmark = pytest.mark.skipif(CLASSIC is None, reason="no sources of a release with compute_kernel_api/ are named")
SHAPES = {"eltwise_add": "128x128", "sfpu_chain": "64x64", "matmul_multicast": "256x256x256", "reduction_tree": "64x64"}
ONE = tt.CoreCoord(0, 0)
BF16 = tt.DataFormat.Float16_b


@pytest.fixture(autouse=True)
def sources(monkeypatch):
    monkeypatch.setenv("TENSIM_LLK", str(CLASSIC.root) if CLASSIC else "")


def run(name, chip, level, numerics="exact"):
    """(result, cycles, floating-point operations) of an example at a level."""
    device = tt.create_device(0, arch=load_arch(chip, {LEVEL: level}), numerics=numerics)
    try:
        options = Options(shape=SHAPES[name], parameters={"kernels": "cpp"})
        result = find_program(name).run_on(device, options)
        return result, program_cycles(device.chip), device.chip.flops
    finally:
        tt.close_device(device)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("name", [name for name in SHAPES if name != "sfpu_chain"])
def test_both_levels_give_the_same_bits_in_nearly_the_same_time(name, chip):
    (expected, cycles, flops), (actual, executed, counted) = run(name, chip, 0), run(name, chip, 1)
    assert actual.verified
    np.testing.assert_array_equal(actual.actual, expected.actual)
    assert executed == pytest.approx(cycles, rel=0.2)
    assert counted == flops


@pytest.mark.parametrize("chip", CHIPS)
def test_vector_functions_of_another_release_are_right_but_for_their_last_bits(chip):
    assert run("sfpu_chain", chip, 0)[0].verified and run("sfpu_chain", chip, 1)[0].verified


def test_the_same_program_takes_the_same_cycles_with_and_without_data():
    cycles = {run("matmul_multicast", "blackhole", 1, numerics)[1] for numerics in ("exact", "exact", "off")}
    assert len(cycles) == 1


@pytest.mark.parametrize("chip", CHIPS)
def test_what_the_packers_leave_out_without_data_decides_nothing(chip):
    with tt.create_device(0, arch=load_arch(chip, {LEVEL: 1}), numerics="off", max_cycles=20_000_000) as device:
        pack_over_a_table(device)


def test_a_timeline_shows_what_each_unit_did(tmp_path):
    device = tt.create_device(0, arch=load_arch("blackhole", {LEVEL: 1}), numerics="off")
    try:
        device.chip.recordings.enable_log()
        find_program("matmul_multicast").run_on(device, Options(shape="128x128x128", parameters={"kernels": "cpp"}))
        write_timeline(device.chip, tmp_path / "timeline.json")
        worked = {core: tile.units for core, tile in device.chip.loader.coprocessors.tiles.items()}
        per_us = device.chip.arch.clock_mhz
    finally:
        tt.close_device(device)
    events = json.loads((tmp_path / "timeline.json").read_text())["traceEvents"]
    tracks = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    shown = {}
    for event in events:
        if event.get("cat") == "unit":
            unit = event["pid"], tracks[event["pid"], event["tid"]]
            shown[unit] = shown.get(unit, 0) + round(event["dur"] * per_us)
    for core, units in worked.items():
        for unit in ("matrix", "packers", "unpacker0", "unpacker1"):
            assert shown[core, unit] == units[unit][1] > 0, (core, unit)
    assert {e["args"]["thread"] for e in events if e.get("cat") == "unit" and e["name"] == "MVMUL"} == {"TRISC1"}


# --- kernels of one's own

READER = """void kernel_main() {
    uint32_t page = get_arg_val<uint32_t>(0);
    cb_reserve_back(0, 1);
    volatile tt_l1_ptr uint16_t* at = (volatile tt_l1_ptr uint16_t*)get_write_ptr(0);
    for (uint32_t i = 0; i < 1024; i++) at[i] = page;
    cb_push_back(0, 1);
}"""
WRITER = """void kernel_main() {
    cb_wait_front(16, 1);
    InterleavedAddrGen<true> out = {.bank_base_address = get_arg_val<uint32_t>(0), .page_size = 2048};
    noc_async_write(get_read_ptr(16), get_noc_addr(0, out), 2048);
    noc_async_write_barrier();
    cb_pop_front(16, 1);
}"""
COMPUTE = """#include <cstdint>
#include "compute_kernel_api/common.h"
#include "api/debug/dprint.h"
#include "compute_kernel_api/tile_move_copy.h"
#include "compute_kernel_api/eltwise_unary/eltwise_unary.h"
#ifdef TRISC_MATH
#include "sfpi.h"
#include "llk_math_eltwise_unary_sfpu_params.h"
inline void doubled() {
    using namespace sfpi;
    for (int rows = 0; rows < 8; rows++) {
        vFloat value = dst_reg[0];
        v_if (value > 1.0f) { value = value * 2.0f; }
        v_endif;
        dst_reg[0] = value;
        dst_reg++;
    }
}
#endif
namespace NAMESPACE {
void MAIN {
    init_sfpu(0, 16);
    tile_regs_acquire();
    cb_wait_front(0, PAGES);
    copy_tile_to_dst_init_short(0);
    copy_tile(0, 0, 0);
    BODY
    tile_regs_commit();
    cb_pop_front(0, 1);
    cb_reserve_back(16, 1);
    tile_regs_wait();
    pack_tile(0, 16);
    cb_push_back(16, 1);
    tile_regs_release();
}
}
"""
VECTOR = "MATH((_llk_math_eltwise_unary_sfpu_params_<false>(doubled, 0, (int)VectorMode::RC)));"


def own_program(chip, value=3.0, body=VECTOR, pages=1):
    """The tile that a kernel of one's own makes of a tile full of a value, and the levels of the program's kernels."""
    from tensim.analysis.summary import collect

    device = tt.create_device(0, arch=chip, max_cycles=2_000_000)
    try:
        config = tt.InterleavedBufferConfig(device=device, size=2048, page_size=2048, buffer_type=tt.BufferType.DRAM)
        buffer, program = tt.create_buffer(config), tt.create_program()
        for index in (0, 16):
            tt.create_circular_buffer(
                program, ONE, tt.CircularBufferConfig(4096, {index: BF16}).set_page_size(index, 2048)
            )
        compute = COMPUTE.replace("BODY", body).replace("PAGES", str(pages))
        reader = tt.create_kernel_from_string(program, READER, ONE, tt.ReaderDataMovementConfig())
        writer = tt.create_kernel_from_string(program, WRITER, ONE, tt.WriterDataMovementConfig())
        tt.create_kernel_from_string(program, compute, ONE, tt.ComputeConfig())
        tt.set_runtime_args(program, reader, ONE, [int(np.float32(value).view(np.uint32)) >> 16])
        tt.set_runtime_args(program, writer, ONE, [buffer.address])
        queue = device.command_queue(0)
        tt.enqueue_program(queue, program, blocking=True)
        words = (
            np.frombuffer(bytes(tt.enqueue_read_buffer(queue, buffer, blocking=True)), np.uint16).astype(np.uint32)
            << 16
        )
        levels = [kernel["level"] for one in collect(device.chip)["programs"] for kernel in one["kernels"]]
        return words.view(np.float32), levels
    finally:
        tt.close_device(device)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("value, expected", [(3.0, 6.0), (0.5, 0.5)])
def test_a_kernel_in_sfpi_runs_without_an_option(chip, value, expected):
    words, levels = own_program(chip, value)
    assert (words == expected).all()
    assert sorted(levels) == ["instruction", "operation", "operation"]


def test_without_sources_such_a_kernel_is_refused_by_what_it_uses(monkeypatch):
    monkeypatch.delenv("TENSIM_LLK")
    with pytest.raises(KernelCompileError, match="not modelled"):
        own_program("blackhole")


def test_an_instruction_that_is_not_modelled_stops_with_its_name_and_line():
    with pytest.raises(ProgramError, match="UNKNOWN_INSTRUCTION at T1") as error:
        own_program("blackhole", body="MATH((TTI_RESOURCEDECL(0, 0, 0)));")
    assert error.value.where["thread"] == "TRISC1"


def test_a_kernel_prints_its_lines(capsys):
    own_program("blackhole", body='MATH((DPRINT << "value " << 3u << " half " << 0.5f << ENDL()));')
    assert "(0,0) TRISC1: value 3 half 0.5" in capsys.readouterr().err


def test_a_deadlock_names_the_circular_buffer():
    with pytest.raises(DeadlockError, match=r"TRISC0 .*cb_wait_front\(0") as error:
        own_program("blackhole", pages=2)
    assert "circle" not in str(error.value)


def test_a_loop_that_does_not_end_reaches_the_limit():
    with pytest.raises(CycleLimitError, match="TRISC1"):
        own_program("blackhole", body="MATH((({ volatile int on = 1; while (on) {} })));")


def test_grayskull_has_no_such_level():
    with pytest.raises(UsageError, match="grayskull"):
        run("eltwise_add", "grayskull", 1)


def test_a_capture_holds_the_programs(tmp_path, monkeypatch):
    device = tt.create_device(0, arch=load_arch("blackhole", {LEVEL: 1}))
    cycles, again = replayed(device, tmp_path / "eltwise_add.bin", monkeypatch)
    assert again == cycles
