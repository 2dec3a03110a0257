"""The small kernels whose structure is described: what they compute is right, in the chip's own arithmetic."""

import importlib

import pytest

from tensim.validation.kernels.programs.measuring import profiled_device

WORMHOLE, BLACKHOLE = "wormhole_b0", "blackhole"
RUNS = [
    (WORMHOLE, "double_buffer", dict(dtype="bf16", tiles=16, variant="double_buffered", block=4, num_cores=3)),
    (WORMHOLE, "double_buffer", dict(dtype="bfp8_b", tiles=8, variant="single_buffered", block=8, num_cores=1)),
    (WORMHOLE, "double_buffer", dict(dtype="fp32", tiles=8, variant="double_buffered", block=1, num_cores=1)),
]


@pytest.mark.parametrize(("arch", "name", "options"), RUNS)
def test_a_program_gives_the_right_result(arch, name, options):
    program = importlib.import_module(f"tensim.validation.kernels.programs.{name}")
    with profiled_device(arch, numerics="exact") as device:
        program.check(device, **options)
