"""The dispatcher's time per program against published ones.

Traced, back to back, empty kernels; Wormhole 8 x 8, Blackhole 11 x 10 worker cores.  The dispatcher's parameters were
fitted on rows like these: that the steps add up is tested, nothing is predicted.
"""

import pytest

from tensim.validation.dispatch.programs import Shape, time_per_program

# architecture, program, measured ns per program, tolerance in percent
GOLDEN = [
    ("wormhole_b0", {"processors": ("brisc",), "all_cores": False}, 1571, 1),
    ("wormhole_b0", {"text_bytes": 8192}, 1571, 1),
    ("wormhole_b0", {"text_bytes": 12288}, 1848, 1),
    ("wormhole_b0", {"text_bytes": 8192, "cycles": 40_000, "fast": 4, "kernel_groups": 0}, 91711, 5),
    ("wormhole_b0", {"text_bytes": 4096, "cycles": 40_000, "fast": 4, "kernel_groups": 0}, 46108, 2),
    ("blackhole", {"text_bytes": 8192, "cycles": 40_000, "fast": 5, "kernel_groups": 0}, 81076, 5),
    ("wormhole_b0", {"cbs": 32}, 2056, 1),
    ("wormhole_b0", {"cbs": 1, "semaphores": 1}, 2024, 1),
    ("wormhole_b0", {"cbs": 1, "cb_groups": 8}, 5312, 2),
    ("wormhole_b0", {"cbs": 32, "cb_groups": 8}, 5497, 2),
    ("wormhole_b0", {"args": 1, "processors": ("brisc",)}, 3103, 1),
    ("wormhole_b0", {"args": 1}, 3102, 1),
    ("wormhole_b0", {"args": 32}, 3612, 1),
    ("wormhole_b0", {"args": 128}, 7396, 1),
    ("wormhole_b0", {"common_args": 128}, 2115, 1),
    ("wormhole_b0", {"args": 1, "kernel_groups": 8}, 7726, 4),
    ("blackhole", {"text_bytes": 12288}, 1295, 2),
    ("blackhole", {"args": 1, "all_cores": False}, 1495, 3),
    ("blackhole", {"args": 1, "processors": ("brisc",)}, 4543, 1),
    ("blackhole", {"args": 128, "processors": ("brisc",)}, 4834, 8),
    ("blackhole", {"common_args": 1}, 1663, 1),
    ("blackhole", {"semaphores": 4, "processors": ("brisc",), "all_cores": False}, 1507, 1),
    ("blackhole", {"semaphores": 4, "processors": ("brisc",)}, 1665, 1),
    ("blackhole", {"cbs": 32, "kernel_groups": 8}, 4960, 3),
]


@pytest.mark.parametrize(("arch", "shape", "measured", "percent"), GOLDEN, ids=str)
def test_time_per_traced_program(arch, shape, measured, percent):
    assert time_per_program(arch, Shape(**{"all_cores": True, **shape})) == pytest.approx(measured, rel=percent / 100)


@pytest.mark.parametrize(("text_bytes", "measured"), [(256, 2690), (8192, 5040)])
def test_host_fed_programs_are_bound_by_the_fetch(text_bytes, measured):
    """Published for Wormhole without a trace, five binaries."""
    shape = Shape(text_bytes=text_bytes, all_cores=True, traced=False)
    assert time_per_program("wormhole_b0", shape) == pytest.approx(measured, rel=0.05)
