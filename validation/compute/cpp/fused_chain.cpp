// MB5E: abs(neg(relu(sigmoid(c) + tanh(b)))), `chunk` results per acquire of Dst, two tiles of it each.
#include <cstdint>

#include "api/compute/common.h"
#include "api/compute/compute_kernel_api.h"
#include "api/compute/eltwise_binary_sfpu.h"
#include "api/compute/eltwise_unary/eltwise_unary.h"
#include "api/compute/eltwise_unary/negative.h"
#include "api/compute/eltwise_unary/relu.h"
#include "api/compute/tile_move_copy.h"

void kernel_main() {
    constexpr uint32_t tiles = get_compile_time_arg_val(0), chunk = get_compile_time_arg_val(1);
    constexpr uint32_t cb_c = 0, cb_b = 1, cb_out = 16;
    unary_op_init_common(cb_c, cb_out);
    cb_wait_front(cb_c, tiles);
    cb_wait_front(cb_b, tiles);
    cb_reserve_back(cb_out, tiles);
    for (uint32_t first = 0; first < tiles; first += chunk) {
        tile_regs_acquire();
        for (uint32_t i = 0; i < chunk; i++) {
            copy_tile_init(cb_c);
            copy_tile(cb_c, first + i, 2 * i);
            sigmoid_tile_init();
            sigmoid_tile(2 * i);
            copy_tile_init(cb_b);
            copy_tile(cb_b, first + i, 2 * i + 1);
            tanh_tile_init();
            tanh_tile(2 * i + 1);
            add_binary_tile_init();
            add_binary_tile(2 * i, 2 * i + 1, 2 * i);
            relu_tile_init();
            relu_tile(2 * i);
            negative_tile_init();
            negative_tile(2 * i);
            abs_tile_init();
            abs_tile(2 * i);
        }
        tile_regs_commit();
        tile_regs_wait();
        for (uint32_t i = 0; i < chunk; i++) {
            pack_tile(2 * i, cb_out);
        }
        tile_regs_release();
    }
    cb_pop_front(cb_c, tiles);
    cb_pop_front(cb_b, tiles);
    cb_push_back(cb_out, tiles);
}
