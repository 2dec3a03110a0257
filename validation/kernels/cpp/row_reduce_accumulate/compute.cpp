// The mean of each row of W tiles by one of six methods.

#include "api/compute/compute_kernel_api.h"
#include "api/compute/compute_kernel_hw_startup.h"

#include "../library/add_reduce.h"
#include "../library/reduce.h"

constexpr uint32_t cb_in = 0;
constexpr uint32_t cb_scaler = 1;
constexpr uint32_t cb_zeros = 2;
constexpr uint32_t cb_sum = 3;
constexpr uint32_t cb_out = 16;

constexpr uint32_t width = get_compile_time_arg_val(0);
constexpr uint32_t method = get_compile_time_arg_val(1);
constexpr uint32_t kernel_iters = get_compile_time_arg_val(2);
constexpr bool fp32_dest = get_compile_time_arg_val(3);
constexpr uint32_t factor = get_compile_time_arg_val(4);

constexpr bool fold = method == 0;
constexpr bool in_l1 = method == 1;
constexpr bool with_zeros = method == 2 || method == 4;
constexpr bool by_vector_unit = method == 4 || method == 5;
constexpr DataFormat dest_format = fp32_dest ? DataFormat::Float32 : DataFormat::Float16_b;

void reduce_sum() { reduce_blocks<PoolType::SUM, ReduceDim::REDUCE_ROW, cb_sum, cb_scaler, cb_out>(1, 1, 1); }

// The packer adds one tile after the other to a tile in L1.
void accumulate_in_l1() {
    cb_reserve_back(cb_sum, 1);
    copy_tile_init(cb_in);
    for (uint32_t tile = 0; tile < width; tile++) {
        tile_regs_acquire();
        copy_tile(cb_in, tile, 0);
        tile_regs_commit();
        tile_regs_wait();
        if (tile > 0) {
            pack_reconfig_l1_acc(1);
        }
        pack_tile<true>(0, cb_sum, 0);
        if (tile > 0) {
            pack_reconfig_l1_acc(0);
        }
        tile_regs_release();
    }
    cb_push_back(cb_sum, 1);
    reduce_sum();
}

void accumulate_in_dest() {
    tile_regs_acquire();
    if constexpr (with_zeros) {
        add_tiles_init(cb_in, cb_zeros, false);
        add_tiles(cb_in, cb_zeros, 0, 0, 0);
        add_tiles_init(cb_in, cb_zeros, true);
        for (uint32_t tile = 1; tile < width; tile++) {
            add_tiles(cb_in, cb_zeros, tile, 0, 0);
        }
    } else {
        add_pairs<cb_in, false>(0, 1, width);
    }
    if constexpr (by_vector_unit) {
        sfpu_reduce_init<PoolType::SUM, dest_format>();
        sfpu_reduce<PoolType::SUM, dest_format, ReduceDim::REDUCE_ROW>(0, 1, 1);
        binop_with_scalar_tile_init();
        mul_unary_tile(0, factor);
        pack_first(cb_out);
    } else {
        pack_first(cb_sum);
        reduce_sum();
    }
}

void kernel_main() {
    if constexpr (fold) {
        compute_kernel_hw_startup(cb_in, cb_scaler, cb_out);
    } else {
        arm(cb_in, width);
        if constexpr (with_zeros) {
            cb_wait_front(cb_zeros, 1);
        }
    }
    for (uint32_t iteration = 0; iteration < kernel_iters; iteration++) {
        if constexpr (fold) {
            arm(cb_in, width);
            reduce_blocks<PoolType::SUM, ReduceDim::REDUCE_ROW, cb_in, cb_scaler, cb_out>(1, width, 1);
        } else {
            binary_op_init_common(cb_in, with_zeros ? cb_zeros : cb_in, by_vector_unit ? cb_out : cb_sum);
            cb_wait_front(cb_in, width);
            if constexpr (in_l1) {
                accumulate_in_l1();
            } else {
                accumulate_in_dest();
            }
        }
        if (iteration + 1 < kernel_iters) {
            drain(cb_out, 1);
        }
    }
    if constexpr (!fold) {
        cb_pop_front(cb_in, width);
    }
}
