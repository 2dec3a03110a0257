// What only the program says: arguments of compile time, circular buffers, modes of compute.  Everything before it is the same
// for many kernels and precompiled for them (`compiler.shared_head`).
#pragma once
#include "tensim/circular_buffer.h"

namespace tensim {
template <class... Values>
constexpr std::array<uint32_t, sizeof...(Values)> words(Values... values) {
    return {uint32_t(values)...};
}
}  // namespace tensim

#ifndef KERNEL_COMPILE_TIME_ARGS
#define KERNEL_COMPILE_TIME_ARGS
#endif
constexpr auto kernel_compile_time_args = tensim::words(KERNEL_COMPILE_TIME_ARGS);

namespace tensim {
constexpr uint32_t compile_time_arguments() { return kernel_compile_time_args.size(); }
constexpr uint32_t compile_time_argument(uint32_t index) { return kernel_compile_time_args[index]; }
}  // namespace tensim

template <uint32_t index>
constexpr uint32_t get_ct_arg() {
    static_assert(index < kernel_compile_time_args.size(), "the kernel reads a compile-time argument that it was not given");
    return kernel_compile_time_args[index];
}
#define get_compile_time_arg_val(index) get_ct_arg<index>()

namespace tensim {
struct NamedArgument {
    std::string_view name;
    uint32_t value;
};
#ifdef KERNEL_COMPILE_TIME_ARG_MAP
constexpr NamedArgument named_arguments[] = {KERNEL_COMPILE_TIME_ARG_MAP};
#else
constexpr NamedArgument named_arguments[] = {{"", 0}};
#endif
[[noreturn]] void the_kernel_reads_a_named_compile_time_argument_that_it_was_not_given();
}  // namespace tensim
consteval uint32_t get_named_compile_time_arg_val(std::string_view name) {
    for (const auto& argument : tensim::named_arguments)
        if (argument.name == name) return argument.value;
#ifdef TENSIM_STAND_IN
    return TENSIM_STAND_IN;
#else
    tensim::the_kernel_reads_a_named_compile_time_argument_that_it_was_not_given();
#endif
}

// --- circular buffers

namespace tensim {
constexpr std::array<uint8_t, NUM_CIRCULAR_BUFFERS> buffer_formats = {TENSIM_CB_FORMATS};
constexpr std::array<uint16_t, NUM_CIRCULAR_BUFFERS> buffer_tile_heights = {TENSIM_CB_TILE_HEIGHTS};
constexpr std::array<uint16_t, NUM_CIRCULAR_BUFFERS> buffer_tile_widths = {TENSIM_CB_TILE_WIDTHS};
constexpr std::array<uint32_t, NUM_CIRCULAR_BUFFERS> buffer_tile_sizes = {TENSIM_CB_TILE_SIZES};
TENSIM_INLINE constexpr uint8_t buffer_format(uint32_t cb) { return buffer_formats[cb]; }
TENSIM_INLINE constexpr uint16_t buffer_tile_height(uint32_t cb) { return buffer_tile_heights[cb]; }
TENSIM_INLINE constexpr uint16_t buffer_tile_width(uint32_t cb) { return buffer_tile_widths[cb]; }
TENSIM_INLINE constexpr uint32_t buffer_tile_size(uint32_t cb) { return buffer_tile_sizes[cb]; }
template <class F>
constexpr auto table(F of) {
    std::array<uint8_t, NUM_CIRCULAR_BUFFERS> result{};
    for (uint32_t cb = 0; cb < NUM_CIRCULAR_BUFFERS; cb++) result[cb] = of(cb);
    return result;
}
}  // namespace tensim

// The same facts as tables by circular buffer, once as the unpackers and once as the packer see them.
#define TENSIM_BUFFER_TABLES(side)                                                                                        \
    constexpr auto& side##_src_format = tensim::buffer_formats;                                                           \
    constexpr auto& side##_dst_format = tensim::buffer_formats;                                                           \
    constexpr auto& side##_tile_size = tensim::buffer_tile_sizes;                                                         \
    constexpr auto side##_tile_r_dim = tensim::table([](uint32_t cb) { return tensim::buffer_tile_heights[cb]; });        \
    constexpr auto side##_tile_c_dim = tensim::table([](uint32_t cb) { return tensim::buffer_tile_widths[cb]; });         \
    constexpr auto side##_tile_num_faces = tensim::table([](uint32_t cb) { return tensim::faces(cb); });                  \
    constexpr auto side##_tile_face_r_dim =                                                                               \
        tensim::table([](uint32_t cb) { return std::min<uint32_t>(tensim::buffer_tile_heights[cb], 16); });               \
    constexpr auto side##_partial_face = tensim::table([](uint32_t cb) { return tensim::buffer_tile_heights[cb] < 16; }); \
    constexpr auto side##_narrow_tile = tensim::table([](uint32_t cb) { return tensim::buffer_tile_widths[cb] < 32; });   \
    constexpr auto side##_num_faces_r_dim =                                                                               \
        tensim::table([](uint32_t cb) { return tensim::buffer_tile_heights[cb] > 16 ? 2 : 1; });                          \
    constexpr auto side##_num_faces_c_dim =                                                                               \
        tensim::table([](uint32_t cb) { return tensim::buffer_tile_widths[cb] > 16 ? 2 : 1; });
TENSIM_BUFFER_TABLES(unpack)
TENSIM_BUFFER_TABLES(pack)

// --- compute

#if defined(COMPILE_FOR_TRISC)
constexpr bool APPROX = TENSIM_APPROX;
constexpr bool DST_ACCUM_MODE = TENSIM_DST_ACCUM;
constexpr MathFidelity MATH_FIDELITY = MathFidelity(TENSIM_MATH_FIDELITY);
#define DST_SYNC_MODE DstSync(TENSIM_DST_SYNC)

namespace tensim {
constexpr bool kernel_approximates() { return APPROX; }
constexpr uint32_t dst_tiles() { return (DST_ACCUM_MODE ? 4 : 8) << (DST_SYNC_MODE == SyncFull ? 1 : 0); }
}  // namespace tensim
#endif
