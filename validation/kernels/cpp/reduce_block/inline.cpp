// Means by addition, written out; the block stays in its buffer throughout.

#include "api/compute/compute_kernel_api.h"

#include "../library/add_reduce.h"

constexpr uint32_t cb_in = 0;
constexpr uint32_t cb_out = 16;

void kernel_main() {
    constexpr uint32_t height = get_compile_time_arg_val(0);
    constexpr uint32_t width = get_compile_time_arg_val(1);
    constexpr uint32_t batches = get_compile_time_arg_val(2);
    constexpr ReduceDim dim = ReduceDim(get_compile_time_arg_val(3));
    constexpr uint32_t kernel_iters = get_compile_time_arg_val(4);
    constexpr bool accumulate_first = get_compile_time_arg_val(5);
    constexpr uint32_t factor = get_compile_time_arg_val(6);
    constexpr uint32_t outputs = get_compile_time_arg_val(7);
    constexpr uint32_t tiles = height * width * batches;

    binary_op_init_common(cb_in, cb_in, cb_out);
    sfpu_reduce_init<PoolType::SUM, DataFormat::Float32>();
    arm(cb_in, tiles);
    for (uint32_t iteration = 0; iteration < kernel_iters; iteration++) {
        cb_wait_front(cb_in, tiles);
        reduce_by_adding<dim, cb_in, cb_out, accumulate_first>(height, width, outputs, factor);
        if (iteration + 1 < kernel_iters) {
            drain(cb_out, outputs);
        }
    }
    cb_pop_front(cb_in, tiles);
}
