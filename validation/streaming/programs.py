"""Programs of the streaming measurements: an interleaved exp over all cores, and a matmul with A height-sharded in L1."""

import tensim as tt
from tensim.examples.common import ceil_div, create_circular_buffer, grid_cores, grid_range, split_work
from tensim.examples.matmul_kernels import CB_IN0, CB_IN1, CB_OUT, CB_PARTIALS, multiply_blocks
from tensim.sim.arch import load_arch
from tensim.sim.chip import statistics
from tensim.sim.cores.numerics.data_format import DataFormat, tile_size
from tensim.validation.compute.kernels import feed
from tensim.validation.streaming import kernels

ARCH = load_arch("wormhole_b0", {"board": "n300"})  # the measured times step with every 56 tiles: 8 x 7 cores work
GRID = ARCH.grid
DOUBLE_BUFFER = 2
DST_TILES = 8  # bf16 tiles of half a destination register
WIDE_TILE = 4096  # bytes of a tile of 32-bit numbers, which ttnn keeps as wide in Dst


def run(device, program):
    """ns from the first kernel start to the last end."""
    queue = device.command_queue(0)
    tt.enqueue_program(queue, program, blocking=False)
    tt.finish(queue)
    return statistics.program_cycles(device.chip) * 1000 / device.arch.clock_mhz


def room_in_l1():
    """Bytes of a core's L1 for buffers."""
    return ARCH.l1_size - ARCH.l1_user_base


def fits_l1(tiles, dtype, tensors):
    """Whether L1 has room for so many tensors of so many tiles, shared out over all cores, beside the circular buffers."""
    page = tile_size(DataFormat[dtype])
    buffers = 2 * DOUBLE_BUFFER * page
    return tensors * ceil_div(tiles, GRID[0] * GRID[1]) * page + buffers <= room_in_l1()


def exp_time(tiles, dtype, in_l1):
    """ns of exp over `tiles` tiles from DRAM or L1: the median of a row's samples.

    Half of them have the output in DRAM, half in L1, where it fits.
    """
    outputs = (False, True) if fits_l1(tiles, dtype, 1 + in_l1) else (False,)
    return sum(stream_time(tiles, dtype, in_l1, out_l1) for out_l1 in outputs) / len(outputs)


def stream_time(tiles, dtype, in_l1, out_l1):
    """ns of exp over `tiles` tiles shared out evenly over all cores, between DRAM and L1, as ttnn runs it."""
    dtype = DataFormat[dtype]
    with tt.create_device(0, arch=ARCH, numerics="off") as device:
        source, target = (_interleaved(device, tiles, dtype, l1) for l1 in (in_l1, out_l1))
        program, cores = tt.create_program(), grid_range(GRID)
        for index in (kernels.IN, kernels.OUT):
            create_circular_buffer(program, cores, index, DOUBLE_BUFFER, dtype)
        reader = tt.create_kernel(
            program, kernels.read_pages, cores, tt.ReaderDataMovementConfig(compile_args=[int(not in_l1)])
        )
        wide = tile_size(dtype) == WIDE_TILE
        modes = [tt.UnpackToDestMode.UnpackToDestFp32 if wide else tt.UnpackToDestMode.Default]
        engine = tt.ComputeConfig(fp32_dest_acc_en=wide, unpack_to_dest_mode=modes)
        compute = tt.create_kernel(program, kernels.exponential, cores, engine)
        writer = tt.create_kernel(
            program, kernels.write_pages, cores, tt.WriterDataMovementConfig(compile_args=[int(not out_l1)])
        )
        for core, (first, count) in zip(grid_cores(GRID), split_work(tiles, GRID[0] * GRID[1]), strict=True):
            tt.set_runtime_args(program, reader, core, [source.address, first, count])
            tt.set_runtime_args(program, compute, core, [count])
            tt.set_runtime_args(program, writer, core, [target.address, first, count])
        return run(device, program)


def _interleaved(device, tiles, dtype, in_l1):
    page, memory = tile_size(dtype), tt.BufferType.L1 if in_l1 else tt.BufferType.DRAM
    return tt.create_buffer(
        tt.InterleavedBufferConfig(device=device, size=tiles * page, page_size=page, buffer_type=memory)
    )


