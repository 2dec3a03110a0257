"""What describes a program: kernels with their arguments and configurations, circular buffers, semaphores.

A ProgramDescriptor copies what it is given; `descriptor.kernels[0]` is the copy itself, so changing it changes the
program, while the list that `descriptor.kernels` returns is a new one each time.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, Self, TypeAlias, TypeVar, cast, overload

from tensim.ttnn.cb_descriptors import CBDescriptor
from tensim.ttnn.cores import CoreRangeSet, pair
from tensim.ttnn.enums import (
    NOC,
    NOC_MODE,
    CoreType,
    DataMovementProcessor,
    KernelBuildOptLevel,
    MathFidelity,
    SourceType,
    UnpackToDestMode,
)
from tensim.ttnn.errors import ArgumentError, ArgumentTypeError, check_type, unsigned
from tensim.ttnn.runtime_args import RuntimeArgs, VectorUInt32, checked_words

if TYPE_CHECKING:
    from tensim.ttnn.cores import CoreLike, Place
    from tensim.ttnn.meshes import MeshCoordinateRange


def _pairs(owner: str, field: str, values: Any, kind: type[int] | type[str]) -> list[tuple[str, Any]]:
    """List of (name, value); dicts and other kinds of values are refused."""
    if isinstance(values, dict | str) or not hasattr(values, "__iter__"):
        raise ArgumentTypeError(f"{owner}: {field} takes a list of (name, value), not {type(values).__name__}")
    result = []
    for item in values:
        if not isinstance(item, tuple | list) or len(item) != 2 or not isinstance(item[0], str):
            raise ArgumentTypeError(f"{owner}: {field} takes (name, value), not {item!r}")
        name, value = item
        value = check_type(owner, field, value, str) if kind is str else unsigned(owner, field, value)
        result.append((name, value))
    return result


class ReaderConfigDescriptor:
    """A kernel on NCRISC that uses NoC 0."""

    processor, noc, noc_mode = DataMovementProcessor.RISCV_1, NOC.NOC_0, NOC_MODE.DM_DEDICATED_NOC


class WriterConfigDescriptor:
    """A kernel on BRISC that uses NoC 1."""

    processor, noc, noc_mode = DataMovementProcessor.RISCV_0, NOC.NOC_1, NOC_MODE.DM_DEDICATED_NOC


class DataMovementConfigDescriptor:
    """A kernel on one of the data-movement processors, with the NoC of its choice."""

    def __init__(
        self,
        processor: DataMovementProcessor = DataMovementProcessor.RISCV_0,
        noc: NOC = NOC.RISCV_0_default,
        noc_mode: NOC_MODE = NOC_MODE.DM_DEDICATED_NOC,
    ) -> None:
        what = "DataMovementConfigDescriptor"
        self.processor = check_type(what, "processor", processor, DataMovementProcessor)
        self.noc = check_type(what, "noc", noc, NOC)
        self.noc_mode = check_type(what, "noc_mode", noc_mode, NOC_MODE)


class ComputeConfigDescriptor:
    """A kernel on the three compute processors."""

    def __init__(
        self,
        math_fidelity: MathFidelity = MathFidelity.HiFi4,
        math_approx_mode: bool = False,
        fp32_dest_acc_en: bool = False,
        dst_full_sync_en: bool = False,
        bfp8_pack_precise: bool = False,
    ) -> None:
        self.math_fidelity = check_type("ComputeConfigDescriptor", "math_fidelity", math_fidelity, MathFidelity)
        self.math_approx_mode, self.fp32_dest_acc_en = bool(math_approx_mode), bool(fp32_dest_acc_en)
        self.dst_full_sync_en, self.bfp8_pack_precise = bool(dst_full_sync_en), bool(bfp8_pack_precise)
        self._unpack_to_dest_mode, self.enable_trisc2_rvv = [], False

    @property
    def unpack_to_dest_mode(self) -> list[UnpackToDestMode]:
        """UnpackToDestMode by circular buffer index; a copy, assign a list to change it."""
        return list(self._unpack_to_dest_mode)

    @unpack_to_dest_mode.setter
    def unpack_to_dest_mode(self, modes: Iterable[UnpackToDestMode]) -> None:
        what = "ComputeConfigDescriptor"
        self._unpack_to_dest_mode = [check_type(what, "unpack_to_dest_mode", item, UnpackToDestMode) for item in modes]


T = TypeVar("T")
Given = TypeVar("Given")
Kept = TypeVar("Kept")
Source: TypeAlias = SourceType  # KernelDescriptor has an attribute of that name
Entries: TypeAlias = "Sequence[tuple[CoreLike, Iterable[int]]]"  # words of cores
VectorUnpackToDestMode = list
Mover: TypeAlias = ReaderConfigDescriptor | WriterConfigDescriptor | DataMovementConfigDescriptor
Config: TypeAlias = Mover | ComputeConfigDescriptor
CONFIGS = (ReaderConfigDescriptor, WriterConfigDescriptor, DataMovementConfigDescriptor, ComputeConfigDescriptor)


def _named_words(owner: str, name: str, values: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    return _pairs(owner, name, values, int)


def _named_texts(owner: str, name: str, values: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return _pairs(owner, name, values, str)


def _runtime_args(owner: str, name: str, values: RuntimeArgs | Entries) -> RuntimeArgs:
    return RuntimeArgs.of(values)


def _paths(owner: str, name: str, values: Iterable[str | os.PathLike[str]]) -> list[str]:
    return [os.fspath(value) for value in values]


def _of_type(*types: type) -> Callable[[str, str, Any], Any]:
    return lambda owner, name, value: check_type(owner, name, value, types)


class _Checked(Generic[Given, Kept]):
    """A field of KernelDescriptor whose values pass through `convert(owner, name, value)` when they are assigned."""

    def __init__(self, convert: Callable[[str, str, Given], Kept]) -> None:
        self._convert = convert

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, one: None, owner: type) -> Self: ...
    @overload
    def __get__(self, one: KernelDescriptor, owner: type) -> Kept: ...
    def __get__(self, one: KernelDescriptor | None, owner: type) -> Self | Kept:
        return self if one is None else one._values[self._name]

    def __set__(self, one: KernelDescriptor, value: Given) -> None:
        one._values[self._name] = self._convert("KernelDescriptor", self._name, value)


class KernelDescriptor:
    """A kernel: its source (a file, or the text with SOURCE_CODE), cores, arguments, defines and configuration."""

    SourceType = Source

    kernel_source = _Checked[str, str](_of_type(str))
    core_ranges = _Checked[CoreRangeSet, CoreRangeSet](_of_type(CoreRangeSet))
    compile_time_args = _Checked[Iterable[int], VectorUInt32](checked_words)
    common_runtime_args = _Checked[Iterable[int], VectorUInt32](checked_words)
    named_compile_time_args = _Checked(_named_words)
    blaze_named_compile_time_args = _Checked(_named_words)
    defines = _Checked(_named_texts)
    runtime_args = _Checked(_runtime_args)
    opt_level = _Checked["KernelBuildOptLevel | None", "KernelBuildOptLevel | None"](
        _of_type(KernelBuildOptLevel, type(None))
    )
    config = _Checked[Config, Config](_of_type(*CONFIGS))
    compiler_include_paths = _Checked(_paths)

    def __init__(
        self,
        kernel_source: str | None = None,
        source_type: Source | None = None,
        core_ranges: CoreRangeSet | None = None,
        compile_time_args: Iterable[int] = (),
        named_compile_time_args: Iterable[tuple[str, int]] = (),
        defines: Iterable[tuple[str, str]] = (),
        runtime_args: RuntimeArgs | Entries = (),
        common_runtime_args: Iterable[int] = (),
        opt_level: KernelBuildOptLevel | None = None,
        config: Config | None = None,
        compiler_include_paths: Iterable[str | os.PathLike[str]] = (),
        *,
        blaze_named_compile_time_args: Iterable[tuple[str, int]] = (),
    ) -> None:
        empty = kernel_source is core_ranges is config is None
        self._values: dict[str, Any] = {}
        for name in ("blaze_named_common_runtime_args", "blaze_named_per_core_runtime_args",
                     "blaze_named_common_runtime_arg_arrays", "blaze_named_per_core_runtime_arg_arrays"):  # fmt: skip
            setattr(self, name, [])
        self.kernel_source = "" if empty else cast(str, kernel_source)  # None is refused here
        self.source_type = source_type or Source.FILE_PATH
        self.core_ranges = CoreRangeSet([]) if empty else cast(CoreRangeSet, core_ranges)
        self.compile_time_args, self.common_runtime_args = compile_time_args, common_runtime_args
        self.named_compile_time_args, self.defines = named_compile_time_args, defines
        self.blaze_named_compile_time_args = blaze_named_compile_time_args
        self.runtime_args, self.opt_level = list(runtime_args) if runtime_args == () else runtime_args, opt_level
        self.config = ReaderConfigDescriptor() if empty else cast(Config, config)
        self.compiler_include_paths = compiler_include_paths

    def clear_runtime_args(self) -> None:
        """Forget all runtime arguments."""
        self.runtime_args.clear()

    def append_runtime_args_from(self, other: KernelDescriptor) -> None:
        """Append another kernel's arguments, core by core, behind zeros up to the longest list of this one's."""
        mine, theirs = self.runtime_args, other.runtime_args
        if not len(mine):
            for place in _columns(self.core_ranges):
                mine.append(place, [])
        longest = max((len(words) for _, words in mine), default=0)
        for core, words in mine:
            words.extend([0] * (longest - len(words)))
            if pair(core) in theirs._places:
                words.extend(theirs.words(pair(core)))

    def extend_runtime_args_uniform(self, values: Iterable[int]) -> None:
        """Append the same words on every core."""
        if not len(self.runtime_args):
            for place in _columns(self.core_ranges):
                self.runtime_args.append(place, [])
        for _, words in self.runtime_args:
            words.extend(values)

    def append_common_runtime_args_from(self, other: KernelDescriptor) -> None:
        """Append another kernel's common arguments."""
        self.common_runtime_args.extend(other.common_runtime_args)

    def __copy__(self) -> Self:
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin._values = dict(self._values)
        twin._values["compile_time_args"] = VectorUInt32(self.compile_time_args)
        twin._values["common_runtime_args"] = VectorUInt32(self.common_runtime_args)
        twin._values["runtime_args"] = RuntimeArgs.of(self.runtime_args)
        twin._values["config"] = copy.copy(self.config)
        return twin

    def __repr__(self) -> str:
        source = self.kernel_source if self.source_type == Source.FILE_PATH else "source code"
        return f"KernelDescriptor({source}, {self.core_ranges}, {type(self.config).__name__})"


