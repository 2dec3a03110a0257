"""Building a program's variant on a scratch device, to see which commands that takes: for saving, and for checking."""

import tensim.device as metal
from tensim.buffer import create_buffer
from tensim.sim.errors import UsageError
from tensim.sim.host import commands as c
from tensim.sim.host.executor import Simulation

BUILDING = (
    c.CreateProgram, c.CreateKernel, c.SetRuntimeArgs, c.SetCommonRuntimeArgs, c.UpdateRuntimeArg, c.CreateCircularBuffer,
    c.UpdateCircularBuffer, c.CreateSemaphore, c.AssignBufferToProgram,
)  # fmt: skip


class TrialBuild:
    """A variant built on a scratch device of its own.  `build`, `rebind`: (inputs, outputs, records), each with its result.

    `padding`: pages that lie in front of the placeholders, so that they have other addresses.
    """

    def __init__(self, arch, info, variant, padding=0):
        self.arch, self.records = arch, []
        system, before = Simulation(), metal.current_system()
        system.executor.observers.append(self._observe)
        metal.use_system(system)
        try:
            record = c.CreateDevice(0, 1, 0, 0, self.arch, "off", "packet", None, 0)
            device = metal.Device(0, system.executor.submit(record), system)
            kept = [self._buffers(info.inputs, device) for _ in range(padding)]
            sides, self.build, program = self._recorded(info, device, lambda *sides: variant.build(device, *sides))
            self.program, kept = None if program is None else program.id, [kept, sides, program]
            if variant.rebind is not None:
                rebound = self._recorded(info, device, lambda *sides: variant.rebind(program, *sides))
                self.rebind = rebound[1]
                kept.append(rebound[0])
            system.executor.observers.clear()
            kept.clear()
        finally:
            metal.use_system(before)

    def _observe(self, record, result):
        if not isinstance(record, c.DeleteProgram):  # a program of before that nobody holds any more
            self.records.append((record, result))

    @staticmethod
    def _buffers(infos, device):
        return [create_buffer(info.wanted.buffer_config(info.desc, device)) for info in infos]

    def _recorded(self, info, device, make):
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
