"""Stand-ins for modules that tests of ttnn programs import, where those are absent.

They need numpy and the `ttnn` of their process, ours or the vendor's: the vendor's has them without tensim, under another name
of this package, so they import each other relatively.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
from collections.abc import Sequence
from types import ModuleType

# What stands in for what; None: a package that holds others
STAND_INS = {
    "loguru": "loguru",
    "tracy": "tracy",
    "tests": None,
    "tests.ttnn": None,
    "tests.ttnn.utils_for_testing": "utils_for_testing",
    "models": None,
    "models.common": None,
    "models.common.utility_functions": "utility_functions",
}


class Loader(importlib.abc.Loader):
    """Gives a name the module that another name has."""

    def __init__(self, target: str) -> None:
        self.target = target

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return importlib.import_module(self.target)

    def exec_module(self, module: ModuleType) -> None:
        """It is loaded already."""


class StandIns(importlib.abc.MetaPathFinder):
    """Asked last, so only for what nobody else has."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name not in STAND_INS:
            return None
        if STAND_INS[name] is None:
            return importlib.machinery.ModuleSpec(name, _Empty(), is_package=True)
        return importlib.machinery.ModuleSpec(name, Loader(f"{__name__}.{STAND_INS[name]}"))


class _Empty(importlib.abc.Loader):
    """A package without anything of its own."""

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        """It stays empty."""
