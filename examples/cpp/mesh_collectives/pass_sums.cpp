// Send the sums of each chunk to the next chip, whose reader counts them; the last chunk's are the result.

#include <cstdint>

#include "dataflow_api.h"
#include "fabric/fabric_edm_packet_header.hpp"
#include "tt_metal/fabric/hw/inc/edm_fabric/edm_fabric_worker_adapters.hpp"

constexpr uint32_t cb_sum = 16;
constexpr uint32_t cb_header = 24;

void kernel_main() {
    size_t argument = 0;
    auto sender = tt::tt_fabric::WorkerToFabricEdmSender::build_from_args<ProgrammableCoreType::TENSIX>(argument);
    const uint32_t sums_address = get_arg_val<uint32_t>(argument++);
    const uint32_t arrived = get_arg_val<uint32_t>(argument++);
    const uint32_t result_address = get_arg_val<uint32_t>(argument++);
    const uint32_t chips = get_arg_val<uint32_t>(argument++);
    const uint32_t tiles = get_arg_val<uint32_t>(argument++);
    const uint32_t first = get_arg_val<uint32_t>(argument++);
    const uint32_t count = get_arg_val<uint32_t>(argument++);

    constexpr uint32_t page = get_tile_size(cb_sum);
    const InterleavedAddrGenFast<true> sums = {
        .bank_base_address = sums_address, .page_size = page, .data_format = get_dataformat(cb_sum)};
    const InterleavedAddrGenFast<true> result = {
        .bank_base_address = result_address, .page_size = page, .data_format = get_dataformat(cb_sum)};
    auto header = reinterpret_cast<volatile tt_l1_ptr PACKET_HEADER_TYPE*>(get_write_ptr(cb_header));
    header->to_chip_unicast(1);

    sender.open();
    for (uint32_t step = 0; step < chips - 1; step++) {
        for (uint32_t i = 0; i < count; i++) {
            header->to_noc_fused_unicast_write_atomic_inc(
                tt::tt_fabric::NocUnicastAtomicIncFusedCommandHeader{
                    get_noc_addr(step * tiles + first + i, sums), get_noc_addr(arrived), 1, true},
                page);
            cb_wait_front(cb_sum, 1);
            sender.wait_for_empty_write_slot();
            sender.send_payload_without_header_non_blocking_from_address(get_read_ptr(cb_sum), page);
            sender.send_payload_flush_blocking_from_address(
                reinterpret_cast<uint32_t>(header), sizeof(PACKET_HEADER_TYPE));
            cb_pop_front(cb_sum, 1);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        cb_wait_front(cb_sum, 1);
        noc_async_write_tile(first + i, result, get_read_ptr(cb_sum));
        noc_async_write_barrier();
        cb_pop_front(cb_sum, 1);
    }
    sender.close();
}
