"""ttnn's names for programs of one's own kernels, over tensim's host API: `import tensim.ttnn as ttnn`.

`tensim ttnn program.py` runs a program that says `import ttnn`; `pytest -p tensim.ttnn` its tests.  docs/ttnn.md says what
is there, what differs, and what is refused.  Each name is imported with its module when it is first used.
"""

from importlib import import_module

from tensim.ttnn._names import LIBRARY, MODULE_OF

__version__ = "0.81.1"  # the release of ttnn whose names and encodings these are
__all__ = sorted(MODULE_OF)
SUBMODULES = ("_ttnn", "device", "types")


def __getattr__(name):
    if name in MODULE_OF:
        value = globals()[name] = getattr(import_module(f"tensim.ttnn.{MODULE_OF[name]}"), name)
        return value
    if name in SUBMODULES:
        return import_module(f"tensim.ttnn.{name}")
    if name in LIBRARY:
        from tensim.ttnn.operations import Refused

        return Refused(name)
    raise AttributeError(f"tensim.ttnn has no {name!r}: docs/ttnn.md lists what is there")


def __dir__():
    return [*globals(), *__all__]


def pytest_addoption(parser):
    """Options of `pytest -p tensim.ttnn`; from here on `import ttnn` is this module."""
    from tensim.ttnn import plugin, substitution

    substitution.install()
    plugin.add_options(parser)


def pytest_configure(config):
    """The fixtures and the report of `pytest -p tensim.ttnn`."""
    from tensim.ttnn import plugin

    plugin.configure(config)
