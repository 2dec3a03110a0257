"""Calls of data movement in a C++ compute kernel: tt-metal's compiler does not know them there."""

import pytest

import tensim as tt
from tensim.sim.errors import KernelCompileError

KERNEL = """
#include "compute_kernel_api/common.h"
namespace NAMESPACE {
void MAIN {
    volatile uint32_t before = 1;
    CALL
}
}
"""
CALLS = {
    "noc_async_read_barrier();": "NOC_BARRIER",
    "noc_async_write(0x1000, get_noc_addr(1, 1, 0x1000), 32);": "NOC_WRITE",
    "noc_semaphore_inc(get_noc_addr(1, 1, 0x1000), 1);": "NOC_ATOMIC_INC",
}


def build(call):
    with tt.create_device(0) as device:
        program = tt.create_program()
        tt.create_kernel_from_string(program, KERNEL.replace("CALL", call), tt.CoreCoord(0, 0), tt.ComputeConfig())
        tt.compile_program(device, program)


@pytest.mark.parametrize("call", CALLS)
def test_it_is_refused_with_its_line(call):
    with pytest.raises(KernelCompileError, match=f"{CALLS[call]} in a compute kernel") as found:
        build(call)
    assert found.value.where["line"] == 6 and found.value.where["source"] == call


def test_a_branch_that_is_never_taken_may_have_one():
    build("if constexpr (get_compile_time_arg_val_count() > 5) { noc_async_read_barrier(); }".replace(
        "get_compile_time_arg_val_count()", "0"))  # fmt: skip
