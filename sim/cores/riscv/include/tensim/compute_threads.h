// What every compute call is made of: its threads, its configuration costs, tt-metal's enumerations.
#pragma once
#include "tensim/circular_buffer.h"

namespace tensim {
TENSIM_INLINE void configure(uint32_t register_code) { post_config(register_code, 0); }
TENSIM_INLINE void configure_math(uint32_t register_code) {
    if constexpr (on_math) configure(register_code);
}
TENSIM_INLINE void configure_pack(uint32_t register_code) {
    if constexpr (on_pack) configure(register_code);
}
TENSIM_INLINE void configure_unpack_math(uint32_t register_code) {
    if constexpr (on_unpack || on_math) configure(register_code);
}
TENSIM_INLINE void configure_all(uint32_t register_code) {
    if constexpr (on_unpack || on_math || on_pack) configure(register_code);
}
static bool accumulate = false;  // what *_tiles_init said about accumulation in Dst
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


constexpr bool APPROX = TENSIM_APPROX;
constexpr bool DST_ACCUM_MODE = TENSIM_DST_ACCUM;
constexpr MathFidelity MATH_FIDELITY = MathFidelity(TENSIM_MATH_FIDELITY);
#define DST_SYNC_MODE DstSync(TENSIM_DST_SYNC)
