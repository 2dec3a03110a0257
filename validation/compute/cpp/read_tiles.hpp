#pragma once
#include "dataflow_api.h"

// `tiles` tiles from DRAM, every `stride` of them, into a circular buffer; a barrier behind them.
template <typename Source>
void read_tiles(uint32_t cb, const Source& source, uint32_t first, uint32_t stride, uint32_t tiles) {
    cb_reserve_back(cb, tiles);
    uint32_t address = get_write_ptr(cb);
    for (uint32_t i = 0; i < tiles; i++) {
        noc_async_read_tile(first + i * stride, source, address);
        address += get_tile_size(cb);
    }
    noc_async_read_barrier();
    cb_push_back(cb, tiles);
}
