// One iteration per framed block: six products per tile, accumulated in the destination register.

#include <cstdint>

#include "compute_kernel_api/matmul.h"
#include "compute_kernel_api/tile_move_copy.h"

constexpr uint32_t cb_state = 0;
constexpr uint32_t cb_coefficients = 1;
constexpr uint32_t cb_next = 16;
constexpr uint32_t cb_final = 17;
enum : uint32_t { beside = 0, last_to_first = 1, first_to_last = 2 };  // coefficient tiles
constexpr uint32_t coefficient_tiles = 4;

namespace NAMESPACE {

void MAIN {
    constexpr uint32_t rows = get_compile_time_arg_val(0);
    constexpr uint32_t columns = get_compile_time_arg_val(1);
    constexpr uint32_t frame_w = columns + 2;
    constexpr uint32_t frame_tiles = (rows + 2) * frame_w;
    const uint32_t iterations = get_arg_val<uint32_t>(0);

    mm_init(cb_state, cb_coefficients, cb_next);
    cb_wait_front(cb_coefficients, coefficient_tiles);
    for (uint32_t iteration = 0; iteration < iterations; iteration++) {
        const uint32_t target = iteration == iterations - 1 ? cb_final : cb_next;
        cb_wait_front(cb_state, frame_tiles);
        for (uint32_t row = 0; row < rows; row++) {
            for (uint32_t column = 0; column < columns; column++) {
                const uint32_t here = (row + 1) * frame_w + column + 1;
                tile_regs_acquire();
                matmul_tiles(cb_coefficients, cb_state, beside, here, 0);
                matmul_tiles(cb_coefficients, cb_state, last_to_first, here - frame_w, 0);
                matmul_tiles(cb_coefficients, cb_state, first_to_last, here + frame_w, 0);
                matmul_tiles(cb_state, cb_coefficients, here, beside, 0);
                matmul_tiles(cb_state, cb_coefficients, here - 1, first_to_last, 0);
                matmul_tiles(cb_state, cb_coefficients, here + 1, last_to_first, 0);
                tile_regs_commit();
                cb_reserve_back(target, 1);
                tile_regs_wait();
                pack_tile(0, target);
                tile_regs_release();
                cb_push_back(target, 1);
            }
        }
        cb_pop_front(cb_state, frame_tiles);
    }
}

}  // namespace NAMESPACE
