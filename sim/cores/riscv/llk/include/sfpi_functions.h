// Functions of vectors.  Included by sfpi.h, inside its namespace.
#pragma once

// --- fields of floating-point numbers.  Given as a vector, a field comes from its lanes.

template <Place A>
sfpi_inline vInt exexp(const A& value, ExponentMode mode = ExponentMode::Unbiased) {
    return __tensim_sfp_one(0x77, mode == ExponentMode::Biased ? SFPEXEXP_MOD1_NODEBIAS : SFPEXEXP_MOD1_DEBIAS, 0, value.token());
}
template <Place A>
sfpi_inline vInt exexp_nodebias(const A& value) {
    return exexp(value, ExponentMode::Biased);
}
template <Place A>
sfpi_inline vMag exman(const A& value, MantissaMode mode = MantissaMode::Fraction) {
    return __tensim_sfp_one(0x78, mode == MantissaMode::ImplicitOne ? SFPEXMAN_MOD1_PAD8 : SFPEXMAN_MOD1_PAD9, 0, value.token());
}
template <Place A>
sfpi_inline vMag exman8(const A& value) {
    return exman(value, MantissaMode::ImplicitOne);
}
template <Place A>
sfpi_inline vMag exman9(const A& value) {
    return exman(value);
}

template <FloatOperand A, IntegerOperand B>
sfpi_inline vFloat setexp(const A& value, const B& exponent) {
    if constexpr (Place<B>) {
        return __tensim_sfp_two(0x82, 0, exponent.token(), token_of<vFloat>(value));
    } else {
        return __tensim_sfp_one(0x82, SFPSETEXP_MOD1_ARG_IMM, static_cast<uint32_t>(exponent) & 255, token_of<vFloat>(value));
    }
}
// The mantissa: another float's, a number that fits the instruction's 12 bits, which become the highest of the 23, or any other in
// a register
template <FloatOperand A, typename B>
    requires(IntegerOperand<B> || FloatPlace<B>)
sfpi_inline vFloat setman(const A& value, const B& mantissa) {
    if constexpr (Place<B>) {
        return __tensim_sfp_two(0x83, 0, mantissa.token(), token_of<vFloat>(value));
    } else {
        uint32_t bits = static_cast<uint32_t>(mantissa) & 0x7FFFFF;
        if (__builtin_constant_p(bits) && (bits & 0x7FF) == 0) {
            return __tensim_sfp_one(0x83, SFPSETMAN_MOD1_ARG_IMM, bits >> 11, token_of<vFloat>(value));
        }
        return __tensim_sfp_two(0x83, 0, __tensim_sfp_number(bits), token_of<vFloat>(value));
    }
}
template <FloatOperand A, FloatOperand B>
sfpi_inline vFloat copyman(const A& value, const B& source) {
    return __tensim_sfp_two(0x83, 0, token_of<vFloat>(source), token_of<vFloat>(value));
}
template <FloatOperand A, FloatOperand B>
sfpi_inline vFloat copyexp(const A& value, const B& source) {
    return __tensim_sfp_two(0x82, SFPSETEXP_MOD1_ARG_EXPONENT, token_of<vFloat>(source), token_of<vFloat>(value));
}
template <Place A, typename B>
sfpi_inline typename A::vector setsgn(const A& value, const B& sign) {
    if constexpr (Place<B>) {
        return __tensim_sfp_two(0x89, 0, sign.token(), value.token());
    } else {
        return __tensim_sfp_one(0x89, SFPSETSGN_MOD1_ARG_IMM, static_cast<uint32_t>(sign) & 1, value.token());
    }
}
template <typename A, typename B>
    requires(Place<A> || Place<B>)
sfpi_inline auto copysgn(const A& value, const B& sign) {
    if constexpr (Place<A>) {
        return setsgn(value, typename A::vector(token_of<typename A::vector>(sign)));
    } else {
        return setsgn(vFloat(value), sign);
    }
}
// The sign is the lowest bit of `parity`.
template <Place A, Place B>
sfpi_inline typename A::vector setsgn2(const A& value, const B& parity) {
    return __tensim_sfp_two(0x89, 0, __tensim_sfp_shift(parity.token(), __tensim_sfp_number(31), 0), value.token());
}
template <FloatOperand A>
sfpi_inline vFloat addexp(const A& value, int amount) {
    return __tensim_sfp_one(0x76, SFPDIVP2_MOD1_ADD, static_cast<uint32_t>(amount) & 0xFFF, token_of<vFloat>(value));
}

