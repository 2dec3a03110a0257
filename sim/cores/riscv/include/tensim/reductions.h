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
    static_assert(uint32_t(pool) <= uint32_t(PoolType::MAX), "tensim refuses reduction: a minimum over a tile is not modelled");
    if constexpr (tensim::on_math) tensim::post_math_reduce(uint32_t(pool), uint32_t(dim), idst);
}
template <auto pool = PoolType::SUM, auto format = DataFormat::Float32, auto dim = ReduceDim::REDUCE_COL, auto... options>
TENSIM_INLINE void sfpu_reduce(uint32_t idst, uint32_t ct_dim = 1, uint32_t rt_dim = 1) {
    constexpr bool number = format == DataFormat::Float32 || format == DataFormat::Float16_b;
    constexpr bool integer = format == DataFormat::Int32 || format == DataFormat::UInt32 || format == DataFormat::UInt16;
    static_assert(number || integer, "tensim refuses data_format: sfpu_reduce of this data format");
    static_assert(
        number || pool != PoolType::AVG || dim == ReduceDim::REDUCE_COL,
        "tensim refuses reduction: an average of integers that are not a column");
    if (ct_dim != 1 || rt_dim != 1) tensim::post_fail_assert(TENSIM_TEXT("sfpu_reduce of several tiles is not modelled"));
    if constexpr (tensim::on_math)
        tensim::post_sfpu_reduce(uint32_t(pool), uint32_t(dim), idst, uint32_t(format));
}
}  // namespace ckernel
