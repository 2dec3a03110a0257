// Sockets between workers of two chips, or of one: a ring buffer of the receiver that the sender writes into.
//
// Each side counts bytes, the sender those sent, the receiver those it has taken, and tells the other by writing its count into a
// word there: over the fabric, or over the NoC on one chip.  A page never wraps: what is behind the last whole page of the ring
// counts as sent and taken with that page.  Layouts and names are those of the host library (hostdev/socket.h of 0.81.1), which
// fills the configuration of both sides.  Sockets of the host (d2h, h2d) have no members here.
#pragma once
#include "tensim/fabric.h"

struct d2d_sender_socket_md {
    uint32_t downstream_mesh_id, downstream_chip_id, downstream_noc_y, downstream_noc_x;
};
struct sender_downstream_encoding {
    d2d_sender_socket_md d2d;
};
struct d2d_recv_socket_md {
    uint32_t upstream_mesh_id, upstream_chip_id, upstream_noc_y, upstream_noc_x, upstream_bytes_acked_addr;
};
struct SocketSenderInterface {
    uint32_t config_addr, write_ptr, bytes_sent, bytes_acked_base_addr, page_size, num_downstreams;
    uint32_t downstream_fifo_total_size, downstream_fifo_curr_size, downstream_fifo_addr, downstream_bytes_sent_addr, is_d2h;
    struct {
        uint32_t downstream_enc_base_addr;
    } d2d;
};
struct SocketReceiverInterface {
    uint32_t config_addr, read_ptr, bytes_acked, bytes_sent_addr, page_size, fifo_addr, fifo_total_size, fifo_curr_size, is_h2d;
    d2d_recv_socket_md d2d;
};

namespace tensim_sockets {
constexpr uint32_t BLOCK = 16;  // bytes of a count in L1, and of a receiver's place
constexpr uint32_t CONFIG = 32;  // of a sender's configuration, behind which counts of what was taken and places of receivers stand
// Words of both configurations
enum SenderWord { SENT, RECEIVERS, WRITE_AT, COUNTER_THERE, RING_THERE, RING_THERE_BYTES, TO_HOST };
enum ReceiverWord { ARRIVED, READ_AT, RING, RING_BYTES, TAKEN, FROM_HOST, MESH, CHIP, NOC_Y, NOC_X, COUNTER_OF_SENDER };

template <class Block>
TENSIM_INLINE volatile Block& at(uint32_t address) {
    return *reinterpret_cast<volatile Block*>(address);
}
// Bytes that a page takes at an offset of the ring, and the offset behind it.
TENSIM_INLINE uint32_t spent(uint32_t offset, uint32_t bytes, uint32_t used, uint32_t total) {
    return offset + bytes >= used ? bytes + total - used : bytes;
}
TENSIM_INLINE uint32_t behind(uint32_t offset, uint32_t bytes, uint32_t used) {
    return offset + bytes >= used ? offset + bytes - used : offset + bytes;
}
TENSIM_INLINE uint32_t rounded_up(uint32_t value, uint32_t unit) { return (value + unit - 1) / unit * unit; }
TENSIM_INLINE void wait_for_bytes(uint32_t counter, uint32_t from, uint32_t bytes) {
    while (at<uint32_t>(counter) - from < bytes) invalidate_l1_cache();
}

using Header = volatile tt_l1_ptr PACKET_HEADER_TYPE*;
// In a mesh a chip is named by its number, on a line by its distance.
TENSIM_INLINE void set_route(volatile tt::tt_fabric::HybridMeshPacketHeader* header, uint32_t chip, uint32_t mesh) {
    tt::tt_fabric::fabric_set_unicast_route(header, chip, mesh);
}
TENSIM_INLINE void set_route(volatile tt::tt_fabric::LowLatencyPacketHeader* header, uint32_t chip, uint32_t) {
    tt::tt_fabric::fabric_set_unicast_route<false>(header, chip);
}
TENSIM_INLINE void tell(
    tt::tt_fabric::WorkerToFabricEdmSender& connection, Header header, uint64_t counter, uint32_t count) {
    header->to_noc_unicast_inline_write(tt::tt_fabric::NocUnicastInlineWriteCommandHeader{counter, count});
    connection.wait_for_empty_write_slot();
    connection.send_payload_flush_blocking_from_address(
        uint32_t(reinterpret_cast<uintptr_t>(header)), sizeof(PACKET_HEADER_TYPE));
}
}  // namespace tensim_sockets