// --- magnitudes, order

template <FloatPlace A>
sfpi_inline vFloat abs(const A& value) {
    return __tensim_sfp_one(0x7D, SFPABS_MOD1_FLOAT, 0, value.token());
}
template <IntegerPlace A>
sfpi_inline vMag abs(const A& value) {
    if constexpr (is_sign_magnitude_kind(A::vector::of)) {
        return setsgn(value, 0).token();
    } else {
        return __tensim_sfp_one(0x7D, SFPABS_MOD1_INT, 0, value.token());
    }
}
template <Place A>
sfpi_inline vInt lz(const A& value) {
    return __tensim_sfp_one(0x81, SFPLZ_MOD1_CC_NONE, 0, value.token());
}
template <Place A>
sfpi_inline vInt lz_nosgn(const A& value) {
    return __tensim_sfp_one(0x81, SFPLZ_MOD1_NOSGN_MASK, 0, value.token());
}

// SFPSWAP orders numbers that have their sign apart: floating point, sign and magnitude, magnitudes.
template <typename A, typename B>
using ordered = typename std::conditional_t<Place<A>, vector_of<A>, vector_of<B>>::type;
template <typename A, typename B>
    requires(Place<A> || Place<B>)
sfpi_inline auto min_max(const A& a, const B& b) {
    using V = ordered<A, B>;
    tensim_token both = __tensim_sfp_swap(SFPSWAP_MOD1_VEC_MIN_MAX, token_of<V>(a), token_of<V>(b));
    return std::pair<V, V>(V(__tensim_sfp_part(both, 0)), V(__tensim_sfp_part(both, 1)));
}
template <typename A, typename B>
    requires(Place<A> || Place<B>)
sfpi_inline ordered<A, B> min(const A& a, const B& b) {
    using V = ordered<A, B>;
    return V(__tensim_sfp_part(__tensim_sfp_swap(SFPSWAP_MOD1_VEC_MIN_MAX, token_of<V>(a), token_of<V>(b)), 0));
}
template <typename A, typename B>
    requires(Place<A> || Place<B>)
sfpi_inline ordered<A, B> max(const A& a, const B& b) {
    using V = ordered<A, B>;
    return V(__tensim_sfp_part(__tensim_sfp_swap(SFPSWAP_MOD1_VEC_MAX_MIN, token_of<V>(a), token_of<V>(b)), 0));
}
template <Place A, typename L, typename H>
sfpi_inline typename A::vector clamp(const A& value, const L& low, const H& high) {
    return min(max(typename A::vector(value), low), high);
}
template <FloatPlace A, typename B>
sfpi_inline vFloat symmetric_clamp(const A& value, const B& limit) {
    if constexpr (Place<B>) {
        return clamp(value, setsgn(vFloat(limit), 1), limit);
    } else {
        return clamp(value, -limit, limit);
    }
}
template <Kind kind>
sfpi_inline void vec_min_max(Vector<kind>& a, Vector<kind>& b) {
    auto both = min_max(a, b);
    a = both.first;
    b = both.second;
}
template <Kind kind>
sfpi_inline void vec_swap(Vector<kind>& a, Vector<kind>& b) {
    tensim_token both = __tensim_sfp_swap(SFPSWAP_MOD1_SWAP, a.token(), b.token());
    a = Vector<kind>(__tensim_sfp_part(both, 0));
    b = Vector<kind>(__tensim_sfp_part(both, 1));
}

// --- classes of floating-point numbers