# --- matmul


def subblock(columns):
    """(h, w) of an output subblock, the output sharded like A: a row of the output where it fits a register, or one tile."""
    return (1, columns) if columns <= DST_TILES else (1, 1)


def out_blocks(height, k, n):
    """Blocks of rows in which a core makes its output: the fewest with which ttnn takes the program to fit into L1.

    The shards of A and the output lie there; beside them it counts both operands of a block twice, and its output and
    partial sums (which the launches show not to be kept apart).
    """
    tile = tile_size(DataFormat.Float16_b)
    room = (ARCH.l1_size - ARCH.l1_user_base) // tile - height * k - height * n
    for blocks in range(1, height + 1):
        rows = height // blocks
        if height % blocks == 0 and 2 * (rows * k + k * n + rows * n) <= room:
            return blocks
    return height


def matmul_time(m, k, n, count):
    """ns of (m x k) by (k x n) tiles, m shared out over `count` cores row by row of the grid, as ttnn runs it: bf16, HiFi2.

    For each block of the output the first core reads all of B from DRAM and multicasts it to the rectangle around all
    cores; K is not divided. A lies in L1, the output stays there.
    """
    dtype, height = DataFormat.Float16_b, ceil_div(m, count)
    used, blocks = ceil_div(m, height), out_blocks(height, k, n)
    with tt.create_device(0, arch=ARCH, numerics="off") as device:
        b = _interleaved(device, k * n, dtype, False)
        program, cores = tt.create_program(), grid_cores(GRID)[:used]
        box = tt.CoreRange(cores[0], tt.CoreCoord(max(c.x for c in cores), max(c.y for c in cores)))
        _matmul_buffers(program, box, height, k, n, dtype)
        ready, received = (tt.create_semaphore(program, box, 0) for _ in range(2))
        _feed_and_multiply(program, cores, (height // blocks, k, n), blocks)
        mover = tt.DataMovementConfig(
            processor=tt.DataMovementProcessor.RISCV_0, noc=tt.NOC.NOC_0,
            compile_args=[k * n, ready, received, blocks, height * n],
        )  # fmt: skip
        places = [device.worker_core_from_logical_core(core) for core in (box.start_coord, box.end_coord)]
        # cores of the box but the sender
        others = box.end_coord.x * box.end_coord.y + box.end_coord.x + box.end_coord.y
        sender = tt.create_kernel(program, kernels.send_b, cores[0], mover)
        words = [b.address, used - 1, others, places[0].x, places[0].y, places[1].x, places[1].y]
        tt.set_runtime_args(program, sender, cores[0], words)
        if used > 1:
            receivers = tt.CoreRangeSet([tt.CoreRange(core, core) for core in cores[1:]])
            receiver = tt.create_kernel(program, kernels.receive_b, receivers, mover)
            tt.set_runtime_args(program, receiver, receivers, [places[0].x, places[0].y])
        return run(device, program)


def _matmul_buffers(program, box, height, k, n, dtype):
    for index, tiles in ((CB_IN0, height * k), (CB_IN1, k * n)):
        create_circular_buffer(program, box, index, tiles, dtype)
    page = tile_size(dtype)
    config = tt.CircularBufferConfig(height * n * page, {CB_PARTIALS: dtype, CB_OUT: dtype})
    for index in (CB_PARTIALS, CB_OUT):
        config.set_page_size(index, page)
    tt.create_circular_buffer(program, box, config)


def _feed_and_multiply(program, cores, shape, blocks):
    """The shards of A are there at once; the product, block by block of the output."""
    rows, k, n = shape
    places = tt.CoreRangeSet([tt.CoreRange(core, core) for core in cores])
    feeder = tt.DataMovementConfig(
        processor=tt.DataMovementProcessor.RISCV_1, noc=tt.NOC.NOC_1, compile_args=[CB_IN0, rows * k, blocks]
    )
    tt.create_kernel(program, feed, places, feeder)
    arguments = [blocks, 1, rows, n, k, *subblock(n), 0, 0]
    config = tt.ComputeConfig(math_fidelity=tt.MathFidelity.HiFi2, compile_args=arguments)
    tt.create_kernel(program, multiply_blocks, places, config)
