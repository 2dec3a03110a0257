"""What initialisation calls set up, as words that `Op.CONFIG` carries for the checker: the engine itself makes nothing of them.

The second argument of `Op.CONFIG` is a `Setup`, and above it one plus the circular buffer whose format the call configures:
on the unpack thread for SrcA (and, where the front end knows both, one plus that for SrcB above that), on the pack thread the
packer's.  A C++ kernel has 11 bits for it.  That of `Config.SFPU_INIT` is the `vector_code` of its function, and above it an
`Approximation`.
"""

from enum import IntEnum

from tensim.sim.cores.numerics.sfpu_functions import SFPU_API
from tensim.sim.cores.numerics.vector_codes import vector_code
from tensim.sim.cores.operations import Bcast, Binary

BUFFER_SHIFT, SECOND_SHIFT = 5, 11  # bits


class Setup(IntEnum):
    """What the units of a thread are set up for.  From BINARY on: 4 * `Binary` + `Bcast`."""

    FORMATS = 0  # formats alone
    MATMUL = 1
    COPY = 2
    BINARY = 3
    TRANSPOSE = 15
    TILIZE = 16
    UNTILIZE = 17
    REDUCE = 18
    REUSE = 19  # + Binary
    UNARY_BCAST = 22
    PAIR = 23  # two operands, no operation
    PACK = 24
    PACK_UNTILIZE = 25
    ANYTHING = 26  # an operation that is chosen by a template parameter
    FORMAT_A = 27  # of SrcA alone
    FORMAT_B = 28
    MATMUL_TRANSPOSED = 29  # with tiles of in1 transposed


LAST_MODE = Setup.ANYTHING
# Functions whose initialisation programs the vector unit's constants or its table, of which it has one set, and the function
# whose initialisation does the same (docs/hardware/kernel_api.md#unary-sfpu-calls)
CONSTANTS = {
    vector_code(SFPU_API[name][0]): vector_code(SFPU_API[names.split()[0]][0])
    for names in (
        "exp", "exp2", "recip", "sqrt", "rsqrt", "log log_with_base", "log1p", "gelu", "tanh", "sigmoid", "silu", "cbrt", "atan",
        "acosh asinh", "atanh", "erfinv", "div_binary", "power_binary", "xlogy_binary",
    )
    for name in names.split()
}  # fmt: skip
VECTOR_CALLS = 1 << 12  # and above: names of the vector functions' initialisations
# The call that sets up what an operation needs, for messages
CALLS = {
    0: "no initialisation",
    Setup.MATMUL: "mm_init",
    Setup.MATMUL_TRANSPOSED: "mm_init with transpose",
    Setup.COPY: "copy_tile_init",
    Setup.TRANSPOSE: "transpose_wh_init",
    Setup.TILIZE: "tilize_init",
    Setup.UNTILIZE: "untilize_init",
    Setup.REDUCE: "reduce_init",
    Setup.UNARY_BCAST: "unary_bcast_init",
    Setup.PAIR: "binary_op_init_common",
    Setup.PACK: "the initialisation of an operation, or pack_untilize_uninit",
    Setup.PACK_UNTILIZE: "pack_untilize_init",
    Setup.ANYTHING: "binary_tiles_init",
    **{
        Setup.BINARY + 4 * op + bcast: f"{op.name.lower()}_tiles_init"
        if bcast == Bcast.NONE
        else f"{op.name.lower()}_bcast_{names}_init_short"
        for op in Binary
        for bcast, names in zip(Bcast, ("", "cols", "rows", "scalar"), strict=True)
    },
    VECTOR_CALLS: "no vector function",
    **{VECTOR_CALLS + vector_code(function): f"{name}_tile_init" for name, (function, _) in SFPU_API.items()},
    **{Setup.REUSE + op: f"binary_dest_reuse_tiles_init of {op.name}" for op in Binary},
}
