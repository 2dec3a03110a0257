// Tiles that a data-movement kernel makes once: zeros, and the factor of a reduction.
#pragma once

#include <bit>
#include <cstdint>

#include "api/dataflow/dataflow_api.h"

// Zeros in a reserved tile, from the zeros that the firmware keeps.
template <uint32_t cb>
void zero_tile() {
    const uint32_t tile = get_write_ptr(cb);
    const uint64_t zeros = get_noc_addr(MEM_ZEROS_BASE);
    for (uint32_t done = 0; done < get_tile_size(cb); done += MEM_ZEROS_SIZE) {
        noc_async_read(zeros, tile + done, MEM_ZEROS_SIZE);
    }
    noc_async_read_barrier();
}

template <uint32_t cb>
void push_zero_tile() {
    cb_reserve_back(cb, 1);
    zero_tile<cb>();
    cb_push_back(cb, 1);
}

// The factor in the first row of each face, zeros elsewhere.
template <uint32_t cb>
void push_scaler(float factor) {
    constexpr uint32_t faces = 4, face_rows = 16, face_columns = 16;
    constexpr bool wide = get_dataformat(cb) == DataFormat::Float32;
    const uint32_t bits = std::bit_cast<uint32_t>(factor);

    cb_reserve_back(cb, 1);
    zero_tile<cb>();
    auto words = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_write_ptr(cb));
    const uint32_t word = wide ? bits : bits & 0xffff0000 | bits >> 16;
    constexpr uint32_t row_words = wide ? face_columns : face_columns / 2;
    for (uint32_t face = 0; face < faces; face++) {
        for (uint32_t i = 0; i < row_words; i++) {
            words[face * face_rows * row_words + i] = word;
        }
    }
    cb_push_back(cb, 1);
}
