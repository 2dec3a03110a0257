// Read the core's own tiles, then make each level's arrival visible to the compute kernel.

#include <cstdint>

#include "dataflow_api.h"

constexpr uint32_t cb_own = 0;
constexpr uint32_t cb_incoming = 1;

void kernel_main() {
    const uint32_t source_address = get_arg_val<uint32_t>(0);
    const uint32_t first = get_arg_val<uint32_t>(1);
    const uint32_t tiles = get_arg_val<uint32_t>(2);
    const uint32_t levels = get_arg_val<uint32_t>(3);

    constexpr uint32_t page = get_tile_size(cb_own);
    const InterleavedAddrGenFast<true> source = {
        .bank_base_address = source_address, .page_size = page, .data_format = get_dataformat(cb_own)};

    cb_reserve_back(cb_own, tiles);
    const uint32_t own = get_write_ptr(cb_own);
    for (uint32_t i = 0; i < tiles; i++) {
        noc_async_read_tile(first + i, source, own + i * page);
    }
    noc_async_read_barrier();
    cb_push_back(cb_own, tiles);
    for (uint32_t level = 0; level < levels; level++) {
        cb_reserve_back(cb_incoming, tiles);
        noc_semaphore_wait(reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_semaphore(level)), 1);
        cb_push_back(cb_incoming, tiles);
    }
}
