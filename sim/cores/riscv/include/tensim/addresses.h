// NoC addresses: of cores and rectangles, of banks, of the pages of interleaved buffers.
#pragma once
#include "tensim/circular_buffer.h"

namespace tensim {
TENSIM_INLINE uint64_t noc_address(uint32_t x, uint32_t y, uint32_t address) {
    return uint64_t(x << 4 | y << 10) << 32 | address;
}
// `xy`: x | y << 6
TENSIM_INLINE uint64_t noc_address_of(uint32_t xy, uint32_t address) { return uint64_t(xy << 4) << 32 | address; }

template <bool DRAM>
constexpr uint32_t banks = DRAM ? NUM_DRAM_BANKS : NUM_L1_BANKS;
template <bool DRAM>
constexpr uint32_t page_alignment = DRAM ? DRAM_ALIGNMENT : L1_ALIGNMENT;
template <bool DRAM>
TENSIM_INLINE uint32_t bank_xy(uint32_t bank, uint8_t noc) {
    if constexpr (DRAM) return dram_bank_to_noc_xy[noc][bank];
    else return l1_bank_to_noc_xy[noc][bank];
}
template <bool DRAM>
TENSIM_INLINE int32_t bank_offset(uint32_t bank) {
    if constexpr (DRAM) return bank_to_dram_offset[bank];
    else return bank_to_l1_offset[bank];
}
template <bool DRAM>
TENSIM_INLINE uint64_t bank_address(uint32_t bank, uint32_t address, uint8_t noc) {
    return noc_address_of(bank_xy<DRAM>(bank, noc), address + bank_offset<DRAM>(bank));
}
template <bool DRAM>
TENSIM_INLINE uint64_t page_address(uint32_t page, uint32_t base, uint32_t stride, uint32_t offset, uint8_t noc) {
    uint32_t row = page / banks<DRAM>;
    return bank_address<DRAM>(page - row * banks<DRAM>, base + row * stride + offset, noc);
}
}  // namespace tensim

namespace interleaved_addr_gen {
template <bool DRAM>
TENSIM_INLINE uint32_t get_bank_offset_index(uint32_t id) { return id / tensim::banks<DRAM>; }
template <bool DRAM>
TENSIM_INLINE uint32_t get_bank_index(uint32_t id, uint32_t row) { return id - row * tensim::banks<DRAM>; }
template <bool DRAM>
TENSIM_INLINE uint32_t get_noc_xy(uint32_t bank, uint8_t noc = noc_index) { return tensim::bank_xy<DRAM>(bank, noc); }
template <bool DRAM>
TENSIM_INLINE int32_t get_bank_offset(uint32_t bank) { return tensim::bank_offset<DRAM>(bank); }
template <bool DRAM>
TENSIM_INLINE constexpr uint32_t get_allocator_alignment() { return tensim::page_alignment<DRAM>; }
}  // namespace interleaved_addr_gen

TENSIM_INLINE uint64_t get_noc_addr(uint32_t x, uint32_t y, uint32_t address, uint8_t = noc_index) {
    return tensim::noc_address(x, y, address);
}
TENSIM_INLINE uint64_t get_noc_addr(uint32_t address, uint8_t noc = noc_index) {
    return tensim::noc_address(my_x[noc], my_y[noc], address);
}
TENSIM_INLINE uint64_t get_noc_addr_helper(uint32_t xy, uint32_t address) { return tensim::noc_address_of(xy, address); }
TENSIM_INLINE uint64_t get_noc_multicast_addr(
    uint32_t x0, uint32_t y0, uint32_t x1, uint32_t y1, uint32_t address, uint8_t = noc_index) {
    return uint64_t(x1 << 4 | y1 << 10 | x0 << 16 | y0 << 22) << 32 | address;
}
template <bool DRAM>
TENSIM_INLINE uint64_t get_noc_addr_from_bank_id(uint32_t bank, uint32_t address, uint8_t noc = noc_index) {
    return tensim::bank_address<DRAM>(bank, address, noc);
}
#define NOC_XY_ENCODING(x, y) (uint32_t(x) | uint32_t(y) << 6)
#define NOC_XY_ADDR(x, y, address) (tensim::noc_address(x, y, uint32_t(address)))
#define NOC_X(x) (x)
#define NOC_Y(y) (y)
#define NOC_X_PHYS_COORD(x) (x)
#define NOC_Y_PHYS_COORD(y) (y)
#define NOC_UNICAST_ADDR_X(address) (uint32_t((address) >> 36) & 63)
#define NOC_UNICAST_ADDR_Y(address) (uint32_t((address) >> 42) & 63)
#define NOC_LOCAL_ADDR_OFFSET(address) (uint32_t(address))
#define NOC_LOCAL_ADDR(address) (uint32_t(address))
#define NOC_MULTICAST_ENCODING(x0, y0, x1, y1) \
    (uint32_t(x1) | uint32_t(y1) << 6 | uint32_t(x0) << 12 | uint32_t(y0) << 18)
