// Pages of a tensor in DRAM to a fixed block of L1, again and again; a barrier per block.

#include <cstdint>

#include "api/dataflow/dataflow_api.h"

constexpr uint32_t cb_scratch = 0;

void kernel_main() {
    constexpr uint32_t page_bytes = get_compile_time_arg_val(0);
    constexpr uint32_t kernel_iters = get_compile_time_arg_val(1);
    constexpr uint32_t block = get_compile_time_arg_val(2);
    constexpr auto source_args = TensorAccessorArgs<3>();

    const uint32_t address = get_arg_val<uint32_t>(0);
    const uint32_t first_page = get_arg_val<uint32_t>(1);
    const uint32_t count = get_arg_val<uint32_t>(2);
    const auto source = TensorAccessor(source_args, address, page_bytes);
    const uint32_t scratch = get_write_ptr(cb_scratch);

    for (uint32_t iteration = 0; iteration < kernel_iters; iteration++) {
        uint32_t done = 0;
        while (done < count) {
            const uint32_t left = count - done;
            const uint32_t now = left < block ? left : block;
            for (uint32_t i = 0; i < now; i++) {
                noc_async_read(source.get_noc_addr(first_page + done + i), scratch + i * page_bytes, page_bytes);
            }
            noc_async_read_barrier();
            done += now;
        }
    }
}
