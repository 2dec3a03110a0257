// Fill framed blocks: iteration 0 from DRAM, later ones from the new blocks and the neighbours.
//
// (x, y) is the place of the core in the grid; runtime arguments 6 ... are the physical x, y of the neighbour above,
// below, left and right (the core itself where there is none).

#include <cstdint>

#include "dataflow_api.h"

constexpr uint32_t cb_state = 0;
constexpr uint32_t cb_coefficients = 1;
constexpr uint32_t cb_next = 16;
constexpr uint32_t zero_tile = 3;
constexpr uint32_t coefficient_tiles = 4;
enum : uint32_t { above = 0, below = 1, left = 2, right = 3 };  // semaphores, and pairs of runtime arguments from 6 on

struct Neighbour {
    uint32_t x, y;
    uint64_t at(uint32_t address) const { return get_noc_addr(x, y, address); }
};

static Neighbour neighbour(uint32_t side) {
    return {get_arg_val<uint32_t>(6 + 2 * side), get_arg_val<uint32_t>(7 + 2 * side)};
}

static volatile tt_l1_ptr uint32_t* halos_from(uint32_t side) {
    return reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_semaphore(side));
}

void kernel_main() {
    constexpr uint32_t rows = get_compile_time_arg_val(0);
    constexpr uint32_t columns = get_compile_time_arg_val(1);
    constexpr uint32_t grid_x = get_compile_time_arg_val(2);
    constexpr uint32_t grid_y = get_compile_time_arg_val(3);
    constexpr uint32_t page = get_tile_size(cb_state);
    constexpr uint32_t pitch = grid_x * columns;
    constexpr uint32_t frame_w = columns + 2;
    constexpr uint32_t frame_tiles = (rows + 2) * frame_w;
    constexpr uint32_t inner_bytes = columns * page;

    const uint32_t source_address = get_arg_val<uint32_t>(0);
    const uint32_t coefficient_address = get_arg_val<uint32_t>(1);
    const uint32_t state_address = get_arg_val<uint32_t>(2);
    const uint32_t x = get_arg_val<uint32_t>(3);
    const uint32_t y = get_arg_val<uint32_t>(4);
    const uint32_t iterations = get_arg_val<uint32_t>(5);

    const InterleavedAddrGenFast<true> source = {
        .bank_base_address = source_address, .page_size = page, .data_format = get_dataformat(cb_state)};
    const InterleavedAddrGenFast<true> coefficients = {
        .bank_base_address = coefficient_address, .page_size = page, .data_format = get_dataformat(cb_coefficients)};
    const bool has_above = y > 0;
    const bool has_below = y < grid_y - 1;
    const bool has_left = x > 0;
    const bool has_right = x < grid_x - 1;

    cb_reserve_back(cb_coefficients, coefficient_tiles);
    const uint32_t coefficients_l1 = get_write_ptr(cb_coefficients);
    for (uint32_t i = 0; i < coefficient_tiles; i++) {
        noc_async_read_tile(i, coefficients, coefficients_l1 + i * page);
    }

    // Iteration 0: block and halo from DRAM; outside the domain the frame stays zero in both framed blocks.
    cb_reserve_back(cb_state, frame_tiles);
    for (uint32_t row = 0; row < rows + 2; row++) {
        const bool inside_y = (row > 0 || has_above) && (row < rows + 1 || has_below);
        for (uint32_t column = 0; column < columns + 2; column++) {
            const bool inside_x = (column > 0 || has_left) && (column < columns + 1 || has_right);
            const uint32_t address = state_address + (row * frame_w + column) * page;
            if (inside_x && inside_y) {
                const uint32_t tile = (y * rows + row - 1) * pitch + x * columns + column - 1;
                noc_async_read_tile(tile, source, address);
            } else {
                noc_async_read_tile(zero_tile, coefficients, address);
                noc_async_read_tile(zero_tile, coefficients, address + frame_tiles * page);
            }
        }
    }
    noc_async_read_barrier();
    cb_push_back(cb_coefficients, coefficient_tiles);
    cb_push_back(cb_state, frame_tiles);

    for (uint32_t iteration = 1; iteration < iterations; iteration++) {
        cb_reserve_back(cb_state, frame_tiles);
        const uint32_t frame = state_address + (iteration % 2) * frame_tiles * page;
        const uint32_t first_inner = frame + (frame_w + 1) * page;
        const uint32_t last_inner_row = first_inner + (rows - 1) * frame_w * page;
        cb_wait_front(cb_next, rows * columns);
        const uint32_t block = get_read_ptr(cb_next);
        const uint32_t last_row = block + (rows - 1) * inner_bytes;
        if (has_above) {
            noc_async_write(block, neighbour(above).at(last_inner_row + frame_w * page), inner_bytes);
        }
        if (has_below) {
            noc_async_write(last_row, neighbour(below).at(first_inner - frame_w * page), inner_bytes);
        }
        for (uint32_t row = 0; row < rows; row++) {
            const uint32_t tile_row = block + row * inner_bytes;
            const uint32_t frame_row = first_inner + row * frame_w * page;
            if (has_left) {
                noc_async_write(tile_row, neighbour(left).at(frame_row + inner_bytes), page);
            }
            if (has_right) {
                noc_async_write(tile_row + inner_bytes - page, neighbour(right).at(frame_row - page), page);
            }
            noc_async_read(get_noc_addr(tile_row), frame_row, inner_bytes);
        }
        noc_async_write_barrier();
        if (has_above) {
            noc_semaphore_inc(neighbour(above).at(get_semaphore(below)), 1);
        }
        if (has_below) {
            noc_semaphore_inc(neighbour(below).at(get_semaphore(above)), 1);
        }
        if (has_left) {
            noc_semaphore_inc(neighbour(left).at(get_semaphore(right)), 1);
        }
        if (has_right) {
            noc_semaphore_inc(neighbour(right).at(get_semaphore(left)), 1);
        }
        noc_async_read_barrier();
        cb_pop_front(cb_next, rows * columns);
        if (has_above) {
            noc_semaphore_wait_min(halos_from(above), iteration);
        }
        if (has_below) {
            noc_semaphore_wait_min(halos_from(below), iteration);
        }
        if (has_left) {
            noc_semaphore_wait_min(halos_from(left), iteration);
        }
        if (has_right) {
            noc_semaphore_wait_min(halos_from(right), iteration);
        }
        cb_push_back(cb_state, frame_tiles);
    }
    noc_async_atomic_barrier();
}
