// What every compute call is made of: its threads, its configuration costs, tt-metal's enumerations.
#pragma once
#include "tensim/circular_buffer.h"

namespace tensim {
// What a configuration sets up, for the checker: a setup code, and one plus the circular buffer whose format it configures, in
// 11 bits, so that the word is an immediate.  A buffer that only the running kernel knows is left out.
template <int place, class... Values>
TENSIM_INLINE uint32_t setup_word(uint32_t setup, Values... values) {
    if constexpr (place >= 0 && place < int(sizeof...(values))) {
        uint32_t buffer = uint32_t(std::get<place>(std::make_tuple(values...)));
        return __builtin_constant_p(buffer) && buffer < NUM_CIRCULAR_BUFFERS ? setup | (buffer + 1) << setup_shift : setup;
    }
    return setup;
}
TENSIM_INLINE void configure(uint32_t register_code, uint32_t word = 0) { post_config(register_code, word); }
TENSIM_INLINE void configure_math(uint32_t register_code, uint32_t word = 0) {
    if constexpr (on_math) configure(register_code, word);
}
TENSIM_INLINE void configure_unpack_math(uint32_t register_code, uint32_t word = 0) {
    if constexpr (on_unpack || on_math) configure(register_code, word);
}
// `a`: place of SrcA's buffer among the arguments, `out`: of the packer's.
template <int a, class... Values>
TENSIM_INLINE void configure_unpack(uint32_t register_code, uint32_t setup, Values... values) {
    if constexpr (on_unpack) configure(register_code, setup_word<a>(setup, values...));
}
template <int out, class... Values>
TENSIM_INLINE void configure_pack(uint32_t register_code, uint32_t packs, Values... values) {
    if constexpr (on_pack) configure(register_code, setup_word<out>(packs, values...));
}
static bool accumulate = false;  // what *_tiles_init said about accumulation in Dst
static uint32_t transposed = 0;  // what the initialisation of a matrix product said about in1
// `place`: of the argument that says so.
template <int place, class... Values>
TENSIM_INLINE uint32_t matmul_setup(Values... values) {
    uint32_t transpose = 0;
    if constexpr (place < int(sizeof...(values))) transpose = uint32_t(std::get<place>(std::make_tuple(values...)));
    if constexpr (on_unpack) transposed = transpose;
    if (!__builtin_constant_p(transpose)) return setup_code::ANYTHING;
    return transpose ? setup_code::MATMUL_TRANSPOSED : setup_code::MATMUL;
}
// The exponent of power_tile as the bits of a float; 0.66 gives an integer.
TENSIM_INLINE constexpr uint32_t exponent_bits(uint32_t given) {
#ifdef TENSIM_INTEGER_EXPONENT
    return __builtin_bit_cast(uint32_t, float(given));
#else
    return given;
#endif
}
// Which form of a vector function a call asks for, an Approximation: what its template argument at `place` says, else what the
// kernel's math_approx_mode says; in kernels of the library, what its headers have as the argument's default.
template <int place, bool library_default, auto... options>
TENSIM_INLINE constexpr uint32_t form_of() {
    using namespace approximation_code;
    if constexpr (place < int(sizeof...(options)))
        return bool(std::get<place>(std::make_tuple(options...))) ? APPROXIMATE : ACCURATE;
#ifdef TENSIM_LIBRARY_DEFAULTS
    return library_default ? APPROXIMATE : ACCURATE;
#else
    return KERNEL;
#endif
}
// What a vector function's template arguments say: its data format, if one of them is one, and how its result is rounded.
constexpr uint32_t no_function = ~0u;
template <class Wanted, auto option>
TENSIM_INLINE constexpr bool is_a() { return std::is_same_v<std::remove_cv_t<decltype(option)>, Wanted>; }
template <auto... options>
inline constexpr bool names_a_format = (is_a<DataFormat, options>() || ... || false);
template <uint32_t otherwise, auto... options>
TENSIM_INLINE constexpr uint32_t format_of() {
    uint32_t format = otherwise;
    ((is_a<DataFormat, options>() ? void(format = uint32_t(options)) : void()), ...);
    return format;
}
template <auto... options>
inline constexpr uint32_t rounds_to_even =
    ((is_a<ckernel::DstRoundingMode, options>() && uint32_t(options) == uint32_t(ckernel::DstRoundingMode::NearestEven)) || ... || false);
template <auto option>
TENSIM_INLINE constexpr uint32_t reciprocal_option() {
    using namespace approximation_code;
    if constexpr (std::is_same_v<decltype(option), ckernel::ReciprocalApproxMode>) {
        if (option == ckernel::ReciprocalApproxMode::Approximate) return APPROXIMATE;
        if (option == ckernel::ReciprocalApproxMode::Precise) return ACCURATE;
    }
    return KERNEL;
}
template <auto... options>
TENSIM_INLINE constexpr uint32_t reciprocal_form() {
    return (reciprocal_option<options>() | ... | approximation_code::KERNEL);
}
}  // namespace tensim
// Waits for the instructions that this thread has issued: an operation has ended when its call returns.
TENSIM_INLINE void tensix_sync() {}

#ifdef TENSIM_UNPACK
#define UNPACK(x) x
#else
#define UNPACK(x)
#endif
#ifdef TENSIM_MATH
#define MATH(x) x
#else
#define MATH(x)
#endif
#ifdef TENSIM_PACK
#define PACK(x) x
#else
#define PACK(x)
#endif

namespace tensim {
// How the program configures the kernel (given.h): in approximate mode, with how many tiles in Dst.
constexpr bool kernel_approximates();
constexpr uint32_t dst_tiles();
}  // namespace tensim
