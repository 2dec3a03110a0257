"""The operation vocabulary: ranges of codes, and codes and functions that nobody knows."""

import pytest

import tensim as tt
from tensim.sim.cores import operations
from tensim.sim.cores.kernels.api import MATH, operation
from tensim.sim.cores.kernels.compiler import kernel_from_source
from tensim.sim.cores.kernels.lowering_operations import OPERATIONS
from tensim.sim.cores.numerics.sfpu import check_complete, int_unary
from tensim.sim.cores.numerics.sfpu_functions import N_UNARY, SfpuUnary
from tensim.sim.cores.operations import Op
from tensim.sim.errors import SimulatorError


@pytest.mark.parametrize("name", ["NOC_CALL", "DST_CALL", "UNPACK", "MATH"])
def test_codes_that_belong_together_are_contiguous(name):
    first, last = getattr(operations, f"FIRST_{name}"), getattr(operations, f"LAST_{name}")
    assert all(code in set(Op) for code in range(first, last + 1))


def test_compute_operations_are_those_of_the_coprocessor_and_of_mailboxes():
    compute = {op.name for op in Op if operations.FIRST_COMPUTE <= op <= operations.LAST_COMPUTE}
    prefixes = "DST_", "UNPACK_", "MATH_", "SFPU_", "PACK", "CONFIG", "TT_", "MAILBOX_"
    assert compute == {op.name for op in Op if op.name.startswith(prefixes)}


def test_a_function_that_is_not_computed_is_an_error():
    with pytest.raises(TypeError, match="int_unary does not compute EXP"):
        check_complete((int_unary,), SfpuUnary.EXP, SfpuUnary.BITWISE_NOT)


@pytest.mark.parametrize(
    "call, message",
    [
        (operation(MATH, 44, "", ""), "unknown operation 44"),
        (operation(MATH, 29, "", ""), "unknown operation 29"),
        (operation(MATH, Op.SFPU_UNARY, "", f"{N_UNARY} 0 0 0 0"), f"unknown function {N_UNARY} of the vector unit"),
    ],
)
def test_unknown_codes_are_refused(monkeypatch, call, message):
    monkeypatch.setitem(OPERATIONS, "transpose_dest", call)
    program, core = tt.create_program(), tt.CoreCoord(0, 0)
    text = "@kernel\ndef unknown():\n    tile_regs_acquire()\n    transpose_dest()\n"
    device = tt.create_device(0, arch="wormhole_b0")
    try:
        tt.create_kernel(program, kernel_from_source(text), core, tt.ComputeConfig())
        tt.enqueue_program(device.command_queue(0), program, blocking=False)
        with pytest.raises(SimulatorError, match=message):
            tt.finish(device.command_queue(0))
    finally:
        tt.close_device(device)
