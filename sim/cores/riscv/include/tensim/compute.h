// The compute calls of both generations: what the unpack, math and pack threads do for each.
#pragma once
#include "tensim/compute_threads.h"
#include "tensim/vector_functions.h"

namespace tensim {
using namespace config_code;
TENSIM_INLINE void unpack_tile(uint32_t cb, uint32_t tile, uint32_t transpose = 0) {
    if constexpr (on_unpack) post_unpack_a(cb, tile, transpose, 0, 1);
}
TENSIM_INLINE void math_copy(uint32_t idst, uint32_t bcast = 0) {
    if constexpr (on_math) post_math_copy(idst, bcast);
}
TENSIM_INLINE void binary(
    uint32_t op, uint32_t bcast, uint32_t cb0, uint32_t cb1, uint32_t tile0, uint32_t tile1, uint32_t idst) {
    if constexpr (on_unpack) post_unpack_ab(cb0, cb1, tile0, tile1, bcast, 0, 0);
    if constexpr (on_math) post_math_binary(op, idst, bcast, accumulate, 0);
}
TENSIM_INLINE void reuse(uint32_t op, uint32_t side, uint32_t cb, uint32_t tile, uint32_t idst) {
    if constexpr (on_unpack) post_unpack_reuse(cb, tile, side);
    if constexpr (on_math) post_math_binary(op, idst, 0, 0, side);
}
TENSIM_INLINE void pack(uint32_t idst, uint32_t cb, int32_t tile, uint32_t tiles = 1) {
    if constexpr (on_pack) post_pack(idst, cb, tile, tiles, 0, 0);
}
TENSIM_INLINE void pack_untilized(uint32_t idst, uint32_t cb, uint32_t tile, uint32_t tiles, uint32_t full_width) {
    if constexpr (on_pack) post_pack(idst, cb, tile, tiles, full_width, tiles);
}
TENSIM_INLINE void short_init(uint32_t setup, bool accumulates) {
    configure_unpack_math(SHORT_INIT, setup);
    accumulate = accumulates;
}
}  // namespace tensim

