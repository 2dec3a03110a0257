"""A small builder of binaries: programs of kernels over named tensors.

    binary = BinaryBuilder()
    add = binary.program("add")
    a, b = add.input("a", desc, layout), add.input("b", desc, layout)
    out = add.output("out", desc, layout)
    add.circular_buffer(core, 0, total_size=4096, page_size=2048, data_format=DataFormat.Float16_b)
    add.kernel(reader, core, ReaderDataMovementConfig(), [a, b, 16])
    binary.build()

A tensor among the arguments stands for the address of its buffer in that submit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tensim.program import create_circular_buffer, create_kernel, create_program, create_semaphore, set_runtime_args
from tensim.runtime.binaries import Binary
from tensim.runtime.program_info import ProgramInfo, TensorInfo, Variant
from tensim.sim.errors import UsageError
from tensim.types import CircularBufferConfig

if TYPE_CHECKING:
    from tensim.buffer import Buffer
    from tensim.program import Program
    from tensim.runtime.devices import MetalDevice
    from tensim.runtime.layouts import Layout, TensorDesc


@dataclass(frozen=True)
class _Kernel:
    function: object
    cores: object
    config: object
    args: object  # a list, or {core: list}


class ProgramBuilder:
    """One program: its tensors, circular buffers, semaphores and kernels, in the order of the calls."""

    def __init__(self, name: str, **settings: Any) -> None:
        self.name, self.settings = name, settings
        self.inputs, self.outputs, self.host_variants = [], [], []
        self._kernels, self._circular_buffers, self._semaphores = [], [], []

    # --- tensors

    def input(self, name: str, desc: TensorDesc, layout: Layout, **settings: Any) -> TensorInfo:
        """Describe the next input; `settings` as TensorInfo (placement, const, aliases_output)."""
        return self._add(self.inputs, TensorInfo(name, desc, layout, **settings))

    def output(self, name: str, desc: TensorDesc, layout: Layout, **settings: Any) -> TensorInfo:
        """Describe the next output."""
        return self._add(self.outputs, TensorInfo(name, desc, layout, **settings))

    def _add(self, infos: list[TensorInfo], info: TensorInfo) -> TensorInfo:
        if info.name in [known.name for known in (*self.inputs, *self.outputs)]:
            raise UsageError(
                f"program {self.name} already has a tensor {info.name!r}",
                hint="give each input and output a name of its own",
            )
        infos.append(info)
        return info

    # --- what runs on a chip

    def circular_buffer(self, cores: Any, index: int, *, total_size: int, page_size: int, data_format: Any) -> None:
        """A circular buffer on cores."""
        self._circular_buffers.append((cores, index, total_size, page_size, data_format))

    def semaphore(self, cores: Any, initial_value: int = 0) -> int:
        """A semaphore on cores; returns its id, an argument of kernels."""
        self._semaphores.append((cores, initial_value))
        return len(self._semaphores) - 1

    def kernel(self, function: object, cores: Any, config: Any, args: Any = ()) -> None:
        """A kernel on cores.  `args`: words and tensors of this program, one list for all cores or {core: list}."""
        known = (*self.inputs, *self.outputs)
        for words in args.values() if isinstance(args, dict) else [args]:
            for word in words:
                if isinstance(word, TensorInfo) and word not in known:
                    raise UsageError(
                        f"{word.name} is not a tensor of program {self.name}",
                        hint="tensors among the arguments come from input() and output() of the same program",
                    )
        self._kernels.append(_Kernel(function, cores, config, args))

    def host(self, function: Callable[..., Any], cost_ns: float | Callable[..., float] = 0.0) -> None:
        """The same in numpy, for the host and for chips with functional timing; see Variant."""
        self.host_variants.append(Variant("host", function=function, cost_ns=cost_ns))

    # --- what comes of it

    def info(self) -> ProgramInfo:
        """The finished ProgramInfo."""
        variants = [Variant("sim", self._build, self._rebind)] if self._kernels else []
        return ProgramInfo(
            self.name, tuple(self.inputs), tuple(self.outputs), (*variants, *self.host_variants), **self.settings
        )

    def _build(self, device: MetalDevice, inputs: Sequence[Buffer], outputs: Sequence[Buffer]) -> Program:
        program = create_program()
        for cores, index, total_size, page_size, data_format in self._circular_buffers:
            config = CircularBufferConfig(total_size, {index: data_format}).set_page_size(index, page_size)
            create_circular_buffer(program, cores, config)
        for cores, initial in self._semaphores:
            create_semaphore(program, cores, initial)
        for kernel in self._kernels:
            create_kernel(program, kernel.function, kernel.cores, kernel.config)
        self._rebind(program, inputs, outputs)
        return program

    def _rebind(self, program: Program, inputs: Sequence[Buffer], outputs: Sequence[Buffer]) -> None:
        buffers = dict(zip([tensor.name for tensor in (*self.inputs, *self.outputs)], [*inputs, *outputs], strict=True))
        for handle, kernel in enumerate(self._kernels):
            per_cores = kernel.args if isinstance(kernel.args, dict) else {kernel.cores: kernel.args}
            for cores, words in per_cores.items():
                words = [buffers[word.name].address if isinstance(word, TensorInfo) else word for word in words]
                set_runtime_args(program, handle, cores, words)


class BinaryBuilder:
    """Programs that become a Binary."""

    def __init__(self) -> None:
        self._programs = []

    def program(self, name: str, **settings: Any) -> ProgramBuilder:
        """Begin a program; `settings` as ProgramInfo (private, placement, mesh_shape, goldens)."""
        self._programs.append(ProgramBuilder(name, **settings))
        return self._programs[-1]

    def build(self) -> Binary:
        """The Binary of all programs."""
        return Binary([program.info() for program in self._programs])
