// Multiply in0 and in1 blocks subblock by subblock, carrying partial sums from K block to K block.
//
// With L1 accumulation the packer adds every K block but the last to the partials; the last one reloads them into the
// destination.  Without it every K block reloads.  `shared` says that output and partials share their L1 range, so that
// new partials must wait until the writer has taken the output of the previous out block.

#include <cstdint>

#include "compute_kernel_api/matmul.h"
#include "compute_kernel_api/pack.h"
#include "compute_kernel_api/tile_move_copy.h"

constexpr uint32_t cb_in0 = 0;
constexpr uint32_t cb_in1 = 1;
constexpr uint32_t cb_out = 16;
constexpr uint32_t cb_partials = 24;

namespace NAMESPACE {

void MAIN {
    constexpr uint32_t out_blocks = get_compile_time_arg_val(0);
    constexpr uint32_t k_blocks = get_compile_time_arg_val(1);
    constexpr uint32_t out_block_h = get_compile_time_arg_val(2);
    constexpr uint32_t out_block_w = get_compile_time_arg_val(3);
    constexpr uint32_t block_k = get_compile_time_arg_val(4);
    constexpr uint32_t subblock_h = get_compile_time_arg_val(5);
    constexpr uint32_t subblock_w = get_compile_time_arg_val(6);
    constexpr bool l1_acc = get_compile_time_arg_val(7) != 0;
    constexpr bool shared = get_compile_time_arg_val(8) != 0;
    constexpr uint32_t in0_block_tiles = out_block_h * block_k;
    constexpr uint32_t in1_block_tiles = block_k * out_block_w;
    constexpr uint32_t out_block_tiles = out_block_h * out_block_w;
    constexpr uint32_t subblock_tiles = subblock_h * subblock_w;

    mm_block_init(cb_in0, cb_in1, cb_partials, 0, subblock_w, subblock_h, block_k);
    for (uint32_t out_block = 0; out_block < out_blocks; out_block++) {
        for (uint32_t k = 0; k < k_blocks; k++) {
            const bool last = k == k_blocks - 1;
            const bool reload = k > 0 && (last || !l1_acc);
            const uint32_t target = last ? cb_out : cb_partials;
            if (last) {
                if constexpr (l1_acc) {
                    pack_reconfig_l1_acc(0);
                }
                pack_reconfig_data_format(cb_out);
            } else {
                if (k == 0) {
                    pack_reconfig_data_format(cb_partials);
                }
                if (l1_acc && k == 1) {
                    pack_reconfig_l1_acc(1);
                }
            }
            cb_wait_front(cb_in0, in0_block_tiles);
            cb_wait_front(cb_in1, in1_block_tiles);
            uint32_t done = 0;
            for (uint32_t sub_row = 0; sub_row < out_block_h; sub_row += subblock_h) {
                for (uint32_t sub_column = 0; sub_column < out_block_w; sub_column += subblock_w) {
                    tile_regs_acquire();
                    if (reload) {
                        copy_tile_to_dst_init_short_with_dt(cb_in1, cb_partials);
                        cb_wait_front(cb_partials, subblock_tiles);
                        copy_block_matmul_partials(cb_partials, 0, 0, subblock_tiles);
                        cb_pop_front(cb_partials, subblock_tiles);
                        mm_block_init_short_with_dt(cb_in0, cb_in1, cb_partials, 0, subblock_w, subblock_h, block_k);
                    }
                    uint32_t in0_tile = sub_row * block_k;
                    uint32_t in1_tile = sub_column;
                    for (uint32_t inner = 0; inner < block_k; inner++) {
                        matmul_block(cb_in0, cb_in1, in0_tile, in1_tile, 0, 0, subblock_w, subblock_h, block_k);
                        in0_tile += 1;
                        in1_tile += out_block_w;
                    }
                    tile_regs_commit();
                    done += subblock_tiles;
                    if (shared && k == 0 && !last) {
                        cb_reserve_back(cb_out, done);
                    }
                    cb_reserve_back(target, subblock_tiles);
                    tile_regs_wait();
                    pack_tile_block(0, target, subblock_tiles);
                    tile_regs_release();
                    cb_push_back(target, subblock_tiles);
                }
            }
            if (l1_acc && k + 2 < k_blocks) {
                cb_wait_front(cb_partials, out_block_tiles);
                cb_pop_front(cb_partials, out_block_tiles);
            }
            cb_pop_front(cb_in0, in0_block_tiles);
            cb_pop_front(cb_in1, in1_block_tiles);
        }
    }
}

}  // namespace NAMESPACE
