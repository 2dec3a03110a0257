#include "read_tiles.hpp"

// MB3: for each step of K a column of A (`mt` tiles) and a row of B (`nt` tiles), a barrier behind each.
void kernel_main() {
    constexpr uint32_t mt = get_compile_time_arg_val(0), nt = get_compile_time_arg_val(1), kt = get_compile_time_arg_val(2);
    constexpr uint32_t cb_a = 0, cb_b = 1;
    constexpr auto a_args = TensorAccessorArgs<3>();
    constexpr auto b_args = TensorAccessorArgs<a_args.next_compile_time_args_offset()>();
    const auto a = TensorAccessor(a_args, get_arg_val<uint32_t>(0), get_tile_size(cb_a));
    const auto b = TensorAccessor(b_args, get_arg_val<uint32_t>(1), get_tile_size(cb_b));
    for (uint32_t k = 0; k < kt; k++) {
        read_tiles(cb_a, a, k, kt, mt);
        read_tiles(cb_b, b, k * nt, 1, nt);
    }
}
