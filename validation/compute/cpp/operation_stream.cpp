// MB4, MB5B: `rounds` times `tiles` calls of an operation, `chunk` per acquire of Dst, packed tile by tile or as a block.
// Operands rest in L1, results leave it `batch` tiles at a time.
#include <cstdint>

#include "api/compute/bcast.h"
#include "api/compute/common.h"
#include "api/compute/compute_kernel_hw_startup.h"
#include "api/compute/eltwise_binary.h"
#include "api/compute/pack.h"
#include "api/compute/reduce.h"
#include "api/compute/tile_move_copy.h"
#include "api/compute/transpose.h"

enum Operation : uint32_t { COPY, ADD, MUL, SUB_COLUMNS, MUL_COLUMNS, TRANSPOSE, MAX_OF_ROW, SUM_OF_ROW };  // the order of `OPS`
constexpr uint32_t op = get_compile_time_arg_val(0), tiles = get_compile_time_arg_val(1), chunk = get_compile_time_arg_val(2);
constexpr uint32_t batch = get_compile_time_arg_val(3);
constexpr bool blockwise = get_compile_time_arg_val(4) != 0;
constexpr uint32_t cb_a = 0, cb_b = 1, cb_out = 16;
static_assert(op <= SUM_OF_ROW);

inline void initialise() {
    if constexpr (op == COPY) {
        copy_tile_init(cb_a);
    } else if constexpr (op == ADD) {
        binary_tiles_init<true, EltwiseBinaryType::ELWADD>(cb_a, cb_b);
    } else if constexpr (op == MUL) {
        binary_tiles_init<true, EltwiseBinaryType::ELWMUL>(cb_a, cb_b);
    } else if constexpr (op == SUB_COLUMNS) {
        sub_bcast_cols_init(cb_a, cb_b);
    } else if constexpr (op == MUL_COLUMNS) {
        mul_bcast_cols_init(cb_a, cb_b);
    } else if constexpr (op == TRANSPOSE) {
        transpose_init(cb_a);
    } else if constexpr (op == MAX_OF_ROW) {
        reduce_init<PoolType::MAX, ReduceDim::REDUCE_ROW>(cb_a, cb_b, cb_out);
    } else {
        reduce_init<PoolType::SUM, ReduceDim::REDUCE_ROW>(cb_a, cb_b, cb_out);
    }
}

inline void operation(uint32_t tile, uint32_t idst) {
    if constexpr (op == COPY) {
        copy_tile(cb_a, tile, idst);
    } else if constexpr (op == ADD) {
        add_tiles(cb_a, cb_b, tile, tile, idst);
    } else if constexpr (op == MUL) {
        mul_tiles(cb_a, cb_b, tile, tile, idst);
    } else if constexpr (op == SUB_COLUMNS) {
        sub_tiles_bcast_cols(cb_a, cb_b, tile, tile, idst);
    } else if constexpr (op == MUL_COLUMNS) {
        mul_tiles_bcast_cols(cb_a, cb_b, tile, tile, idst);
    } else if constexpr (op == TRANSPOSE) {
        transpose_tile(cb_a, tile, idst);
    } else if constexpr (op == MAX_OF_ROW) {
        reduce_tile<PoolType::MAX, ReduceDim::REDUCE_ROW>(cb_a, cb_b, tile, 0, idst);
    } else {
        reduce_tile<PoolType::SUM, ReduceDim::REDUCE_ROW>(cb_a, cb_b, tile, 0, idst);
    }
}

void kernel_main() {
    const uint32_t rounds = get_arg_val<uint32_t>(0);
    compute_kernel_hw_startup(cb_a, cb_b, cb_out);
    initialise();
    cb_wait_front(cb_a, tiles);
    cb_wait_front(cb_b, tiles);
    for (uint32_t round = 0; round < rounds; round++) {
        for (uint32_t begin = 0; begin < tiles; begin += batch) {
            cb_reserve_back(cb_out, batch);
            for (uint32_t first = begin; first < begin + batch; first += chunk) {
                tile_regs_acquire();
                for (uint32_t i = 0; i < chunk; i++) {
                    operation(first + i, i);
                }
                tile_regs_commit();
                tile_regs_wait();
                if constexpr (blockwise) {
                    pack_block(0, cb_out, chunk);
                } else {
                    for (uint32_t i = 0; i < chunk; i++) {
                        pack_tile(i, cb_out);
                    }
                }
                tile_regs_release();
            }
            cb_push_back(cb_out, batch);
        }
    }
}
