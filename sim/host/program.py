"""Programs as the executor keeps them: kernels, circular buffers, semaphores, and their placement on a
device.
"""

from dataclasses import field
from typing import Any

from tensim.sim.cores.numerics.data_format import DataFormat
from tensim.sim.engine.limits import MAX_RUNTIME_ARGS, N_CIRCULAR_BUFFERS, N_SEMAPHORES
from tensim.sim.errors import ProgramError, UsageError
from tensim.sim.host.allocator import round_up
from tensim.sim.host.buffers import L1, L1_SMALL, expand
from tensim.sim.host.commands import TILE_HEIGHTS, TILE_WIDTHS, ComputeParameters, DataMovementParameters
from tensim.sim.host.frozen_program import (
    FrozenCircularBuffer,
    FrozenKernel,
    FrozenProgram,
    FrozenSemaphore,
    build_kernels,
    build_target,
)
from tensim.sim.lazy_dataclass import dataclass

FIDELITIES = (0, 2, 3, 4)  # LoFi, HiFi2, HiFi3, HiFi4
DATA_FORMATS = frozenset(int(code) for code in DataFormat if code != DataFormat.Invalid)
DEDICATED_NOC = 0


@dataclass
class ProgramKernel:
    """A kernel of a program; `args`: unique runtime arguments by logical core.

    `references`: {core, or None for common arguments: ((index, Reference, key), ...)} of the arguments that stand for
    something of the chip; `compile_references`: those of the compile-time arguments.
    """

    kernel: Any  # of either front end
    cores: list[tuple[int, int]]
    config: ComputeParameters | DataMovementParameters
    compile_references: tuple = ()
    args: dict = field(default_factory=dict)
    common_args: list = field(default_factory=list)
    references: dict = field(default_factory=dict)

    @property
    def is_compute(self):
        return isinstance(self.config, ComputeParameters)

    @property
    def name(self):
        return self.kernel.name

    def resource_conflict(self, other):
        """What this kernel and another one on the same core both need, or None."""
        if self.is_compute or other.is_compute:
            return "the compute processors" if self.is_compute and other.is_compute else None
        if self.config.processor == other.config.processor:
            return f"data-movement processor RISCV_{self.config.processor}"
        dedicated = self.config.noc_mode == other.config.noc_mode == DEDICATED_NOC
        return f"NOC_{self.config.noc}" if dedicated and self.config.noc == other.config.noc else None

    def check_home(self):
        """Raise UsageError when the kernel's calls belong to the other kind of processor."""
        given = dict(self.config.defines), dict(self.config.named_compile_args)
        home = self.kernel.home(*given)
        mine = "compute" if self.is_compute else "data-movement"
        if home not in (None, mine):
            call, where = self.kernel.home_call(*given)
            raise UsageError(
                f"kernel {self.name} calls {call}, as {home} kernels do, but it is configured as a {mine} kernel",
                where=where,
            )

    def snapshot(self):
        """The kernel with its arguments as they are now."""
        args = tuple((core, tuple(words)) for core, words in self.args.items())
        return FrozenKernel(
            self.kernel, self.config, tuple(self.cores), args, tuple(self.common_args), tuple(self.references.items()),
            self.compile_references,
        )  # fmt: skip

    def refer(self, core, references):
        """The arguments of a core (None: the common ones) that stand for something, in place of those before."""
        self.references.pop(core, None)
        if references:
            self.references[core] = tuple(references)


@dataclass
class ProgramCircularBuffer:
    """A circular buffer: several indices may share its address range.  `buffer`: L1 buffer it lies on, `offset` bytes from
    its start, or None.
    """

    cores: list
    total_size: int
    formats: dict
    page_sizes: dict
    tiles: dict
    buffer: object = None
    offset: int = 0
    address: int | None = None

    def snapshot(self):
        """The circular buffer as it is now."""
        return FrozenCircularBuffer(
            tuple(self.cores),
            self.address,
            self.total_size,
            tuple(self.formats.items()),
            tuple(self.page_sizes.items()),
            tuple((index, *tile) for index, tile in self.tiles.items()),
            self.buffer is not None,
            None if self.buffer is None else self.buffer.id,
            self.offset,
        )


@dataclass
class ProgramSemaphore:
    """A semaphore id with its initial value on some cores."""

    id: int
    cores: list
    initial: int


