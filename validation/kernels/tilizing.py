"""Tilize in L1: `zero_copy_fold`, `handshake_elision`.

All cores of a row do the same without any traffic between them: one is simulated.
"""

from tensim.validation.compute import kernels as compute_kernels
from tensim.validation.compute.programs import OUT, A
from tensim.validation.kernels import tilizing_kernels as kernels
from tensim.validation.kernels.columns import find, nanoseconds, one_of
from tensim.validation.kernels.expressions import launch

HANDED_OVER = {"reader_compute_writer": True, "compute_only": False, "handshake": True, "no_handshake": False}
TILE = 32


def spec(row):
    """What decides the program of a row."""
    return {"zero_copy_fold": _fold, "handshake_elision": _launch}[row["example"]](row)


def _fold(row):
    """A time per iteration; `shape` is the whole tensor, a core holds rows of tiles."""
    _, columns, tiles = (int(n) for n in find(row, r"shape=(\d+)x(\d+); tiles per core=(\d+)").groups())
    width = columns // TILE
    if tiles % width:
        raise ValueError(f"column params: {tiles} tiles per core are not whole rows of {width} tiles")
    return row["arch"], HANDED_OVER[one_of(row, "variant", HANDED_OVER)], tiles // width, width, 0


def _launch(row):
    """A time per launch of so many iterations."""
    height, width = (int(n) for n in find(row, r"tiles (?:per core )?HxW=(\d+)x(\d+)").groups())
    rounds = int(find(row, r"in-kernel iterations=(\d+)")[1])
    return row["arch"], HANDED_OVER[one_of(row, "variant", HANDED_OVER)], height, width, rounds


def time_ns(arch, handed_over, height, width, rounds):
    """ns per iteration (`rounds` 0: the slope over rounds), or of a launch of so many."""
    tiles = height * width

    def build(core, some):
        core.buffers(A=tiles, OUT=tiles)
        if handed_over:
            core.mover(compute_kernels.feed, (A, tiles, some))
            core.mover(compute_kernels.drain, (OUT, tiles, some), writer=True)
        core.compute(kernels.tilize_rows if handed_over else kernels.tilize_in_place, height, width, some)

    settings = ("Float16_b", "Float16_b", "HiFi4", False, False, False)
    whole, slope = launch(build, arch, settings, rounds, lambda times: max(times.ended.values()))
    return nanoseconds(arch, whole if rounds else slope)
