// The sum of single-tile blocks: through L1 tile by tile, in L1 by the packer, or in Dst.

#include "api/compute/compute_kernel_hw_startup.h"
#include "api/compute/eltwise_binary.h"
#include "api/compute/tile_move_copy.h"

#include "../library/sections.h"

constexpr uint32_t cb_in = 0;
constexpr uint32_t cb_sum = 16;

constexpr uint32_t blocks = get_compile_time_arg_val(0);
constexpr uint32_t method = get_compile_time_arg_val(1);
constexpr uint32_t kernel_iters = get_compile_time_arg_val(2);
enum : uint32_t { ROUND_TRIP, PACKER, DEST };

// Each sum comes back as an operand of the next.
void sum_by_round_trips() {
    reconfig_data_format_srca(cb_in);
    pack_reconfig_data_format(cb_sum);
    copy_tile_init(cb_in);
    tile_regs_acquire();
    cb_wait_front(cb_in, 1);
    copy_tile(cb_in, 0, 0);
    cb_pop_front(cb_in, 1);
    pack_first(cb_sum);

    reconfig_data_format(cb_sum, cb_in);
    pack_reconfig_data_format(cb_sum);
    add_tiles_init(cb_sum, cb_in);
    for (uint32_t block = 1; block < blocks; block++) {
        tile_regs_acquire();
        cb_wait_front(cb_sum, 1);
        cb_wait_front(cb_in, 1);
        add_tiles(cb_sum, cb_in, 0, 0, 0);
        cb_pop_front(cb_sum, 1);
        cb_pop_front(cb_in, 1);
        pack_first(cb_sum);
    }
}

void sum_by_packer() {
    cb_wait_front(cb_in, blocks);
    cb_reserve_back(cb_sum, 1);
    for (uint32_t pair = 0; pair < blocks / 2; pair++) {
        if (pair > 0) {
            pack_reconfig_l1_acc(1);
        }
        tile_regs_acquire();
        add_tiles(cb_in, cb_in, 2 * pair, 2 * pair + 1, 0);
        tile_regs_commit();
        tile_regs_wait();
        pack_tile<true>(0, cb_sum, 0);
        tile_regs_release();
        if (pair > 0) {
            pack_reconfig_l1_acc(0);
        }
    }
    cb_push_back(cb_sum, 1);
    cb_pop_front(cb_in, blocks);
}

void sum_in_dest() {
    cb_wait_front(cb_in, blocks);
    tile_regs_acquire();
    for (uint32_t i = 0; i < blocks / 2; i++) {
        add_tiles(cb_in, cb_in, i, i + blocks / 2, 0);
    }
    pack_first(cb_sum);
    cb_pop_front(cb_in, blocks);
}

void kernel_main() {
    compute_kernel_hw_startup(cb_in, cb_sum, cb_sum);
    if constexpr (method != ROUND_TRIP) {
        add_tiles_init(cb_in, cb_in, method == DEST);
    }
    for (uint32_t iteration = 0; iteration < kernel_iters; iteration++) {
        arm(cb_in, blocks);
        if constexpr (method == ROUND_TRIP) {
            sum_by_round_trips();
        } else if constexpr (method == PACKER) {
            sum_by_packer();
        } else {
            sum_in_dest();
        }
        if (iteration + 1 < kernel_iters) {
            drain(cb_sum, 1);
        }
    }
}