def _columns(grid: CoreRangeSet) -> list[Place]:
    """Cores range by range, x by x."""
    return [
        (x, y)
        for item in grid.ranges()
        for x in range(item.start.x, item.end.x + 1)
        for y in range(item.start.y, item.end.y + 1)
    ]


class SemaphoreDescriptor:
    """A semaphore: its id, cores, and the value at every start."""

    def __init__(
        self,
        id: int | None = None,
        core_type: CoreType = CoreType.WORKER,
        core_ranges: CoreRangeSet | None = None,
        initial_value: int = 0,
    ) -> None:
        if id is None and core_ranges is None:
            id, core_ranges = 0, CoreRangeSet([])
        self._id = unsigned("SemaphoreDescriptor", "id", id)
        self.core_type = check_type("SemaphoreDescriptor", "core_type", core_type, CoreType)
        self.core_ranges = check_type("SemaphoreDescriptor", "core_ranges", core_ranges, CoreRangeSet)
        self.initial_value = unsigned("SemaphoreDescriptor", "initial_value", initial_value)

    @property
    def id(self) -> int:
        return self._id

    def __repr__(self) -> str:
        return f"SemaphoreDescriptor({self.id}, {self.core_ranges}, {self.initial_value})"


class ProgramDescriptor:
    """Kernels, semaphores and circular buffers, copied from what is given."""

    def __init__(
        self,
        kernels: Iterable[KernelDescriptor] = (),
        semaphores: Iterable[SemaphoreDescriptor] = (),
        cbs: Iterable[CBDescriptor] = (),
    ) -> None:
        self.kernels, self.semaphores, self.cbs = kernels, semaphores, cbs
        self._hash: int | None = None
        self.reload_table_addr = self.reload_core_ranges = None

    @property
    def kernels(self) -> list[KernelDescriptor]:
        return list(self._kernels)

    @kernels.setter
    def kernels(self, given: Iterable[KernelDescriptor]) -> None:
        self._kernels = _copies("kernels", given, KernelDescriptor, self.__dict__.get("_kernels", ()))

    @property
    def semaphores(self) -> list[SemaphoreDescriptor]:
        return list(self._semaphores)

    @semaphores.setter
    def semaphores(self, given: Iterable[SemaphoreDescriptor]) -> None:
        self._semaphores = _copies("semaphores", given, SemaphoreDescriptor, self.__dict__.get("_semaphores", ()))

    @property
    def cbs(self) -> list[CBDescriptor]:
        return list(self._cbs)

    @cbs.setter
    def cbs(self, given: Iterable[CBDescriptor]) -> None:
        self._cbs = _copies("cbs", given, CBDescriptor, self.__dict__.get("_cbs", ()))

    @property
    def custom_program_hash(self) -> int | None:
        """A number that takes the place of the program's description in the program cache, or None."""
        return self._hash

    @custom_program_hash.setter
    def custom_program_hash(self, value: int | None) -> None:
        self._hash = None if value is None else unsigned("ProgramDescriptor", "custom_program_hash", value, 64)

    def __repr__(self) -> str:
        return f"ProgramDescriptor({self._kernels}, {self._semaphores}, {self._cbs})"


