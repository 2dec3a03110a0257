// Blocks of pages with several in flight: under one barrier for all of them, or each under an id of its own.

#include <cstdint>

#include "api/dataflow/dataflow_api.h"

constexpr uint32_t cb_pages = 0;

void kernel_main() {
    constexpr uint32_t page_bytes = get_compile_time_arg_val(0);
    constexpr uint32_t kernel_iters = get_compile_time_arg_val(1);
    constexpr uint32_t block = get_compile_time_arg_val(2);
    constexpr uint32_t num_trids = get_compile_time_arg_val(3);
    constexpr uint32_t cb_blocks = get_compile_time_arg_val(4);
    constexpr uint32_t ahead = get_compile_time_arg_val(5);
    constexpr auto source_args = TensorAccessorArgs<6>();
    constexpr uint32_t block_bytes = block * page_bytes;
    constexpr uint32_t cb_bytes = cb_blocks * block_bytes;

    const uint32_t address = get_arg_val<uint32_t>(0);
    const uint32_t first_page = get_arg_val<uint32_t>(1);
    const uint32_t count = get_arg_val<uint32_t>(2);
    const auto source = TensorAccessor(source_args, address, page_bytes);

    const uint32_t end = get_write_ptr(cb_pages) + cb_bytes;
    const uint32_t full = count / block;
    const uint32_t tail = count - full * block;

    // Place of the block that stands `blocks` behind `from`.
    auto slot = [=](uint32_t from, uint32_t blocks) {
        const uint32_t place = from + blocks * block_bytes;
        return place >= end ? place - cb_bytes : place;
    };
    auto issue = [=](uint32_t first, uint32_t pages, uint32_t target) {
        for (uint32_t i = 0; i < pages; i++) {
            noc_async_read(source.get_noc_addr(first_page + first + i), target + i * page_bytes, page_bytes);
        }
    };
    auto last = [=]() {
        if (tail > 0) {
            cb_reserve_back(cb_pages, tail);
            issue(full * block, tail, get_write_ptr(cb_pages));
            noc_async_read_barrier();
            cb_push_back(cb_pages, tail);
        }
    };

    if constexpr (num_trids == 0) {
        for (uint32_t iteration = 0; iteration < kernel_iters; iteration++) {
            uint32_t next = 0;
            while (next < full) {
                const uint32_t now = full - next < ahead ? full - next : ahead;
                cb_reserve_back(cb_pages, now * block);
                const uint32_t base = get_write_ptr(cb_pages);
                for (uint32_t i = 0; i < now; i++) {
                    issue((next + i) * block, block, slot(base, i));
                }
                noc_async_read_barrier();
                for (uint32_t i = 0; i < now; i++) {
                    cb_push_back(cb_pages, block);
                }
                next += now;
            }
            last();
        }
    } else {
        for (uint32_t iteration = 0; iteration < kernel_iters; iteration++) {
            for (uint32_t next = 0; next < full; next++) {
                const uint32_t id = next % num_trids + 1;
                if (next >= num_trids) {
                    noc_async_read_barrier_with_trid(id);
                    cb_push_back(cb_pages, block);
                }
                const uint32_t in_flight = next < num_trids ? next : num_trids - 1;
                cb_reserve_back(cb_pages, (in_flight + 1) * block);
                noc_async_read_set_trid(id);
                issue(next * block, block, slot(get_write_ptr(cb_pages), in_flight));
            }
            const uint32_t in_flight = full < num_trids ? full : num_trids;
            for (uint32_t i = 0; i < in_flight; i++) {
                noc_async_read_barrier_with_trid((full - in_flight + i) % num_trids + 1);
                cb_push_back(cb_pages, block);
            }
            last();
        }
        noc_async_read_barrier();
        noc_async_read_set_trid(0);
    }
}
