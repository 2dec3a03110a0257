#pragma once
#include <cstdint>

#include "api/compute/common.h"
#include "api/compute/compute_kernel_hw_startup.h"
#include "api/compute/matmul.h"
#include "api/compute/pack.h"

// C of mt x nt tiles, kt deep, in subblocks of rt x ct tiles.
constexpr uint32_t mt = get_compile_time_arg_val(0), nt = get_compile_time_arg_val(1), kt = get_compile_time_arg_val(2);
constexpr uint32_t rt = get_compile_time_arg_val(3), ct = get_compile_time_arg_val(4);
constexpr bool with_gelu = get_compile_time_arg_val(5) != 0;
constexpr uint32_t cb_a = 0, cb_b = 1, cb_sum = 2, cb_scale = 3, cb_out = 16;

// The subblock in Dst becomes the next results.
inline void pack_subblock() {
    tile_regs_commit();
    tile_regs_wait();
    for (uint32_t i = 0; i < rt * ct; i++) {
        pack_tile(i, cb_out);
    }
    tile_regs_release();
}

inline void start_product(uint32_t out) {
    compute_kernel_hw_startup<SrcOrder::Reverse>(cb_a, cb_b, out);
    matmul_block_init(cb_a, cb_b, 0, ct, rt, 1);
}
