// Prints, assertions and profiler zones.
#pragma once
#include "tensim/environment.h"

// Texts lie outside the chip's memory, where only the front end reads them.
#define TENSIM_TEXT(literal)                                                                       \
    ([]() __attribute__((always_inline)) {                                                         \
        static const char text[] __attribute__((section(".tensim_strings"), used)) = literal;      \
        return uint32_t(text);                                                                     \
    }())
#define TENSIM_STRINGIFY_(x) #x
#define TENSIM_STRINGIFY(x) TENSIM_STRINGIFY_(x)
#define ASSERT(condition, ...)                                                                                       \
    do {                                                                                                             \
        if (!(condition))                                                                                            \
            tensim::post_fail_assert(TENSIM_TEXT(__FILE__ ":" TENSIM_STRINGIFY(__LINE__) ": " #condition));         \
    } while (0)
#define LLK_ASSERT(condition, ...) ASSERT(condition)
#define LIGHTWEIGHT_ASSERT(condition, ...) ASSERT(condition)
#define WAYPOINT(...)
// Of tt-metal's watcher, which would hold the core or keep the value: here the log says that the kernel came by.
#define PAUSE() DEVICE_PRINT("PAUSE() at " __FILE__ ":" TENSIM_STRINGIFY(__LINE__) ": the kernel goes on; `tensim debug` stops at lines\n")
#define WATCHER_RING_BUFFER_PUSH(x) DEVICE_PRINT("watcher ring buffer: {}\n", reinterpret_cast<const void*>(uint32_t(x)))
#define WATCHER_RING_BUFFER_INIT()

namespace tensim {
struct Zone {
    uint32_t id;
    TENSIM_INLINE explicit Zone(uint32_t name) : id(name) { post_zone_begin(id); }
    TENSIM_INLINE ~Zone() { post_zone_end(id); }
};
}  // namespace tensim
#define TENSIM_JOIN_(a, b) a##b
#define TENSIM_JOIN(a, b) TENSIM_JOIN_(a, b)
#define TENSIM_ZONE_NAME(literal)                                                                  \
    ([]() __attribute__((always_inline)) {                                                         \
        static const char text[] __attribute__((section(".tensim_zones"), used)) = literal;        \
        return uint32_t(text);                                                                     \
    }())
#define DeviceZoneScopedN(name) tensim::Zone TENSIM_JOIN(tensim_zone_, __COUNTER__)(TENSIM_ZONE_NAME(name))
#define DeviceZoneScopedMainN(name) DeviceZoneScopedN(name)
#define DeviceZoneScopedMainChildN(name) DeviceZoneScopedN(name)
#define DeviceZoneScopedSumN1(name) DeviceZoneScopedN(name)
#define DeviceZoneScopedSumN2(name) DeviceZoneScopedN(name)
#define DeviceTimestampedData(name, value) ((void)(value))
#define DeviceRecordEvent(id) ((void)(id))
#define DeviceProfilerInit()

struct BF16 {
    uint16_t bits;
    explicit BF16(uint32_t value) : bits(value) {}
};
struct F32 {
    float value;
    explicit F32(float v) : value(v) {}
    explicit F32(uint32_t bits) : value(std::bit_cast<float>(bits)) {}
};
struct U32 {
    uint32_t value;
};
using bf16_t = BF16;
namespace tensim {
struct EndLine {};
struct PrintedTile;
TENSIM_INLINE void print_tile(const PrintedTile& slice);
struct Setting {
    uint32_t code, value;
};
TENSIM_INLINE void print(uint32_t kind, uint32_t value, uint32_t extra = 0) { post_dprint(kind, value, extra); }
template <class T>
TENSIM_INLINE void print_value(T value) {
    using U = std::remove_cvref_t<T>;
    if constexpr (std::is_same_v<U, BF16>) print(print_code::BFLOAT16, value.bits);
    else if constexpr (std::is_same_v<U, bool>) print(print_code::BOOLEAN, value);
    else if constexpr (std::is_same_v<U, char>) print(print_code::CHARACTER, uint8_t(value));
    else if constexpr (std::is_enum_v<U>) print_value(std::underlying_type_t<U>(value));
    else if constexpr (std::is_same_v<U, double>) print(print_code::FLOAT, std::bit_cast<uint32_t>(float(value)));
    else if constexpr (std::is_floating_point_v<U>) print(print_code::FLOAT, std::bit_cast<uint32_t>(value));
    else if constexpr (std::is_integral_v<U> && sizeof(U) == 8)
        print(std::is_signed_v<U> ? print_code::SIGNED_64 : print_code::UNSIGNED_64, uint32_t(value), uint32_t(value >> 32));
    else if constexpr (std::is_integral_v<U>) print(std::is_signed_v<U> ? print_code::SIGNED : print_code::UNSIGNED, value);
    else if constexpr (std::is_convertible_v<U, const char*>) print(print_code::TEXT, uint32_t(static_cast<const char*>(value)));
    else if constexpr (std::is_pointer_v<U>) print(print_code::POINTER, uint32_t(value));
    else if constexpr (std::is_base_of_v<PrintedTile, U>) print_tile(value);
    else if constexpr (std::is_convertible_v<U, uint32_t>) print(print_code::UNSIGNED, uint32_t(value));
}
struct Printer {
    template <class... Values>
    TENSIM_INLINE void operator()(const char* format, Values... values) const {
        print(print_code::FORMAT, uint32_t(format), sizeof...(values));
        (print_value(values), ...);
    }
};
TENSIM_INLINE const Printer& operator<<(const Printer& printer, EndLine) {
    print(print_code::LINE_END, 0);
    return printer;
}
TENSIM_INLINE const Printer& operator<<(const Printer& printer, Setting setting) {
    print(print_code::MANIPULATOR, setting.code, setting.value);
    return printer;
}
template <class T>
TENSIM_INLINE const Printer& operator<<(const Printer& printer, const T& value) {
    if constexpr (std::is_array_v<T>) print(print_code::TEXT, uint32_t(&value[0]));
    else print_value(value);
    return printer;
}
constexpr Printer printer{};
}  // namespace tensim
namespace tensim {
TENSIM_INLINE const Printer& operator<<(const Printer& printer, BF16 value) {
    print(print_code::BFLOAT16, value.bits);
    return printer;
}
TENSIM_INLINE const Printer& operator<<(const Printer& printer, F32 value) { return printer << value.value; }
TENSIM_INLINE const Printer& operator<<(const Printer& printer, U32 value) { return printer << value.value; }
}  // namespace tensim
TENSIM_INLINE tensim::EndLine ENDL() { return {}; }
TENSIM_INLINE tensim::Setting HEX() { return {tensim::manipulator_code::HEX, 0}; }
TENSIM_INLINE tensim::Setting OCT() { return {tensim::manipulator_code::OCT, 0}; }
TENSIM_INLINE tensim::Setting DEC() { return {tensim::manipulator_code::DEC, 0}; }
TENSIM_INLINE tensim::Setting FIXED() { return {tensim::manipulator_code::FIXED, 0}; }
TENSIM_INLINE tensim::Setting DEFAULTFLOAT() { return {tensim::manipulator_code::DEFAULT_FLOAT, 0}; }
TENSIM_INLINE tensim::Setting SETW(uint32_t width, bool = true) { return {tensim::manipulator_code::WIDTH, width}; }
TENSIM_INLINE tensim::Setting SETPRECISION(uint32_t digits) { return {tensim::manipulator_code::PRECISION, digits}; }
#define DPRINT (tensim::printer)
#define CTSTR(literal) (literal)
#define DEVICE_PRINT(...) (tensim::printer(__VA_ARGS__))
#define DPRINT_UNPACK(x) UNPACK(x)
#define DPRINT_MATH(x) MATH(x)
#define DPRINT_PACK(x) PACK(x)
#define DPRINT_DATA0(x) TENSIM_DATA0(x)
#define DPRINT_DATA1(x) TENSIM_DATA1(x)
#if defined(COMPILE_FOR_BRISC)
#define TENSIM_DATA0(x) x
#else
#define TENSIM_DATA0(x)
#endif
#if defined(COMPILE_FOR_NCRISC)
#define TENSIM_DATA1(x) x
#else
#define TENSIM_DATA1(x)
#endif
