// A span of each row: straight to its place, or, where source and target disagree on alignment, with what stands in
// front of it to scratch and from there by the core itself.

#include <cstdint>
#include <cstring>

#include "api/dataflow/dataflow_api.h"

constexpr uint32_t cb_scratch = 0;
constexpr uint32_t cb_out = 16;
constexpr uint32_t alignment = get_compile_time_arg_val(0);
constexpr uint32_t span_bytes = get_compile_time_arg_val(1);
constexpr uint32_t aligned_offset = get_compile_time_arg_val(2);
constexpr uint32_t misaligned_offset = get_compile_time_arg_val(3);
constexpr uint32_t residue = get_compile_time_arg_val(4);
constexpr uint32_t page_bytes = get_compile_time_arg_val(5);
constexpr uint32_t kernel_iters = get_compile_time_arg_val(6);
constexpr bool aligned = get_compile_time_arg_val(7);

static inline uint32_t up(uint32_t address) { return (address + alignment - 1) / alignment * alignment; }

void kernel_main() {
    constexpr auto source_args = TensorAccessorArgs<8>();
    const auto source = TensorAccessor(source_args, get_arg_val<uint32_t>(0), page_bytes);
    const uint32_t first_row = get_arg_val<uint32_t>(1);
    const uint32_t rows = get_arg_val<uint32_t>(2);

    for (uint32_t iteration = 0; iteration < kernel_iters; iteration++) {
        for (uint32_t row = first_row; row < first_row + rows; row++) {
            const uint64_t base = source.get_noc_addr(row);
            cb_reserve_back(cb_out, 1);
            const uint32_t target = up(get_write_ptr(cb_out));
            if constexpr (aligned) {
                noc_async_read(base + aligned_offset, target, span_bytes);
                noc_async_read_barrier();
            } else {
                cb_reserve_back(cb_scratch, 1);
                const uint32_t scratch = up(get_write_ptr(cb_scratch));
                noc_async_read(base + misaligned_offset - residue, scratch, span_bytes + residue);
                noc_async_read_barrier();
                cb_push_back(cb_scratch, 1);
                cb_wait_front(cb_scratch, 1);
                invalidate_l1_cache();
                memmove(reinterpret_cast<void*>(target), reinterpret_cast<void*>(scratch + residue), span_bytes);
                cb_pop_front(cb_scratch, 1);
            }
            cb_push_back(cb_out, 1);
        }
    }
}
