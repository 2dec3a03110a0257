"""The kernel of the dispatch benchmark: of a stated size, it ends at once or runs for a stated time."""
# ruff: noqa: F403, F405

from tensim.kernel_api import *


@kernel
def benchmark():
    """Runs until the wall clock has gone on by compile-time argument 0.

    What never runs: `nops` instructions that fill the binary, and a read of runtime argument number compile-time argument 1.
    """
    begun = get_timestamp()
    if get_compile_time_arg_val(0) < 0:
        riscv_nop(get_named_compile_time_arg_val("nops"))
        get_arg_val(get_compile_time_arg_val(1))
    while get_timestamp() - begun < get_compile_time_arg_val(0):
        pass
