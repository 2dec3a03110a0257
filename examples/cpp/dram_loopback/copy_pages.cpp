// Copy pages one after the other through an L1 scratch page.

#include <cstdint>

#include "dataflow_api.h"

constexpr uint32_t cb_scratch = 0;

void kernel_main() {
    const uint32_t source_address = get_arg_val<uint32_t>(0);
    const uint32_t destination_address = get_arg_val<uint32_t>(1);
    const uint32_t first = get_arg_val<uint32_t>(2);
    const uint32_t count = get_arg_val<uint32_t>(3);

    constexpr uint32_t page = get_tile_size(cb_scratch);
    constexpr DataFormat format = get_dataformat(cb_scratch);
    const InterleavedAddrGenFast<true> source = {
        .bank_base_address = source_address, .page_size = page, .data_format = format};
    const InterleavedAddrGenFast<true> destination = {
        .bank_base_address = destination_address, .page_size = page, .data_format = format};

    const uint32_t scratch = get_write_ptr(cb_scratch);
    for (uint32_t i = first; i < first + count; i++) {
        noc_async_read_tile(i, source, scratch);
        noc_async_read_barrier();
        noc_async_write_tile(i, destination, scratch);
        noc_async_write_barrier();
    }
}
