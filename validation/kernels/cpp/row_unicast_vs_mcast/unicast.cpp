// Each core of a row in turn writes its slot to the same place on the others, piece by piece.

#include <cstdint>

#include "api/dataflow/dataflow_api.h"
#include "api/dataflow/noc.h"
#include "api/dataflow/noc_semaphore.h"

constexpr uint32_t row_width = get_compile_time_arg_val(0);
constexpr uint32_t payload = get_compile_time_arg_val(1);
constexpr uint32_t num_writes = get_compile_time_arg_val(2);
constexpr uint32_t kernel_iters = get_compile_time_arg_val(3);
constexpr uint32_t semaphore_id = get_compile_time_arg_val(4);
constexpr uint32_t chunk = payload / num_writes;
constexpr uint32_t first_core = 2;  // argument

void kernel_main() {
    const uint32_t base = get_arg_val<uint32_t>(0);
    const uint32_t me = get_arg_val<uint32_t>(1);
    Noc noc;
    Semaphore<> arrived(semaphore_id);

    for (uint32_t iteration = 0; iteration < kernel_iters; iteration++) {
        for (uint32_t round = 0; round < row_width; round++) {
            if (round == me) {
                for (uint32_t write = 0; write < num_writes; write++) {
                    const uint32_t piece = base + me * payload + write * chunk;
                    for (uint32_t peer = 0; peer < row_width; peer++) {
                        if (peer != me) {
                            const uint32_t x = get_arg_val<uint32_t>(first_core + 2 * peer);
                            const uint32_t y = get_arg_val<uint32_t>(first_core + 2 * peer + 1);
                            noc_async_write(piece, get_noc_addr(x, y, piece), chunk);
                        }
                    }
                    noc_async_write_barrier();
                    for (uint32_t peer = 0; peer < row_width; peer++) {
                        if (peer != me) {
                            const uint32_t x = get_arg_val<uint32_t>(first_core + 2 * peer);
                            const uint32_t y = get_arg_val<uint32_t>(first_core + 2 * peer + 1);
                            arrived.up(noc, x, y, 1);
                        }
                    }
                }
            } else {
                const uint32_t before = iteration * (row_width - 1) + round - (me < round ? 1 : 0);
                for (uint32_t write = 0; write < num_writes; write++) {
                    arrived.wait_min(before * num_writes + write + 1);
                }
            }
        }
    }
    noc_async_atomic_barrier();
}
