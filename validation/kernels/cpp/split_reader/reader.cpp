// Gathers tiles that lie on several cores, half a block into each of two circular buffers.

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
constexpr uint32_t first_half = get_compile_time_arg_val(8);
constexpr uint32_t num_halves = get_compile_time_arg_val(9);
constexpr uint32_t half_tiles = block_tiles / 2;

void kernel_main() {
    const uint32_t base = get_arg_val<uint32_t>(0);
    const auto x = reinterpret_cast<const tt_l1_ptr uint32_t*>(get_arg_addr(1));
    const auto y = reinterpret_cast<const tt_l1_ptr uint32_t*>(get_arg_addr(1 + num_cores));

    for (uint32_t block = 0; block < num_blocks; block++) {
        for (uint32_t half = first_half; half < first_half + num_halves; half++) {
            const uint32_t cb = half == 0 ? cb_first : cb_second;
            for (uint32_t i = 0; i < half_tiles; i++) {
                const uint32_t tile = block * block_tiles + half * half_tiles + i;
                const uint32_t core = tile / tiles_per_source;
                const uint32_t offset = tile % tiles_per_source * tile_bytes;
                cb_reserve_back(cb, 1);
                const uint32_t target = get_write_ptr(cb);
                for (uint32_t j = 0; j < tile_bytes / transaction_bytes; j++) {
                    const uint32_t piece = j * transaction_bytes;
                    noc_async_read(get_noc_addr(x[core], y[core], base + offset + piece), target + piece, transaction_bytes);
                }
                noc_async_read_barrier();
                cb_push_back(cb, 1);
            }
        }
    }
}
