// log(1 + exp(x)) of each tile.

#include <cstdint>

#include "compute_kernel_api.h"
#include "compute_kernel_api/common.h"
#include "compute_kernel_api/eltwise_unary/binop_with_scalar.h"
#include "compute_kernel_api/eltwise_unary/eltwise_unary.h"
#include "compute_kernel_api/eltwise_unary/exp.h"
#include "compute_kernel_api/tile_move_copy.h"

constexpr uint32_t cb_in = 0;
constexpr uint32_t cb_out = 16;
constexpr uint32_t one = 0x3F800000;  // 1.0f

namespace NAMESPACE {

void MAIN {
    const uint32_t count = get_arg_val<uint32_t>(0);

    init_sfpu(cb_in, cb_out);
    for (uint32_t i = 0; i < count; i++) {
        cb_wait_front(cb_in, 1);
        tile_regs_acquire();
        copy_tile(cb_in, 0, 0);
        exp_tile_init();
        exp_tile(0);
        binop_with_scalar_tile_init();
        add_unary_tile(0, one);
        log_tile_init();
        log_tile(0);
        tile_regs_commit();
        cb_pop_front(cb_in, 1);
        cb_reserve_back(cb_out, 1);
        tile_regs_wait();
        pack_tile(0, cb_out);
        tile_regs_release();
        cb_push_back(cb_out, 1);
    }
}

}  // namespace NAMESPACE
