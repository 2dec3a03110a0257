"""Reductions of tiles on one core: `reduce_accumulate`.

A spec is (arch, settings, kernel, arguments, tiles of the operand); the time is a round's: the slope
between two numbers of rounds, so start-up, 1/100 or less of the measured launch, drops out.
"""

from tensim.validation.compute import kernels as compute_kernels
from tensim.validation.compute.programs import SCALE, A, B, per_round
from tensim.validation.kernels import reduction_kernels as kernels
from tensim.validation.kernels.columns import fidelity, find, nanoseconds, one_of

DIMS = {"row": 0, "col": 1, "scalar": 2}
FAST_FROM = 4  # tiles from which `dispatch` of reduce_accumulate takes the fast way (assumed)
FEW, MANY = 3, 9


def spec(row):
    """`helper` calls reduce_tile for each tile, `fast` adds pairs up first, `dispatch` chooses by the number of tiles."""
    one_of(row, "variant", ("helper", "fast", "dispatch"))
    tiles, dim = int(find(row, r"tiles=(\d+)")[1]), DIMS[find(row, r"reduce dim=(row|col|scalar)")[1]]
    fast = row["variant"] == "fast" or (row["variant"] == "dispatch" and tiles >= FAST_FROM)
    kernel = "accumulate_then_reduce" if fast else "reduce_by_tile"
    wanted = ("Float16_b", "Float32", fidelity(row), True, False, False)  # bf16 in, fp32 out, a 32-bit Dst
    return row["arch"], wanted, kernel, (1, tiles, dim), tiles


def time_ns(arch, wanted, kernel, arguments, tiles):
    """ns of one round."""

    def build(core, rounds):
        core.buffers(A=tiles, B=1, SUM=1, SCALE=1, OUT=2, formats={"SUM": "Float32"})
        core.mover(compute_kernels.feed, (A, tiles, 1))
        core.mover(compute_kernels.feed_pair, (SCALE, B, 1), writer=True)
        core.compute(getattr(kernels, kernel), *arguments, rounds)

    return nanoseconds(arch, per_round(build, arch, wanted, FEW, MANY))
