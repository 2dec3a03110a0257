"""One program for `tensim.ttnn` and for the vendor's library: reader, compute and writer on four cores; it prints OK."""

import sys

import numpy as np
import ttnn

READER = """
#include "api/dataflow/dataflow_api.h"
void kernel_main() {
    const uint32_t address = get_arg_val<uint32_t>(0), first = get_arg_val<uint32_t>(1), count = get_arg_val<uint32_t>(2);
    constexpr auto args = TensorAccessorArgs<0>();
    const auto tensor = TensorAccessor(args, address, 2048);
    for (uint32_t page = first; page < first + count; page++) {
        cb_reserve_back(0, 1);
        noc_async_read_tile(page, tensor, get_write_ptr(0));
        noc_async_read_barrier();
        cb_push_back(0, 1);
    }
}
"""
COMPUTE = """
#include "api/compute/common.h"
#include "api/compute/tile_move_copy.h"
#include "api/compute/eltwise_unary/eltwise_unary.h"
#include "api/compute/eltwise_unary/relu.h"
void kernel_main() {
    const uint32_t count = get_arg_val<uint32_t>(0);
    init_sfpu(0, 16);
    relu_tile_init();
    for (uint32_t i = 0; i < count; i++) {
        tile_regs_acquire();
        cb_wait_front(0, 1);
        copy_tile(0, 0, 0);
        relu_tile(0);
        tile_regs_commit();
        tile_regs_wait();
        cb_reserve_back(16, 1);
        pack_tile(0, 16);
        cb_pop_front(0, 1);
        cb_push_back(16, 1);
        tile_regs_release();
    }
}
"""
WRITER = """
#include "api/dataflow/dataflow_api.h"
void kernel_main() {
    const uint32_t address = get_arg_val<uint32_t>(0), first = get_arg_val<uint32_t>(1), count = get_arg_val<uint32_t>(2);
    constexpr auto args = TensorAccessorArgs<0>();
    const auto tensor = TensorAccessor(args, address, 2048);
    for (uint32_t page = first; page < first + count; page++) {
        cb_wait_front(16, 1);
        noc_async_write_tile(page, tensor, get_read_ptr(16));
        noc_async_write_barrier();
        cb_pop_front(16, 1);
    }
}
"""


def put(values, device):
    return ttnn.Tensor(values.reshape(-1).tolist(), list(values.shape), ttnn.bfloat16, ttnn.TILE_LAYOUT).to(device)


def main():
    device = ttnn.open_device(device_id=0)
    values = np.random.default_rng(0).integers(-128, 128, (1, 1, 256, 256)).astype(np.float32)
    source, target = put(values, device), put(np.zeros_like(values), device)
    pages = values.size // 1024
    each = pages // 4
    cores = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(1, 1))])
    args = {0: ttnn.RuntimeArgs(), 1: ttnn.RuntimeArgs(), 2: ttnn.RuntimeArgs()}
    for number, (x, y) in enumerate([(0, 0), (1, 0), (0, 1), (1, 1)]):
        args[0][x][y] = [source.buffer_address(), number * each, each]
        args[1][x][y] = [target.buffer_address(), number * each, each]
        args[2][x][y] = [each]

    def kernel(text, number, config, tensor=None):
        words = [] if tensor is None else ttnn.TensorAccessorArgs(tensor).get_compile_time_args()
        return ttnn.KernelDescriptor(
            kernel_source=text, source_type=ttnn.KernelDescriptor.SourceType.SOURCE_CODE, core_ranges=cores,
            compile_time_args=words, runtime_args=args[number], config=config,
        )  # fmt: skip

    buffers = [
        ttnn.CBDescriptor(
            total_size=2 * 2048, core_ranges=cores,
            format_descriptors=[ttnn.CBFormatDescriptor(buffer_index=index, data_format=ttnn.bfloat16, page_size=2048)],
        )
        for index in (0, 16)
    ]  # fmt: skip
    kernels = [
        kernel(READER, 0, ttnn.ReaderConfigDescriptor(), source),
        kernel(WRITER, 1, ttnn.WriterConfigDescriptor(), target),
        kernel(COMPUTE, 2, ttnn.ComputeConfigDescriptor()),
    ]
    for _ in range(2):
        ttnn.generic_op([source, target], ttnn.ProgramDescriptor(kernels=kernels, semaphores=[], cbs=buffers))
    found = np.array(target.cpu().to(ttnn.ROW_MAJOR_LAYOUT).to_list()).reshape(values.shape)
    assert np.array_equal(found, np.maximum(values, 0))
    ttnn.close_device(device)
    print("OK", *sys.argv[1:])


main()
