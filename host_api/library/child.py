"""Runs a program in the library's process, tells tensim which operation begins and ends, and raises what has failed in it.

This file is run by the library's Python, without tensim: it imports nothing but the standard library.
"""

import ctypes
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import runpy
import signal
import socket
import struct
import sys

OPERATION = 32
STAND_INS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "ttnn", "stand_ins")
PARENT_DEATH_SIGNAL = 1  # of Linux's prctl


class Teller:
    """Says over a connection of its own which operation runs; without tensim it says nothing."""

    def __init__(self):
        self.connection, self.running = None, []

    def begin(self, operation):
        """An operation begins; returns why something before it has failed, or ''."""
        self.running.append(operation)
        return self.tell(operation)

    def end(self):
        """The operation that began last ends, when all that it has launched has run; returns why it has failed, or ''."""
        self.running.pop()
        return self.tell(self.running[-1] if self.running else None)

    def tell(self, operation):
        text = json.dumps(operation).encode()
        if self.connection is None:
            self.connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self.connection.connect(os.environ["TENSIM_LIBRARY_SOCKET"])
        self.connection.sendall(struct.pack("<2I", OPERATION, len(text)) + text)
        (size,) = struct.unpack("<I", self.receive(4))
        return self.receive(size).decode()

    def receive(self, size):
        data = b""
        while len(data) < size:
            more = self.connection.recv(size - len(data))
            if not more:
                raise ConnectionError("the simulator has ended")
            data += more
        return data


teller = Teller()


def describe(value):
    """Shape and element type of a tensor, or None."""
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape is None or not hasattr(value, "layout"):
        return None
    return {"shape": [int(size) for size in shape], "dtype": str(dtype).rsplit(".", 1)[-1].lower()}


def told(call):
    """An operation's call that says when it begins and ends."""

    def run(self, *arguments, **named):
        tensors = [found for value in (*arguments, *named.values()) if (found := describe(value)) is not None]
        why = teller.begin({"name": self.python_fully_qualified_name, "tensors": tensors})
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
        why = teller.end()
        if why:
            raise RuntimeError(why)
        return result

    return run


class Watch(importlib.abc.MetaPathFinder):
    """Changes the library's classes of operations as soon as their module is imported."""

    def find_spec(self, name, path, target=None):
        if name != "ttnn.decorators":
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            for kind in ("FastOperation", "Operation"):
                if hasattr(module, kind):
                    operation = getattr(module, kind)
                    operation.__call__ = told(operation.__call__)

        spec.loader.exec_module = exec_module
        return spec


def offer_stand_ins():
    """Offer what stands in for modules that tests of ttnn programs import, where nobody else has them."""
    name, file = "tensim_stand_ins", os.path.join(STAND_INS, "__init__.py")
    spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=[STAND_INS])
    package = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(package)
    sys.meta_path.append(package.StandIns())


def end_with_the_simulator():
    """Let the system end this process when the simulator ends, however that does; elsewhere its next access does."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PARENT_DEATH_SIGNAL, signal.SIGTERM)


def main(arguments):
    end_with_the_simulator()
    sys.meta_path.insert(0, Watch())
    offer_stand_ins()
    first, rest = arguments[0], arguments[1:]
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
