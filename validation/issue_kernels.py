"""Sources of the issue-rate probes: loops of one kind of instruction, unrolled, on a data-movement core."""

UNROLL = 64
STATEMENTS = {
    # probe: (statements before the loop, the statement under test)
    "rv_addi_indep": ("x = 1", "x = x + 1"),
    "rv_addi_dep": ("x = 1", "x = x + 1"),
    "rv_mul_indep": ("x = rounds\ny = 1", "y = x * x"),
    "rv_mul_dep": ("x = rounds", "x = x * x"),
    "rv_div": ("x = 1000000\ny = rounds", "x = x // y"),
    "rv_load_chase": ("words = l1_ptr(scratch, uint32)\nx = 0", "x = words[0]"),
    "rv_load_indep": ("words = l1_ptr(scratch, uint32)\nx = 0", "x = words[0]"),
    "rv_store_spread": ("words = l1_ptr(scratch, uint32)", "words[0] = 7"),
    "rv_store_coalesce": ("words = l1_ptr(scratch, uint32)", "words[0] = 7"),
    "rv_load_stack": ("x = 0", "x = get_arg_val(0)"),
    "c_ctrl_xor": ("x = rounds", "x = x ^ 1"),
}
TEMPLATE = """from host_api.kernel_api import *


@kernel
def probe(rounds, scratch):
    {setup}
    for _ in range(rounds):
        {body}
"""


def loop_source(setup, statement, count):
    """A kernel whose loop holds `count` times a statement (0: an empty loop)."""
    body = "\n        ".join([statement] * count or ["pass"])
    return TEMPLATE.format(setup=setup.replace("\n", "\n    "), body=body)


PRODUCTS = """from host_api.kernel_api import *


@kernel
def products(rounds):
    mm_init(0, 1, 16)
    tile_regs_acquire()
    for _ in range(rounds):
        matmul_tiles(0, 1, 0, 0, 0)
    tile_regs_commit()
    tile_regs_wait()
    tile_regs_release()
"""
