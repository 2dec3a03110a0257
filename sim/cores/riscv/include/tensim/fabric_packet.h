// Packet headers: what a packet does on the chips that receive it, and which these are.
//
// Names and arguments are tt-metal's; the layout is the one that tensim's routers read (`tensim.sim.cores.fabric.layout`).
#pragma once
#include "tensim/fabric_area.h"

#define ROUTING_MODE_UNDEFINED 0x0000
#define ROUTING_MODE_1D 0x0001
#define ROUTING_MODE_2D 0x0002
#define ROUTING_MODE_3D 0x0004
#define ROUTING_MODE_LINE 0x0008
#define ROUTING_MODE_RING 0x0010
#define ROUTING_MODE_NEIGHBOR_EXCHANGE 0x0200
#define ROUTING_MODE_MESH 0x0020
#define ROUTING_MODE_TORUS 0x0040
#define ROUTING_MODE_LOW_LATENCY 0x0080

namespace tt::tt_fabric {
enum class Topology { NeighborExchange = 0, Linear = 1, Ring = 2, Mesh = 3, Torus = 4 };
constexpr bool is_2D_topology(Topology topology) { return topology == Topology::Mesh || topology == Topology::Torus; }
constexpr bool is_ring_or_torus(Topology topology) { return topology == Topology::Ring || topology == Topology::Torus; }
struct WorkerXY {
    uint16_t x = 0, y = 0;
    constexpr WorkerXY() = default;
    constexpr WorkerXY(uint16_t column, uint16_t row) : x(column), y(row) {}
    constexpr uint32_t to_uint32() const { return uint32_t(y) << 16 | x; }
    static constexpr WorkerXY from_uint32(uint32_t value) { return WorkerXY(value & 0xFFFF, value >> 16); }
    constexpr bool operator==(const WorkerXY&) const = default;
};
constexpr uint8_t edm_to_local_chip_noc = 1;
TENSIM_INLINE constexpr uint8_t get_fabric_worker_noc() { return noc_index; }
enum TerminationSignal : uint32_t { KEEP_RUNNING = 0, GRACEFULLY_TERMINATE = 1, IMMEDIATELY_TERMINATE = 2 };
}  // namespace tt::tt_fabric

// --- addresses: a NoC address names the same tile on both NoCs here

TENSIM_INLINE constexpr bool is_using_noc_coords(uint16_t, uint16_t) { return false; }
TENSIM_INLINE uint64_t safe_get_noc_addr(uint32_t x, uint32_t y, uint32_t address, uint8_t = noc_index) {
    return tensim::noc_address(x, y, address);
}
TENSIM_INLINE std::pair<tt::tt_fabric::WorkerXY, uint32_t> get_noc_address_components(uint64_t address) {
    return {tt::tt_fabric::WorkerXY(NOC_UNICAST_ADDR_X(address), NOC_UNICAST_ADDR_Y(address)), uint32_t(address)};
}

