// The compute calls of both generations: what the unpack, math and pack threads do for each.
#pragma once
#include "tensim/compute_threads.h"
#include "tensim/compute_calls.h"
#include "tensim/vector_functions.h"

namespace tensim {
using namespace config_code;
TENSIM_INLINE void math_copy(uint32_t idst) {
    if constexpr (on_math) post_math_copy(idst, 0);
}
TENSIM_INLINE void pack(uint32_t idst, uint32_t cb, int32_t tile) {
    if constexpr (on_pack) post_pack(idst, cb, tile, 1, 0, 0);
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
// --- configuration that depends on how many arguments there are, or costs other than in Python kernels

template <auto... options>
TENSIM_INLINE void compute_kernel_hw_startup(auto... values) {
    tensim::configure_unpack<0>(tensim::HW_STARTUP, tensim::setup_code::FORMATS, values...);
    tensim::configure_math(tensim::HW_STARTUP, tensim::setup_code::FORMATS);
    tensim::configure_pack<2>(tensim::HW_STARTUP, tensim::setup_code::PACK, values...);
}
template <auto... options>
TENSIM_INLINE void reconfig_full_operand(auto...) { tensim::configure_unpack_math(tensim::RECONFIG); }
// Takes back the packer's mask: two register writes.
template <auto... options>
TENSIM_INLINE void reduce_uninit(auto...) {}
template <auto... options>
TENSIM_INLINE void pack_relu_config(auto config) {
    const uint32_t word = uint32_t(config);
    if constexpr (tensim::on_pack) tensim::post_config(tensim::PACK_RELU, (word & 3) | word >> 16 << 2);
}

// --- element-wise operations: plain, broadcast in both generations of names, operand reused from Dst

#define TENSIM_BINARY_BCAST(name, dim, DIM)                                                                         \
    template <auto... options> TENSIM_INLINE void name##_tiles_bcast_##dim(                                         \
        uint32_t cb0, uint32_t cb1, uint32_t tile0, uint32_t tile1, uint32_t idst, uint32_t line = 0) {             \
        if (line) tensim::post_fail_assert(TENSIM_TEXT("a broadcast of another line than the first is not modelled")); \
        name##_tiles_bcast<BroadcastType::DIM>(cb0, cb1, tile0, tile1, idst);                                       \
    }
#define TENSIM_BINARY(name, op)                                                                                     \
    template <auto... options>                                                                                      \
    TENSIM_INLINE void name##_tiles_init(uint32_t = 0, uint32_t = 0, bool accumulates = false, auto...) {           \
        tensim::short_init(tensim::setup_code::BINARY + 4 * op, accumulates);                                       \
    }                                                                                                               \
    template <auto... options>                                                                                      \
    TENSIM_INLINE void name##_init(uint32_t = 0, uint32_t = 0, bool accumulates = false, auto...) {                 \
        tensim::short_init(tensim::setup_code::BINARY + 4 * op, accumulates);                                       \
    }                                                                                                               \
    TENSIM_BINARY_BCAST(name, rows, ROW)                                                                            \
    TENSIM_BINARY_BCAST(name, cols, COL)                                                                            \
    TENSIM_BINARY_BCAST(name, scalar, SCALAR)
TENSIM_BINARY(add, ELWADD)
TENSIM_BINARY(sub, ELWSUB)
TENSIM_BINARY(mul, ELWMUL)
template <EltwiseBinaryType op, BroadcastType dim>
TENSIM_INLINE void any_tiles_bcast(uint32_t cb0, uint32_t cb1, uint32_t tile0, uint32_t tile1, uint32_t idst) {
    static_assert(op <= ELWMUL, "tensim refuses mode: any_tiles_bcast of this operation");
    if constexpr (op == ELWADD) add_tiles_bcast<dim>(cb0, cb1, tile0, tile1, idst);
    else if constexpr (op == ELWSUB) sub_tiles_bcast<dim>(cb0, cb1, tile0, tile1, idst);
    else mul_tiles_bcast<dim>(cb0, cb1, tile0, tile1, idst);
}
template <bool full = true, auto op = ELWADD>
TENSIM_INLINE void binary_tiles_init(uint32_t = 0, uint32_t = 0, bool accumulates = false, auto...) {
    static_assert(uint32_t(op) <= uint32_t(ELWMUL), "tensim refuses mode: binary_tiles_init of this operation");
    tensim::short_init(tensim::setup_code::BINARY + 4 * uint32_t(op), accumulates);
}
template <EltwiseBinaryType op = ELWADD, EltwiseBinaryReuseDestType side = EltwiseBinaryReuseDestType::DEST_TO_SRCA>
TENSIM_INLINE void binary_dest_reuse_tiles(uint32_t cb, uint32_t tile, uint32_t idst) {
    static_assert(op <= ELWMUL, "tensim refuses mode: binary_dest_reuse_tiles of this operation");
    static_assert(side != EltwiseBinaryReuseDestType::NONE, "tensim refuses mode: binary_dest_reuse_tiles that reuse nothing");
    if constexpr (tensim::on_unpack) tensim::post_unpack_reuse(cb, tile, uint32_t(side));
    if constexpr (tensim::on_math) tensim::post_math_binary(op, idst, 0, 0, uint32_t(side));
}

