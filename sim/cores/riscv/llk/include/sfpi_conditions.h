// Comparisons, and the regions in which only the lanes of a condition are enabled.  Included by sfpi.h, inside its namespace.
#pragma once

enum class Test { LT0 = SFPSETCC_MOD1_LREG_LT0, NE0 = SFPSETCC_MOD1_LREG_NE0, GTE0 = SFPSETCC_MOD1_LREG_GTE0, EQ0 = SFPSETCC_MOD1_LREG_EQ0 };

// A condition of each lane
struct vBool {
    tensim_token condition;
    sfpi_inline explicit vBool(tensim_token condition) : condition(condition) {}
    sfpi_inline vBool(const vBool& other) : condition(other.condition) {}
    // 1 where it holds, else 0
    sfpi_inline operator vInt() const { return vInt(__tensim_sfp_boolean(condition)); }
    template <IntegerPlace T>
    sfpi_inline vBool(const T& value) : vBool(__tensim_sfp_test(static_cast<uint32_t>(Test::NE0), value.token())) {}
};
using vCond = vBool;

sfpi_inline tensim_token test(Test which, tensim_token value) { return __tensim_sfp_test(static_cast<uint32_t>(which), value); }
// Says that compared integers are not far apart: all comparisons here are those that this allows.
sfpi_inline vBool nearby(const vBool& condition) { return condition; }

template <typename T>
concept Condition = std::same_as<T, vBool> || IntegerPlace<T>;
template <typename A, typename B>
concept Conditions = Condition<A> && Condition<B> && (std::same_as<A, vBool> || std::same_as<B, vBool>);
template <typename A, typename B>
    requires Conditions<A, B>
sfpi_inline vBool operator&&(const A& a, const B& b) {
    return vBool(__tensim_sfp_and(vBool(a).condition, vBool(b).condition));
}
template <typename A, typename B>
    requires Conditions<A, B>
sfpi_inline vBool operator||(const A& a, const B& b) {
    return vBool(__tensim_sfp_or(vBool(a).condition, vBool(b).condition));
}
sfpi_inline vBool operator!(const vBool& a) { return vBool(__tensim_sfp_not(a.condition)); }

// --- floating point.  Blackhole compares two numbers by sign and magnitude (SFPGT, SFPLE): NaN lies beyond infinity, -0 below 0.
// Wormhole has the sign of the difference, of which the unit flushes -0.  Against 0 the sign says it.

template <typename T>
sfpi_inline bool is_zero_number(const T& operand) {
    if constexpr (Number<T>) {
        return __builtin_constant_p(operand == T(0)) && operand == T(0);
    } else {
        return false;
    }
}
template <typename A, typename B>
concept FloatPair = FloatOperand<A> && FloatOperand<B> && (FloatPlace<A> || FloatPlace<B>);

template <typename A, typename B>
sfpi_inline tensim_token float_difference(const A& a, const B& b) {
    if (is_zero_number(b)) return token_of<vFloat>(a);
    return __tensim_sfp_subtract(token_of<vFloat>(a), token_of<vFloat>(b));
}
#ifdef ARCH_BLACKHOLE
constexpr uint32_t LESS_OR_EQUAL = 0x96, GREATER = 0x97;
template <typename A, typename B>
sfpi_inline vBool float_order(uint32_t opcode, const A& a, const B& b) {
    return vBool(__tensim_sfp_order(opcode, token_of<vFloat>(a), token_of<vFloat>(b)));
}
template <typename A, typename B>
    requires FloatPair<A, B>
sfpi_inline vBool operator<(const A& a, const B& b) {
    if (is_zero_number(b)) return vBool(test(Test::LT0, token_of<vFloat>(a)));
    return float_order(GREATER, b, a);
}
template <typename A, typename B>
    requires FloatPair<A, B>
sfpi_inline vBool operator>=(const A& a, const B& b) {
    if (is_zero_number(b)) return vBool(test(Test::GTE0, token_of<vFloat>(a)));
    return float_order(LESS_OR_EQUAL, b, a);
}
template <typename A, typename B>
    requires FloatPair<A, B>
sfpi_inline vBool operator>(const A& a, const B& b) {
    if (is_zero_number(a)) return b < a;
    return float_order(GREATER, a, b);
}
template <typename A, typename B>
    requires FloatPair<A, B>
sfpi_inline vBool operator<=(const A& a, const B& b) {
    if (is_zero_number(a)) return b >= a;
    return float_order(LESS_OR_EQUAL, a, b);
}
#else
template <typename A, typename B>
    requires FloatPair<A, B>
sfpi_inline vBool operator<(const A& a, const B& b) {
    return vBool(test(Test::LT0, float_difference(a, b)));
}
template <typename A, typename B>
    requires FloatPair<A, B>
sfpi_inline vBool operator>=(const A& a, const B& b) {
    return vBool(test(Test::GTE0, float_difference(a, b)));
}
template <typename A, typename B>
    requires FloatPair<A, B>
sfpi_inline vBool operator>(const A& a, const B& b) {
    if (is_zero_number(b)) {
        tensim_token value = token_of<vFloat>(a);
        return vBool(__tensim_sfp_and(test(Test::GTE0, value), test(Test::NE0, value)));
    }
    return b < a;
}
template <typename A, typename B>
    requires FloatPair<A, B>