namespace tt::tt_fabric {
enum NocSendType : uint8_t {
    NOC_UNICAST_WRITE = tensim::fabric::UNICAST_WRITE,
    NOC_UNICAST_INLINE_WRITE = tensim::fabric::INLINE_WRITE,
    NOC_UNICAST_ATOMIC_INC = tensim::fabric::ATOMIC_INC,
    NOC_FUSED_UNICAST_ATOMIC_INC = tensim::fabric::FUSED_ATOMIC_INC,
    NOC_UNICAST_SCATTER_WRITE = tensim::fabric::SCATTER_WRITE,
    NOC_MULTICAST_WRITE, NOC_MULTICAST_ATOMIC_INC, NOC_UNICAST_READ, NOC_SPARSE_MCAST_WRITE,  // no router takes these
    NOC_SEND_TYPE_LAST = NOC_SPARSE_MCAST_WRITE
};
enum ChipSendType : uint8_t { CHIP_UNICAST = 0, CHIP_MULTICAST = 1, CHIP_SEND_TYPE_LAST = CHIP_MULTICAST };
enum NocScatterWriteChunkEncoding : uint8_t {
    CHUNK_ENCODING_NOP = 0,
    CHUNK_ENCODING_UNICAST_WRITE = tensim::fabric::CHUNK_WRITE,
    CHUNK_ENCODING_SEMINC_NO_FLUSH = tensim::fabric::CHUNK_INC,
    CHUNK_ENCODING_SEMINC_FLUSH = tensim::fabric::CHUNK_INC_FLUSH,
    CHUNK_ENCODING_LAST = CHUNK_ENCODING_SEMINC_FLUSH
};
constexpr uint8_t expand_encoding_to_all_chunks(NocScatterWriteChunkEncoding encoding) { return encoding * 0x55; }
TENSIM_INLINE void set_chunk_encoding(uint8_t& all, NocScatterWriteChunkEncoding encoding, uint32_t chunk) {
    all |= encoding << (2 * chunk);
}

// --- what calls are given

#define NOC_SCATTER_WRITE_MAX_CHUNKS 4
#define NOC_SCATTER_WRITE_ATOMIC_INC_FUSED_WRITE_CHUNKS 2
#define NOC_SPARSE_MCAST_WRITE_MAX_DESTS 4
constexpr uint8_t NOC_SCATTER_WRITE_MIN_CHUNKS = 2;
struct MulticastRoutingCommandHeader {
    uint8_t start_distance_in_hops, range_hops;
};
template <class Header>
struct SparseMulticastRoutingCommandHeader {
    using HopMaskType = uint16_t;
    HopMaskType hop_mask;
};
struct NocUnicastCommandHeader {
    uint64_t noc_address;
};
struct NocUnicastInlineWriteCommandHeader {
    uint64_t noc_address;
    uint32_t value;
};
struct NocUnicastAtomicIncCommandHeader {
    TENSIM_INLINE NocUnicastAtomicIncCommandHeader(uint64_t address, uint32_t value, bool flushes = true) :
        noc_address(address), val(value), flush(flushes) {}
    uint64_t noc_address;
    uint32_t val;
    bool flush;
};
struct NocUnicastAtomicIncFusedCommandHeader {
    TENSIM_INLINE NocUnicastAtomicIncFusedCommandHeader(
        uint64_t address, uint64_t semaphore, uint32_t value, bool flushes = true) :
        noc_address(address), semaphore_noc_address(semaphore), val(value), flush(flushes) {}
    uint64_t noc_address, semaphore_noc_address;
    uint32_t val;
    bool flush;
};
struct NocUnicastScatterCommandHeader {
    uint64_t noc_address[NOC_SCATTER_WRITE_MAX_CHUNKS] = {};
    uint16_t chunk_size[NOC_SCATTER_WRITE_MAX_CHUNKS - 1] = {};  // the last chunk has the rest
    uint8_t chunk_count, chunk_encoding = 0;
    TENSIM_INLINE NocUnicastScatterCommandHeader(
        std::initializer_list<uint64_t> addresses, std::initializer_list<uint16_t> sizes = {}) :
        NocUnicastScatterCommandHeader(addresses.begin(), sizes.begin(), addresses.size(), sizes.size()) {}
    TENSIM_INLINE NocUnicastScatterCommandHeader(const uint64_t* addresses, const uint16_t* sizes, uint8_t count) :
        NocUnicastScatterCommandHeader(addresses, sizes, count, count - 1) {}

private:
    TENSIM_INLINE NocUnicastScatterCommandHeader(
        const uint64_t* addresses, const uint16_t* sizes, uint32_t count, uint32_t size_count) :
        chunk_count(count) {
        for (uint32_t i = 0; i < count; i++) noc_address[i] = addresses[i];
        for (uint32_t i = 0; i < size_count; i++) chunk_size[i] = sizes[i];
    }
};
struct NocUnicastScatterAtomicIncFusedCommandHeader {
    uint64_t noc_address[NOC_SCATTER_WRITE_ATOMIC_INC_FUSED_WRITE_CHUNKS];
    uint64_t semaphore_noc_address;
    uint16_t chunk_size[NOC_SCATTER_WRITE_ATOMIC_INC_FUSED_WRITE_CHUNKS - 1];
    uint16_t val;
    bool flush;
    TENSIM_INLINE NocUnicastScatterAtomicIncFusedCommandHeader(
        std::initializer_list<uint64_t> addresses, uint64_t semaphore, std::initializer_list<uint16_t> sizes,
        uint16_t value, bool flushes = true) :
        noc_address{addresses.begin()[0], addresses.begin()[1]}, semaphore_noc_address(semaphore),
        chunk_size{sizes.begin()[0]}, val(value), flush(flushes) {}
};
struct NocMulticastCommandHeader {
    uint32_t address;
    uint8_t noc_x_start, noc_y_start, mcast_rect_size_x, mcast_rect_size_y;
};
struct NocMulticastAtomicIncCommandHeader {
    uint32_t address, val;
    uint8_t noc_x_start, noc_y_start, size_x, size_y;
};
struct NocSparseMulticastWriteCommandHeader {
    uint64_t noc_address[NOC_SPARSE_MCAST_WRITE_MAX_DESTS];
    uint8_t counts[NOC_SPARSE_MCAST_WRITE_MAX_DESTS], num_dests, num_chips, write_idx, chip_idx;
};

// --- a header, as routers read it

struct InlineFields {
    uint64_t noc_address, unused;
    uint32_t value;
};
struct AtomicIncFields {
    uint64_t noc_address, unused;
    uint32_t val;
    bool flush;
};
struct FusedFields {
    uint64_t noc_address, semaphore_noc_address;
    uint32_t val;
    bool flush;
};
struct ScatterFields {
    uint64_t noc_address[NOC_SCATTER_WRITE_MAX_CHUNKS];
    uint16_t chunk_size[NOC_SCATTER_WRITE_MAX_CHUNKS - 1];
    uint8_t chunk_count, chunk_encoding;
};
union NocCommandFields {
    NocUnicastCommandHeader unicast_write, unicast_read;
    InlineFields unicast_inline_write;
    AtomicIncFields unicast_seminc;
    FusedFields unicast_seminc_fused;
    ScatterFields unicast_scatter_write;
    NocMulticastCommandHeader mcast_write;
    NocMulticastAtomicIncCommandHeader mcast_seminc;
};
struct RoutingFields {
    uint32_t value;
};
using LowLatencyRoutingFields = RoutingFields;
using LowLatencyMeshRoutingFields = RoutingFields;

template <class Header>
struct PacketHeaderBase {
    NocCommandFields command_fields;
    uint16_t payload_size_bytes;
    NocSendType noc_send_type;
    uint8_t src_ch_id;
    RoutingFields routing_fields;

