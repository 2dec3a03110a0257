// The sum of blocks, a section of Dst at a time: pairs of blocks are added into it.

#include "prologue.h"

#include "api/compute/eltwise_binary.h"
#include "api/compute/tile_move_copy.h"

void kernel_main() {
    arm(cb_in, tiles);
    binary_op_init_common(cb_in, cb_in, cb_out);
    each_iteration([] {
        for (uint32_t first = 0; first < block_tiles; first += dest_limit) {
            const uint32_t now = block_tiles - first < dest_limit ? block_tiles - first : dest_limit;
            cb_reserve_back(cb_out, now);
            tile_regs_acquire();
            uint32_t block = 0;
            if constexpr (num_blocks % 2 == 1) {
                copy_tile_to_dst_init_short(cb_in);
                for (uint32_t tile = 0; tile < now; tile++) {
                    copy_tile(cb_in, first + tile, tile);
                }
                block = 1;
            }
            add_tiles_init(cb_in, cb_in, true);
            for (; block < num_blocks; block += 2) {
                const uint32_t one = block * block_tiles + first;
                for (uint32_t tile = 0; tile < now; tile++) {
                    add_tiles(cb_in, cb_in, one + tile, one + block_tiles + tile, tile);
                }
            }
            tile_regs_commit();
            tile_regs_wait();
            for (uint32_t tile = 0; tile < now; tile++) {
                pack_tile(tile, cb_out);
            }
            tile_regs_release();
            cb_push_back(cb_out, now);
        }
    });
}
