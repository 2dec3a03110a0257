"""Objects of machine code in memory: the same results as LLVM's loader gives, and what is left to LLVM."""

import ctypes
import struct

import pytest

from tensim.sim.engine import entry_points, machine_code
from tensim.sim.engine.numba_compiler import object_code
from tensim.sim.engine.object_loading import UnknownObject, load_object

TABLE = tuple(number * number for number in range(300))


def chooses(a, b):
    """A table in memory, a choice among many, a copy of a function of the C library."""
    total = 0
    for i in range(a):
        kind = (i * b) % 9
        if kind == 0:
            total += TABLE[i % 300]
        elif kind == 1:
            total ^= i << 3
        elif kind == 2:
            total -= b
        elif kind == 3:
            total += int(float(i) ** 1.5)
        elif kind == 4:
            total += 7
        else:
            total += kind
    return total


def called(address, *arguments):
    function = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * 2, *[ctypes.c_int64] * len(arguments))(address)
    result, error = ctypes.c_int64(), ctypes.c_void_p()
    assert not function(ctypes.addressof(result), ctypes.addressof(error), *arguments)


@pytest.fixture(scope="module")
def code():
    return object_code(chooses, 2)


def test_code_runs_where_it_was_put(code):
    for _ in range(2):  # each time in memory of its own
        called(load_object(code.content, code.symbol, machine_code._function_address), 1000, 5)


def test_what_runs_is_loaded_without_llvm(monkeypatch):
    def refuse(*_):
        raise AssertionError("LLVM is asked to load code")

    monkeypatch.setattr(machine_code, "_loaded_by_llvm", refuse)
    for entry in (entry_points.run, entry_points.encode_tiles, entry_points.flit_event):
        assert entry.address and machine_code.load(entry.key).address


@pytest.mark.parametrize(
    "change",
    [
        lambda content: b"\xcf\xfa\xed\xfe" + content[4:],
        lambda content: content[:18] + struct.pack("<H", 183) + content[20:],
    ],
    ids=["another format", "another processor"],
)
def test_other_objects_are_left_to_llvm(code, change, monkeypatch):
    with pytest.raises(UnknownObject):
        load_object(change(code.content), code.symbol, machine_code._function_address)
    asked = []
    monkeypatch.setattr(machine_code, "_loaded_by_llvm", lambda content, symbol: asked.append(symbol) or 1)
    assert machine_code._loaded(change(code.content), code.symbol, 0).address == 1 and asked == [code.symbol]


def test_a_function_that_nobody_has_is_left_to_llvm(code):
    with pytest.raises(UnknownObject):
        load_object(code.content, code.symbol, lambda name: 0)
