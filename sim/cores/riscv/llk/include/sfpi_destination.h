// Vectors in Dst: dst_reg[i] is the i-th group of 32 numbers from the counter's place on.  Included by sfpi.h, inside its namespace.
#pragma once

// How a layout is loaded and stored (mode of SFPLOAD and SFPSTORE) for a kind of vector
template <DataLayout layout, Kind kind>
constexpr uint32_t format_of() {
    switch (layout) {
        case DataLayout::F16a: return SFPLOAD_MOD0_FMT_FP16A;
        case DataLayout::F16b: return SFPLOAD_MOD0_FMT_FP16B;
        case DataLayout::F32: return SFPLOAD_MOD0_FMT_FP32;
        case DataLayout::I32:
        case DataLayout::U32:
        case DataLayout::SM32:
        case DataLayout::M32: return SFPLOAD_MOD0_FMT_INT32;
        case DataLayout::I16:
        case DataLayout::U16: return SFPLOAD_MOD0_FMT_UINT16;
        case DataLayout::SM16: return SFPLOAD_MOD0_FMT_INT16;
        case DataLayout::I8: return SFPLOAD_MOD0_FMT_INT8_COMP;
        case DataLayout::U8:
        case DataLayout::SM8: return SFPLOAD_MOD0_FMT_INT8;
        default: break;
    }
    if (is_float_kind(kind)) return SFPLOAD_MOD0_FMT_SRCB;
    if (kind == Kind::UInt16) return SFPLOAD_MOD0_FMT_UINT16;
    return kind == Kind::Int ? SFPLOAD_MOD0_FMT_INT32_TO_SM : SFPLOAD_MOD0_FMT_INT32;
}
// Whether numbers in Dst are two's complement and in the register sign and magnitude, or the other way round
template <DataLayout layout, Kind kind>
constexpr bool is_recoded() {
    return (layout == DataLayout::I32 && is_sign_magnitude_kind(kind)) || (layout == DataLayout::SM32 && kind == Kind::Int);
}

template <DataLayout layout>
struct Destination {
    using vector = vFloat;
    static constexpr bool is_destination = true;
    uint32_t address, address_mode;

    template <Kind kind>
    sfpi_inline tensim_token load() const {
        constexpr uint32_t format = format_of<layout, kind>();
        if constexpr (!is_recoded<layout, kind>()) {
            return __tensim_sfp_load(format, address_mode, address);
        } else {
#ifdef ARCH_BLACKHOLE
            return sign_and_magnitude(__tensim_sfp_load(format, address_mode, address));
#else
            return __tensim_sfp_load(SFPLOAD_MOD0_FMT_INT32_TO_SM, address_mode, address);
#endif
        }
    }
    template <Kind kind>
    sfpi_inline void store(tensim_token value) const {
        constexpr uint32_t format = format_of<layout, kind>();
        if constexpr (!is_recoded<layout, kind>()) {
            __tensim_sfp_store(value, format, address_mode, address);
        } else {
#ifdef ARCH_BLACKHOLE
            __tensim_sfp_store(sign_and_magnitude(value), format, address_mode, address);
#else
            __tensim_sfp_store(value, SFPSTORE_MOD0_FMT_INT32_TO_SM, address_mode, address);
#endif
        }
    }
    sfpi_inline tensim_token token() const { return load<Kind::Float>(); }
    sfpi_inline uint32_t get() const { return address; }
    template <Kind kind>
    sfpi_inline operator Vector<kind>() const {
        return Vector<kind>(load<kind>());
    }
    template <Kind kind>
    sfpi_inline void operator=(const Vector<kind>& value) const {
        store<kind>(value.token());
    }
    template <Place T>
        requires(!std::is_same_v<typename T::vector, T>)
    sfpi_inline void operator=(const T& value) const {
        store<T::vector::of>(value.token());
    }
    sfpi_inline void operator=(const Destination& value) const { store<Kind::Float>(value.token()); }
    template <typename T>
        requires(Number<T> || ShortFloat<T>)
    sfpi_inline void operator=(T number) const {
        constexpr bool whole = layout != DataLayout::Default && format_of<layout, Kind::Float>() >= SFPLOAD_MOD0_FMT_INT32;
        if constexpr (whole) {
            *this = vInt(number);
        } else {
            *this = vFloat(number);
        }
    }
    template <DataLayout other = layout>
    sfpi_inline Destination<other> mode(uint32_t new_mode = SFPLOAD_ADDR_MODE_NOINC) const {
        return {address, new_mode};
    }
};

struct Destinations {
    template <typename T>
    sfpi_inline constexpr Destination<DataLayout::Default> operator[](T index) const {
        return {static_cast<uint32_t>(index) * SFP_DESTREG_STRIDE, SFPLOAD_ADDR_MODE_NOINC};
    }
    sfpi_inline void operator++(int) const { advance(SFP_DESTREG_STRIDE); }
    sfpi_inline void operator++() const { advance(SFP_DESTREG_STRIDE); }
    template <typename T>
    sfpi_inline void operator+=(T count) const {
        advance(static_cast<uint32_t>(count) * SFP_DESTREG_STRIDE);
    }

private:
    // INCRWC of Dst's counter: its field holds up to 15, of which the largest even step is 14.
    sfpi_inline static void advance(uint32_t rows) {
        for (; rows > 15; rows -= 14) tensim::issue(0x38u << 24 | 14u << 14);
        tensim::issue(0x38u << 24 | rows << 14);
    }
};
inline constexpr Destinations dst_reg{};