@dataclass
class Program:
    """A program; `manager`: (device session, sub-device manager) it last ran under; `changes`: how often it was changed;
    `ready`: what the last enqueue made of it (`tensim.sim.host.program_commands.Ready`).
    """

    id: int
    kernels: list = field(default_factory=list)
    circular_buffers: list = field(default_factory=list)
    semaphores: list = field(default_factory=list)
    buffers: list = field(default_factory=list)
    manager: tuple | None = None
    changes: int = 0
    ready: object = None

    # --- building

    def add_kernel(self, kernel):
        """Add a kernel; returns its handle.

        UsageError when a processor or NoC of a core is taken or does not exist, or the kernel's calls belong to the other
        kind of processor.
        """
        check_kernel_config(kernel.config)
        kernel.check_home()
        mine = set(kernel.cores)
        for other in self.kernels:
            shared = sorted(mine & set(other.cores))
            what = kernel.resource_conflict(other) if shared else None
            if what:
                raise UsageError(
                    f"kernel {kernel.name}: {what} of core {shared[0]} is already used by kernel {other.name}",
                    where={"core": str(shared[0])},
                )
        self.changes += 1
        self.kernels.append(kernel)
        return len(self.kernels) - 1

    def add_circular_buffer(self, cb):
        """Add a circular buffer; returns its handle.  UsageError for a duplicate index on a core."""
        for other in self.circular_buffers:
            shared, same = set(cb.cores) & set(other.cores), set(cb.formats) & set(other.formats)
            if shared and same:
                raise UsageError(f"circular buffer index {min(same)} already exists on core {min(shared)}")
        check_circular_buffer(cb)
        self.changes += 1
        self.circular_buffers.append(cb)
        return len(self.circular_buffers) - 1

    def add_semaphore(self, ranges, initial, number=None):
        """Add a semaphore; returns its id: `number`, or the largest over the ranges of each range's first free id."""
        if not ranges:
            raise UsageError("a semaphore needs at least one core range")
        check_semaphore_value(initial)
        used = {}
        for semaphore in self.semaphores:
            for core in semaphore.cores:
                used.setdefault(core, set()).add(semaphore.id)
        cores, chosen = expand(ranges), number
        number = (
            max(self._first_free(used, expand([core_range])) for core_range in ranges) if chosen is None else chosen
        )
        taken = any(number in used.get(core, ()) for core in cores)
        if chosen is not None and (taken or not 0 <= number < N_SEMAPHORES):
            why = "is taken on one of its cores" if taken else f"is not below {N_SEMAPHORES}"
            raise UsageError(f"semaphore id {number} {why}")
        if number >= N_SEMAPHORES or taken:
            raise UsageError(f"no semaphore id is free on these cores; a core has {N_SEMAPHORES} semaphores")
        self.changes += 1
        self.semaphores.append(ProgramSemaphore(number, cores, initial))
        return number

    @staticmethod
    def _first_free(used, cores):
        taken = set().union(*(used.get(core, set()) for core in cores))
        return next((i for i in range(N_SEMAPHORES) if i not in taken), N_SEMAPHORES)

    def kernel(self, handle):
        """A kernel by its handle; UsageError for an unknown one."""
        if not 0 <= handle < len(self.kernels):
            raise UsageError(f"the program has no kernel {handle}; it has {len(self.kernels)}")
        return self.kernels[handle]

    def update_circular_buffer(self, handle, total_size=None, page_size=None, buffer=None):
        """Change the size, the (index, bytes) of a page, or the buffer that it lies on, as far as they are given."""
        cb = self.circular_buffer(handle)
        self.changes += 1
        if buffer is not None:
            cb.buffer = buffer
        if total_size is not None:
            cb.total_size = total_size
        if page_size is not None:
            index, cb.page_sizes[index] = page_size

    def circular_buffer(self, handle):
        """A circular buffer by its handle; UsageError for an unknown one."""
        if not 0 <= handle < len(self.circular_buffers):
            raise UsageError(f"the program has no circular buffer {handle}; it has {len(self.circular_buffers)}")
        return self.circular_buffers[handle]

    def set_args(self, handle, cores, args, references=()):
        """Set unique arguments; their number per core is fixed by the first call.  `references`: see SetRuntimeArgs."""
        kernel = self.kernel(handle)
        on_kernel = set(kernel.cores)
        for core, values in zip(cores, args, strict=True):
            if core not in on_kernel:
                raise UsageError(f"kernel {kernel.name} does not run on core {core}; no arguments can be set there")
            old = kernel.args.get(core)
            if old is not None and len(old) != len(values):
                raise UsageError(
                    f"kernel {kernel.name}, core {core}: {len(values)} runtime arguments, but {len(old)} "
                    "were set first; the number cannot change"
                )
            self._check_count(kernel, len(values), len(kernel.common_args))
        standing = {}
        for position, *reference in references:
            standing.setdefault(position, []).append(tuple(reference))
        self.changes += 1
        for position, (core, values) in enumerate(zip(cores, args, strict=True)):
            kernel.args.setdefault(core, [])[:] = values
            kernel.refer(core, standing.get(position))

    def set_common_args(self, handle, args, references=()):
        """Set the common arguments of a kernel; once.  `references`: see SetCommonRuntimeArgs."""
        kernel = self.kernel(handle)
        if kernel.common_args:
            raise UsageError(
                f"kernel {kernel.name}: the common runtime arguments are already set",
                hint="write through get_common_runtime_args to change them",
            )
        self._check_count(kernel, max(map(len, kernel.args.values()), default=0), len(args))
        self.changes += 1
        kernel.common_args = list(args)
        kernel.refer(None, [reference[1:] for reference in references])

    def update_arg(self, handle, core, index, value, references=()):
        """Write one argument that was set before (`core` None: a common one).  `references`: see UpdateRuntimeArg."""
        args = self.args_of(handle, core)
        if not 0 <= index < len(args):
            raise UsageError(f"runtime argument {index} does not exist; there are {len(args)}")
        kernel = self.kernel(handle)
        others = [reference for reference in kernel.references.get(core, ()) if reference[0] != index]
        self.changes += 1
        args[index] = value
        kernel.refer(core, [*others, *((index, *reference[2:]) for reference in references)])

    @staticmethod
    def _check_count(kernel, unique, common):
        if unique + common > MAX_RUNTIME_ARGS:
            raise UsageError(
                f"kernel {kernel.name}: {unique} unique and {common} common runtime arguments; the limit is {MAX_RUNTIME_ARGS}"
            )

    def args_of(self, handle, core):
        """Arguments of a kernel on a core (None: the common ones), as the live list.  UsageError without the
        kernel.
        """
        kernel = self.kernel(handle)
        if core is None:
            return kernel.common_args
        if core not in kernel.cores:
            raise UsageError(f"kernel {kernel.name} does not run on core {core}; it has no runtime arguments there")
        return kernel.args.setdefault(core, [])

    # --- placement and launch

    def cores(self):
        """Every core that runs a kernel."""
        return {core for kernel in self.kernels for core in kernel.cores}

    def compile(self, arch):
        """Compile the kernels for a chip now.  Raises KernelCompileError."""
        buffers = [cb.snapshot() for cb in self.circular_buffers]
        build_kernels([(kernel.kernel, kernel.config, build_target(kernel, buffers, arch)) for kernel in self.kernels])

    def check_buffers(self, device):
        """UsageError when a circular buffer lies on a buffer of another device than `device`."""
        for cb in self.circular_buffers:
            if cb.buffer is not None and cb.buffer.device != device:
                raise UsageError(
                    f"a circular buffer lies on buffer {cb.buffer.id} on device {cb.buffer.device}, "
                    f"the program runs on device {device}"
                )

    def place_circular_buffers(self, base, limit, lowest_buffer, alignment):
        """Addresses bottom-up from `base`; errors when they grow beyond `limit` or into the lowest L1 buffer.

        `lowest_buffer`: core -> lowest allocated L1 address there, or None.
        """
        ends = {}
        for cb in self.circular_buffers:
            check_circular_buffer(cb)
            if cb.buffer is not None:
                self._place_on_buffer(cb)
                continue
            cb.address = round_up(max((ends.get(core, base) for core in cb.cores), default=base), alignment)
            for core in cb.cores:
                ends[core] = cb.address + cb.total_size
        for core, end in ends.items():
            if end > limit:
                raise ProgramError(
                    f"circular buffers on core {core} take {end} B, more than the L1 size of {limit} B",
                    kind="l1_overflow",
                )
            lowest = lowest_buffer(core)
            if lowest is not None and end > lowest:
                raise ProgramError(
                    f"circular buffers on core {core} end at {end:#x}, above the L1 buffer at {lowest:#x}",
                    kind="l1_clash",
                    where={"core": str(core), "region_end": end, "lowest_buffer": lowest},
                )

    @staticmethod
    def _place_on_buffer(cb):
        if not cb.buffer.allocated:
            raise UsageError(f"a circular buffer lies on buffer {cb.buffer.id}, which is deallocated")
        cb.address = cb.buffer.address + cb.offset

    def snapshot(self, sub_device):
        """The program as it is now, frozen; its circular buffers have been placed."""
        return FrozenProgram(
            self.id,
            tuple(kernel.snapshot() for kernel in self.kernels),
            tuple(cb.snapshot() for cb in self.circular_buffers),
            tuple(
                FrozenSemaphore(semaphore.id, tuple(semaphore.cores), semaphore.initial)
                for semaphore in self.semaphores
            ),
            sub_device,
        )


