// Circular buffers: waits and credits, pointers, formats.
#pragma once
#include "tensim/environment.h"
#include "tensim/formats.h"

#if defined(UCK_CHLKC_UNPACK)
#define TENSIM_UNPACK 1
#elif defined(UCK_CHLKC_MATH)
#define TENSIM_MATH 1
#elif defined(UCK_CHLKC_PACK)
#define TENSIM_PACK 1
#endif
namespace tensim {
#ifdef TENSIM_UNPACK
constexpr bool on_unpack = true;
#else
constexpr bool on_unpack = false;
#endif
#ifdef TENSIM_MATH
constexpr bool on_math = true;
#else
constexpr bool on_math = false;
#endif
#ifdef TENSIM_PACK
constexpr bool on_pack = true;
#else
constexpr bool on_pack = false;
#endif
constexpr bool fills = on_data_movement || on_pack;    // threads that reserve and push
constexpr bool drains = on_data_movement || on_unpack;  // threads that wait and pop
constexpr uint32_t pointer_shift = on_data_movement ? 0 : 4;  // compute threads count addresses in 16 bytes

// A column of the machine's table of circular buffers, seen through a window of local memory.
template <uint32_t column>
TENSIM_INLINE volatile uint32_t& buffer_word(uint32_t cb) {
    return *reinterpret_cast<volatile uint32_t*>(TENSIM_CB_WINDOW + TENSIM_CB_STRIDE * cb + 8 * column);
}
template <uint32_t column, uint32_t shift = pointer_shift>
struct BufferField {
    uint32_t cb;
    TENSIM_INLINE operator uint32_t() const { return buffer_word<column>(cb) >> shift; }
    TENSIM_INLINE uint32_t operator=(uint32_t value) const { return buffer_word<column>(cb) = value << shift, value; }
    TENSIM_INLINE uint32_t operator=(const BufferField& other) const { return *this = uint32_t(other); }
    TENSIM_INLINE uint32_t operator+=(uint32_t value) const { return *this = *this + value; }
    TENSIM_INLINE uint32_t operator-=(uint32_t value) const { return *this = *this - value; }
};
struct BufferLimit {  // one past the last byte
    uint32_t cb;
    TENSIM_INLINE operator uint32_t() const {
        return (buffer_word<TENSIM_CB_BASE>(cb) + buffer_word<TENSIM_CB_SIZE>(cb)) >> pointer_shift;
    }
};
struct IgnoredField {
    TENSIM_INLINE operator uint32_t() const { return 0; }
    TENSIM_INLINE uint32_t operator=(uint32_t value) const { return value; }
};
struct BufferInterface {
    uint32_t cb;
    BufferField<TENSIM_CB_SIZE> fifo_size{cb};
    BufferLimit fifo_limit{cb};
    BufferField<TENSIM_CB_PAGE_SIZE> fifo_page_size{cb};
    BufferField<TENSIM_CB_PAGES, 0> fifo_num_pages{cb};
    BufferField<TENSIM_CB_READ_PTR> fifo_rd_ptr{cb};
    BufferField<TENSIM_CB_WRITE_PTR> fifo_wr_ptr{cb};
    BufferField<TENSIM_CB_RECEIVED, 0> tiles_received{cb};
    BufferField<TENSIM_CB_ACKED, 0> tiles_acked{cb};
    IgnoredField fifo_wr_tile_ptr{};
};

constexpr std::array<uint8_t, NUM_CIRCULAR_BUFFERS> buffer_formats = {TENSIM_CB_FORMATS};
constexpr std::array<uint16_t, NUM_CIRCULAR_BUFFERS> buffer_tile_heights = {TENSIM_CB_TILE_HEIGHTS};
constexpr std::array<uint16_t, NUM_CIRCULAR_BUFFERS> buffer_tile_widths = {TENSIM_CB_TILE_WIDTHS};
constexpr std::array<uint32_t, NUM_CIRCULAR_BUFFERS> buffer_tile_sizes = {TENSIM_CB_TILE_SIZES};
constexpr uint32_t faces(uint32_t cb) {
    return (buffer_tile_heights[cb] > 16 ? 2 : 1) * (buffer_tile_widths[cb] > 16 ? 2 : 1);
}
}  // namespace tensim

