// tt-llk's loop from L1 to L1: `rounds` times `tiles` products side by side, then packed, below the calls of the compute API on
// silicon, which pack_block() is nearer to than pack_tile().
#include <cstdint>

#include "api/compute/common.h"
#include "api/compute/compute_kernel_hw_startup.h"
#include "api/compute/matmul.h"
#include "api/compute/pack.h"

void kernel_main() {
    constexpr uint32_t tiles = get_compile_time_arg_val(0), cb_a = 0, cb_b = 1, cb_out = 16;
    const uint32_t rounds = get_arg_val<uint32_t>(0);
    compute_kernel_hw_startup<SrcOrder::Reverse>(cb_a, cb_b, cb_out);
    matmul_block_init(cb_a, cb_b, 0, tiles, 1, 1);
    cb_wait_front(cb_a, 1);
    cb_wait_front(cb_b, tiles);
    cb_reserve_back(cb_out, tiles);
    for (uint32_t round = 0; round < rounds; round++) {
        tile_regs_acquire();
        matmul_block(cb_a, cb_b, 0, 0, 0, 0, tiles, 1, 1);
        tile_regs_commit();
        tile_regs_wait();
        pack_block(0, cb_out, tiles);
        tile_regs_release();
    }
}
