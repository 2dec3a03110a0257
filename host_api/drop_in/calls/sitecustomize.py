"""Loaded by each Python that a command of `tensim device` starts: notes the calls of ttnn's operations, one JSON line for each.

A line: {"first", "end": numbers that the library has given its programs before and behind the call; "name", "tensors", "outputs",
"settings", as `tensim.library.child` describes them; "fidelity", where the call says it}.  This file is run without tensim.
"""

from __future__ import annotations

import contextlib
import importlib.machinery
import importlib.util
import json
import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

FILE = "TENSIM_DEVICE_CALLS"  # environment: where the lines go
HERE = os.path.dirname(os.path.abspath(__file__))
CHILD = os.path.join(os.path.dirname(os.path.dirname(HERE)), "library", "child.py")


def noted(child: Any, call: Callable[..., Any]) -> Callable[..., Any]:
    """An operation's call that leaves a line when it has ended."""

    def run(self: Any, *arguments: Any, **named: Any) -> Any:
        count = sys.modules["ttnn._ttnn"].get_device_operation_id
        tensors, first = child.tensors_in((*arguments, *named.values())), count()
        result = call(self, *arguments, **named)
        fidelity = getattr(named.get("compute_kernel_config"), "math_fidelity", None)
        line = {
            "first": first, "end": count(), "name": self.python_fully_qualified_name, "tensors": tensors,
            "outputs": child.tensors_in([result]), "settings": child.settings_of(named),
            "fidelity": None if fidelity is None else child.word(fidelity),
        }  # fmt: skip
        with open(os.environ[FILE], "a") as file:
            file.write(json.dumps(line) + "\n")
        return result

    return run


def note_calls(child: Any, module: ModuleType) -> None:
    """Let the classes of operations in `ttnn.decorators` note their calls."""
    for kind in ("FastOperation", "Operation"):
        if hasattr(module, kind):
            operation = getattr(module, kind)
            operation.__call__ = noted(child, operation.__call__)


def install() -> None:
    """Wait for the library to be imported."""
    spec = importlib.util.spec_from_file_location("tensim_child", CHILD)
    assert spec is not None and spec.loader is not None  # of a file with Python's suffix
    child: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(child)
    watch = child.Watch()
    watch.changes = {"ttnn.decorators": lambda module: note_calls(child, module)}
    sys.meta_path.insert(0, watch)


def load_the_next() -> None:
    """The module of this name that the command would have had without us."""
    places = [place for place in sys.path if os.path.abspath(place or ".") != HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", places)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)


if FILE in os.environ:
    with contextlib.suppress(Exception):  # a command goes on without its names
        install()
load_the_next()
