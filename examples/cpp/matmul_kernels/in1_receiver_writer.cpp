// Receive in1 blocks from the core at physical (sender_x, sender_y), write the core's output.

#include "handshake.hpp"
#include "write_out_block.hpp"

constexpr uint32_t cb_in1 = 1;

void kernel_main() {
    constexpr uint32_t out_blocks_h = get_compile_time_arg_val(0);
    constexpr uint32_t out_blocks_w = get_compile_time_arg_val(1);
    constexpr uint32_t k_blocks = get_compile_time_arg_val(2);
    constexpr uint32_t out_block_h = get_compile_time_arg_val(3);
    constexpr uint32_t out_block_w = get_compile_time_arg_val(4);
    constexpr uint32_t block_tiles = get_compile_time_arg_val(5) * out_block_w;
    constexpr uint32_t subblock_h = get_compile_time_arg_val(6);
    constexpr uint32_t subblock_w = get_compile_time_arg_val(7);
    constexpr uint32_t n_tiles = get_compile_time_arg_val(8);
    constexpr bool writes = get_compile_time_arg_val(9) != 0;

    const uint32_t sender_x = get_arg_val<uint32_t>(0);
    const uint32_t sender_y = get_arg_val<uint32_t>(1);
    const uint32_t out_address = get_arg_val<uint32_t>(2);
    const uint32_t first_row = get_arg_val<uint32_t>(3);
    const int32_t valid_rows = get_arg_val<int32_t>(4);
    const uint32_t first_column = get_arg_val<uint32_t>(5);
    const int32_t valid_columns = get_arg_val<int32_t>(6);
    const uint64_t sender_ready = get_noc_addr(sender_x, sender_y, get_semaphore(get_compile_time_arg_val(10)));
    const uint32_t received = get_semaphore(get_compile_time_arg_val(11));
    const InterleavedAddrGenFast<true> destination = {
        .bank_base_address = out_address, .page_size = get_tile_size(cb_out), .data_format = get_dataformat(cb_out)};

    for (uint32_t block_row = 0; block_row < out_blocks_h; block_row++) {
        for (uint32_t block_column = 0; block_column < out_blocks_w; block_column++) {
            for (uint32_t k = 0; k < k_blocks; k++) {
                cb_reserve_back(cb_in1, block_tiles);
                receive_block(sender_ready, received);
                cb_push_back(cb_in1, block_tiles);
            }
            if constexpr (writes) {
                const uint32_t row0 = block_row * out_block_h;
                const uint32_t column0 = block_column * out_block_w;
                write_out_block<out_block_h, out_block_w, subblock_h, subblock_w, n_tiles>(
                    destination, first_row + row0, first_column + column0, valid_rows - row0, valid_columns - column0);
            }
        }
    }
    noc_async_write_barrier();
    noc_async_atomic_barrier();
}
