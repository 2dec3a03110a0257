"""A block that a core sends to the 63 others one by one; mended, by multicast."""
# ruff: noqa: F403, F405

import numpy as np

import tensim as tt
from tensim.examples import ExampleResult
from tensim.kernel_api import *

AXES, SHAPE = "N", None
ROUNDS, SIZE = 16, 8192


@kernel
def send_blocks(room, rounds, mended, receivers, x0, y0, x1, y1):
    """Behind these arguments: x, y of each receiver."""
    for _ in range(rounds):
        if mended:
            noc_async_write_multicast(room, get_noc_multicast_addr(x0, y0, x1, y1, room), 8192, receivers)
        else:
            for i in range(receivers):
                noc_async_write(room, get_noc_addr(get_arg_val(8 + 2 * i), get_arg_val(9 + 2 * i), room), 8192)
        noc_async_write_barrier()


def run(device, *, shape, dtype, fidelity, grid, rng, mended: bool = False):
    """To a row of receivers below the sender's."""
    program, sender, columns = tt.create_program(), tt.CoreCoord(0, 0), 8
    room = tt.create_buffer(
        tt.InterleavedBufferConfig(device=device, size=64 * SIZE, page_size=SIZE, buffer_type=tt.BufferType.L1)
    )
    places = [device.worker_core_from_logical_core(tt.CoreCoord(x, 1)) for x in range(columns)]
    kernel = tt.create_kernel(program, send_blocks, sender, tt.ReaderDataMovementConfig())
    corners = [places[0].x, places[0].y, places[-1].x, places[-1].y]
    arguments = [room, ROUNDS, int(mended), columns, *corners, *(value for one in places for value in (one.x, one.y))]
    tt.set_runtime_args(program, kernel, sender, arguments)
    tt.enqueue_program(device.command_queue(), program)
    tt.finish(device.command_queue())
    return ExampleResult(
        expected=np.zeros(1), actual=np.zeros(1), tolerance=0, flops=0, bytes_moved=0, description="blocks sent"
    )
