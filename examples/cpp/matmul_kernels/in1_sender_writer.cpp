// Read in1 blocks from DRAM, multicast them, write the core's output.

#include "handshake.hpp"
#include "write_out_block.hpp"

constexpr uint32_t cb_in1 = 1;

void kernel_main() {
    constexpr uint32_t out_blocks_h = get_compile_time_arg_val(0);
    constexpr uint32_t out_blocks_w = get_compile_time_arg_val(1);
    constexpr uint32_t k_blocks = get_compile_time_arg_val(2);
    constexpr uint32_t out_block_h = get_compile_time_arg_val(3);
    constexpr uint32_t out_block_w = get_compile_time_arg_val(4);
    constexpr uint32_t block_k = get_compile_time_arg_val(5);
    constexpr uint32_t subblock_h = get_compile_time_arg_val(6);
    constexpr uint32_t subblock_w = get_compile_time_arg_val(7);
    constexpr uint32_t n_tiles = get_compile_time_arg_val(8);
    constexpr bool writes = get_compile_time_arg_val(9) != 0;
    constexpr bool flush = get_compile_time_arg_val(12) != 0;
    constexpr uint32_t block_tiles = block_k * out_block_w;
    constexpr uint32_t tile_bytes = get_tile_size(cb_in1);

    const uint32_t in1_address = get_arg_val<uint32_t>(0);
    const uint32_t out_address = get_arg_val<uint32_t>(1);
    const uint32_t first_row = get_arg_val<uint32_t>(2);
    const int32_t valid_rows = get_arg_val<int32_t>(3);
    const uint32_t first_column = get_arg_val<uint32_t>(4);
    const int32_t valid_columns = get_arg_val<int32_t>(5);
    const uint32_t receivers = get_arg_val<uint32_t>(6);
    const Rectangle to = {
        get_arg_val<uint32_t>(7), get_arg_val<uint32_t>(8), get_arg_val<uint32_t>(9), get_arg_val<uint32_t>(10)};
    const uint32_t ready = get_semaphore(get_compile_time_arg_val(10));
    const uint32_t received = get_semaphore(get_compile_time_arg_val(11));
    const InterleavedAddrGenFast<true> source = {
        .bank_base_address = in1_address, .page_size = tile_bytes, .data_format = get_dataformat(cb_in1)};
    const InterleavedAddrGenFast<true> destination = {
        .bank_base_address = out_address, .page_size = get_tile_size(cb_out), .data_format = get_dataformat(cb_out)};

    noc_semaphore_set(reinterpret_cast<Semaphore32>(received), 1);
    for (uint32_t block_row = 0; block_row < out_blocks_h; block_row++) {
        for (uint32_t block_column = 0; block_column < out_blocks_w; block_column++) {
            const int32_t column0 = block_column * out_block_w;
            const int32_t left = valid_columns - column0;
            const int32_t columns = left < static_cast<int32_t>(out_block_w) ? left : static_cast<int32_t>(out_block_w);
            for (uint32_t k = 0; k < k_blocks; k++) {
                cb_reserve_back(cb_in1, block_tiles);
                const uint32_t start = get_write_ptr(cb_in1);
                uint32_t address = start;
                for (uint32_t row = k * block_k; row < (k + 1) * block_k; row++) {
                    uint32_t page = row * n_tiles + first_column + column0;
                    for (int32_t column = 0; column < static_cast<int32_t>(out_block_w); column++) {
                        if (column < columns) {
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
                cb_push_back(cb_in1, block_tiles);
            }
            if constexpr (writes) {
                const uint32_t row0 = block_row * out_block_h;
                write_out_block<out_block_h, out_block_w, subblock_h, subblock_w, n_tiles>(
                    destination, first_row + row0, first_column + column0, valid_rows - row0, columns);
            }
        }
    }
    noc_async_write_barrier();
}
