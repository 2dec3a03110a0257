"""numba at work: dispatchers of compiled functions, its disk cache, and object code of what Python calls.

Two things that take most of numba's time are avoided: optimization and machine code of functions that others link
(`LinkedLibrary`), and loads that nobody needs (`without_dead_loads`).  To numba a constant in a call is a type of its own, for
which it would compile the called function anew, although the machine code makes nothing of it: a quarter of the first start.
"""

import contextlib
import io
import pickle
from pathlib import Path
from typing import NamedTuple

import llvmlite.binding as llvm
import numba
from numba.core import types
from numba.core.caching import CompileResultCacheImpl, IndexDataCacheFile
from numba.core.codegen import CPUCodeLibrary, JITCodeLibrary
from numba.core.generators import GeneratorDescriptor
from numba.core.registry import CPUDispatcher, cpu_target
from numba.extending import intrinsic

from tensim.sim.engine import table_types  # noqa: F401  teaches numba what a table is
from tensim.sim.engine.cache import DIRECTORY, compiled_sources
from tensim.sim.engine.machine_code import C_FUNCTIONS
from tensim.sim.engine.processor import target
from tensim.sim.engine.sealed_files import read_sealed, write_sealed
from tensim.sim.errors import SimulatorError

if target().cpu is not None:
    numba.config.CPU_NAME, numba.config.CPU_FEATURES = target().cpu, ""  # the level's own
# Nothing is allocated, so nothing needs a reference count.
OPTIONS = {"nopython": True, "boundscheck": None, "_nrt": False}
# What only compiled code calls needs no entries for Python and C, which are a quarter of its compilation.
BARE = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


_SET_ENVIRONMENT = cpu_target.target_context.codegen().set_env


def plain_type(kind):
    """The type of a constant's value: without the value, and that of integers for a member of an enumeration."""
    return kind.dtype if isinstance(kind, types.IntEnumMember) else types.unliteral(kind)


class LinkedLibrary(JITCodeLibrary):
    """Code of functions that only compiled code calls: it becomes part of others, which are optimized and made machine code of.

    numba would do both for every function, with all that it calls each time.
    """

    def _optimize_final_module(self):
        pass

    def _finalize_final_module(self):
        self._finalize_dynamic_globals()
        self._finalized = True

    def serialize_using_object_code(self):
        """For the disk cache, which has no object code here."""
        return self.serialize_using_bitcode()

    def object_code(self, symbol):
        """An ELF object of all the code (bytes), of which `symbol` is called from outside.

        What nobody else can call, LLVM may change: it drops results that are always the same, such as the status of a function
        that never raises, and puts a function with one caller into it.
        """
        for function in self._final_module.functions:
            if not function.is_declaration and function.name != symbol:
                function.linkage = "internal"
        super()._optimize_final_module()
        self._final_module.verify()
        return self.codegen._tm.emit_object(self._final_module)


@contextlib.contextmanager
def _libraries_for(options):
    """What is compiled, or comes from the disk cache, with these options of a dispatcher becomes libraries of the right kind."""
    codegen = cpu_target.target_context.codegen()
    before = codegen._library_class, codegen.set_env
    if options.get("no_cpython_wrapper"):
        # no Python object is used
        codegen._library_class, codegen.set_env = LinkedLibrary, lambda name, environment: None
    else:
        codegen._library_class, codegen.set_env = JITCodeLibrary, _SET_ENVIRONMENT
    try:
        yield
    finally:
        codegen._library_class, codegen.set_env = before


class LibraryDispatcher(CPUDispatcher):
    """Makes `LinkedLibrary`s of what has no entry for Python."""

    def compile(self, sig):
        """As numba's."""
        with _libraries_for(self.targetoptions):
            return super().compile(sig)


class Dispatcher(LibraryDispatcher):
    """Takes constants that a compiled function passes on as values of their type."""

    def get_call_template(self, args, kws):
        """As numba's, for the types of constants."""
        plain = {name: plain_type(kind) for name, kind in kws.items()}
        return super().get_call_template(tuple(map(plain_type, args)), plain)


class IntegerDispatcher(LibraryDispatcher):
    """Takes every argument as an int64, so that there is one compilation."""

    def get_call_template(self, args, kws):
        """As numba's, for int64."""
        return super().get_call_template((types.int64,) * len(args), kws)


def compiled_for_integers(function):
    """Decorator: a compiled function whose arguments are all int64."""
    dispatcher = IntegerDispatcher(function, targetoptions=OPTIONS)
    _enable_caching(dispatcher)
    return dispatcher


def cached_dispatcher(function, for_python=False):
    """A dispatcher of a `Compiled`, for what compiled code calls or for what Python does; numba keeps the code of a function of the
    engine in its disk cache.
    """
    options = {**OPTIONS, **({} if for_python else BARE), **function.targetoptions}
    dispatcher = Dispatcher(function.py_func, targetoptions=options)
    if function.__module__.removeprefix("tensim.") in _COVERED:  # numba does not notice a change elsewhere
        _enable_caching(dispatcher, "-python" if for_python else "")
    return dispatcher


