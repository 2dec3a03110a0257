// Copy the own pages to their place in the own gathered tensor.

#include <cstdint>

#include "dataflow_api.h"

constexpr uint32_t cb_own = 0;
constexpr uint32_t cb_arrived = 1;

void kernel_main() {
    const uint32_t source = get_arg_val<uint32_t>(0);
    const uint32_t target = get_arg_val<uint32_t>(1);
    const uint32_t first = get_arg_val<uint32_t>(2);
    const uint32_t count = get_arg_val<uint32_t>(3);
    const uint32_t shard = get_arg_val<uint32_t>(4);

    constexpr uint32_t page = get_tile_size(cb_own);
    const InterleavedAddrGenFast<true> own = {
        .bank_base_address = source, .page_size = page, .data_format = get_dataformat(cb_own)};
    const InterleavedAddrGenFast<true> gathered = {
        .bank_base_address = target, .page_size = page, .data_format = get_dataformat(cb_own)};
    const uint32_t staged = get_write_ptr(cb_arrived);
    for (uint32_t i = first; i < first + count; i++) {
        noc_async_read_tile(i, own, staged);
        noc_async_read_barrier();
        noc_async_write_tile(shard + i, gathered, staged);
        noc_async_write_barrier();
    }
}
