"""What a RISC-V core executes, instruction by instruction, written to a file."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from tensim.debugger.locations import thread_index
from tensim.debugger.texts import instruction_text
from tensim.sim.chip import inspection
from tensim.sim.chip.places import thread_place
from tensim.sim.cores.riscv.decode import INSTRUCTION_BYTES
from tensim.sim.cores.slots import FIRST_COMPUTE_SLOT, THREADS_PER_CORE
from tensim.sim.errors import UsageError

if TYPE_CHECKING:
    from tensim.sim.chip.chip import Chip
    from tensim.sim.chip.stepping import EngineStops

HEADER = "#    cycle       pc  word      instruction (an operation of the machine stands for several)   source\n"


class InstructionTrace:
    """Lines for each instruction that the thread called `name` (X,Y:THREAD) executes, written to `stream`.

    The cycle is that at which the core comes to it: for a compute thread by the core's own clock, which runs ahead of the
    coprocessor's.
    """

    def __init__(self, name: str, stream: IO[str]) -> None:
        self.name, self.thread, self.count, self._stream, self._known = name, -1, 0, stream, {}
        stream.write(HEADER)

    def begin(self, chip: Chip) -> None:
        """The chip is there.  UsageError when it has no such thread."""
        self.thread = thread_index(chip, self.name)

    def meet(self, stops: EngineStops) -> None:
        """A program of the thread begins.  UsageError when it executes no instructions of a C++ kernel."""
        if not stops.runs_instructions(self.thread):
            place = thread_place(stops.chip, self.thread)
            raise UsageError(
                f"{place['thread']} of core {place['core']} runs no instructions that can be traced",
                hint="its kernel is Python, or at the instruction level; examples have --param kernels=cpp",
            )

    def note(self, stops: EngineStops, cycle: int) -> None:
        """The thread stands in front of an instruction."""
        chip, program = stops.chip, stops.program(self.thread)
        if self.thread % THREADS_PER_CORE >= FIRST_COMPUTE_SLOT:
            cycle = int(chip.arrays["threads"]["issued"][self.thread])
        pc = INSTRUCTION_BYTES * stops.row(self.thread)
        if (program, pc) not in self._known:
            self._known[program, pc] = instruction_text(
                inspection.instruction(program, stops.plain_records(program), pc)
            )
        self.count += 1
        self._stream.write(f"{cycle:10}  {self._known[program, pc]}\n")
