// An out block written as its subblocks come from the packer, without tiles beyond (rows, columns).

#pragma once

#include <cstdint>

#include "dataflow_api.h"

constexpr uint32_t cb_out = 16;

// (row0, column0): tile position of the block in the output; `pitch`: tiles in a row of the output.
template <uint32_t block_h, uint32_t block_w, uint32_t subblock_h, uint32_t subblock_w, uint32_t pitch>
inline void write_out_block(
    const InterleavedAddrGenFast<true>& destination, uint32_t row0, uint32_t column0, int32_t rows, int32_t columns) {
    constexpr uint32_t subblock_tiles = subblock_h * subblock_w;
    constexpr uint32_t tile_bytes = get_tile_size(cb_out);
    for (uint32_t sub_row = 0; sub_row < block_h; sub_row += subblock_h) {
        for (uint32_t sub_column = 0; sub_column < block_w; sub_column += subblock_w) {
            cb_wait_front(cb_out, subblock_tiles);
            uint32_t address = get_read_ptr(cb_out);
            for (uint32_t row = sub_row; row < sub_row + subblock_h; row++) {
                for (uint32_t column = sub_column; column < sub_column + subblock_w; column++) {
                    if (static_cast<int32_t>(row) < rows && static_cast<int32_t>(column) < columns) {
                        noc_async_write_tile((row0 + row) * pitch + column0 + column, destination, address);
                    }
                    address += tile_bytes;
                }
            }
            noc_async_writes_flushed();
            cb_pop_front(cb_out, subblock_tiles);
        }
    }
}
