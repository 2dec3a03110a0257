// The end of a mux's packets in the place of a router: it gives each slot back at once, until the mux closes its connection.

#include <cstdint>

#include "dataflow_api.h"
#include "fabric/fabric_edm_packet_header.hpp"
#include "tt_metal/fabric/hw/inc/tt_fabric_mux.hpp"

constexpr uint32_t slots = get_compile_time_arg_val(0);
constexpr uint32_t worker_info = get_compile_time_arg_val(1);
constexpr uint32_t handshake = get_compile_time_arg_val(2);
constexpr uint32_t status = get_compile_time_arg_val(3);

void kernel_main() {
    tt::tt_fabric::FabricMuxStaticSizedChannelWorkerInterface<slots> worker(
        reinterpret_cast<volatile tt::tt_fabric::FabricMuxChannelClientLocationInfo*>(worker_info), nullptr,
        reinterpret_cast<volatile uint32_t*>(handshake), 0, 0);
    *worker.connection_live_semaphore = tt::tt_fabric::NO_REQUEST;
    init_ptr_val(0, slots);
    *reinterpret_cast<volatile tt_l1_ptr uint32_t*>(status) = tt::tt_fabric::FabricMuxStatus::READY_FOR_TRAFFIC;
    bool open = false, was_open = false;
    do {
        if (get_ptr_val(0) != slots) {
            worker.local_read_counter.increment();
            increment_local_update_ptr_val(0, 1);
            if (open) worker.notify_worker_of_read_counter_update();
        }
        was_open |= open;
        tt::tt_fabric::check_worker_connections<tt::tt_fabric::USE_DYNAMIC_CREDIT_ADDR, true>(worker, open, 0);
    } while (open || !was_open);
}
