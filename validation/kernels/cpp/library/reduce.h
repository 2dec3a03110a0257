// Reduces blocks of tiles along rows, columns or both, a result tile per row, column or block; tiles come and go in bulk.
#pragma once

#include "api/compute/reduce.h"
#include "sections.h"

template <PoolType pool, ReduceDim dim, uint32_t cb_in, uint32_t cb_scaler, uint32_t cb_out>
void reduce_blocks(uint32_t height, uint32_t width, uint32_t batches) {
    constexpr bool by_row = dim == ReduceDim::REDUCE_ROW;
    reconfig_data_format(by_row ? cb_scaler : cb_in, by_row ? cb_in : cb_scaler);
    pack_reconfig_data_format(cb_out);
    reduce_init<pool, dim>(cb_in, cb_scaler, cb_out);
    cb_wait_front(cb_scaler, 1);

    if constexpr (by_row) {
        for (uint32_t row = 0; row < batches * height; row++) {
            cb_wait_front(cb_in, width);
            tile_regs_acquire();
            for (uint32_t tile = 0; tile < width; tile++) {
                reduce_tile<pool, dim>(cb_in, cb_scaler, tile, 0, 0);
            }
            cb_reserve_back(cb_out, 1);
            tile_regs_commit();
            tile_regs_wait();
            pack_tile(0, cb_out);
            tile_regs_release();
            cb_push_back(cb_out, 1);
            cb_pop_front(cb_in, width);
        }
    } else if constexpr (dim == ReduceDim::REDUCE_COL) {
        for (uint32_t batch = 0; batch < batches; batch++) {
            for (uint32_t first = 0; first < width; first += dest_limit) {
                const uint32_t now = width - first < dest_limit ? width - first : dest_limit;
                cb_wait_front(cb_in, height * now);
                tile_regs_acquire();
                for (uint32_t row = 0; row < height; row++) {
                    for (uint32_t i = 0; i < now; i++) {
                        reduce_tile<pool, dim>(cb_in, cb_scaler, row * now + i, 0, i);
                    }
                }
                tile_regs_commit();
                tile_regs_wait();
                for (uint32_t i = 0; i < now; i++) {
                    cb_reserve_back(cb_out, 1);
                    pack_tile(i, cb_out);
                    cb_push_back(cb_out, 1);
                }
                tile_regs_release();
                cb_pop_front(cb_in, height * now);
            }
        }
    } else {
        const uint32_t tiles = height * width;
        for (uint32_t batch = 0; batch < batches; batch++) {
            cb_wait_front(cb_in, tiles);
            tile_regs_acquire();
            for (uint32_t tile = 0; tile < tiles; tile++) {
                reduce_tile<pool, dim>(cb_in, cb_scaler, tile, 0, 0);
            }
            cb_reserve_back(cb_out, 1);
            tile_regs_commit();
            tile_regs_wait();
            pack_tile(0, cb_out);
            cb_push_back(cb_out, 1);
            tile_regs_release();
            cb_pop_front(cb_in, tiles);
        }
    }
    reduce_uninit();
}
