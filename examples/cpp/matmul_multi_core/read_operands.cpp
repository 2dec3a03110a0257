// For output tiles `first` ... (row-major): the row of A and the column of B, tile pair by tile pair.

#include <cstdint>

#include "dataflow_api.h"

constexpr uint32_t cb_a = 0;
constexpr uint32_t cb_b = 1;

void kernel_main() {
    const uint32_t a_address = get_arg_val<uint32_t>(0);
    const uint32_t b_address = get_arg_val<uint32_t>(1);
    const uint32_t k_tiles = get_arg_val<uint32_t>(2);
    const uint32_t n_tiles = get_arg_val<uint32_t>(3);
    const uint32_t first = get_arg_val<uint32_t>(4);
    const uint32_t count = get_arg_val<uint32_t>(5);

    const InterleavedAddrGenFast<true> a_source = {
        .bank_base_address = a_address, .page_size = get_tile_size(cb_a), .data_format = get_dataformat(cb_a)};
    const InterleavedAddrGenFast<true> b_source = {
        .bank_base_address = b_address, .page_size = get_tile_size(cb_b), .data_format = get_dataformat(cb_b)};

    for (uint32_t output = first; output < first + count; output++) {
        const uint32_t row = output / n_tiles;
        const uint32_t column = output % n_tiles;
        for (uint32_t k = 0; k < k_tiles; k++) {
            cb_reserve_back(cb_a, 1);
            cb_reserve_back(cb_b, 1);
            noc_async_read_tile(row * k_tiles + k, a_source, get_write_ptr(cb_a));
            noc_async_read_tile(k * n_tiles + column, b_source, get_write_ptr(cb_b));
            noc_async_read_barrier();
            cb_push_back(cb_a, 1);
            cb_push_back(cb_b, 1);
        }
    }
}
