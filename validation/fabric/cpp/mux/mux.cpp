// A mux between workers and one sink: each turn takes a packet of every channel that has one and hands it on.
//
// It waits behind each packet until it has left, then gives its slot back. It ends when all workers have closed their connections.

#include <cstdint>

#include "dataflow_api.h"
#include "fabric/fabric_edm_packet_header.hpp"
#include "tt_metal/fabric/hw/inc/tt_fabric_mux.hpp"
#include "tt_metal/fabric/hw/inc/tt_fabric_mux_interface.hpp"

constexpr uint32_t full_channels = get_compile_time_arg_val(0);
constexpr uint32_t full_slots = get_compile_time_arg_val(1);
constexpr uint32_t full_slot_bytes = get_compile_time_arg_val(2);
constexpr uint32_t header_channels = get_compile_time_arg_val(3);
constexpr uint32_t header_slots = get_compile_time_arg_val(4);
constexpr uint32_t first_slot = get_compile_time_arg_val(5);
constexpr uint32_t worker_info = get_compile_time_arg_val(6);
constexpr uint32_t handshake = get_compile_time_arg_val(7);
constexpr uint32_t status = get_compile_time_arg_val(8);
constexpr uint32_t full_turns = get_compile_time_arg_val(9);
constexpr uint32_t sink_slots = get_compile_time_arg_val(10);
constexpr uint32_t handshake_bytes = 16;

using Sink = tt::tt_fabric::WorkerToFabricMuxSender<sink_slots>;

template <uint8_t slots>
struct Channel {
    tt::tt_fabric::FabricMuxChannelBuffer<slots> buffer;
    tt::tt_fabric::FabricMuxStaticSizedChannelWorkerInterface<slots> worker;
    uint32_t stream;
    bool open, closed;

    void set_up(uint32_t number, uint32_t first, uint32_t slot_bytes) {
        buffer = {first, slot_bytes, sizeof(PACKET_HEADER_TYPE)};
        auto info = worker_info + number * sizeof(tt::tt_fabric::FabricMuxChannelClientLocationInfo);
        worker = {
            reinterpret_cast<volatile tt::tt_fabric::FabricMuxChannelClientLocationInfo*>(info), nullptr,
            reinterpret_cast<volatile uint32_t*>(handshake + number * handshake_bytes), 0, 0};
        *worker.connection_live_semaphore = tt::tt_fabric::NO_REQUEST;
        stream = number;
        init_ptr_val(stream, slots);
        open = closed = false;
    }

    void take_turn(Sink& sink) {
        if (get_ptr_val(stream) != slots) {
            const uint32_t packet = buffer.get_buffer_address(worker.local_write_counter.get_buffer_index());
            auto header = reinterpret_cast<volatile tt_l1_ptr PACKET_HEADER_TYPE*>(packet);
            sink.wait_for_empty_write_slot();
            sink.send_payload_flush_non_blocking_from_address(packet, header->get_payload_size_including_header());
            worker.local_write_counter.increment();
            worker.local_read_counter.increment();
            increment_local_update_ptr_val(stream, 1);
            noc_async_writes_flushed();
            if (open) worker.notify_worker_of_read_counter_update();
        }
        const bool was_open = open;
        tt::tt_fabric::check_worker_connections<tt::tt_fabric::USE_DYNAMIC_CREDIT_ADDR, true>(worker, open, stream);
        closed |= was_open && !open;
    }
};

void kernel_main() {
    Channel<full_slots> full[full_channels];
    Channel<header_slots> headers[header_channels == 0 ? 1 : header_channels];
    uint32_t place = first_slot;
    for (uint32_t i = 0; i < full_channels; i++, place += full_slots * full_slot_bytes) {
        full[i].set_up(i, place, full_slot_bytes);
    }
    for (uint32_t i = 0; i < header_channels; i++, place += header_slots * sizeof(PACKET_HEADER_TYPE)) {
        headers[i].set_up(full_channels + i, place, sizeof(PACKET_HEADER_TYPE));
    }
    const uint32_t sink_x = get_arg_val<uint32_t>(0);
    const uint32_t sink_y = get_arg_val<uint32_t>(1);
    Sink sink = tt::tt_fabric::build_connection_to_fabric_endpoint<sink_slots>(
        sink_x, sink_y, 0, sink_slots, full_slot_bytes, first_slot, worker_info, handshake, 0, 0, get_semaphore(0),
        get_semaphore(1), 0);
    tt::tt_fabric::wait_for_fabric_endpoint_ready(sink_x, sink_y, status, first_slot);
    sink.open();
    auto ready = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(status);
    *ready = tt::tt_fabric::FabricMuxStatus::READY_FOR_TRAFFIC;
    bool all_closed;
    do {
        for (uint32_t turn = 0; turn < full_turns; turn++) {
            for (uint32_t i = 0; i < full_channels; i++) full[i].take_turn(sink);
        }
        for (uint32_t i = 0; i < header_channels; i++) headers[i].take_turn(sink);
        all_closed = true;
        for (uint32_t i = 0; i < full_channels; i++) all_closed &= full[i].closed;
        for (uint32_t i = 0; i < header_channels; i++) all_closed &= headers[i].closed;
    } while (!all_closed);
    sink.close();
}
