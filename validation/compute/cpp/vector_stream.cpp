// MB4, MB5: copy, vector function, pack of `tiles` tiles, `chunk` per acquire of Dst, `rounds` times.
// HEADER, INITIALISE and APPLY are the function's header below api/compute, its initialisation, and its call on tile `tile` of Dst.
#include <cstdint>

#include "api/compute/common.h"
#include "api/compute/eltwise_unary/eltwise_unary.h"
#include "api/compute/tile_move_copy.h"
#include HEADER

void kernel_main() {
    constexpr uint32_t tiles = get_compile_time_arg_val(0), chunk = get_compile_time_arg_val(1), cb_in = 0, cb_out = 16;
    const uint32_t rounds = get_arg_val<uint32_t>(0);
    unary_op_init_common(cb_in, cb_out);
    copy_tile_init(cb_in);
    INITIALISE
    for (uint32_t round = 0; round < rounds; round++) {
        cb_wait_front(cb_in, tiles);
        cb_reserve_back(cb_out, tiles);
        for (uint32_t first = 0; first < tiles; first += chunk) {
            tile_regs_acquire();
            for (uint32_t tile = 0; tile < chunk; tile++) {
                copy_tile(cb_in, first + tile, tile);
                APPLY
            }
            tile_regs_commit();
            tile_regs_wait();
            for (uint32_t tile = 0; tile < chunk; tile++) {
                pack_tile(tile, cb_out);
            }
            tile_regs_release();
        }
        cb_pop_front(cb_in, tiles);
        cb_push_back(cb_out, tiles);
    }
}
