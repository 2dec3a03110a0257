// Read two vectors into L1, add them word by word, write the sum back.  One page holds a whole vector.

#include <cstdint>

#include "dataflow_api.h"

constexpr uint32_t cb_a = 0;
constexpr uint32_t cb_b = 1;
constexpr uint32_t cb_sum = 2;

void kernel_main() {
    const uint32_t a_address = get_arg_val<uint32_t>(0);
    const uint32_t b_address = get_arg_val<uint32_t>(1);
    const uint32_t sum_address = get_arg_val<uint32_t>(2);
    const uint32_t count = get_arg_val<uint32_t>(3);

    const uint32_t page = count * sizeof(uint32_t);
    const InterleavedAddrGen<true> a_source = {.bank_base_address = a_address, .page_size = page};
    const InterleavedAddrGen<true> b_source = {.bank_base_address = b_address, .page_size = page};
    const InterleavedAddrGen<true> destination = {.bank_base_address = sum_address, .page_size = page};

    const uint32_t a_l1 = get_write_ptr(cb_a);
    const uint32_t b_l1 = get_write_ptr(cb_b);
    const uint32_t sum_l1 = get_write_ptr(cb_sum);
    noc_async_read_page(0, a_source, a_l1);
    noc_async_read_page(0, b_source, b_l1);
    noc_async_read_barrier();

    volatile tt_l1_ptr uint32_t* a = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(a_l1);
    volatile tt_l1_ptr uint32_t* b = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(b_l1);
    volatile tt_l1_ptr uint32_t* total = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(sum_l1);
    for (uint32_t i = 0; i < count; i++) {
        total[i] = a[i] + b[i];
    }
    noc_async_write_page(0, destination, sum_l1);
    noc_async_write_barrier();
}
