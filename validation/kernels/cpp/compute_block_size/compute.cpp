// (A + B) x C in blocks of rows: tilize both, add, multiply, untilize.

#include "api/compute/compute_kernel_hw_startup.h"
#include "api/compute/eltwise_binary.h"
#include "api/compute/matmul.h"
#include "api/compute/pack_untilize.h"
#include "api/compute/tilize.h"

#include "../library/sections.h"

constexpr uint32_t block_rows = get_compile_time_arg_val(0);
constexpr uint32_t num_blocks = get_compile_time_arg_val(1);
constexpr uint32_t inner_tiles = get_compile_time_arg_val(2);
constexpr uint32_t width_tiles = get_compile_time_arg_val(3);
constexpr uint32_t subblock_width = get_compile_time_arg_val(4);
constexpr uint32_t in1_subblocks = get_compile_time_arg_val(5);
constexpr uint32_t kernel_iters = get_compile_time_arg_val(6);
constexpr bool reconfigure = get_compile_time_arg_val(7);

constexpr uint32_t cb_a = 0;
constexpr uint32_t cb_b = 1;
constexpr uint32_t cb_c = 2;
constexpr uint32_t cb_a_tiled = 3;
constexpr uint32_t cb_b_tiled = 4;
constexpr uint32_t cb_sum = 5;
constexpr uint32_t cb_product = 6;
constexpr uint32_t cb_out = 16;
constexpr uint32_t rows = block_rows * num_blocks;

template <uint32_t cb_in, uint32_t cb_tiled>
void tilize_rows() {
    if constexpr (reconfigure) {
        reconfig_data_format(cb_in, cb_in);
        pack_reconfig_data_format(cb_tiled);
    }
    fast_tilize_init(cb_in, inner_tiles, cb_tiled);
    for (uint32_t row = 0; row < block_rows; row++) {
        cb_wait_front(cb_in, inner_tiles);
        cb_reserve_back(cb_tiled, inner_tiles);
        fast_tilize_block(cb_in, inner_tiles, cb_tiled);
        cb_push_back(cb_tiled, inner_tiles);
        cb_pop_front(cb_in, inner_tiles);
    }
    fast_tilize_uninit(cb_in, cb_tiled);
}

void add() {
    if constexpr (reconfigure) {
        reconfig_data_format(cb_a_tiled, cb_b_tiled);
        pack_reconfig_data_format(cb_sum);
    }
    add_tiles_init(cb_a_tiled, cb_b_tiled);
    for (uint32_t tile = 0; tile < block_rows * inner_tiles; tile++) {
        tile_regs_acquire();
        cb_wait_front(cb_a_tiled, 1);
        cb_wait_front(cb_b_tiled, 1);
        add_tiles(cb_a_tiled, cb_b_tiled, 0, 0, 0);
        cb_pop_front(cb_a_tiled, 1);
        cb_pop_front(cb_b_tiled, 1);
        pack_first(cb_sum);
    }
}

void multiply() {
    if constexpr (reconfigure) {
        reconfig_data_format(cb_c, cb_sum);
        pack_reconfig_data_format(cb_product);
    }
    mm_block_init_short(cb_sum, cb_c, 0, subblock_width, 1, inner_tiles);
    cb_wait_front(cb_sum, block_rows * inner_tiles);
    cb_wait_front(cb_c, inner_tiles * width_tiles);
    for (uint32_t row = 0; row < block_rows; row++) {
        for (uint32_t subblock = 0; subblock < in1_subblocks; subblock++) {
            tile_regs_acquire();
            for (uint32_t k = 0; k < inner_tiles; k++) {
                matmul_block(
                    cb_sum, cb_c, row * inner_tiles + k, k * width_tiles + subblock * subblock_width, 0, 0,
                    subblock_width, 1, inner_tiles);
            }
            tile_regs_commit();
            cb_reserve_back(cb_product, subblock_width);
            tile_regs_wait();
            pack_reconfig_data_format(cb_product);
            pack_tile_block(0, cb_product, subblock_width);
            tile_regs_release();
            cb_push_back(cb_product, subblock_width);
        }
    }
    cb_pop_front(cb_sum, block_rows * inner_tiles);
}

void untilize() {
    if constexpr (reconfigure) {
        reconfig_data_format_srca(cb_product);
        pack_reconfig_data_format(cb_out);
    }
    pack_untilize_init<width_tiles, width_tiles>(cb_product, cb_out);
    for (uint32_t row = 0; row < block_rows; row++) {
        cb_wait_front(cb_product, width_tiles);
        cb_reserve_back(cb_out, width_tiles);
        pack_untilize_block<width_tiles, width_tiles>(cb_product, 1, cb_out, 0);
        cb_pop_front(cb_product, width_tiles);
        cb_push_back(cb_out, width_tiles);
    }
    pack_untilize_uninit(cb_out);
}

void kernel_main() {
    compute_kernel_hw_startup(cb_a, cb_a_tiled);
    arm(cb_c, inner_tiles * width_tiles);
    for (uint32_t iteration = 0; iteration < kernel_iters; iteration++) {
        arm(cb_a, rows * inner_tiles);
        arm(cb_b, rows * inner_tiles);
        for (uint32_t block = 0; block < num_blocks; block++) {
            tilize_rows<cb_a, cb_a_tiled>();
            tilize_rows<cb_b, cb_b_tiled>();
            add();
            multiply();
            untilize();
        }
        if (iteration + 1 < kernel_iters) {
            drain(cb_out, rows * width_tiles);
        }
    }
}
