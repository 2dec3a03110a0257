// Write the final block to DRAM.

#include <cstdint>

#include "dataflow_api.h"

constexpr uint32_t cb_final = 17;

void kernel_main() {
    constexpr uint32_t rows = get_compile_time_arg_val(0);
    constexpr uint32_t columns = get_compile_time_arg_val(1);
    constexpr uint32_t pitch = get_compile_time_arg_val(2) * columns;
    const uint32_t address = get_arg_val<uint32_t>(0);
    const uint32_t x = get_arg_val<uint32_t>(1);
    const uint32_t y = get_arg_val<uint32_t>(2);

    const InterleavedAddrGenFast<true> destination = {
        .bank_base_address = address, .page_size = get_tile_size(cb_final), .data_format = get_dataformat(cb_final)};
    for (uint32_t row = y * rows; row < (y + 1) * rows; row++) {
        for (uint32_t column = x * columns; column < (x + 1) * columns; column++) {
            cb_wait_front(cb_final, 1);
            noc_async_write_tile(row * pitch + column, destination, get_read_ptr(cb_final));
            noc_async_writes_flushed();
            cb_pop_front(cb_final, 1);
        }
    }
    noc_async_write_barrier();
}
