// Calls that the machine has no operation for.  They compile, as kernels often call them in branches that are not taken;
// the kernel that reaches one stops with its name.  The section says where such calls are left after optimisation.
#pragma once
#include "tensim/debug.h"

#define TENSIM_STOP_NOT_MODELLED(name)                                                                                 \
    static const char text[] __attribute__((section(".tensim_strings"), used)) = name " is not modelled";              \
    asm volatile("1:\n.pushsection .tensim_not_modelled\n.4byte 1b\n.4byte %0\n.popsection" : : "i"(text));            \
    tensim::post_fail_assert(uint32_t(text))
#define TENSIM_NOT_MODELLED(name)                                                                    \
    template <auto... options, class... Values>                                                      \
    TENSIM_INLINE void name(const Values&...) {                                                      \
        TENSIM_STOP_NOT_MODELLED(#name);                                                             \
    }                                                                                                \
    template <class Type, auto... options, class... Values>                                          \
    TENSIM_INLINE void name(const Values&...) {                                                      \
        TENSIM_STOP_NOT_MODELLED(#name);                                                             \
    }
// Functions whose last argument is a table that kernels may leave empty.
#define TENSIM_NOT_MODELLED_TABLE(name)                                                              \
    TENSIM_NOT_MODELLED(name)                                                                        \
    template <auto... options>                                                                       \
    TENSIM_INLINE void name(uint32_t, uint32_t, const std::array<uint32_t, 0>&) {                    \
        TENSIM_STOP_NOT_MODELLED(#name);                                                             \
    }                                                                                                \
    template <auto... options>                                                                       \
    TENSIM_INLINE void name(uint32_t, uint32_t, uint32_t, uint32_t, const std::array<uint32_t, 0>&) { \
        TENSIM_STOP_NOT_MODELLED(#name);                                                             \
    }
#define TENSIM_NOT_MODELLED_TILE(name) TENSIM_NOT_MODELLED(name##_tile) TENSIM_NOT_MODELLED(name##_tile_init)

namespace ckernel {
TENSIM_NOT_MODELLED(topk_tile_init)
TENSIM_NOT_MODELLED(topk_local_sort)
TENSIM_NOT_MODELLED(topk_merge)
TENSIM_NOT_MODELLED(topk_rebuild)
TENSIM_NOT_MODELLED(topk_canonicalize_negzero_values)
TENSIM_NOT_MODELLED(topk_stamp_tile_rank_range)
TENSIM_NOT_MODELLED(topk_stamp_local_positions)
TENSIM_NOT_MODELLED(topk_finalize_uint16_indices)
TENSIM_NOT_MODELLED(welford_init)
TENSIM_NOT_MODELLED(welford_reinit)
TENSIM_NOT_MODELLED_TABLE(welford_update)
TENSIM_NOT_MODELLED_TABLE(welford_update_rows)
TENSIM_NOT_MODELLED_TABLE(welford_finalize_to_row)
TENSIM_NOT_MODELLED_TABLE(welford_finalize_to_face)
TENSIM_NOT_MODELLED(welford_save_state)
TENSIM_NOT_MODELLED(welford_restore_state)
TENSIM_NOT_MODELLED(welford_clear)
TENSIM_NOT_MODELLED(two_pass_stats_init)
TENSIM_NOT_MODELLED(two_pass_stats_init_shifted)
TENSIM_NOT_MODELLED(two_pass_stats_update_rows)
TENSIM_NOT_MODELLED(two_pass_stats_update_shifted_rows)
TENSIM_NOT_MODELLED(two_pass_stats_finish_shifted_mean)
TENSIM_NOT_MODELLED(two_pass_stats_finalize_to_row)
TENSIM_NOT_MODELLED(two_pass_stats_finalize_to_face)
TENSIM_NOT_MODELLED(two_pass_stats_finalize_and_combine_to_face)
TENSIM_NOT_MODELLED(two_pass_stats_finalize_split_mean_to_row)
TENSIM_NOT_MODELLED(two_pass_stats_switch_group)
TENSIM_NOT_MODELLED(two_pass_stats_clear)
TENSIM_NOT_MODELLED(two_pass_stats_save_state)
TENSIM_NOT_MODELLED(two_pass_stats_save_anchor)
TENSIM_NOT_MODELLED(two_pass_stats_combine_block)
TENSIM_NOT_MODELLED(two_pass_stats_save_anchor_to_state)
TENSIM_NOT_MODELLED(two_pass_stats_restore_anchor_from_state)
TENSIM_NOT_MODELLED(two_pass_stats_restore_anchor)
TENSIM_NOT_MODELLED(sfpu_normalize_bcast_col)
TENSIM_NOT_MODELLED(sfpu_normalize_bcast_col_two_tiles)
TENSIM_NOT_MODELLED(sfpu_bcast_col_init)
TENSIM_NOT_MODELLED(sfpu_normalize_bcast_scalar)
TENSIM_NOT_MODELLED(sfpu_normalize_bcast_scalar_init)
TENSIM_NOT_MODELLED(sfpu_residual_normalize_bcast_col)
TENSIM_NOT_MODELLED(rand_tile)
TENSIM_NOT_MODELLED(rand_tile_init)
TENSIM_NOT_MODELLED(dropout_tile)
TENSIM_NOT_MODELLED(dropout_kernel_init)
TENSIM_NOT_MODELLED(dropout_tile_init)
TENSIM_NOT_MODELLED(cumsum_tile)
TENSIM_NOT_MODELLED(cumsum_tile_init)
TENSIM_NOT_MODELLED(tiled_prod_tile)
TENSIM_NOT_MODELLED(tiled_prod_tile_init)
TENSIM_NOT_MODELLED(max_reduce_with_indices)
TENSIM_NOT_MODELLED(max_reduce_with_indices_init)
TENSIM_NOT_MODELLED(ema_init)
TENSIM_NOT_MODELLED(ema_tile)
TENSIM_NOT_MODELLED(ema_clear_previous_output)
TENSIM_NOT_MODELLED(alt_complex_rotate90_tile)
TENSIM_NOT_MODELLED(alt_complex_rotate90_tile_init)
TENSIM_NOT_MODELLED(quant_tile)
TENSIM_NOT_MODELLED(quant_tile_init)
TENSIM_NOT_MODELLED(requant_tile)
TENSIM_NOT_MODELLED(requant_tile_init)
TENSIM_NOT_MODELLED(dequant_tile)
TENSIM_NOT_MODELLED(dequant_tile_init)
TENSIM_NOT_MODELLED(unpack_tilizeA_B_block)
TENSIM_NOT_MODELLED(unpack_tilizeA_B_uninit)
TENSIM_NOT_MODELLED(unpack_tilizeA_B_init)
TENSIM_NOT_MODELLED(tilizeA_B_reduce_init)
TENSIM_NOT_MODELLED(unpack_tilizeA_B_dummy_reduce_init)
TENSIM_NOT_MODELLED(remote_cb_wait_front)
TENSIM_NOT_MODELLED(remote_cb_pop_front)
TENSIM_NOT_MODELLED(remote_cb_reserve_back)
TENSIM_NOT_MODELLED(remote_cb_push_back_and_write_pages)
TENSIM_NOT_MODELLED(update_remote_cb_config_in_l1)
TENSIM_NOT_MODELLED(resize_remote_sender_cb_interface)
TENSIM_NOT_MODELLED(resize_remote_receiver_cb_interface)
TENSIM_NOT_MODELLED(align_local_cbs_to_remote_cb)
TENSIM_NOT_MODELLED(sub_bcast_cols_compensated)
TENSIM_NOT_MODELLED(sub_bcast_cols_compensated_init)
TENSIM_NOT_MODELLED(dummy_unpack)
TENSIM_NOT_MODELLED(dummy_pack)
TENSIM_NOT_MODELLED(mailbox_write)
TENSIM_NOT_MODELLED(reshuffle_rows_tile)
TENSIM_NOT_MODELLED(reshuffle_rows_tile_init)
TENSIM_NOT_MODELLED(sfpu_sum_int_init)
TENSIM_NOT_MODELLED(sfpu_sum_int_col)
TENSIM_NOT_MODELLED(sfpu_sum_int_row)
TENSIM_NOT_MODELLED(sfpu_add_int)
TENSIM_NOT_MODELLED(reduce_block)
TENSIM_NOT_MODELLED(reduce_block_max_row)
TENSIM_NOT_MODELLED(reduce_block_max_row_init)
TENSIM_NOT_MODELLED(reduce_block_max_row_uninit)
TENSIM_NOT_MODELLED(situ_glu_tile)
TENSIM_NOT_MODELLED(situ_glu_tile_init)
TENSIM_NOT_MODELLED(clamped_silu_glu_tile)
TENSIM_NOT_MODELLED(clamped_silu_glu_tile_init)
TENSIM_NOT_MODELLED(deepseek_compute_kernel_init)
TENSIM_NOT_MODELLED(generate_index_tile_transposed)
TENSIM_NOT_MODELLED(nextafter_bf16_binary_tile)
TENSIM_NOT_MODELLED(nextafter_bf16_binary_tile_init)
TENSIM_NOT_MODELLED(nextafter_binary_tile)
TENSIM_NOT_MODELLED(nextafter_binary_tile_init)
TENSIM_NOT_MODELLED(power_iterative_tile)
TENSIM_NOT_MODELLED(power_iterative_tile_init)
TENSIM_NOT_MODELLED(mask_posinf_tile)
TENSIM_NOT_MODELLED(exp_packthread_tile)
TENSIM_NOT_MODELLED(exp_packthread_tile_init)
TENSIM_NOT_MODELLED(gelu_tanh_tile_init_pack)
TENSIM_NOT_MODELLED(gelu_tanh_tile_pack)
TENSIM_NOT_MODELLED(gelu_tile_init_pack)
TENSIM_NOT_MODELLED(gelu_tile_pack)
TENSIM_NOT_MODELLED(hardsigmoid_tile_init_pack)
TENSIM_NOT_MODELLED(hardsigmoid_tile_pack)
TENSIM_NOT_MODELLED(hardtanh_tile_init_pack)
TENSIM_NOT_MODELLED(hardtanh_tile_pack)
TENSIM_NOT_MODELLED(relu_max_tile_init_pack)
TENSIM_NOT_MODELLED(relu_max_tile_pack)
TENSIM_NOT_MODELLED(selu_tile_init_pack)
TENSIM_NOT_MODELLED(selu_tile_pack)
TENSIM_NOT_MODELLED(sigmoid_tile_init_pack)
TENSIM_NOT_MODELLED(sigmoid_tile_pack)
TENSIM_NOT_MODELLED(silu_tile_init_pack)
TENSIM_NOT_MODELLED(silu_tile_pack)
TENSIM_NOT_MODELLED(softplus_tile_init_pack)
TENSIM_NOT_MODELLED(softplus_tile_pack)
TENSIM_NOT_MODELLED(tanh_tile_init_pack)
TENSIM_NOT_MODELLED(tanh_tile_pack)
TENSIM_NOT_MODELLED(lgamma_adjusted_tile)
TENSIM_NOT_MODELLED(lgamma_adjusted_tile_init)
TENSIM_NOT_MODELLED(lgamma_stirling_float_tile)
TENSIM_NOT_MODELLED(lgamma_stirling_float_tile_init)
TENSIM_NOT_MODELLED(lgamma_stirling_tile)
TENSIM_NOT_MODELLED(lgamma_stirling_tile_init)
TENSIM_NOT_MODELLED(topk_defuse_tile)
TENSIM_NOT_MODELLED(topk_fuse_tile)
TENSIM_NOT_MODELLED(topk_strip_rank_tags)
TENSIM_NOT_MODELLED(topk_uint16_move_dest_tile_to_pack_half)
TENSIM_NOT_MODELLED(topk_uint16_prepare_value_tile_for_pack)
TENSIM_NOT_MODELLED(sfpu_mul_bcast_col)
TENSIM_NOT_MODELLED(sfpu_mul_bcast_col_init)
TENSIM_NOT_MODELLED(topk_xl_add_lsb_indices)
TENSIM_NOT_MODELLED(topk_xl_add_lsb_indices_init)
TENSIM_NOT_MODELLED(topk_xl_init)
TENSIM_NOT_MODELLED(topk_xl_local_sort)
TENSIM_NOT_MODELLED(topk_xl_separate_indices_row_major)
TENSIM_NOT_MODELLED(topk_xl_separate_indices_row_major_reinit)
TENSIM_NOT_MODELLED(topk_xl_separate_indices_row_major_advance_chunk_base)
TENSIM_NOT_MODELLED(topk_xl_add_lsb_indices_rt)
TENSIM_NOT_MODELLED(topk_xl_merge)
TENSIM_NOT_MODELLED(topk_xl_rebuild)
TENSIM_NOT_MODELLED(topk_xl_separate_indices_row_major_global)
TENSIM_NOT_MODELLED(topk_xl_separate_indices_row_major_global_base)
TENSIM_NOT_MODELLED(topk_xl_separate_indices_row_major_global_init)
TENSIM_NOT_MODELLED(topk_xl_separate_indices_row_major_init_static)
TENSIM_NOT_MODELLED(topk_xl_copy_tile)
TENSIM_NOT_MODELLED(topk_xl_copy_tile_init)
TENSIM_NOT_MODELLED(triangle_solve_tile)
TENSIM_NOT_MODELLED(triangle_solve_tile_init)
TENSIM_NOT_MODELLED(untilize_fast_init)

TENSIM_NOT_MODELLED_TILE(digamma)
TENSIM_NOT_MODELLED_TILE(lgamma)
TENSIM_NOT_MODELLED_TILE(polygamma)
TENSIM_NOT_MODELLED_TILE(snake_beta)
TENSIM_NOT_MODELLED_TILE(xielu)
TENSIM_NOT_MODELLED_TILE(nextafter)
TENSIM_NOT_MODELLED_TILE(logaddexp)
TENSIM_NOT_MODELLED_TILE(logaddexp2)
TENSIM_NOT_MODELLED_TILE(isclose)

TENSIM_NOT_MODELLED_TILE(ldexp)
TENSIM_NOT_MODELLED_TILE(hypot)
TENSIM_NOT_MODELLED_TILE(tanh_derivative)
TENSIM_NOT_MODELLED_TILE(gelu_derivative)
TENSIM_NOT_MODELLED_TILE(selu_derivative)
TENSIM_NOT_MODELLED_TILE(threshold_backward)
template <class... Values>
TENSIM_INLINE uint32_t mailbox_read(const Values&...) {
    TENSIM_STOP_NOT_MODELLED("mailbox_read");
    return 0;
}
}  // namespace ckernel

namespace experimental {
using ckernel::remote_cb_wait_front;
using ckernel::remote_cb_pop_front;
using ckernel::remote_cb_reserve_back;
using ckernel::remote_cb_push_back_and_write_pages;
using ckernel::update_remote_cb_config_in_l1;
using ckernel::align_local_cbs_to_remote_cb;
using ckernel::resize_remote_sender_cb_interface;
using ckernel::resize_remote_receiver_cb_interface;
}  // namespace experimental