#define NOC_ADDR_LOCAL_BITS 36
#define NOC_ADDR_NODE_ID_BITS 6
#define NOC_COORD_REG_OFFSET 4
#define NOC_ADDR_COORD_SHIFT 36
#define NOC_NODE_ID_MASK 63
#define NOC_LOCAL_BITS 36
#define DYNAMIC_NOC_X(noc, x) (x)
#define DYNAMIC_NOC_Y(noc, y) (y)
#if defined(ARCH_BLACKHOLE)
constexpr uint32_t VIRTUAL_TENSIX_START_X = 1, VIRTUAL_TENSIX_START_Y = 2;
#else
constexpr uint32_t VIRTUAL_TENSIX_START_X = 18, VIRTUAL_TENSIX_START_Y = 18;
#endif
TENSIM_INLINE uint32_t extract_local_address(uint64_t address) { return uint32_t(address); }
namespace noc_address_backend {
using ::extract_local_address;
}

template <bool DRAM>
struct InterleavedAddrGen {
    uint32_t bank_base_address;
    const uint32_t page_size;
    const uint32_t aligned_page_size = align_power_of_2(page_size, tensim::page_alignment<DRAM>);
    TENSIM_INLINE uint32_t get_addr(uint32_t, uint32_t row, uint32_t bank, uint32_t offset = 0) const {
        return bank_base_address + row * aligned_page_size + offset + tensim::bank_offset<DRAM>(bank);
    }
    TENSIM_INLINE uint64_t get_noc_addr(uint32_t id, uint32_t offset = 0, uint8_t noc = noc_index) const {
        return tensim::page_address<DRAM>(id, bank_base_address, aligned_page_size, offset, noc);
    }
};

namespace tensim {
template <bool DRAM, bool fast>
struct Pow2AddrGen {
    const uint32_t bank_base_address;
    const uint32_t log_base_2_of_page_size;
    const uint32_t aligned_log_base_2_of_page_size = log_base_2_of_page_size > std::countr_zero(tensim::page_alignment<DRAM>)
                                                         ? log_base_2_of_page_size
                                                         : std::countr_zero(tensim::page_alignment<DRAM>);
    const uint32_t page_size = 1u << log_base_2_of_page_size;
    TENSIM_INLINE uint64_t get_noc_addr(uint32_t id, uint32_t offset = 0, uint8_t noc = noc_index) const {
        uint32_t row = id / tensim::banks<DRAM>;
        return tensim::bank_address<DRAM>(
            id - row * tensim::banks<DRAM>,
            bank_base_address + (row << aligned_log_base_2_of_page_size) + offset, noc);
    }
};
}  // namespace tensim
// Two types: the library overloads calls for both.
template <bool DRAM>
using InterleavedPow2AddrGen = tensim::Pow2AddrGen<DRAM, false>;
template <bool DRAM>
using InterleavedPow2AddrGenFast = tensim::Pow2AddrGen<DRAM, true>;

namespace tensim {
constexpr uint32_t tile_bytes(DataFormat format, uint32_t datums) {
    uint32_t bytes = bytes_of_tile(uint32_t(format));
    uint32_t exponents = bytes == 1088 || bytes == 576 || bytes == 320 ? 64 : 0;
    return (bytes - exponents) * datums / 1024 + exponents * datums / 1024;
}
}  // namespace tensim

template <bool DRAM, uint32_t tile_hw = 1024>
struct InterleavedAddrGenFast {
    uint32_t bank_base_address;
    uint32_t page_size;
    DataFormat data_format;
    TENSIM_INLINE uint32_t get_addr(uint32_t, uint32_t row, uint32_t bank, uint32_t offset = 0) const {
        return bank_base_address + row * page_size + offset + tensim::bank_offset<DRAM>(bank);
    }
    TENSIM_INLINE uint64_t get_noc_addr(uint32_t id, uint32_t offset = 0, uint8_t noc = noc_index) const {
        return tensim::page_address<DRAM>(
            id, bank_base_address, align_power_of_2(page_size, tensim::page_alignment<DRAM>), offset, noc);
    }
};

template <class Generator>
    requires requires(const Generator& g) { g.get_noc_addr(0u, 0u, uint8_t(0)); }
TENSIM_INLINE uint64_t get_noc_addr(uint32_t id, const Generator& generator, uint32_t offset = 0, uint8_t noc = noc_index) {
    return generator.get_noc_addr(id, offset, noc);
}
TENSIM_INLINE uint64_t get_dram_noc_addr(
    uint32_t id, uint32_t page_size, uint32_t base, uint32_t offset = 0, uint8_t noc = noc_index) {
    return InterleavedAddrGen<true>{base, page_size}.get_noc_addr(id, offset, noc);
}
TENSIM_INLINE uint64_t get_l1_noc_addr(
    uint32_t id, uint32_t page_size, uint32_t base, uint32_t offset = 0, uint8_t noc = noc_index) {
    return InterleavedAddrGen<false>{base, page_size}.get_noc_addr(id, offset, noc);
}
