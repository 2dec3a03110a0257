// MB2: initial tiles stay in Dst while `blocks` blocks are combined with them; one pack.
#include <cstdint>

#include "api/compute/common.h"
#include "api/compute/eltwise_binary.h"
#include "api/compute/eltwise_unary/eltwise_unary.h"
#include "api/compute/eltwise_unary/gelu.h"
#include "api/compute/tile_move_copy.h"
#include "sum_of_blocks.hpp"

void kernel_main() {
    unary_op_init_common(cb_sum, cb_out);
    copy_tile_init(cb_sum);
    tile_regs_acquire();
    cb_wait_front(cb_sum, tiles);
    for (uint32_t i = 0; i < tiles; i++) {
        copy_tile(cb_sum, i, i);
    }
    cb_pop_front(cb_sum, tiles);
    if constexpr (op == MULTIPLY) {
        binary_tiles_init<true, EltwiseBinaryType::ELWMUL>(cb_block, cb_block, true);
    } else {
        add_reuse_dest_init<EltwiseBinaryReuseDestType::DEST_TO_SRCA>(cb_block);
    }
    if constexpr (op == GELU) {
        gelu_tile_init<>();
    }
    for (uint32_t block = 0; block < blocks; block++) {
        if (!resident || block == 0) {
            cb_wait_front(cb_block, tiles);
        }
        for (uint32_t i = 0; i < tiles; i++) {
            if constexpr (op == MULTIPLY) {
                mul_tiles(cb_block, cb_block, i, i, i);
            } else {
                add_reuse_dest_tiles<EltwiseBinaryReuseDestType::DEST_TO_SRCA>(cb_block, i, i);
            }
        }
        if constexpr (op == GELU) {
            for (uint32_t i = 0; i < tiles; i++) {
                gelu_tile<>(i);
            }
        }
        if constexpr (!resident) {
            cb_pop_front(cb_block, tiles);
        }
    }
    tile_regs_commit();
    cb_reserve_back(cb_out, tiles);
    tile_regs_wait();
    for (uint32_t i = 0; i < tiles; i++) {
        pack_tile(i, cb_out);
    }
    tile_regs_release();
    cb_push_back(cb_out, tiles);
}
