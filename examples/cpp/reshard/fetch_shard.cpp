// Fetch `rows` x `columns` tiles from tile position (first_row, first_column) into consecutive L1 pages.

#include <cstdint>

#include "dataflow_api.h"

void kernel_main() {
    constexpr uint32_t page = get_compile_time_arg_val(0);
    constexpr uint32_t pitch = get_compile_time_arg_val(1);        // tiles in a row of the tensor
    constexpr uint32_t shard_pitch = get_compile_time_arg_val(2);  // tiles in a row of the shard
    constexpr auto source_args = TensorAccessorArgs<3>();

    const uint32_t source_address = get_arg_val<uint32_t>(0);
    const uint32_t shard_address = get_arg_val<uint32_t>(1);
    const uint32_t first_row = get_arg_val<uint32_t>(2);
    const uint32_t rows = get_arg_val<uint32_t>(3);
    const uint32_t first_column = get_arg_val<uint32_t>(4);
    const uint32_t columns = get_arg_val<uint32_t>(5);

    const auto source = TensorAccessor(source_args, source_address, page);
    for (uint32_t row = 0; row < rows; row++) {
        uint32_t address = shard_address + row * shard_pitch * page;
        for (uint32_t column = 0; column < columns; column++) {
            noc_async_read_page((first_row + row) * pitch + first_column + column, source, address);
            address += page;
        }
    }
    noc_async_read_barrier();
}
