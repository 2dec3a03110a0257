// A mux: a kernel that takes packets of several workers and hands them to one router.  Both of its sides: what workers call, and
// what the library's mux kernel is made of.  Words of the core's L1 stand for its stream registers.
#pragma once
#include "tensim/fabric_connections.h"

namespace tt::tt_fabric {
enum EDMStatus : uint32_t {
    STARTED = 0xA0B0C0D0, REMOTE_HANDSHAKE_COMPLETE = 0xA1B1C1D1, LOCAL_HANDSHAKE_COMPLETE = 0xA2B2C2D2,
    READY_FOR_TRAFFIC = 0xA3B3C3D3, TERMINATED = 0xA4B4C4D4
};
using FabricMuxStatus = EDMStatus;
using FabricEndpointStatus = EDMStatus;
constexpr uint8_t worker_handshake_noc = noc_index;
constexpr bool USE_DYNAMIC_CREDIT_ADDR = false;

// --- workers

template <uint8_t n_slots = 0>
TENSIM_INLINE WorkerToFabricMuxSender<n_slots> build_connection_to_fabric_endpoint(
    uint8_t x, uint8_t y, uint8_t channel, uint8_t slots, size_t slot_bytes, size_t first_slot, size_t info,
    size_t handshake, size_t, size_t, uint32_t credits, uint32_t end, uint32_t, uint32_t = 0) {
    return WorkerToFabricMuxSender<n_slots>::to_mux(
        x, y, slots, slot_bytes, first_slot, info, handshake, credits, end, channel);
}
// Routers are ready when programs run; the core of a mux says when its kernel is.
TENSIM_INLINE void wait_for_fabric_endpoint_ready(uint8_t x, uint8_t y, size_t status, uint32_t local) {
    if (tensim::fabric::is_router(x, y)) return;
    auto word = reinterpret_cast<volatile uint32_t*>(local);
    *word = TERMINATED;
    do {
        noc_async_read_one_packet(get_noc_addr(x, y, status), local, 4);
        noc_async_read_barrier();
    } while (*word != READY_FOR_TRAFFIC);
}
template <uint8_t n_slots = 0>
TENSIM_INLINE void fabric_client_connect(WorkerToFabricMuxSender<n_slots>& sender) {
    sender.open();
}
template <uint8_t n_slots = 0>
TENSIM_INLINE void fabric_client_connect_start(WorkerToFabricMuxSender<n_slots>& sender) {
    sender.open_start();
}
template <uint8_t n_slots = 0>
TENSIM_INLINE void fabric_client_connect_finish(WorkerToFabricMuxSender<n_slots>& sender) {
    sender.open_finish();
}
template <uint8_t n_slots = 0>
TENSIM_INLINE void fabric_client_disconnect(WorkerToFabricMuxSender<n_slots>& sender) {
    sender.close();
}
TENSIM_INLINE void fabric_endpoint_terminate(uint8_t x, uint8_t y, size_t signal, bool graceful = true) {
    noc_inline_dw_write(get_noc_addr(x, y, signal), graceful ? GRACEFULLY_TERMINATE : IMMEDIATELY_TERMINATE);
    noc_async_write_barrier();
}
template <uint8_t n_slots = 0>
TENSIM_INLINE void fabric_async_write(
    WorkerToFabricMuxSender<n_slots>& sender, volatile PACKET_HEADER_TYPE* header, uint32_t payload, uint32_t size) {
    sender.wait_for_empty_write_slot();
    sender.send_payload_without_header_non_blocking_from_address(payload, size);
    sender.send_payload_flush_blocking_from_address(uint32_t(header), sizeof(PACKET_HEADER_TYPE));
}
template <uint8_t n_slots = 0>
TENSIM_INLINE void fabric_atomic_inc(WorkerToFabricMuxSender<n_slots>& sender, volatile PACKET_HEADER_TYPE* header) {
    sender.wait_for_empty_write_slot();
    sender.send_payload_flush_non_blocking_from_address(uint32_t(header), sizeof(PACKET_HEADER_TYPE));
}
}  // namespace tt::tt_fabric

// --- the mux's kernel

