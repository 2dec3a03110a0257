"""Two vectors of 32-bit integers added by a data-movement core, without the Tensix engine."""
# ruff: noqa: F403, F405

import numpy as np

import tensim as tt
from tensim.examples.common import execute, require_single_core, round_up, source_of
from tensim.examples.result import ExampleResult
from tensim.kernel_api import *
from tensim.sim.cores.numerics.data_format import DataFormat
from tensim.sim.errors import UsageError

AXES = "N"
SHAPE = "16"
GRID = "1x1"

MAX_INTEGERS = 16384  # three vectors of 64 KiB stay far below the L1 size
CB_A = 0
CB_B = 1
CB_SUM = 2


@kernel
def add_vectors(a_address, b_address, sum_address, count):
    """Read both vectors into L1, add word by word, write the sum back.  One page holds a whole vector."""
    page = 4 * count
    a_source = InterleavedAddrGen(a_address, page_size=page, dram=True)
    b_source = InterleavedAddrGen(b_address, page_size=page, dram=True)
    destination = InterleavedAddrGen(sum_address, page_size=page, dram=True)
    a_l1 = get_write_ptr(CB_A)
    b_l1 = get_write_ptr(CB_B)
    sum_l1 = get_write_ptr(CB_SUM)
    noc_async_read_page(0, a_source, a_l1)
    noc_async_read_page(0, b_source, b_l1)
    noc_async_read_barrier()
    a = l1_ptr(a_l1, uint32)
    b = l1_ptr(b_l1, uint32)
    total = l1_ptr(sum_l1, uint32)
    for i in range(count):
        total[i] = a[i] + b[i]
    noc_async_write_page(0, destination, sum_l1)
    noc_async_write_barrier()


def run(device, *, shape, dtype, fidelity, grid, rng, kernels: str = "python"):
    """`shape`: (N,) integers.  `dtype` and `fidelity` do not matter: the words are 32-bit integers."""
    (count,) = shape
    require_single_core(grid, "add_integers")
    if count > MAX_INTEGERS:
        raise UsageError(f"add_integers takes at most {MAX_INTEGERS} integers, not {count}")
    a = rng.integers(0, 2**32, count, dtype=np.uint32)
    b = rng.integers(0, 2**32, count, dtype=np.uint32)
    queue, core, nbytes = device.command_queue(0), tt.CoreCoord(0, 0), 4 * count
    config = tt.InterleavedBufferConfig(device=device, size=nbytes, page_size=nbytes, buffer_type=tt.BufferType.DRAM)
    buffers = [tt.create_buffer(config) for _ in range(3)]
    tt.enqueue_write_buffer(queue, buffers[0], a.tobytes(), blocking=False)
    tt.enqueue_write_buffer(queue, buffers[1], b.tobytes(), blocking=False)

    program = tt.create_program()
    room = round_up(nbytes, device.arch.dram_alignment)  # so that every scratch vector is aligned like DRAM
    for index in (CB_A, CB_B, CB_SUM):
        scratch = tt.CircularBufferConfig(room, {index: DataFormat.UInt32}).set_page_size(index, room)
        tt.create_circular_buffer(program, core, scratch)
    adder = tt.create_kernel(program, source_of(add_vectors, kernels), core, tt.ReaderDataMovementConfig())
    tt.set_runtime_args(program, adder, core, [buffer.address for buffer in buffers] + [count])
    execute(device, program)

    data = tt.enqueue_read_buffer(queue, buffers[2], blocking=True)
    return ExampleResult(
        expected=a + b,
        actual=np.frombuffer(bytes(data), np.uint32),
        tolerance=0.0,
        flops=count,
        bytes_moved=3 * nbytes,
        description=f"sum of two vectors of {count} integers on one RISC-V",
    )