TENSIM_INLINE void fabric_set_unicast_route(tensim_sockets::Header header, const sender_downstream_encoding& receiver) {
    tensim_sockets::set_route(header, receiver.d2d.downstream_chip_id, receiver.d2d.downstream_mesh_id);
}
TENSIM_INLINE void fabric_set_unicast_route(tensim_sockets::Header header, const SocketReceiverInterface& socket) {
    tensim_sockets::set_route(header, socket.d2d.upstream_chip_id, socket.d2d.upstream_mesh_id);
}

// --- the sender

TENSIM_INLINE SocketSenderInterface create_sender_socket_interface(uint32_t config_addr) {
    using namespace tensim_sockets;
    volatile uint32_t* word = &at<uint32_t>(config_addr);
    ASSERT(word[TO_HOST] == 0);
    uint32_t counts = config_addr + CONFIG, receivers = word[RECEIVERS];
    return {config_addr, word[WRITE_AT], word[SENT], counts, 0, receivers, word[RING_THERE_BYTES], 0, word[RING_THERE],
            word[COUNTER_THERE], 0, {counts + receivers * BLOCK}};
}
TENSIM_INLINE sender_downstream_encoding get_downstream_encoding(const SocketSenderInterface& socket, uint32_t number) {
    auto& place = tensim_sockets::at<d2d_sender_socket_md>(
        socket.d2d.downstream_enc_base_addr + number * tensim_sockets::BLOCK);
    return {{place.downstream_mesh_id, place.downstream_chip_id, place.downstream_noc_y, place.downstream_noc_x}};
}
TENSIM_INLINE void set_sender_socket_page_size(SocketSenderInterface& socket, uint32_t page_size) {
    uint32_t total = socket.downstream_fifo_total_size, offset = tensim_sockets::rounded_up(socket.write_ptr, page_size);
    socket.page_size = page_size;
    socket.downstream_fifo_curr_size = total - total % page_size;
    if (offset >= socket.downstream_fifo_curr_size) {
        socket.bytes_sent += total - offset;
        offset = 0;
    }
    socket.write_ptr = offset;
}
TENSIM_INLINE void socket_reserve_pages(const SocketSenderInterface& socket, uint32_t num_pages) {
    uint32_t counter = socket.bytes_acked_base_addr;
    for (uint32_t number = 0; number < socket.num_downstreams; ++number, counter += tensim_sockets::BLOCK) {
        uint32_t needed = num_pages * socket.page_size;
        tensim_sockets::wait_for_bytes(counter, socket.bytes_sent - socket.downstream_fifo_total_size, needed);
    }
}
TENSIM_INLINE void socket_push_pages(SocketSenderInterface& socket, uint32_t num_pages) {
    uint32_t bytes = num_pages * socket.page_size, used = socket.downstream_fifo_curr_size;
    socket.bytes_sent += tensim_sockets::spent(socket.write_ptr, bytes, used, socket.downstream_fifo_total_size);
    socket.write_ptr = tensim_sockets::behind(socket.write_ptr, bytes, used);
}
TENSIM_INLINE void socket_notify_receiver(const SocketSenderInterface& socket, uint8_t noc = noc_index) {
    for (uint32_t number = 0; number < socket.num_downstreams; ++number) {
        auto place = get_downstream_encoding(socket, number).d2d;
        noc_inline_dw_write(
            get_noc_addr(place.downstream_noc_x, place.downstream_noc_y, socket.downstream_bytes_sent_addr, noc),
            socket.bytes_sent, 0xF, noc);
    }
}
TENSIM_INLINE void fabric_socket_notify_receiver(
    const SocketSenderInterface& socket,
    tt::tt_fabric::WorkerToFabricEdmSender& connection,
    tensim_sockets::Header header) {
    for (uint32_t number = 0; number < socket.num_downstreams; ++number) {
        auto place = get_downstream_encoding(socket, number);
        fabric_set_unicast_route(header, place);
        uint64_t counter =
            get_noc_addr(place.d2d.downstream_noc_x, place.d2d.downstream_noc_y, socket.downstream_bytes_sent_addr);
        tensim_sockets::tell(connection, header, counter, socket.bytes_sent);
    }
}
TENSIM_INLINE void socket_barrier(const SocketSenderInterface& socket) {
    uint32_t counter = socket.bytes_acked_base_addr;
    for (uint32_t number = 0; number < socket.num_downstreams; ++number, counter += tensim_sockets::BLOCK) {
        while (tensim_sockets::at<uint32_t>(counter) != socket.bytes_sent) invalidate_l1_cache();
    }
}
TENSIM_INLINE void update_socket_config(const SocketSenderInterface& socket) {
    volatile uint32_t* word = &tensim_sockets::at<uint32_t>(socket.config_addr);
    word[tensim_sockets::WRITE_AT] = socket.write_ptr;
    word[tensim_sockets::SENT] = socket.bytes_sent;
}

