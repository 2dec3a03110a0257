"""The numbers of the vector unit's functions, of any number of operands, in one range: what `Config.SFPU_INIT` carries."""

from tensim.sim.cores.numerics.sfpu_functions import SfpuBinary, SfpuTernary, SfpuUnary

VECTOR_KINDS = (SfpuUnary, SfpuBinary, SfpuTernary)
VECTOR_KIND = 1 << 9  # codes of a kind of function
VECTOR_CODE_BITS = 11
ANY_VECTOR = 0  # a function without constants


def vector_code(function):
    """Number of a function of the vector unit."""
    return VECTOR_KINDS.index(type(function)) * VECTOR_KIND + 1 + int(function)
