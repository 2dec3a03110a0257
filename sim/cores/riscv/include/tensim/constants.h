// Constants and small helpers that kernels share with their host programs, and arithmetic on packed numbers.
#pragma once
#include "tensim/circular_buffer.h"

using uint = unsigned int;
#define ALWI inline __attribute__((always_inline))
#define SDPA_NOINLINE __attribute__((noinline))
constexpr uint32_t INVALID = 0, VALID = 1;
#define MEM_ZEROS_BASE TENSIM_ZEROS_BASE
#define MEM_ZEROS_SIZE 512
#define MEM_L1_BASE 0
#define MEM_L1_SIZE TENSIM_L1_BYTES
#define MEM_L1_UNCACHED_BASE 0
#define RISCV_DEBUG_REG_WALL_CLOCK_L 0xFFB121F0
#define RISCV_DEBUG_REG_WALL_CLOCK_H 0xFFB121F8

namespace tt::tt_metal {
enum class BufferType { DRAM, L1, SYSTEM_MEMORY, L1_SMALL, TRACE };
enum class TensorMemoryLayout { INTERLEAVED = 0, HEIGHT_SHARDED = 2, WIDTH_SHARDED = 3, BLOCK_SHARDED = 4, ND_SHARDED = 5 };
enum class Layout { ROW_MAJOR = 0, TILE = 1, INVALID = 2 };
enum class ShardOrientation { ROW_MAJOR = 0, COL_MAJOR = 1 };
enum class ShardDistributionStrategy { ROUND_ROBIN_1D = 0, GRID_2D = 1, CONTIGUOUS_1D = 2 };
}  // namespace tt::tt_metal
namespace tt {
using ::DataFormat;
}

// Templates, so that a kernel may define functions of the same names.
namespace ckernel {
template <class... Values>
TENSIM_INLINE void scoped_lock_release_cache_ops(Values...) {}
template <auto... options>
TENSIM_INLINE float bf16_to_fp32(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }
template <auto... options>
TENSIM_INLINE uint16_t fp32_to_bf16_truncate(float value) { return uint16_t(std::bit_cast<uint32_t>(value) >> 16); }
template <auto... options>
TENSIM_INLINE uint16_t fp32_to_bf16(float value) {
    uint32_t bits = std::bit_cast<uint32_t>(value);
    return uint16_t((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}
template <auto... options>
TENSIM_INLINE uint16_t float_to_bfloat16(float value) { return fp32_to_bf16(value); }
template <auto... options>
TENSIM_INLINE float bfloat16_to_float32(uint16_t bits) { return bf16_to_fp32(bits); }
template <class T>
TENSIM_INLINE volatile tt_l1_ptr T* l1_pointer(uint32_t address) {
    return reinterpret_cast<volatile T*>(address);
}
}  // namespace ckernel
