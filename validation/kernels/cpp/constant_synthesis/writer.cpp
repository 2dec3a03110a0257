// Rows to DRAM: those that the reader brings, or its one row again and again.

#include <cstdint>

#include "api/dataflow/dataflow_api.h"

constexpr uint32_t cb_rows = 0;

void kernel_main() {
    constexpr uint32_t page_bytes = get_compile_time_arg_val(0);
    constexpr bool synthesize = get_compile_time_arg_val(1);
    constexpr uint32_t kernel_iters = get_compile_time_arg_val(2);
    constexpr uint32_t block = get_compile_time_arg_val(3);
    constexpr auto target_args = TensorAccessorArgs<4>();

    const uint32_t address = get_arg_val<uint32_t>(0);
    const uint32_t first_row = get_arg_val<uint32_t>(1);
    const uint32_t rows = get_arg_val<uint32_t>(2);
    const auto target = TensorAccessor(target_args, address, page_bytes);

    for (uint32_t iteration = 0; iteration < kernel_iters; iteration++) {
        if constexpr (synthesize) {
            cb_wait_front(cb_rows, 1);
            const uint32_t source = get_read_ptr(cb_rows);
            uint32_t done = 0;
            while (done < rows) {
                const uint32_t left = rows - done;
                const uint32_t now = left < block ? left : block;
                for (uint32_t i = 0; i < now; i++) {
                    noc_async_write(source, target.get_noc_addr(first_row + done + i), page_bytes);
                }
                noc_async_write_barrier();
                done += now;
            }
            cb_pop_front(cb_rows, 1);
        } else {
            uint32_t done = 0;
            while (done < rows) {
                const uint32_t left = rows - done;
                const uint32_t now = left < block ? left : block;
                cb_wait_front(cb_rows, now);
                const uint32_t source = get_read_ptr(cb_rows);
                for (uint32_t i = 0; i < now; i++) {
                    noc_async_write(source + i * page_bytes, target.get_noc_addr(first_row + done + i), page_bytes);
                }
                noc_async_write_barrier();
                cb_pop_front(cb_rows, now);
                done += now;
            }
        }
    }
}