sfpi_inline vBool operator<=(const A& a, const B& b) {
    if (is_zero_number(b)) {
        tensim_token value = token_of<vFloat>(a);
        return vBool(__tensim_sfp_or(test(Test::LT0, value), test(Test::EQ0, value)));
    }
    return b >= a;
}
#endif
// Equal are numbers of the same bits, infinities among them, which have no difference (SFPXOR).
template <typename A, typename B>
sfpi_inline tensim_token different_bits(const A& a, const B& b) {
    if (is_zero_number(b)) return token_of<vFloat>(a);
    return __tensim_sfp_two(0x8D, 0, token_of<vFloat>(a), token_of<vFloat>(b));
}
template <typename A, typename B>
    requires FloatPair<A, B>
sfpi_inline vBool operator==(const A& a, const B& b) {
    return vBool(test(Test::EQ0, different_bits(a, b)));
}
template <typename A, typename B>
    requires FloatPair<A, B>
sfpi_inline vBool operator!=(const A& a, const B& b) {
    return vBool(test(Test::NE0, different_bits(a, b)));
}

// --- integers: by the sign of the difference, which wraps where the two are more than 2^31 - 1 apart, unsigned ones, too

// Two's complement of a number that has its sign apart; the same function leads back.
sfpi_inline tensim_token sign_and_magnitude(tensim_token value) {
#ifdef ARCH_BLACKHOLE
    return __tensim_sfp_one(0x90, SFPCAST_MOD1_INT32_TO_SM32, 0, value);
#else
    return __tensim_sfp_two(0x89, 0, value, __tensim_sfp_one(0x7D, SFPABS_MOD1_INT, 0, value));
#endif
}

template <typename A, typename B>
constexpr Kind compared_kind() {
    if constexpr (Place<A> && Place<B>) {
        constexpr Kind a = A::vector::of, b = B::vector::of;
        if (is_sign_magnitude_kind(a) && is_sign_magnitude_kind(b)) return Kind::SMag;
        return is_magnitude_kind(a) && is_magnitude_kind(b) ? Kind::Mag : a == Kind::UInt || b == Kind::UInt ? Kind::UInt : Kind::Int;
    } else if constexpr (Place<A>) {
        return A::vector::of;
    } else {
        return B::vector::of;
    }
}
template <typename A, typename B>
sfpi_inline vBool compare(Test which, const A& a, const B& b) {
    constexpr Kind kind = compared_kind<A, B>();
    if constexpr (is_sign_magnitude_kind(kind)) {
        auto number = [](const auto& operand) {
            if constexpr (Place<std::remove_cvref_t<decltype(operand)>>) {
                return vInt(sign_and_magnitude(operand.token()));
            } else {
                return vInt(operand);
            }
        };
        return compare(which, number(a), number(b));
    } else {
        if (is_zero_number(b)) return vBool(test(which, token_of<vInt>(a)));
        return vBool(test(which, __tensim_sfp_integer_subtract(token_of<vInt>(a), token_of<vInt>(b))));
    }
}
template <typename A, typename B>
sfpi_inline tensim_token integer_difference(const A& a, const B& b) {
    if (is_zero_number(b)) return token_of<vInt>(a);
    if constexpr (Place<A>) {
        return __tensim_sfp_integer_subtract(a.token(), token_of<typename A::vector>(b));
    } else {
        return __tensim_sfp_integer_subtract(token_of<typename B::vector>(a), b.token());
    }
}
template <typename A, typename B>
    requires IntegerPair<A, B>
sfpi_inline vBool operator<(const A& a, const B& b) {
    return compare(Test::LT0, a, b);
}
template <typename A, typename B>
    requires IntegerPair<A, B>
sfpi_inline vBool operator>=(const A& a, const B& b) {
    return compare(Test::GTE0, a, b);
}
template <typename A, typename B>
    requires IntegerPair<A, B>
sfpi_inline vBool operator>(const A& a, const B& b) {
    if constexpr (Place<A>) {
        if (is_zero_number(b)) return vBool(test(Test::GTE0, a.token())) && vBool(test(Test::NE0, a.token()));
    }
    return compare(Test::LT0, b, a);
}
template <typename A, typename B>
    requires IntegerPair<A, B>
sfpi_inline vBool operator<=(const A& a, const B& b) {
    return compare(Test::GTE0, b, a);
}
template <typename A, typename B>
    requires IntegerPair<A, B>
sfpi_inline vBool operator==(const A& a, const B& b) {
    return vBool(test(Test::EQ0, integer_difference(a, b)));
}
template <typename A, typename B>
    requires IntegerPair<A, B>
sfpi_inline vBool operator!=(const A& a, const B& b) {
    return vBool(test(Test::NE0, integer_difference(a, b)));
}

// --- regions.  An entry of the flags' stack each; another one for each v_elseif, inside the lanes that are left.

struct Region {
    int depth = 0;
    sfpi_inline void open() {
        __tensim_sfp_push();
        depth++;
    }
    sfpi_inline void only(const vBool& condition) {
        open();
        __tensim_sfp_narrow(condition.condition);
    }
    sfpi_inline void others() { __tensim_sfp_complement(); }
    sfpi_inline void close() {
        for (int i = 0; i < depth; i++) __tensim_sfp_pop();
    }
};
sfpi_inline void narrow(const vBool& condition) { __tensim_sfp_narrow(condition.condition); }

#define v_if(...)               \
    {                           \
        ::sfpi::Region region_; \
        region_.only(::sfpi::vBool(__VA_ARGS__));
#define v_elseif(...)  \
    region_.others(); \
    region_.only(::sfpi::vBool(__VA_ARGS__));
#define v_else region_.others();
#define v_endif      \
    region_.close(); \
    }
#define v_and(...) ::sfpi::narrow(::sfpi::vBool(__VA_ARGS__))
#define v_block                 \
    {                           \
        ::sfpi::Region region_; \
        region_.open();
#define v_endblock   \
    region_.close(); \
    }
