// Operators of vectors.  Included by sfpi.h, inside its namespace.
#pragma once

// --- floating point

template <FloatOperand A, FloatOperand B>
    requires(Place<A> || Place<B>)
sfpi_inline vFloat operator+(const A& a, const B& b) {
    return __tensim_sfp_add(token_of<vFloat>(a), token_of<vFloat>(b));
}
template <FloatOperand A, FloatOperand B>
    requires(Place<A> || Place<B>)
sfpi_inline vFloat operator-(const A& a, const B& b) {
    return __tensim_sfp_subtract(token_of<vFloat>(a), token_of<vFloat>(b));
}
template <FloatOperand A, FloatOperand B>
    requires(Place<A> || Place<B>)
sfpi_inline vFloat operator*(const A& a, const B& b) {
    return __tensim_sfp_multiply(token_of<vFloat>(a), token_of<vFloat>(b));
}
template <FloatPlace A>
sfpi_inline vFloat operator-(const A& a) {
    return __tensim_sfp_negate(a.token());
}

// --- integers: the kind of a result is that of the vector, of two vectors the more general one

constexpr Kind common_kind(Kind a, Kind b) {
    if (a == b && !is_sign_magnitude_kind(a)) return a;
    if (a == Kind::Int || b == Kind::Int || is_sign_magnitude_kind(a) || is_sign_magnitude_kind(b)) return Kind::Int;
    return a == Kind::UInt || b == Kind::UInt ? Kind::UInt : Kind::Mag;
}
template <typename T>
struct vector_of {
    using type = void;
};
template <Place T>
struct vector_of<T> {
    using type = typename T::vector;
};
template <typename A, typename B>
struct integer_result {
    using type = Vector<common_kind(A::of, B::of)>;
};
template <typename A>
struct integer_result<A, void> {
    using type = Vector<common_kind(A::of, A::of)>;
};
template <typename B>
struct integer_result<void, B> {
    using type = Vector<common_kind(B::of, B::of)>;
};
template <typename A, typename B>
using integers = typename integer_result<typename vector_of<A>::type, typename vector_of<B>::type>::type;
template <typename A, typename B>
concept IntegerPair = IntegerOperand<A> && IntegerOperand<B> && (Place<A> || Place<B>);

template <typename A, typename B>
    requires IntegerPair<A, B>
sfpi_inline integers<A, B> operator+(const A& a, const B& b) {
    return __tensim_sfp_integer_add(token_of<vInt>(a), token_of<vInt>(b));
}
template <typename A, typename B>
    requires IntegerPair<A, B>
sfpi_inline std::conditional_t<is_magnitude_kind(integers<A, B>::of), vInt, integers<A, B>> operator-(const A& a, const B& b) {
    return __tensim_sfp_integer_subtract(token_of<vInt>(a), token_of<vInt>(b));
}
template <IntegerPlace A>
sfpi_inline vInt operator-(const A& a) {
    return __tensim_sfp_integer_subtract(__tensim_sfp_constant(9), a.token());
}
template <typename A, typename B>
    requires IntegerPair<A, B>
sfpi_inline integers<A, B> operator&(const A& a, const B& b) {
    return __tensim_sfp_two(0x7E, 0, token_of<vInt>(a), token_of<vInt>(b));
}
template <typename A, typename B>
    requires IntegerPair<A, B>
sfpi_inline integers<A, B> operator|(const A& a, const B& b) {
    return __tensim_sfp_two(0x7F, 0, token_of<vInt>(a), token_of<vInt>(b));
}
template <typename A, typename B>
    requires IntegerPair<A, B>
sfpi_inline integers<A, B> operator^(const A& a, const B& b) {
    return __tensim_sfp_two(0x8D, 0, token_of<vInt>(a), token_of<vInt>(b));
}
template <IntegerPlace A>
sfpi_inline Vector<common_kind(A::vector::of, A::vector::of)> operator~(const A& a) {
    return __tensim_sfp_one(0x80, 0, 0, a.token());
}

// A shift of vInt to the right keeps the sign.  Wormhole shifts zeros in only: with the sign inverted before and its shifted
// place value subtracted after, that becomes the same.
template <Kind kind>
sfpi_inline tensim_token shifted(tensim_token value, tensim_token amount, ShiftMode mode) {
#ifdef ARCH_BLACKHOLE
    return __tensim_sfp_shift(value, amount, mode == ShiftMode::Arithmetic);
#else
    if (mode == ShiftMode::Logical) return __tensim_sfp_shift(value, amount, 0);
    tensim_token sign = __tensim_sfp_number(0x80000000u);
    tensim_token moved = __tensim_sfp_shift(__tensim_sfp_two(0x8D, 0, value, sign), amount, 0);
    return __tensim_sfp_integer_subtract(moved, __tensim_sfp_shift(sign, amount, 0));
#endif
}
template <IntegerPlace A, IntegerOperand B>
sfpi_inline integers<A, A> operator<<(const A& a, const B& b) {
    return __tensim_sfp_shift(a.token(), token_of<vInt>(b), 0);
}
template <IntegerPlace A, IntegerOperand B>
sfpi_inline integers<A, A> operator>>(const A& a, const B& b) {
    tensim_token amount;
    if constexpr (Place<B>) {
        amount = (-b).token();
    } else {
        amount = __tensim_sfp_number(static_cast<uint32_t>(-static_cast<int32_t>(b)));
    }
    return shifted<A::vector::of>(a.token(), amount, A::vector::of == Kind::Int ? ShiftMode::Arithmetic : ShiftMode::Logical);
}
template <Place A, IntegerOperand B>
sfpi_inline typename A::vector shft(const A& value, const B& amount, ShiftMode mode = ShiftMode::Logical) {
    return shifted<A::vector::of>(value.token(), token_of<vInt>(amount), mode);
}

// --- assignment with an operator

template <Kind kind, typename B>
sfpi_inline Vector<kind>& operator+=(Vector<kind>& a, const B& b) {
    return a = Vector<kind>(a + b);
}
template <Kind kind, typename B>
sfpi_inline Vector<kind>& operator-=(Vector<kind>& a, const B& b) {
    return a = Vector<kind>(a - b);
}
template <Kind kind, typename B>
sfpi_inline Vector<kind>& operator*=(Vector<kind>& a, const B& b) {
    return a = Vector<kind>(a * b);
}
template <Kind kind, typename B>
sfpi_inline Vector<kind>& operator&=(Vector<kind>& a, const B& b) {
    return a = Vector<kind>(a & b);
}
template <Kind kind, typename B>
sfpi_inline Vector<kind>& operator|=(Vector<kind>& a, const B& b) {
    return a = Vector<kind>(a | b);
}
template <Kind kind, typename B>
sfpi_inline Vector<kind>& operator^=(Vector<kind>& a, const B& b) {
    return a = Vector<kind>(a ^ b);
}
template <Kind kind, typename B>
sfpi_inline Vector<kind>& operator<<=(Vector<kind>& a, const B& b) {
    return a = Vector<kind>(a << b);
}
template <Kind kind, typename B>
sfpi_inline Vector<kind>& operator>>=(Vector<kind>& a, const B& b) {
    return a = Vector<kind>(a >> b);
}
template <Kind kind>
    requires(!is_float_kind(kind))
sfpi_inline Vector<kind>& operator++(Vector<kind>& a) {
    return a = Vector<kind>(a + 1);
}
template <Kind kind>
    requires(!is_float_kind(kind))
sfpi_inline Vector<kind>& operator--(Vector<kind>& a) {
    return a = Vector<kind>(a - 1);
}
