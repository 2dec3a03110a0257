// The sum of blocks, tile by tile: the vector unit adds one block after the other.

#include "prologue.h"

#include "api/compute/eltwise_binary.h"
#include "api/compute/eltwise_binary_sfpu.h"
#include "api/compute/tile_move_copy.h"

void kernel_main() {
    arm(cb_in, tiles);
    binary_op_init_common(cb_in, cb_in, cb_out);
    each_iteration([] {
        for (uint32_t tile = 0; tile < block_tiles; tile++) {
            cb_reserve_back(cb_out, 1);
            tile_regs_acquire();
            copy_tile_to_dst_init_short(cb_in);
            copy_tile(cb_in, tile, 0);
            for (uint32_t block = 1; block < num_blocks; block++) {
                copy_tile_to_dst_init_short(cb_in);
                copy_tile(cb_in, block * block_tiles + tile, 1);
                add_binary_tile_init();
                add_binary_tile(0, 1, 0);
            }
            tile_regs_commit();
            tile_regs_wait();
            pack_tile(0, cb_out);
            tile_regs_release();
            cb_push_back(cb_out, 1);
        }
    });
}
