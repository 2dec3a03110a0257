// MB2: `blocks` blocks are copied and packed one after another; the packer adds them to the initial tiles in L1, where the
// reader has put them (the buffer `cb_sum` tells when).
#include <cstdint>

#include "api/compute/common.h"
#include "api/compute/eltwise_binary.h"
#include "api/compute/eltwise_unary/eltwise_unary.h"
#include "api/compute/eltwise_unary/gelu.h"
#include "api/compute/pack.h"
#include "api/compute/tile_move_copy.h"
#include "sum_of_blocks.hpp"

void kernel_main() {
    unary_op_init_common(cb_sum, cb_out);
    copy_tile_init(cb_sum);
    if constexpr (op == MULTIPLY) {
        binary_tiles_init<true, EltwiseBinaryType::ELWMUL>(cb_block, cb_block);
    }
    if constexpr (op == GELU) {
        gelu_tile_init<>();
    }
    cb_reserve_back(cb_out, tiles);
    cb_wait_front(cb_sum, tiles);
    cb_pop_front(cb_sum, tiles);
    pack_reconfig_l1_acc(1);
    for (uint32_t block = 0; block < blocks; block++) {
        if (!resident || block == 0) {
            cb_wait_front(cb_block, tiles);
        }
        tile_regs_acquire();
        for (uint32_t i = 0; i < tiles; i++) {
            if constexpr (op == MULTIPLY) {
                mul_tiles(cb_block, cb_block, i, i, i);
            } else {
                copy_tile(cb_block, i, i);
            }
        }
        if constexpr (op == GELU) {
            for (uint32_t i = 0; i < tiles; i++) {
                gelu_tile<>(i);
            }
        }
        tile_regs_commit();
        tile_regs_wait();
        for (uint32_t i = 0; i < tiles; i++) {
            pack_tile<true>(i, cb_out, i);
        }
        tile_regs_release();
        if constexpr (!resident) {
            cb_pop_front(cb_block, tiles);
        }
    }
    pack_reconfig_l1_acc(0);
    cb_push_back(cb_out, tiles);
}
