// Rows from DRAM, or one row of a constant made in place.

#include <cstdint>

#include "api/dataflow/dataflow_api.h"

constexpr uint32_t cb_rows = 0;

void kernel_main() {
    constexpr uint32_t page_bytes = get_compile_time_arg_val(0);
    constexpr uint32_t value = get_compile_time_arg_val(1);
    constexpr bool synthesize = get_compile_time_arg_val(2);
    constexpr uint32_t kernel_iters = get_compile_time_arg_val(3);
    constexpr uint32_t block = get_compile_time_arg_val(4);
    constexpr auto source_args = TensorAccessorArgs<5>();

    const uint32_t address = get_arg_val<uint32_t>(0);
    const uint32_t first_row = get_arg_val<uint32_t>(1);
    const uint32_t rows = get_arg_val<uint32_t>(2);
    [[maybe_unused]] const auto source = TensorAccessor(source_args, address, page_bytes);

    for (uint32_t iteration = 0; iteration < kernel_iters; iteration++) {
        if constexpr (synthesize) {
            cb_reserve_back(cb_rows, 1);
            const uint32_t target = get_write_ptr(cb_rows);
            auto words = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(target);
            for (uint32_t i = 0; i < page_bytes / 4; i++) {
                words[i] = value << 16 | value;
            }
            if constexpr (page_bytes % 4 == 2) {
                *reinterpret_cast<volatile tt_l1_ptr uint16_t*>(target + page_bytes - 2) = value;
            }
            cb_push_back(cb_rows, 1);
        } else {
            uint32_t done = 0;
            while (done < rows) {
                const uint32_t left = rows - done;
                const uint32_t now = left < block ? left : block;
                cb_reserve_back(cb_rows, now);
                const uint32_t target = get_write_ptr(cb_rows);
                for (uint32_t i = 0; i < now; i++) {
                    noc_async_read(source.get_noc_addr(first_row + done + i), target + i * page_bytes, page_bytes);
                }
                noc_async_read_barrier();
                cb_push_back(cb_rows, now);
                done += now;
            }
        }
    }
}
