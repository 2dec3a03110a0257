// All pages of a tensor, `stride` apart: each walk visits every stride-th page, the next one starts a page later.
// The first halfword of every page goes into a sum.

#include <cstdint>

#include "api/dataflow/dataflow_api.h"

constexpr uint32_t cb_pages = 0;
constexpr uint32_t cb_sum = 1;
constexpr uint32_t page_bytes = get_compile_time_arg_val(0);
constexpr uint32_t pages = get_compile_time_arg_val(1);
constexpr uint32_t stride = get_compile_time_arg_val(2);
constexpr uint32_t walks = get_compile_time_arg_val(3);
constexpr uint32_t walk_length = get_compile_time_arg_val(4);
constexpr uint32_t block = get_compile_time_arg_val(5);
constexpr uint32_t kernel_iters = get_compile_time_arg_val(6);
constexpr uint32_t sum_words = 8;

void kernel_main() {
    constexpr auto source_args = TensorAccessorArgs<7>();
    constexpr auto target_args = TensorAccessorArgs<source_args.next_compile_time_args_offset()>();
    const auto source = TensorAccessor(source_args, get_arg_val<uint32_t>(0), page_bytes);
    const auto target = TensorAccessor(target_args, get_arg_val<uint32_t>(1), 4 * sum_words);

    uint32_t sum = 0;
    for (uint32_t iteration = 0; iteration < kernel_iters; iteration++) {
        sum = 0;
        uint32_t base = 0, page = 0, position = 0, done = 0;
        while (done < pages) {
            const uint32_t now = pages - done < block ? pages - done : block;
            cb_reserve_back(cb_pages, block);
            const uint32_t l1 = get_write_ptr(cb_pages);
            for (uint32_t i = 0; i < now; i++) {
                noc_async_read(source.get_noc_addr(page), l1 + i * page_bytes, page_bytes);
                page += stride;
                if (page >= pages) {
                    page -= pages;
                }
                position++;
                if (position == walk_length) {
                    position = 0;
                    base++;
                    page = base;
                }
                done++;
            }
            noc_async_read_barrier();
            for (uint32_t i = 0; i < now; i++) {
                sum += *reinterpret_cast<volatile tt_l1_ptr uint16_t*>(l1 + i * page_bytes);
            }
        }
    }

    cb_reserve_back(cb_sum, 1);
    const uint32_t result = get_write_ptr(cb_sum);
    auto words = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(result);
    for (uint32_t i = 0; i < sum_words; i++) {
        words[i] = 0;
    }
    words[0] = sum;
    noc_async_write(result, target.get_noc_addr(0), 4 * sum_words);
    noc_async_write_barrier();
}
