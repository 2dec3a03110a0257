"""Runs a program in the library's process, tells tensim which operation begins and ends, and raises what has failed in it.

This file is run by the library's Python, without tensim: it imports nothing but the standard library.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import re
import runpy
import signal
import socket
import struct
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any

OPERATION = 32
HERE = os.path.dirname(os.path.abspath(__file__))
STAND_INS = os.path.join(os.path.dirname(HERE), "ttnn", "stand_ins")
RUN_TIMES = os.path.join(HERE, "run_times.py")
TRACE_CALLS, SUB_DEVICE_CALLS = os.path.join(HERE, "trace_calls.py"), os.path.join(HERE, "sub_device_calls.py")
SETTINGS = (bool, int, float, str)  # types of arguments that a report may show
# In the text of an object that has none of its own: equal settings are to have equal texts
OWN_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
LONGEST, LONGEST_SETTING = 64, 1000  # tensors of a list, characters
PARENT_DEATH_SIGNAL = 1  # of Linux's prctl
FLUSH = b"TENSIM_LIBRARY_FLUSH"  # hexadecimal digits: a process, the address of a function there
PROCESS_DIGITS = 8


class Teller:
    """Says over a connection of its own which operation begins, and when it ends; without tensim it says nothing."""

    def __init__(self) -> None:
        self.connection: socket.socket | None = None

    def begin(self, operation: dict[str, Any]) -> str:
        """An operation begins; returns why something before it has failed, or ''."""
        return self.tell({"begin": operation})

    def end(self, outputs: Iterable[dict[str, Any]] = ()) -> str:
        """The operation that began last ends, when all that it has launched has run, with these tensors as results; returns why
        it has failed, or ''.
        """
        return self.tell({"end": list(outputs)})

    def tell(self, message: dict[str, Any]) -> str:
        flush_device()
        text = json.dumps(message).encode()
        if self.connection is None:
            self.connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self.connection.connect(os.environ["TENSIM_LIBRARY_SOCKET"])
        self.connection.sendall(struct.pack("<2I", OPERATION, len(text)) + text)
        (size,) = struct.unpack("<I", receive(self.connection, 4))
        return receive(self.connection, size).decode()


def receive(connection: socket.socket, size: int) -> bytes:
    """So many bytes of a connection."""
    data = b""
    while len(data) < size:
        more = connection.recv(size - len(data))
        if not more:
            raise ConnectionError("the simulator has ended")
        data += more
    return data


teller = Teller()


def flush_device() -> None:
    """Let the simulation device send what it has collected.

    It puts the address of the function that does into the environment of C, of which Python has a copy.
    """
    getenv = ctypes.CDLL(None).getenv
    getenv.restype = ctypes.c_char_p
    text = getenv(FLUSH) or b"0"
    address = int(text[PROCESS_DIGITS:] or b"0", 16)
    if address and int(text[:PROCESS_DIGITS], 16) == os.getpid():  # not what a process has inherited
        ctypes.CFUNCTYPE(None)(address)()


def describe(value: Any) -> dict[str, Any] | None:
    """Shape and element type of a tensor, and where it lies if it is on a device; None for what is no tensor."""
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape is None or not hasattr(value, "layout"):
        return None
    found: dict[str, Any] = {"shape": [int(size) for size in shape], "dtype": word(dtype).lower()}
    with contextlib.suppress(Exception):  # releases differ in what they tell
        memory = value.memory_config()
        if word(value.storage_type()) == "HOST":
            return found  # it lies nowhere, and the library logs a fault of whoever asks
        found |= {
            "padded": [int(size) for size in value.padded_shape], "layout": word(value.layout),
            "buffer": word(memory.buffer_type), "memory_layout": word(memory.memory_layout),
            "address": int(value.buffer_address()), "cores": cores_of(memory),
        }  # fmt: skip
    return found


def word(value: object) -> str:
    """The last part of an enumeration's name."""
    return str(value).rsplit(".", 1)[-1]


def cores_of(memory: Any) -> list[list[int]]:
    """[[x, y, x, y] of the first and the last core of each range] of a sharded tensor; [] of others."""
    shards = memory.shard_spec
    if shards is None:
        return []
    return [[one.start.x, one.start.y, one.end.x, one.end.y] for one in shards.grid.ranges()]


def tensors_in(values: Iterable[Any]) -> list[dict[str, Any]]:
    """Descriptions of the tensors among values and in the lists among them."""
    found = []
    for value in values:
        if isinstance(value, (list, tuple)):
            found += tensors_in(value[:LONGEST])
        elif (one := describe(value)) is not None:
            found.append(one)
    return found


