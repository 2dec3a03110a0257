// Reductions.  A program may define which ones its kernels do by default, so this comes behind its defines.
#pragma once
#include "tensim/compute.h"

#ifndef REDUCE_OP
#define TENSIM_REDUCE_OP SUM
#else
#define TENSIM_REDUCE_OP REDUCE_OP
#endif
#ifndef REDUCE_DIM
#define TENSIM_REDUCE_DIM REDUCE_ROW
#else
#define TENSIM_REDUCE_DIM REDUCE_DIM
#endif
namespace ckernel {
template <auto pool = TENSIM_REDUCE_OP, auto dim = TENSIM_REDUCE_DIM, auto... options>
TENSIM_INLINE void reduce_tile(uint32_t cb, uint32_t cb_scaler, uint32_t tile, uint32_t tile_scaler, uint32_t idst) {
    static_assert(uint32_t(pool) <= uint32_t(PoolType::MAX), "tensim refuses reduction: a minimum over a tile is not modelled");
    if constexpr (tensim::on_unpack)
        tensim::post_unpack_ab(cb, cb_scaler, tile, tile_scaler, 0, 0, uint32_t(dim));
    if constexpr (tensim::on_math) tensim::post_math_reduce(uint32_t(pool), uint32_t(dim), idst);
}
template <auto pool = TENSIM_REDUCE_OP, auto dim = TENSIM_REDUCE_DIM, auto... options>
TENSIM_INLINE void reduce_tile_math(uint32_t idst, uint32_t = 4) {
    if constexpr (tensim::on_math) tensim::post_math_reduce(uint32_t(pool), uint32_t(dim), idst);
}
template <auto pool = PoolType::SUM, auto format = DataFormat::Float32, auto dim = ReduceDim::REDUCE_COL, auto... options>
TENSIM_INLINE void sfpu_reduce(uint32_t idst, auto...) {
    if constexpr (tensim::on_math) tensim::post_sfpu_reduce(uint32_t(pool), uint32_t(dim), idst);
}
}  // namespace ckernel