    TENSIM_INLINE size_t get_payload_size_excluding_header() const volatile { return payload_size_bytes; }
    TENSIM_INLINE size_t get_payload_size_including_header() const volatile {
        return payload_size_bytes + sizeof(PacketHeaderBase);
    }
    TENSIM_INLINE NocSendType get_noc_send_type() const volatile { return noc_send_type; }
    TENSIM_INLINE const volatile NocCommandFields& get_command_fields() const volatile { return command_fields; }

    TENSIM_INLINE volatile Header* to_chip_unicast(uint8_t hops) volatile {
        routing_fields.value = hops | 1 << 8;
        return self();
    }
    TENSIM_INLINE volatile Header* to_chip_multicast(const MulticastRoutingCommandHeader& chips) volatile {
        routing_fields.value = chips.start_distance_in_hops | chips.range_hops << 8;
        return self();
    }
    template <class Chips>
    TENSIM_INLINE volatile Header* to_chip_sparse_multicast(const Chips& chips) volatile {
        routing_fields.value = tensim::fabric::SPARSE | chips.hop_mask;
        return self();
    }
    TENSIM_INLINE volatile Header* to_noc_unicast_write(const NocUnicastCommandHeader& command, size_t size) volatile {
        command_fields.unicast_write.noc_address = command.noc_address;
        return end(NOC_UNICAST_WRITE, size);
    }
    TENSIM_INLINE volatile Header* to_noc_unicast_inline_write(
        const NocUnicastInlineWriteCommandHeader& command) volatile {
        command_fields.unicast_inline_write.noc_address = command.noc_address;
        command_fields.unicast_inline_write.value = command.value;
        return end(NOC_UNICAST_INLINE_WRITE, 0);
    }
    TENSIM_INLINE volatile Header* to_noc_unicast_atomic_inc(
        const NocUnicastAtomicIncCommandHeader& command) volatile {
        command_fields.unicast_seminc.noc_address = command.noc_address;
        command_fields.unicast_seminc.val = command.val;
        command_fields.unicast_seminc.flush = command.flush;
        return end(NOC_UNICAST_ATOMIC_INC, 0);
    }
    TENSIM_INLINE volatile Header* to_noc_fused_unicast_write_atomic_inc(
        const NocUnicastAtomicIncFusedCommandHeader& command, size_t size) volatile {
        auto& fields = command_fields.unicast_seminc_fused;
        fields.noc_address = command.noc_address;
        fields.semaphore_noc_address = command.semaphore_noc_address;
        fields.val = command.val;
        fields.flush = command.flush;
        return end(NOC_FUSED_UNICAST_ATOMIC_INC, size);
    }
    TENSIM_INLINE volatile Header* to_noc_unicast_scatter_write(
        const NocUnicastScatterCommandHeader& command, size_t size) volatile {
        auto& fields = command_fields.unicast_scatter_write;
        for (uint32_t i = 0; i < NOC_SCATTER_WRITE_MAX_CHUNKS; i++) fields.noc_address[i] = command.noc_address[i];
        for (uint32_t i = 0; i + 1 < NOC_SCATTER_WRITE_MAX_CHUNKS; i++) fields.chunk_size[i] = command.chunk_size[i];
        fields.chunk_count = command.chunk_count;
        fields.chunk_encoding = expand_encoding_to_all_chunks(CHUNK_ENCODING_UNICAST_WRITE);
        return end(NOC_UNICAST_SCATTER_WRITE, size);
    }
    TENSIM_INLINE volatile Header* to_noc_fused_unicast_scatter_write_atomic_inc(
        const NocUnicastScatterAtomicIncFusedCommandHeader& command, size_t size) volatile {
        auto& fields = command_fields.unicast_scatter_write;
        fields.noc_address[0] = command.noc_address[0];
        fields.noc_address[1] = command.noc_address[1];
        fields.noc_address[2] = command.semaphore_noc_address;
        fields.chunk_size[0] = command.chunk_size[0];
        fields.chunk_size[1] = size - command.chunk_size[0];
        fields.chunk_size[2] = command.val;
        fields.chunk_count = 3;
        fields.chunk_encoding = CHUNK_ENCODING_UNICAST_WRITE | CHUNK_ENCODING_UNICAST_WRITE << 2 |
                                (command.flush ? CHUNK_ENCODING_SEMINC_FLUSH : CHUNK_ENCODING_SEMINC_NO_FLUSH) << 4;
        return end(NOC_UNICAST_SCATTER_WRITE, size);
    }
    template <class Command>
    TENSIM_INLINE volatile Header* to_noc_multicast(const Command&, size_t) volatile {
        TENSIM_STOP_NOT_MODELLED("a multicast write of a router");
        return self();
    }
    template <class Command>
    TENSIM_INLINE volatile Header* to_noc_multicast_atomic_inc(const Command&, size_t) volatile {
        TENSIM_STOP_NOT_MODELLED("a multicast increment of a router");
        return self();
    }
    template <class Command>
    TENSIM_INLINE volatile Header* to_noc_sparse_mcast_write(const Command&, size_t) volatile {
        TENSIM_STOP_NOT_MODELLED("a write to another address on each chip");
        return self();
    }

private:
    TENSIM_INLINE volatile Header* self() volatile { return static_cast<volatile Header*>(this); }
    TENSIM_INLINE volatile Header* end(NocSendType type, size_t size) volatile {
        payload_size_bytes = size;
        noc_send_type = type;
        return self();
    }
};
struct LowLatencyPacketHeader : PacketHeaderBase<LowLatencyPacketHeader> {};
// In a mesh calls of their own set the route, and those that count hops change nothing.
struct HybridMeshPacketHeader : PacketHeaderBase<HybridMeshPacketHeader> {
    TENSIM_INLINE volatile HybridMeshPacketHeader* to_chip_unicast(uint8_t) volatile { return this; }
    TENSIM_INLINE volatile HybridMeshPacketHeader* to_chip_multicast(const MulticastRoutingCommandHeader&) volatile {
        return this;
    }
};
struct UDMHybridMeshPacketHeader : HybridMeshPacketHeader {};
using PacketHeader = LowLatencyPacketHeader;
static_assert(sizeof(LowLatencyPacketHeader) == tensim::fabric::HEADER_BYTES);
static_assert(offsetof(LowLatencyPacketHeader, payload_size_bytes) == 4 * tensim::fabric::PAYLOAD);
static_assert(offsetof(LowLatencyPacketHeader, routing_fields) == 4 * tensim::fabric::ROUTE);
static_assert(offsetof(FusedFields, semaphore_noc_address) == 4 * tensim::fabric::SECOND);
static_assert(offsetof(FusedFields, val) == 4 * tensim::fabric::VALUE);
static_assert(offsetof(InlineFields, value) == 4 * tensim::fabric::VALUE);
static_assert(offsetof(AtomicIncFields, flush) == 4 * tensim::fabric::FLAGS);
static_assert(offsetof(ScatterFields, chunk_size) == 4 * tensim::fabric::SIZES);
static_assert(offsetof(ScatterFields, chunk_count) == 4 * tensim::fabric::COUNT + 2);
}  // namespace tt::tt_fabric

