// NoC reads, writes, multicasts, barriers, transaction ids, semaphores: the free functions of data movement.
#pragma once
#include "tensim/addresses.h"
#include "tensim/debug.h"
#include "tensim/fabric_layout.h"

namespace tensim {
constexpr uint32_t plain = issue_code::PLAIN, one_packet = issue_code::ONE_PACKET;
constexpr uint32_t dram_states = 0;
// Transaction ids that noc_async_*_set_trid chose for the calls after it.
static int32_t read_trid = -1;
static int32_t write_trid = -1;
template <uint32_t max_page_size>
constexpr uint32_t issue_of = max_page_size <= NOC_MAX_BURST_SIZE ? one_packet : plain;
}  // namespace tensim

constexpr uint8_t read_cmd_buf = 0, write_cmd_buf = 1, write_reg_cmd_buf = 2, write_at_cmd_buf = 3;
constexpr uint8_t BRISC_WR_CMD_BUF = 0, BRISC_RD_CMD_BUF = 1, BRISC_WR_REG_CMD_BUF = 2, BRISC_AT_CMD_BUF = 3;
constexpr uint8_t NCRISC_WR_CMD_BUF = 0, NCRISC_RD_CMD_BUF = 1, NCRISC_WR_REG_CMD_BUF = 2, NCRISC_AT_CMD_BUF = 3;
constexpr uint8_t DYNAMIC_NOC_NCRISC_WR_CMD_BUF = 0, DYNAMIC_NOC_BRISC_WR_CMD_BUF = 1;
// Barriers, semaphores, circular buffers and all else that is one operation
#include "tensim/data_movement_calls.h"

// --- reads

template <uint32_t max_page_size = NOC_MAX_BURST_SIZE + 1, bool tracing = true>
TENSIM_INLINE void noc_async_read(
    uint64_t source, uint32_t destination, uint32_t size, uint8_t noc = noc_index, uint32_t vc = NOC_UNICAST_WRITE_VC) {
    tensim::post_noc_read(source, destination, size, noc, tensim::read_trid, tensim::issue_of<max_page_size>, vc);
}
template <bool use_vc = false>
TENSIM_INLINE void noc_async_read_one_packet_set_state(
    uint64_t source, uint32_t size, uint32_t vc = 0, uint8_t noc = noc_index) {
    tensim::post_noc_set_state(0, source, size, noc, 0, use_vc ? int32_t(vc) : -1, tensim::read_trid);
}

// --- writes

template <uint32_t max_page_size = NOC_MAX_BURST_SIZE + 1, bool tracing = true, bool posted = false>
TENSIM_INLINE void noc_async_write(
    uint32_t source, uint64_t destination, uint32_t size, uint8_t noc = noc_index, uint32_t vc = NOC_UNICAST_WRITE_VC) {
    tensim::post_noc_write(
        source, destination, size, noc, tensim::write_trid, tensim::issue_of<max_page_size>, posted, vc);
}
enum class InlineWriteDst { DEFAULT, L1, REG };
namespace tensim {
// Words of a worker's L1 that stand for stream registers of a mux, which add what is written into them.
TENSIM_INLINE bool is_stream(uint64_t address) {
    uint32_t first = TENSIM_FABRIC_AREA + fabric::area::STREAMS;
    return uint32_t(address) - first < fabric::area::STREAM_BYTES * fabric::area::MAX_STREAMS;
}
}  // namespace tensim
// `flush`: whether the firmware waits for the word that it keeps in L1; here the write holds its word.
template <InlineWriteDst target = InlineWriteDst::DEFAULT, bool posted = false, bool flush = true>
TENSIM_INLINE void noc_inline_dw_write(
    uint64_t address, uint32_t value, uint8_t bytes = 0xF, uint8_t noc = noc_index, uint8_t vc = NOC_UNICAST_WRITE_VC,
    uint32_t = 0) {
    if constexpr (target == InlineWriteDst::REG)
        if (tensim::is_stream(address)) return tensim::post_noc_atomic_inc(address, value, noc, posted, vc);
    tensim::post_noc_inline_write(address, value, bytes, noc, posted, vc);
}
namespace tensim {
struct InlineState {
    uint64_t address;
    uint32_t value;
    uint8_t bytes, vc;
};
static InlineState inline_state;
}  // namespace tensim
template <bool posted = false, bool set_val = false, InlineWriteDst target = InlineWriteDst::DEFAULT>
TENSIM_INLINE void noc_inline_dw_write_set_state(
    uint64_t address, uint32_t value = 0, uint8_t bytes = 0xF, uint8_t = write_at_cmd_buf, uint8_t = noc_index,
    uint8_t vc = NOC_UNICAST_WRITE_VC, uint32_t = 0) {
    tensim::inline_state.address = address;
    if constexpr (set_val) tensim::inline_state.value = value;
    tensim::inline_state.bytes = bytes;
    tensim::inline_state.vc = vc;
}
template <
    bool update_address_low = false, bool update_counter = true, bool posted = false, bool update_address_high = false,
    bool update_value = false, InlineWriteDst target = InlineWriteDst::DEFAULT>
