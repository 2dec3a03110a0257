// The sums of the chunks behind the first one, tile by tile; those of the first pass as they are.

#include <cstdint>

#include "compute_kernel_api/eltwise_binary.h"
#include "compute_kernel_api/tile_move_copy.h"

constexpr uint32_t cb_own = 0;
constexpr uint32_t cb_arrived = 1;
constexpr uint32_t cb_sum = 16;

namespace NAMESPACE {

void pass_on() {
    tile_regs_commit();
    cb_pop_front(cb_own, 1);
    cb_reserve_back(cb_sum, 1);
    tile_regs_wait();
    pack_tile(0, cb_sum);
    tile_regs_release();
    cb_push_back(cb_sum, 1);
}

void MAIN {
    const uint32_t count = get_arg_val<uint32_t>(0);
    const uint32_t steps = get_arg_val<uint32_t>(1);

    binary_op_init_common(cb_own, cb_arrived, cb_sum);
    copy_tile_to_dst_init_short(cb_own);
    for (uint32_t i = 0; i < count; i++) {
        cb_wait_front(cb_own, 1);
        tile_regs_acquire();
        copy_tile(cb_own, 0, 0);
        pass_on();
    }
    add_tiles_init(cb_own, cb_arrived);
    for (uint32_t i = 0; i < count * steps; i++) {
        cb_wait_front(cb_own, 1);
        cb_wait_front(cb_arrived, 1);
        tile_regs_acquire();
        add_tiles(cb_own, cb_arrived, 0, 0, 0);
        cb_pop_front(cb_arrived, 1);
        pass_on();
    }
}

}  // namespace NAMESPACE
