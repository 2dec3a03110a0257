// Read in0 blocks from DRAM and multicast them.
//
// The core owns `valid_rows` tile rows from `first_row`; the last four arguments are the rectangle of the `receivers`.

#include "handshake.hpp"

constexpr uint32_t cb_in0 = 0;

void kernel_main() {
    constexpr uint32_t out_blocks_h = get_compile_time_arg_val(0);
    constexpr uint32_t out_blocks_w = get_compile_time_arg_val(1);
    constexpr uint32_t k_blocks = get_compile_time_arg_val(2);
    constexpr uint32_t out_block_h = get_compile_time_arg_val(3);
    constexpr uint32_t block_w = get_compile_time_arg_val(4);
    constexpr bool flush = get_compile_time_arg_val(8) != 0;
    constexpr uint32_t k_tiles = k_blocks * block_w;
    constexpr uint32_t block_tiles = out_block_h * block_w;
    constexpr uint32_t tile_bytes = get_tile_size(cb_in0);

    const uint32_t in0_address = get_arg_val<uint32_t>(0);
    const uint32_t first_row = get_arg_val<uint32_t>(1);
    const uint32_t valid_rows = get_arg_val<uint32_t>(2);
    const uint32_t receivers = get_arg_val<uint32_t>(3);
    const Rectangle to = {
        get_arg_val<uint32_t>(4), get_arg_val<uint32_t>(5), get_arg_val<uint32_t>(6), get_arg_val<uint32_t>(7)};
    const uint32_t ready = get_semaphore(get_compile_time_arg_val(5));
    const uint32_t received = get_semaphore(get_compile_time_arg_val(6));
    const InterleavedAddrGenFast<true> source = {
        .bank_base_address = in0_address, .page_size = tile_bytes, .data_format = get_dataformat(cb_in0)};

    noc_semaphore_set(reinterpret_cast<Semaphore32>(received), 1);
    for (uint32_t block_row = 0; block_row < out_blocks_h; block_row++) {
        for (uint32_t block_column = 0; block_column < out_blocks_w; block_column++) {
            for (uint32_t k = 0; k < k_blocks; k++) {
                cb_reserve_back(cb_in0, block_tiles);
                const uint32_t start = get_write_ptr(cb_in0);
                uint32_t address = start;
                for (uint32_t row = block_row * out_block_h; row < (block_row + 1) * out_block_h; row++) {
                    uint32_t page = (first_row + row) * k_tiles + k * block_w;
                    for (uint32_t column = 0; column < block_w; column++) {
                        if (row < valid_rows) {
                            noc_async_read_tile(page, source, address);
                        }
                        page++;
                        address += tile_bytes;
                    }
                }
                noc_async_read_barrier();
                if (receivers > 0) {
                    send_block(start, block_tiles * tile_bytes, ready, received, receivers, to, flush);
                }
                cb_push_back(cb_in0, block_tiles);
            }
        }
    }
    noc_async_write_barrier();
}