def thaw(snapshot):
    """The program that a snapshot describes, built anew; UsageError for what the calls that build programs refuse."""
    program = Program(snapshot.program)
    for kernel in snapshot.kernels:
        if not kernel.is_compute and (kernel.parameters.processor not in (0, 1) or kernel.parameters.noc not in (0, 1)):
            raise UsageError(f"kernel {kernel.kernel.name}: a data-movement kernel runs on processor and NoC 0 or 1")
        handle = program.add_kernel(ProgramKernel(kernel.kernel, list(kernel.cores), kernel.parameters))
        program.set_args(handle, [core for core, _ in kernel.args], [words for _, words in kernel.args])
        program.set_common_args(handle, kernel.common_args)
        program.kernels[handle].compile_references = kernel.compile_references
        for core, references in kernel.references:
            program.kernels[handle].refer(core, references)
    for cb in snapshot.circular_buffers:
        tiles = {index: (height, width) for index, height, width in cb.tiles}
        program.add_circular_buffer(
            ProgramCircularBuffer(
                list(cb.cores), cb.size, dict(cb.formats), dict(cb.page_sizes), tiles, None, 0, cb.address
            )
        )
    for semaphore in snapshot.semaphores:
        if not 0 <= semaphore.id < N_SEMAPHORES:
            raise UsageError(f"semaphore id {semaphore.id} is not below {N_SEMAPHORES}")
        check_semaphore_value(semaphore.initial)
        program.semaphores.append(ProgramSemaphore(semaphore.id, list(semaphore.cores), semaphore.initial))
    return program