def _copies(field: str, given: Iterable[T], kind: type[T], own: Iterable[T]) -> list[T]:
    """Copies of descriptors; those that are the program's own already stay themselves."""
    if not isinstance(given, Iterable):
        raise ArgumentTypeError(
            f"ProgramDescriptor: {field} takes a list of {kind.__name__}, not {type(given).__name__}"
        )
    mine = {id(item) for item in own}
    checked = [check_type("ProgramDescriptor", field, item, kind) for item in given]
    return [item if id(item) in mine else copy.copy(item) for item in checked]


class MeshProgramDescriptor:
    """Programs by the MeshCoordinateRange that runs them."""

    def __init__(self, mesh_programs: Mapping[MeshCoordinateRange, ProgramDescriptor] | None = None) -> None:
        self._programs = list((mesh_programs or {}).items())

    @property
    def mesh_programs(self) -> dict[MeshCoordinateRange, ProgramDescriptor]:
        return dict(self._programs)

    def __setitem__(self, where: MeshCoordinateRange, program: ProgramDescriptor) -> None:
        check_type("MeshProgramDescriptor", "a program", program, ProgramDescriptor)
        self._programs.append((where, program))

    def __getitem__(self, where: MeshCoordinateRange) -> ProgramDescriptor:
        for one, program in self._programs:
            if one == where:
                return program
        raise KeyError(where)

    def __contains__(self, where: object) -> bool:
        return any(one == where for one, _ in self._programs)

    def __iter__(self) -> Iterator[tuple[MeshCoordinateRange, ProgramDescriptor]]:
        return iter(list(self._programs))

    def __len__(self) -> int:
        return len(self._programs)


def merge_program_descriptors(descriptors: Sequence[ProgramDescriptor]) -> ProgramDescriptor:
    """One program of several, whose kernels run on different cores."""
    taken = set()
    for descriptor in descriptors:
        cores = {core for kernel in descriptor.kernels for core in kernel.core_ranges.cores()}
        if taken & cores:
            raise ArgumentError(f"merge_program_descriptors: core {min(taken & cores)} runs kernels of two programs")
        taken |= cores
    return ProgramDescriptor(
        [kernel for descriptor in descriptors for kernel in descriptor.kernels],
        [semaphore for descriptor in descriptors for semaphore in descriptor.semaphores],
        [cb for descriptor in descriptors for cb in descriptor.cbs],
    )
