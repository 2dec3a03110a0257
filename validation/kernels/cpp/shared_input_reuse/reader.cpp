// All chunks of tiles from DRAM, read by every core.

#include <cstdint>

#include "api/dataflow/dataflow_api.h"

constexpr uint32_t cb_in = 0;

void kernel_main() {
    constexpr uint32_t chunk_tiles = get_compile_time_arg_val(0);
    constexpr uint32_t num_chunks = get_compile_time_arg_val(1);
    constexpr auto source_args = TensorAccessorArgs<2>();
    constexpr uint32_t tile_bytes = get_tile_size(cb_in);
    const auto source = TensorAccessor(source_args, get_arg_val<uint32_t>(0), tile_bytes);

    for (uint32_t chunk = 0; chunk < num_chunks; chunk++) {
        cb_reserve_back(cb_in, chunk_tiles);
        const uint32_t target = get_write_ptr(cb_in);
        for (uint32_t tile = 0; tile < chunk_tiles; tile++) {
            noc_async_read_tile(chunk * chunk_tiles + tile, source, target + tile * tile_bytes);
        }
        noc_async_read_barrier();
        cb_push_back(cb_in, chunk_tiles);
    }
}