def check_semaphore_value(value):
    """UsageError for a value that is not an unsigned 32-bit word."""
    if not 0 <= value < 1 << 32:
        raise UsageError(f"semaphore value {value} is not an unsigned 32-bit word")


def check_kernel_config(config):
    """UsageError for a processor, NoC or fidelity that no chip has."""
    if isinstance(config, ComputeParameters):
        if config.math_fidelity not in FIDELITIES:
            raise UsageError(f"math fidelity {config.math_fidelity} is not one of {FIDELITIES}")
    elif config.processor not in (0, 1) or config.noc not in (0, 1):
        raise UsageError(f"there is no data-movement processor {config.processor} with NoC {config.noc}")


def check_circular_buffer(cb):
    """UsageError for indices, page sizes, formats or an underlying buffer that cannot work."""
    unknown = [code for code in cb.formats.values() if code not in DATA_FORMATS]
    if unknown:
        raise UsageError(f"{unknown[0]} is not a data format")
    if cb.total_size <= 0:
        raise UsageError(f"a circular buffer of {cb.total_size} B cannot hold a page")
    for index, page_size in cb.page_sizes.items():
        if not 0 <= index < N_CIRCULAR_BUFFERS:
            raise UsageError(f"circular buffer index {index} is not below {N_CIRCULAR_BUFFERS}")
        if page_size <= 0 or cb.total_size % page_size:
            raise UsageError(
                f"circular buffer {index}: total size {cb.total_size} B is not a multiple of the page size "
                f"{page_size} B"
            )
    for height, width in cb.tiles.values():
        if height not in TILE_HEIGHTS or width not in TILE_WIDTHS:
            raise UsageError(
                f"a circular buffer of tiles of {height}x{width}", hint=f"heights {TILE_HEIGHTS}, widths {TILE_WIDTHS}"
            )
    missing = set(cb.formats) - set(cb.page_sizes)
    if missing or not cb.formats:
        raise UsageError(f"circular buffer {min(missing, default='without index')}: no page size is set")
    if cb.buffer is None:
        return
    if cb.buffer.buffer_type not in (L1, L1_SMALL):
        raise UsageError("a circular buffer can only lie on an L1 buffer; this one is in DRAM")
    if cb.total_size > cb.buffer.size_per_bank:
        raise UsageError(
            f"circular buffer of {cb.total_size} B is larger than the {cb.buffer.size_per_bank} B per bank "
            "of its buffer"
        )