#if defined(FABRIC_2D) || (defined(ROUTING_MODE) && (ROUTING_MODE & ROUTING_MODE_2D))
#define PACKET_HEADER_TYPE tt::tt_fabric::HybridMeshPacketHeader
#define ROUTING_FIELDS_TYPE tt::tt_fabric::LowLatencyMeshRoutingFields
#else
#define PACKET_HEADER_TYPE tt::tt_fabric::LowLatencyPacketHeader
#define ROUTING_FIELDS_TYPE tt::tt_fabric::LowLatencyRoutingFields
#endif
#define RECORD_FABRIC_HEADER(header)

// --- headers of a processor, in its worker's L1

struct PacketHeaderPool {
    using Header = volatile tt_l1_ptr PACKET_HEADER_TYPE*;
    static inline uint32_t used = 0, routes = 0;
    static inline std::pair<Header, uint8_t> header_table[tensim::fabric::area::HEADERS_EACH] = {};

    TENSIM_INLINE static void reset() { used = routes = 0; }
    TENSIM_INLINE static Header allocate_header(uint8_t count = 1) {
        using namespace tensim::fabric;
        if (used + count > area::HEADERS_EACH)
            tensim::post_fail_assert(TENSIM_TEXT("a processor has no room for so many packet headers"));
        uint32_t number = used + area::HEADERS_EACH * tensim::fabric::second_processor;
        auto first = reinterpret_cast<Header>(TENSIM_FABRIC_AREA + area::HEADERS + HEADER_BYTES * number);
        used += count;
        header_table[routes++] = {first, count};
        return first;
    }
    TENSIM_INLINE static uint8_t allocate_header_n(uint8_t count) {
        allocate_header(count);
        return routes - 1;
    }
    template <class Function>
    TENSIM_INLINE static void for_each_header(uint8_t route, Function&& function) {
        auto [header, count] = header_table[route];
        for (uint8_t i = 0; i < count; i++) function(header + i, i);
    }
    TENSIM_INLINE static uint8_t get_num_headers(uint8_t route) { return header_table[route].second; }
};

