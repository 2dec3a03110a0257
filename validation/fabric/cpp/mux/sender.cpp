// A worker that sends packets through a channel of a mux: payload and header, or headers alone.
//
// It leaves two words: the cycles at which it began, and at which it had sent its last packet.

#include <cstdint>

#include "dataflow_api.h"
#include "fabric/fabric_edm_packet_header.hpp"
#include "tt_metal/fabric/hw/inc/tt_fabric_mux_interface.hpp"

void kernel_main() {
    constexpr uint32_t slots = get_compile_time_arg_val(0);
    constexpr uint32_t slot_bytes = get_compile_time_arg_val(1);
    constexpr uint32_t payload_bytes = get_compile_time_arg_val(2);
    constexpr uint32_t packets = get_compile_time_arg_val(3);
    constexpr uint32_t source = get_compile_time_arg_val(4);
    constexpr uint32_t header_at = get_compile_time_arg_val(5);
    constexpr uint32_t results = get_compile_time_arg_val(6);
    constexpr uint32_t mux_status = get_compile_time_arg_val(7);

    const uint32_t mux_x = get_arg_val<uint32_t>(0);
    const uint32_t mux_y = get_arg_val<uint32_t>(1);
    const uint32_t channel = get_arg_val<uint32_t>(2);
    const uint32_t first_slot = get_arg_val<uint32_t>(3);
    const uint32_t worker_info = get_arg_val<uint32_t>(4);
    const uint32_t handshake = get_arg_val<uint32_t>(5);
    const uint64_t receiver = get_noc_addr(get_arg_val<uint32_t>(6), get_arg_val<uint32_t>(7), source);

    auto sender = tt::tt_fabric::build_connection_to_fabric_endpoint<slots>(
        mux_x, mux_y, channel, slots, slot_bytes, first_slot, worker_info, handshake, 0, 0, get_semaphore(0),
        get_semaphore(1), 0);
    tt::tt_fabric::wait_for_fabric_endpoint_ready(mux_x, mux_y, mux_status, results);
    auto header = reinterpret_cast<volatile tt_l1_ptr PACKET_HEADER_TYPE*>(header_at);
    if constexpr (payload_bytes != 0) {
        header->to_noc_unicast_write(tt::tt_fabric::NocUnicastCommandHeader{receiver}, payload_bytes);
    } else {
        header->to_noc_unicast_atomic_inc(tt::tt_fabric::NocUnicastAtomicIncCommandHeader{receiver, 1});
    }
    auto cycles = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(results);

    tt::tt_fabric::fabric_client_connect(sender);
    cycles[0] = get_timestamp_32b();
    for (uint32_t sent = 0; sent < packets; sent++) {
        if constexpr (payload_bytes != 0) {
            tt::tt_fabric::fabric_async_write(sender, header, source, payload_bytes);
        } else {
            tt::tt_fabric::fabric_atomic_inc(sender, header);
            noc_async_writes_flushed();
        }
    }
    cycles[1] = get_timestamp_32b();
    tt::tt_fabric::fabric_client_disconnect(sender);
}
