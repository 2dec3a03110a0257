// The factor of the mean of a row of W tiles, and a tile of zeros, where the method needs them.

#include "../library/fill.h"

constexpr uint32_t cb_scaler = 1;
constexpr uint32_t cb_zeros = 2;
constexpr uint32_t tile_width = 32;

void kernel_main() {
    constexpr uint32_t width = get_compile_time_arg_val(0);
    constexpr bool scaler = get_compile_time_arg_val(1);
    constexpr bool zeros = get_compile_time_arg_val(2);
    if constexpr (scaler) {
        push_scaler<cb_scaler>(1.0f / float(tile_width * width));
    }
    if constexpr (zeros) {
        push_zero_tile<cb_zeros>();
    }
}