// --- the receiver

TENSIM_INLINE SocketReceiverInterface create_receiver_socket_interface(uint32_t config_addr) {
    using namespace tensim_sockets;
    volatile uint32_t* word = &at<uint32_t>(config_addr);
    ASSERT(word[FROM_HOST] == 0);
    return {config_addr, word[READ_AT], word[TAKEN], config_addr, 0, word[RING], word[RING_BYTES], 0, 0,
            {word[MESH], word[CHIP], word[NOC_Y], word[NOC_X], word[COUNTER_OF_SENDER]}};
}
TENSIM_INLINE void set_receiver_socket_page_size(SocketReceiverInterface& socket, uint32_t page_size) {
    uint32_t total = socket.fifo_total_size, offset = tensim_sockets::rounded_up(socket.read_ptr - socket.fifo_addr, page_size);
    socket.page_size = page_size;
    socket.fifo_curr_size = total - total % page_size;
    if (offset >= socket.fifo_curr_size) {
        tensim_sockets::wait_for_bytes(socket.bytes_sent_addr, socket.bytes_acked, total - offset);
        socket.bytes_acked += total - offset;
        offset = 0;
    }
    socket.read_ptr = socket.fifo_addr + offset;
}
// With a limit of looks: whether the pages were there at one of them.
TENSIM_INLINE bool socket_wait_for_pages(const SocketReceiverInterface& socket, uint32_t num_pages, uint32_t looks = 0) {
    uint32_t offset = socket.read_ptr - socket.fifo_addr, bytes = num_pages * socket.page_size;
    uint32_t needed = tensim_sockets::spent(offset, bytes, socket.fifo_curr_size, socket.fifo_total_size);
    if (looks == 0) {
        tensim_sockets::wait_for_bytes(socket.bytes_sent_addr, socket.bytes_acked, needed);
        return true;
    }
    for (uint32_t look = 0; look < looks; ++look) {
        invalidate_l1_cache();
        if (tensim_sockets::at<uint32_t>(socket.bytes_sent_addr) - socket.bytes_acked >= needed) return true;
    }
    return false;
}
TENSIM_INLINE void socket_pop_pages(SocketReceiverInterface& socket, uint32_t num_pages) {
    uint32_t offset = socket.read_ptr - socket.fifo_addr, bytes = num_pages * socket.page_size;
    socket.bytes_acked += tensim_sockets::spent(offset, bytes, socket.fifo_curr_size, socket.fifo_total_size);
    socket.read_ptr = socket.fifo_addr + tensim_sockets::behind(offset, bytes, socket.fifo_curr_size);
}
TENSIM_INLINE void fabric_socket_notify_sender_stateful(
    const SocketReceiverInterface& socket,
    tt::tt_fabric::WorkerToFabricEdmSender& connection,
    tensim_sockets::Header header,
    uint64_t counter) {
    tensim_sockets::tell(connection, header, counter, socket.bytes_acked);
}
TENSIM_INLINE void fabric_socket_notify_sender(
    const SocketReceiverInterface& socket,
    tt::tt_fabric::WorkerToFabricEdmSender& connection,
    tensim_sockets::Header header) {
    fabric_set_unicast_route(header, socket);
    uint64_t counter =
        get_noc_addr(socket.d2d.upstream_noc_x, socket.d2d.upstream_noc_y, socket.d2d.upstream_bytes_acked_addr);
    fabric_socket_notify_sender_stateful(socket, connection, header, counter);
}
TENSIM_INLINE void socket_notify_sender(const SocketReceiverInterface& socket, uint8_t noc = noc_index) {
    noc_inline_dw_write(
        get_noc_addr(socket.d2d.upstream_noc_x, socket.d2d.upstream_noc_y, socket.d2d.upstream_bytes_acked_addr, noc),
        socket.bytes_acked, 0xF, noc);
}
TENSIM_INLINE void update_socket_config(const SocketReceiverInterface& socket) {
    volatile uint32_t* word = &tensim_sockets::at<uint32_t>(socket.config_addr);
    word[tensim_sockets::READ_AT] = socket.read_ptr;
    word[tensim_sockets::TAKEN] = socket.bytes_acked;
}
