"""Copies from DRAM to DRAM without compute: which cores, which pages, which NoC.

`reader_placement`, `bank_placement`.  Reads go over NoC 0 (NCRISC), writes over NoC 1
(BRISC).  Pages are shared out in runs, in the order of the cores.
"""

from tensim.examples.common import split_work
from tensim.validation.dram.programs import Bench
from tensim.validation.kernels import copy_kernels as kernels
from tensim.validation.kernels.columns import chip, choice, coordinates, find, number_in

BANKS_BOARD = "n150_row3"  # the board whose bank_near cores the rows of bank_placement list


def line(step, count):
    """`count` logical cores from (0, 0) on, `step` apart."""
    return [(i * step[0], i * step[1]) for i in range(count)]


def spec(row):
    """(structure, chip, arguments...)."""
    return READERS[row["example"]](row)


def time_ns(structure, arch, *arguments):
    return STRUCTURES[structure](arch, *arguments)


def _placement(row):
    step = choice(row, "core_placement", {"row": (1, 0), "column": (0, 1), "diagonal": (1, 1)})
    cores, size = tuple(line(step, row.integer("cores"))), row.integer("page_or_write_bytes")
    pages, block = number_in(row, r"(\d+) tiles"), number_in(row, r"(\d+) pages per barrier")
    rounds = number_in(row, r"(\d+) in-kernel iterations", default=1)
    ways = {
        "copy reads NoC0 writes NoC1": None, "read only NoC0": (False, 0), "read only NoC1": (False, 1),
        "write only NoC0": (True, 0), "write only NoC1": (True, 1),
    }  # fmt: skip
    way = choice(row, "variant", ways)
    if way is None:
        return "copy", chip(row), None, cores, size, pages, block, rounds, False
    return "one_way", chip(row), cores, size, pages, block, rounds, *way


def _banks(row):
    cores, size = tuple(coordinates(row["core_placement"])), row.integer("page_or_write_bytes")
    affine = find(row, r"^(affine|spread)\b", "variant")[1] == "affine"
    pages, block = number_in(row, r"pages=(\d+)"), number_in(row, r"(\d+) pages per barrier")
    return "copy", chip(row), BANKS_BOARD, cores, size, pages, block, 1, affine


def copy(arch, board, cores, size, pages, block, rounds, affine):
    """ns of a copy through circular buffers of two blocks; `affine`: core i has the pages of bank i, else a run of pages.

    `board`: None for the chip's default one.
    """
    with Bench(arch, {} if board is None else {"board": board}) as bench:
        source, target, banks = bench.pages(size, pages), bench.pages(size, pages), bench.arch.dram_banks
        for i, (core, (first, count)) in enumerate(zip(cores, split_work(pages, len(cores)), strict=True)):
            walk = (i, banks, len(range(i, pages, banks))) if affine else (first, 1, count)
            bench.buffer(core, 2 * block, size)
            bench.add(core, kernels.read_blocks, (source, size, *walk, block, rounds), 0, 1)
            bench.add(core, kernels.write_blocks, (target, size, *walk, block, rounds, kernels.IN), 1, 0)
        return bench.run_ns()


def one_way(arch, cores, size, pages, block, rounds, is_write, noc):
    """ns of reads alone or writes alone, to or from a fixed block of L1."""
    kernel, riscv = (kernels.write_blocks_again, 0) if is_write else (kernels.read_blocks_again, 1)
    with Bench(arch) as bench:
        address = bench.pages(size, pages)
        for core, (first, count) in zip(cores, split_work(pages, len(cores)), strict=True):
            bench.add(core, kernel, (address, size, first, count, block, rounds, bench.scratch), noc, riscv)
        return bench.run_ns()


READERS = {
    "reader_placement": _placement, "bank_placement": _banks,
}  # fmt: skip
STRUCTURES = {"copy": copy, "one_way": one_way}