// --- matrix product

template <auto... options>
TENSIM_INLINE void matmul_tiles_math(uint32_t idst) {
    if constexpr (tensim::on_math) tensim::post_math_matmul(idst, 1, 1);
}

// --- copies, broadcasts, transposes

template <auto... options>
TENSIM_INLINE void copy_block_matmul_partials(uint32_t cb, uint32_t tile, uint32_t idst, uint32_t tiles) {
    for (uint32_t i = 0; i < tiles; i++) copy_tile(cb, tile + i, idst + i);
}
template <auto... options>
TENSIM_INLINE void copy_block(uint32_t cb, uint32_t tile, uint32_t idst, uint32_t tiles) {
    copy_block_matmul_partials(cb, tile, idst, tiles);
}

// --- pack

template <bool out_of_order = false, auto... options>
TENSIM_INLINE void pack_tile(uint32_t idst, uint32_t cb, uint32_t tile = 0) {
    tensim::pack(idst, cb, out_of_order ? int32_t(tile) : -1);
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
    if constexpr (tensim::on_unpack) tensim::post_unpack_a(cb, tile, 0, block, block, 0);
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
inline constexpr bool approximates = form == approximation_code::KERNEL ? kernel_approximates() : form != approximation_code::ACCURATE;
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
    return tensim::dst_tiles();
}

// Releases before the calls that are told a data format: one name for each.
#define TENSIM_TYPED(name, call, format)           \
    template <auto... options>                     \
    TENSIM_INLINE void name(auto... arguments) {   \
        call<DataFormat::format>(arguments...);    \
    }
#define TENSIM_BITWISE_TYPED(op)                                                        \
    TENSIM_TYPED(bitwise_##op##_uint16_binary_tile, bitwise_##op##_binary_tile, UInt16) \
    TENSIM_TYPED(bitwise_##op##_uint32_binary_tile, bitwise_##op##_binary_tile, UInt32)
TENSIM_BITWISE_TYPED(and)
TENSIM_BITWISE_TYPED(or)
TENSIM_BITWISE_TYPED(xor)
TENSIM_TYPED(binary_logical_right_shift_int32_tile, binary_logical_right_shift_tile, Int32)
TENSIM_TYPED(binary_logical_right_shift_uint32_tile, binary_logical_right_shift_tile, UInt32)
TENSIM_TYPED(logical_not_unary_tile_int32, logical_not_tile, Int32)
TENSIM_TYPED(logical_not_unary_tile_uint16, logical_not_tile, UInt16)
TENSIM_TYPED(logical_not_unary_tile_uint32, logical_not_tile, UInt32)
TENSIM_TYPED(where_fp32_tile, where_tile, Float32)
TENSIM_TYPED(where_uint32_tile, where_tile, UInt32)
// The difference of two integers has the same bits with and without sign; an initialisation names no data format.
TENSIM_INLINE void rsub_uint32_tile(uint32_t idst0, uint32_t idst1, uint32_t odst) { rsub_int32_tile(idst0, idst1, odst); }
TENSIM_INLINE void signbit_tile_int32_init() { signbit_tile_init(); }
TENSIM_INLINE void remainder_tile_uint32_init() { remainder_unary_uint32_tile_init(); }

// --- one thread's half of an init or of a product, which kernels of the library call inside MATH(...), UNPACK(...), PACK(...)

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
}  // namespace ckernel
