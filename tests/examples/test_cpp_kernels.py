"""The examples with C++ kernels: the same results and nearly the same time as with Python kernels; captures run alone."""

import numpy as np
import pytest

import tensim as tt
from tensim.running.options import Options
from tensim.running.replay import LightMetalReplay
from tensim.running.runnable import find_program
from tensim.sim.chip.statistics import program_cycles

pytest.importorskip("ziglang", reason="C++ kernels need the extra tensim[cpp]")
SHAPES = {
    "dram_loopback": "160x160", "eltwise_add": "256x256", "sfpu_chain": "64x64", "matmul_multi_core": "640x640x640",
    "matmul_multicast": "512x512x512", "reduction_tree": "64x64", "ring_all_gather": "32x64", "stencil_halo": None,
    "reshard": "1024x512",
}  # fmt: skip
COMPILER = "no_such_compiler"


def run(name, language, shape=None):
    """(result, cycles) of an example whose kernels are in a language, with the chip's bits."""
    device = tt.create_device(0, numerics="exact")
    try:
        options = Options(shape=shape or SHAPES.get(name), parameters={"kernels": language})
        return find_program(name).run_on(device, options), program_cycles(device.chip)
    finally:
        tt.close_device(device)


@pytest.mark.parametrize("name", SHAPES)
def test_both_front_ends_agree(name):
    """Bits are equal; instructions are counted in place of estimated, so times differ a little."""
    (python, expected), (cpp, cycles) = run(name, "python"), run(name, "cpp")
    assert cpp.verified
    np.testing.assert_array_equal(cpp.actual, python.actual)
    assert cycles == pytest.approx(expected, rel=0.03)


def test_words_added_one_by_one_take_four_instructions_fewer_as_the_compiler_walks_pointers():
    """docs/validation/issue.md, "The same program with kernels of both languages"."""
    per_word = {}
    for language in ("python", "cpp"):
        few, many = (run("add_integers", language, shape)[1] for shape in ("64", "576"))
        per_word[language] = (many - few) / 512
    assert per_word["python"] - per_word["cpp"] == pytest.approx(4, abs=0.1)


def replayed(device, path, monkeypatch):
    """(cycles of a run of eltwise_add that is captured, cycles of its replay without a compiler)."""
    try:
        with tt.light_metal_capture() as captured:
            find_program("eltwise_add").run_on(device, Options(shape="64x64", parameters={"kernels": "cpp"}))
        cycles = program_cycles(device.chip)
    finally:
        tt.close_device(device)
    captured.binary.save_to_file(path)
    monkeypatch.setenv("TENSIM_CXX", COMPILER)
    monkeypatch.delenv("TENSIM_LLK", raising=False)
    replay = LightMetalReplay(str(path))
    replay.execute()
    return cycles, program_cycles(replay.chips[0])


def test_a_capture_holds_the_compiled_kernels(tmp_path, monkeypatch):
    cycles, again = replayed(tt.create_device(0), tmp_path / "eltwise_add.bin", monkeypatch)
    assert again == cycles
