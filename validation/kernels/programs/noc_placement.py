"""Copies, reads alone and writes alone by a row, a column or a diagonal of cores: `noc_placement`."""

import numpy as np

import tensim.ttnn as ttnn
from tensim.validation.kernels.columns import chip, choice, number_in, one_of
from tensim.validation.kernels.programs import common
from tensim.validation.kernels.programs.dram_saturation import PAGES, copies
from tensim.validation.kernels.programs.measuring import KERNEL

STEPS = {"row": (1, 0), "column": (0, 1), "diagonal": (1, 1)}
NOCS = {"noc0": ttnn.NOC.NOC_0, "noc1": ttnn.NOC.NOC_1}
OTHER = {"noc0": "noc1", "noc1": "noc0"}
ROW_TILES = 64  # of the measured tensor, 1024x2048


def noc_placement(x, *, op="copy", noc="noc0", placement="row", num_cores=None, kernel_iters=1, block=16):
    """A copy of x, or `op` "read" or "write": pages to or from a fixed block of L1, over one NoC."""
    out = common.output_like(x)
    grid = x.device().compute_with_storage_grid_size()
    count, (dx, dy) = num_cores or min(grid.x, grid.y), STEPS[placement]
    cores = [(i * dx, i * dy) for i in range(count)]
    page, parts = x.buffer_aligned_page_size(), common.split(x.buffer_num_pages(), count)
    stream = [page, kernel_iters, block]
    reads = ttnn.DataMovementConfigDescriptor(processor=ttnn.DataMovementProcessor.RISCV_1, noc=NOCS[noc])
    if op == "copy":
        writes = ttnn.DataMovementConfigDescriptor(processor=ttnn.DataMovementProcessor.RISCV_0, noc=NOCS[OTHER[noc]])
        kernels = copies(x, out, cores, parts, stream, (reads, writes))
    else:
        writes = ttnn.DataMovementConfigDescriptor(processor=ttnn.DataMovementProcessor.RISCV_0, noc=NOCS[noc])
        tensor, config = (x, reads) if op == "read" else (out, writes)
        words = [[tensor.buffer_address(), *part] for part in parts]
        kernels = [common.kernel("noc_placement", op, cores, config, stream + common.accessor(tensor), words)]
    cbs = [common.buffer(PAGES, 2 * block if op == "copy" else block, page, x.dtype, cores)]
    return ttnn.generic_op([x, out], ttnn.ProgramDescriptor(kernels=kernels, semaphores=[], cbs=cbs))


def spec(row):
    ways = {f"{op} only NoC{n}": (op, f"noc{n}") for op in ("read", "write") for n in (0, 1)}
    op, noc = choice(row, "variant", ways | {"copy reads NoC0 writes NoC1": ("copy", "noc0")})
    options = (
        ("tiles", number_in(row, r"(\d+) tiles")), ("op", op), ("noc", noc),
        ("placement", one_of(row, "core_placement", STEPS)), ("num_cores", row.integer("cores")),
        ("kernel_iters", number_in(row, r"(\d+) in-kernel iterations", default=1)),
        ("block", number_in(row, r"(\d+) pages per barrier")),
    )  # fmt: skip
    return chip(row), options, KERNEL


def prepared(device, tiles, **options):
    x = common.random(device, (32 * (tiles // ROW_TILES), 32 * ROW_TILES))
    return lambda: noc_placement(x, **options)


def check(device, tiles, **options):
    x = common.random(device, (32 * (tiles // ROW_TILES), 32 * ROW_TILES))
    result = common.numbers(noc_placement(x, **options))
    if options["op"] == "copy":
        np.testing.assert_array_equal(result, common.numbers(x))
