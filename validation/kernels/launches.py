"""Streams from DRAM to DRAM over many cores: `width_split`, `distribution_gate`.

The first `cores` cores row by row, each with an even part of the pages; the time is that of the launch.
"""

import tensim as tt
from tensim.examples.common import ceil_div
from tensim.sim.arch import load_arch
from tensim.sim.chip import statistics
from tensim.sim.cores.numerics.data_format import DataFormat, tile_size
from tensim.validation.compute.programs import OUT, A
from tensim.validation.kernels import launch_kernels as kernels
from tensim.validation.kernels.columns import find, nanoseconds, one_of

PAGE = tile_size(DataFormat.Float16_b)
TILE = 32
SPLITS = ("single_core", "height_split", "width_split", "gated")


def spec(row):
    """(arch, cores, rows of pages, columns of pages, whether they are split by columns)."""
    height, width = (int(n) // TILE for n in find(row, r"H=(\d+) W=(\d+)").groups())
    split = one_of(row, "variant", SPLITS)
    by_width = split == "width_split" or (split == "gated" and width > height)
    return row["arch"], row.integer("cores"), height, width, by_width


def time_ns(arch, cores, *arguments):
    """ns of a launch."""
    arch = load_arch(arch)
    device = tt.create_device(0, arch=arch, numerics="off")
    program = tt.create_program()
    across = arch.grid[0]
    where = [tt.CoreCoord(i % across, i // across) for i in range(cores)]
    try:
        relu(device, program, where, *arguments)
        queue = device.command_queue(0)
        tt.enqueue_program(queue, program, blocking=False)
        tt.finish(queue)
        return nanoseconds(arch.name, statistics.program_cycles(device.chip))
    finally:
        tt.close_device(device)


def relu(device, program, where, height, width, by_width):
    """Each core takes whole rows of tiles, or `by_width` whole columns."""
    cores = _setup(program, where, {A: 2, OUT: 2})
    reader = tt.create_kernel(program, kernels.read_pages, cores, tt.ReaderDataMovementConfig(compile_args=[1]))
    writer = tt.create_kernel(program, kernels.write_pages, cores, tt.WriterDataMovementConfig(compile_args=[1]))
    compute = tt.create_kernel(program, kernels.relu_tiles, cores, tt.ComputeConfig())
    source, target = (_tensor(device, height * width) for _ in range(2))
    part = ceil_div(width if by_width else height, len(where))
    for i, core in enumerate(where):
        begin, end = i * part, min((i + 1) * part, width if by_width else height)
        run = (begin, height, end - begin, width) if by_width else (begin * width, end - begin, width, width)
        tt.set_runtime_args(program, reader, core, [source, *run])
        tt.set_runtime_args(program, writer, core, [target, *run])
        tt.set_runtime_args(program, compute, core, [run[1] * run[2]])


def _setup(program, where, buffers):
    cores = tt.CoreRangeSet([tt.CoreRange(core, core) for core in where])
    for index, tiles in buffers.items():
        config = tt.CircularBufferConfig(tiles * PAGE, {index: DataFormat.Float16_b}).set_page_size(index, PAGE)
        tt.create_circular_buffer(program, cores, config)
    return cores


def _tensor(device, pages):
    """Address of interleaved pages in DRAM."""
    config = tt.InterleavedBufferConfig(
        device=device, size=pages * PAGE, page_size=PAGE, buffer_type=tt.BufferType.DRAM
    )
    return tt.create_buffer(config).address
