"""`page_walk_order`: one core reads interleaved DRAM pages with a stride, several per barrier."""

from tensim.validation.dram.programs import Bench
from tensim.validation.kernels import copy_kernels as kernels
from tensim.validation.kernels.columns import chip, coordinates, number_in


def spec(row):
    """(chip, core, bytes of a page, pages, stride, pages per barrier)."""
    (core,) = coordinates(row["core_placement"])
    pages, block = number_in(row, r"read (\d+) DRAM"), number_in(row, r"(\d+) reads per barrier")
    stride = number_in(row, r"page stride (\d+)", "variant")
    return chip(row), core, row.integer("page_or_write_bytes"), pages, stride, block


def time_ns(arch, core, size, pages, stride, block):
    """ns for as many reads as there are pages, modulo their number: a stride of all banks stays in one."""
    with Bench(arch) as bench:
        address = bench.pages(size, pages)
        bench.add(core, kernels.walk_pages, (address, size, pages, stride, block, bench.scratch), 0, 1)
        return bench.run_ns()
