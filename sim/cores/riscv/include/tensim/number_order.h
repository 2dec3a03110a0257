// The order of numbers by their bits, for data-movement kernels that compare without floating point.
#pragma once
#include "tensim/environment.h"

constexpr uint32_t NEG_INF_BFLOAT16 = 0xFF80, NEG_INF_FLOAT32 = 0xFF800000u;
constexpr int32_t NEG_INF_INT32 = INT32_MIN;
constexpr uint32_t BFLOAT16_EXPONENT_MASK = 0x7F80, BFLOAT16_MANTISSA_MASK = 0x7F, BFLOAT16_MAGNITUDE_MASK = 0x7FFF;
constexpr uint32_t FLOAT32_EXPONENT_MASK = 0x7F800000, FLOAT32_MANTISSA_MASK = 0x7FFFFF;

namespace tensim {
// An integer that orders like the float of these bits.
TENSIM_INLINE constexpr int32_t ordered(uint32_t bits) { return int32_t(bits ^ (uint32_t(int32_t(bits) >> 31) >> 1)); }
}  // namespace tensim
inline constexpr bool bfloat16_greater(uint16_t a, uint16_t b) {
    return tensim::ordered(uint32_t(a) << 16) > tensim::ordered(uint32_t(b) << 16);
}
inline constexpr bool float32_greater(uint32_t a, uint32_t b) { return tensim::ordered(a) > tensim::ordered(b); }
inline constexpr bool int32_greater(int32_t a, int32_t b) { return a > b; }
