// Means by addition: tiles are added in pairs into one tile of Dst, which the vector unit then reduces.
#pragma once

#include "api/compute/eltwise_binary.h"
#include "api/compute/eltwise_unary/binop_with_scalar.h"
#include "api/compute/reduce.h"
#include "api/compute/tile_move_copy.h"
#include "sections.h"

// The sum of `count` tiles from `first` on, `stride` apart, in tile 0 of an acquired section.  `odd_copied`: a section reads
// as zero at first, so pairs are accumulated from the start; else the first pair is added without accumulation.
template <uint32_t cb_in, bool accumulate_first>
void add_pairs(uint32_t first, uint32_t stride, uint32_t count) {
    uint32_t next = 0;
    if (count % 2 == 1) {
        copy_tile_init(cb_in);
        copy_tile(cb_in, first, 0);
        next = 1;
    } else if constexpr (!accumulate_first) {
        add_tiles_init(cb_in, cb_in, false);
        add_tiles(cb_in, cb_in, first, first + stride, 0);
        next = 2;
    }
    add_tiles_init(cb_in, cb_in, true);
    for (; next < count; next += 2) {
        add_tiles(cb_in, cb_in, first + next * stride, first + (next + 1) * stride, 0);
    }
}

// Tile 0 of Dst reduced along a dimension, or along both.
template <ReduceDim dim, DataFormat format>
void reduce_in_dst() {
    if constexpr (dim == ReduceDim::REDUCE_SCALAR) {
        sfpu_reduce<PoolType::SUM, format, ReduceDim::REDUCE_ROW>(0, 1, 1);
        sfpu_reduce<PoolType::SUM, format, ReduceDim::REDUCE_COL>(0, 1, 1);
    } else {
        sfpu_reduce<PoolType::SUM, format, dim>(0, 1, 1);
    }
}

// Mean of a block of Ht x Wt x NC tiles along a dimension, a tile per result; the block's tiles must be there.
template <ReduceDim dim, uint32_t cb_in, uint32_t cb_out, bool accumulate_first>
void reduce_by_adding(uint32_t height, uint32_t width, uint32_t outputs, uint32_t factor) {
    for (uint32_t output = 0; output < outputs; output++) {
        uint32_t first = output * width, stride = 1, count = width;
        if constexpr (dim == ReduceDim::REDUCE_COL) {
            first = output / width * height * width + output % width;
            stride = width;
            count = height;
        } else if constexpr (dim == ReduceDim::REDUCE_SCALAR) {
            first = output * height * width;
            count = height * width;
        }
        tile_regs_acquire();
        add_pairs<cb_in, accumulate_first>(first, stride, count);
        reduce_in_dst<dim, DataFormat::Float32>();
        mul_unary_tile(0, factor);
        pack_first(cb_out);
    }
}
