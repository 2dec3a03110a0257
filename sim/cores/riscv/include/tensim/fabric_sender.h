// Senders of packets: a worker's connection to a router of its chip, or to a mux that shares one among workers.
//
// What an object holds and does is what the calls of `tensim.fabric_api` do: packets go into the slots of a channel, one after the
// other, each is told to the other side, which counts in a word of the worker how many slots it has given back.
#pragma once
#include "tensim/fabric_packet.h"

namespace tt::tt_fabric {
enum EDM_IO_BLOCKING_MODE { FLUSH_BLOCKING, BLOCKING, NON_BLOCKING };

template <EDM_IO_BLOCKING_MODE mode = BLOCKING, bool posted = false>
TENSIM_INLINE void send_chunk_from_address(
    uint32_t source, uint32_t pages, uint32_t page_size, uint64_t target, uint8_t noc = noc_index) {
    noc_async_write<NOC_MAX_BURST_SIZE + 1, true, posted>(source, target, pages * page_size, noc);
    if constexpr (mode == NON_BLOCKING) return;
    else if constexpr (posted) noc_async_posted_writes_flushed(noc);
    else if constexpr (mode == FLUSH_BLOCKING) noc_async_writes_flushed(noc);
    else noc_async_write_barrier(noc);
}
template <EDM_IO_BLOCKING_MODE mode = BLOCKING, bool posted = false>
TENSIM_INLINE void send_chunk(
    uint32_t buffer, uint32_t pages, uint32_t page_size, uint64_t target, uint8_t noc = noc_index) {
    cb_wait_front(buffer, pages);
    send_chunk_from_address<mode, posted>(get_read_ptr(buffer), pages, page_size, target, noc);
    if constexpr (mode != NON_BLOCKING) cb_pop_front(buffer, pages);
}

// Values and structures of tt-metal's protocol between workers and a mux of the second kind, which the library's own headers carry.
namespace connection_interface {
constexpr uint32_t unused_connection_value = 0, open_connection_value = 1, close_connection_request_value = 2;
constexpr uint8_t edm_fabric_write_noc_index = 0;  // packets name places as this NoC does
}
struct EDMChannelWorkerLocationInfo {
    uint32_t worker_semaphore_address, unused_0[3], worker_teardown_semaphore_address, unused_1[3];
    WorkerXY worker_xy;
    uint32_t unused_2[3], edm_read_counter, unused_3[3];
};
static_assert(sizeof(EDMChannelWorkerLocationInfo) == 64);
struct FabricMuxV2SharedTridRingHeader {
    uint32_t write_count, read_count;
};
using FabricMuxV2SharedTridRingEntry = uint32_t;
struct FabricMuxV2SharedControlBlock {
    uint32_t drain_initiated, forwarder_stop_tracking, forwarder_done;
};

// What a mux finds of a worker at the address that both know: where it counts its credits, and where it waits for the end.
struct FabricMuxChannelClientLocationInfo {
    uint32_t credits_low, credits_high, unused[2], end_low, end_high, more[10];
};
static_assert(sizeof(FabricMuxChannelClientLocationInfo) == 64);
enum ConnectionRequest : uint32_t { NO_REQUEST = 0, OPEN_REQUEST = 1, CLOSE_REQUEST = 2 };

template <bool receives_by_register, uint8_t n_slots = 0, uint8_t channel = 0>
struct WorkerToFabricEdmSenderBase {
    static constexpr bool USER_DEFINED_NUM_BUFFER_SLOTS = n_slots != 0;
    static constexpr size_t edm_sender_channel_field_stride_bytes = 16;

    WorkerToFabricEdmSenderBase() = default;

    // Arguments: the Ethernet channel of the router, and two semaphores that tt-metal needs for its own protocol.
    template <ProgrammableCoreType type = ProgrammableCoreType::TENSIX, bool are_addresses = false>
    TENSIM_INLINE static WorkerToFabricEdmSenderBase build_from_args(size_t& argument) {
        using namespace tensim::fabric;
        static_assert(!receives_by_register && channel == 0, "a worker connects to the first virtual channel of a router");
        uint32_t number = get_arg_val<uint32_t>(argument);
        argument += 3;
        WorkerToFabricEdmSenderBase sender;
        uint32_t place = entry(number, area::PLACE);
        sender.place_at(place & 0xFFFF, place >> 16);
        sender.edm_buffer_base_addr = sender.edm_buffer_addr = word(area::FIRST_SLOT);
        sender.buffer_size_bytes = word(area::SLOT_BYTES);
        sender.num_buffers_per_channel = word(area::SLOTS);
        sender.told_at = word(area::NOTIFIED);
        sender.told_value = 1;
        sender.info_at = word(area::CREDITS_AT);
        sender.credits = entry_address(number, area::CREDITS);
        return sender;
    }
    template <int type = 0>
    TENSIM_INLINE static WorkerToFabricEdmSenderBase build_from_args(size_t& argument) {
        return build_from_args<ProgrammableCoreType::TENSIX>(argument);
    }
    // A connection to a channel of a mux on core (x, y).
    TENSIM_INLINE static WorkerToFabricEdmSenderBase to_mux(
        uint32_t x, uint32_t y, uint32_t slots, uint32_t slot_bytes, uint32_t first_slot, uint32_t info,
        uint32_t handshake, uint32_t credits, uint32_t end, uint32_t stream) {
        WorkerToFabricEdmSenderBase sender;
        sender.place_at(x, y);
        sender.edm_buffer_base_addr = sender.edm_buffer_addr = first_slot;
        sender.buffer_size_bytes = slot_bytes;
        sender.num_buffers_per_channel = slots;
        sender.told_at = tensim::fabric::stream_address(stream);
        sender.told_value = -1;
        sender.info_at = info;
        sender.request_at = handshake;
        sender.credits = credits;
        sender.worker_teardown_addr = reinterpret_cast<volatile uint32_t*>(end);
        return sender;
    }

