"""The dispatcher's time per program against published ones.

Traced, back to back, empty kernels; Wormhole 8 x 8, Blackhole 11 x 10 worker cores.
"""

from types import SimpleNamespace

import pytest

from sim.arch import load_arch
from sim.binding import program_cost
from sim.commands import ComputeParameters, DataMovementParameters
from sim.dispatch import Costs
from sim.environment import FS_PER_NS
from sim.program import Program, ProgramCircularBuffer, ProgramKernel

DATA_MOVEMENT = [DataMovementParameters(0, 0), DataMovementParameters(1, 1)]
COMPUTE = ComputeParameters(4, False, False, False, False)


def kernel(cores, config, text_bytes, args, common):
    compiled = SimpleNamespace(text_bytes=text_bytes)
    source = SimpleNamespace(name="empty", home=lambda defines, named: None, compile=lambda defines, named: compiled)
    return ProgramKernel(source, cores, config, {core: [0] * args for core in cores}, [0] * common)


def core_groups(grid, kernel_groups):
    """The benchmark's groups: whole columns, then single cores of the last row."""
    width, height = grid
    if kernel_groups == 1:
        return [[(x, y) for y in range(height) for x in range(width)]]
    first = width - kernel_groups + 1
    columns = [(x, y) for x in range(first) for y in range(height)]
    return [columns, *([(x, height - 1)] for x in range(first, width))]


def program(
    arch,
    *,
    one_core=False,
    brisc_only=False,
    text_bytes=256,
    args=0,
    common=0,
    cbs=0,
    cb_groups=1,
    semaphores=0,
    kernel_groups=1,
):
    """An empty program of the benchmark's shape."""
    groups = [[(0, 0)]] if one_core else core_groups(arch.grid, kernel_groups)
    result = Program(1)
    for group in groups:
        for config in DATA_MOVEMENT[:1] if brisc_only else [*DATA_MOVEMENT, COMPUTE]:
            result.add_kernel(kernel(group, config, text_bytes, args, common))
    for group in range(cb_groups if cbs else 0):
        cores = groups[0] if cb_groups == 1 else [(group, 0)]
        for index in range(cbs):
            result.circular_buffers.append(ProgramCircularBuffer(cores, 16, {index: 5}, {index: 16}, {}))
    for _ in range(semaphores):
        result.add_semaphore([(*groups[0][0], *groups[0][-1])], 0)
    return result


# architecture, program, measured ns per program, tolerance in percent
GOLDEN = [
    ("wormhole_b0", {"brisc_only": True, "one_core": True}, 1571, 1),
    ("wormhole_b0", {"text_bytes": 8192}, 1571, 1),
    ("wormhole_b0", {"text_bytes": 12288}, 1848, 1),
    ("wormhole_b0", {"cbs": 32}, 2056, 1),
    ("wormhole_b0", {"cbs": 1, "semaphores": 1}, 2024, 1),
    ("wormhole_b0", {"cbs": 1, "cb_groups": 8}, 5312, 2),
    ("wormhole_b0", {"cbs": 32, "cb_groups": 8}, 5497, 2),
    ("wormhole_b0", {"args": 1, "brisc_only": True}, 3103, 1),
    ("wormhole_b0", {"args": 1}, 3102, 1),
    ("wormhole_b0", {"args": 32}, 3612, 1),
    ("wormhole_b0", {"args": 128}, 7396, 1),
    ("wormhole_b0", {"common": 128}, 2115, 1),
    ("wormhole_b0", {"args": 1, "kernel_groups": 8}, 7726, 4),
    ("blackhole", {"text_bytes": 12288}, 1295, 2),
    ("blackhole", {"args": 1, "one_core": True}, 1495, 3),
    ("blackhole", {"args": 1, "brisc_only": True}, 4543, 1),
    ("blackhole", {"args": 128, "brisc_only": True}, 4834, 8),
    ("blackhole", {"common": 1}, 1663, 1),
    ("blackhole", {"semaphores": 4, "brisc_only": True, "one_core": True}, 1507, 1),
    ("blackhole", {"semaphores": 4, "brisc_only": True}, 1665, 1),
    ("blackhole", {"cbs": 32, "kernel_groups": 8}, 4960, 3),
]


@pytest.mark.parametrize(("name", "shape", "measured", "percent"), GOLDEN, ids=str)
def test_time_per_traced_program(name, shape, measured, percent):
    arch = load_arch(name)
    simulated = (
        Costs(arch).configuration(program_cost(program(arch, **shape).snapshot(0), arch), host_fed=False) / FS_PER_NS
    )
    assert simulated == pytest.approx(measured, rel=percent / 100)


@pytest.mark.parametrize(("text_bytes", "measured"), [(256, 2690), (8192, 5040)])
def test_host_fed_programs_are_bound_by_the_fetch(text_bytes, measured):
    """Published for Wormhole without a trace, five binaries."""
    arch = load_arch("wormhole_b0")
    simulated = (
        Costs(arch).configuration(program_cost(program(arch, text_bytes=text_bytes).snapshot(0), arch)) / FS_PER_NS
    )
    assert simulated == pytest.approx(measured, rel=0.05)
