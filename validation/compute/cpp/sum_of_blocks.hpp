#pragma once
#include <cstdint>

// What a sum of blocks is: `op` of each block's `tiles` tiles; `resident`: the same block again and again.
enum Combination : uint32_t { ADD, GELU, MULTIPLY };
constexpr uint32_t tiles = get_compile_time_arg_val(0), blocks = get_compile_time_arg_val(1);
constexpr bool resident = get_compile_time_arg_val(2) != 0;
constexpr uint32_t op = get_compile_time_arg_val(3);
constexpr uint32_t cb_block = 0, cb_sum = 2, cb_out = 16;