using LocalCBInterface = tensim::BufferInterface;
TENSIM_INLINE LocalCBInterface get_local_cb_interface(uint32_t cb) { return LocalCBInterface{cb}; }

TENSIM_INLINE void cb_reserve_back(int32_t cb, int32_t pages) {
    if constexpr (tensim::fills) tensim::post_cb_reserve_back(cb, pages);
}
TENSIM_INLINE void cb_push_back(int32_t cb, int32_t pages) {
    if constexpr (tensim::fills) tensim::post_cb_push_back(cb, pages);
}
TENSIM_INLINE void cb_wait_front(int32_t cb, int32_t pages) {
    if constexpr (tensim::drains) tensim::post_cb_wait_front(cb, pages);
}
TENSIM_INLINE void cb_pop_front(int32_t cb, int32_t pages) {
    if constexpr (tensim::drains) tensim::post_cb_pop_front(cb, pages);
}
TENSIM_INLINE bool cb_pages_reservable_at_back(int32_t cb, int32_t pages) {
    if constexpr (tensim::fills) return tensim::post_cb_pages_reservable(cb, pages);
    return false;
}
TENSIM_INLINE bool cb_pages_available_at_front(int32_t cb, int32_t pages) {
    if constexpr (tensim::drains) return tensim::post_cb_pages_available(cb, pages);
    return false;
}
TENSIM_INLINE uint32_t get_write_ptr(uint32_t cb) {
    return tensim::buffer_word<TENSIM_CB_WRITE_PTR>(cb) >> tensim::pointer_shift;
}
TENSIM_INLINE uint32_t get_read_ptr(uint32_t cb) {
    return tensim::buffer_word<TENSIM_CB_READ_PTR>(cb) >> tensim::pointer_shift;
}
TENSIM_INLINE constexpr int32_t get_tile_size(int32_t cb) { return tensim::buffer_tile_sizes[cb]; }
TENSIM_INLINE constexpr uint32_t get_tile_hw(int32_t cb) {
    return uint32_t(tensim::buffer_tile_heights[cb]) * tensim::buffer_tile_widths[cb];
}
TENSIM_INLINE constexpr uint32_t get_tile_num_faces(int32_t cb) { return tensim::faces(cb); }
TENSIM_INLINE constexpr DataFormat get_dataformat(int32_t cb) { return DataFormat(tensim::buffer_formats[cb]); }

namespace tt {
enum class CBIndex : uint8_t {
    c_0, c_1, c_2, c_3, c_4, c_5, c_6, c_7, c_8, c_9, c_10, c_11, c_12, c_13, c_14, c_15,
    c_16, c_17, c_18, c_19, c_20, c_21, c_22, c_23, c_24, c_25, c_26, c_27, c_28, c_29, c_30, c_31,
    c_32, c_33, c_34, c_35, c_36, c_37, c_38, c_39, c_40, c_41, c_42, c_43, c_44, c_45, c_46, c_47,
    c_48, c_49, c_50, c_51, c_52, c_53, c_54, c_55, c_56, c_57, c_58, c_59, c_60, c_61, c_62, c_63, SIZE
};
enum CB : uint32_t {
    c_in0, c_in1, c_in2, c_in3, c_in4, c_in5, c_in6, c_in7,
    dataflow0 = 8, dataflow1, dataflow2, dataflow3, dataflow4, dataflow5, dataflow6, dataflow7,
    c_out0 = 16, c_out1, c_out2, c_out3, c_out4, c_out5, c_out6, c_out7,
    c_intermed0 = 24, c_intermed1, c_intermed2, c_intermed3, c_intermed4, c_intermed5, c_intermed6, c_intermed7
};
namespace constants {
constexpr uint32_t TILE_HEIGHT = 32, TILE_WIDTH = 32, TILE_HW = 1024, FACE_HEIGHT = 16, FACE_WIDTH = 16, FACE_HW = 256;
}
}  // namespace tt
