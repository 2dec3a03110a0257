"""The decorator of functions of the compiled engine: numba's `njit` with its disk cache, one compilation per types of arguments.

To numba a constant in a call is a type of its own, for which it would compile the called function anew, although the
machine code makes nothing of it: a quarter of the first start.
"""

from numba.core import types
from numba.core.registry import CPUDispatcher

from tensim.sim.engine import cache  # noqa: F401  configures the disk cache before anything is compiled


def plain_type(kind):
    """The type of a constant's value: without the value, and that of integers for a member of an enumeration."""
    return kind.dtype if isinstance(kind, types.IntEnumMember) else types.unliteral(kind)


class Dispatcher(CPUDispatcher):
    """Takes constants that a compiled function passes on as values of their type."""

    def get_call_template(self, args, kws):
        """As numba's, for the types of constants."""
        plain = {name: plain_type(kind) for name, kind in kws.items()}
        return super().get_call_template(tuple(map(plain_type, args)), plain)


def compiled(*, inline="never", forceinline=False):
    """Decorator; `inline`: "always" puts the function's code into its callers before they are compiled, `forceinline` after."""

    def decorate(function):
        options = {"nopython": True, "boundscheck": None, "inline": inline, "forceinline": forceinline}
        dispatcher = Dispatcher(function, targetoptions=options)
        dispatcher.enable_caching()
        return dispatcher

    return decorate
