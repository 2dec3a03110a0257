// Receive in0 blocks from the core at physical (sender_x, sender_y).

#include "handshake.hpp"

constexpr uint32_t cb_in0 = 0;

void kernel_main() {
    constexpr uint32_t blocks = get_compile_time_arg_val(0) * get_compile_time_arg_val(1) * get_compile_time_arg_val(2);
    constexpr uint32_t block_tiles = get_compile_time_arg_val(3) * get_compile_time_arg_val(4);
    const uint32_t sender_x = get_arg_val<uint32_t>(0);
    const uint32_t sender_y = get_arg_val<uint32_t>(1);
    const uint64_t sender_ready = get_noc_addr(sender_x, sender_y, get_semaphore(get_compile_time_arg_val(5)));
    const uint32_t received = get_semaphore(get_compile_time_arg_val(6));

    for (uint32_t i = 0; i < blocks; i++) {
        cb_reserve_back(cb_in0, block_tiles);
        receive_block(sender_ready, received);
        cb_push_back(cb_in0, block_tiles);
    }
    noc_async_atomic_barrier();
}
