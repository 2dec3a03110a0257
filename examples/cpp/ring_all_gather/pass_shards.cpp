// Send `steps` shards to the neighbour, starting with the core's own.
//
// The core has `position` of `size` in the ring; `direction` is 1 (shards arrive from position - 1) or size - 1 (from
// position + 1).  The forward kernel also loads the core's own shard from DRAM.

#include <cstdint>

#include "dataflow_api.h"

constexpr uint32_t cb_page = 0;  // carries the page size only
constexpr uint32_t forward_semaphore = 0;
constexpr uint32_t backward_semaphore = 1;
constexpr uint32_t loaded_semaphore = 2;

void kernel_main() {
    const uint32_t source_address = get_arg_val<uint32_t>(0);
    const uint32_t gather_address = get_arg_val<uint32_t>(1);
    const uint32_t position = get_arg_val<uint32_t>(2);
    const uint32_t size = get_arg_val<uint32_t>(3);
    const uint32_t tiles = get_arg_val<uint32_t>(4);
    const uint32_t steps = get_arg_val<uint32_t>(5);
    const uint32_t direction = get_arg_val<uint32_t>(6);
    const uint32_t next_x = get_arg_val<uint32_t>(7);
    const uint32_t next_y = get_arg_val<uint32_t>(8);

    constexpr uint32_t page = get_tile_size(cb_page);
    const uint32_t shard_bytes = tiles * page;
    const bool forward = direction == 1;
    const uint32_t arrived = get_semaphore(forward ? forward_semaphore : backward_semaphore);
    auto arrived_pointer = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(arrived);
    auto loaded_pointer = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_semaphore(loaded_semaphore));

    if (forward) {
        const InterleavedAddrGenFast<true> source = {
            .bank_base_address = source_address, .page_size = page, .data_format = get_dataformat(cb_page)};
        for (uint32_t i = 0; i < tiles; i++) {
            noc_async_read_tile(position * tiles + i, source, gather_address + position * shard_bytes + i * page);
        }
        noc_async_read_barrier();
        noc_semaphore_set(loaded_pointer, 1);
    } else {
        noc_semaphore_wait(loaded_pointer, 1);
    }

    uint32_t slot = position;
    for (uint32_t step = 0; step < steps; step++) {
        noc_semaphore_wait_min(arrived_pointer, step);
        const uint32_t address = gather_address + slot * shard_bytes;
        noc_async_write(address, get_noc_addr(next_x, next_y, address), shard_bytes);
        noc_async_write_barrier();
        noc_semaphore_inc(get_noc_addr(next_x, next_y, arrived), 1);
        slot = (slot + size - direction) % size;
    }
    noc_semaphore_wait_min(arrived_pointer, steps);
    noc_async_atomic_barrier();
}
