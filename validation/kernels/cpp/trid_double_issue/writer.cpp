// Pages to DRAM; a block is given back as soon as it has left.

#include <cstdint>

#include "api/dataflow/dataflow_api.h"

constexpr uint32_t cb_pages = 0;

void kernel_main() {
    constexpr uint32_t page_bytes = get_compile_time_arg_val(0);
    constexpr uint32_t kernel_iters = get_compile_time_arg_val(1);
    constexpr uint32_t block = get_compile_time_arg_val(2);
    constexpr auto target_args = TensorAccessorArgs<3>();

    const uint32_t address = get_arg_val<uint32_t>(0);
    const uint32_t first_page = get_arg_val<uint32_t>(1);
    const uint32_t count = get_arg_val<uint32_t>(2);
    const auto target = TensorAccessor(target_args, address, page_bytes);

    for (uint32_t iteration = 0; iteration < kernel_iters; iteration++) {
        uint32_t done = 0;
        while (done < count) {
            const uint32_t left = count - done;
            const uint32_t now = left < block ? left : block;
            cb_wait_front(cb_pages, now);
            const uint32_t source = get_read_ptr(cb_pages);
            for (uint32_t i = 0; i < now; i++) {
                noc_async_write(source + i * page_bytes, target.get_noc_addr(first_page + done + i), page_bytes);
            }
            noc_async_writes_flushed();
            cb_pop_front(cb_pages, now);
            done += now;
        }
    }
    noc_async_write_barrier();
}
