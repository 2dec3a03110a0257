// Programs of the vector unit: vectors of 32 lanes, their arithmetic, conditions that disable lanes.  The interface is that of
// tt-metal's sfpi as shipped kernels use it; what each call does is taken from tt-isa-documentation's pages of the instructions.
// How calls become instructions: tensim_vector.h.
#pragma once
#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include "sfpi_modes.h"
#include "tensim_vector.h"

#define sfpi_inline __attribute__((always_inline)) inline

using __rvtt_vec_t = tensim_token;

namespace sfpi {

// --- kinds of values

enum class Kind { Float, Float16a, Float16b, Int, UInt, UInt8, UInt16, Mag, SMag, SMag8, SMag16 };

enum class RoundMode { Nearest, NearestStochastic, NearestAway, NearestEven = Nearest, Stochastic = NearestStochastic };
enum class ExponentMode { Unbiased, Biased, Debias = Unbiased, NoDebias = Biased };
enum class MantissaMode { Fraction, ImplicitOne };
enum class ShiftMode { Logical, Arithmetic };
enum class FractionalHalf { Low, High };
enum class LutSign { Retain, Update };
enum class LRegs { LReg0, LReg1, LReg2, LReg3, LReg4, LReg5, LReg6, LReg7 };
// How numbers lie in Dst
enum class DataLayout { Default, None, FSrcB, F16a, F16b, F32, I32, U32, SM32, M32, I16, U16, SM16, I8, U8, SM8 };

constexpr bool is_float_kind(Kind kind) { return kind == Kind::Float || kind == Kind::Float16a || kind == Kind::Float16b; }
constexpr bool is_magnitude_kind(Kind kind) { return kind == Kind::Mag || kind == Kind::UInt8 || kind == Kind::UInt16; }
constexpr bool is_sign_magnitude_kind(Kind kind) { return kind == Kind::SMag || kind == Kind::SMag8 || kind == Kind::SMag16; }

// A 16-bit float in an instruction: given as a number it is truncated, given as an integer it is the bits.
struct sFloat16b {
    uint32_t bits;
    sfpi_inline constexpr sFloat16b(float value) : bits(std::bit_cast<uint32_t>(value) >> 16) {}
    sfpi_inline constexpr sFloat16b(double value) : sFloat16b(static_cast<float>(value)) {}
    template <std::integral T>
    sfpi_inline constexpr sFloat16b(T value) : bits(static_cast<uint32_t>(value) & 0xFFFF) {}
};
struct sFloat16a {
    uint32_t bits;
    sfpi_inline constexpr sFloat16a(float value) {
        uint32_t all = std::bit_cast<uint32_t>(value), exponent = all >> 23 & 255;
        exponent = exponent <= 112 ? 0 : exponent >= 143 ? 31 : exponent - 112;
        bits = all >> 31 << 15 | exponent << 10 | (all >> 13 & 0x3FF);
    }
    sfpi_inline constexpr sFloat16a(double value) : sFloat16a(static_cast<float>(value)) {}
    template <std::integral T>
    sfpi_inline constexpr sFloat16a(T value) : bits(static_cast<uint32_t>(value) & 0xFFFF) {}
};
using s2vFloat16a = sFloat16a;
using s2vFloat16b = sFloat16b;
struct s2vFloat16 {
    enum Format { fp16a = SFPLOADI_MOD0_FLOATA, fp16b = SFPLOADI_MOD0_FLOATB };
    uint32_t bits;
    Format format;
    template <typename T>
    sfpi_inline constexpr s2vFloat16(T value, Format format = fp16b)
        : bits(format == fp16a ? sFloat16a(value).bits : sFloat16b(value).bits), format(format) {}
};

template <typename T>
concept Number = std::is_arithmetic_v<T>;
template <typename T>
concept ShortFloat = std::same_as<T, sFloat16a> || std::same_as<T, sFloat16b> || std::same_as<T, s2vFloat16>;

// --- vectors

template <Kind kind>
class Vector;
using vFloat = Vector<Kind::Float>;
using vFloat16a = Vector<Kind::Float16a>;
using vFloat16b = Vector<Kind::Float16b>;
using vInt = Vector<Kind::Int>;
using vUInt = Vector<Kind::UInt>;
using vUInt8 = Vector<Kind::UInt8>;
using vUInt16 = Vector<Kind::UInt16>;
using vMag = Vector<Kind::Mag>;
using vSMag = Vector<Kind::SMag>;
using vSMag8 = Vector<Kind::SMag8>;
using vSMag16 = Vector<Kind::SMag16>;

// What stands for a vector in expressions besides vectors themselves has a type `vector` and gives a `token`.
template <typename T>
concept Place = requires(const T& place) {
    typename T::vector;
    { place.token() } -> std::same_as<tensim_token>;
};

template <Kind kind>
class Vector {
    tensim_token value_;

public:
    using vector = Vector;
    static constexpr Kind of = kind;

