// Bring tiles `first` ... of both operands into L1, a pair at a time.

#include <cstdint>

#include "dataflow_api.h"

constexpr uint32_t cb_a = 0;
constexpr uint32_t cb_b = 1;

void kernel_main() {
    const uint32_t a_address = get_arg_val<uint32_t>(0);
    const uint32_t b_address = get_arg_val<uint32_t>(1);
    const uint32_t first = get_arg_val<uint32_t>(2);
    const uint32_t count = get_arg_val<uint32_t>(3);

    const InterleavedAddrGenFast<true> a_source = {
        .bank_base_address = a_address, .page_size = get_tile_size(cb_a), .data_format = get_dataformat(cb_a)};
    const InterleavedAddrGenFast<true> b_source = {
        .bank_base_address = b_address, .page_size = get_tile_size(cb_b), .data_format = get_dataformat(cb_b)};

    for (uint32_t i = first; i < first + count; i++) {
        cb_reserve_back(cb_a, 1);
        cb_reserve_back(cb_b, 1);
        noc_async_read_tile(i, a_source, get_write_ptr(cb_a));
        noc_async_read_tile(i, b_source, get_write_ptr(cb_b));
        noc_async_read_barrier();
        cb_push_back(cb_a, 1);
        cb_push_back(cb_b, 1);
    }
}
