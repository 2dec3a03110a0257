// own + incoming of level 0 + incoming of level 1 + ..., tile by tile.

#include <cstdint>

#include "compute_kernel_api/common.h"
#include "compute_kernel_api/eltwise_binary.h"
#include "compute_kernel_api/tile_move_copy.h"

constexpr uint32_t cb_own = 0;
constexpr uint32_t cb_incoming = 1;
constexpr uint32_t cb_result = 16;
constexpr uint32_t cb_partial = 24;

namespace NAMESPACE {

void MAIN {
    const uint32_t tiles = get_arg_val<uint32_t>(0);
    const uint32_t levels = get_arg_val<uint32_t>(1);

    binary_op_init_common(cb_own, cb_incoming, cb_result);
    if (levels == 0) {
        copy_tile_to_dst_init_short(cb_own);
        for (uint32_t i = 0; i < tiles; i++) {
            cb_wait_front(cb_own, 1);
            tile_regs_acquire();
            copy_tile(cb_own, 0, 0);
            tile_regs_commit();
            cb_pop_front(cb_own, 1);
            cb_reserve_back(cb_result, 1);
            tile_regs_wait();
            pack_tile(0, cb_result);
            tile_regs_release();
            cb_push_back(cb_result, 1);
        }
    }
    add_tiles_init(cb_own, cb_incoming);
    uint32_t source = cb_own;
    for (uint32_t level = 0; level < levels; level++) {
        const uint32_t target = level == levels - 1 ? cb_result : cb_partial;
        for (uint32_t i = 0; i < tiles; i++) {
            cb_wait_front(source, 1);
            cb_wait_front(cb_incoming, 1);
            tile_regs_acquire();
            add_tiles(source, cb_incoming, 0, 0, 0);
            tile_regs_commit();
            cb_pop_front(source, 1);
            cb_pop_front(cb_incoming, 1);
            cb_reserve_back(target, 1);
            tile_regs_wait();
            pack_tile(0, target);
            tile_regs_release();
            cb_push_back(target, 1);
        }
        source = cb_partial;
    }
}

}  // namespace NAMESPACE