    // --- opening and closing

    template <bool sends_address = false, bool posted = false, uint8_t noc = get_fabric_worker_noc()>
    TENSIM_INLINE void open_start() {
        uint64_t mine = get_noc_addr(credits);
        noc_semaphore_set(reinterpret_cast<volatile uint32_t*>(credits), 0);
        if (request_at != 0) {
            uint64_t end = get_noc_addr(uint32_t(worker_teardown_addr));
            *worker_teardown_addr = 0;
            noc_inline_dw_write(router + info_at + offsetof(FabricMuxChannelClientLocationInfo, end_low), uint32_t(end), 0xF, noc);
            noc_inline_dw_write(router + info_at + offsetof(FabricMuxChannelClientLocationInfo, end_high), end >> 32, 0xF, noc);
        }
        noc_inline_dw_write(router + info_at, uint32_t(mine), 0xF, noc);
        noc_inline_dw_write(router + info_at + 4, mine >> 32, 0xF, noc);
        noc_inline_dw_write(router + (request_at != 0 ? request_at : info_at + 8), OPEN_REQUEST, 0xF, noc);
    }
    template <bool posted = false, uint8_t noc = get_fabric_worker_noc()>
    TENSIM_INLINE void open_finish() {
        noc_async_write_barrier(noc);
        sent = 0;
        edm_buffer_addr = edm_buffer_base_addr;
    }
    template <bool sends_address = false, bool posted = false, uint8_t noc = get_fabric_worker_noc()>
    TENSIM_INLINE void open() {
        open_start<sends_address, posted, noc>();
        open_finish<posted, noc>();
    }
    // The other side has given back all slots before the connection ends.
    template <bool posted = false, uint8_t noc = get_fabric_worker_noc()>
    TENSIM_INLINE void close_start() {
        noc_semaphore_wait_min(reinterpret_cast<volatile uint32_t*>(credits), sent);
        if (request_at != 0) noc_inline_dw_write(router + request_at, CLOSE_REQUEST, 0xF, noc);
    }
    template <bool posted = false, uint8_t noc = get_fabric_worker_noc()>
    TENSIM_INLINE void close_finish() {
        noc_async_write_barrier(noc);
        noc_async_atomic_barrier(noc);
        if (request_at != 0) noc_semaphore_wait_min(worker_teardown_addr, 1);
    }
    template <bool posted = false, uint8_t noc = get_fabric_worker_noc()>
    TENSIM_INLINE void close() {
        close_start<posted, noc>();
        close_finish<posted, noc>();
    }

    // --- slots

    TENSIM_INLINE uint32_t get_num_free_write_slots() const {
        return num_buffers_per_channel - (sent - *reinterpret_cast<volatile uint32_t*>(credits));
    }
    template <size_t count = 1>
    TENSIM_INLINE bool edm_has_space_for_packet() const {
        return get_num_free_write_slots() >= count;
    }
    TENSIM_INLINE void wait_for_empty_write_slot() const {
        if (sent >= num_buffers_per_channel)
            noc_semaphore_wait_min(reinterpret_cast<volatile uint32_t*>(credits), sent + 1 - num_buffers_per_channel);
    }

    // --- packets

