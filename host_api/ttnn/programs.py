"""`generic_op`: programs of descriptors, built once by the host API and kept in the device's program cache.

A call with a program that the cache knows renews its runtime arguments and the addresses of circular buffers that lie on
tensors.  Their values, and the number of arguments, do not decide whether it is known.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import tensim.program as host
import tensim.types as metal
from tensim.sim.errors import KernelCompileError, TensimError, TensimWarning
from tensim.sim.host import commands as c
from tensim.ttnn.cores import pair
from tensim.ttnn.descriptors import ComputeConfigDescriptor, KernelDescriptor, MeshProgramDescriptor, ProgramDescriptor
from tensim.ttnn.enums import NOC_MODE, DataMovementProcessor, SourceType
from tensim.ttnn.errors import ArgumentError, ArgumentTypeError
from tensim.ttnn.fabric import kernel_defines
from tensim.ttnn.measurements import measure
from tensim.ttnn.meshes import MeshCoordinate, MeshCoordinateRange
from tensim.ttnn.tensors import Tensor
from tensim.types import DataFormat

if TYPE_CHECKING:
    from tensim.ttnn.cb_descriptors import CBDescriptor
    from tensim.ttnn.cores import Place
    from tensim.ttnn.descriptors import Config, Mover, SemaphoreDescriptor
    from tensim.ttnn.devices import MeshDevice

Sent: TypeAlias = "tuple[tuple[list[Place], list[list[int]]], list[int]]"  # (cores, words of each), common words
Placed: TypeAlias = "Sequence[tuple[MeshCoordinateRange, ProgramDescriptor]]"
PLACEMENT = ("l1_overflow", "l1_clash")  # kinds of errors about where circular buffers lie


def generic_op(io_tensors: Iterable[Tensor], program_descriptor: ProgramDescriptor | MeshProgramDescriptor) -> Tensor:
    """Run a program on the device of its tensors; returns the last of them, the output.

    `io_tensors`: at least an input and an output, all on one device.  On a mesh of several chips a ProgramDescriptor runs on all,
    the programs of a MeshProgramDescriptor each on its chips, all at the same time.  Errors name descriptor and field.
    """
    tensors = list(io_tensors)
    if len(tensors) < 2:
        raise ArgumentError(f"generic_op: io_tensors: an input and an output are needed, there are {len(tensors)}")
    for index, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            raise ArgumentTypeError(f"generic_op: io_tensors[{index}] is no Tensor but {type(tensor).__name__}")
        tensor.device_buffer(f"generic_op: io_tensors[{index}]")
    device = tensors[0].device()
    if any(tensor.device() is not device for tensor in tensors):
        raise ArgumentError("generic_op: io_tensors: they are on different devices")
    assert device is not None  # they have buffers
    _run(device, _programs_of(program_descriptor, device))
    return tensors[-1]


def _programs_of(descriptor: ProgramDescriptor | MeshProgramDescriptor, device: MeshDevice) -> Placed:
    """The programs of a descriptor with their places; one alone runs on all chips."""
    if isinstance(descriptor, MeshProgramDescriptor):
        placed = list(descriptor)
    elif isinstance(descriptor, ProgramDescriptor):
        placed = [(MeshCoordinateRange(device.shape), descriptor)]
    else:
        raise ArgumentTypeError(f"generic_op: program_descriptor is no ProgramDescriptor but {descriptor!r}")
    taken: set[MeshCoordinate] = set()
    for where, _ in placed:
        places = set(where)
        if not all(a < b for place in places for a, b in zip(place, device.shape, strict=True)):
            raise ArgumentError(f"generic_op: program_descriptor: {where} lies outside the mesh of {device.shape}")
        if taken & places:
            raise ArgumentError(f"generic_op: program_descriptor: {min(taken & places, key=tuple)} has two programs")
        taken |= places
    if not taken:
        raise ArgumentError("generic_op: program_descriptor: it holds no program")
    return placed


def program_key(descriptor: ProgramDescriptor) -> Hashable:
    """What decides whether a program is known: everything but runtime arguments and addresses."""
    if descriptor.custom_program_hash is not None:
        return descriptor.custom_program_hash
    return (
        tuple(_kernel_key(kernel) for kernel in descriptor._kernels),
        tuple((semaphore.id, semaphore.core_ranges, semaphore.initial_value) for semaphore in descriptor._semaphores),
        tuple(_cb_key(item) for item in descriptor._cbs),
    )


def _kernel_key(one: KernelDescriptor) -> tuple[object, ...]:
    config = one.config
    settings = tuple(getattr(config, name) for name in ("processor", "noc", "noc_mode") if hasattr(config, name))
    if isinstance(config, ComputeConfigDescriptor):
        settings = tuple((name, tuple(v) if isinstance(v, list) else v) for name, v in config.__dict__.items())
    return (
        one.source_type, one.kernel_source, one.core_ranges, tuple(one.compile_time_args),
        tuple(one.named_compile_time_args), tuple(one.blaze_named_compile_time_args), tuple(one.defines),
        one.opt_level, type(config), settings,
    )  # fmt: skip


def _cb_key(one: CBDescriptor) -> tuple[Hashable, ...]:
    formats = tuple((f.buffer_index, f.data_format_as_uint8, f.page_size, f.tile) for f in one.format_descriptors)
    return one.total_size, one.core_ranges, formats, one.address_offset, one.has_buffer()


def compute_program_descriptor_hash(descriptor: ProgramDescriptor) -> int:
    """A number of a program's description, runtime arguments and their values included."""
    arguments = tuple(
        (tuple((pair(core), tuple(words)) for core, words in kernel.runtime_args), tuple(kernel.common_runtime_args))
        for kernel in descriptor._kernels
    )
    return hash((program_key(descriptor), arguments)) & (1 << 64) - 1


