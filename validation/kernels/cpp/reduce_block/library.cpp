// Means by the library: tile by tile with the matrix unit, or by addition.

#include <bit>

#include "api/compute/compute_kernel_api.h"
#include "api/compute/compute_kernel_hw_startup.h"

#include "../library/add_reduce.h"
#include "../library/reduce.h"

constexpr uint32_t cb_in = 0;
constexpr uint32_t cb_scaler = 1;
constexpr uint32_t cb_out = 16;

void kernel_main() {
    constexpr uint32_t height = get_compile_time_arg_val(0);
    constexpr uint32_t width = get_compile_time_arg_val(1);
    constexpr uint32_t batches = get_compile_time_arg_val(2);
    constexpr ReduceDim dim = ReduceDim(get_compile_time_arg_val(3));
    constexpr uint32_t kernel_iters = get_compile_time_arg_val(4);
    constexpr uint32_t outputs = get_compile_time_arg_val(5);
    constexpr bool via_add = get_compile_time_arg_val(6);
    constexpr bool accumulate_first = get_compile_time_arg_val(7);
    constexpr uint32_t elements = get_compile_time_arg_val(8);
    constexpr uint32_t tiles = height * width * batches;
    constexpr uint32_t factor = std::bit_cast<uint32_t>(1.0f / float(elements));

    compute_kernel_hw_startup(cb_in, via_add ? cb_in : cb_scaler, cb_out);
    for (uint32_t iteration = 0; iteration < kernel_iters; iteration++) {
        arm(cb_in, tiles);
        if constexpr (via_add) {
            if constexpr (accumulate_first) {
                reconfig_data_format(cb_in, cb_in);
                pack_reconfig_data_format(cb_out);
            } else {
                binary_op_init_common(cb_in, cb_in, cb_out);
            }
            sfpu_reduce_init<PoolType::SUM, DataFormat::Float32>();
            cb_wait_front(cb_in, tiles);
            reduce_by_adding<dim, cb_in, cb_out, accumulate_first>(height, width, outputs, factor);
            cb_pop_front(cb_in, tiles);
        } else {
            reduce_blocks<PoolType::AVG, dim, cb_in, cb_scaler, cb_out>(height, width, batches);
        }
        if (iteration + 1 < kernel_iters) {
            drain(cb_out, outputs);
        }
    }
}
