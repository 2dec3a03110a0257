// MB3 utilisation, mm1: `blocks` blocks of K, `bk` tiles deep, tile by tile; earlier blocks are reloaded.
#include <cstdint>

#include "api/compute/common.h"
#include "api/compute/compute_kernel_hw_startup.h"
#include "api/compute/matmul.h"
#include "api/compute/pack.h"
#include "api/compute/tile_move_copy.h"

void kernel_main() {
    constexpr uint32_t mt = get_compile_time_arg_val(0), nt = get_compile_time_arg_val(1), bk = get_compile_time_arg_val(2);
    constexpr uint32_t blocks = get_compile_time_arg_val(3), cb_a = 0, cb_b = 1, cb_sum = 2, cb_out = 16;
    compute_kernel_hw_startup<SrcOrder::Reverse>(cb_a, cb_b, cb_out);
    matmul_init(cb_a, cb_b);
    for (uint32_t block = 0; block < blocks; block++) {
        cb_wait_front(cb_a, mt * bk);
        cb_wait_front(cb_b, nt * bk);
        for (uint32_t row = 0; row < mt; row++) {
            for (uint32_t column = 0; column < nt; column++) {
                tile_regs_acquire();
                if (block > 0) {
                    copy_tile_init(cb_sum);
                    cb_wait_front(cb_sum, 1);
                    copy_tile(cb_sum, 0, 0);
                    cb_pop_front(cb_sum, 1);
                    matmul_init(cb_a, cb_b);
                }
                for (uint32_t k = 0; k < bk; k++) {
                    matmul_tiles(cb_a, cb_b, row * bk + k, k * nt + column, 0);
                }
                tile_regs_commit();
                cb_reserve_back(cb_sum, 1);
                tile_regs_wait();
                pack_tile(0, cb_sum);
                tile_regs_release();
                cb_push_back(cb_sum, 1);
            }
        }
        cb_pop_front(cb_a, mt * bk);
        cb_pop_front(cb_b, nt * bk);
    }
}
