"""Sums over groups of cores: `tensix_all_reduce`.

Groups are rectangles of cores, packed row by row; the order of a group's cores is a serpentine, row by row.  One
data-movement kernel per core (BRISC, NoC 0 unless the row names one), and a compute kernel that adds in a 32-bit Dst.
"""

import tensim as tt
from tensim.sim.arch import load_arch
from tensim.sim.chip import statistics
from tensim.sim.cores.numerics.data_format import DataFormat, tile_size
from tensim.validation.compute.programs import OUT, SUM, A, B
from tensim.validation.kernels import all_reduce_kernels as kernels
from tensim.validation.kernels.columns import find, nanoseconds, one_of

TILE = tile_size(DataFormat.Float16_b)
BOARDS = {"t3000 chip": None, "p150b": None, "13x10 grid chip": "p150_13x10"}  # None: the chip's default
VARIANTS = (
    "ring_push", "ring_pull", "unicast_all_gather", "mcast_all_gather", "reduce_root_mcast", "reduce_scatter_mcast",
    "tree_reduce_mcast",
)  # fmt: skip
CHUNK = 4
ROUNDS = 10  # of a launch of tensix_all_reduce, whose time they share


def _group(row):
    """(rows, columns, number of groups)."""
    group = find(row, r"group=(\d+)x(\d+) groups=(\d+)")
    rows, columns, count = (int(number) for number in group.groups())
    if rows * columns * count != row.integer("cores"):
        raise ValueError(f"column params has {count} groups of {rows}x{columns}, column cores says {row['cores']}")
    return rows, columns, count


def spec(row):
    """What decides the program of a row."""
    board = BOARDS[one_of(row, "board", BOARDS)]
    tiles = int(find(row, r"tiles per core=(\d+)")[1])
    return row["arch"], board, one_of(row, "variant", VARIANTS), _group(row), tiles


def time_ns(arch, board, variant, group, tiles):
    """ns of an all-reduce."""
    with Groups(arch, board, group) as groups:
        build(groups, variant, tiles)
        return nanoseconds(arch, groups.run() / ROUNDS)


def build(groups, variant, tiles):
    """Kernels and arguments of an all-reduce variant."""
    size = groups.size
    part, owners, depth = tiles, 1, size.bit_length() - 1
    if variant == "reduce_scatter_mcast":
        part = -(-tiles // size)
        owners = -(-tiles // part)
    if variant == "tree_reduce_mcast":
        groups.buffers(A=depth * tiles, B=tiles, SUM=tiles, OUT=tiles)
    else:
        groups.buffers(A=2 * size * part, B=max(tiles, owners * part), SUM=max(tiles, owners * part), OUT=part)
    last = {"reduce_scatter_mcast": owners, "tree_reduce_mcast": depth}.get(variant, 0)
    mover = groups.mover(getattr(kernels, variant), (part, size, ROUNDS, last), 0)
    sums = [core for members in groups.members for i, core in enumerate(members) if _sums(variant, i, owners)]
    kernel = kernels.add_levels if variant == "tree_reduce_mcast" else kernels.sum_blocks
    compute = groups.compute(kernel, sums, (part, size, ROUNDS, CHUNK))
    for members in groups.members:
        places = [groups.noc_xy(core) for core in members]
        for i, core in enumerate(members):
            tt.set_runtime_args(groups.program, mover, core, [i, *_arguments(variant, i, places)])
            if variant == "tree_reduce_mcast" and core in sums:
                tt.set_runtime_args(groups.program, compute, core, [_tree_levels(i, size)])


def _sums(variant, position, owners):
    """Whether the core at `position` of its group adds blocks."""
    if variant == "tree_reduce_mcast":
        return position % 2 == 0
    return position < owners if variant in ("reduce_root_mcast", "reduce_scatter_mcast") else True


def _tree_levels(position, size):
    """Levels at which a core of the tree receives: the trailing zero bits of its position."""
    return (size if position == 0 else position & -position).bit_length() - 1


def _arguments(variant, i, places):
    """Runtime arguments behind the position, from the NoC coordinates of the group's cores in order."""
    size = len(places)
    corners = (*map(min, zip(*places, strict=True)), *map(max, zip(*places, strict=True)))
    if variant == "ring_push":
        return places[(i + 1) % size]
    if variant == "ring_pull":
        return (*places[(i + 1) % size], *places[i - 1])
    packed = [x + 256 * y for x, y in places]
    if variant == "unicast_all_gather":
        return packed
    if variant == "mcast_all_gather":
        return corners
    if variant == "reduce_root_mcast":
        return (*corners, *places[0])
    if variant == "reduce_scatter_mcast":
        return (*corners, *packed)
    level = _tree_levels(i, size)
    parent = i & (i - 1)
    return (*corners, level, *places[parent], level, _tree_levels(parent, size))


class Groups:
    """A program over groups of cores of a fresh chip that moves no data."""

    def __init__(self, arch, board, group):
        rows, columns, count = group
        self.arch = load_arch(arch, {"board": board}) if board else load_arch(arch)
        self.device = tt.create_device(0, arch=self.arch, numerics="off")
        self.program, self.size = tt.create_program(), rows * columns
        across = self.arch.grid[0] // columns
        self.members = [
            _serpentine(number % across * columns, number // across * rows, columns, rows) for number in range(count)
        ]

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        tt.close_device(self.device)

    @property
    def cores(self):
        return tt.CoreRangeSet([tt.CoreRange(core, core) for members in self.members for core in members])

    def noc_xy(self, core):
        at = self.device.worker_core_from_logical_core(core)
        return int(at.x), int(at.y)

    def buffers(self, **pages):
        """Circular buffers of bf16 tiles on all cores, at the same addresses."""
        for name, tiles in pages.items():
            index = {"A": A, "B": B, "SUM": SUM, "OUT": OUT}[name]
            config = tt.CircularBufferConfig(tiles * TILE, {index: DataFormat.Float16_b}).set_page_size(index, TILE)
            tt.create_circular_buffer(self.program, self.cores, config)

    def mover(self, kernel, compile_args, noc):
        """The data-movement kernel, with two semaphores and one for each level of a tree."""
        for _ in range(2 + self.size.bit_length()):
            tt.create_semaphore(self.program, self.cores, 0)
        config = tt.DataMovementConfig(
            processor=tt.DataMovementProcessor(0), noc=tt.NOC(noc), compile_args=list(compile_args)
        )
        return tt.create_kernel(self.program, kernel, self.cores, config)

    def compute(self, kernel, cores, compile_args):
        where = tt.CoreRangeSet([tt.CoreRange(core, core) for core in cores])
        config = tt.ComputeConfig(
            math_fidelity=tt.MathFidelity.HiFi4, fp32_dest_acc_en=True, compile_args=list(compile_args)
        )
        return tt.create_kernel(self.program, kernel, where, config)

    def run(self):
        """Cycles from the first start to the last end."""
        queue = self.device.command_queue(0)
        tt.enqueue_program(queue, self.program, blocking=False)
        tt.finish(queue)
        return statistics.program_cycles(self.device.chip)


def _serpentine(x0, y0, columns, rows):
    """Logical cores of a rectangle, every other row backwards."""
    order = []
    for row in range(rows):
        line = [tt.CoreCoord(x0 + column, y0 + row) for column in range(columns)]
        order += line if row % 2 == 0 else line[::-1]
    return order