    sfpi_inline Vector() : value_(__tensim_sfp_undefined()) {}
    sfpi_inline Vector(tensim_token value) : value_(value) {}
    sfpi_inline Vector(const Vector& other) : value_(other.value_) {}
    template <Kind other>
        requires(is_float_kind(other) == is_float_kind(kind))
    sfpi_inline Vector(const Vector<other>& value) : value_(value.token()) {}
    template <Place T>
        requires(!std::is_same_v<typename T::vector, T> && is_float_kind(T::vector::of) == is_float_kind(kind) && !T::is_destination)
    sfpi_inline Vector(const T& place) : value_(place.token()) {}
    template <Number T>
    sfpi_inline Vector(T number) : value_(__tensim_sfp_number(bits_of(number))) {}
    template <ShortFloat T>
        requires(is_float_kind(kind))
    sfpi_inline Vector(T number) : value_(__tensim_sfp_immediate(mode_of(number), number.bits)) {}

    sfpi_inline Vector& operator=(const Vector& other) {
        value_ = __tensim_sfp_assign(value_, other.value_);
        return *this;
    }
    sfpi_inline tensim_token token() const { return value_; }
    sfpi_inline tensim_token get() const { return value_; }
    sfpi_inline tensim_token& get() { return value_; }  // kernels assign to it, which conditions do not restrict

private:
    template <typename T>
    sfpi_inline static constexpr uint32_t bits_of(T number) {
        if constexpr (is_float_kind(kind)) {
            return std::bit_cast<uint32_t>(static_cast<float>(number));
        } else if constexpr (is_sign_magnitude_kind(kind)) {
            return number < T(0) ? 0x80000000u | (0u - static_cast<uint32_t>(number)) : static_cast<uint32_t>(number);
        } else {
            return static_cast<uint32_t>(number);
        }
    }
    sfpi_inline static constexpr uint32_t mode_of(sFloat16a) { return SFPLOADI_MOD0_FLOATA; }
    sfpi_inline static constexpr uint32_t mode_of(sFloat16b) { return SFPLOADI_MOD0_FLOATB; }
    sfpi_inline static constexpr uint32_t mode_of(s2vFloat16 number) { return number.format; }
};

template <typename T>
concept FloatPlace = Place<T> && is_float_kind(T::vector::of);
template <typename T>
concept IntegerPlace = Place<T> && !is_float_kind(T::vector::of);
template <typename T>
concept FloatOperand = FloatPlace<T> || Number<T> || ShortFloat<T>;
template <typename T>
concept IntegerOperand = IntegerPlace<T> || (Number<T> && !std::floating_point<T>);

// The token of an operand, as a vector of kind V
template <typename V, typename T>
sfpi_inline tensim_token token_of(const T& operand) {
    if constexpr (Place<T>) {
        return operand.token();
    } else {
        return V(operand).token();
    }
}

template <typename To, Place From>
sfpi_inline To as(const From& value) {
    return To(value.token());
}
template <typename To, Place From>
sfpi_inline To reinterpret(const From& value) {
    return To(value.token());
}

// --- registers

// A register that holds a constant of the chip's: all of one type, for kernels choose between them.
struct Fixed {
    using vector = vFloat;
    static constexpr bool is_destination = false;
    uint32_t number;
    sfpi_inline tensim_token token() const { return __tensim_sfp_constant(number); }
    sfpi_inline tensim_token get() const { return token(); }
};
// A programmable one, 11 to 14, or the number of the lane.
template <typename V, uint32_t number>
struct Constant {
    using vector = V;
    static constexpr bool is_destination = false;
    sfpi_inline tensim_token token() const { return __tensim_sfp_constant(number); }
    sfpi_inline tensim_token get() const { return token(); }
    template <typename T>
    sfpi_inline void operator=(const T& value) const {
        static_assert(number >= 11 && number <= 14, "this register is read only");
        __tensim_sfp_configure(number, token_of<V>(value));
    }
    sfpi_inline void operator=(const Constant& value) const { __tensim_sfp_configure(number, value.token()); }
};
inline constexpr Fixed vConst0p8373{8}, vConst0{9}, vConst1{10};
inline constexpr Constant<vFloat, 11> vConstNeg1{};
inline constexpr Constant<vFloat, 12> vConstFloatPrgm0{};
inline constexpr Constant<vFloat, 13> vConstFloatPrgm1{};
inline constexpr Constant<vFloat, 14> vConstFloatPrgm2{};
inline constexpr Constant<vInt, 12> vConstIntPrgm0{};
inline constexpr Constant<vInt, 13> vConstIntPrgm1{};
inline constexpr Constant<vInt, 14> vConstIntPrgm2{};
inline constexpr Constant<vInt, 15> vConstTileId{};

template <typename V>
concept Table = requires { typename V::is_table; };

struct LRegister {
    LRegs number;
    template <Kind kind>
    sfpi_inline operator Vector<kind>() const {
        return Vector<kind>(__tensim_sfp_read(static_cast<uint32_t>(number)));
    }
    template <Table V>
    sfpi_inline operator V() const {
        return V(__tensim_sfp_read(static_cast<uint32_t>(number)));
    }
    template <typename V>
        requires(Place<V> || Table<V>)
    sfpi_inline void operator=(const V& value) const {
        __tensim_sfp_write(static_cast<uint32_t>(number), value.token());
    }
    sfpi_inline void operator=(float value) const { __tensim_sfp_write(static_cast<uint32_t>(number), vFloat(value).token()); }
    // Raw words use the register here: no value may lie in it.
    sfpi_inline void in_use() const { __tensim_sfp_use(static_cast<uint32_t>(number)); }
};
struct LRegisters {
    sfpi_inline constexpr LRegister operator[](LRegs number) const { return {number}; }
};
inline constexpr LRegisters l_reg{};

// Says that a function needs all registers: the pass finds out by itself.
struct lreg_pressure {
    sfpi_inline lreg_pressure() {}
};

#include "sfpi_arithmetic.h"
#include "sfpi_conditions.h"
#include "sfpi_destination.h"
#include "sfpi_functions.h"

// SFPIADD with a number: the sum, whose sign narrows the lanes as the mode says.
sfpi_inline tensim_token add_number(tensim_token value, int number, unsigned mode) {
    vInt sum = vInt(value) + number;
    if (mode == SFPIADD_MOD1_CC_LT0) narrow(sum < 0);
    if (mode == SFPIADD_MOD1_CC_GTE0) narrow(sum >= 0);
    return sum.get();
}

}  // namespace sfpi

