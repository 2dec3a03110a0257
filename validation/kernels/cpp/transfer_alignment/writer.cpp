// Finished spans to DRAM.

#include <cstdint>

#include "api/dataflow/dataflow_api.h"

constexpr uint32_t cb_out = 16;
constexpr uint32_t span_bytes = get_compile_time_arg_val(0);
constexpr uint32_t alignment = get_compile_time_arg_val(1);
constexpr uint32_t page_bytes = get_compile_time_arg_val(2);
constexpr uint32_t kernel_iters = get_compile_time_arg_val(3);

static inline uint32_t up(uint32_t address) { return (address + alignment - 1) / alignment * alignment; }

void kernel_main() {
    constexpr auto target_args = TensorAccessorArgs<4>();
    const auto target = TensorAccessor(target_args, get_arg_val<uint32_t>(0), page_bytes);
    const uint32_t first_row = get_arg_val<uint32_t>(1);
    const uint32_t rows = get_arg_val<uint32_t>(2);

    for (uint32_t iteration = 0; iteration < kernel_iters; iteration++) {
        for (uint32_t row = first_row; row < first_row + rows; row++) {
            cb_wait_front(cb_out, 1);
            noc_async_write(up(get_read_ptr(cb_out)), target.get_noc_addr(row), span_bytes);
            noc_async_write_barrier();
            cb_pop_front(cb_out, 1);
        }
    }
}