def _run(device: MeshDevice, placed: Placed) -> None:
    """Put programs into the queues of their chips, built now unless they are known."""
    cache, managers = device.programs, tuple(chip.host._state.manager.id for chip in device.chips)
    # A program keeps to the sub-devices that it was built for
    key = managers, tuple((where, program_key(descriptor)) for where, descriptor in placed)
    built = cache.entries.get(key)
    if built is None and not cache.misses_allowed:
        raise ArgumentError("generic_op: the program is not in the cache, and misses are not allowed")
    if built is None or not built.renew(placed):
        built = Workload(placed, device)
        if cache.on:
            cache.entries[key] = built
    built.enqueue(device)


class Workload:
    """Programs that begin together on the chips of a mesh: (chip, `BuiltProgram`, number of its descriptor) each."""

    def __init__(self, placed: Placed, device: MeshDevice) -> None:
        self.programs = [
            (chip, BuiltProgram(descriptor, chip), number)
            for number, (where, descriptor) in enumerate(placed)
            for chip in map(device.chip, where)
        ]

    def renew(self, placed: Placed) -> bool:
        """Take over arguments and addresses; False when the number of arguments differs, which needs new programs."""
        return all(program.renew(placed[number][1], chip) for chip, program, number in self.programs)

    def enqueue(self, device: MeshDevice) -> None:
        """Put all into the default queues of their chips; the host pays once."""
        for index, (chip, program, _) in enumerate(self.programs):
            program.enqueue(chip, device.default_queue, joined=index > 0)