TENSIM_INLINE void noc_inline_dw_write_with_state(
    uint32_t value, uint8_t = write_at_cmd_buf, uint8_t noc = noc_index, uint32_t = 0) {
    static_assert(!(update_address_low && update_address_high), "one value cannot be both halves of an address");
    static_assert(!((update_address_low || update_address_high) && update_value), "one argument cannot be value and address");
    auto& state = tensim::inline_state;
    if constexpr (update_address_low) state.address = (state.address >> 32 << 32) | value;
    if constexpr (update_address_high) state.address = uint64_t(value) << 32 | uint32_t(state.address);
    if constexpr (update_value) state.value = value;
    if constexpr (target == InlineWriteDst::REG)
        if (tensim::is_stream(state.address))
            return tensim::post_noc_atomic_inc(state.address, state.value, noc, posted, state.vc);
    tensim::post_noc_inline_write(state.address, state.value, state.bytes, noc, posted, state.vc);
}

// --- pages and shards

template <class Accessor, bool tracing = true>
TENSIM_INLINE void noc_async_read_page(
    uint32_t id, const Accessor& accessor, uint32_t destination, uint32_t offset = 0, uint8_t noc = noc_index);
template <class Accessor, bool tracing = true, bool posted = false>
TENSIM_INLINE void noc_async_write_page(
    uint32_t id, const Accessor& accessor, uint32_t source, uint32_t size = 0, uint32_t offset = 0,
    uint8_t noc = noc_index);

namespace tensim {
// The bytes of a page as they count in a transfer.
template <class Accessor>
TENSIM_INLINE uint32_t page_size_of(const Accessor& accessor) {
    if constexpr (requires { accessor.page_size; }) return accessor.page_size;
    else return accessor.get_aligned_page_size();
}
}  // namespace tensim
template <class Accessor, bool tracing>
TENSIM_INLINE void noc_async_read_page(
    uint32_t id, const Accessor& accessor, uint32_t destination, uint32_t offset, uint8_t noc) {
    tensim::post_noc_read(
        accessor.get_noc_addr(id, offset, noc), destination, tensim::page_size_of(accessor) - offset, noc,
        tensim::read_trid, tensim::plain, -1);
}
template <class Accessor, bool tracing, bool posted>
TENSIM_INLINE void noc_async_write_page(
    uint32_t id, const Accessor& accessor, uint32_t source, uint32_t size, uint32_t offset, uint8_t noc) {
    if (size == 0) size = tensim::page_size_of(accessor) - offset;
    tensim::post_noc_write(
        source, accessor.get_noc_addr(id, offset, noc), size, noc, tensim::write_trid, tensim::plain, posted, -1);
}
template <class Generator>
TENSIM_INLINE void noc_async_read_tile(
    uint32_t id, const Generator& generator, uint32_t destination, uint32_t offset = 0, uint8_t noc = noc_index) {
    noc_async_read_page(id, generator, destination, offset, noc);
}
template <class Generator>
TENSIM_INLINE void noc_async_write_tile(
    uint32_t id, const Generator& generator, uint32_t source, uint8_t noc = noc_index) {
    noc_async_write_page(id, generator, source, 0, 0, noc);
}
template <class Accessor>
TENSIM_INLINE void noc_async_read_shard(
    uint32_t shard, const Accessor& accessor, uint32_t destination, uint8_t noc = noc_index) {
    noc_async_read(
        accessor.get_shard_noc_addr(shard, 0, noc), destination,
        accessor.dspec().shard_volume() * accessor.get_aligned_page_size(), noc);
}
template <class Accessor, bool posted = false>
TENSIM_INLINE void noc_async_write_shard(
    uint32_t shard, const Accessor& accessor, uint32_t source, uint8_t noc = noc_index) {
    noc_async_write<NOC_MAX_BURST_SIZE + 1, true, posted>(
        source, accessor.get_shard_noc_addr(shard, 0, noc),
        accessor.dspec().shard_volume() * accessor.get_aligned_page_size(), noc);
}

