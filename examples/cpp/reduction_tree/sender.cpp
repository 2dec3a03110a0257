// Send the partial sum to the parent; the root writes the total to DRAM.

#include <cstdint>

#include "dataflow_api.h"

constexpr uint32_t cb_result = 16;

void kernel_main() {
    const uint32_t tiles = get_arg_val<uint32_t>(0);
    const uint32_t level = get_arg_val<uint32_t>(1);
    const bool is_root = get_arg_val<uint32_t>(2) != 0;
    const uint32_t incoming_address = get_arg_val<uint32_t>(3);
    const uint32_t parent_x = get_arg_val<uint32_t>(4);
    const uint32_t parent_y = get_arg_val<uint32_t>(5);
    const uint32_t result_address = get_arg_val<uint32_t>(6);

    constexpr uint32_t page = get_tile_size(cb_result);
    cb_wait_front(cb_result, tiles);
    const uint32_t result = get_read_ptr(cb_result);
    if (is_root) {
        const InterleavedAddrGenFast<true> destination = {
            .bank_base_address = result_address, .page_size = page, .data_format = get_dataformat(cb_result)};
        for (uint32_t i = 0; i < tiles; i++) {
            noc_async_write_tile(i, destination, result + i * page);
        }
        noc_async_write_barrier();
    } else {
        const uint32_t slot = incoming_address + level * tiles * page;
        noc_async_write(result, get_noc_addr(parent_x, parent_y, slot), tiles * page);
        noc_async_write_barrier();
        noc_semaphore_inc(get_noc_addr(parent_x, parent_y, get_semaphore(level)), 1);
        noc_async_atomic_barrier();
    }
    cb_pop_front(cb_result, tiles);
}
