"""`import ttnn` means `tensim.ttnn`, and modules that tests of ttnn programs import have stand-ins where they are absent."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys

from tensim.ttnn.stand_ins import Loader, StandIns


def install() -> None:
    """Both, for this process; an installed ttnn is not touched."""
    if not any(isinstance(item, _Ours) for item in sys.meta_path):
        sys.meta_path.insert(0, _Ours())
        sys.meta_path.append(StandIns())
    for name in [name for name in sys.modules if name == "ttnn" or name.startswith("ttnn.")]:
        del sys.modules[name]


class _Ours(importlib.abc.MetaPathFinder):
    """ttnn and its modules."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> _Kept | None:
        if name != "ttnn" and not name.startswith("ttnn."):
            return None
        ours = f"tensim.{name}"
        if importlib.util.find_spec(ours) is None:
            return None
        return _Kept(name, Loader(ours))


class _Kept(importlib.machinery.ModuleSpec):
    """A spec whose module keeps its own name: importing it under another one changes nothing in it."""
