"""Engines by their instructions: rows become programs of the vendor's calls, whose zones are measured."""

import os

import pytest

from tensim.validation.instruction import rates
from tensim.validation.instruction import rows as instruction
from tensim.validation.instruction.kernels import Threads, each_tile, text_of, zone_cycles
from tensim.validation.instruction.vector_calls import vector_call
from tensim.validation.rows import Row, Skip

needs_tree = pytest.mark.skipif("TENSIM_LLK" not in os.environ, reason="TENSIM_LLK names no LLK sources")
OPERATION = {
    "arch": "blackhole", "ttkernel_op": "", "engine": "", "input_format": "Float16_b", "output_format": "Float16_b",
    "fp32_dest_acc": "0", "extra_config": "", "unit": "", "cycles": "1",
}  # fmt: skip


def cycles(**columns):
    """What the row of an operation takes on the machine."""
    return instruction.simulate(instruction.read(Row("ops:1", 2, OPERATION | columns), "llk_ops").spec)


def test_groups_tell_engines_apart():
    groups = {
        ("mul_tiles", "math (FPU)"): "blackhole/math (matrix)", ("mul_tiles", "unpack"): "blackhole/unpack",
        ("gelu_tile", "math (SFPU)"): "blackhole/math (SFPU)", ("gelu_tile_init", "math"): "blackhole/init",
    }  # fmt: skip
    for (name, engine), group in groups.items():
        case = instruction.read(Row("ops:1", 2, OPERATION | {"ttkernel_op": name, "engine": engine}), "llk_ops")
        assert case.group == group and case.measured == 1


def test_probes_of_other_things_are_left_out():
    with pytest.raises(Skip, match="tt_fuse2 is not one coprocessor instruction"):
        rates.instruction_of_probe("tt_fuse2")
    assert rates.instruction_of_probe("tt_sfpnop") == "SFPNOP"


def test_a_zone_lies_between_two_marks():
    text = text_of(Threads(headers=("eltwise_binary",), math=each_tile("work(tile);")))
    marks = text.index("lone::begin();"), text.index("work(tile);"), text.index("lone::end(has_begun);")
    assert list(marks) == sorted(marks) and '#include "api/compute/eltwise_binary.h"' in text and "@" not in text
    assert zone_cycles([0xA0000000, 100, 0xB0000000, 350]) == 250


def test_results_belong_to_the_release_whose_calls_were_run(tmp_path, monkeypatch):
    """Results are kept by what a case says: the same row of another release's LLK is another case."""
    specs = set()
    for release in ("0.77.0", "0.81.1"):
        site = tmp_path / release
        (site / "ttnn/tt_metal/tt-llk/tt_llk_blackhole/llk_lib").mkdir(parents=True)
        (site / f"ttnn-{release}.dist-info").mkdir()
        (site / f"ttnn-{release}.dist-info/METADATA").write_text(
            f"Metadata-Version: 2.1\nName: ttnn\nVersion: {release}\n"
        )
        monkeypatch.setenv("TENSIM_LLK", str(site / "ttnn"))
        instruction.release_of_llk.cache_clear()
        case = instruction.read(
            Row("ops:1", 2, OPERATION | {"ttkernel_op": "gelu_tile", "engine": "math (SFPU)"}), "llk_ops"
        )
        assert release in case.spec
        specs.add(case.spec)
    instruction.release_of_llk.cache_clear()
    assert len(specs) == 2


@needs_tree
@pytest.mark.parametrize(
    "name, data_format, init, call",
    [
        ("gtz_tile", "Float16_b", "gtz_tile_init();", "gtz_tile(tile);"),
        ("gelu_tile", "Float16_b", "gelu_tile_init<false>();", "gelu_tile<false>(tile);"),  # its default is approximate
        ("trunc_tile", "Float32", "rounding_op_tile_init();", "trunc_tile(tile);"),
        ("add_binary_tile", "Float32", "add_binary_tile_init();", "add_binary_tile(tile, (tile ^ 1), tile);"),
        ("add_int_tile", "Int32", "add_int_tile_init();", "add_int_tile<DataFormat::Int32>(tile, (tile ^ 1), tile);"),
    ],
)
def test_calls_follow_the_declarations(name, data_format, init, call):
    found = vector_call(name, data_format)
    assert (found.init, found.call) == (init, call)


@needs_tree
def test_a_function_that_does_not_exist_is_left_out():
    with pytest.raises(Skip, match="has no nothing_tile"):
        vector_call("nothing_tile", "Float32")


@needs_tree
def test_fidelity_phases_wait_for_dst():
    """Each phase of ELWMUL waits until the one before has written its rows: 24 cycles a tile."""
    times = [
        cycles(ttkernel_op="mul_tiles", engine="math (FPU)", extra_config=f"math_fidelity={fidelity}")
        for fidelity in ("HiFi2", "HiFi3", "HiFi4")
    ]
    assert [round(later - earlier) for earlier, later in zip(times, times[1:], strict=False)] == [24, 24]


@needs_tree
def test_a_face_takes_a_vector_function_at_least_its_instructions():
    """gtz_tile: 8 instructions for each of 8 rows of lanes, and what begins and ends the call."""
    assert 64 < cycles(ttkernel_op="gtz_tile", engine="math (SFPU)") < 90


@needs_tree
def test_who_waits_for_dst_holds_the_unit_on_blackhole():
    """A thread that steps through Dst never waits for it, and is as slow as the one beside it, which always does."""
    assert rates.cycles_per_instruction("blackhole", "ELWMUL", 1, 1, steps=True) == pytest.approx(1, rel=0.05)
    assert rates.cycles_per_instruction("blackhole", "ELWMUL", 2, 1, steps=True) == pytest.approx(6, rel=0.05)
    assert rates.cycles_per_instruction("blackhole", "ELWMUL", 3, 1, steps=True) == pytest.approx(12, rel=0.05)


@needs_tree
@pytest.mark.parametrize("name, alone, shared", [("SFPMUL", 1, 3), ("ADDDMAREG", 3, 9), ("NOP", 1, 1)])
def test_threads_share_a_unit(name, alone, shared):
    assert rates.cycles_per_instruction("blackhole", name, 1, 1) == pytest.approx(alone, rel=0.05)
    assert rates.cycles_per_instruction("blackhole", name, 3, 0) == pytest.approx(shared, rel=0.05)
