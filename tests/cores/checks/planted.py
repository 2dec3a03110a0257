"""Bugs planted into the kernels of the examples: a line of a kernel is replaced, and the example runs with checks."""

import linecache

import pytest

import tensim as tt
from tensim.examples import common
from tensim.running.options import Options
from tensim.running.runnable import find_program
from tensim.sim.cores.kernels.compiler import kernel_from_source
from tensim.sim.cores.riscv.kernel import CppKernel
from tensim.sim.errors import TensimError

SHAPES = {
    "add_integers": None, "dram_loopback": "160x160", "eltwise_add": "96x96", "sfpu_chain": "64x64",
    "matmul_single_core": "64x64x64", "matmul_multi_core": "256x64x256", "matmul_multicast": "128x512x128",
    "reduction_tree": "64x64", "ring_all_gather": "32x64", "stencil_halo": None, "reshard": "1024x512",
}  # fmt: skip


def run(monkeypatch, example, language="python", kernel=None, old="", new="", numerics="fast", check=True):
    """Run an example, `old` replaced by `new` wherever it stands in the kernel of that name."""
    program = find_program(example)

    def source_of(function, _):
        cpp = common.source_of(function, "cpp")
        if function.name != kernel:
            return function if language == "python" else cpp
        text = function.source if language == "python" else cpp.read_text()
        assert old in text
        text = text.replace(old, new)
        if language == "python":
            return kernel_from_source(text, kernel)
        return CppKernel(str(cpp), text, include_paths=(str(cpp.parent),))

    module = "blocked_matmul" if example.startswith("matmul_multicast") else example
    monkeypatch.setattr(f"tensim.examples.{module}.source_of", source_of)
    with tt.create_device(0, numerics=numerics, check=check) as device:
        return program.run_on(device, Options(shape=SHAPES[example]))


def finds(monkeypatch, kind, line, example, language, kernel, old, new, **options):
    """Assert that the checks stop the example, at a line of a kernel that reads so; returns the error."""
    with pytest.raises(TensimError) as caught:
        run(monkeypatch, example, language, kernel, old, new, **options)
    error = caught.value
    assert error.kind == kind, error
    where = error.where
    source = where.get("source") or linecache.getline(where["file"], where["line"])
    assert source.strip().rstrip(";") == line.rstrip(";"), error
    return error