// --- routes

namespace tt::tt_fabric {
namespace tensim_routes {
TENSIM_INLINE uint32_t place(uint32_t field) { return tensim::fabric::word(field); }
struct Way {
    uint32_t north, south, east, west;
};
// Hops from this chip to another one of the mesh.
TENSIM_INLINE Way way_to(uint32_t chip) {
    using namespace tensim::fabric;
    uint32_t columns = place(area::COLUMNS), here = place(area::CHIP);
    int32_t rows = int32_t(chip / columns) - int32_t(here / columns);
    int32_t along = int32_t(chip % columns) - int32_t(here % columns);
    return {uint32_t(rows < 0 ? -rows : 0), uint32_t(rows > 0 ? rows : 0), uint32_t(along > 0 ? along : 0),
            uint32_t(along < 0 ? -along : 0)};
}
TENSIM_INLINE uint32_t mesh_route(const Way& way) {
    using namespace tensim::fabric;
    return MESH | way.north << (7 * layout_north) | way.south << (7 * layout_south) | way.east << (7 * layout_east) |
           way.west << (7 * layout_west);
}
}  // namespace tensim_routes
TENSIM_INLINE eth_chan_directions get_next_hop_router_direction(uint32_t, uint32_t chip) {
    auto way = tensim_routes::way_to(chip);
    return way.north ? NORTH : way.south ? SOUTH : way.east ? EAST : WEST;
}
TENSIM_INLINE bool fabric_set_unicast_route(volatile HybridMeshPacketHeader* header, uint16_t chip, uint16_t) {
    header->routing_fields.value = tensim_routes::mesh_route(tensim_routes::way_to(chip));
    return true;
}
TENSIM_INLINE void fabric_set_single_hop_unicast_route(
    volatile HybridMeshPacketHeader* header, uint16_t chip, uint16_t mesh) {
    fabric_set_unicast_route(header, chip, mesh);
}
template <bool target_as_dev = true, bool compressed = true>
TENSIM_INLINE bool fabric_set_unicast_route(volatile LowLatencyPacketHeader* header, uint16_t target) {
    uint32_t hops = target;
    if constexpr (target_as_dev) {
        auto way = tensim_routes::way_to(target);
        hops = way.north + way.south + way.east + way.west;
    }
    header->to_chip_unicast(hops);
    return true;
}
// Bits of the directions in which a packet leaves a chip.
struct Routing2DCodec {
    static constexpr uint8_t ACTION_EAST = 1, ACTION_WEST = 2, ACTION_NORTH = 4, ACTION_SOUTH = 8, ACTION_Z = 16;
    static constexpr uint8_t ACTION_LOCAL_DELIVER = 32, ACTION_ETH_MASK = 31;
    static constexpr uint8_t action_bit(eth_chan_directions direction) { return uint8_t(1u << direction); }
};
// Every chip on the way receives it, from this one on; returns the direction in which it leaves.
TENSIM_INLINE uint8_t fabric_set_2d_mcast_route(
    volatile HybridMeshPacketHeader* header, uint16_t, uint16_t, uint16_t east, uint16_t west, uint16_t north,
    uint16_t south) {
    header->routing_fields.value = tensim_routes::mesh_route({north, south, east, west}) | tensim::fabric::EVERYONE;
    return Routing2DCodec::action_bit(north ? NORTH : south ? SOUTH : east ? EAST : WEST);
}
TENSIM_INLINE void fabric_set_mcast_route(
    volatile HybridMeshPacketHeader* header, uint16_t chip, uint16_t mesh, uint16_t east, uint16_t west,
    uint16_t north, uint16_t south) {
    fabric_set_2d_mcast_route(header, chip, mesh, east, west, north, south);
}
template <class Header>
TENSIM_INLINE bool is_valid(const Header& header) {
    return header.get_noc_send_type() >= NOC_UNICAST_WRITE && header.get_noc_send_type() <= NOC_UNICAST_SCATTER_WRITE;
}
template <class HopMask>
TENSIM_INLINE void fabric_set_sparse_multicast_route(volatile LowLatencyPacketHeader* header, HopMask hops) {
    header->to_chip_sparse_multicast(SparseMulticastRoutingCommandHeader<LowLatencyPacketHeader>{uint16_t(hops)});
}
}  // namespace tt::tt_fabric
