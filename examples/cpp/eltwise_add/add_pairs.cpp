// Sum of each pair of tiles on the matrix unit.

#include <cstdint>

#include "compute_kernel_api/common.h"
#include "compute_kernel_api/eltwise_binary.h"
#include "compute_kernel_api/tile_move_copy.h"

constexpr uint32_t cb_a = 0;
constexpr uint32_t cb_b = 1;
constexpr uint32_t cb_sum = 16;

namespace NAMESPACE {

void MAIN {
    const uint32_t count = get_arg_val<uint32_t>(0);

    binary_op_init_common(cb_a, cb_b, cb_sum);
    add_tiles_init(cb_a, cb_b);
    for (uint32_t i = 0; i < count; i++) {
        cb_wait_front(cb_a, 1);
        cb_wait_front(cb_b, 1);
        tile_regs_acquire();
        add_tiles(cb_a, cb_b, 0, 0, 0);
        tile_regs_commit();
        cb_pop_front(cb_a, 1);
        cb_pop_front(cb_b, 1);
        cb_reserve_back(cb_sum, 1);
        tile_regs_wait();
        pack_tile(0, cb_sum);
        tile_regs_release();
        cb_push_back(cb_sum, 1);
    }
}

}  // namespace NAMESPACE