namespace ckernel {
// --- Dst sections

template <auto... options>
TENSIM_INLINE void tile_regs_acquire() {
    if constexpr (tensim::on_math) tensim::post_dst_acquire();
}
template <auto... options>
TENSIM_INLINE void tile_regs_commit() {
    if constexpr (tensim::on_math) tensim::post_dst_commit();
}
template <auto... options>
TENSIM_INLINE void tile_regs_wait() {
    if constexpr (tensim::on_pack) tensim::post_dst_wait();
}
template <auto... options>
TENSIM_INLINE void tile_regs_release() {
    if constexpr (tensim::on_pack) tensim::post_dst_release();
}
template <auto... options>
TENSIM_INLINE void acquire_dst() {
    tile_regs_acquire();
    tile_regs_wait();
}
template <auto... options>
TENSIM_INLINE void release_dst() {
    tile_regs_commit();
    tile_regs_release();
}

// --- configuration: any arguments, one cost; what it sets up, and the places of the circular buffers of SrcA and the packer

#define TENSIM_CONFIGURE(name, threads, kind)                                                       \
    template <auto... options> TENSIM_INLINE void name(auto...) { tensim::configure_##threads(tensim::kind); }
// The initialisation that several functions share is that of one of them.
#define TENSIM_VECTOR_INIT(name, function)                                                          \
    template <auto... options> TENSIM_INLINE void name(auto...) {                                   \
        tensim::configure_math(tensim::SFPU_INIT, tensim::function##_code);                         \
    }
#define TENSIM_SET_UP_ALL(name, kind, setup, a, out, packs)                                         \
    template <auto... options> TENSIM_INLINE void name(auto... values) {                            \
        tensim::set_up_all<a, out>(tensim::kind, tensim::setup, tensim::packs, values...);          \
    }
#define TENSIM_SET_UP(name, kind, setup, a)                                                         \
    template <auto... options> TENSIM_INLINE void name(auto... values) {                            \
        tensim::set_up_unpack_math<a>(tensim::kind, tensim::setup, values...);                      \
    }
#define TENSIM_SET_UP_PACK(name, kind, packs, out)                                                  \
    template <auto... options> TENSIM_INLINE void name(auto... values) {                            \
        tensim::set_up_pack<out>(tensim::kind, tensim::packs, values...);                           \
    }
#define TENSIM_SET_UP_MATMUL_ALL(name, out, transpose)                                              \
    template <auto... options> TENSIM_INLINE void name(auto... values) {                            \
        tensim::set_up_all<1, out>(                                                                 \
            tensim::INIT, tensim::matmul_setup<transpose>(values...), tensim::setup_code::PACK, values...);                                                    \
    }
#define TENSIM_SET_UP_MATMUL(name, a, transpose)                                                    \
    template <auto... options> TENSIM_INLINE void name(auto... values) {                            \
        tensim::set_up_unpack_math<a>(tensim::SHORT_INIT, tensim::matmul_setup<transpose>(values...), values...);                                              \
    }
TENSIM_SET_UP_ALL(compute_kernel_hw_startup, HW_STARTUP, setup_code::FORMATS, 0, 2, setup_code::PACK)
TENSIM_SET_UP_MATMUL_ALL(mm_init, 2, 3)
TENSIM_SET_UP_MATMUL_ALL(mm_block_init, 2, 3)
TENSIM_SET_UP_MATMUL_ALL(matmul_init, -1, 2)
TENSIM_SET_UP_MATMUL_ALL(matmul_block_init, -1, 2)
TENSIM_SET_UP_ALL(binary_op_init_common, INIT, setup_code::PAIR, 0, 2, setup_code::PACK)
TENSIM_SET_UP_ALL(init_bcast, INIT, setup_code::ANYTHING, 0, 2, setup_code::PACK)
TENSIM_SET_UP_ALL(bcast_init, INIT, setup_code::ANYTHING, 0, 2, setup_code::PACK)
TENSIM_SET_UP_ALL(init_sfpu, INIT, setup_code::COPY, 0, 1, setup_code::PACK)
TENSIM_SET_UP_ALL(unary_op_init_common, INIT, setup_code::COPY, 0, 1, setup_code::PACK)
TENSIM_SET_UP_ALL(transpose_wh_init, INIT, setup_code::TRANSPOSE, 0, 1, setup_code::PACK)
TENSIM_SET_UP_ALL(transpose_init, INIT, setup_code::TRANSPOSE, 0, 1, setup_code::PACK)
TENSIM_SET_UP_ALL(tilize_init, INIT, setup_code::TILIZE, 0, 2, setup_code::PACK)
TENSIM_SET_UP_ALL(fast_tilize_init, INIT, setup_code::TILIZE, 0, 2, setup_code::PACK)
TENSIM_SET_UP_ALL(fast_tilize_init_skip_remap, INIT, setup_code::TILIZE, 0, 2, setup_code::PACK)
TENSIM_SET_UP_ALL(fast_tilize_init_with_dt, INIT, setup_code::TILIZE, 0, 2, setup_code::PACK)
TENSIM_SET_UP_ALL(fast_tilize_init_with_dt_skip_remap, INIT, setup_code::TILIZE, 0, 2, setup_code::PACK)
TENSIM_SET_UP_ALL(untilize_init, INIT, setup_code::UNTILIZE, 0, -1, setup_code::PACK)
TENSIM_SET_UP_ALL(pack_untilize_init, INIT, setup_code::COPY, 0, 1, setup_code::PACK_UNTILIZE)
TENSIM_SET_UP_ALL(unary_bcast_init, INIT, setup_code::UNARY_BCAST, 0, 1, setup_code::PACK)
TENSIM_SET_UP_MATMUL(mm_init_short, -1, 2)
TENSIM_SET_UP_MATMUL(mm_init_short_with_dt, 1, 3)
TENSIM_SET_UP_MATMUL(mm_init_short_with_both_dt, 1, 4)
TENSIM_SET_UP_MATMUL(mm_block_init_short, -1, 2)
TENSIM_SET_UP_MATMUL(mm_block_init_short_with_dt, 1, 3)
TENSIM_SET_UP_MATMUL(mm_block_init_short_with_both_dt, 1, 4)
TENSIM_SET_UP_MATMUL(matmul_init_with_dt, 1, 3)
TENSIM_SET_UP_MATMUL(matmul_block_init_with_dt, 1, 3)
TENSIM_SET_UP(binary_dest_reuse_tiles_init, SHORT_INIT, setup_code::ANYTHING, -1)
TENSIM_SET_UP(add_reuse_dest_init, SHORT_INIT, setup_code::REUSE + ELWADD, -1)
TENSIM_SET_UP(sub_reuse_dest_init, SHORT_INIT, setup_code::REUSE + ELWSUB, -1)
TENSIM_SET_UP(mul_reuse_dest_init, SHORT_INIT, setup_code::REUSE + ELWMUL, -1)
TENSIM_SET_UP(reduce_init_short, SHORT_INIT, setup_code::REDUCE, -1)
TENSIM_SET_UP(reduce_init_delta, SHORT_INIT, setup_code::REDUCE, -1)
TENSIM_CONFIGURE(reduce_revert_delta, unpack_math, SHORT_INIT)
TENSIM_SET_UP_ALL(reduce_init, SHORT_INIT, setup_code::REDUCE, -1, 2, setup_code::PACK)
TENSIM_SET_UP(transpose_wh_init_short, SHORT_INIT, setup_code::TRANSPOSE, -1)
TENSIM_SET_UP(copy_tile_init, SHORT_INIT, setup_code::COPY, -1)
TENSIM_SET_UP(copy_init, SHORT_INIT, setup_code::COPY, -1)
TENSIM_SET_UP(copy_tile_to_dst_init_short, SHORT_INIT, setup_code::COPY, -1)
TENSIM_SET_UP(copy_tile_to_dst_init_short_with_dt, SHORT_INIT, setup_code::COPY, 1)
TENSIM_SET_UP(copy_init_with_dt, SHORT_INIT, setup_code::COPY, 1)
TENSIM_SET_UP(tilize_init_short, SHORT_INIT, setup_code::TILIZE, -1)
TENSIM_SET_UP(tilize_init_short_with_dt, SHORT_INIT, setup_code::TILIZE, 1)
TENSIM_CONFIGURE(tilize_uninit, unpack_math, SHORT_INIT)
TENSIM_CONFIGURE(tilize_uninit_with_dt, unpack_math, SHORT_INIT)
TENSIM_CONFIGURE(fast_tilize_uninit, unpack_math, SHORT_INIT)
TENSIM_SET_UP(untilize_init_short, SHORT_INIT, setup_code::UNTILIZE, -1)
TENSIM_CONFIGURE(untilize_uninit, unpack_math, SHORT_INIT)
TENSIM_SET_UP(reconfigure_unary_bcast, SHORT_INIT, setup_code::UNARY_BCAST, -1)
TENSIM_CONFIGURE(unary_bcast_uninit, unpack_math, SHORT_INIT)
TENSIM_CONFIGURE(copy_dest_values_init, math, SHORT_INIT)
TENSIM_CONFIGURE(transpose_dest_init, math, SHORT_INIT)
TENSIM_CONFIGURE(transpose_wh_dest_init_short, math, SHORT_INIT)
TENSIM_CONFIGURE(sfpu_reduce_init, math, SFPU_INIT)
TENSIM_VECTOR_INIT(binop_with_scalar_tile_init, add_unary)
TENSIM_VECTOR_INIT(max_tile_init, binary_max)
TENSIM_VECTOR_INIT(mask_tile_init, mask_binary)
TENSIM_SET_UP_PACK(pack_untilize_dest_init, SHORT_INIT, setup_code::PACK_UNTILIZE, 0)
TENSIM_SET_UP_PACK(pack_untilize_dst_init_short, SHORT_INIT, setup_code::PACK_UNTILIZE, 0)
TENSIM_SET_UP_PACK(pack_untilize_uninit, SHORT_INIT, setup_code::PACK, 0)
TENSIM_SET_UP_PACK(pack_init, SHORT_INIT, setup_code::PACK, 0)
TENSIM_SET_UP_ALL(pack_untilize_init_skip_remap, INIT, setup_code::COPY, 0, 1, setup_code::PACK_UNTILIZE)
TENSIM_SET_UP_ALL(fast_untilize_init, INIT, setup_code::COPY, 0, 1, setup_code::PACK_UNTILIZE)
TENSIM_SET_UP_ALL(fast_untilize_init_skip_remap, INIT, setup_code::COPY, 0, 1, setup_code::PACK_UNTILIZE)
TENSIM_SET_UP_PACK(fast_untilize_uninit, SHORT_INIT, setup_code::PACK, 0)
TENSIM_VECTOR_INIT(binary_bitwise_tile_init, bitwise_and_binary)
TENSIM_VECTOR_INIT(binary_shift_tile_init, binary_left_shift)
TENSIM_SET_UP(binary_op_specific_init, SHORT_INIT, setup_code::ANYTHING, -1)
TENSIM_VECTOR_INIT(rounding_op_tile_init, floor)
TENSIM_SET_UP_PACK(init_sfpu_pack, SHORT_INIT, setup_code::PACK, 0)
// (a, b), or (old a, a, old b, b); those of one operand: (new) or (old, new)
template <auto... options>
TENSIM_INLINE void reconfig_data_format(auto... values) {
    tensim::set_up_unpack_math<sizeof...(values) == 4 ? 1 : 0>(tensim::RECONFIG, tensim::setup_code::FORMATS, values...);
}
template <auto... options>
TENSIM_INLINE void reconfig_data_format_srca(auto... values) {
    tensim::set_up_unpack_math<int(sizeof...(values)) - 1>(tensim::RECONFIG, tensim::setup_code::FORMAT_A, values...);
}
template <auto... options>
TENSIM_INLINE void reconfig_data_format_srcb(auto... values) {
    tensim::set_up_unpack_math<int(sizeof...(values)) - 1>(tensim::RECONFIG, tensim::setup_code::FORMAT_B, values...);
}
template <auto... options>
TENSIM_INLINE void pack_reconfig_data_format(auto... values) {
    tensim::set_up_pack<int(sizeof...(values)) - 1>(tensim::RECONFIG, tensim::setup_code::FORMATS, values...);
}
TENSIM_CONFIGURE(reconfig_full_operand, unpack_math, RECONFIG)
TENSIM_CONFIGURE(reconfig_full_operand_srca, unpack_math, RECONFIG)
TENSIM_CONFIGURE(reconfig_full_operand_srcb, unpack_math, RECONFIG)
// Takes back the packer's mask: two register writes.
template <auto... options>
TENSIM_INLINE void reduce_uninit(auto...) {}
template <auto... options>
TENSIM_INLINE void pack_reconfig_l1_acc(uint32_t enable) {
    if constexpr (tensim::on_pack) tensim::post_config(tensim::PACK_L1_ACC, enable);
}
template <auto... options>
TENSIM_INLINE void pack_relu_config(auto config) {
    const uint32_t word = uint32_t(config);
    if constexpr (tensim::on_pack) tensim::post_config(tensim::PACK_RELU, (word & 3) | word >> 16 << 2);
}

// --- element-wise operations: plain, broadcast in both generations of names, operand reused from Dst

#define TENSIM_BINARY_BCAST(name, op, dim, DIM)                                                                    \
    template <auto... options> TENSIM_INLINE void name##_tiles_bcast_##dim(                                                                    \
        uint32_t cb0, uint32_t cb1, uint32_t tile0, uint32_t tile1, uint32_t idst, uint32_t line = 0) {             \
        if (line) tensim::post_fail_assert(TENSIM_TEXT("a broadcast of another line than the first is not modelled")); \
        tensim::binary(op, uint32_t(BroadcastType::DIM), cb0, cb1, tile0, tile1, idst);                             \
    }                                                                                                               \
    TENSIM_SET_UP(name##_bcast_##dim##_init_short, SHORT_INIT, setup_code::BINARY + 4 * op + uint32_t(BroadcastType::DIM), -1)                                      \
    TENSIM_SET_UP(name##_bcast_##dim##_init_short_with_dt, SHORT_INIT, setup_code::BINARY + 4 * op + uint32_t(BroadcastType::DIM), -1)                              \
    TENSIM_SET_UP(name##_tiles_bcast_##dim##_init_short, SHORT_INIT, setup_code::BINARY + 4 * op + uint32_t(BroadcastType::DIM), -1)                                \
    TENSIM_SET_UP(name##_bcast_##dim##_init, SHORT_INIT, setup_code::BINARY + 4 * op + uint32_t(BroadcastType::DIM), -1)
#define TENSIM_BINARY(name, op)                                                                                     \
    template <auto... options>                                                                                      \
    TENSIM_INLINE void name##_tiles(uint32_t cb0, uint32_t cb1, uint32_t tile0, uint32_t tile1, uint32_t idst) {    \
        tensim::binary(op, 0, cb0, cb1, tile0, tile1, idst);                                                        \
    }                                                                                                               \
    template <BroadcastType bcast>                                                                                  \
    TENSIM_INLINE void name##_tiles_bcast(                                                                          \
        uint32_t cb0, uint32_t cb1, uint32_t tile0, uint32_t tile1, uint32_t idst) {                                \
        tensim::binary(op, uint32_t(bcast), cb0, cb1, tile0, tile1, idst);                                          \
    }                                                                                                               \
    template <auto side = EltwiseBinaryReuseDestType::DEST_TO_SRCA, auto... options>                                \
    TENSIM_INLINE void name##_reuse_dest_tiles(uint32_t cb, uint32_t tile, uint32_t idst) {                         \
        tensim::reuse(op, uint32_t(side), cb, tile, idst);                                                          \
    }                                                                                                               \
    template <auto... options>                                                                                      \
    TENSIM_INLINE void name##_tiles_init(uint32_t = 0, uint32_t = 0, bool accumulates = false, auto...) {           \
        tensim::short_init(tensim::setup_code::BINARY + 4 * op, accumulates);                                                                            \
    }                                                                                                               \
    template <auto... options>                                                                                      \
    TENSIM_INLINE void name##_init(uint32_t = 0, uint32_t = 0, bool accumulates = false, auto...) {                 \
        tensim::short_init(tensim::setup_code::BINARY + 4 * op, accumulates);                                                                            \
    }                                                                                                               \
    TENSIM_BINARY_BCAST(name, op, rows, ROW)                                                                        \
    TENSIM_BINARY_BCAST(name, op, cols, COL)                                                                        \
    TENSIM_BINARY_BCAST(name, op, scalar, SCALAR)
TENSIM_BINARY(add, ELWADD)
TENSIM_BINARY(sub, ELWSUB)
TENSIM_BINARY(mul, ELWMUL)
template <bool full = true, auto op = ELWADD>
TENSIM_INLINE void binary_tiles_init(uint32_t = 0, uint32_t = 0, bool accumulates = false, auto...) {
    static_assert(uint32_t(op) <= uint32_t(ELWMUL), "tensim refuses mode: binary_tiles_init of this operation");
    tensim::short_init(tensim::setup_code::BINARY + 4 * uint32_t(op), accumulates);
}
template <EltwiseBinaryType op = ELWADD, EltwiseBinaryReuseDestType side = EltwiseBinaryReuseDestType::DEST_TO_SRCA>
TENSIM_INLINE void binary_dest_reuse_tiles(uint32_t cb, uint32_t tile, uint32_t idst) {
    static_assert(op <= ELWMUL, "tensim refuses mode: binary_dest_reuse_tiles of this operation");
    static_assert(side != EltwiseBinaryReuseDestType::NONE, "tensim refuses mode: binary_dest_reuse_tiles that reuse nothing");
    tensim::reuse(op, uint32_t(side), cb, tile, idst);
}

// --- matrix product

template <auto... options>
TENSIM_INLINE void matmul_tiles(
    uint32_t cb0, uint32_t cb1, uint32_t tile0, uint32_t tile1, uint32_t idst,
    uint32_t transpose = tensim::transposed) {
    if constexpr (tensim::on_unpack) tensim::post_unpack_matmul(cb0, cb1, tile0, tile1, 1, 1, 1, transpose);
    if constexpr (tensim::on_math) tensim::post_math_matmul(idst, 1, 1);
}
template <auto... options>
TENSIM_INLINE void matmul_tiles_math(uint32_t idst) {
    if constexpr (tensim::on_math) tensim::post_math_matmul(idst, 1, 1);
}
template <auto... options>
TENSIM_INLINE void matmul_block(
    uint32_t cb0, uint32_t cb1, uint32_t tile0, uint32_t tile1, uint32_t idst, uint32_t transpose, uint32_t ct_dim,
    uint32_t rt_dim, uint32_t kt_dim, auto...) {
    if constexpr (tensim::on_unpack)
        tensim::post_unpack_matmul(cb0, cb1, tile0, tile1, ct_dim, rt_dim, kt_dim, transpose);
    if constexpr (tensim::on_math) tensim::post_math_matmul(idst, ct_dim, rt_dim);
}

// --- copies, broadcasts, transposes

template <auto... options>
TENSIM_INLINE void copy_tile(uint32_t cb, uint32_t tile, uint32_t idst) {
    tensim::unpack_tile(cb, tile);
    tensim::math_copy(idst);
}
template <auto... options>
TENSIM_INLINE void copy_block_matmul_partials(uint32_t cb, uint32_t tile, uint32_t idst, uint32_t tiles) {
    for (uint32_t i = 0; i < tiles; i++) copy_tile(cb, tile + i, idst + i);
}
template <auto... options>
TENSIM_INLINE void copy_block(uint32_t cb, uint32_t tile, uint32_t idst, uint32_t tiles) {
    copy_block_matmul_partials(cb, tile, idst, tiles);
}
template <auto... options>
TENSIM_INLINE void transpose_wh_tile(uint32_t cb, uint32_t tile, uint32_t idst) {
    tensim::unpack_tile(cb, tile, 1);
    tensim::math_copy(idst);
}
template <auto... options>
TENSIM_INLINE void transpose_tile(uint32_t cb, uint32_t tile, uint32_t idst) {
    transpose_wh_tile(cb, tile, idst);
}
template <auto bcast = BroadcastType::ROW, auto... options>
TENSIM_INLINE void unary_bcast(uint32_t cb, uint32_t tile, uint32_t idst) {
    tensim::unpack_tile(cb, tile);
    tensim::math_copy(idst, uint32_t(bcast));
}
template <auto... options>
TENSIM_INLINE void transpose_dest(uint32_t idst) {
    if constexpr (tensim::on_math) tensim::post_math_transpose_dst(idst);
}
template <auto... options>
TENSIM_INLINE void transpose_wh_dest(uint32_t idst) {
    transpose_dest(idst);
}
template <auto... options>
TENSIM_INLINE void copy_dest_values(uint32_t from, uint32_t to, auto...) {
    if constexpr (tensim::on_math) tensim::post_math_copy_dst(from, to);
}

// --- pack

template <bool out_of_order = false, auto... options>
TENSIM_INLINE void pack_tile(uint32_t idst, uint32_t cb, uint32_t tile = 0) {
    tensim::pack(idst, cb, out_of_order ? int32_t(tile) : -1);
}
template <auto... options>
TENSIM_INLINE void pack_tile_block(uint32_t idst, uint32_t cb, uint32_t tiles) {
    tensim::pack(idst, cb, -1, tiles);
}
template <auto... options>
TENSIM_INLINE void pack_block(uint32_t idst, uint32_t cb, uint32_t tiles) {
    tensim::pack(idst, cb, -1, tiles);
}
template <uint32_t block_ct_dim = 8, uint32_t full_ct_dim = block_ct_dim, auto... options>
TENSIM_INLINE void pack_untilize_dest(uint32_t cb, uint32_t block_rt_dim = 1, uint32_t block = 0, auto...) {
    for (uint32_t row = 0; row < block_rt_dim; row++)
        tensim::pack_untilized(
            row * block_ct_dim, cb, row * full_ct_dim + block * block_ct_dim, block_ct_dim, full_ct_dim);
}
template <uint32_t block_ct_dim = 8, uint32_t full_ct_dim = block_ct_dim, auto... options>
TENSIM_INLINE void pack_untilize_dst(uint32_t cb, uint32_t block_rt_dim = 1, uint32_t block = 0, auto...) {
    pack_untilize_dest<block_ct_dim, full_ct_dim>(cb, block_rt_dim, block);
}

// --- tilize and untilize

template <auto... options>
TENSIM_INLINE void tilize_block(uint32_t cb, uint32_t block, uint32_t out, uint32_t tile = 0, uint32_t out_tile = 0) {
    if constexpr (tensim::on_unpack) tensim::post_unpack_a(cb, tile, 0, block, block);
    for (uint32_t i = 0; i < block; i++) {
        acquire_dst();
        tensim::math_copy(0);
        tensim::pack(0, out, out_tile + i);
        release_dst();
    }
}
template <auto... options>
TENSIM_INLINE void fast_tilize_block(
    uint32_t cb, uint32_t block, uint32_t out, uint32_t tile = 0, uint32_t out_tile = 0) {
    tilize_block(cb, block, out, tile, out_tile);
}
template <uint32_t block_ct_dim = 1, auto... options>
TENSIM_INLINE void untilize_block(uint32_t cb, uint32_t full_ct_dim, uint32_t out, auto...) {
    for (uint32_t i = 0; i < full_ct_dim; i++) {
        acquire_dst();
        copy_tile(cb, i, 0);
        tensim::pack_untilized(0, out, i, 1, full_ct_dim);
        release_dst();
    }
}
template <uint32_t block_ct_dim = 8, uint32_t full_ct_dim = block_ct_dim, auto... options>
TENSIM_INLINE void pack_untilize_block(uint32_t cb, uint32_t block_rt_dim, uint32_t out, uint32_t block = 0) {
    for (uint32_t row = 0; row < block_rt_dim; row++) {
        acquire_dst();
        for (uint32_t column = 0; column < block_ct_dim; column++) copy_tile(cb, row * block_ct_dim + column, column);
        tensim::pack_untilized(0, out, row * full_ct_dim + block * block_ct_dim, block_ct_dim, full_ct_dim);
        release_dst();
    }
}

// Rows of any width, a few tiles at a time, at the cost of the packs that it is made of here.
template <uint32_t full_ct_dim, auto... options>
TENSIM_INLINE void fast_untilize_block(uint32_t cb, uint32_t out, uint32_t tile = 0, uint32_t out_tile = 0) {
    constexpr uint32_t at_once = 4;
    for (uint32_t done = 0; done < full_ct_dim; done += at_once) {
        const uint32_t tiles = full_ct_dim - done < at_once ? full_ct_dim - done : at_once;
        acquire_dst();
        for (uint32_t i = 0; i < tiles; i++) copy_tile(cb, tile + done + i, i);
        tensim::pack_untilized(0, out, out_tile + done, tiles, full_ct_dim);
        release_dst();
    }
}

// --- vector functions with shapes of their own

template <auto... options>
TENSIM_INLINE void max_tile(uint32_t idst0, uint32_t idst1, auto...) { binary_max_tile(idst0, idst1, idst0); }
}  // namespace ckernel
namespace tensim {
static uint32_t exp_scale = 0;  // of approximate exponentials, a float's bits, 0 without one: what their initialisation said
template <auto option>
TENSIM_INLINE constexpr bool leaves_unclamped() {
    if constexpr (std::is_same_v<decltype(option), ckernel::InputClamping>) return option == ckernel::InputClamping::None;
    return false;
}
// An Approximation.  Kernels without a template argument for it follow their configuration, as everywhere (form_of).
template <auto... options>
TENSIM_INLINE constexpr uint32_t exp_form() {
    using namespace approximation_code;
    constexpr uint32_t form = form_of<0, false, options...>();
    if constexpr (form == APPROXIMATE && (leaves_unclamped<options>() || ...)) return UNCLAMPED;
    return form;
}
template <uint32_t form>
inline constexpr bool approximates = form == approximation_code::KERNEL ? APPROX : form != approximation_code::ACCURATE;
}  // namespace tensim
namespace ckernel {
// `scale`: the upper half of a float that the tile is multiplied with first, which costs a multiplication of its own.  The
// approximate form has its scale from its initialisation, for nothing.
template <auto... options>
TENSIM_INLINE void exp_tile(uint32_t idst, int = VectorMode::RC, uint16_t scale = 0x3F80) {
    constexpr uint32_t form = tensim::exp_form<options...>(), word = tensim::exp_function | form << tensim::function_bits;
    if constexpr (tensim::approximates<form>) {
        if constexpr (tensim::on_math) tensim::post_sfpu_unary(word, idst, tensim::exp_scale, 0, 0);
    } else {
        if (scale != 0x3F80) mul_unary_tile(idst, uint32_t(scale) << 16);
        if constexpr (tensim::on_math) tensim::post_sfpu_unary(word, idst, 0, 0, 0);
    }
}
// The scale is a template argument of four bytes, the bits of a float: no other one is above 1.
template <auto... options>
TENSIM_INLINE void exp_tile_init(auto...) {
    constexpr uint32_t form = tensim::exp_form<options...>();
    if constexpr (tensim::on_math && tensim::approximates<form>)
        tensim::exp_scale = ((sizeof(options) == 4 && uint32_t(options) > 1 ? uint32_t(options) : 0u) | ... | 0u);
    tensim::configure_math(tensim::SFPU_INIT, tensim::exp_code | form << tensim::vector_code_bits);
}
template <auto... options>
TENSIM_INLINE void mask_tile(uint32_t idst, uint32_t mask, auto...) { mask_binary_tile(idst, mask, idst); }

// The divisor is an argument of the call, or of its initialisation.
#define TENSIM_DIVISION(name)                                                                                  \
    template <auto... options>                                                                                 \
    TENSIM_INLINE void name##_tile(uint32_t idst, uint32_t divisor = tensim::name##_divisor, auto...) {        \
        if constexpr (tensim::on_math) tensim::post_sfpu_unary(tensim::name##_function, idst, divisor, 0, 0);  \
    }                                                                                                          \
    template <auto... options>                                                                                 \
    TENSIM_INLINE void name##_tile_init(uint32_t divisor = 0, auto...) {                                       \
        if constexpr (tensim::on_math) tensim::name##_divisor = divisor;                                       \
        tensim::configure_math(tensim::SFPU_INIT, tensim::name##_code);                                        \
    }
}  // namespace ckernel
namespace tensim {
static uint32_t fmod_divisor = 0, remainder_divisor = 0;  // floats' bits
}  // namespace tensim
namespace ckernel {
TENSIM_DIVISION(fmod)
TENSIM_DIVISION(remainder)
template <RoundingMode mode = RoundingMode::None, auto... options>
TENSIM_INLINE void rdiv_tile(uint32_t idst, uint32_t value, auto...) {
    constexpr uint32_t function = mode == RoundingMode::Trunc   ? tensim::rdiv_trunc_function
                                  : mode == RoundingMode::Floor ? tensim::rdiv_floor_function
                                                                : tensim::rdiv_function;
    static_assert(mode <= RoundingMode::Floor, "tensim refuses mode: rdiv_tile of this RoundingMode");
    if constexpr (tensim::on_math) tensim::post_sfpu_unary(function, idst, value, 0, 0);
}
template <auto... options>
TENSIM_INLINE void rdiv_tile_init(auto...) { tensim::configure_math(tensim::SFPU_INIT, tensim::rdiv_code); }
template <auto... options>
TENSIM_INLINE constexpr uint32_t get_dest_max_tiles() {
    return (DST_ACCUM_MODE ? 4 : 8) << (TENSIM_DST_SYNC ? 1 : 0);
}

// --- one thread's half of an init or of a product, which kernels of the library call inside MATH(...), UNPACK(...), PACK(...)

#define TENSIM_SET_UP_MATH(name)                                                                    \
    template <auto... options> TENSIM_INLINE void name(auto...) {                                   \
        tensim::configure_math(tensim::SHORT_INIT, tensim::setup_code::ANYTHING);                   \
    }
TENSIM_SET_UP_MATH(llk_math_eltwise_binary_init)
TENSIM_SET_UP_MATH(llk_math_eltwise_unary_datacopy_init)
TENSIM_SET_UP_MATH(llk_math_reduce_init)
TENSIM_SET_UP_MATH(llk_math_matmul_init)
TENSIM_CONFIGURE(llk_math_reconfig_data_format, math, RECONFIG)
TENSIM_SET_UP(llk_unpack_AB_init, SHORT_INIT, setup_code::ANYTHING, -1)
TENSIM_SET_UP(llk_unpack_A_init, SHORT_INIT, setup_code::ANYTHING, -1)
TENSIM_CONFIGURE(llk_unpack_reconfig_data_format, unpack_math, RECONFIG)
TENSIM_CONFIGURE(llk_unpack_reconfig_data_format_srca, unpack_math, RECONFIG)
TENSIM_CONFIGURE(llk_unpack_reconfig_data_format_srcb, unpack_math, RECONFIG)
TENSIM_CONFIGURE(llk_math_reconfig_data_format_srca, math, RECONFIG)
TENSIM_CONFIGURE(llk_math_reconfig_data_format_srcb, math, RECONFIG)
TENSIM_CONFIGURE(llk_math_reconfig_remap, math, RECONFIG)
TENSIM_SET_UP(llk_unpack_AB_reduce_init, SHORT_INIT, setup_code::REDUCE, -1)
TENSIM_SET_UP_MATMUL(llk_unpack_AB_matmul_init, -1, 2)
TENSIM_CONFIGURE(llk_pack_reconfig_data_format, pack, RECONFIG)
TENSIM_CONFIGURE(llk_pack_reduce_mask_config, pack, SHORT_INIT)
TENSIM_CONFIGURE(llk_pack_reduce_mask_clear, pack, SHORT_INIT)
TENSIM_SET_UP_PACK(llk_pack_init, SHORT_INIT, setup_code::PACK, 0)
template <auto... options>
TENSIM_INLINE void llk_unpack_AB_matmul(
    uint32_t cb0, uint32_t cb1, uint32_t tile0, uint32_t tile1, uint32_t ct_dim = 1, uint32_t rt_dim = 1, uint32_t kt_dim = 1) {
    if constexpr (tensim::on_unpack) tensim::post_unpack_matmul(cb0, cb1, tile0, tile1, ct_dim, rt_dim, kt_dim, tensim::transposed);
}
template <auto... options>
TENSIM_INLINE void llk_math_matmul(uint32_t idst, uint32_t ct_dim = 1, uint32_t rt_dim = 1) {
    if constexpr (tensim::on_math) tensim::post_math_matmul(idst, ct_dim, rt_dim);
}
// Tells a checker of the library which buffers come next: no cost, no effect.
template <auto... options>
TENSIM_INLINE void state_configure(auto...) {}
#define MM_THROTTLE 0
template <auto... options>
TENSIM_INLINE void llk_pack_relu_config(auto config) {
    pack_relu_config(config);
}
template <auto... options>
TENSIM_INLINE void llk_pack_reconfig_l1_acc(uint32_t enable) {
    pack_reconfig_l1_acc(enable);
}
}  // namespace ckernel