template <FloatPlace A>
sfpi_inline vBool is_nan(const A& value) {
    return as<vMag>(setsgn(vFloat(value), 0)) > vMag(0x7F800000);
}
template <FloatPlace A>
sfpi_inline vBool is_inf(const A& value) {
    return as<vInt>(setsgn(vFloat(value), 0)) == vInt(0x7F800000);
}
template <FloatPlace A>
sfpi_inline vBool is_finite(const A& value) {
    return exexp(value, ExponentMode::Biased) != 255;
}
template <Place A>
sfpi_inline vBool is_neg(const A& value) {
    return vBool(test(Test::LT0, value.token()));
}
template <Place A>
sfpi_inline vBool is_pos(const A& value) {
    return vBool(test(Test::GTE0, value.token()));
}

// --- conversions

template <typename To, Place From>
sfpi_inline To convert(const From& value, RoundMode mode = RoundMode::Nearest) {
    constexpr Kind to = To::of, from = From::vector::of;
    const uint32_t stochastic = mode == RoundMode::NearestStochastic ? SFPSTOCHRND_RND_STOCH : SFPSTOCHRND_RND_EVEN;
    auto rounded = [&](uint32_t how) { return To(__tensim_sfp_one(0x8E, how, stochastic << 9, value.token())); };
    if constexpr (is_float_kind(from)) {
        static_assert(to != Kind::Int && to != Kind::UInt && to != Kind::Mag && to != Kind::SMag,
                      "the unit converts floating-point numbers to integers of up to 16 bits");
        if constexpr (to == Kind::Float) return To(value.token());
        if constexpr (to == Kind::Float16a) return rounded(SFPSTOCHRND_MOD1_FP32_TO_FP16A);
        if constexpr (to == Kind::Float16b) return rounded(SFPSTOCHRND_MOD1_FP32_TO_FP16B);
        if constexpr (to == Kind::UInt8) return rounded(SFPSTOCHRND_MOD1_FP32_TO_UINT8);
        if constexpr (to == Kind::SMag8) return rounded(SFPSTOCHRND_MOD1_FP32_TO_INT8);
        if constexpr (to == Kind::UInt16) return rounded(SFPSTOCHRND_MOD1_FP32_TO_UINT16);
        if constexpr (to == Kind::SMag16) return rounded(SFPSTOCHRND_MOD1_FP32_TO_INT16);
    } else if constexpr (is_float_kind(to)) {
        tensim_token number = from == Kind::Int ? sign_and_magnitude(value.token()) : value.token();
        return To(__tensim_sfp_one(0x90, stochastic, 0, number));
    } else if constexpr (to == Kind::UInt8 || to == Kind::SMag8) {
        return rounded(8 | (to == Kind::UInt8 ? SFPSTOCHRND_MOD1_INT32_TO_UINT8 : SFPSTOCHRND_MOD1_INT32_TO_INT8));
    } else if constexpr (is_sign_magnitude_kind(to) != is_sign_magnitude_kind(from) && !is_magnitude_kind(from)) {
        return To(sign_and_magnitude(value.token()));
    } else {
        return To(value.token());
    }
}

// The same by the names of earlier releases; `mode` 1 rounds stochastically.  Short floats are bits, as long as it is a number.
sfpi_inline RoundMode round_mode(int mode) { return mode ? RoundMode::NearestStochastic : RoundMode::Nearest; }
sfpi_inline constexpr RoundMode round_mode(RoundMode mode) { return mode; }
template <class Mode, class Short>
using bits_or = std::conditional_t<std::is_same_v<Mode, RoundMode>, Short, vUInt>;
template <Place A, class Mode = int>
sfpi_inline vFloat int32_to_float(const A& value, Mode mode = 1) {
    return convert<vFloat>(as<vSMag>(value), round_mode(mode));
}
template <FloatPlace A, class Mode = int>
sfpi_inline bits_or<Mode, vFloat16a> float_to_fp16a(const A& value, Mode mode = 1) {
    return convert<vFloat16a>(value, round_mode(mode)).token();
}
template <FloatPlace A, class Mode = int>
sfpi_inline bits_or<Mode, vFloat16b> float_to_fp16b(const A& value, Mode mode = 1) {
    return convert<vFloat16b>(value, round_mode(mode)).token();
}
template <FloatPlace A, class Mode = int>
sfpi_inline vUInt float_to_uint8(const A& value, Mode mode = 1) {
    return convert<vUInt8>(value, round_mode(mode)).token();
}
template <FloatPlace A, class Mode = int>
sfpi_inline vUInt float_to_int8(const A& value, Mode mode = 1) {
    return convert<vSMag8>(value, round_mode(mode)).token();
}
template <FloatPlace A, class Mode = int>
sfpi_inline vUInt float_to_uint16(const A& value, Mode mode = 1) {
    return convert<vUInt16>(value, round_mode(mode)).token();
}
template <FloatPlace A, class Mode = int>
sfpi_inline vInt float_to_int16(const A& value, Mode mode = 1) {
    return convert<vSMag16>(value, round_mode(mode)).token();
}

