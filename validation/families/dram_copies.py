"""Copies from DRAM to DRAM without compute: which cores, which pages, which NoC.

`noc_placement`, `reader_placement`, `dram_saturation`, `bank_placement`.  Reads go over NoC 0 (NCRISC), writes over NoC 1
(BRISC).  Pages are shared out in runs, in the order of the cores.
"""

from math import isqrt

from examples.common import split_work
from validation.dram_programs import Bench
from validation.families import copy_kernels as kernels
from validation.families.columns import chip, choice, coordinates, number_in

BANKS_BOARD = "n150_row3"  # the board whose bank_near cores the rows of bank_placement list
SATURATION_BLOCK = 4  # pages per barrier of dram_saturation, whose rows do not say it


def line(step, count):
    """`count` logical cores from (0, 0) on, `step` apart."""
    return [(i * step[0], i * step[1]) for i in range(count)]


def stacked(count, height=8):
    """`count` cores, column by column."""
    return [(i // height, i % height) for i in range(count)]


def spread(count):
    """`count` cores in the rectangle from (0, 0) that is nearest to a square, not wider than high."""
    width = max(divisor for divisor in range(1, isqrt(count) + 1) if count % divisor == 0)
    return [(i % width, i // width) for i in range(count)]


def spec(row):
    """(structure, chip, arguments...)."""
    return READERS[row["example"]](row)


def time_ns(structure, arch, *arguments):
    return STRUCTURES[structure](arch, *arguments)


def _saturation(row):
    place = choice(row, "core_placement", {"spread": spread, "stacked (column first)": stacked})
    cores = tuple(place(row.integer("cores")))
    return (
        "copy",
        chip(row),
        cores,
        row.integer("page_or_write_bytes"),
        number_in(row, r"\((\d+) tiles"),
        SATURATION_BLOCK,
        1,
    )


def _placement(row):
    step = choice(row, "core_placement", {"row": (1, 0), "column": (0, 1), "diagonal": (1, 1)})
    cores = tuple(line(step, row.integer("cores")))
    pages, block = number_in(row, r"(\d+) tiles"), number_in(row, r"(\d+) pages per barrier")
    rounds = number_in(row, r"(\d+) in-kernel iterations", default=1)
    size = row.integer("page_or_write_bytes")
    variant = choice(
        row,
        "variant",
        {
            "copy reads NoC0 writes NoC1": None, "read only NoC0": (0, 0), "read only NoC1": (0, 1),
            "write only NoC0": (1, 0), "write only NoC1": (1, 1),
        },
    )  # fmt: skip
    if variant is None:
        return "copy", chip(row), cores, size, pages, block, rounds
    return "one_way", chip(row), cores, size, pages, block, rounds, *variant


def _banks(row):
    cores = tuple(coordinates(row["core_placement"]))
    affine = row["variant"].startswith("affine")
    if not affine and not row["variant"].startswith("spread"):
        raise ValueError(f"column variant is {row['variant']!r}, neither affine nor spread")
    pages, block = number_in(row, r"pages=(\d+)"), number_in(row, r"(\d+) pages per barrier")
    return "bank_copy", chip(row), cores, row.integer("page_or_write_bytes"), pages, block, affine


def copy(arch, cores, size, pages, block, rounds):
    """ns of a copy through a circular buffer of two blocks."""
    with Bench(arch) as bench:
        source, target = bench.pages(size, pages), bench.pages(size, pages)
        for core, (first, count) in zip(cores, split_work(pages, len(cores)), strict=True):
            bench.buffer(core, 2 * block, size)
            bench.add(core, kernels.copy_blocks_in, (source, size, first, count, block, rounds), 0, 1)
            bench.add(core, kernels.copy_blocks_out, (target, size, first, count, block, rounds), 1, 0)
        return bench.run_ns()


def one_way(arch, cores, size, pages, block, rounds, is_write, noc):
    """ns of reads alone or writes alone, to or from a fixed block of L1."""
    kernel = kernels.write_blocks_again if is_write else kernels.read_blocks_again
    with Bench(arch) as bench:
        address = bench.pages(size, pages)
        for core, (first, count) in zip(cores, split_work(pages, len(cores)), strict=True):
            bench.add(
                core, kernel, (address, size, first, count, block, rounds, bench.scratch), noc, 0 if is_write else 1
            )
        return bench.run_ns()


def bank_copy(arch, cores, size, pages, block, affine):
    """ns of a copy in which core i copies the pages of bank i (`affine`) or a run of all banks' pages."""
    with Bench(arch, {"board": BANKS_BOARD}) as bench:
        source, target = bench.pages(size, pages), bench.pages(size, pages)
        for i, (core, (first, count)) in enumerate(zip(cores, split_work(pages, len(cores)), strict=True)):
            walk = (i, len(cores), count) if affine else (first, 1, count)
            bench.buffer(core, 2 * block, size)
            bench.add(core, kernels.read_blocks, (source, size, *walk, block), 0, 1)
            bench.add(core, kernels.write_blocks, (target, size, *walk, block, kernels.IN), 1, 0)
        return bench.run_ns()


READERS = {
    "dram_saturation": _saturation, "noc_placement": _placement, "reader_placement": _placement,
    "bank_placement": _banks,
}  # fmt: skip
STRUCTURES = {"copy": copy, "one_way": one_way, "bank_copy": bank_copy}
