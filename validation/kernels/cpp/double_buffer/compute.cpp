// relu of each tile, `passes` times over.

#include <cstdint>

#include "api/compute/common.h"
#include "api/compute/eltwise_unary/eltwise_unary.h"
#include "api/compute/eltwise_unary/relu.h"
#include "api/compute/tile_move_copy.h"

constexpr uint32_t cb_in = 0;
constexpr uint32_t cb_out = 16;

void kernel_main() {
    constexpr uint32_t kernel_iters = get_compile_time_arg_val(0);
    constexpr uint32_t passes = get_compile_time_arg_val(1);
    const uint32_t count = get_arg_val<uint32_t>(0);

    init_sfpu(cb_in, cb_out);
    relu_tile_init();
    for (uint32_t iteration = 0; iteration < kernel_iters; iteration++) {
        for (uint32_t tile = 0; tile < count; tile++) {
            cb_wait_front(cb_in, 1);
            cb_reserve_back(cb_out, 1);
            tile_regs_acquire();
            copy_tile(cb_in, 0, 0);
            for (uint32_t pass = 0; pass < passes; pass++) {
                relu_tile(0);
            }
            tile_regs_commit();
            tile_regs_wait();
            pack_tile(0, cb_out);
            tile_regs_release();
            cb_pop_front(cb_in, 1);
            cb_push_back(cb_out, 1);
        }
    }
}
