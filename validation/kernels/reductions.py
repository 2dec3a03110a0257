"""Reductions of tiles on one core: `reduce_block`, `row_reduce_accumulate`, `reduce_accumulate`.

A spec is (arch, settings, kernel, arguments, tiles of the operand, format of the sum); the time is a round's: the slope
between two numbers of rounds, so start-up, 1/100 or less of the measured launch, drops out.
"""

from tensim.validation.compute import kernels as compute_kernels
from tensim.validation.compute.programs import SCALE, A, B, per_round
from tensim.validation.kernels import reduction_kernels as kernels
from tensim.validation.kernels.columns import FORMATS, fidelity, find, nanoseconds, one_of

DIMS = {"row": 0, "col": 1, "scalar": 2}
ACCUMULATE = {  # variant of row_reduce_accumulate: kernel, how
    "reduce_fold": ("reduce_by_tile", 1),
    "l1_accum": ("accumulate_then_reduce", kernels.COPY),
    "dest_accum": ("accumulate_then_reduce", kernels.ADD),
    "dest_accum_pairs": ("accumulate_then_reduce", kernels.ADD_PAIRS),
    "dest_accum_sfpu": ("accumulate_then_reduce_in_dst", kernels.ADD),
    "dest_accum_pairs_sfpu": ("accumulate_then_reduce_in_dst", kernels.ADD_PAIRS),
}
BLOCK = {
    "reduce_tile": ("reduce_by_tile", ()),
    "acc_via_add": ("reduce_by_add", (1,)),
    "inline": ("reduce_by_add", (0,)),
}
FAST_FROM = 4  # tiles from which `dispatch` of reduce_accumulate takes the fast way (assumed)
FEW, MANY = 3, 9


def settings(level, wide, dtype="Float16_b"):
    """bf16 (or `dtype`) in, fp32 out; `wide`: a 32-bit Dst."""
    return (dtype, "Float32", level, wide, False, False)


def spec(row):
    """What decides the program of a row."""
    return {
        "reduce_block": _block, "row_reduce_accumulate": _row_accumulate, "reduce_accumulate": _accumulate
    }[row["example"]](row)  # fmt: skip


def _block(row):
    """Several outputs per round (a 16-bit Dst), or several tiles into one output (a 32-bit Dst)."""
    dim = DIMS[find(row, r"dim=(row|col|scalar)", "params")[1]]
    kernel, more = BLOCK[one_of(row, "variant", BLOCK)]
    outputs, reduced, wide = 1, 0, True
    if "into one output" in row["params"]:
        reduced = int(find(row, r"reduced tiles=(\d+) into one output")[1])
    else:
        height, width, blocks = (int(size) for size in find(row, r"Ht x Wt x NC=(\d+)x(\d+)x(\d+)").groups())
        outputs = blocks * (height, width, 1)[dim]
        reduced, wide = height * width * blocks // outputs, False
    arguments = (outputs, reduced, dim)
    return row["arch"], settings(fidelity(row), wide), kernel, arguments, more, outputs * reduced, "Float32"


def _row_accumulate(row):
    kernel, how = ACCUMULATE[one_of(row, "variant", ACCUMULATE)]
    given, accumulated = find(row, r"input-accum (bf16|fp32)-(bf16|fp32)", "data_format").groups()
    tiles = int(find(row, r"row mean over (\d+) tiles")[1])
    wanted = settings(fidelity(row), True, FORMATS[given])
    return row["arch"], wanted, kernel, (how, tiles, DIMS["row"]), (), tiles, FORMATS[accumulated]


def _accumulate(row):
    """`helper` calls reduce_tile for each tile, `fast` adds pairs up first, `dispatch` chooses by the number of tiles."""
    one_of(row, "variant", ("helper", "fast", "dispatch"))
    tiles, dim = int(find(row, r"tiles=(\d+)")[1]), DIMS[find(row, r"reduce dim=(row|col|scalar)")[1]]
    fast = row["variant"] == "fast" or (row["variant"] == "dispatch" and tiles >= FAST_FROM)
    kernel, how = ACCUMULATE["dest_accum_pairs" if fast else "reduce_fold"]
    return row["arch"], settings(fidelity(row), True), kernel, (how, tiles, dim), (), tiles, "Float32"


def time_ns(arch, wanted, kernel, arguments, more, tiles, sum_format):
    """ns of one round."""

    def build(core, rounds):
        outputs = arguments[0] if kernel.startswith("reduce_by") else 1
        core.buffers(A=tiles, B=1, SUM=1, SCALE=1, OUT=2 * outputs, formats={"SUM": sum_format})
        core.mover(compute_kernels.feed, (A, tiles, 1))
        core.mover(compute_kernels.feed_pair, (SCALE, B, 1), writer=True)
        core.compute(getattr(kernels, kernel), *arguments, rounds, *more)

    return nanoseconds(arch, per_round(build, arch, wanted, FEW, MANY))
