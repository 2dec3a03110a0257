"""Programs: kernels, circular buffers, semaphores and runtime arguments."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tensim.device import current_system, submit
from tensim.references import ReferenceInt
from tensim.sim.cores.riscv.cpp_texts import LIBRARY
from tensim.sim.errors import UsageError
from tensim.sim.host import commands as c
from tensim.sim.host.executor import new_id
from tensim.sim.kernel_source import kernel_from_file, kernel_from_text
from tensim.types import (
    CircularBufferConfig,
    ComputeConfig,
    CoreLike,
    CoreSpec,
    DataMovementConfig,
    EthernetConfig,
    KernelBuildOptLevel,
    MathFidelity,
    Tile,
    core_coord,
    core_ranges,
    range_tuples,
)

if TYPE_CHECKING:
    from types import FrameType

    from tensim.buffer import Buffer, GlobalSemaphore
    from tensim.device import Device
    from tensim.sim.cores.kernels.compiler import Kernel
    from tensim.sim.host.program import Program as ProgramState

    Argument = int | Buffer | GlobalSemaphore  # the latter two stand for their addresses
    KernelConfig = DataMovementConfig | ComputeConfig | EthernetConfig

KERNEL_ROOTS = (*LIBRARY, "TT_METAL_KERNEL_PATH")
WORD_MASK = 0xFFFFFFFF


class Program:
    """Handle of a program; can be enqueued any number of times."""

    def __init__(self) -> None:
        self.id = new_id()
        submit(c.CreateProgram(self.id))

    def __del__(self) -> None:
        submit(c.DeleteProgram(self.id))

    @property
    def _state(self) -> ProgramState:
        return current_system().executor.program(self.id)


def create_program() -> Program:
    """An empty program."""
    return Program()


# --- kernels


def _find_kernel_file(path: str | os.PathLike[str]) -> Path:
    """A kernel's file: beside the program that names it, in the working directory, or below a root of kernels."""
    roots = [Path(), *(Path(os.environ[name]) for name in KERNEL_ROOTS if name in os.environ)]
    beside = _folder_of_the_program()
    if beside is not None and beside != Path.cwd():
        roots.insert(0, beside)
    for root in roots:
        if (root / path).is_file():
            return root / path
    tried = ", ".join(str((root / path).absolute()) for root in roots)
    elsewhere = (
        ""
        if any(map(os.environ.get, KERNEL_ROOTS))
        else f"; kernels of a library are found below {LIBRARY[-1]}, its root, when that is set"
    )
    raise UsageError(f"no kernel file {path}", hint=f"tried {tried}{elsewhere}")


