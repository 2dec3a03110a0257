"""Texts of kernels whose calls are named by a row: a vector function, a coprocessor instruction.

One kernel is made per name (and kept by Python), so that a new name of the kernel API needs no new code here.
"""

import functools

from tensim.sim.cores.kernels.compiler import kernel_from_source
from tensim.sim.cores.numerics.sfpu_functions import SFPU_API, SfpuBinary, SfpuTernary, SfpuUnary
from tensim.validation.compute.kernels import OUT, A
from tensim.validation.rows import Skip

CALL = """
@kernel
def {title}():
    rounds = get_compile_time_arg_val(1)
    {init}
    tile_regs_acquire()
    for _ in range(rounds):
        {call}
"""
STREAM = """
@kernel
def {title}(rounds):
    tiles, chunk = get_compile_time_arg_val(0), get_compile_time_arg_val(1)
    unary_op_init_common({A}, {OUT})
    {name}_tile_init()
    for _ in range(rounds):
        cb_wait_front({A}, tiles)
        cb_reserve_back({OUT}, tiles)
        for first in range(0, tiles, chunk):
            tile_regs_acquire()
            for i in range(chunk):
                copy_tile({A}, first + i, i)
                {call}
            tile_regs_commit()
            tile_regs_wait()
            for i in range(chunk):
                pack_tile(i, {OUT})
            tile_regs_release()
        cb_pop_front({A}, tiles)
        cb_push_back({OUT}, tiles)
"""


def vector_function(name):
    """The kernel API's name of a vector function, from a name of the data (`gelu_tile`, `add_binary_tile`, `exp`)."""
    base = name.removesuffix("_tile")
    for form in (base, base.replace("_tile", "")):
        if form in SFPU_API:
            return form
    raise Skip(f"the kernel API has no vector function {name}")


# Functions of two operands that rows of the LLK set measure by the face, as they do functions of one; of others a call's tile
SUMS_OF_FACES = ("add_int_tile", "sub_int_tile", "rsub_int_tile")


def part_of_tile(name):
    """The share of a tile that the cycles of a row of the LLK set stand for, of a function of the kernel API."""
    is_face = isinstance(SFPU_API[name][0], SfpuUnary) or f"{name}_tile" in SUMS_OF_FACES
    return 1 / 4 if is_face else 1


def vector_call(name, dst="0"):
    """Source text of one call of a vector function in place at `dst`."""
    function, extra = SFPU_API[name]
    tiles = {SfpuBinary: f"{dst}, {dst} + 1, {dst}", SfpuTernary: f"{dst}, {dst} + 1, {dst} + 2, {dst}"}
    arguments = [tiles.get(type(function), dst), *["1065353216"] * extra]
    return f"{name}_tile({', '.join(arguments)})"


@functools.cache
def _kernel(text):
    return kernel_from_source(text)


def vector_loop(name):
    """Kernel: argument 1 is the number of calls of a vector function on the math thread alone."""
    return _kernel(CALL.format(title=f"loop_{name}", init=f"{name}_tile_init()", call=vector_call(name)))


def vector_init_loop(name, arguments):
    """Kernel: argument 1 is the number of initialisations of a vector function on the math thread alone."""
    call = f"{name}_tile_init({arguments})"
    return _kernel(CALL.format(title=f"init_{name}", init="pass", call=call))


def vector_stream(name):
    """Kernel: copy, vector function, pack of `tiles` tiles, `chunk` per acquire, `rounds` times."""
    title = f"stream_{name}"
    return _kernel(STREAM.format(title=title, name=name, call=vector_call(name, "i"), A=A, OUT=OUT))


def instruction_loop(name, threads):
    """Kernel: argument 1 is how often the first `threads` compute threads issue an instruction."""
    calls = [f'{role}(tt_instruction("{name}", 64))' for role in ("UNPACK", "MATH", "PACK")[:threads]] or ["pass"]
    title = f"issue_{name.lower()}_{threads}"
    return _kernel(CALL.format(title=title, init="pass", call="\n        ".join(calls)))
