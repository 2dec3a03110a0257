"""What the threads of a C++ kernel executed in a run: instructions with their cycles."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tensim.sim.cores.disassembly.instruction_text import thread_listing
from tensim.sim.cores.riscv.program import ThreadProgram
from tensim.sim.cores.slots import THREAD_NAMES
from tensim.sim.errors import UsageError

if TYPE_CHECKING:
    from tensim.sim.chip.chip import Chip


def disassembly(chip: Chip, kernel: str) -> list[dict[str, Any]]:
    """[{"kernel", "file", "thread", "instructions"}] of the C++ kernels called `kernel`, or in a file of that name.

    "thread": which core of the five runs it; a compute kernel has three.  "instructions": see
    `tensim.sim.cores.disassembly.instruction_text.thread_listing`; cycles are totals of
    all cores.  UsageError when the run has no such kernel.
    """
    programs = [(base, one) for base, one in chip.line_programs.items() if isinstance(one, ThreadProgram)]
    wanted = [(base, one) for base, one in programs if kernel in (one.name, one.file) or _same_file(one.file, kernel)]
    if not wanted:
        known = ", ".join(sorted({Path(one.file).name for _, one in programs}))
        hint = (
            f"it runs {known}"
            if known
            else "its kernels are Python; those of the examples exist with --param kernels=cpp"
        )
        raise UsageError(f"the program runs no C++ kernel {kernel}", hint=hint)
    lines = chip.arrays["lines"]
    return [
        {
            "kernel": one.name,
            "file": one.file,
            "thread": THREAD_NAMES[one.slot],
            "instructions": thread_listing(one, lines[base : base + one.n_rows]),
        }
        for base, one in sorted(wanted, key=lambda pair: (pair[1].file, pair[1].slot))
    ]


def _same_file(file: str, kernel: str) -> bool:
    """Whether `kernel` is the end of a file's path."""
    parts = Path(kernel).parts
    return Path(file).parts[-len(parts) :] == parts
