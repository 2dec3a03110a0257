// A worker that exchanges packets with one of another chip over the fabric.
//
// Arguments: its memory, size of a payload, rounds, place of the other worker, role, hops to it; then those of the connection.
// Cycles of each round are kept: of a ping from one packet until the answer, of a pong from a packet until its answer has been
// handed over, of a stream from the beginning until there was a slot for a packet.  A sink waits for the last packet of a stream.
#include "api/dataflow/dataflow_api.h"
#include "tt_metal/fabric/hw/inc/edm_fabric/edm_fabric_worker_adapters.hpp"

enum Role { PING, PONG, STREAM, SINK };
constexpr uint32_t TIMES = 256, SOURCE = 1024, ARRIVALS = SOURCE + 16 * 1024;  // behind the header

void wait_for(volatile tt_l1_ptr uint32_t *word, uint32_t value) {
    while (*word != value) {
        invalidate_l1_cache();
    }
}

void kernel_main() {
    const uint32_t memory = get_arg_val<uint32_t>(0), size = get_arg_val<uint32_t>(1), rounds = get_arg_val<uint32_t>(2);
    const uint32_t x = get_arg_val<uint32_t>(3), y = get_arg_val<uint32_t>(4), role = get_arg_val<uint32_t>(5);
    const uint8_t hops = get_arg_val<uint32_t>(6);
    size_t argument = 7;
    auto sender = tt::tt_fabric::WorkerToFabricEdmSender::build_from_args<ProgrammableCoreType::TENSIX>(argument);
    auto header = reinterpret_cast<volatile tt_l1_ptr PACKET_HEADER_TYPE *>(memory);
    auto times = reinterpret_cast<volatile tt_l1_ptr uint32_t *>(memory + TIMES);
    auto last = reinterpret_cast<volatile tt_l1_ptr uint32_t *>(memory + SOURCE + size - 4);
    auto arrival = reinterpret_cast<volatile tt_l1_ptr uint32_t *>(memory + ARRIVALS + size - 4);

    header->to_chip_unicast(hops);
    header->to_noc_unicast_write(tt::tt_fabric::NocUnicastCommandHeader{get_noc_addr(x, y, memory + ARRIVALS)}, size);
    sender.open();
    const uint32_t start = get_timestamp_32b();
    if (role == SINK) {
        wait_for(arrival, rounds);
    }
    for (uint32_t round = 1; role != SINK && round <= rounds; round++) {
        if (role == PONG) {
            wait_for(arrival, round);
        }
        *last = round;
        if (role == PING) {  // so that routers are met at all points of their turns
            riscv_wait(1 + round * 151 % 397);
        }
        const uint32_t begin = get_timestamp_32b();
        sender.wait_for_empty_write_slot();
        if (role == STREAM) {
            times[round - 1] = get_timestamp_32b() - start;
        }
        sender.send_payload_without_header_non_blocking_from_address(memory + SOURCE, size);
        sender.send_payload_flush_blocking_from_address(memory, sizeof(PACKET_HEADER_TYPE));
        if (role == PING) {
            wait_for(arrival, round);
        }
        if (role != STREAM) {
            times[round - 1] = get_timestamp_32b() - begin;
        }
    }
    sender.close();
}
