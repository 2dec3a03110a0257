"""What rows of a network do not say about it: the chip's board, the grid of cores that it uses, how its products add."""

from typing import NamedTuple

from tensim.sim.arch import load_arch
from tensim.validation.rows import Skip


class Network(NamedTuple):
    """The chip, its board, the grid of cores that the network uses, whether its products add partial sums in L1, whether a relu is
    fused into its convolutions, whether those of blocks have two buffers for activations and weights, and whether rows are packed
    from tiles, and groups normalised, as an earlier release does it.

    Compute threads tell the sums apart: two products of bh_p100_dlv3 with 16 and 32 blocks of K keep theirs busy 47.0 and
    92.8 us, 47.5 and 94.0 us here with partial sums read back, 19.1 and 35.9 us with sums in L1; three of bh20_oft with 7 blocks
    take 36.5 to 38.9 us, 34.5 to 36.5 here with sums in L1, 35.8 to 44.8 without.  Packing threads of bh20_oft take as long as
    with the LLK of release 0.69 (docs/validation.md): a shard of one tile a row 63.9 us, 60.6 with that, 29.7 with that of 0.81.1.
    Its group norms of tiles take 583.0 and 221.3 us, 588.1 and 223.3 here with the kernel of 0.69, 509.5 and 218.3 with 0.81.1's.
    A convolution of blocks of bh_p100_dlv3 takes 48.7 us, 52.6 here with two buffers, 79.2 with one.
    """

    arch: str
    board: str
    grid: tuple[int, int]
    sums_in_l1: bool = True
    relu: bool = False
    double_buffered: bool = False
    earlier: bool = False


NETWORKS = {
    "bh20_oft": Network("blackhole", "p150", (5, 4), earlier=True),
    "bh_p100_dlv3": Network("blackhole", "p100", (11, 10), sums_in_l1=False, relu=True, double_buffered=True),
    "wh_clip_encoder_2": Network("wormhole_b0", "n150", (8, 8), sums_in_l1=False),
}
OLDER = {"ops_perf_results_2025_09_18_11_39_20": "a release of 2025-09, whose programs differ"}
BOARDS = {"wormhole_b0": ("n150", "n300"), "blackhole": ("p150", "p100")}  # the first is that of a network without one


def network_of(trace, arch):
    """The `Network` of a trace; one that is not known has the whole of the board that its name contains, else of the chip's first
    board.  Raises `Skip`."""
    if trace in OLDER:
        raise Skip(OLDER[trace])
    if trace in NETWORKS:
        return NETWORKS[trace]
    if arch not in BOARDS:
        raise Skip("which chip it ran on")
    board = next((name for name in BOARDS[arch] if name in trace), BOARDS[arch][0])
    return Network(arch, board, tuple(load_arch(arch, {"board": board}).grid))
