"""Machine code on disk: what numba has compiled for Python to call, loaded without it.

A sealed file (`tensim.sim.engine.sealed_files`) holds one line of JSON, {"symbol", "frame_bytes"}, and an object that needs nothing
of numba's or Python's runtime.  It lies in the cache directory of the sources, under a name that tells processors apart.
"""

import ctypes
import fcntl
import functools
import json
import re
import warnings
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tensim.sim.engine.cache import DIRECTORY, sources_digest
from tensim.sim.engine.object_loading import UnknownObject, load_object
from tensim.sim.engine.processor import target
from tensim.sim.engine.sealed_files import read_sealed, write_sealed
from tensim.sim.errors import TensimWarning

FRAME_ARGUMENT = 1  # word of a frame behind its state, an int32 (`tensim.sim.engine.coroutine`)
# What LLVM makes of copies and of mathematics, and how threads wait; the machine code calls nothing else outside itself
C_FUNCTIONS = (
    "memcpy memmove memset "
    "acosf acoshf asinf asinhf atan2f atanf atanhf ceilf cosf coshf erf erfcf erff exp exp2 expf expm1 expm1f floorf fmodf log "
    "log1p log1pf logf pow powf sinf sinhf sqrt sqrtf tanf tanh tanhf truncf "
    "sched_yield usleep"  # how a thread waits for another one (`tensim.sim.engine.atomics`)
).split()
PACKAGED = Path(__file__).with_name("objects")  # what a wheel brings (`release`): a folder by `sources_digest`
_LOADED = []  # LLVM's engines own the code: they live as long as the process


class MachineCode(NamedTuple):
    """`address`: of a native function int32(result*, error**, int64...), for a generator (`frame_bytes` > 0) of the one
    that resumes it: int32(yielded*, error**, frame*).
    """

    address: int
    frame_bytes: int

    def frame(self, argument):
        """A frame of a generator of one int64 that was not resumed yet: int64 words; whoever resumes it keeps it alive."""
        words = np.zeros(self.frame_bytes // 8, np.int64)
        words[FRAME_ARGUMENT] = argument
        return words


def _c_function(name):
    try:
        return getattr(ctypes.CDLL(None), name)
    except AttributeError:
        from ctypes.util import find_library  # brings a part of the standard library with it

        return getattr(ctypes.CDLL(find_library("m")), name)


@functools.cache
def _function_address(name):
    """Of a function of the C library."""
    return ctypes.cast(_c_function(name), ctypes.c_void_p).value


def _path(name):
    return DIRECTORY / "machine_code" / f"{re.sub('[^A-Za-z0-9_.]', '_', name)}-{target().name}.o"


def keep(name, code):
    """Write `tensim.sim.engine.numba_compiler.ObjectCode` to the cache."""
    head = json.dumps({"symbol": code.symbol, "frame_bytes": code.frame_bytes}).encode()
    write_sealed(_path(name), head + b"\n" + code.content)


def load(name):
    """The `MachineCode` of this name, or None when neither the cache nor the wheel holds it, whole."""
    path = _path(name)
    kept = read_sealed(path)
    if kept is None:
        kept = _packaged(path.name)
        if kept is None:
            return None
        with suppress(OSError):  # the next process need not hash the sources
            write_sealed(path, kept)
    head, content = kept.split(b"\n", 1)
    about = json.loads(head)
    return _loaded(content, about["symbol"], about["frame_bytes"])


def _packaged(name):
    """What the wheel brings of this name, made of the same sources; None without."""
    return read_sealed(PACKAGED / sources_digest() / name) if PACKAGED.is_dir() else None


def _loaded(content, symbol, frame_bytes):
    try:
        return MachineCode(load_object(content, symbol, _function_address), frame_bytes)
    except UnknownObject:
        return MachineCode(_loaded_by_llvm(content, symbol), frame_bytes)


def _loaded_by_llvm(content, symbol):
    """Address of a symbol of an object of any processor that LLVM knows."""
    import llvmlite.binding as llvm

    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target_machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(content))
    engine.finalize_object()
    _LOADED.append(engine)
    return engine.get_function_address(symbol)


@functools.cache
def _target_machine():
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    for name in C_FUNCTIONS:
        llvm.add_symbol(name, _function_address(name))
    return llvm.Target.from_default_triple().create_target_machine(opt=3, jit=True)


def load_or_compile(name, compile_function):
    """The `MachineCode` of this name; `compile_function()`, which gives its `ObjectCode`, runs if the cache does not hold it.

    Of several processes that want it at the same time one compiles and the others wait for it.
    """
    code = load(name)
    if code is None:
        with _one_process(name):
            code = load(name)
            if code is None:
                made = compile_function()
                try:
                    keep(name, made)
                except OSError as error:
                    message = f"compiled code cannot be kept in {DIRECTORY}: {error.strerror}"
                    warnings.warn(message, TensimWarning, stacklevel=2)
                code = _loaded(made.content, made.symbol, made.frame_bytes)
    return code


@contextmanager
def _one_process(name):
    """Hold the lock of a name; where files cannot be locked, nothing is held and what is done in the block is done twice."""
    path = _path(name).with_suffix(".lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as file:
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            path.unlink(missing_ok=True)  # whoever waits for it, or makes a new one, finds the code
