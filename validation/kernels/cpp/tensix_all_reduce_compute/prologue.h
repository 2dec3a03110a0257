// Arguments and frame of both ways to add up blocks of tiles.
#pragma once

#include "../library/sections.h"

constexpr uint32_t cb_in = get_compile_time_arg_val(0);
constexpr uint32_t cb_out = get_compile_time_arg_val(1);
constexpr uint32_t num_blocks = get_compile_time_arg_val(2);
constexpr uint32_t block_tiles = get_compile_time_arg_val(3);
constexpr uint32_t kernel_iters = get_compile_time_arg_val(4);
constexpr uint32_t tiles = num_blocks * block_tiles;

template <class Sum>
void each_iteration(Sum sum) {
    for (uint32_t iteration = 0; iteration < kernel_iters; iteration++) {
        cb_wait_front(cb_in, tiles);
        sum();
        if (iteration + 1 < kernel_iters) {
            drain(cb_out, block_tiles);
        }
    }
    cb_pop_front(cb_in, tiles);
}