    template <bool posted = false>
    TENSIM_INLINE void send_payload_without_header_non_blocking_from_address(
        uint32_t source, size_t size, uint8_t noc = get_fabric_worker_noc()) {
        send_chunk_from_address<NON_BLOCKING, posted>(
            source, 1, size, router + edm_buffer_addr + sizeof(PACKET_HEADER_TYPE), noc);
    }
    template <EDM_IO_BLOCKING_MODE mode, bool posted = false>
    TENSIM_INLINE void send_payload_from_address_impl(uint32_t source, size_t size, uint8_t noc = get_fabric_worker_noc()) {
        send_chunk_from_address<NON_BLOCKING, posted>(source, 1, size, router + edm_buffer_addr, noc);
        tell(noc);
        if constexpr (mode == BLOCKING) noc_async_write_barrier(noc);
        else if constexpr (mode == FLUSH_BLOCKING) noc_async_writes_flushed(noc);
    }
    template <bool posted = false>
    TENSIM_INLINE void send_payload_flush_blocking_from_address(
        uint32_t source, size_t size, uint8_t noc = get_fabric_worker_noc()) {
        send_payload_from_address_impl<FLUSH_BLOCKING, posted>(source, size, noc);
    }
    template <bool posted = false>
    TENSIM_INLINE void send_payload_flush_non_blocking_from_address(
        uint32_t source, size_t size, uint8_t noc = get_fabric_worker_noc()) {
        send_payload_from_address_impl<NON_BLOCKING, posted>(source, size, noc);
    }
    template <bool posted = false>
    TENSIM_INLINE void send_payload_blocking_from_address(
        uint32_t source, size_t size, uint8_t noc = get_fabric_worker_noc()) {
        send_payload_from_address_impl<BLOCKING, posted>(source, size, noc);
    }
    template <bool posted = false>
    TENSIM_INLINE void send_payload_non_blocking_from_address(
        uint32_t source, size_t size, uint8_t noc = get_fabric_worker_noc()) {
        send_payload_from_address_impl<NON_BLOCKING, posted>(source, size, noc);
    }
    template <bool posted = false>
    TENSIM_INLINE void send_current_slot_non_blocking(
        uint32_t payload, size_t size, uint32_t header, uint8_t noc = get_fabric_worker_noc()) {
        send_payload_without_header_non_blocking_from_address<posted>(payload, size, noc);
        send_payload_from_address_impl<NON_BLOCKING, posted>(header, sizeof(PACKET_HEADER_TYPE), noc);
    }
    template <bool posted = false>
    TENSIM_INLINE void setup_stateful_send_cmd_bufs(uint8_t = get_fabric_worker_noc()) const {}
    template <bool posted = false>
    TENSIM_INLINE void send_current_slot_stateful_non_blocking(
        uint32_t payload, uint32_t size, uint32_t header, uint8_t noc = get_fabric_worker_noc()) {
        send_current_slot_non_blocking<posted>(payload, size, header, noc);
    }
    template <bool posted = false>
    TENSIM_INLINE void send_current_slot_stateful_non_blocking_from_address(
        uint32_t packet, uint32_t size, uint8_t noc = get_fabric_worker_noc()) {
        send_payload_from_address_impl<NON_BLOCKING, posted>(packet, size, noc);
    }
    template <bool posted = false>
    TENSIM_INLINE void send_current_slot_stateful_non_blocking_from_address_with_trid(
        uint32_t packet, uint32_t size, uint32_t trid, uint8_t noc = get_fabric_worker_noc()) {
        tensim::post_noc_write(packet, router + edm_buffer_addr, size, noc, trid, tensim::plain, posted, NOC_UNICAST_WRITE_VC);
        tell(noc);
    }
    TENSIM_INLINE uint8_t get_stateful_send_data_noc_cmd_buf() const { return write_reg_cmd_buf; }
    TENSIM_INLINE void send_payload_blocking(uint32_t buffer, uint32_t pages, uint32_t page_size) {
        send_chunk<BLOCKING>(buffer, pages, page_size, router + edm_buffer_addr);
        tell(get_fabric_worker_noc());
    }

    uint64_t router;  // NoC address of the L1 at the other end
    uint32_t edm_buffer_addr, edm_buffer_base_addr, buffer_size_bytes, num_buffers_per_channel;
    uint32_t sent = 0;     // packets since the connection was opened
    uint32_t credits;      // address of the word that counts slots given back
    uint32_t told_at, told_value;  // what a packet adds to which word at the other end
    uint32_t info_at, request_at = 0;  // where the other end finds the worker; a mux's word of requests, 0: a router
    volatile uint32_t* worker_teardown_addr = nullptr;
    uint8_t edm_noc_x, edm_noc_y;

private:
    TENSIM_INLINE void place_at(uint32_t x, uint32_t y) {
        edm_noc_x = x;
        edm_noc_y = y;
        router = get_noc_addr(x, y, 0);
    }
    TENSIM_INLINE void tell(uint8_t noc) {
        noc_semaphore_inc(router + told_at, told_value, noc);
        sent++;
        uint32_t last = edm_buffer_base_addr + (num_buffers_per_channel - 1) * buffer_size_bytes;
        edm_buffer_addr = edm_buffer_addr == last ? edm_buffer_base_addr : edm_buffer_addr + buffer_size_bytes;
    }
};
template <bool receives_by_register, uint8_t n_slots = 0>
using WorkerToFabricEdmSenderImpl = WorkerToFabricEdmSenderBase<receives_by_register, n_slots>;
using WorkerToFabricEdmSender = WorkerToFabricEdmSenderImpl<false, 0>;
template <uint8_t n_slots = 0>
using WorkerToFabricMuxSender = WorkerToFabricEdmSenderImpl<false, n_slots>;
}  // namespace tt::tt_fabric
