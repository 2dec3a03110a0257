// The sum of all tiles that stream past, accumulated in Dst from a tile of zeros on.

#include <cstdint>

#include "api/compute/common.h"
#include "api/compute/compute_kernel_hw_startup.h"
#include "api/compute/eltwise_binary.h"

constexpr uint32_t cb_in = 0;
constexpr uint32_t cb_zero = 2;
constexpr uint32_t cb_out = 16;

void kernel_main() {
    constexpr uint32_t chunk_tiles = get_compile_time_arg_val(0);
    constexpr uint32_t num_chunks = get_compile_time_arg_val(1);

    compute_kernel_hw_startup(cb_in, cb_out);
    cb_wait_front(cb_in, chunk_tiles);
    sub_tiles_init(cb_in, cb_in);
    tile_regs_acquire();
    sub_tiles(cb_in, cb_in, 0, 0, 0);
    tile_regs_commit();
    tile_regs_wait();
    cb_reserve_back(cb_zero, 1);
    pack_tile(0, cb_zero);
    cb_push_back(cb_zero, 1);
    tile_regs_release();
    cb_wait_front(cb_zero, 1);

    add_tiles_init(cb_in, cb_zero, true);
    tile_regs_acquire();
    for (uint32_t chunk = 0; chunk < num_chunks; chunk++) {
        if (chunk > 0) {
            cb_wait_front(cb_in, chunk_tiles);
        }
        for (uint32_t tile = 0; tile < chunk_tiles; tile++) {
            add_tiles(cb_in, cb_zero, tile, 0, 0);
        }
        cb_pop_front(cb_in, chunk_tiles);
    }
    tile_regs_commit();
    tile_regs_wait();
    cb_reserve_back(cb_out, 1);
    pack_tile(0, cb_out);
    cb_push_back(cb_out, 1);
    tile_regs_release();
    cb_pop_front(cb_zero, 1);
}
