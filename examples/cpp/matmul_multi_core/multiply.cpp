// Accumulate `k_tiles` tile products per output tile in one destination tile.

#include <cstdint>

#include "compute_kernel_api/matmul.h"
#include "compute_kernel_api/tile_move_copy.h"

constexpr uint32_t cb_a = 0;
constexpr uint32_t cb_b = 1;
constexpr uint32_t cb_out = 16;

namespace NAMESPACE {

void MAIN {
    const uint32_t k_tiles = get_arg_val<uint32_t>(0);
    const uint32_t count = get_arg_val<uint32_t>(1);

    mm_init(cb_a, cb_b, cb_out);
    for (uint32_t i = 0; i < count; i++) {
        tile_regs_acquire();
        for (uint32_t k = 0; k < k_tiles; k++) {
            cb_wait_front(cb_a, 1);
            cb_wait_front(cb_b, 1);
            matmul_tiles(cb_a, cb_b, 0, 0, 0);
            cb_pop_front(cb_a, 1);
            cb_pop_front(cb_b, 1);
        }
        tile_regs_commit();
        cb_reserve_back(cb_out, 1);
        tile_regs_wait();
        pack_tile(0, cb_out);
        tile_regs_release();
        cb_push_back(cb_out, 1);
    }
}

}  // namespace NAMESPACE
