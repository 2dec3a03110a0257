// All chunks of tiles from DRAM, multicast to the other cores.

#include "api/dataflow/circular_buffer.h"
#include "api/tensor/noc_traits.h"

#include "../library/mcast.h"

constexpr uint32_t cb_in = get_compile_time_arg_val(0);
constexpr uint32_t data_ready = get_compile_time_arg_val(1);
constexpr uint32_t consumer_ready = get_compile_time_arg_val(2);
constexpr uint32_t receivers = get_compile_time_arg_val(3);
constexpr uint32_t chunk_tiles = get_compile_time_arg_val(4);
constexpr uint32_t tile_bytes = get_compile_time_arg_val(5);
constexpr uint32_t num_chunks = get_compile_time_arg_val(6);

void kernel_main() {
    constexpr auto source_args = TensorAccessorArgs<7>();
    const auto source = TensorAccessor(source_args, get_arg_val<uint32_t>(0));
    McastPipe pipe(
        data_ready, consumer_ready,
        {get_arg_val<uint32_t>(1), get_arg_val<uint32_t>(2), get_arg_val<uint32_t>(3), get_arg_val<uint32_t>(4), receivers},
        false);
    Noc noc;
    CircularBuffer buffer(cb_in);

    for (uint32_t chunk = 0; chunk < num_chunks; chunk++) {
        buffer.reserve_back(chunk_tiles);
        const uint32_t target = buffer.get_write_ptr();
        for (uint32_t tile = 0; tile < chunk_tiles; tile++) {
            noc.async_read(
                source, buffer, tile_bytes, {.page_id = chunk * chunk_tiles + tile}, {.offset_bytes = tile * tile_bytes});
        }
        noc.async_read_barrier();
        pipe.send(target, chunk_tiles * tile_bytes);
        buffer.push_back(chunk_tiles);
    }
}
