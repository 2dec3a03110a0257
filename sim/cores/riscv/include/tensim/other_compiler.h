// What the compiler that the library is written for takes, and ours does not.
#pragma once
#include "tensim/environment.h"

// A function template whose array parameter has no elements.  Ours drops it from the candidates even in a branch that is
// never taken, so a declaration that is never called takes its place there.
namespace norm::layernorm::device::kernels::dataflow {
template <bool row_major, uint32_t first_stage, uint32_t second_stage, class... Values>
    requires(second_stage == 0)
void compute_two_stage_noc_addrs(const Values&...);
}  // namespace norm::layernorm::device::kernels::dataflow
