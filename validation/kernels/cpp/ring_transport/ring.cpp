// Hops around a ring of cores: to the next core's next slot, with a semaphore, or the semaphore alone.
//
// A core that has heard of a hop knows of one hop less of the core behind it, and so around the ring: that the next core, the
// last of that chain, has sent what came group_size hops before. So each core has group_size slots, of which none is
// overwritten before it was sent; the measured kernel has two.

#include <cstdint>

#include "api/dataflow/circular_buffer.h"
#include "api/dataflow/dataflow_api.h"
#include "api/dataflow/noc.h"
#include "api/dataflow/noc_semaphore.h"

constexpr uint32_t cb_slots = 0;
constexpr uint32_t group_size = get_compile_time_arg_val(0);
constexpr uint32_t num_tiles = get_compile_time_arg_val(1);
constexpr uint32_t kernel_iters = get_compile_time_arg_val(2);
constexpr uint32_t semaphore_id = get_compile_time_arg_val(3);
constexpr uint32_t payload = get_compile_time_arg_val(4);
constexpr bool moves_payload = get_compile_time_arg_val(5);

void kernel_main() {
    const uint32_t in = get_arg_val<uint32_t>(0);
    const uint32_t out = get_arg_val<uint32_t>(1);
    const uint32_t next_x = get_arg_val<uint32_t>(2);
    const uint32_t next_y = get_arg_val<uint32_t>(3);
    Noc noc;
    Semaphore<> arrived(semaphore_id);
    uint32_t slots = 0;
    if constexpr (moves_payload) {
        CircularBuffer buffer(cb_slots);
        buffer.reserve_back(group_size * num_tiles);
        slots = buffer.get_write_ptr();
    }
    uint32_t slot = slots;

    for (uint32_t iteration = 0; iteration < kernel_iters; iteration++) {
        for (uint32_t step = 1; step < group_size; step++) {
            if constexpr (moves_payload) {
                const uint32_t source = step == 1 ? in : slot;
                slot = slot == slots + (group_size - 1) * payload ? slots : slot + payload;
                noc_async_write(source, get_noc_addr(next_x, next_y, slot), payload);
                noc_async_write_barrier();
            }
            arrived.up(noc, next_x, next_y, 1);
            arrived.wait_min(iteration * (group_size - 1) + step);
        }
    }
    noc_async_read(get_noc_addr(my_x[noc_index], my_y[noc_index], in), out, payload);
    noc_async_read_barrier();
    noc_async_atomic_barrier();
}
