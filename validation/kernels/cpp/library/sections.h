// What compute kernels share: publishing tiles that are in L1 already, handing over a section of Dst.
#pragma once

#include <cstdint>

#include "api/compute/common.h"
#include "api/compute/pack.h"

constexpr uint32_t dest_limit = DST_ACCUM_MODE ? 4 : 8;  // tiles of a section

// Hand over the tiles of a buffer that lies on a tensor.
inline void arm(uint32_t cb, uint32_t tiles) {
    cb_reserve_back(cb, tiles);
    cb_push_back(cb, tiles);
}

// Take finished tiles off a buffer, so that the next iteration has room.
inline void drain(uint32_t cb, uint32_t tiles) {
    cb_wait_front(cb, tiles);
    cb_pop_front(cb, tiles);
}

// Finish a section: its first tile goes to the back of a buffer.
inline void pack_first(uint32_t cb) {
    tile_regs_commit();
    tile_regs_wait();
    cb_reserve_back(cb, 1);
    pack_tile(0, cb);
    cb_push_back(cb, 1);
    tile_regs_release();
}
