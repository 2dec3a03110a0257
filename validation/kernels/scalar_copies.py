"""Data that the RISC-V core moves itself: `transfer_alignment` (memmove of spans), `index_staging` (2-byte gathers).

The circular buffer holds two spans or rows; scratch lies behind it.  The index rows are in DRAM and read row by row, 2 bytes
per index.
"""

import numpy as np

from tensim.validation.dram.programs import Bench
from tensim.validation.kernels import scalar_kernels as kernels
from tensim.validation.kernels.columns import chip, choice, number_in

ELEMENT_BYTES = 2
RESIDUES = {"misaligned (aligned over-read to scratch then memmove on NCRISC)": 1, "aligned direct read": 0}
SCRATCH_GAP = 512 * 1024  # bytes from the first free L1 address to the scratch, beyond any circular buffer here


def spec(row):
    """(structure, chip, arguments...)."""
    return READERS[row["example"]](row)


def time_ns(structure, arch, *arguments):
    return STRUCTURES[structure](arch, *arguments)


def _alignment(row):
    residue = choice(row, "variant", RESIDUES) * number_in(row, r"residue (\d+) B")
    return "spans", chip(row), number_in(row, r"spans=(\d+)"), number_in(row, r"useful span bytes=(\d+)"), residue


def spans(arch, count, size, residue):
    """ns for `count` spans of `size` bytes from DRAM to DRAM, each behind a read barrier."""
    with Bench(arch) as bench:
        (core,) = bench.cores(1)
        page = size + max(residue, 32)
        source, target = bench.pages(page, count), bench.pages(page, count)
        bench.buffer(core, 2, size)
        bench.add(core, kernels.read_spans, (source, page, count, size, residue, bench.scratch + SCRATCH_GAP), 0, 1)
        bench.add(core, kernels.write_spans, (target, page, count, size), 1, 0)
        return bench.run_ns()


def _index(row):
    staged = choice(row, "variant", {"remote_per_index": 0, "l1_staged": 1})
    rows, width = number_in(row, r"rows=(\d+)"), number_in(row, r"W=(\d+)")
    order = "shuffled" if "dist=shuffled" in row["params"] else "sorted"
    return "gather", chip(row), rows, width, staged, order, number_in(row, r"(\d+) in-kernel iterations", default=1)


def gather(arch, rows, width, staged, order, rounds):
    """ns for rows of `width` elements picked through an index, from the whole row in L1 or 32 bytes each from DRAM.

    The indices decide addresses, so data moves.
    """
    with Bench(arch, numerics="fast") as bench:
        (core,) = bench.cores(1)
        page, random = width * ELEMENT_BYTES, np.random.default_rng(0)
        index = [np.arange(width) if order == "sorted" else random.permutation(width) for _ in range(rows)]
        data, target = bench.pages(page, rows), bench.pages(page, rows)
        indices = bench.pages(page, rows, np.asarray(index, np.uint16).tobytes())
        bench.buffer(core, 2, page)
        scratch = bench.scratch + SCRATCH_GAP
        args = (data, indices, page, rows, width, staged, rounds, scratch, scratch + width * kernels.ALIGNMENT)
        bench.add(core, kernels.gather_rows, args, 0, 1)
        bench.add(core, kernels.write_rows, (target, page, rows, rounds), 1, 0)
        return bench.run_ns()


READERS = {"transfer_alignment": _alignment, "index_staging": _index}
STRUCTURES = {"spans": spans, "gather": gather}
