// Tiles and pages in print, by tt-metal's names (api/debug/dprint_tile.h, dprint_pages.h, dprint_tensix.h of ttnn 0.81.1).  The
// front end copies a tile at the moment of its print (tensim.sim.cores.print_tiles), which takes no simulated time.
#pragma once
#include "tensim/circular_buffer.h"
#include "tensim/debug.h"

struct SliceRange {
    uint8_t h0, h1, hs, w0, w1, ws;
    static constexpr SliceRange hw0_32_16() { return {0, 32, 16, 0, 32, 16}; }
    static constexpr SliceRange hw0_32_8() { return {0, 32, 8, 0, 32, 8}; }
    static constexpr SliceRange hw0_32_4() { return {0, 32, 4, 0, 32, 4}; }
    static constexpr SliceRange h0_w0_32() { return {0, 1, 1, 0, 32, 1}; }
    static constexpr SliceRange h0_32_w0() { return {0, 32, 1, 0, 1, 1}; }
    static constexpr SliceRange h0_32_w1() { return {0, 32, 1, 1, 2, 1}; }
    static constexpr SliceRange hw041() { return {0, 4, 1, 0, 4, 1}; }
};
using dprint_tslice_ptr_t = bool;
using dprint_tslice_cb_t = bool;
#define TSLICE_RD_PTR true
#define TSLICE_WR_PTR false
#define TSLICE_INPUT_CB true
#define TSLICE_OUTPUT_CB false

namespace tensim {
// tensim.sim.cores.print_tiles: pointers of a circular buffer, flags of a slice.
enum class Pointer : uint32_t { OF_THREAD, FRONT, BACK };
enum SliceFlag : uint32_t { IN_FACES = 1, ON_LINES = 2, NUMBERED = 4 };
struct PrintedTile {
    uint32_t kind, place, tile, rows, columns;
    TENSIM_INLINE PrintedTile(uint32_t kind, uint32_t place, uint32_t tile, SliceRange range, uint32_t flags)
        : kind(kind), place(place), tile(tile), rows(range.h0 | range.h1 << 8 | range.hs << 16 | uint32_t(range.w0) << 24),
          columns(range.w1 | range.ws << 8 | flags << 16) {}
};
TENSIM_INLINE uint32_t tile_place(uint32_t cb, Pointer pointer) {
    return cb | uint32_t(pointer) << 8 | buffer_tile_width(cb) << 16;
}
TENSIM_INLINE void print_tile(const PrintedTile& slice) {
    print(slice.kind, slice.place, slice.tile);
    print(print_code::SLICE, slice.rows, slice.columns);
}
TENSIM_INLINE void print_rows(uint32_t kind, uint32_t place, uint32_t tile, SliceRange range, bool in_faces) {
    print_tile({kind, place, tile, range, (in_faces ? IN_FACES : 0u) | NUMBERED});
}
}  // namespace tensim

template <int = 64>
struct TileSlice : tensim::PrintedTile {
    // Whoever moves data says which pointer of the circular buffer counts; the format is the buffer's, whichever side it is of.
    TENSIM_INLINE TileSlice(
        uint8_t cb, int tile_idx, const SliceRange& slice_range,
#if defined(COMPILE_FOR_NCRISC)
        dprint_tslice_cb_t, dprint_tslice_ptr_t ptr_type = TSLICE_WR_PTR,
#elif defined(COMPILE_FOR_BRISC)
        dprint_tslice_cb_t, dprint_tslice_ptr_t ptr_type = TSLICE_RD_PTR,
#endif
        bool endl_rows = true, bool print_untilized = true)
        : PrintedTile(
              tensim::print_code::BUFFER_TILE,
#if defined(COMPILE_FOR_TRISC)
              tensim::tile_place(cb, tensim::Pointer::OF_THREAD),
#else
              tensim::tile_place(cb, ptr_type == TSLICE_RD_PTR ? tensim::Pointer::FRONT : tensim::Pointer::BACK),
#endif
              tile_idx, slice_range,
              (print_untilized ? tensim::IN_FACES : 0u) | (endl_rows ? tensim::ON_LINES : 0u)) {
    }
};
using TSLICE = TileSlice<64>;

namespace tensim {
template <int bytes>
TENSIM_INLINE const Printer& operator<<(const Printer& printer, const TileSlice<bytes>& slice) {
    print_tile(slice);
    return printer;
}
}  // namespace tensim

#if defined(COMPILE_FOR_TRISC)
namespace tt::compute::common {
inline void print_tile_rows(
    uint32_t cb_idx, uint32_t tile_idx, bool untilize = false, uint16_t start_row = 0, uint16_t end_row = 32,
    uint8_t start_col = 0, uint8_t end_col = 32) {
    tensim::print_rows(
        tensim::print_code::BUFFER_TILE, tensim::tile_place(cb_idx, tensim::Pointer::OF_THREAD), tile_idx,
        {uint8_t(start_row), uint8_t(end_row), 1, start_col, end_col, 1}, untilize);
}
inline void print_full_tile(uint32_t cb_id, uint32_t tile_id = 0, bool untilize = false) {
    print_tile_rows(cb_id, tile_id, untilize);
}
}  // namespace tt::compute::common

// By the index that math calls give the tile, in the section that the math thread has; other threads print nothing.
template <bool...>
inline void dprint_tensix_dest_reg(int tile_id = 0) {
    if constexpr (tensim::on_math)
        tensim::print_rows(tensim::print_code::DST_TILE, tile_id, 0, {0, 32, 1, 0, 32, 1}, true);
}
#else
// Pages of L1 as numbers.  Their loads take their time, as on the chip.
namespace tensim {
template <class Element, class Shown>
inline void print_pages(uint32_t address, uint32_t elements, uint32_t pages, uint32_t first, Shown shown) {
    auto* at = reinterpret_cast<volatile Element*>(address) + first * elements;
    for (uint32_t page = first; page < first + pages; page++) {
        printer("{}: ", page);
        for (uint32_t i = 0; i < elements; i++) printer("{} ", shown(*at++));
        printer("\n");
    }
}
}  // namespace tensim
namespace tt::data_movement::common {
inline void print_bf16_pages(uint32_t l1_addr, uint32_t elts_per_page, uint32_t npages, uint32_t start = 0) {
    tensim::print_pages<uint16_t>(l1_addr, elts_per_page, npages, start, [](uint32_t bits) { return BF16(bits); });
}
inline void print_f32_pages(uint32_t l1_addr, uint32_t elts_per_page, uint32_t npages, uint32_t start = 0) {
    tensim::print_pages<uint32_t>(l1_addr, elts_per_page, npages, start, [](uint32_t bits) { return std::bit_cast<float>(bits); });
}
inline void print_u8_pages(uint32_t l1_addr, uint32_t bytes_per_page, uint32_t npages, uint32_t start = 0) {
    tensim::print_pages<uint8_t>(
        l1_addr, bytes_per_page, npages, start, [](uint32_t byte) { return reinterpret_cast<const void*>(byte); });
}
inline void print_u16_pages(uint32_t l1_addr, uint32_t elts_per_page, uint32_t npages, uint32_t start = 0) {
    tensim::print_pages<uint16_t>(l1_addr, elts_per_page, npages, start, [](uint32_t value) { return value; });
}
inline void print_u32_pages(uint32_t l1_addr, uint32_t elts_per_page, uint32_t npages, uint32_t start = 0) {
    tensim::print_pages<uint32_t>(l1_addr, elts_per_page, npages, start, [](uint32_t value) { return value; });
}
}  // namespace tt::data_movement::common
#endif
