// What a kernel knows before it starts: its arguments, its place on the chip, the banks of memory.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tensim/operations.h"

#undef M_PI  // kernels have constants of that name

#define tt_l1_ptr
#define tt_reg_ptr
#define FORCE_INLINE inline __attribute__((always_inline))
#define NOINLINE __attribute__((noinline))
#ifndef tt_l1_ptr_volatile
#define tt_l1_ptr_volatile volatile
#endif
#define TT_KERNEL
#define tt_cb_ptr

constexpr uint32_t NUM_NOCS = 2;
constexpr uint8_t noc_index = NOC_INDEX;
constexpr uint8_t noc_mode = NOC_MODE;
constexpr uint8_t DM_DEDICATED_NOC = 0;
constexpr uint8_t DM_DYNAMIC_NOC = 1;
constexpr uint8_t NOC_0 = 0;
constexpr uint8_t NOC_1 = 1;
constexpr uint32_t L1_ALIGNMENT = TENSIM_L1_ALIGNMENT;
constexpr uint32_t DRAM_ALIGNMENT = TENSIM_DRAM_ALIGNMENT;
constexpr uint32_t NOC_L1_READ_ALIGNMENT_BYTES = TENSIM_L1_ALIGNMENT;
constexpr uint32_t NOC_L1_WRITE_ALIGNMENT_BYTES = TENSIM_L1_ALIGNMENT;
constexpr uint32_t NOC_DRAM_READ_ALIGNMENT_BYTES = TENSIM_DRAM_ALIGNMENT;
constexpr uint32_t NOC_DRAM_WRITE_ALIGNMENT_BYTES = 16;
constexpr uint32_t NOC_MAX_BURST_SIZE = TENSIM_NOC_BURST;
constexpr uint32_t NOC_MAX_BURST_WORDS = 256;
constexpr uint32_t NOC_WORD_BYTES = TENSIM_NOC_BURST / 256;
constexpr uint32_t NOC_UNICAST_WRITE_VC = 1;
constexpr uint32_t NOC_MULTICAST_WRITE_VC = 4;
constexpr uint32_t NOC_DISPATCH_MULTICAST_WRITE_VC = 5;
constexpr uint32_t NOC_MAX_TRANSACTION_ID = 15;
constexpr uint32_t NOC_MAX_TRANSACTION_ID_COUNT = 255;

// What the loader writes at the start of the core's local memory.
struct TensimFirmware {
    uint32_t arguments, common_arguments, semaphores, argument_count, common_argument_count;
    uint8_t my_x[NUM_NOCS], my_y[NUM_NOCS];
    uint8_t logical_x, logical_y, relative_x, relative_y;
    uint32_t noc, core, slot;
    uint32_t reserved[6];
    alignas(4) uint16_t dram_bank_to_noc_xy[NUM_NOCS][NUM_DRAM_BANKS];
    alignas(4) int32_t bank_to_dram_offset[NUM_DRAM_BANKS];
    alignas(4) uint16_t l1_bank_to_noc_xy[NUM_NOCS][NUM_L1_BANKS];
    alignas(4) int32_t bank_to_l1_offset[NUM_L1_BANKS];
};
static_assert(offsetof(TensimFirmware, dram_bank_to_noc_xy) == 0x40);
extern "C" const TensimFirmware tensim_firmware;
static const uint8_t (&my_x)[NUM_NOCS] = tensim_firmware.my_x;
static const uint8_t (&my_y)[NUM_NOCS] = tensim_firmware.my_y;
static const uint16_t (&dram_bank_to_noc_xy)[NUM_NOCS][NUM_DRAM_BANKS] = tensim_firmware.dram_bank_to_noc_xy;
static const int32_t (&bank_to_dram_offset)[NUM_DRAM_BANKS] = tensim_firmware.bank_to_dram_offset;
static const uint16_t (&l1_bank_to_noc_xy)[NUM_NOCS][NUM_L1_BANKS] = tensim_firmware.l1_bank_to_noc_xy;
static const int32_t (&bank_to_l1_offset)[NUM_L1_BANKS] = tensim_firmware.bank_to_l1_offset;