class SealedFiles(IndexDataCacheFile):
    """numba's files of a function, sealed: a damaged one counts as absent, and one that cannot be written costs time only."""

    def save(self, key, data):
        """As numba's."""
        with contextlib.suppress(OSError):
            super().save(key, data)

    @contextlib.contextmanager
    def _open_for_write(self, filepath):
        content = io.BytesIO()
        yield content
        write_sealed(Path(filepath), content.getvalue())

    def _load_index(self):
        content = read_sealed(self._index_path)
        if content is None:
            return {}
        stream = io.BytesIO(content)
        if pickle.load(stream) != self._version:
            return {}
        stamp, overloads = pickle.load(stream)
        return overloads if stamp == self._source_stamp else {}

    def _load_data(self, name):
        content = read_sealed(self._data_path(name))
        if content is None:
            raise FileNotFoundError(name)  # which counts as absent
        return pickle.loads(content)


def _enable_caching(dispatcher, suffix=""):
    dispatcher.enable_caching()
    cache = dispatcher._cache
    stamp = cache._impl.locator.get_source_stamp()
    cache._cache_file = SealedFiles(cache._cache_path, cache._impl.filename_base + suffix, stamp)


def type_of_intrinsic(function):
    """numba's type of the intrinsic that a function defines."""
    value, typing = intrinsic(function), cpu_target.typing_context
    typing.refresh()  # it is not known there yet
    return typing.resolve_value_type(value)


def without_dead_loads(add_llvm_module):
    """numba's `CPUCodeLibrary.add_llvm_module` without what is dead from the start.

    Whenever a variable is assigned or deleted, numba loads what it held, to give back a reference that nobody counts here.  Dead
    as these loads are, they keep variables alive between the yields of a kernel: with 4,000 variables and 300 yields LLVM
    carries 600,000 phi nodes from block to block, and takes 26 s in place of 0.7.
    """

    def add(library, module):
        passes = llvm.create_new_module_pass_manager()
        passes.add_dead_code_elimination_pass()
        passes.run(module, llvm.create_pass_builder(library.codegen._tm, llvm.create_pipeline_tuning_options()))
        add_llvm_module(library, module)

    return add


class ObjectCode(NamedTuple):
    """Machine code of one function with all that it calls.

    `content`: an ELF object; `symbol`: name of the native function, or of the one that resumes a generator;
    `frame_bytes`: of a generator's frame, 0 for a function.
    """

    content: bytes
    symbol: str
    frame_bytes: int


def object_code(function, n_arguments, error_model="python"):
    """The `ObjectCode` of a Python function of `n_arguments` int64; `error_model`: numba's, for divisions."""
    options = {**OPTIONS, "error_model": error_model}
    dispatcher = Dispatcher(function, targetoptions={**options, **BARE})
    arguments = (types.int64,) * n_arguments
    dispatcher.compile(arguments)
    overload = dispatcher.overloads[arguments]
    symbol, frame_bytes, returned = overload.fndesc.llvm_func_name, 0, overload.signature.return_type
    if isinstance(returned, types.Generator):
        context = overload.target_context
        descriptor = GeneratorDescriptor.from_generator_fndesc(None, overload.fndesc, returned, context.mangler)
        symbol, frame_bytes = descriptor.llvm_func_name, context.get_abi_sizeof(context.get_return_type(returned))
    library = overload.library
    content = library.object_code(symbol)
    _check_calls(library)
    return ObjectCode(content, symbol, frame_bytes)


def _check_calls(library):
    """SimulatorError when the code calls what `machine_code` does not provide."""
    declared = {function.name for function in library._final_module.functions if function.is_declaration}
    unknown = sorted(name for name in declared - set(C_FUNCTIONS) if not name.startswith("llvm."))
    if unknown:
        raise SimulatorError(f"compiled code calls {', '.join(unknown)}")


_COVERED = compiled_sources()


class ModuleLocator:
    """Where numba keeps a function of `COMPILED`; the directory's name stands for the state of its source."""

    def __init__(self, function, file):
        self._py_file, self._line = file, function.__code__.co_firstlineno  # numba's warnings name the file
        self._path = DIRECTORY / function.__module__.rpartition(".")[0]

    @classmethod
    def from_function(cls, function, file):
        """The locator of a function; None for one that the directory's name says nothing of."""
        return cls(function, file) if function.__module__.removeprefix("tensim.") in _COVERED else None

    def ensure_cache_path(self):
        """Make the directory."""
        self._path.mkdir(parents=True, exist_ok=True)

    def get_cache_path(self):
        """The directory."""
        return str(self._path)

    def get_source_stamp(self):
        """State of the source."""
        return DIRECTORY.name

    def get_disambiguator(self):
        """Tells functions of one name apart."""
        return str(self._line)


numba.config.CACHE_DIR = str(DIRECTORY)
CPUCodeLibrary.add_llvm_module = without_dead_loads(CPUCodeLibrary.add_llvm_module)
CompileResultCacheImpl._locator_classes = [ModuleLocator, *CompileResultCacheImpl._locator_classes]
