// Bring tiles `first` ... into L1.

#include <cstdint>

#include "dataflow_api.h"

constexpr uint32_t cb_in = 0;

void kernel_main() {
    const uint32_t address = get_arg_val<uint32_t>(0);
    const uint32_t first = get_arg_val<uint32_t>(1);
    const uint32_t count = get_arg_val<uint32_t>(2);

    const InterleavedAddrGenFast<true> source = {
        .bank_base_address = address, .page_size = get_tile_size(cb_in), .data_format = get_dataformat(cb_in)};
    for (uint32_t i = first; i < first + count; i++) {
        cb_reserve_back(cb_in, 1);
        noc_async_read_tile(i, source, get_write_ptr(cb_in));
        noc_async_read_barrier();
        cb_push_back(cb_in, 1);
    }
}
