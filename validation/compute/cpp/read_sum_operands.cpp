#include "read_tiles.hpp"

// MB2: the first block of `tiles` tiles, the initial value, then the other blocks, each with one barrier.
void kernel_main() {
    constexpr uint32_t tiles = get_compile_time_arg_val(0), blocks = get_compile_time_arg_val(1);
    constexpr uint32_t cb_block = 0, cb_sum = 2;
    constexpr auto args = TensorAccessorArgs<2>();
    const auto source = TensorAccessor(args, get_arg_val<uint32_t>(0), get_tile_size(cb_block));
    for (uint32_t block = 0; block < blocks; block++) {
        read_tiles(cb_block, source, (block + 1) * tiles, 1, tiles);
        if (block == 0) {
            read_tiles(cb_sum, source, 0, 1, tiles);
        }
    }
}
