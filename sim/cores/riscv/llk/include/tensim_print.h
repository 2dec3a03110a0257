// Prints of compute kernels at the instruction level: three stores for each value (tensim.sim.cores.coprocessor.memory_map), in place
// of the vendor's buffers in L1, which nobody reads here.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace tensim {
// tensim.sim.cores.riscv.traps.Print
enum class Printed : uint32_t {
    TEXT, UNSIGNED, SIGNED, FLOAT, CHARACTER, UNSIGNED_64, SIGNED_64, POINTER, BFLOAT16, BOOLEAN, FORMAT, MANIPULATOR, LINE_END
};

__attribute__((always_inline)) inline void print(Printed kind, uint32_t value, uint32_t extra = 0) {
    volatile uint32_t* port = reinterpret_cast<volatile uint32_t*>(0xFFC50000u);
    port[0] = value;
    port[1] = extra;
    port[2] = static_cast<uint32_t>(kind) + 1;
}
template <typename T>
__attribute__((always_inline)) inline void print_value(T value) {
    if constexpr (std::is_same_v<T, bool>) {
        print(Printed::BOOLEAN, value);
    } else if constexpr (std::is_same_v<T, char>) {
        print(Printed::CHARACTER, static_cast<uint8_t>(value));
    } else if constexpr (std::is_enum_v<T>) {
        print_value(static_cast<std::underlying_type_t<T>>(value));
    } else if constexpr (std::is_floating_point_v<T>) {
        print(Printed::FLOAT, std::bit_cast<uint32_t>(static_cast<float>(value)));
    } else if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
        print(std::is_signed_v<T> ? Printed::SIGNED_64 : Printed::UNSIGNED_64, static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32));
    } else if constexpr (std::is_integral_v<T>) {
        print(std::is_signed_v<T> ? Printed::SIGNED : Printed::UNSIGNED, static_cast<uint32_t>(value));
    } else if constexpr (std::is_convertible_v<T, const char*>) {
        print(Printed::TEXT, reinterpret_cast<uint32_t>(static_cast<const char*>(value)));
    } else if constexpr (std::is_pointer_v<T>) {
        print(Printed::POINTER, reinterpret_cast<uint32_t>(value));
    } else {
        print(Printed::TEXT, reinterpret_cast<uint32_t>("(tiles and arrays are not shown at the instruction level)"));
    }
}
template <typename... Values>
__attribute__((always_inline)) inline void print_format(const char* format, Values... values) {
    print(Printed::FORMAT, reinterpret_cast<uint32_t>(format), sizeof...(values));
    (print_value(values), ...);
}
}  // namespace tensim

#if TENSIM_LLK_TYPED
#undef DEVICE_PRINT
#define DEVICE_PRINT(...) ::tensim::print_format(__VA_ARGS__)
#else
// Earlier releases print by <<, with types of their own for what is no plain value.
namespace tensim {
struct Printer {};
template <typename T>
__attribute__((always_inline)) inline Printer operator<<(Printer printer, T value) {
    if constexpr (std::is_same_v<T, ENDL>) {
        print(Printed::LINE_END, 0);
    } else if constexpr (std::is_same_v<T, BF16>) {
        print(Printed::BFLOAT16, std::bit_cast<uint16_t>(value));
    } else if constexpr (std::is_same_v<T, F32> || std::is_same_v<T, U32>) {
        print(std::is_same_v<T, F32> ? Printed::FLOAT : Printed::UNSIGNED, std::bit_cast<uint32_t>(value));
    } else if constexpr (std::is_scalar_v<T>) {
        print_value(value);
    }
    return printer;
}
}  // namespace tensim
#undef DPRINT
#define DPRINT (::tensim::Printer{})
#endif
