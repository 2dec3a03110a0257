"""Programs frozen at their enqueue: plain data, fit to be stored and loaded elsewhere.

A live enqueue freezes a program and hands it to its queue; a metal trace keeps the frozen programs and hands the same
objects to a queue at every replay (docs/hardware/metal_trace.md#what-a-trace-is).
Cores are logical (x, y); addresses and sizes are bytes.
"""

from typing import Any

from tensim.sim.host.commands import ComputeParameters, Core, DataMovementParameters
from tensim.sim.lazy_dataclass import dataclass


@dataclass(frozen=True)
class BuildTarget:
    """What a kernel's binary depends on besides its parameters.

    `arch`: the chip's `tensim.sim.arch.loader.Arch`; `circular_buffers`: (index, data format, tile height, tile width) of
    those on the kernel's cores, by index.
    """

    arch: object
    circular_buffers: tuple[tuple[int, int, int, int], ...]


def build_target(kernel, circular_buffers, arch):
    """The `BuildTarget` of a kernel beside a program's circular buffers."""
    cores, found = set(kernel.cores), {}
    for cb in circular_buffers:
        if not cores.isdisjoint(cb.cores):
            tiles = {index: (height, width) for index, height, width in cb.tiles}
            found |= {index: (code, *tiles.get(index, (32, 32))) for index, code in cb.formats}
    return BuildTarget(arch, tuple((index, *found[index]) for index in sorted(found)))


def build_kernels(requests):
    """The compiled kernels of [(kernel, parameters, `BuildTarget`)], in their order; those in C++ are built together.

    Raises KernelCompileError.
    """
    cpp = [request for request in requests if request[0].is_cpp]
    if cpp:
        from tensim.sim.cores.riscv.kernel import compile_missing  # not for who has kernels in Python alone

        compile_missing(cpp)
    return [kernel.build(parameters, target) for kernel, parameters, target in requests]


@dataclass(frozen=True)
class FrozenKernel:
    """A kernel with the arguments it had at the enqueue.  `args`: (core, words) of the cores that have unique ones.

    `references`: ((core, or None for common ones), ((index, Reference, key), ...)) of the arguments that stand for something
    of the chip; `compile_references`: of the compile-time ones.  `counted`: a host has set as many arguments as there are; else
    the words behind the last one may be anybody's.
    """

    kernel: Any  # tensim.sim.cores.kernels.compiler.Kernel, tensim.sim.cores.riscv.kernel.CppKernel
    parameters: DataMovementParameters | ComputeParameters
    cores: tuple[Core, ...]
    args: tuple[tuple[Core, tuple[int, ...]], ...]
    common_args: tuple[int, ...]
    references: tuple[tuple[Core | None, tuple[tuple[int, int, int], ...]], ...] = ()
    compile_references: tuple[tuple[int, int, int], ...] = ()
    counted: bool = True

    @property
    def is_compute(self):
        return isinstance(self.parameters, ComputeParameters)

    def compile(self, target):
        """The kernel compiled for a `BuildTarget`; the kernel itself remembers it.  Raises KernelCompileError."""
        return self.kernel.build(self.parameters, target)


@dataclass(frozen=True)
class FrozenCircularBuffer:
    """A circular buffer at its final address.

    `formats` and `page_sizes`: (index, value); `tiles`: (index, height, width) of the indices that set them; `on_buffer`:
    it lies on an L1 buffer of the host, `offset` bytes from the start of `buffer` (None: the buffer is not known here).
    """

    cores: tuple[Core, ...]
    address: int
    size: int
    formats: tuple[tuple[int, int], ...]
    page_sizes: tuple[tuple[int, int], ...]
    tiles: tuple[tuple[int, int, int], ...]
    on_buffer: bool
    buffer: int | None = None
    offset: int = 0


@dataclass(frozen=True)
class FrozenSemaphore:
    """A semaphore id and the value that every launch writes."""

    id: int
    cores: tuple[Core, ...]
    initial: int


@dataclass(frozen=True)
class FrozenProgram:
    """A program as one enqueue found it: what a command queue consumes."""

    program: int
    kernels: tuple[FrozenKernel, ...]
    circular_buffers: tuple[FrozenCircularBuffer, ...]
    semaphores: tuple[FrozenSemaphore, ...]
    sub_device: int

    @property
    def cores(self):
        """Every core that runs a kernel."""
        return {core for kernel in self.kernels for core in kernel.cores}

    def words(self):
        """Every argument word: unique, common, compile-time."""
        for kernel in self.kernels:
            yield from kernel.common_args
            yield from kernel.parameters.compile_args
            for _, words in kernel.args:
                yield from words
