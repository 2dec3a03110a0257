// MB3, MB5C: C of every step of K is packed into L1, where the packer adds it up; then the epilogue, if there is one.
#include "product.hpp"

#include "api/compute/eltwise_unary/gelu.h"
#include "api/compute/tile_move_copy.h"

void kernel_main() {
    constexpr uint32_t target = with_gelu ? cb_sum : cb_out;
    start_product(target);
    cb_reserve_back(target, mt * nt);
    for (uint32_t k = 0; k < kt; k++) {
        cb_wait_front(cb_a, mt);
        cb_wait_front(cb_b, nt);
        if (k == 1) {
            pack_reconfig_l1_acc(1);
        }
        uint32_t tile = 0;
        for (uint32_t row = 0; row < mt; row += rt) {
            for (uint32_t column = 0; column < nt; column += ct) {
                tile_regs_acquire();
                matmul_block(cb_a, cb_b, row, column, 0, 0, ct, rt, 1);
                tile_regs_commit();
                tile_regs_wait();
                for (uint32_t i = 0; i < rt * ct; i++) {
                    pack_tile<true>(i, target, tile + i);
                }
                tile_regs_release();
                tile += rt * ct;
            }
        }
        cb_pop_front(cb_a, mt);
        cb_pop_front(cb_b, nt);
    }
    pack_reconfig_l1_acc(0);
    cb_push_back(target, mt * nt);
    if constexpr (with_gelu) {
        copy_tile_init(cb_sum);
        gelu_tile_init<>();
        cb_wait_front(cb_sum, mt * nt);
        cb_reserve_back(cb_out, mt * nt);
        for (uint32_t first = 0; first < mt * nt; first += rt * ct) {
            tile_regs_acquire();
            for (uint32_t i = 0; i < rt * ct; i++) {
                copy_tile(cb_sum, first + i, i);
            }
            for (uint32_t i = 0; i < rt * ct; i++) {
                gelu_tile<>(i);
            }
            pack_subblock();
        }
        cb_pop_front(cb_sum, mt * nt);
        cb_push_back(cb_out, mt * nt);
    }
}
