// Send pages `first` ... of the own shard to `hops` chips, into their gathered tensors; wait for `expected` pages of others.
//
// `shard`: where the own one begins in the gathered tensors, in pages.  Each packet adds one to the word `arrived` of each
// receiver, the last one when all before it have been written.

#include <cstdint>

#include "dataflow_api.h"
#include "fabric/fabric_edm_packet_header.hpp"
#include "tt_metal/fabric/hw/inc/edm_fabric/edm_fabric_worker_adapters.hpp"

constexpr uint32_t cb_own = 0;
constexpr uint32_t cb_header = 24;

void kernel_main() {
    size_t argument = 0;
    auto sender = tt::tt_fabric::WorkerToFabricEdmSender::build_from_args<ProgrammableCoreType::TENSIX>(argument);
    const uint32_t source = get_arg_val<uint32_t>(argument++);
    const uint32_t target = get_arg_val<uint32_t>(argument++);
    const uint32_t arrived = get_arg_val<uint32_t>(argument++);
    const uint32_t first = get_arg_val<uint32_t>(argument++);
    const uint32_t count = get_arg_val<uint32_t>(argument++);
    const uint32_t shard = get_arg_val<uint32_t>(argument++);
    const uint32_t hops = get_arg_val<uint32_t>(argument++);
    const uint32_t expected = get_arg_val<uint32_t>(argument++);

    constexpr uint32_t page = get_tile_size(cb_own);
    const InterleavedAddrGenFast<true> own = {
        .bank_base_address = source, .page_size = page, .data_format = get_dataformat(cb_own)};
    const InterleavedAddrGenFast<true> gathered = {
        .bank_base_address = target, .page_size = page, .data_format = get_dataformat(cb_own)};
    auto header = reinterpret_cast<volatile tt_l1_ptr PACKET_HEADER_TYPE*>(get_write_ptr(cb_header));
    header->to_chip_multicast(tt::tt_fabric::MulticastRoutingCommandHeader{1, static_cast<uint8_t>(hops)});

    sender.open();
    const uint32_t staged = get_write_ptr(cb_own);
    for (uint32_t sent = 0; sent < count; sent++) {
        noc_async_read_tile(first + sent, own, staged);
        header->to_noc_fused_unicast_write_atomic_inc(
            tt::tt_fabric::NocUnicastAtomicIncFusedCommandHeader{
                get_noc_addr(shard + first + sent, gathered), get_noc_addr(arrived), 1, sent == count - 1},
            page);
        noc_async_read_barrier();
        sender.wait_for_empty_write_slot();
        sender.send_payload_without_header_non_blocking_from_address(staged, page);
        sender.send_payload_flush_blocking_from_address(
            reinterpret_cast<uint32_t>(header), sizeof(PACKET_HEADER_TYPE));
    }
    sender.close();
    noc_semaphore_wait_min(reinterpret_cast<volatile tt_l1_ptr uint32_t*>(arrived), expected);
}
