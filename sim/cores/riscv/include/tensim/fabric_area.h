// What a worker's L1 says of the fabric: its chip's routers, by Ethernet channel (`tensim.sim.cores.fabric.worker_area`).
#pragma once
#include "tensim/kernel.h"
#include "tensim/fabric_layout.h"

enum eth_chan_directions : uint8_t { EAST = 0, WEST = 1, NORTH = 2, SOUTH = 3, Z = 4, COUNT = 5 };
enum eth_chan_magic_values : uint8_t { INVALID_DIRECTION = 0xDD, INVALID_ROUTING_TABLE_ENTRY = 0xFF };

namespace tensim::fabric {
TENSIM_INLINE uint32_t word(uint32_t index) {
    return *reinterpret_cast<const uint32_t*>(TENSIM_FABRIC_AREA + 4 * index);
}
TENSIM_INLINE uint32_t entry_address(uint32_t channel, uint32_t field) {
    return TENSIM_FABRIC_AREA + area::ENTRIES + area::ENTRY_BYTES * channel + 4 * field;
}
TENSIM_INLINE uint32_t entry(uint32_t channel, uint32_t field) {
    return *reinterpret_cast<const uint32_t*>(entry_address(channel, field));
}
TENSIM_INLINE bool is_router(uint32_t x, uint32_t y) {
    for (uint32_t channel = 0; channel < area::MAX_CHANNELS; channel++)
        if ((word(area::CHANNELS) >> channel & 1) && entry(channel, area::PLACE) == (x | y << 16)) return true;
    return false;
}
// Words in place of the stream registers of a mux
TENSIM_INLINE constexpr uint32_t stream_address(uint32_t stream) {
    return TENSIM_FABRIC_AREA + area::STREAMS + area::STREAM_BYTES * stream;
}
}  // namespace tensim::fabric

namespace tt::tt_fabric {
TENSIM_INLINE uint32_t get_fabric_max_packet_size() { return tensim::fabric::word(tensim::fabric::area::MAX_PAYLOAD); }
TENSIM_INLINE uint8_t get_router_direction(uint32_t channel) {
    return tensim::fabric::entry(channel, tensim::fabric::area::DIRECTION);
}
}  // namespace tt::tt_fabric
#define FABRIC_MAX_PACKET_SIZE (tt::tt_fabric::get_fabric_max_packet_size())
