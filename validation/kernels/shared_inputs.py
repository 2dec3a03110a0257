"""Operands that many cores need: read by each core, or read once and multicast: `mcast_topology`."""

from tensim.sim.cores.numerics.data_format import DataFormat
from tensim.validation.dram.programs import Bench
from tensim.validation.kernels import shared_input_kernels as kernels
from tensim.validation.kernels.columns import chip, choice, number_in

A, B = 0, 1
NCRISC, BRISC = 1, 0
WAYS = {"per_core_dram": False, "mcast_1d_pair": True}


def spec(row):
    """(chip, arguments...)."""
    grid = number_in(row, r"^(\d+)x", "core_placement"), number_in(row, r"^\d+x(\d+)", "core_placement")
    m, n, k = (number_in(row, rf"\b{name}=(\d+)t") for name in "MNK")
    if m % grid[1] or n % grid[0]:
        raise ValueError(f"column params: {m} x {n} tiles on {grid[0]}x{grid[1]} cores")
    return chip(row), grid, (m, n, k), row.integer("page_or_write_bytes"), choice(row, "variant", WAYS)


class Feed:
    """Circular buffer `cb` of cores, fed from DRAM over one NoC by one kind of RISC-V core."""

    def __init__(self, bench, cb, noc, riscv, size, shape, blocks):
        """`shape`: (rows, columns, pages between rows) of a block in DRAM."""
        self.bench, self.cb, self.noc, self.riscv = bench, cb, noc, riscv
        self.size, (self.rows, self.columns, self.step), self.blocks = size, shape, blocks
        self.tiles = self.rows * self.columns

    def buffer(self, core, blocks):
        self.bench.buffer(core, blocks * self.tiles, self.size, self.cb, DataFormat.Float16_b)

    def _walk(self, address, first):
        return self.cb, address, self.size, first, self.step, self.rows, self.columns, self.blocks

    def alone(self, core, address, first):
        """The core reads its blocks itself."""
        self.bench.add(core, kernels.read_alone, self._walk(address, first), self.noc, self.riscv)

    def shared(self, cores, address, first):
        """The first of the cores, which fill a rectangle, reads the blocks and multicasts them to the others."""
        bench, sender = self.bench, cores[0]
        ends = bench.noc_xy(cores[0]), bench.noc_xy(cores[-1])
        corners = ends if self.noc == 0 else ends[::-1]
        for core in cores:
            ready, received = bench.semaphore(core), bench.semaphore(core)
            if core == sender:
                args = (*self._walk(address, first), ready, received, len(cores) - 1, *corners[0], *corners[1])
                bench.add(core, kernels.read_and_send, args, self.noc, self.riscv)
            else:
                args = (self.cb, self.tiles, self.blocks, ready, received, *bench.noc_xy(sender))
                bench.add(core, kernels.receive, args, self.noc, self.riscv)


def time_ns(arch, grid, shape, size, is_multicast):
    """ns to bring each core of a grid its rows of A (NoC 0) and columns of B (NoC 1) of an M x K by K x N product."""
    (width, height), (m, n, k) = grid, shape
    rows, columns = m // height, n // width
    with Bench(arch) as bench:
        a, b = bench.pages(size, m * k), bench.pages(size, k * n)
        feed_a = Feed(bench, A, 0, NCRISC, size, (rows, k, k), 1)
        feed_b = Feed(bench, B, 1, BRISC, size, (k, columns, n), 1)
        for core in ((x, y) for y in range(height) for x in range(width)):
            feed_a.buffer(core, 1)
            feed_b.buffer(core, 1)
            if not is_multicast:
                feed_a.alone(core, a, core[1] * rows * k)
                feed_b.alone(core, b, core[0] * columns)
        if is_multicast:
            for y in range(height):
                feed_a.shared([(x, y) for x in range(width)], a, y * rows * k)
            for x in range(width):
                feed_b.shared([(x, y) for y in range(height)], b, x * columns)
        return bench.run_ns()
