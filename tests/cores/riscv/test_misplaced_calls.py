"""What C++ kernels may not have: data movement in compute kernels, unknown to tt-metal's compiler there; undefined behaviour."""

import pytest

import tensim as tt
from tensim.sim.errors import KernelCompileError, ProgramError

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


def test_a_kernel_of_no_defined_behaviour_is_told_by_its_own_line():
    text = """#include "dataflow_api.h"

void kernel_main() {
    uint32_t tiles = get_arg_val<uint32_t>(0);
    for (uint32_t i = 0; i < 7 / (tiles - tiles); i++) { noc_async_read_barrier(); }
}
"""
    with tt.create_device(0) as device:
        program, core = tt.create_program(), tt.CoreCoord(0, 0)
        kernel = tt.create_kernel_from_string(program, text, core, tt.ReaderDataMovementConfig())
        tt.set_runtime_args(program, kernel, core, [5])
        with pytest.raises(ProgramError, match=r"kernel\.cpp:[345]: .*look for a division by zero"):
            tt.enqueue_program(device.command_queue(), program, blocking=True)
