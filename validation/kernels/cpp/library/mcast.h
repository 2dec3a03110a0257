// Multicasts of one core of a rectangle to all others, with a handshake: receivers say that they are ready, the sender's
// data are followed by a flag.  Data go to the place at which they lie with the sender.
#pragma once

#include <cstdint>

#include "api/dataflow/dataflow_api.h"
#include "api/dataflow/noc.h"
#include "api/dataflow/noc_semaphore.h"

struct Rectangle {
    uint32_t x0, y0, x1, y1, receivers;
};

class McastPipe {
public:
    static constexpr uint32_t INVALID_DATA = 0, VALID_DATA = 1;

    McastPipe(uint32_t data_ready, uint32_t consumer_ready, const Rectangle& rectangle, bool rotating) :
        data_ready_(data_ready), consumer_ready_(consumer_ready), rectangle_(rectangle), rotating_(rotating) {}

    void send(uint32_t address, uint32_t bytes) {
        consumer_ready_.wait(rectangle_.receivers);
        consumer_ready_.set(0);
        const Rectangle& r = rectangle_;
        while (bytes > 0) {
            const uint32_t now = bytes < NOC_MAX_BURST_SIZE ? bytes : NOC_MAX_BURST_SIZE;
            const uint64_t target = get_noc_multicast_addr(r.x0, r.y0, r.x1, r.y1, address);
            noc_async_write_multicast(address, target, now, r.receivers, true);
            address += now;
            bytes -= now;
        }
        data_ready_.set(VALID_DATA);
        data_ready_.set_multicast(noc_, r.x0, r.y0, r.x1, r.y1, r.receivers);
        noc_async_writes_flushed();
        if (rotating_) {
            data_ready_.set(INVALID_DATA);
        }
    }

    void receive(uint32_t sender_x, uint32_t sender_y) {
        consumer_ready_.up(noc_, sender_x, sender_y, 1);
        data_ready_.wait(VALID_DATA);
        data_ready_.set(INVALID_DATA);
    }

private:
    Noc noc_;
    Semaphore<> data_ready_, consumer_ready_;
    Rectangle rectangle_;
    bool rotating_;
};