// --- Blackhole's own

#ifdef ARCH_BLACKHOLE
template <FloatPlace A>
sfpi_inline vFloat approx_recip(const A& value) {
    return __tensim_sfp_one(0x99, SFPARECIP_MOD1_RECIP, 0, value.token());
}
template <FloatPlace A>
sfpi_inline vFloat approx_exp(const A& value) {
    return __tensim_sfp_one(0x99, SFPARECIP_MOD1_EXP, 0, value.token());
}
template <IntegerPlace A, IntegerPlace B>
sfpi_inline vMag fractional_mul(const A& a, const B& b, FractionalHalf half = FractionalHalf::Low) {
    return __tensim_sfp_three(0x98, half == FractionalHalf::High ? SFPMUL24_MOD1_UPPER : SFPMUL24_MOD1_LOWER, a.token(), b.token(),
                              __tensim_sfp_constant(9));
}
#endif

// --- across lanes

template <Kind kind>
sfpi_inline Vector<kind> subvec_shflror1(const Vector<kind>& value) {
    return __tensim_sfp_one(0x94, SFPSHFT2_MOD1_SUBVEC_SHFLROR1, 0, value.token());
}
template <Kind kind>
sfpi_inline Vector<kind> subvec_shflshr1(const Vector<kind>& value) {
    return __tensim_sfp_one(0x94, SFPSHFT2_MOD1_SUBVEC_SHFLSHR1, 0, value.token());
}
template <Kind kind>
sfpi_inline void subvec_transp(Vector<kind>& a, Vector<kind>& b, Vector<kind>& c, Vector<kind>& d) {
    tensim_token all = __tensim_sfp_transpose(a.token(), b.token(), c.token(), d.token());
    a = Vector<kind>(__tensim_sfp_part(all, 0));
    b = Vector<kind>(__tensim_sfp_part(all, 1));
    c = Vector<kind>(__tensim_sfp_part(all, 2));
    d = Vector<kind>(__tensim_sfp_part(all, 3));
}

// --- tables.  A coefficient of 8 bits is 2^-e (1 + m/16); one of 16 bits a float16 without zero, infinities and denormals: its
// largest exponent means 0.

constexpr uint32_t coefficient(float value, int exponent_bits, int mantissa_bits, uint32_t zero) {
    if (value == 0.0f) return zero;
    uint32_t bits = std::bit_cast<uint32_t>(value), sign = bits >> 31;
    bits = (bits & 0x7FFFFFFF) + (1u << (22 - mantissa_bits));
    uint32_t mantissa = bits >> (23 - mantissa_bits) & ((1u << mantissa_bits) - 1);
    int exponent = static_cast<int>(bits >> 23) - 127;
    exponent = exponent_bits == 3 ? -exponent : exponent + 15;
    const int largest = (1 << exponent_bits) - 1;
    if (exponent < 0 || exponent > largest) return zero;
    return sign << (exponent_bits + mantissa_bits) | static_cast<uint32_t>(exponent) << mantissa_bits | mantissa;
}
constexpr uint32_t coefficient8(float value) { return coefficient(value, 3, 4, 0xFF); }
constexpr uint32_t coefficient16(float value) { return coefficient(value, 5, 10, 0x7C00); }

