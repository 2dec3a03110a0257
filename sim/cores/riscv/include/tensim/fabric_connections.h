// Several connections of a worker: both ways of a line, or one to each neighbour.
#pragma once
#include "tensim/fabric_sender.h"

class FabricConnectionManager final {
public:
    using Sender = tt::tt_fabric::WorkerToFabricEdmSender;
    enum BuildFromArgsMode : uint8_t { BUILD_ONLY, BUILD_AND_OPEN_CONNECTION, BUILD_AND_OPEN_CONNECTION_START_ONLY };

    // Arguments: of each way 1 and those of its sender, or 0.
    template <BuildFromArgsMode mode = BUILD_ONLY>
    TENSIM_INLINE static FabricConnectionManager build_from_args(size_t& argument) {
        FabricConnectionManager built;
        for (uint32_t way = 0; way < 2; way++) {
            built.connected_[way] = get_arg_val<uint32_t>(argument++) != 0;
            if (!built.connected_[way]) continue;
            built.senders_[way] = Sender::build_from_args<ProgrammableCoreType::TENSIX>(argument);
            if constexpr (mode != BUILD_ONLY) built.senders_[way].open_start();
        }
        if constexpr (mode == BUILD_AND_OPEN_CONNECTION) built.open_finish();
        return built;
    }
    TENSIM_INLINE bool is_logically_connected() const { return connected_[0] || connected_[1]; }
    TENSIM_INLINE bool has_forward_connection() const { return connected_[0]; }
    TENSIM_INLINE bool has_backward_connection() const { return connected_[1]; }
    TENSIM_INLINE Sender& get_forward_connection() { return senders_[0]; }
    TENSIM_INLINE Sender& get_backward_connection() { return senders_[1]; }
    template <bool sends_address = false>
    TENSIM_INLINE void open() {
        each([](Sender& sender) { sender.open_start<sends_address>(); });
        open_finish();
    }
    TENSIM_INLINE void open_finish() {
        each([](Sender& sender) { sender.open_finish(); });
    }
    TENSIM_INLINE void close_start() {
        each([](Sender& sender) { sender.close_start(); });
    }
    TENSIM_INLINE void close_finish() {
        each([](Sender& sender) { sender.close_finish(); });
    }
    TENSIM_INLINE void close() {
        close_start();
        close_finish();
    }

private:
    template <class Function>
    TENSIM_INLINE void each(Function&& function) {
        if (connected_[0]) function(senders_[0]);
        if (connected_[1]) function(senders_[1]);
    }
    Sender senders_[2];
    bool connected_[2] = {};
};

#ifndef TT_FABRIC_MAX_ROUTING_PLANE_CONNECTIONS
#define TT_FABRIC_MAX_ROUTING_PLANE_CONNECTIONS 4
#endif

namespace tt::tt_fabric {
class RoutingPlaneConnectionManager final {
public:
    static constexpr size_t MaxConnections = TT_FABRIC_MAX_ROUTING_PLANE_CONNECTIONS;
    using Sender = WorkerToFabricEdmSender;
    enum BuildFromArgsMode : uint8_t { BUILD_ONLY, BUILD_AND_OPEN_CONNECTION, BUILD_AND_OPEN_CONNECTION_START_ONLY };
    struct ConnectionSlot {
        Sender sender;
        uint8_t tag;
#ifdef FABRIC_2D
        uint16_t dst_dev_id, dst_mesh_id;
#endif
    };
#ifdef FABRIC_2D
    uint16_t my_mesh_id, my_chip_id;
#endif

    // Arguments: of each connection a tag and those of its sender; in a mesh also this chip and mesh, and those at the other ends.
    template <
        BuildFromArgsMode mode = BUILD_ONLY, uint8_t noc = get_fabric_worker_noc(), bool are_addresses = false>
    TENSIM_INLINE static RoutingPlaneConnectionManager build_from_args(size_t& argument, uint32_t count) {
        RoutingPlaneConnectionManager built;
        built.count_ = count;
        for (uint32_t i = 0; i < count; i++) {
            built.slots_[i].tag = get_arg_val<uint32_t>(argument++);
            built.slots_[i].sender = Sender::build_from_args<ProgrammableCoreType::TENSIX, are_addresses>(argument);
            if constexpr (mode != BUILD_ONLY) built.slots_[i].sender.template open_start<false, false, noc>();
        }
        if constexpr (mode == BUILD_AND_OPEN_CONNECTION) built.template open_finish<noc>();
#ifdef FABRIC_2D
        built.my_chip_id = get_arg_val<uint32_t>(argument++);
        built.my_mesh_id = get_arg_val<uint32_t>(argument++);
        for (uint32_t i = 0; i < count; i++) {
            built.slots_[i].dst_dev_id = get_arg_val<uint32_t>(argument++);
            built.slots_[i].dst_mesh_id = get_arg_val<uint32_t>(argument++);
        }
#endif
        return built;
    }
    TENSIM_INLINE uint32_t get_tag(uint32_t index) const { return slots_[index].tag; }
    TENSIM_INLINE ConnectionSlot& get(uint32_t index) { return slots_[index]; }
    TENSIM_INLINE const ConnectionSlot& get(uint32_t index) const { return slots_[index]; }
    TENSIM_INLINE uint32_t active_count() const { return count_; }
    template <class Function>
    TENSIM_INLINE void for_each(Function&& function) {
        for (uint32_t i = 0; i < count_; i++) function(slots_[i].sender, i, slots_[i].tag);
    }
    template <bool sends_address = false, uint8_t noc = get_fabric_worker_noc()>
    TENSIM_INLINE void open_start() {
        for_each([](Sender& sender, uint32_t, uint32_t) { sender.open_start<sends_address, false, noc>(); });
    }
    template <uint8_t noc = get_fabric_worker_noc()>
    TENSIM_INLINE void open_finish() {
        for_each([](Sender& sender, uint32_t, uint32_t) { sender.open_finish<false, noc>(); });
    }
    template <bool sends_address = false, uint8_t noc = get_fabric_worker_noc()>
    TENSIM_INLINE void open() {
        open_start<sends_address, noc>();
        open_finish<noc>();
    }
    template <uint8_t noc = get_fabric_worker_noc()>
    TENSIM_INLINE void close_start() {
        for_each([](Sender& sender, uint32_t, uint32_t) { sender.close_start<false, noc>(); });
    }
    template <uint8_t noc = get_fabric_worker_noc()>
    TENSIM_INLINE void close_finish() {
        for_each([](Sender& sender, uint32_t, uint32_t) { sender.close_finish<false, noc>(); });
    }
    template <uint8_t noc = get_fabric_worker_noc()>
    TENSIM_INLINE void close() {
        close_start<noc>();
        close_finish<noc>();
    }

private:
    std::array<ConnectionSlot, MaxConnections> slots_{};
    uint32_t count_ = 0;
};
}  // namespace tt::tt_fabric

