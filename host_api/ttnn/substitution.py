"""`import ttnn` means `tensim.ttnn`, and modules that tests of ttnn programs import have stand-ins where they are absent."""

import importlib
import importlib.abc
import importlib.machinery
import sys

# What stands in for what; None: a package that holds others
STAND_INS = {
    "loguru": "loguru",
    "tests": None,
    "tests.ttnn": None,
    "tests.ttnn.utils_for_testing": "utils_for_testing",
    "models": None,
    "models.common": None,
    "models.common.utility_functions": "utility_functions",
}


def install():
    """Both, for this process; an installed ttnn is not touched."""
    if not any(isinstance(item, _Ours) for item in sys.meta_path):
        sys.meta_path.insert(0, _Ours())
        sys.meta_path.append(_StandIns())
    for name in [name for name in sys.modules if name == "ttnn" or name.startswith("ttnn.")]:
        del sys.modules[name]


class _Loader(importlib.abc.Loader):
    """Gives a name the module that another name has."""

    def __init__(self, target):
        self.target = target

    def create_module(self, spec):
        return importlib.import_module(self.target)

    def exec_module(self, module):
        """It is loaded already."""


class _Ours(importlib.abc.MetaPathFinder):
    """ttnn and its modules."""

    def find_spec(self, name, path=None, target=None):
        if name != "ttnn" and not name.startswith("ttnn."):
            return None
        ours = f"tensim.{name}"
        if importlib.util.find_spec(ours) is None:
            return None
        return _Kept(name, _Loader(ours))


class _Kept(importlib.machinery.ModuleSpec):
    """A spec whose module keeps its own name: importing it under another one changes nothing in it."""


class _StandIns(importlib.abc.MetaPathFinder):
    """Asked last, so only for what nobody else has."""

    def find_spec(self, name, path=None, target=None):
        if name not in STAND_INS:
            return None
        if STAND_INS[name] is None:
            return importlib.machinery.ModuleSpec(name, _Empty(), is_package=True)
        return importlib.machinery.ModuleSpec(name, _Loader(f"tensim.ttnn.stand_ins.{STAND_INS[name]}"))


class _Empty(importlib.abc.Loader):
    """A package without anything of its own."""

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        """It stays empty."""
