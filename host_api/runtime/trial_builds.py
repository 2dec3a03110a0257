"""Building a program's variant on a scratch device, to see which commands that takes: for saving, and for checking."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import tensim.device as metal
from tensim.buffer import create_buffer
from tensim.sim.errors import UsageError
from tensim.sim.host import commands as c
from tensim.sim.host.executor import Simulation

if TYPE_CHECKING:
    from tensim.buffer import Buffer
    from tensim.runtime.program_info import ProgramInfo, TensorInfo, Variant
    from tensim.sim.arch.loader import Arch

BUILDING = (
    c.CreateProgram, c.CreateKernel, c.SetRuntimeArgs, c.SetCommonRuntimeArgs, c.UpdateRuntimeArg, c.CreateCircularBuffer,
    c.UpdateCircularBuffer, c.CreateSemaphore, c.AssignBufferToProgram,
)  # fmt: skip

Commands: TypeAlias = list[tuple[Any, Any]]  # records, each with its result
Built: TypeAlias = tuple[Commands, Commands, Commands]  # of inputs, of outputs, of the build


class TrialBuild:
    """A variant built on a scratch device of its own.  `build`, `rebind`: (inputs, outputs, records), each with its result.

    `padding`: pages that lie in front of the placeholders, so that they have other addresses.
    """

    def __init__(self, arch: Arch, info: ProgramInfo, variant: Variant, padding: int = 0) -> None:
        self.arch = arch
        self.records: Commands = []
        system, before = Simulation(), metal.current_system()
        system.executor.observers.append(self._observe)
        metal.use_system(system)
        try:
            record = c.CreateDevice(0, 1, 0, 0, self.arch, "off", "packet", None, 0)
            device = metal.Device(0, system.executor.submit(record), system)
            kept: list[Any] = [self._buffers(info.inputs, device) for _ in range(padding)]
            sides, self.build, program = self._recorded(
                info, device, lambda *sides: cast(Callable, variant.build)(device, *sides)
            )
            self.program, kept = None if program is None else program.id, [kept, sides, program]
            if variant.rebind is not None:
                rebound = self._recorded(info, device, lambda *sides: cast(Callable, variant.rebind)(program, *sides))
                self.rebind = rebound[1]
                kept.append(rebound[0])
            system.executor.observers.clear()
            kept.clear()
        finally:
            metal.use_system(before)

    def _observe(self, record: object, result: object) -> None:
        if not isinstance(record, c.DeleteProgram):  # a program of before that nobody holds any more
            self.records.append((record, result))

    @staticmethod
    def _buffers(infos: Iterable[TensorInfo], device: metal.Device) -> list[Buffer]:
        return [create_buffer(info.wanted.buffer_config(info.desc, device)) for info in infos]

    def _recorded(
        self, info: ProgramInfo, device: metal.Device, make: Callable[..., Any]
    ) -> tuple[list[list[Buffer]], Built, Any]:
        """(buffers, (inputs, outputs, records), what `make` returned)."""
        self.records.clear()
        sides = [self._buffers(infos, device) for infos in (info.inputs, info.outputs)]
        created, count = list(self.records), len(info.inputs)
        self.records.clear()
        made = make(*sides)
        for record, _ in self.records:
            if not isinstance(record, BUILDING):
                raise UsageError(
                    f"building program {info.name} does {type(record).__name__}, which a saved binary cannot contain",
                    hint="a build makes a program: kernels, circular buffers, semaphores and arguments",
                )
        return sides, (created[:count], created[count:], list(self.records)), made
