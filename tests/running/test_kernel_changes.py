"""Changing what a program's kernels are compiled with, from outside the program."""

import pytest

import tensim as tt
from tensim.examples import ExampleResult
from tensim.running.kernel_changes import KernelChanges
from tensim.sim.errors import UsageError

KERNEL = """
from tensim.kernel_api import *

@kernel
def steps():
    for i in range(get_compile_time_arg_val(1) + get_named_compile_time_arg_val("more")):
        noc_async_read_barrier()
"""


def program(device, *, shape, dtype, fidelity, grid, rng):
    """A kernel that waits 10 + 5 times."""
    import numpy as np

    program = tt.create_program()
    config = tt.DataMovementConfig(
        processor=tt.DataMovementProcessor.RISCV_0, noc=tt.NOC.RISCV_0_default, compile_args=[7, 10],
        named_compile_args={"more": 5}, defines={"A": "1"},
    )  # fmt: skip
    tt.create_kernel_from_string(program, KERNEL, tt.CoreCoord(0, 0), config)
    tt.enqueue_program(device.command_queue(), program, blocking=True)
    same = np.zeros(1, np.float32)
    return ExampleResult(same, same, tolerance=0.0, flops=0, bytes_moved=0, description="steps")


def run(**changes):
    return tt.run(program, kernel_changes=changes)


def test_a_positional_and_a_named_argument_reach_the_kernel():
    plain = run()
    assert run(**{"kernel.steps.compile_args[1]": 20}).cycles > plain.cycles
    assert run(**{"kernel.steps.named_compile_args.more": 15}).cycles > plain.cycles
    both = run(**{"kernel.steps.compile_args[1]": 5, "kernel.steps.named_compile_args.more": 10})
    assert both.cycles == plain.cycles


def test_the_result_says_what_the_kernel_was_compiled_with():
    changes = {"kernel.steps.compile_args[1]": 20, "kernel.steps.defines.B": 3}
    identity = run(**changes).identity
    (kernel,) = identity["kernels"]
    assert kernel["compile_args"] == [7, 20] and kernel["defines"] == {"A": "1", "B": "3"}
    assert identity["kernel_changes"] == changes


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("kernel.steps.compile_args[2]", 1, "kernel steps has 2 compile-time arguments"),
        ("kernel.steps.compile_args[0]", "x", "a compile-time argument is a whole number"),
        ("kernel.steps.named_compile_args.less", 1, "no such argument.*\n.*its named ones: more"),
        ("kernel.walks.compile_args[0]", 1, "the program creates no kernel for kernel.walks"),
        ("kernel.steps", 1, "names nothing of a kernel"),
        ("steps.compile_args[0]", 1, "names nothing of a kernel"),
        ("kernel.steps.compile_args[-1]", 1, "names nothing of a kernel"),
    ],
)
def test_what_no_kernel_has_is_refused(key, value, message):
    with pytest.raises(UsageError, match=message):
        run(**{key: value})


def test_other_commands_pass_as_they_are():
    record = object()
    assert KernelChanges({"kernel.a.defines.B": 1})(record) is record
