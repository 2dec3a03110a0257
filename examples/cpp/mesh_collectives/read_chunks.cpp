// Bring the own tiles of each chunk, and of all but the first what has arrived of it, in the order in which they leave.

#include <cstdint>

#include "dataflow_api.h"

constexpr uint32_t cb_own = 0;
constexpr uint32_t cb_arrived = 1;

void kernel_main() {
    const uint32_t own_address = get_arg_val<uint32_t>(0);
    const uint32_t sums_address = get_arg_val<uint32_t>(1);
    auto arrived = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_arg_val<uint32_t>(2));
    const uint32_t chips = get_arg_val<uint32_t>(3);
    const uint32_t position = get_arg_val<uint32_t>(4);
    const uint32_t tiles = get_arg_val<uint32_t>(5);
    const uint32_t first = get_arg_val<uint32_t>(6);
    const uint32_t count = get_arg_val<uint32_t>(7);

    constexpr uint32_t page = get_tile_size(cb_own);
    const InterleavedAddrGenFast<true> own = {
        .bank_base_address = own_address, .page_size = page, .data_format = get_dataformat(cb_own)};
    const InterleavedAddrGenFast<true> sums = {
        .bank_base_address = sums_address, .page_size = page, .data_format = get_dataformat(cb_own)};
    for (uint32_t step = 0; step < chips; step++) {
        const uint32_t chunk = (position + 2 * chips - 1 - step) % chips;
        for (uint32_t i = 0; i < count; i++) {
            cb_reserve_back(cb_own, 1);
            noc_async_read_tile(chunk * tiles + first + i, own, get_write_ptr(cb_own));
            if (step > 0) {
                noc_semaphore_wait_min(arrived, (step - 1) * count + i + 1);
                cb_reserve_back(cb_arrived, 1);
                noc_async_read_tile((step - 1) * tiles + first + i, sums, get_write_ptr(cb_arrived));
            }
            noc_async_read_barrier();
            cb_push_back(cb_own, 1);
            if (step > 0) {
                cb_push_back(cb_arrived, 1);
            }
        }
    }
}
