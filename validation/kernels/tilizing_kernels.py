"""Kernels that tilize rows of tiles in L1, from buffer `A` to buffer `OUT`."""
# ruff: noqa: F403, F405

from tensim.kernel_api import *
from tensim.validation.compute.kernels import OUT, A


@kernel
def tilize_rows():
    """`rounds` times `height` rows of `width` tiles, each handed over through its buffers."""
    height, width, rounds = get_compile_time_arg_val(0), get_compile_time_arg_val(1), get_compile_time_arg_val(2)
    compute_kernel_hw_startup(A, A, OUT)
    tilize_init_short(A)
    for _ in range(rounds):
        for _row in range(height):
            cb_wait_front(A, width)
            cb_reserve_back(OUT, width)
            tilize_block(A, width, OUT)
            cb_push_back(OUT, width)
            cb_pop_front(A, width)


@kernel
def tilize_in_place():
    """The same without buffer calls: operand and result stay where they are."""
    height, width, rounds = get_compile_time_arg_val(0), get_compile_time_arg_val(1), get_compile_time_arg_val(2)
    compute_kernel_hw_startup(A, A, OUT)
    tilize_init_short(A)
    cb_reserve_back(OUT, height * width)
    for _ in range(rounds):
        for row in range(height):
            tilize_block(A, width, OUT, row * width, row * width)
