// Write the results to DRAM.

#include <cstdint>

#include "dataflow_api.h"

constexpr uint32_t cb_out = 16;

void kernel_main() {
    const uint32_t address = get_arg_val<uint32_t>(0);
    const uint32_t first = get_arg_val<uint32_t>(1);
    const uint32_t count = get_arg_val<uint32_t>(2);

    const InterleavedAddrGenFast<true> destination = {
        .bank_base_address = address, .page_size = get_tile_size(cb_out), .data_format = get_dataformat(cb_out)};
    for (uint32_t i = first; i < first + count; i++) {
        cb_wait_front(cb_out, 1);
        noc_async_write_tile(i, destination, get_read_ptr(cb_out));
        noc_async_writes_flushed();
        cb_pop_front(cb_out, 1);
    }
    noc_async_write_barrier();
}
