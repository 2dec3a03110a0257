// Writes pages to another core, or in turn to all of a ring, by the call that the variant names; one barrier.

#include <cstdint>

#include "api/dataflow/dataflow_api.h"

void kernel_main() {
    constexpr uint32_t page_bytes = get_compile_time_arg_val(0);
    constexpr uint32_t pages = get_compile_time_arg_val(1);
    constexpr uint32_t kernel_iters = get_compile_time_arg_val(2);
    constexpr bool one_packet = get_compile_time_arg_val(3);
    constexpr bool spread = get_compile_time_arg_val(4);
    constexpr uint32_t num_targets = get_compile_time_arg_val(5);
    constexpr bool runtime_size = get_compile_time_arg_val(6);

    const uint32_t source = get_arg_val<uint32_t>(0);
    const uint32_t target = get_arg_val<uint32_t>(1);
    const uint32_t bytes = runtime_size ? get_arg_val<uint32_t>(2 + 2 * num_targets) : page_bytes;

    for (uint32_t iteration = 0; iteration < kernel_iters; iteration++) {
        for (uint32_t page = 0; page < pages; page++) {
            const uint32_t core = spread ? page % num_targets : 0;
            const uint32_t x = get_arg_val<uint32_t>(2 + 2 * core);
            const uint32_t y = get_arg_val<uint32_t>(3 + 2 * core);
            const uint64_t address = get_noc_addr(x, y, target + page * page_bytes);
            if constexpr (one_packet) {
                noc_async_write<page_bytes>(source + page * page_bytes, address, page_bytes);
            } else if constexpr (runtime_size) {
                noc_async_write(source + page * page_bytes, address, bytes);
            } else {
                noc_async_write(source + page * page_bytes, address, page_bytes);
            }
        }
        noc_async_write_barrier();
    }
}