namespace tensim {
#if defined(COMPILE_FOR_BRISC) || defined(COMPILE_FOR_NCRISC)
constexpr bool on_data_movement = true;
#else
constexpr bool on_data_movement = false;
#endif
}  // namespace tensim

// --- arguments

namespace tensim {
// Those of compile time: how many there are, and one of them (given.h).
constexpr uint32_t compile_time_arguments();
constexpr uint32_t compile_time_argument(uint32_t index);
}  // namespace tensim
TENSIM_INLINE uintptr_t get_arg_addr(int index) { return tensim_firmware.arguments + 4 * index; }
TENSIM_INLINE uintptr_t get_common_arg_addr(int index) { return tensim_firmware.common_arguments + 4 * index; }
#define rta_l1_base (reinterpret_cast<uint32_t tt_l1_ptr*>(tensim_firmware.arguments))
#define crta_l1_base (reinterpret_cast<uint32_t tt_l1_ptr*>(tensim_firmware.common_arguments))
template <class T>
TENSIM_INLINE T get_arg_val(int index) {
    static_assert(sizeof(T) <= 4, "a runtime argument has four bytes");
    return *reinterpret_cast<const T*>(get_arg_addr(index));
}
template <class T>
TENSIM_INLINE T get_common_arg_val(int index) {
    static_assert(sizeof(T) <= 4, "a runtime argument has four bytes");
    return *reinterpret_cast<const T*>(get_common_arg_addr(index));
}

// --- place

TENSIM_INLINE uint8_t get_absolute_logical_x() { return tensim_firmware.logical_x; }
TENSIM_INLINE uint8_t get_absolute_logical_y() { return tensim_firmware.logical_y; }
TENSIM_INLINE uint8_t get_relative_logical_x() { return tensim_firmware.relative_x; }
TENSIM_INLINE uint8_t get_relative_logical_y() { return tensim_firmware.relative_y; }
TENSIM_INLINE uint32_t get_my_thread_id() { return 0; }
TENSIM_INLINE uint32_t get_num_threads() { return 1; }

// --- time and order

TENSIM_INLINE uint32_t get_timestamp_32b() { return tensim::post_timestamp(); }
TENSIM_INLINE uint64_t get_timestamp() {
    uint32_t low = tensim::post_timestamp();
    return uint64_t(tensim::post_result_high()) << 32 | low;
}
TENSIM_INLINE uint32_t reg_read(uint32_t address) { return *reinterpret_cast<volatile uint32_t*>(address); }
TENSIM_INLINE void flush_l2_cache_range(uintptr_t, size_t) {}
TENSIM_INLINE void flush_l2_cache_line(uintptr_t) {}
TENSIM_INLINE void invalidate_l2_cache_range(uintptr_t, size_t) {}
TENSIM_INLINE void clobber_all_memory() { asm volatile("" ::: "memory"); }
#define ABI_NOINLINE __attribute__((noinline))

// --- arithmetic that kernels expect

TENSIM_INLINE constexpr uint32_t align(uint32_t value, uint32_t alignment) {
    return (value + alignment - 1) & ~(alignment - 1);
}
template <class T>
TENSIM_INLINE constexpr T align_power_of_2(T value, T alignment) {
    return (value + alignment - 1) & ~(alignment - 1);
}
TENSIM_INLINE constexpr uint32_t align_power_of_2(uint32_t value, uint32_t alignment) {
    return (value + alignment - 1) & ~(alignment - 1);
}
TENSIM_INLINE constexpr uint32_t round_up_to_mult_of_4(uint32_t value) { return (value + 3) & ~3u; }
TENSIM_INLINE uint32_t mulsi3(uint32_t a, uint32_t b) { return a * b; }
template <uint32_t divisor>
TENSIM_INLINE constexpr uint32_t udivsi3_const_divisor(uint32_t value) {
    return value / divisor;
}
template <uint32_t divisor>
TENSIM_INLINE constexpr uint32_t umodsi3_const_divisor(uint32_t value) {
    return value % divisor;
}
TENSIM_INLINE constexpr uint32_t wrap_ge(uint32_t a, uint32_t b) { return int32_t(a - b) >= 0; }
TENSIM_INLINE constexpr uint32_t wrap_gt(uint32_t a, uint32_t b) { return int32_t(a - b) > 0; }
