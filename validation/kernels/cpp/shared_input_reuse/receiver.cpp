// All chunks of tiles as the injector sends them.

#include "api/dataflow/circular_buffer.h"

#include "../library/mcast.h"

constexpr uint32_t cb_in = get_compile_time_arg_val(0);
constexpr uint32_t data_ready = get_compile_time_arg_val(1);
constexpr uint32_t consumer_ready = get_compile_time_arg_val(2);
constexpr uint32_t chunk_tiles = get_compile_time_arg_val(3);
constexpr uint32_t num_chunks = get_compile_time_arg_val(4);

void kernel_main() {
    const uint32_t sender_x = get_arg_val<uint32_t>(0);
    const uint32_t sender_y = get_arg_val<uint32_t>(1);
    McastPipe pipe(data_ready, consumer_ready, {}, false);
    CircularBuffer buffer(cb_in);
    for (uint32_t chunk = 0; chunk < num_chunks; chunk++) {
        buffer.reserve_back(chunk_tiles);
        pipe.receive(sender_x, sender_y);
        buffer.push_back(chunk_tiles);
    }
}
