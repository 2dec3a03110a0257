"""Means of blocks of tiles by the matrix unit or by addition: `reduce_block`."""

import numpy as np

import tensim.ttnn as ttnn
from tensim.validation.kernels.columns import chip, fidelity, find, number_in, one_of
from tensim.validation.kernels.programs import common
from tensim.validation.kernels.programs.measuring import KERNEL

CORE = [(0, 0)]
IN, SCALER, OUT = 0, 1, 16
DIMS = {"row": 0, "col": 1, "scalar": 2}
PER_ITERATION = True
REDUCED = {1: (1, 1), 2: (1, 2), 4: (2, 2), 8: (2, 4), 16: (4, 4), 32: (4, 8)}  # blocks of so many tiles, dim "scalar"


def reduce_block(
    x, *, variant, dim, Ht, Wt, NC=1, kernel_iters=1, math_fidelity=ttnn.MathFidelity.HiFi4, accumulate_first=True
):
    """Means over a dimension of NC blocks of Ht x Wt tiles, fp32.

    `variant`: "reduce_tile", "accumulate_via_add" or "accumulate_via_add_inline".  `accumulate_first`: whether even numbers
    of tiles are accumulated from the first pair on, as later revisions of the program do.
    """
    outputs = NC * {"row": Ht, "col": Wt, "scalar": 1}[dim]
    elements = {"row": 32 * Wt, "col": 32 * Ht, "scalar": 1024 * Ht * Wt}[dim]
    shape = {"row": (NC * Ht * 32, 32), "col": (32, NC * Wt * 32), "scalar": (NC * 32, 32)}[dim]
    out = common.output_like(x, shape, ttnn.float32, memory_config=common.sharded(CORE, shape))
    config = ttnn.ComputeConfigDescriptor(math_fidelity=math_fidelity, fp32_dest_acc_en=True)
    block, via_add = [Ht, Wt, NC, DIMS[dim], kernel_iters], variant != "reduce_tile"
    cbs = [common.resident(IN, x), common.resident(OUT, out)]
    if variant == "accumulate_via_add_inline":
        words = [*block, int(accumulate_first), common.bits(1 / elements), outputs]
        kernels = [common.kernel("reduce_block", "inline", CORE, config, words)]
    else:
        words = [*block, outputs, int(via_add), int(accumulate_first), elements]
        kernels = [
            common.kernel("reduce_block", "library", CORE, config, words),
            common.kernel("reduce_block", "scaler", CORE, ttnn.ReaderConfigDescriptor(), [DIMS[dim], elements]),
        ]
        cbs.append(common.buffer(SCALER, 1, ttnn.tile_size(ttnn.float32), ttnn.float32, CORE))
    return ttnn.generic_op([x, out], ttnn.ProgramDescriptor(kernels=kernels, semaphores=[], cbs=cbs))


def spec(row):
    """Rows that state a number of output tiles are of a later revision; "acc_via_add" of the others is the inline kernel."""
    dim = find(row, r"dim=(row|col|scalar)")[1]
    variant = one_of(row, "variant", ("reduce_tile", "acc_via_add", "inline"))
    is_later = "sharded L1" in row["params"] and "output tiles=" in row["params"]
    if variant != "reduce_tile":
        variant = "accumulate_via_add" if variant == "acc_via_add" and is_later else "accumulate_via_add_inline"
    if "into one output" in row["params"]:
        reduced = number_in(row, r"reduced tiles=(\d+) into one output")
        height, width = {"row": (1, reduced), "col": (reduced, 1), "scalar": REDUCED.get(reduced, (1, reduced))}[dim]
        batches = 1
    else:
        height, width, batches = map(int, find(row, r"Ht x Wt x NC=(\d+)x(\d+)x(\d+)").groups())
    options = (
        ("variant", variant), ("dim", dim), ("Ht", height), ("Wt", width), ("NC", batches),
        ("kernel_iters", number_in(row, r"(\d+) in-kernel iterations", default=200)), ("level", fidelity(row)),
        ("accumulate_first", is_later),
    )  # fmt: skip
    return chip(row), options, KERNEL


def _input(device, Ht, Wt, NC, **ignored):
    return common.in_l1(device, (NC * Ht * 32, Wt * 32))


def prepared(device, level="HiFi4", **options):
    x = _input(device, **options)
    return lambda: reduce_block(x, math_fidelity=getattr(ttnn.MathFidelity, level), **options)


def check(device, dim, Ht, Wt, NC=1, **options):
    """Compare with numpy: a mean is one column or row of its tile, or its first element."""
    x = _input(device, Ht, Wt, NC)
    got = common.numbers(reduce_block(x, dim=dim, Ht=Ht, Wt=Wt, NC=NC, **options)).astype(np.float64)
    values = common.numbers(x).astype(np.float64).reshape(NC, Ht * 32, Wt * 32)
    if dim == "row":
        pairs = got[:, 0], values.mean(axis=2).reshape(-1)
    elif dim == "col":
        pairs = got[0].reshape(NC, Wt * 32), values.mean(axis=1)
    else:
        pairs = got[::32, 0], values.mean(axis=(1, 2))
    np.testing.assert_allclose(*pairs, atol=2e-3)
