// MB5D: scale * acc + A B.  Each subblock begins with its scaled tiles of `acc`; K blocks wait in L1.
#include "product.hpp"

#include "api/compute/bcast.h"

void kernel_main() {
    start_product(cb_out);
    cb_wait_front(cb_sum, mt * nt);
    cb_wait_front(cb_scale, 1);
    cb_wait_front(cb_a, mt * kt);
    cb_wait_front(cb_b, nt * kt);
    cb_reserve_back(cb_out, mt * nt);
    uint32_t done = 0;
    for (uint32_t row = 0; row < mt; row += rt) {
        for (uint32_t column = 0; column < nt; column += ct) {
            tile_regs_acquire();
            mul_bcast_scalar_init(cb_sum, cb_scale);
            for (uint32_t i = 0; i < rt * ct; i++) {
                mul_tiles_bcast_scalar(cb_sum, cb_scale, done + i, 0, i);
            }
            matmul_block_init(cb_a, cb_b, 0, ct, rt, 1);
            for (uint32_t k = 0; k < kt; k++) {
                matmul_block(cb_a, cb_b, k * mt + row, k * nt + column, 0, 0, ct, rt, 1);
            }
            pack_subblock();
            done += rt * ct;
        }
    }
    cb_pop_front(cb_a, mt * kt);
    cb_pop_front(cb_b, nt * kt);
    cb_push_back(cb_out, mt * nt);
}
