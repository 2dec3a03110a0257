// What the words at the beginning of local memory mean: tensim.sim.cores.riscv.llk.build.
#pragma once

#include <cstdint>

struct TensimLaunch {
    uint32_t arguments, common_arguments, semaphores, n_arguments, n_common_arguments;
    uint8_t x[2], y[2], logical_x, logical_y, relative_x, relative_y;
    uint32_t noc, core, slot;
    uint32_t buffers, buffers_low, buffers_high, remote_buffers, first_remote_buffer;
};
extern "C" TensimLaunch tensim_launch;
// For who starts the core: the overlay stream whose registers count the pages of circular buffer 0, which differs by release.
extern "C" {
extern const uint32_t tensim_first_stream __attribute__((used, retain)) = OPERAND_START_STREAM;
}