// The vector instructions by the names of the vendor's compiler
#define __builtin_rvtt_sfpmad(a, b, c, mode) __tensim_sfp_three(0x84, mode, a, b, c)
#define __builtin_rvtt_sfpmul(a, b, mode) __tensim_sfp_three(0x86, mode, a, b, __tensim_sfp_constant(9))
#define __builtin_rvtt_sfpadd(a, b, mode) __tensim_sfp_three(0x85, mode, __tensim_sfp_constant(10), a, b)
#define __builtin_rvtt_bh_sfpmul24(a, b, mode) __tensim_sfp_three(0x98, mode, a, b, __tensim_sfp_constant(9))
#define __builtin_rvtt_sfpmul24(a, b, mode) __builtin_rvtt_bh_sfpmul24(a, b, mode)
#define __builtin_rvtt_sfpxloadi(number, mode) __tensim_sfp_immediate(mode, number)
#define __builtin_rvtt_sfpgt(d, c, mode) __tensim_sfp_two(0x97, mode, d, c)
#define __builtin_rvtt_sfple(d, c, mode) __tensim_sfp_two(0x96, mode, d, c)
#define __builtin_rvtt_sfpiadd_i(value, number, mode) ::sfpi::add_number(value, number, mode)
#define __builtin_rvtt_sfpload(format, address_mode, address, ...) __tensim_sfp_load(format, address_mode, address)
#define __builtin_rvtt_sfpstore(value, format, address_mode, address, ...) __tensim_sfp_store(value, format, address_mode, address)
#define __builtin_rvtt_ttreplay(start, length, execute, record, ...) \
    tensim::issue(0x04u << 24 | (start) << 14 | (length) << 4 | (execute) << 1 | (record))