def _folder_of_the_program() -> Path | None:
    """The folder of the file whose code calls this API from outside of it; None when that is no file."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_of_the_api(frame.f_globals.get("__name__", "")):
        frame = frame.f_back
    if frame is None:
        return None
    file = Path(frame.f_code.co_filename)
    return file.parent.absolute() if file.is_file() else None


def _is_of_the_api(module: str) -> bool:
    return module.split(".")[0] == "tensim" and not module.startswith("tensim.examples.")


def _whole(value: Any) -> int:  # whatever int() takes without losing something
    """A number for a word of 32 bits; UsageError for another one."""
    number = int(value)
    if isinstance(value, float | np.floating) and number != value:
        raise UsageError(f"{value} is not a whole number")
    if not -(1 << 31) <= number <= WORD_MASK:
        raise UsageError(f"{value} does not fit a 32-bit word")
    return number


def _word(value: Any) -> int:
    return _whole(value) & WORD_MASK


def _kernel_settings(config: DataMovementConfig | ComputeConfig) -> dict[str, Any]:
    return {
        "compile_args": tuple(_whole(value) for value in config.compile_args),
        "defines": tuple((str(name), value) for name, value in config.defines.items()),
        "named_compile_args": tuple((str(name), _whole(value)) for name, value in config.named_compile_args.items()),
        "opt_level": KernelBuildOptLevel(config.opt_level).name,
    }


def _parameters(config: object) -> c.DataMovementParameters | c.ComputeParameters:
    if isinstance(config, DataMovementConfig):
        return c.DataMovementParameters(
            int(config.processor), int(config.noc), int(config.noc_mode), **_kernel_settings(config)
        )
    if isinstance(config, ComputeConfig):
        if config.math_fidelity == MathFidelity.Invalid:
            raise UsageError("MathFidelity.Invalid is not a fidelity of a kernel")
        return c.ComputeParameters(
            int(config.math_fidelity),
            bool(config.fp32_dest_acc_en),
            bool(config.dst_full_sync_en),
            bool(config.math_approx_mode),
            bool(config.bfp8_pack_precise),
            tuple(int(mode) for mode in config.unpack_to_dest_mode),
            **_kernel_settings(config),
        )
    if isinstance(config, EthernetConfig):
        raise UsageError("tensim models no ethernet cores, so a kernel cannot run on them (EthernetConfig)")
    raise UsageError(
        f"{type(config).__name__} is not a kernel configuration", hint="DataMovementConfig or ComputeConfig"
    )


def create_kernel(
    program: Program, kernel: Kernel | str | os.PathLike, core_spec: CoreSpec, config: KernelConfig
) -> int:
    """Add a kernel to a program; returns its handle.

    `kernel`: a `@kernel` function, the path of a file with one, or the path of a C++ kernel; `core_spec`: CoreCoord,
    CoreRange or CoreRangeSet. UsageError when a processor or NoC is taken on a core, KernelCompileError (at the first
    enqueue at the latest).
    """
    given: Any = kernel
    if isinstance(kernel, str | os.PathLike):
        given = kernel_from_file(_find_kernel_file(kernel))
    elif not hasattr(kernel, "build"):
        raise UsageError(f"{kernel!r} is not a kernel", hint="decorate it with @kernel, or give a file name")
    parameters = _parameters(config)
    if config.include_paths:
        if not hasattr(given, "include_paths"):
            raise UsageError(f"{given.name} is no C++ kernel; include_paths are for those")
        given.include_paths = tuple(map(os.fspath, config.include_paths))
    references = tuple((0, *reference) for reference in _references(config.compile_args))
    return submit(c.CreateKernel(program.id, given, range_tuples(core_spec), parameters, references))


def create_kernel_from_string(program: Program, source: str, core_spec: CoreSpec, config: KernelConfig) -> int:
    """Add a kernel given as source text: of the kernel language, or C++."""
    return create_kernel(program, kernel_from_text(source), core_spec, config)


def create_kernel_from_binary(
    program: Program, files: Sequence[str | os.PathLike], core_spec: CoreSpec, config: ComputeConfig
) -> int:
    """Add a compute kernel given as three ELF files, of unpack, math and pack, that another compiler has made.

    They run instruction by instruction (docs/instruction_level.md). `config`: what the kernel was built with; formats, arguments
    and fidelity are inside the files. UsageError, BinaryError for files that are no such programs.
    """
    from tensim.sim.cores.riscv.llk.kernel_files import KernelOfFiles

    if not isinstance(config, ComputeConfig):
        raise UsageError("ELF files are taken of compute kernels", hint="give them a ComputeConfig")
    found = [_find_kernel_file(path) for path in files]
    kernel = KernelOfFiles([(path, path.read_bytes()) for path in found])
    return submit(c.CreateKernel(program.id, kernel, range_tuples(core_spec), _parameters(config), ()))


def compile_program(device: Device, program: Program) -> None:
    """Compile the kernels and place the circular buffers now instead of at the first enqueue."""
    device._submit(c.CompileProgram(device.id, program.id))


def assign_global_buffer_to_program(buffer: Buffer, program: Program) -> None:
    """Keep a buffer alive as long as a program."""
    submit(c.AssignBufferToProgram(program.id, buffer.unique_id))
    program.__dict__.setdefault("_kept", []).append(buffer)


# --- circular buffers and semaphores


def create_circular_buffer(program: Program, core_spec: CoreSpec, config: CircularBufferConfig) -> int:
    """Add a circular buffer; returns its handle.  UsageError for a duplicate index or wrong sizes."""
    buffer = None if config.buffer is None else config.buffer.unique_id
    record = c.CreateCircularBuffer(
        program.id,
        range_tuples(core_spec),
        config.total_size,
        tuple((index, int(code)) for index, code in sorted(config.formats.items())),
        tuple(sorted(config.page_sizes.items())),
        tuple((index, *tile) for index, tile in sorted(config.tiles.items())),
        buffer,
        config.offset,
    )
    return submit(record)


def get_circular_buffer_config(program: Program, handle: int) -> dict[str, Any]:
    """What a circular buffer looks like now: total_size, formats, page_sizes, tiles (of the indices that set
    them), address (None before the first enqueue).
    """
    cb = program._state.circular_buffer(handle)
    return {
        "total_size": cb.total_size,
        "formats": dict(cb.formats),
        "page_sizes": dict(cb.page_sizes),
        "tiles": {index: Tile(shape) for index, shape in cb.tiles.items()},
        "address": cb.address,
    }


def update_circular_buffer_total_size(program: Program, handle: int, total_size: int) -> None:
    """Change the size; the placement is found again at the next enqueue."""
    submit(c.UpdateCircularBuffer(program.id, handle, total_size=int(total_size)))


def update_circular_buffer_page_size(program: Program, handle: int, index: int, page_size: int) -> None:
    """Change the page size of an index."""
    submit(c.UpdateCircularBuffer(program.id, handle, index=int(index), page_size=int(page_size)))


def update_dynamic_circular_buffer_address(program: Program, handle: int, buffer: Buffer) -> None:
    """Lay a circular buffer that lies on an L1 buffer on another one."""
    submit(c.UpdateCircularBuffer(program.id, handle, buffer=buffer.unique_id))


def update_dynamic_circular_buffer_address_and_total_size(
    program: Program, handle: int, buffer: Buffer, total_size: int
) -> None:
    """Both at once."""
    submit(c.UpdateCircularBuffer(program.id, handle, total_size=int(total_size), buffer=buffer.unique_id))


def create_semaphore(program: Program, core_spec: CoreSpec, initial_value: int, semaphore_id: int | None = None) -> int:
    """Add a semaphore; returns its id.  Its value is written anew at every launch.

    `semaphore_id`: its id, instead of the first that is free; UsageError for one that is taken or too large.
    """
    return submit(c.CreateSemaphore(program.id, range_tuples(core_spec), int(initial_value), semaphore_id))


# --- runtime arguments


def set_runtime_args(
    program: Program, kernel: int, core_spec: CoreSpec, args: Sequence[Argument] | Sequence[Sequence[Argument]]
) -> None:
    """Set unique runtime arguments (32-bit words, or buffers for their addresses).

    One list for every core of `core_spec`, or, with a list of CoreCoord, a list of lists of the same length.
    """
    if isinstance(core_spec, list) and args and isinstance(args[0], list | tuple):
        cores, lists = [core_coord(core) for core in core_spec], cast("Sequence[Sequence[Argument]]", args)
        if len(cores) != len(lists):
            raise UsageError(f"{len(cores)} cores, but {len(lists)} lists of runtime arguments")
        words = tuple(_words(arguments) for arguments in lists)
        references = tuple((i, *reference) for i, list_ in enumerate(lists) for reference in _references(list_))
    else:
        cores, same = list(core_ranges(core_spec)), cast("Sequence[Argument]", args)
        words, shared = (_words(same),) * len(cores), _references(same)
        references = tuple((i, *reference) for i in range(len(cores)) for reference in shared)
    submit(c.SetRuntimeArgs(program.id, kernel, tuple((core.x, core.y) for core in cores), words, references))


def set_common_runtime_args(program: Program, kernel: int, args: Sequence[Argument]) -> None:
    """Set the arguments that all cores of a kernel share; once per kernel."""
    references = tuple((0, *reference) for reference in _references(args))
    submit(c.SetCommonRuntimeArgs(program.id, kernel, _words(args), references))


def _references(args: Sequence[Argument]) -> list[tuple[int, int, int]]:
    """(index, kind, key) of the arguments that stand for something of the chip."""
    values = [getattr(value, "address", value) for value in args]
    return [(i, int(value.kind), value.key) for i, value in enumerate(values) if isinstance(value, ReferenceInt)]


def _words(args: Sequence[Argument]) -> tuple[int, ...]:
    return tuple(_word(getattr(value, "address", value)) for value in args)


class RuntimeArgsView:
    """Mutable view of runtime arguments; writing through it changes the next launch."""

    def __init__(self, program: Program, kernel: int, core: tuple[int, int] | None) -> None:
        self._program, self._kernel, self._core = program, kernel, core

    def _args(self) -> list[int]:
        return self._program._state.args_of(self._kernel, self._core)

    def __len__(self) -> int:
        return len(self._args())

    def __getitem__(self, index: int | slice) -> int | list[int]:
        args = self._args()
        if not isinstance(index, slice) and not -len(args) <= index < len(args):
            raise IndexError(f"runtime argument {index} does not exist; there are {len(args)}")
        return args[index]

    def __setitem__(self, index: int | slice, value: Argument | Sequence[Argument]) -> None:
        if isinstance(index, slice):
            self._set_slice(range(*index.indices(len(self))), list(value))  # type: ignore[arg-type]  # told there
        else:
            one = cast("Argument", value)
            self._set_word(index + len(self) if index < 0 else index, _words([one])[0], one)

    def _set_slice(self, positions: range, values: list[Argument]) -> None:
        if len(positions) != len(values):
            raise UsageError(f"{len(values)} values for {len(positions)} runtime arguments; their number cannot change")
        for position, word, value in zip(positions, _words(values), values, strict=True):
            self._set_word(position, word, value)

    def _set_word(self, position: int, word: int, value: Argument) -> None:
        references = tuple((0, position, *reference[1:]) for reference in _references([value]))
        submit(c.UpdateRuntimeArg(self._program.id, self._kernel, self._core, position, word, references))


def get_runtime_args(
    program: Program, kernel: int, core: CoreLike | None = None
) -> RuntimeArgsView | list[list[RuntimeArgsView | list]]:
    """Mutable view of a kernel's arguments on a core.

    Without `core` the views of all cores as `table[x][y]`; an empty list where the kernel has no arguments.
    """
    if core is None:
        return _table_of_args(program, kernel)
    at = core_coord(core)
    place = (at.x, at.y)
    program._state.args_of(kernel, place)
    return RuntimeArgsView(program, kernel, place)


def _table_of_args(program: Program, kernel: int) -> list[list[RuntimeArgsView | list]]:
    places = set(program._state.kernel(kernel).args)
    width, height = (max((place[axis] for place in places), default=-1) + 1 for axis in (0, 1))
    return [
        [RuntimeArgsView(program, kernel, (x, y)) if (x, y) in places else [] for y in range(height)]
        for x in range(width)
    ]


def get_common_runtime_args(program: Program, kernel: int) -> RuntimeArgsView:
    """Mutable view of a kernel's common arguments."""
    program._state.kernel(kernel)
    return RuntimeArgsView(program, kernel, None)
