// Each core of a row in turn multicasts its slot to the same place on the others, piece by piece.

#include "../library/mcast.h"

constexpr uint32_t row_width = get_compile_time_arg_val(0);
constexpr uint32_t data_ready = get_compile_time_arg_val(1);
constexpr uint32_t consumer_ready = get_compile_time_arg_val(2);
constexpr uint32_t payload = get_compile_time_arg_val(3);
constexpr uint32_t num_writes = get_compile_time_arg_val(4);
constexpr uint32_t kernel_iters = get_compile_time_arg_val(5);
constexpr uint32_t chunk = payload / num_writes;
constexpr uint32_t rectangle = 2, first_core = 6;  // arguments

void kernel_main() {
    const uint32_t base = get_arg_val<uint32_t>(0);
    const uint32_t me = get_arg_val<uint32_t>(1);
    McastPipe pipe(
        data_ready, consumer_ready,
        {get_arg_val<uint32_t>(rectangle), get_arg_val<uint32_t>(rectangle + 1), get_arg_val<uint32_t>(rectangle + 2),
         get_arg_val<uint32_t>(rectangle + 3), row_width - 1},
        true);

    for (uint32_t iteration = 0; iteration < kernel_iters; iteration++) {
        for (uint32_t round = 0; round < row_width; round++) {
            for (uint32_t write = 0; write < num_writes; write++) {
                if (round == me) {
                    pipe.send(base + round * payload + write * chunk, chunk);
                } else {
                    pipe.receive(
                        get_arg_val<uint32_t>(first_core + 2 * round), get_arg_val<uint32_t>(first_core + 2 * round + 1));
                }
            }
        }
    }
}