def settings_of(named: Mapping[str, Any]) -> dict[str, str]:
    """{name: text} of the arguments that are settings: no tensors, not long."""
    texts = {
        name: OWN_ADDRESS.sub("", str(value))
        for name, value in named.items()
        if isinstance(value, SETTINGS) or is_of_library(value)
    }
    return {name: text for name, text in texts.items() if len(text) <= LONGEST_SETTING}


def is_of_library(value: Any) -> bool:
    """Whether a value is of one of the library's classes, and no tensor."""
    return type(value).__module__.startswith("ttnn") and not hasattr(value, "layout") and value is not None


def told(call: Callable[..., Any]) -> Callable[..., Any]:
    """An operation's call that says when it begins and ends."""

    def run(self: Any, *arguments: Any, **named: Any) -> Any:
        operation = {
            "name": self.python_fully_qualified_name, "tensors": tensors_in((*arguments, *named.values())),
            "settings": settings_of(named),
        }  # fmt: skip
        why = teller.begin(operation)
        if why:
            teller.end()
            raise RuntimeError(why)
        try:
            result = call(self, *arguments, **named)
        except BaseException as error:
            why = teller.end()
            if why and isinstance(error, Exception):  # what the library says follows from it
                raise RuntimeError(why) from error
            raise
        why = teller.end(tensors_in([result]))
        if why:
            raise RuntimeError(why)
        return result

    return run


def tell_operations(module: ModuleType) -> None:
    """Let the classes of operations in `ttnn.decorators` say when one begins and ends."""
    for kind in ("FastOperation", "Operation"):
        if hasattr(module, kind):
            operation = getattr(module, kind)
            operation.__call__ = told(operation.__call__)


def offer_run_times(module: Any) -> None:
    """Add `query_op_runtime` to `ttnn.graph`."""
    run_times = load("tensim_run_times", RUN_TIMES)
    times = run_times.RunTimes(sys.modules["ttnn"], elapsed, described)
    module.query_op_runtime, module.RuntimeQueryResponse = times.query_op_runtime, run_times.RuntimeQueryResponse


def tell_profiler(module: Any) -> None:
    """Say what the program says to the profiler: signposts are messages to it."""
    before = module.profiler.tracy_message

    def tracy_message(source: str, *arguments: Any, **named: Any) -> None:
        teller.tell({"profiler": str(source)})
        before(source, *arguments, **named)

    module.profiler.tracy_message = tracy_message


def offer_what_needs_fast_dispatch(module: Any) -> None:
    """Let `ttnn._ttnn` capture and execute metal traces, and load managers of one sub-device."""
    load("tensim_trace_calls", TRACE_CALLS).replace_calls(module, teller.tell)
    load("tensim_sub_device_calls", SUB_DEVICE_CALLS).replace_calls(module)
    tell_profiler(module)


def elapsed() -> int:
    """ns that programs have taken on the device so far."""
    return int(teller.tell({"elapsed": True}))


def described(arguments: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
    """[tensors, settings] of a call, wherever its tensors lie."""
    tensors = tensors_in((*arguments, *named.values()))
    plain = [str(value) for value in arguments if isinstance(value, SETTINGS) or is_of_library(value)]
    return [
        [{name: part for name, part in one.items() if name != "address"} for one in tensors],
        plain,
        settings_of(named),
    ]


class Watch(importlib.abc.MetaPathFinder):
    """Changes modules of the library as soon as they are imported."""

    def __init__(self) -> None:
        self.changes = {
            "ttnn.decorators": tell_operations, "ttnn.graph": offer_run_times, "ttnn._ttnn": offer_what_needs_fast_dispatch,
        }  # fmt: skip

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        change = self.changes.pop(name, None)
        if change is None:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        assert spec is not None and spec.loader is not None  # it is a module of the library's
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            change(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]  # of this one loader
        return spec


def load(name: str, file: str, folders: list[str] | None = None) -> ModuleType:
    """A module of a file of ours; `folders`: those of a package."""
    spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=folders)
    assert spec is not None and spec.loader is not None  # of a file with Python's suffix
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def offer_stand_ins() -> None:
    """Offer what stands in for modules that tests of ttnn programs import, where nobody else has them."""
    package = load("tensim_stand_ins", os.path.join(STAND_INS, "__init__.py"), [STAND_INS])
    sys.meta_path.append(package.StandIns())


def end_with_the_simulator() -> None:
    """Let the system end this process when the simulator ends, however that does; elsewhere its next access does."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PARENT_DEATH_SIGNAL, signal.SIGTERM)


def main(arguments: Sequence[str]) -> None:
    end_with_the_simulator()
    sys.meta_path.insert(0, Watch())
    offer_stand_ins()
    first, *rest = arguments
    if first == "-m":
        sys.argv = rest
        sys.path[0] = os.getcwd()
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
        return
    sys.argv = [first, *rest]
    sys.path[0] = os.path.dirname(os.path.abspath(first))
    runpy.run_path(first, run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
