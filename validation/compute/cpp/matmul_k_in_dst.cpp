// MB3, MB5C: subblock by subblock, each over all of K in Dst; K blocks wait in L1.
#include "product.hpp"

#include "api/compute/eltwise_unary/gelu.h"

void kernel_main() {
    start_product(cb_out);
    if constexpr (with_gelu) {
        gelu_tile_init<>();
    }
    cb_wait_front(cb_a, mt * kt);
    cb_wait_front(cb_b, nt * kt);
    cb_reserve_back(cb_out, mt * nt);
    for (uint32_t row = 0; row < mt; row += rt) {
        for (uint32_t column = 0; column < nt; column += ct) {
            tile_regs_acquire();
            for (uint32_t k = 0; k < kt; k++) {
                matmul_block(cb_a, cb_b, k * mt + row, k * nt + column, 0, 0, ct, rt, 1);
            }
            if constexpr (with_gelu) {
                for (uint32_t i = 0; i < rt * ct; i++) {
                    gelu_tile<>(i);
                }
            }
            pack_subblock();
        }
    }
    cb_pop_front(cb_a, mt * kt);
    cb_pop_front(cb_b, nt * kt);
    cb_push_back(cb_out, mt * nt);
}