class BuiltProgram:
    """A program of the host API made of a descriptor.  `sent`: the arguments that it has."""

    def __init__(self, descriptor: ProgramDescriptor, device: MeshDevice) -> None:
        if not descriptor._kernels:
            raise ArgumentError("ProgramDescriptor: kernels: a program needs at least one")
        _check_cores(descriptor, device)
        self.program = host.create_program()
        _check_noc_modes(descriptor._kernels)
        shared = _sharing_a_noc(descriptor._kernels)
        told = kernel_defines(device.joined.fabric) if device.joined is not None and device.joined.has_fabric else {}
        self.kernels = [
            _create_kernel(self.program, index, one, index in shared, told)
            for index, one in enumerate(descriptor._kernels)
        ]
        for index in range(len(descriptor._semaphores)):
            with _naming(f"ProgramDescriptor.semaphores[{index}]"):
                _create_semaphore(self.program, descriptor._semaphores, index)
        self.cbs = [
            _create_circular_buffer(self.program, index, one, device) for index, one in enumerate(descriptor._cbs)
        ]
        self.sent: list[Sent] = [(([], []), []) for _ in self.kernels]
        for index, one in enumerate(descriptor._kernels):
            self._send(index, one)
        self.name = ", ".join(_name(kernel) for kernel in descriptor._kernels)
        self.kept = [item._tensor for item in descriptor._cbs]

    def _send(self, index: int, one: KernelDescriptor) -> None:
        """Give a kernel the arguments that it has not yet."""
        handle, entries = self.kernels[index], one.runtime_args._entries
        cores = [pair(core) for core, _ in entries]
        words = [list(values) for _, values in entries]
        unique, common = (cores, words), list(one.common_runtime_args)
        if handle is not None:
            with _naming(f"ProgramDescriptor.kernels[{index}].runtime_args"):
                if cores and unique != self.sent[index][0]:
                    host.set_runtime_args(self.program, handle, [metal.CoreCoord(*core) for core in cores], words)
                if common and not self.sent[index][1]:
                    host.set_common_runtime_args(self.program, handle, common)
                elif common != self.sent[index][1]:
                    host.get_common_runtime_args(self.program, handle)[:] = common
        self.sent[index] = unique, common

    def renew(self, descriptor: ProgramDescriptor, device: MeshDevice) -> bool:
        """Take over arguments and addresses; False when the number of arguments differs, which needs a new program."""
        for (unique, common), one in zip(self.sent, descriptor._kernels, strict=True):
            entries = one.runtime_args._entries
            same = len(common) == len(one.common_runtime_args) and len(entries) == len(unique[0])
            if not same or any(len(a) != len(b[1]) for a, b in zip(unique[1], entries, strict=True)):
                return False
        for index, one in enumerate(descriptor._kernels):
            self._send(index, one)
        for handle, one in zip(self.cbs, descriptor._cbs, strict=True):
            if handle is not None and one._tensor is not None:
                buffer = _part_on(one._tensor, device).host_buffer_handle()
                host.update_dynamic_circular_buffer_address(self.program, handle, buffer)
        self.kept = [item._tensor for item in descriptor._cbs]
        return True

    def enqueue(self, device: MeshDevice, queue: int, joined: bool) -> None:
        """Put the program into a queue of a chip; `joined`: it begins with that of another chip, enqueued just before."""
        number = device.queue(queue).id
        with _naming("ProgramDescriptor.cbs", PLACEMENT):
            item = device.host._submit(c.EnqueueProgram(device.host.id, number, self.program.id, False, joined))
        if item is not None:
            measure(device, item, self.name, None if device.joined is None else {"chip": device._number})


def _part_on(tensor: Tensor, chip: MeshDevice) -> Tensor:
    """The part of a tensor that lies on a chip; ArgumentError when none does."""
    for part in tensor.parts():
        if part.device() is chip:
            return part
    raise ArgumentError(f"CBDescriptor: its tensor has no part on device {chip._number}")


@contextlib.contextmanager
def _naming(place: str, kinds: Collection[str] | None = None) -> Iterator[None]:
    """Put the descriptor before the message of an error of the host API, of some kinds or of all but those of the compiler."""
    try:
        yield
    except KernelCompileError:
        raise
    except TensimError as error:
        if kinds is not None and error.kind not in kinds:
            raise
        error.message = f"{place}: {error.message}"
        error.args = (error.message,)
        raise


def _name(one: KernelDescriptor) -> str:
    """A kernel's name in lists: its file's, or what its text is."""
    if one.source_type == SourceType.SOURCE_CODE:
        return "source code"
    return one.kernel_source.rsplit("/", 1)[-1].rsplit(".", 1)[0]


def _check_cores(descriptor: ProgramDescriptor, device: MeshDevice) -> None:
    """UsageError for cores outside the device's grid."""
    host = device.host.system.executor.device(device.host.id)
    for field in ("kernels", "semaphores", "cbs"):
        for index, one in enumerate(getattr(descriptor, field)):
            with _naming(f"ProgramDescriptor.{field}[{index}]"):
                host.check_cores(sorted(one.core_ranges.cores()), "core_ranges")


# --- kernels


def _movers(kernels: Sequence[KernelDescriptor]) -> list[tuple[int, KernelDescriptor, Mover]]:
    """(index, kernel, configuration) of the kernels on data-movement processors."""
    configs = [one.config for one in kernels]
    return [
        (index, kernels[index], config)
        for index, config in enumerate(configs)
        if not isinstance(config, ComputeConfigDescriptor)
    ]


def _check_noc_modes(kernels: Sequence[KernelDescriptor]) -> None:
    modes = {}
    for index, one, config in _movers(kernels):
        for core in one.core_ranges.cores():
            if modes.setdefault(core, config.noc_mode) != config.noc_mode:
                raise ArgumentError(
                    f"ProgramDescriptor.kernels[{index}].config: noc_mode: core {core[0]}-{core[1]} has a kernel of another"
                )