// --- packets to the pages of a tensor

namespace tt::tt_fabric {
namespace linear {
namespace addrgen_detail {
template <class Pages>
TENSIM_INLINE uint32_t get_page_size(const Pages& pages) {
    if constexpr (requires { pages.aligned_page_size; }) return pages.aligned_page_size;
    else if constexpr (requires { pages.CONSTANT_ARGS.page_size_jump; }) return pages.CONSTANT_ARGS.page_size_jump;
    else return tensim::page_size_of(pages);
}
template <class Pages>
TENSIM_INLINE uint64_t get_noc_address(const Pages& pages, uint32_t id, uint32_t offset = 0) {
    return pages.get_noc_addr(id, offset, edm_to_local_chip_noc);
}
}  // namespace addrgen_detail
template <class Pages>
TENSIM_INLINE void to_noc_unicast_write(
    uint32_t size, volatile PACKET_HEADER_TYPE* header, uint32_t id, const Pages& pages, uint32_t offset = 0) {
    header->to_noc_unicast_write(NocUnicastCommandHeader{addrgen_detail::get_noc_address(pages, id, offset)}, size);
}
template <class Pages>
TENSIM_INLINE void to_noc_unicast_write(
    volatile PACKET_HEADER_TYPE* header, uint32_t id, const Pages& pages, uint32_t offset = 0) {
    to_noc_unicast_write(addrgen_detail::get_page_size(pages), header, id, pages, offset);
}
template <class Pages>
TENSIM_INLINE void to_noc_fused_unicast_write_atomic_inc(
    uint32_t size, volatile PACKET_HEADER_TYPE* header, const NocUnicastAtomicIncCommandHeader& increment, uint32_t id,
    const Pages& pages, uint32_t offset = 0) {
    header->to_noc_fused_unicast_write_atomic_inc(
        {addrgen_detail::get_noc_address(pages, id, offset), increment.noc_address, increment.val, increment.flush}, size);
}
template <class Pages>
TENSIM_INLINE void to_noc_fused_unicast_write_atomic_inc(
    volatile PACKET_HEADER_TYPE* header, const NocUnicastAtomicIncCommandHeader& increment, uint32_t id,
    const Pages& pages, uint32_t offset = 0) {
    to_noc_fused_unicast_write_atomic_inc(addrgen_detail::get_page_size(pages), header, increment, id, pages, offset);
}
template <class Pages>
TENSIM_INLINE void to_noc_unicast_scatter_write(
    uint32_t size, volatile PACKET_HEADER_TYPE* header, uint32_t first, uint32_t second, const Pages& pages,
    uint32_t first_offset = 0, uint32_t second_offset = 0) {
    header->to_noc_unicast_scatter_write(
        NocUnicastScatterCommandHeader(
            {addrgen_detail::get_noc_address(pages, first, first_offset),
             addrgen_detail::get_noc_address(pages, second, second_offset)},
            {uint16_t(size)}),
        2 * size);
}
template <class Pages>
TENSIM_INLINE void to_noc_unicast_scatter_write(
    volatile PACKET_HEADER_TYPE* header, uint32_t first, uint32_t second, const Pages& pages, uint32_t first_offset = 0,
    uint32_t second_offset = 0) {
    to_noc_unicast_scatter_write(
        addrgen_detail::get_page_size(pages), header, first, second, pages, first_offset, second_offset);
}
template <class Pages>
TENSIM_INLINE void to_noc_sparse_mcast_write(
    uint32_t, volatile PACKET_HEADER_TYPE* header, const uint32_t*, uint8_t, const uint8_t*, uint8_t, const Pages&,
    uint32_t = 0) {
    header->to_noc_sparse_mcast_write(NocSparseMulticastWriteCommandHeader{}, 0);
}
}  // namespace linear
namespace addrgen_detail = linear::addrgen_detail;
}  // namespace tt::tt_fabric
