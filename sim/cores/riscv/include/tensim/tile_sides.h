// Sides of tiles and faces among the compute API's names.
#pragma once
#include "tensim/circular_buffer.h"

namespace ckernel {
using tt::constants::FACE_HEIGHT;
using tt::constants::FACE_WIDTH;
using tt::constants::TILE_HEIGHT;
using tt::constants::TILE_WIDTH;
}  // namespace ckernel