// --- barriers


// --- the control word of a read command buffer: a kernel may only set it back to what every kernel starts with

#define NOC_CTRL 5
#define NOC_CMD_CPY 0u
#define NOC_CMD_RD 0u
#define NOC_CMD_RESP_MARKED (1u << 4)
#define NOC_CMD_VC_STATIC (1u << 7)
#define NOC_CMD_STATIC_VC(vc) (uint32_t(vc) << 14)
TENSIM_INLINE void NOC_CMD_BUF_WRITE_REG(uint32_t, uint32_t, uint32_t word, uint32_t value) {
    if (word != NOC_CTRL || value != (NOC_CMD_CPY | NOC_CMD_RD | NOC_CMD_RESP_MARKED | NOC_CMD_VC_STATIC | NOC_CMD_STATIC_VC(1)))
        tensim::post_fail_assert(TENSIM_TEXT("NOC_CMD_BUF_WRITE_REG with another value is not modelled"));
}

// --- counters of requests: the machine keeps them for each NoC, whoever uses it, so that setting them up changes nothing

TENSIM_INLINE void ncrisc_noc_counters_init() {}
TENSIM_INLINE void dynamic_noc_local_state_init() {}
constexpr uint32_t NOC_CLEAR_OUTSTANDING_REQ_MASK = 0xFFFF;
TENSIM_INLINE void reset_noc_trid_barrier_counter(uint32_t = NOC_CLEAR_OUTSTANDING_REQ_MASK, uint32_t = noc_index) {}

// --- transaction ids

TENSIM_INLINE void noc_async_read_set_trid(uint32_t trid = 0, uint8_t = noc_index) { tensim::read_trid = trid; }
TENSIM_INLINE void noc_async_write_set_trid(uint32_t trid = 0, uint8_t = noc_index) { tensim::write_trid = trid; }
template <bool skip_ptr_update = false, bool skip_cmdbuf_chk = false>
TENSIM_INLINE void noc_async_read_one_packet_with_state_with_trid(
    uint32_t base, uint32_t offset, uint32_t destination, uint32_t trid = 0, uint8_t noc = noc_index) {
    tensim::post_noc_read_with_state(base + offset, destination, 0, noc, trid, 1);
}
template <bool use_vc = false>
TENSIM_INLINE uint32_t noc_async_read_tile_dram_sharded_set_state(
    uint32_t base, uint32_t page_size, uint32_t bank = 0, uint32_t vc = 0, uint8_t noc = noc_index) {
    uint64_t source = get_noc_addr_from_bank_id<true>(bank, base, noc);
    noc_async_read_one_packet_set_state<use_vc>(source, page_size, vc, noc);
    return uint32_t(source);
}
TENSIM_INLINE void noc_async_read_tile_dram_sharded_with_state(
    uint32_t base, uint32_t offset, uint32_t destination, uint32_t = 0, uint8_t noc = noc_index) {
    noc_async_read_one_packet_with_state(base + offset, destination, 0, noc);
}
template <bool skip_ptr_update = false>
TENSIM_INLINE void noc_async_read_tile_dram_sharded_with_state_with_trid(
    uint32_t base, uint32_t offset, uint32_t destination, uint32_t trid = 0, uint8_t noc = noc_index) {
    tensim::post_noc_read_with_state(base + offset, destination, 0, noc, trid, 1);
}

// --- semaphores and atomics

enum class ProgrammableCoreType { TENSIX, ACTIVE_ETH, IDLE_ETH, COUNT };
template <ProgrammableCoreType type = ProgrammableCoreType::TENSIX>
TENSIM_INLINE uint32_t get_semaphore(uint32_t id) {
    return tensim_firmware.semaphores + L1_ALIGNMENT * id;
}
TENSIM_INLINE void noc_semaphore_set(volatile tt_l1_ptr uint32_t* semaphore, uint32_t value) { *semaphore = value; }