enum class TableKind { SlopeAndIntercept8, TwoSlopes16, TwoIntercepts16 };
template <TableKind kind>
class TableVector {
    tensim_token value_;

public:
    using is_table = void;
    sfpi_inline explicit TableVector(tensim_token value) : value_(value) {}
    sfpi_inline TableVector(const TableVector& other) : value_(other.value_) {}
    // Of 8 bits: a slope and an intercept; of 16 bits: the coefficients of two ranges, the lower one first
    sfpi_inline TableVector(float first, float second)
        : value_(__tensim_sfp_number(kind == TableKind::SlopeAndIntercept8 ? coefficient8(first) << 8 | coefficient8(second)
                                                                           : coefficient16(second) << 16 | coefficient16(first))) {}
    sfpi_inline tensim_token token() const { return value_; }
    sfpi_inline tensim_token get() const { return value_; }
};
using vLut8si = TableVector<TableKind::SlopeAndIntercept8>;
using vLut16ss = TableVector<TableKind::TwoSlopes16>;
using vLut16ii = TableVector<TableKind::TwoIntercepts16>;

template <typename T>
concept Coefficients = Table<T> || Place<T> || std::integral<T>;
template <Coefficients T>
sfpi_inline tensim_token coefficients(const T& value) {
    if constexpr (std::integral<T>) {
        return vUInt(value).token();
    } else {
        return value.token();
    }
}
template <FloatPlace A, Coefficients T0, Coefficients T1, Coefficients T2>
sfpi_inline vFloat lut(const A& x, const T0& l0, const T1& l1, const T2& l2, LutSign sign = LutSign::Retain) {
    return __tensim_sfp_lut(sign == LutSign::Retain ? SFPLUT_MOD0_SGN_RETAIN : SFPLUT_MOD0_SGN_UPDATE, x.token(), coefficients(l0),
                            coefficients(l1), coefficients(l2));
}
template <FloatPlace A, Coefficients T0, Coefficients T1, Coefficients T2>
sfpi_inline vFloat lut_sign(const A& x, const T0& l0, const T1& l1, const T2& l2) {
    return lut(x, l0, l1, l2, LutSign::Update);
}
template <FloatPlace A>
sfpi_inline vFloat lut(const A& x, const vLut16ss& s01, const vLut16ii& i01, const vLut16ss& s23, const vLut16ii& i23, const vLut16ss& s45,
                       const vLut16ii& i45, LutSign sign = LutSign::Retain) {
    const uint32_t mode = SFPLUTFP32_MOD0_FP16_6ENTRY_TABLE1 | (sign == LutSign::Retain ? SFPLUTFP32_MOD0_SGN_RETAIN : 0);
    return __tensim_sfp_lut6(mode, x.token(), s01.token(), s23.token(), s45.token(), i01.token(), i23.token(), i45.token());
}
// By the names of earlier releases; `table` 1 ends its fifth range at 3, any other at 4.
template <FloatPlace A, Coefficients... T>
sfpi_inline vFloat lut6(const A& x, uint32_t mode, const T&... coefficients_of) {
    return __tensim_sfp_lut6(mode, x.token(), coefficients(coefficients_of)...);
}
template <FloatPlace A, Coefficients T0, Coefficients T1, Coefficients T2, Coefficients T4, Coefficients T5, Coefficients T6>
sfpi_inline vFloat lut2(const A& x, const T0& l0, const T1& l1, const T2& l2, const T4& l4, const T5& l5, const T6& l6, int table = 1) {
    const uint32_t mode = table == 1 ? SFPLUTFP32_MOD0_FP16_6ENTRY_TABLE1 : SFPLUTFP32_MOD0_FP16_6ENTRY_TABLE2;
    return lut6(x, mode | SFPLUTFP32_MOD0_SGN_RETAIN, l0, l1, l2, l4, l5, l6);
}
template <FloatPlace A, Coefficients T0, Coefficients T1, Coefficients T2, Coefficients T4, Coefficients T5, Coefficients T6>
sfpi_inline vFloat lut2_sign(const A& x, const T0& l0, const T1& l1, const T2& l2, const T4& l4, const T5& l5, const T6& l6,
                             int table = 1) {
    return lut6(x, table == 1 ? SFPLUTFP32_MOD0_FP16_6ENTRY_TABLE1 : SFPLUTFP32_MOD0_FP16_6ENTRY_TABLE2, l0, l1, l2, l4, l5, l6);
}
