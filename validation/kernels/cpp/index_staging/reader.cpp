// Elements of a row by index: the row is brought into L1 first, or 32 bytes around each element are.

#include <cstdint>

#include "api/dataflow/dataflow_api.h"

constexpr uint32_t cb_index = 0;
constexpr uint32_t cb_pieces = 1;
constexpr uint32_t cb_row = 2;
constexpr uint32_t cb_out = 16;
constexpr uint32_t source_page_bytes = get_compile_time_arg_val(0);
constexpr uint32_t index_page_bytes = get_compile_time_arg_val(1);
constexpr uint32_t element_bytes = get_compile_time_arg_val(2);
constexpr uint32_t piece_bytes = get_compile_time_arg_val(3);
constexpr uint32_t width = get_compile_time_arg_val(4);
constexpr uint32_t kernel_iters = get_compile_time_arg_val(5);
constexpr bool staged = get_compile_time_arg_val(6);
constexpr uint32_t piece_elements = piece_bytes / element_bytes;

void kernel_main() {
    constexpr auto source_args = TensorAccessorArgs<7>();
    constexpr auto index_args = TensorAccessorArgs<source_args.next_compile_time_args_offset()>();
    const auto source = TensorAccessor(source_args, get_arg_val<uint32_t>(0), source_page_bytes);
    const auto index_pages = TensorAccessor(index_args, get_arg_val<uint32_t>(1), index_page_bytes);
    const uint32_t first_row = get_arg_val<uint32_t>(2);
    const uint32_t rows = get_arg_val<uint32_t>(3);

    for (uint32_t iteration = 0; iteration < kernel_iters; iteration++) {
        for (uint32_t row = first_row; row < first_row + rows; row++) {
            cb_reserve_back(cb_index, 1);
            noc_async_read(index_pages.get_noc_addr(row), get_write_ptr(cb_index), index_page_bytes);
            noc_async_read_barrier();
            cb_push_back(cb_index, 1);
            cb_wait_front(cb_index, 1);
            auto index = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_read_ptr(cb_index));

            cb_reserve_back(cb_out, 1);
            auto out = reinterpret_cast<volatile tt_l1_ptr uint16_t*>(get_write_ptr(cb_out));
            const uint64_t base = source.get_noc_addr(row);
            if constexpr (staged) {
                cb_reserve_back(cb_row, 1);
                noc_async_read(base, get_write_ptr(cb_row), source_page_bytes);
                noc_async_read_barrier();
                cb_push_back(cb_row, 1);
                cb_wait_front(cb_row, 1);
                auto elements = reinterpret_cast<volatile tt_l1_ptr uint16_t*>(get_read_ptr(cb_row));
                for (uint32_t i = 0; i < width; i++) {
                    out[i] = elements[index[i]];
                }
                cb_pop_front(cb_row, 1);
            } else {
                cb_reserve_back(cb_pieces, 1);
                const uint32_t l1 = get_write_ptr(cb_pieces);
                for (uint32_t i = 0; i < width; i++) {
                    noc_async_read(base + index[i] / piece_elements * piece_bytes, l1 + i * piece_bytes, piece_bytes);
                }
                noc_async_read_barrier();
                cb_push_back(cb_pieces, 1);
                cb_wait_front(cb_pieces, 1);
                auto elements = reinterpret_cast<volatile tt_l1_ptr uint16_t*>(get_read_ptr(cb_pieces));
                for (uint32_t i = 0; i < width; i++) {
                    out[i] = elements[i * piece_elements + index[i] % piece_elements];
                }
                cb_pop_front(cb_pieces, 1);
            }
            cb_push_back(cb_out, 1);
            cb_pop_front(cb_index, 1);
        }
    }
}
