"""Rules of compute threads: fidelity, blocks, partial and wide results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensim.analysis import what_if
from tensim.analysis.case import Advice, kernels_of
from tensim.analysis.facts import MOVERS
from tensim.analysis.what_if import Experiment
from tensim.sim.cores.numerics.data_format import DataFormat, tile_size
from tensim.sim.cores.slots import PACK_SLOT, UNPACK_SLOT
from tensim.types import MathFidelity

if TYPE_CHECKING:
    from tensim.analysis.case import Case
    from tensim.sim.chip.launch_work import BufferWork

TILES_PER_PAGE = 1.5  # packed, for each that leaves: partial results
PACKER_COUNTS, CLOSE_PACK = 0.25, 0.5  # share of the time at work of the packers from which these rules look at them
BLOCK_TILES = 4  # of a block of products that advice asks for
MANTISSA_PHASES = {  # fidelity that brings every mantissa bit of a format into the product (docs/hardware/numerics.md)
    DataFormat.Bfp2_b: MathFidelity.LoFi,
    DataFormat.Bfp4_b: MathFidelity.LoFi,
    DataFormat.Bfp8_b: MathFidelity.HiFi2,
}


def high_fidelity(case: Case) -> Advice | None:
    """More fidelity phases than the mantissas have bits for."""
    launch = case.facts.work.launch
    kernels = [] if launch is None else [one.compute for one in launch.kernels if one.compute is not None]
    operands = [one for one in case.buffers if UNPACK_SLOT in one.consumers and set(one.producers) <= set(MOVERS)]
    formats = {DataFormat(one.data_format) for one in operands}
    if (
        not kernels
        or not formats
        or not formats <= set(MANTISSA_PHASES)
        or not case.facts.work.core_counters["products"].any()
    ):
        return None
    enough = max((MANTISSA_PHASES[one] for one in formats), key=int)
    used = max(one.math_fidelity for one in kernels)
    if used <= int(enough):
        return None
    names = ", ".join(sorted(one.name for one in formats))
    return Advice(
        "high_fidelity",
        f"Use {enough.name}: {MathFidelity(used).name} brings nothing more for {names}",
        f"All mantissa bits of {names} are in the product with {enough.name}; each phase more costs as much matrix time again.",
        {"fidelity": MathFidelity(used).name, "formats": sorted(one.name for one in formats)},
        {"math_fidelity": enough.name},
        Experiment(f"fidelity_{enough.name}", f"math fidelity {enough.name}", {}, what_if.with_fidelity(int(enough))),
        kernels=kernels_of(case, (2, 3, 4)),
    )


def small_blocks(case: Case) -> Advice | None:
    """Products of single tiles, which bring both operands for each."""
    counters = case.facts.work.core_counters
    products, calls = int(counters["products"].sum()), int(counters["product_calls"].sum())
    if calls == 0 or products >= 2 * calls:
        return None
    return Advice(
        "small_blocks",
        f"Multiply blocks of {BLOCK_TILES} tiles: now {products / calls:.1f} a call",
        "A call on single tiles unpacks both operands for every product. matmul_block keeps one operand in its source register "
        "while the other streams, and is called once a block.",
        {"products": products, "calls": calls},
        {"block_tiles": BLOCK_TILES},
        Experiment(
            f"blocks_of_{BLOCK_TILES}", f"blocks of {BLOCK_TILES} tiles", what_if.larger_blocks(case.arch, BLOCK_TILES)
        ),
        kernels=kernels_of(case, (2, 3, 4)),
    )


def partial_results(case: Case) -> Advice | None:
    """Tiles packed several times before they leave the core: accumulated in L1, or spilled and loaded again by products."""
    if case.facts.units()["pack"] < PACKER_COUNTS:
        return None
    products = case.facts.work.core_counters["products"].any()
    leaving = [one for one in case.buffers if one.packed and (not products or UNPACK_SLOT not in one.consumers)]
    packed = sum(one.packed for one in case.buffers) if products else sum(one.packed for one in leaving)
    needed = sum(min(one.packed, one.pushed * _tiles_per_page(one)) for one in leaving)
    if needed == 0 or packed < TILES_PER_PAGE * needed:
        return None
    worst, factor = max((one for one in case.buffers if one.packed), key=lambda one: one.packed), packed / needed
    return Advice(
        "partial_results",
        f"Accumulate in Dst: {factor:.1f} tiles are packed for each that leaves the core",
        f"{packed:,} tiles are packed, {worst.packed:,} of them into circular buffer {worst.index}, for {needed:,} that leave the "
        "core: partial results go through L1. Keep them in the Dst registers until they are complete, and pack once.",
        {"circular_buffer": worst.index, "tiles_packed": packed, "tiles_needed": needed},
        {"packs_per_tile": 1},
        Experiment("packs_once", f"{factor:.1f} times fewer packs", what_if.fewer_packs(case.arch, factor)),
        kernels=kernels_of(case, (PACK_SLOT,)),
    )


def wide_results(case: Case) -> Advice | None:
    """32-bit tiles that keep the packer busy."""
    wide = [one for one in case.buffers if one.packed and DataFormat(one.data_format) == DataFormat.Float32]
    if case.facts.units()["pack"] < CLOSE_PACK or not wide:
        return None
    tiles = sum(one.packed for one in wide)
    return Advice(
        "wide_results",
        "Pack 16-bit results: the packer writes twice the bytes for Float32",
        f"{tiles:,} tiles of 4 KiB are packed, at 64 B a cycle and packer. As Float16_b they take half the time, and half the room "
        "and traffic after that; whether the result may have 8 bits of mantissa, only you know.",
        {"circular_buffers": [one.index for one in wide], "tiles": tiles},
        {"format": "Float16_b"},
        Experiment("half_packed", "half the bytes packed", what_if.narrower_results(case.arch)),
        kernels=kernels_of(case, (PACK_SLOT,)),
    )


def _tiles_per_page(buffer: BufferWork) -> int:
    return max(buffer.page_size // tile_size(DataFormat(buffer.data_format)), 1)
