// Circular buffers: waits and credits, pointers, formats.
#pragma once
#include "tensim/enumerations.h"
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
// A word of that window: addresses and sizes in the units of this processor.
template <uint32_t shift = pointer_shift>
struct BufferField {
    volatile uint32_t word, high;
    TENSIM_INLINE operator uint32_t() const { return word >> shift; }
    TENSIM_INLINE uint32_t operator=(uint32_t value) { return word = value << shift, value; }
    TENSIM_INLINE uint32_t operator=(const BufferField& other) { return *this = uint32_t(other); }
    TENSIM_INLINE uint32_t operator+=(uint32_t value) { return *this = *this + value; }
    TENSIM_INLINE uint32_t operator-=(uint32_t value) { return *this = *this - value; }
};
struct BufferLimit {  // one past the last byte: base and size stand one behind the other
    volatile uint32_t base, high, bytes, bytes_high;
    TENSIM_INLINE operator uint32_t() const { return (base + bytes) >> pointer_shift; }
};
struct BufferInterface {
    BufferField<0> fifo_num_pages;
    BufferField<> fifo_page_size;
    union {
        BufferLimit fifo_limit;
        struct {
            BufferField<> base;
            BufferField<> fifo_size;
        };
    };
    BufferField<0> format;
    BufferField<> fifo_wr_ptr;
    BufferField<> fifo_rd_ptr;
    BufferField<0> tiles_received;
    BufferField<0> tiles_acked;
    BufferField<0> tile_bytes, tile_datums;
    BufferField<0> fifo_wr_tile_ptr;
};
static_assert(offsetof(BufferInterface, fifo_page_size) == 8 * TENSIM_CB_PAGE_SIZE);
static_assert(offsetof(BufferInterface, fifo_limit) == 8 * TENSIM_CB_BASE && TENSIM_CB_SIZE == TENSIM_CB_BASE + 1);
static_assert(offsetof(BufferInterface, fifo_wr_ptr) == 8 * TENSIM_CB_WRITE_PTR);
static_assert(offsetof(BufferInterface, fifo_rd_ptr) == 8 * TENSIM_CB_READ_PTR);
static_assert(offsetof(BufferInterface, tiles_acked) == 8 * TENSIM_CB_ACKED);
static_assert(offsetof(BufferInterface, fifo_wr_tile_ptr) == 8 * TENSIM_CB_PACKED);

// What the program configures a buffer for (given.h).
TENSIM_INLINE constexpr uint8_t buffer_format(uint32_t cb);
TENSIM_INLINE constexpr uint16_t buffer_tile_height(uint32_t cb);
TENSIM_INLINE constexpr uint16_t buffer_tile_width(uint32_t cb);
TENSIM_INLINE constexpr uint32_t buffer_tile_size(uint32_t cb);
constexpr uint32_t faces(uint32_t cb) {
    return (buffer_tile_height(cb) > 16 ? 2 : 1) * (buffer_tile_width(cb) > 16 ? 2 : 1);
}
}  // namespace tensim
constexpr uint32_t cb_addr_shift = tensim::on_data_movement ? 0 : 4;

using LocalCBInterface = tensim::BufferInterface;
TENSIM_INLINE LocalCBInterface& get_local_cb_interface(uint32_t cb) {
    return *reinterpret_cast<LocalCBInterface*>(TENSIM_CB_WINDOW + TENSIM_CB_STRIDE * cb);
}

TENSIM_INLINE uint32_t get_write_ptr(uint32_t cb) {
    return tensim::buffer_word<TENSIM_CB_WRITE_PTR>(cb) >> tensim::pointer_shift;
}
TENSIM_INLINE uint32_t get_read_ptr(uint32_t cb) {
    return tensim::buffer_word<TENSIM_CB_READ_PTR>(cb) >> tensim::pointer_shift;
}
// What the unpackers call a buffer.
TENSIM_INLINE constexpr uint32_t get_operand_id(uint32_t cb) { return cb; }
TENSIM_INLINE constexpr int32_t get_tile_size(int32_t cb) { return tensim::buffer_tile_size(cb); }
TENSIM_INLINE constexpr uint32_t get_tile_hw(int32_t cb) {
    return uint32_t(tensim::buffer_tile_height(cb)) * tensim::buffer_tile_width(cb);
}
TENSIM_INLINE constexpr uint32_t get_tile_num_faces(int32_t cb) { return tensim::faces(cb); }
TENSIM_INLINE constexpr DataFormat get_dataformat(int32_t cb) { return DataFormat(tensim::buffer_format(cb)); }

namespace tt {
enum CBIndex : uint8_t {
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