def _sharing_a_noc(kernels: Sequence[KernelDescriptor]) -> set[int]:
    """Indices of kernels that use a NoC which another one of the same core uses too, each by itself."""
    result = set()
    movers = _movers(kernels)
    for i, one, mine in movers:
        for j, other, theirs in movers[:i]:
            alone = mine.noc_mode == NOC_MODE.DM_DEDICATED_NOC
            differ = mine.processor != theirs.processor
            if alone and differ and mine.noc.value == theirs.noc.value:
                if not one.core_ranges.cores().isdisjoint(other.core_ranges.cores()):
                    result |= {i, j}
    if result:
        warnings.warn(
            f"ProgramDescriptor.kernels{sorted(result)}: both data-movement processors of a core use one NoC in "
            "DM_DEDICATED_NOC: on the chip their counters mix; they run here as in DM_DYNAMIC_NOC",
            TensimWarning,
            stacklevel=5,
        )
    return result


def _create_kernel(
    program: host.Program, index: int, one: KernelDescriptor, shares: bool, told: dict[str, str]
) -> int | None:
    """Handle of a kernel; None for one without cores.  `told`: what is defined for kernels of the chip."""
    if one.core_ranges.empty():
        return None
    named = dict(one.named_compile_time_args) | dict(one.blaze_named_compile_time_args)
    common: dict[str, Any] = {
        "compile_args": list(one.compile_time_args), "defines": told | dict(one.defines), "named_compile_args": named,
        "include_paths": one.compiler_include_paths,
    }  # fmt: skip
    if one.opt_level is not None:
        common["opt_level"] = metal.KernelBuildOptLevel[one.opt_level.name]
    with _naming(f"ProgramDescriptor.kernels[{index}]"):
        config = _host_config(one.config, common, shares)
        if one.source_type == SourceType.SOURCE_CODE:
            return host.create_kernel_from_string(program, one.kernel_source, one.core_ranges.host(), config)
        return host.create_kernel(program, one.kernel_source, one.core_ranges.host(), config)


def _host_config(
    config: Config, common: dict[str, Any], shares: bool
) -> metal.ComputeConfig | metal.DataMovementConfig:
    if isinstance(config, ComputeConfigDescriptor):
        modes = [metal.UnpackToDestMode[item.name] for item in config.unpack_to_dest_mode]
        return metal.ComputeConfig(
            math_fidelity=metal.MathFidelity(config.math_fidelity.value), fp32_dest_acc_en=config.fp32_dest_acc_en,
            dst_full_sync_en=config.dst_full_sync_en, unpack_to_dest_mode=modes,
            bfp8_pack_precise=config.bfp8_pack_precise, math_approx_mode=config.math_approx_mode, **common,
        )  # fmt: skip
    if config.processor.value > DataMovementProcessor.RISCV_1.value:
        raise ArgumentError(f"{type(config).__name__}: processor: {config.processor} is on no chip here")
    mode = NOC_MODE.DM_DYNAMIC_NOC if shares else config.noc_mode
    return metal.DataMovementConfig(
        processor=metal.DataMovementProcessor(config.processor.value), noc=metal.NOC(config.noc.value),
        noc_mode=metal.NOC_MODE(mode.value), **common,
    )  # fmt: skip


# --- semaphores and circular buffers


def _create_semaphore(program: host.Program, semaphores: Sequence[SemaphoreDescriptor], index: int) -> None:
    """Under its id; recorded as one of free choice where the first free id is the same."""
    one = semaphores[index]
    cores = one.core_ranges.cores()
    taken = {other.id for other in semaphores[:index] if not cores.isdisjoint(other.core_ranges.cores())}
    first = next(number for number in range(len(taken) + 1) if number not in taken)
    alone = one.core_ranges.size() == 1 and one.id == first
    host.create_semaphore(program, one.core_ranges.host(), one.initial_value, None if alone else one.id)


def _create_circular_buffer(program: host.Program, index: int, one: CBDescriptor, chip: MeshDevice) -> int | None:
    with _naming(f"ProgramDescriptor.cbs[{index}]"):
        if not one.format_descriptors or one.core_ranges.empty() or not one.total_size:
            return None
        if one.address_offset and not one.has_buffer():
            raise ArgumentError(f"address_offset {one.address_offset} needs a tensor's buffer to count from")
        formats = {f.buffer_index: DataFormat(f.data_format_as_uint8) for f in one.format_descriptors}
        config = metal.CircularBufferConfig(one.total_size, formats)
        for f in one.format_descriptors:
            config.set_page_size(f.buffer_index, f.page_size)
            if f.tile is not None:
                config.set_tile_dims(f.buffer_index, (f.tile.height, f.tile.width))
        if one._tensor is not None:
            config.set_globally_allocated_address(_part_on(one._tensor, chip).host_buffer_handle(), one.address_offset)
        return host.create_circular_buffer(program, one.core_ranges.host(), config)
