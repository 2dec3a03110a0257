"""ttnn's names for programs of one's own kernels, over tensim's host API: `import tensim.ttnn as ttnn`.

`tensim ttnn program.py` runs a program that says `import ttnn`; `pytest -p tensim.ttnn` its tests.  docs/ttnn.md says what
is there, what differs, and what is refused.  Each name is imported with its module when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tensim.ttnn._names import LIBRARY, MODULE_OF, PIPES

if TYPE_CHECKING:
    import pytest

__version__ = "0.81.1"  # the release of ttnn whose names and encodings these are
__all__ = sorted(MODULE_OF)
SUBMODULES = ("_ttnn", "device", "devices", "types")


def __getattr__(name: str) -> Any:
    if name in MODULE_OF:
        value = globals()[name] = getattr(import_module(f"tensim.ttnn.{MODULE_OF[name]}"), name)
        return value
    if name in SUBMODULES:
        return import_module(f"tensim.ttnn.{name}")
    if name in LIBRARY or name in PIPES:
        from tensim.ttnn.operations import Refused

        return Refused(name)
    raise AttributeError(_unknown(name))


def _unknown(name: str) -> str:
    """What to say of a name that is not here."""
    from difflib import get_close_matches

    close = get_close_matches(name, [*MODULE_OF, *SUBMODULES, *LIBRARY], 3)
    meant = f"; near it are {', '.join(close)}" if close else ""
    return (
        f"tensim.ttnn has no {name!r}{meant}. It has what programs of one's own kernels use (docs/ttnn.md lists it); what "
        "the library computes with kernels of its own is written as ttnn.generic_op, or with torch or numpy on "
        "ttnn.to_torch(tensor)"
    )


def __dir__() -> list[str]:
    return [*globals(), *__all__]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of `pytest -p tensim.ttnn`; from here on `import ttnn` is this module."""
    from tensim.ttnn import plugin, substitution

    substitution.install()
    plugin.add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """The fixtures and the report of `pytest -p tensim.ttnn`."""
    from tensim.ttnn import plugin

    plugin.configure(config)
