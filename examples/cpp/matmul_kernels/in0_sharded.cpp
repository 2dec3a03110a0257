// in0 lies block-sharded in L1: the cores of a row take turns to multicast the K blocks they hold.
//
// Runtime arguments 6 ... are the physical x, y of each core of the row.  A K block as wide as the shard goes out
// straight from the shard; a narrower one is first gathered in the circular buffer, from where it need not come back.

#include "handshake.hpp"

constexpr uint32_t cb_in0 = 0;

void kernel_main() {
    constexpr uint32_t out_blocks_h = get_compile_time_arg_val(0);
    constexpr uint32_t out_blocks_w = get_compile_time_arg_val(1);
    constexpr uint32_t k_blocks = get_compile_time_arg_val(2);
    constexpr uint32_t out_block_h = get_compile_time_arg_val(3);
    constexpr uint32_t block_w = get_compile_time_arg_val(4);
    constexpr bool flush = get_compile_time_arg_val(8) != 0;
    constexpr uint32_t shard_w = get_compile_time_arg_val(9);
    constexpr uint32_t columns = get_compile_time_arg_val(10);
    constexpr uint32_t tile_bytes = get_tile_size(cb_in0);
    constexpr uint32_t block_tiles = out_block_h * block_w;
    constexpr uint32_t nbytes = block_tiles * tile_bytes;
    constexpr uint32_t row_bytes = block_w * tile_bytes;
    constexpr uint32_t blocks_per_shard = shard_w / block_w;
    constexpr bool straight = blocks_per_shard == 1 && columns > 1;

    const uint32_t shard_address = get_arg_val<uint32_t>(0);
    const uint32_t my_column = get_arg_val<uint32_t>(1);
    const Rectangle row_of_cores = {
        get_arg_val<uint32_t>(2), get_arg_val<uint32_t>(3), get_arg_val<uint32_t>(4), get_arg_val<uint32_t>(5)};
    const uint32_t ready = get_semaphore(get_compile_time_arg_val(5));
    const uint32_t received = get_semaphore(get_compile_time_arg_val(6));
    const uint32_t valid = get_semaphore(get_compile_time_arg_val(7));

    for (uint32_t block_row = 0; block_row < out_blocks_h; block_row++) {
        for (uint32_t block_column = 0; block_column < out_blocks_w; block_column++) {
            for (uint32_t k = 0; k < k_blocks; k++) {
                cb_reserve_back(cb_in0, block_tiles);
                const uint32_t start = get_write_ptr(cb_in0);
                const uint32_t owner = k / blocks_per_shard;
                noc_semaphore_set(reinterpret_cast<Semaphore32>(received), 0);
                if (owner == my_column) {
                    const uint32_t offset = block_row * out_block_h * shard_w + (k % blocks_per_shard) * block_w;
                    const uint32_t source = shard_address + offset * tile_bytes;
                    if constexpr (!straight) {
                        for (uint32_t row = 0; row < out_block_h; row++) {
                            noc_async_read(
                                get_noc_addr(source + row * shard_w * tile_bytes), start + row * row_bytes, row_bytes);
                        }
                        noc_async_read_barrier();
                    }
                    if constexpr (columns > 1) {
                        noc_semaphore_wait(reinterpret_cast<Semaphore32>(ready), columns - 1);
                        noc_semaphore_set(reinterpret_cast<Semaphore32>(ready), 0);
                        const uint64_t block_at = row_of_cores.at(start);
                        const uint64_t received_at = row_of_cores.at(received);
                        if constexpr (straight) {
                            noc_async_write_multicast_loopback_src(source, block_at, nbytes, columns, true);
                            if (flush) {
                                noc_async_writes_flushed();
                            }
                            noc_semaphore_set_multicast_loopback_src(valid, received_at, columns);
                            noc_semaphore_wait(reinterpret_cast<Semaphore32>(received), 1);
                        } else {
                            noc_async_write_multicast(start, block_at, nbytes, columns - 1, true);
                            if (flush) {
                                noc_async_writes_flushed();
                            }
                            noc_semaphore_set_multicast(valid, received_at, columns - 1);
                        }
                    }
                } else {
                    const uint32_t owner_x = get_arg_val<uint32_t>(6 + 2 * owner);
                    const uint32_t owner_y = get_arg_val<uint32_t>(7 + 2 * owner);
                    noc_semaphore_inc(get_noc_addr(owner_x, owner_y, ready), 1);
                    noc_semaphore_wait(reinterpret_cast<Semaphore32>(received), 1);
                }
                cb_push_back(cb_in0, block_tiles);
            }
        }
    }
    noc_async_write_barrier();
    noc_async_atomic_barrier();
}
