// The factor of a mean over N elements; a reduction along both dimensions applies it twice.

#include "../library/fill.h"

constexpr uint32_t cb_scaler = 1;
constexpr uint32_t dim_scalar = 2;

constexpr float square_root(float value) {
    float root = value;
    for (uint32_t step = 0; step < 40; step++) {
        root = (root + value / root) / 2;
    }
    return root;
}

void kernel_main() {
    constexpr uint32_t dim = get_compile_time_arg_val(0);
    constexpr uint32_t elements = get_compile_time_arg_val(1);
    constexpr float factor = dim == dim_scalar ? 1.0f / square_root(float(elements)) : 1.0f / float(elements);
    push_scaler<cb_scaler>(factor);
}
