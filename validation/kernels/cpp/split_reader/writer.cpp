// Writes gathered tiles to a tensor in DRAM; when the work is split it gathers the second half of each block itself.

#include <cstdint>

#include "api/dataflow/dataflow_api.h"

constexpr uint32_t cb_first = get_compile_time_arg_val(0);
constexpr uint32_t cb_second = get_compile_time_arg_val(1);
constexpr uint32_t tiles_per_source = get_compile_time_arg_val(2);
constexpr uint32_t tile_bytes = get_compile_time_arg_val(3);
constexpr uint32_t transaction_bytes = get_compile_time_arg_val(4);
constexpr uint32_t num_cores = get_compile_time_arg_val(5);
constexpr uint32_t block_tiles = get_compile_time_arg_val(6);
constexpr uint32_t num_blocks = get_compile_time_arg_val(7);
constexpr bool split = get_compile_time_arg_val(8);
constexpr uint32_t half_tiles = block_tiles / 2;

void kernel_main() {
    constexpr auto target_args = TensorAccessorArgs<9>();
    const auto target = TensorAccessor(target_args, get_arg_val<uint32_t>(0), tile_bytes);
    const uint32_t base = get_arg_val<uint32_t>(1);
    const auto x = reinterpret_cast<const tt_l1_ptr uint32_t*>(get_arg_addr(2));
    const auto y = reinterpret_cast<const tt_l1_ptr uint32_t*>(get_arg_addr(2 + num_cores));

    for (uint32_t block = 0; block < num_blocks; block++) {
        if constexpr (split) {
            for (uint32_t i = 0; i < half_tiles; i++) {
                const uint32_t tile = block * block_tiles + half_tiles + i;
                const uint32_t core = tile / tiles_per_source;
                const uint32_t offset = tile % tiles_per_source * tile_bytes;
                cb_reserve_back(cb_second, 1);
                const uint32_t l1 = get_write_ptr(cb_second);
                for (uint32_t j = 0; j < tile_bytes / transaction_bytes; j++) {
                    const uint32_t piece = j * transaction_bytes;
                    noc_async_read(get_noc_addr(x[core], y[core], base + offset + piece), l1 + piece, transaction_bytes);
                }
                noc_async_read_barrier();
                cb_push_back(cb_second, 1);
            }
        }
        cb_wait_front(cb_first, half_tiles);
        cb_wait_front(cb_second, half_tiles);
        const uint32_t first = get_read_ptr(cb_first);
        const uint32_t second = get_read_ptr(cb_second);
        for (uint32_t i = 0; i < half_tiles; i++) {
            const uint32_t tile = block * block_tiles + i;
            noc_async_write(first + i * tile_bytes, target.get_noc_addr(tile), tile_bytes);
            noc_async_write(second + i * tile_bytes, target.get_noc_addr(tile + half_tiles), tile_bytes);
        }
        noc_async_writes_flushed();
        cb_pop_front(cb_first, half_tiles);
        cb_pop_front(cb_second, half_tiles);
    }
    noc_async_write_barrier();
}
