// Blocks multicast from one core to many: the handshake of sender and receivers.

#pragma once

#include <cstdint>

#include "dataflow_api.h"

using Semaphore32 = volatile tt_l1_ptr uint32_t*;

struct Rectangle {
    uint32_t x0, y0, x1, y1;
    uint64_t at(uint32_t address) const { return get_noc_multicast_addr(x0, y0, x1, y1, address); }
};

// Multicast `nbytes` of L1 from `start` to the same address of the receivers, once all are ready.
// With `flush`, block and value leave by separate queues, so the block must have left before the value is issued.
inline void send_block(
    uint32_t start, uint32_t nbytes, uint32_t ready, uint32_t received, uint32_t receivers, const Rectangle& to, bool flush) {
    noc_semaphore_wait(reinterpret_cast<Semaphore32>(ready), receivers);
    noc_semaphore_set(reinterpret_cast<Semaphore32>(ready), 0);
    noc_async_write_multicast(start, to.at(start), nbytes, receivers, true);
    if (flush) {
        noc_async_writes_flushed();
    }
    noc_semaphore_set_multicast(received, to.at(received), receivers);
}

// Tell the sender that there is space and wait for its block.
inline void receive_block(uint64_t sender_ready, uint32_t received) {
    noc_semaphore_set(reinterpret_cast<Semaphore32>(received), 0);
    noc_semaphore_inc(sender_ready, 1);
    noc_semaphore_wait(reinterpret_cast<Semaphore32>(received), 1);
}
