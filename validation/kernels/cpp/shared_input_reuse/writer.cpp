// The core's tile to DRAM.

#include <cstdint>

#include "api/dataflow/dataflow_api.h"

constexpr uint32_t cb_out = 16;

void kernel_main() {
    constexpr auto target_args = TensorAccessorArgs<0>();
    const auto target = TensorAccessor(target_args, get_arg_val<uint32_t>(0), get_tile_size(cb_out));
    const uint32_t tile = get_arg_val<uint32_t>(1);
    cb_wait_front(cb_out, 1);
    noc_async_write_tile(tile, target, get_read_ptr(cb_out));
    noc_async_write_barrier();
    cb_pop_front(cb_out, 1);
}
