"""Kernels of the dispatch benchmark: empty ones of a stated size, and ones that run for a stated time."""
# ruff: noqa: F403, F405

from host_api.kernel_api import *


@kernel
def padded():
    """Ends at once; `nops` instructions that never run fill the binary.  Common argument 0, if there is one, is 0."""
    if get_compile_time_arg_val(0) > 0:
        riscv_nop(get_named_compile_time_arg_val("nops"))


@kernel
def busy():
    """Runs until the wall clock has gone on by `cycles`."""
    begun = get_timestamp()
    while get_timestamp() - begun < get_compile_time_arg_val(0):
        riscv_nop(get_named_compile_time_arg_val("nops"))
