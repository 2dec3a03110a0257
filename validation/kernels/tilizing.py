"""Tilize in L1: `zero_copy_fold`, `handshake_elision`, and the chain of `compute_block_size`.

All cores of a row do the same without any traffic between them: one is simulated.
"""

import tensim as tt
from tensim.sim.cores.numerics.data_format import DataFormat, tile_size
from tensim.validation.compute import kernels as compute_kernels
from tensim.validation.compute.programs import OUT, A
from tensim.validation.kernels import tilizing_kernels as kernels
from tensim.validation.kernels.columns import fidelity, find, nanoseconds, one_of
from tensim.validation.kernels.expressions import launch

HANDED_OVER = {"reader_compute_writer": True, "compute_only": False, "handshake": True, "no_handshake": False}
RECONFIG = {"reconfig_on": 1, "reconfig_off": 0, "reconfig_on (repeat run)": 1}
TILE = 32
DST_TILES = 4  # of a section of a 32-bit Dst


def spec(row):
    """What decides the program of a row."""
    return {"zero_copy_fold": _fold, "handshake_elision": _launch, "compute_block_size": _chain}[row["example"]](row)


def _fold(row):
    """A time per iteration; `shape` is the whole tensor, a core holds rows of tiles."""
    _, columns, tiles = (int(n) for n in find(row, r"shape=(\d+)x(\d+); tiles per core=(\d+)").groups())
    width = columns // TILE
    if tiles % width:
        raise ValueError(f"column params: {tiles} tiles per core are not whole rows of {width} tiles")
    return "tilize", row["arch"], HANDED_OVER[one_of(row, "variant", HANDED_OVER)], tiles // width, width, 0


def _launch(row):
    """A time per launch of so many iterations."""
    height, width = (int(n) for n in find(row, r"tiles (?:per core )?HxW=(\d+)x(\d+)").groups())
    rounds = int(find(row, r"in-kernel iterations=(\d+)")[1])
    return "tilize", row["arch"], HANDED_OVER[one_of(row, "variant", HANDED_OVER)], height, width, rounds


def _chain(row):
    m, k, n = (int(size) for size in find(row, r"M_tiles=(\d+) K_tiles=(\d+) N_tiles=(\d+)").groups())
    rows = int(find(row, r"block_rows=(\d+)")[1])
    reconfig = RECONFIG[one_of(row, "variant", RECONFIG)]
    return "chain", row["arch"], fidelity(row), (m // rows, rows, k, n, reconfig)


def time_ns(what, arch, *arguments):
    """ns per iteration, launch or evaluation."""
    return nanoseconds(arch, {"tilize": tilize, "chain": chain}[what](arch, *arguments))


def tilize(arch, handed_over, height, width, rounds):
    """`rounds` 0: the slope over rounds; otherwise a launch of that many."""
    tiles = height * width

    def build(core, some):
        core.buffers(A=tiles, OUT=tiles)
        if handed_over:
            core.mover(compute_kernels.feed, (A, tiles, some))
            core.mover(compute_kernels.drain, (OUT, tiles, some), writer=True)
        core.compute(kernels.tilize_rows if handed_over else kernels.tilize_in_place, height, width, some)

    settings = ("Float16_b", "Float16_b", "HiFi4", False, False, False)
    whole, slope = launch(build, arch, settings, rounds, lambda times: max(times.values()))
    return whole if rounds else slope


def chain(arch, level, arguments):
    blocks, rows, k, n, _ = arguments

    def build(core, some):
        core.buffers(A=rows * k, B=rows * k, OUT=rows * n)
        page = tile_size(DataFormat.Float16_b)
        sizes = {kernels.WEIGHTS: k * n, kernels.PRODUCT: rows * n}
        sizes |= dict.fromkeys((kernels.TILED_A, kernels.TILED_B, kernels.ADDED), rows * k)
        for index, tiles in sizes.items():
            config = tt.CircularBufferConfig(tiles * page, {index: DataFormat.Float16_b}).set_page_size(index, page)
            tt.create_circular_buffer(core.program, core.cores, config)
        core.mover(kernels.feed_operands, (some * blocks, rows * k, k * n))
        core.compute(kernels.sum_then_product, *arguments, DST_TILES, some)

    return launch(build, arch, ("Float16_b", "Float16_b", level, True, False, False), 0)[1]
