"""`tensim.ttnn`: what it costs the host, beside the same program on the host API."""

import tempfile
import time
from pathlib import Path

import numpy as np

import tensim.ttnn as ttnn
from bench.start_up import PYTHON, TENSIM, seconds

KERNEL = """#include "api/dataflow/dataflow_api.h"
void kernel_main() {
    const uint32_t l1 = get_write_ptr(0);
    noc_async_read(get_noc_addr_from_bank_id<true>(0, get_arg_val<uint32_t>(0)), l1, 2048);
    noc_async_read_barrier();
    noc_async_write(l1, get_noc_addr_from_bank_id<true>(0, get_arg_val<uint32_t>(1)), 2048);
    noc_async_write_barrier();
}
"""
NOTHING = "void kernel_main() { }\n"
TTNN = f"""import numpy as np
import ttnn

device = ttnn.open_device(device_id=0)
values = np.arange(1024, dtype=np.float32).reshape(32, 32) % 256
a = ttnn.from_torch(values, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
b = ttnn.allocate_tensor_on_device(ttnn.Shape([32, 32]), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
cores = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (0, 0))])
kernel = ttnn.KernelDescriptor(
    {KERNEL!r}, ttnn.KernelDescriptor.SourceType.SOURCE_CODE, core_ranges=cores, config=ttnn.ReaderConfigDescriptor(),
    runtime_args=[((0, 0), [a.buffer_address(), b.buffer_address()])],
)
cb = ttnn.CBDescriptor(2048, cores, [ttnn.CBFormatDescriptor(0, ttnn.bfloat16, 2048)])
ttnn.generic_op([a, b], ttnn.ProgramDescriptor(kernels=[kernel], cbs=[cb]))
assert np.array_equal(np.asarray(ttnn.to_torch(b), np.float32), values)
ttnn.close_device(device)
"""
HOST = f"""import ml_dtypes
import numpy as np

import tensim as tt

device = tt.create_device(0)
queue = device.command_queue(0)
values = (np.arange(1024, dtype=np.float32) % 256).astype(ml_dtypes.bfloat16)
a, b = (tt.create_buffer(tt.InterleavedBufferConfig(device, 2048, 2048, tt.BufferType.DRAM)) for _ in range(2))
tt.enqueue_write_buffer(queue, a, values, False)
program = tt.create_program()
kernel = tt.create_kernel_from_string(
    program, {KERNEL!r}, tt.CoreCoord(0, 0),
    tt.DataMovementConfig(processor=tt.DataMovementProcessor.RISCV_1, noc=tt.NOC.RISCV_0_default),
)
tt.set_runtime_args(program, kernel, tt.CoreCoord(0, 0), [a.address, b.address])
config = tt.CircularBufferConfig(2048, {{0: tt.DataFormat.Float16_b}}).set_page_size(0, 2048)
tt.create_circular_buffer(program, tt.CoreCoord(0, 0), config)
tt.enqueue_program(queue, program, False)
found = np.zeros(1024, ml_dtypes.bfloat16)
tt.enqueue_read_buffer(queue, b, found, True)
assert np.array_equal(found, values)
tt.close_device(device)
"""


def process_seconds():
    """Seconds of warm processes: (`tensim ttnn` of a small program, the same program on the host API)."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "program.py")
        program.write_text(TTNN)
        return seconds(*TENSIM, "ttnn", str(program)), seconds(*PYTHON, HOST)


def call_seconds(count):
    """Seconds of a number of calls of a program of four cores that the cache knows, with new arguments; none simulates."""
    device = ttnn.open_device(device_id=0)
    cores = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (1, 1))])
    tensor = ttnn.from_torch(np.ones((32, 32), np.float32), ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    cycles = device.host.chip.cycle

    def program(number):
        args = ttnn.RuntimeArgs()
        for core in ttnn.corerange_to_cores(cores):
            args[core.x][core.y] = [tensor.buffer_address(), tensor.buffer_address(), number]
        kernel = ttnn.KernelDescriptor(
            NOTHING, ttnn.KernelDescriptor.SourceType.SOURCE_CODE, cores, runtime_args=args,
            config=ttnn.ReaderConfigDescriptor(),
        )  # fmt: skip
        cb = ttnn.CBDescriptor(2048, cores, [ttnn.CBFormatDescriptor(0, ttnn.bfloat16, 2048)])
        return ttnn.ProgramDescriptor(kernels=[kernel], cbs=[cb])

    ttnn.generic_op([tensor, tensor], program(0))
    begun = time.perf_counter()
    for number in range(count):
        ttnn.generic_op([tensor, tensor], program(number))
    taken = time.perf_counter() - begun
    assert device.host.chip.cycle == cycles, "calls simulated"
    ttnn.close_device(device)
    return taken
