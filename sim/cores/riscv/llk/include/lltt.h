// Replays of recorded Tensix instructions: the REPLAY word's fields are those of the instruction set's table.
#pragma once
#include <cstdint>

#include "tensim_vector.h"

namespace lltt {

enum ExecBool : bool { NoExec = false, Exec = true };

constexpr std::uint32_t replay_insn(std::uint32_t start, std::uint32_t length) {
    return 0x04u << 24 | start << 14 | length << 4;
}

template <ExecBool execute = NoExec>
__attribute__((always_inline)) inline void record(std::uint32_t start, std::uint32_t length) {
    tensim::issue(replay_insn(start, length) | static_cast<std::uint32_t>(execute) << 1 | 1u);
}

__attribute__((always_inline)) inline void replay(std::uint32_t start, std::uint32_t length) {
    tensim::issue(replay_insn(start, length));
}

}  // namespace lltt
