// MB1, MB5A: `rounds` times `tiles` tiles from CB 0 to `out`, `chunk` per acquire of Dst.
// Tiles are packed to their places, which costs what silicon takes; one after the other (no place given) they take 2 cycles more.
// Into CB 0 itself the packer pushes the first tiles, too: its count of pushes replaces that of any other thread.
#include <cstdint>

#include "api/compute/common.h"
#include "api/compute/eltwise_unary/eltwise_unary.h"
#include "api/compute/tile_move_copy.h"

void kernel_main() {
    constexpr uint32_t tiles = get_compile_time_arg_val(0), chunk = get_compile_time_arg_val(1);
    constexpr uint32_t out = get_compile_time_arg_val(2), cb_in = 0;
    const uint32_t rounds = get_arg_val<uint32_t>(0);
    unary_op_init_common(cb_in, out);
    copy_tile_init(cb_in);
    if constexpr (out == cb_in) {
        cb_reserve_back(out, tiles);
        cb_push_back(out, tiles);
    }
    for (uint32_t round = 0; round < rounds; round++) {
        cb_wait_front(cb_in, tiles);
        cb_reserve_back(out, tiles);
        for (uint32_t first = 0; first < tiles; first += chunk) {
            const uint32_t here = tiles % chunk == 0 || chunk < tiles - first ? chunk : tiles - first;
            tile_regs_acquire();
            for (uint32_t i = 0; i < here; i++) {
                copy_tile(cb_in, first + i, i);
            }
            tile_regs_commit();
            tile_regs_wait();
            for (uint32_t i = 0; i < here; i++) {
                pack_tile<true>(i, out, first + i);
            }
            tile_regs_release();
        }
        cb_pop_front(cb_in, tiles);
        cb_push_back(out, tiles);
    }
}