struct StreamId {
    uint32_t id;
    TENSIM_INLINE constexpr uint32_t get() const { return id; }
};
// A stream is two words, of which each has one side that changes it: what workers add over the NoC, and what the mux adds.
namespace tensim::fabric {
TENSIM_INLINE volatile int32_t& told_by_workers(uint32_t stream) {
    return *reinterpret_cast<volatile int32_t*>(stream_address(stream));
}
TENSIM_INLINE volatile int32_t& added_here(uint32_t stream) {
    return *reinterpret_cast<volatile int32_t*>(stream_address(stream) + 4);
}
}  // namespace tensim::fabric
TENSIM_INLINE int32_t get_ptr_val(uint32_t stream) {
    return tensim::fabric::told_by_workers(stream) + tensim::fabric::added_here(stream);
}
TENSIM_INLINE void init_ptr_val(uint32_t stream, int32_t value) {
    tensim::fabric::told_by_workers(stream) = value;
    tensim::fabric::added_here(stream) = 0;
}
TENSIM_INLINE void init_ptr_val(StreamId stream, int32_t value) { init_ptr_val(stream.id, value); }
TENSIM_INLINE void increment_local_update_ptr_val(uint32_t stream, int32_t value) {
    tensim::fabric::added_here(stream) = tensim::fabric::added_here(stream) + value;
}
TENSIM_INLINE uint32_t get_stream_reg_write_addr(uint32_t stream) { return tensim::fabric::stream_address(stream); }
TENSIM_INLINE int32_t pack_value_for_inc_on_write_stream_reg_write(int32_t value) { return value; }
// A packet has left its source when its write has been issued: the transfer holds its data.
TENSIM_INLINE bool ncrisc_noc_nonposted_write_with_transaction_id_sent(uint32_t, uint32_t) { return true; }
TENSIM_INLINE void noc_clear_packet_tag(uint8_t, uint8_t) {}
namespace tensim {
static uint64_t stateful_target;
}
template <bool posted = false, bool one_packet = false>
TENSIM_INLINE void ncrisc_noc_write_set_state(uint32_t, uint32_t, uint64_t target, uint32_t = 0, uint8_t = 0) {
    tensim::stateful_target = target >> 32 << 32;
}
template <uint8_t mode = DM_DEDICATED_NOC, bool posted = false, bool update_counter = true, bool one_packet = false>
TENSIM_INLINE void ncrisc_noc_write_with_state(
    uint32_t noc, uint32_t, uint32_t source, uint32_t target, uint32_t size) {
    tensim::post_noc_write(
        source, tensim::stateful_target | target, size, noc, -1, tensim::plain, posted, NOC_UNICAST_WRITE_VC);
}
template <bool enabled>
TENSIM_INLINE void set_l1_data_cache() {}
TENSIM_INLINE void zero_l1_buf(volatile tt_l1_ptr uint32_t* words, uint32_t bytes) {
    for (uint32_t i = 0; i < bytes / 4; i++) words[i] = 0;
}
TENSIM_INLINE void noc_clear_packet_tags(uint8_t) {}

namespace tt::tt_fabric {
struct BufferIndex {
    uint8_t index = 0;
    TENSIM_INLINE constexpr uint8_t get() const { return index; }
};
template <uint8_t n_slots>
struct ChannelCounter {
    uint32_t counter = 0;
    BufferIndex index;
    TENSIM_INLINE void increment() {
        counter++;
        index.index = index.index + 1 == n_slots ? 0 : index.index + 1;
    }
    TENSIM_INLINE BufferIndex get_buffer_index() const { return index; }
    TENSIM_INLINE void reset() { *this = {}; }
};
template <uint8_t n_slots>
struct FabricMuxChannelBuffer {
    uint32_t first, bytes;
    FabricMuxChannelBuffer() = default;
    TENSIM_INLINE FabricMuxChannelBuffer(uint32_t address, uint32_t slot_bytes, uint32_t) :
        first(address), bytes(slot_bytes) {}
    TENSIM_INLINE uint32_t get_buffer_address(BufferIndex index) const { return first + index.index * bytes; }
};
template <uint8_t n_slots>
struct FabricMuxStaticSizedChannelWorkerInterface {
    volatile FabricMuxChannelClientLocationInfo* worker;
    volatile uint32_t* connection_live_semaphore;
    ChannelCounter<n_slots> local_read_counter, local_write_counter;
    uint32_t told;
    FabricMuxStaticSizedChannelWorkerInterface() = default;
    TENSIM_INLINE FabricMuxStaticSizedChannelWorkerInterface(
        volatile FabricMuxChannelClientLocationInfo* info, volatile uint32_t*, volatile uint32_t* handshake, uint32_t,
        uint32_t) :
        worker(info), connection_live_semaphore(handshake), told(0) {}
    template <auto... options>
    TENSIM_INLINE void cache_producer_noc_addr() {}
    // Give the worker back the slots of packets that have gone on.
    TENSIM_INLINE void notify_worker_of_read_counter_update() {
        if (local_read_counter.counter == told) return;
        noc_semaphore_inc(
            uint64_t(worker->credits_high) << 32 | worker->credits_low, local_read_counter.counter - told);
        told = local_read_counter.counter;
    }
    TENSIM_INLINE void end() {
        *connection_live_semaphore = NO_REQUEST;
        local_read_counter.reset();
        local_write_counter.reset();
        told = 0;
        noc_semaphore_inc(uint64_t(worker->end_high) << 32 | worker->end_low, 1);
    }
};
constexpr size_t MUX_TO_WORKER_INTERFACE_STARTING_READ_COUNTER_VALUE = 0;

TENSIM_INLINE bool connect_is_requested(uint32_t request) { return request != NO_REQUEST; }
template <auto credit_address = false, bool cached = false, class Interface>
TENSIM_INLINE void check_worker_connections(Interface& channel, bool& established, uint32_t) {
    uint32_t request = *channel.connection_live_semaphore;
    if (!established && request != NO_REQUEST) {
        established = true;
        channel.notify_worker_of_read_counter_update();
    } else if (established && request == CLOSE_REQUEST) {
        established = false;
        channel.end();
    }
}
TENSIM_INLINE bool got_graceful_termination_signal(volatile TerminationSignal* signal) {
    return *signal == GRACEFULLY_TERMINATE;
}
template <bool cached>
TENSIM_INLINE bool got_immediate_termination_signal(volatile TerminationSignal* signal) {
    return *signal == IMMEDIATELY_TERMINATE;
}
}  // namespace tt::tt_fabric
