"""A ttnn program: a tensor copied tile by tile by one core, twice."""

import numpy as np
import ttnn

COPY_TILES = """#include "dataflow_api.h"

void kernel_main() {
    const auto from = TensorAccessor(TensorAccessorArgs<0>(), get_arg_val<uint32_t>(0), get_tile_size(0));
    const auto to = TensorAccessor(TensorAccessorArgs<0>(), get_arg_val<uint32_t>(1), get_tile_size(0));
    for (uint32_t page = 0; page < get_arg_val<uint32_t>(2); page++) {
        cb_reserve_back(0, 1);
        noc_async_read_tile(page, from, get_write_ptr(0));
        noc_async_read_barrier();
        noc_async_write_tile(page, to, get_write_ptr(0));
        noc_async_write_barrier();
    }
}
"""


def program_of(source, target, tiles):
    """The `ProgramDescriptor` of a copy."""
    core = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (0, 0))])
    arguments = ttnn.RuntimeArgs()
    arguments[0][0] = [source.buffer_address(), target.buffer_address(), tiles]
    words = ttnn.TensorAccessorArgs(source).get_compile_time_args()
    kernel = ttnn.KernelDescriptor(
        COPY_TILES, source_type=ttnn.KernelDescriptor.SourceType.SOURCE_CODE, core_ranges=core, compile_time_args=words,
        runtime_args=arguments, config=ttnn.ReaderConfigDescriptor(),
    )  # fmt: skip
    buffers = [ttnn.CBDescriptor(2048, core, [ttnn.CBFormatDescriptor(0, ttnn.bfloat16, 2048)])]
    return ttnn.ProgramDescriptor(kernels=[kernel], cbs=buffers)


device = ttnn.open_device(device_id=0)
values = np.arange(64 * 32, dtype=np.float32).reshape(64, 32)
a = ttnn.from_torch(values, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
out = ttnn.allocate_tensor_on_device(ttnn.Shape([64, 32]), ttnn.bfloat16, ttnn.TILE_LAYOUT, device)
for _ in range(2):
    ttnn.generic_op([a, out], program_of(a, out, 2))
assert (ttnn.to_torch(out) == ttnn.to_torch(a)).all()
ttnn.close_device(device)
