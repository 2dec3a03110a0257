"""Stops of a debugger in the machine of a chip: rows of kernels, operations, threads, a watched word, and steps of a thread.

A row of a C++ kernel is an instruction.  Cores run many of them in an event, so a BREAK record stands in the place of one that is
to stop (`tensim.sim.cores.riscv.decode`).  A core that stands at one goes on with a text of its own, in which everything but that
instruction is a BREAK: that is also how it takes a single step.  Cycles are those of a run without a debugger.
"""

import numpy as np

from tensim.sim import state as st
from tensim.sim.chip.stops import AT_BREAK, AT_END, AT_OPERATION, AT_ROW, AT_THREAD, AT_WATCH, NO_STOP, STOPS
from tensim.sim.cores.operations import Op
from tensim.sim.cores.riscv.core import BROKEN
from tensim.sim.cores.riscv.decode import INSTRUCTION_BYTES, Code, record
from tensim.sim.cores.riscv.program import ThreadProgram
from tensim.sim.engine.entry_points import run, run_to_stop
from tensim.sim.engine.event_heap import KEY_BITS

__all__ = ["AT_BREAK", "AT_END", "AT_OPERATION", "AT_ROW", "AT_THREAD", "AT_WATCH", "NO_STOP", "EngineStops"]
BREAK = record(Code.BREAK)


class EngineStops:
    """The stops of a chip, none at first.  `restore` when the chip is used no more."""

    def __init__(self, chip):
        self.chip, self.machine = chip, chip.machine
        self._record = np.zeros(1, STOPS)
        n_threads = len(chip.arrays["threads"])
        self._arrays = {
            "operations_at": np.zeros(256, np.uint8),
            "threads_at": np.zeros(n_threads, np.uint8),
            "seen_at": np.full(n_threads, -1, np.int64),
        }
        for name, array in self._arrays.items():
            self._record[name] = array.ctypes.data
        self._record["run_at"] = run.address
        self._rows, self._plain = np.zeros(0, np.uint8), {}  # {program: its records without BREAK}
        self._texts = {}  # {thread: (the text that it steps with, the address of the one that it had)}

    # --- where to stop

    def set_rows(self, rows):
        """Stop at these rows alone: {(base in the line table, program): row numbers}."""
        self._rows = np.zeros(len(self.chip.arrays["lines"]), np.uint8)
        self._record["rows_at"], self._record["n_rows"] = self._rows.ctypes.data, len(self._rows)
        self.restore()
        for (base, program), numbers in rows.items():
            numbers = np.asarray(sorted(numbers), np.int64)
            if isinstance(program, ThreadProgram):
                self._plain.setdefault(program, program.decoded.records.copy())
                program.decoded.records[numbers] = BREAK
            else:
                self._rows[base + numbers - program.first_row] = 1

    def set_operations(self, operations):
        """Stop in front of these operations (`Op`) alone."""
        self._arrays["operations_at"][:] = 0
        self._arrays["operations_at"][list(operations)] = 1

    def watch(self, core, address, size):
        """Stop behind each event that changes `size` (1 to 8) bytes of a core's L1; its loads and stores become events."""
        data = self.chip.l1[core, address : address + size]
        self._record["watch_at"], self._record["watch_bytes"] = data.ctypes.data, size
        self._record["watch_value"] = int(np.uint64(int.from_bytes(data.tobytes(), "little")).astype(np.int64))
        self.machine["l1_posted"] = 1

    def unwatch(self):
        """Watch nothing."""
        self._record["watch_at"] = self.machine["l1_posted"] = 0

    # --- running

    def run(self, limit, fuel):
        """Run to a stop, cycle `limit`, the engine's own stop, or until `fuel` is used up: (reason, thread or -1, fuel left)."""
        stops = self._record
        stops["fuel"] = fuel
        run_to_stop(self.chip.arrays.address, stops.ctypes.data, limit)
        return int(stops["reason"][0]), int(stops["thread"][0]), int(stops["fuel"][0])

    def pass_over(self, thread):
        """The next run goes on past the stop of a thread."""
        self._record["passed"] = 1
        if not self.at_break(thread):
            return
        row = int(self.chip.loader.riscv.cores[thread]["pc"]) // INSTRUCTION_BYTES
        if self.steps(thread) or self.program(thread).decoded.records[row] == BREAK:
            self._step_text(thread)
        else:
            self.plain_text(thread)

    def step(self, thread):
        """Stop in front of the next instruction of a RISC-V core, or the next operation of a Python kernel, or its end."""
        self._arrays["threads_at"][thread] = 1
        if self.runs_instructions(thread):
            self._step_text(thread)

    def end_step(self, thread):
        """The thread no longer stops where nothing is set."""
        self._arrays["threads_at"][thread] = 0
        self.plain_text(thread)

    def steps(self, thread):
        """Does the thread take steps?"""
        return bool(self._arrays["threads_at"][thread])

    def _step_text(self, thread):
        """Give a core a text in which all but the instruction at which it stands is a BREAK."""
        core, program = self.chip.loader.riscv.cores[thread], self.program(thread)
        if not self._has_step_text(thread):
            self._texts[thread] = np.full(program.n_rows, BREAK, np.int64), int(core["text_at"])
        text, _ = self._texts[thread]
        text[:] = BREAK
        if self.at_break(thread):
            row = int(core["pc"]) // INSTRUCTION_BYTES
            text[row] = self.plain_records(program)[row]
        core["text_at"] = text.ctypes.data

    def _has_step_text(self, thread):
        """Not when another program has been loaded since."""
        text, _ = self._texts.get(thread, (None, 0))
        return text is not None and int(self.chip.loader.riscv.cores[thread]["text_at"]) == text.ctypes.data

    def plain_text(self, thread):
        """Give a core its own text back."""
        if self._has_step_text(thread):
            self.chip.loader.riscv.cores[thread]["text_at"] = self._texts[thread][1]
        self._texts.pop(thread, None)

    def restore(self):
        """Take all stops out of the programs, which other chips may run, too."""
        for program, plain in self._plain.items():
            program.decoded.records[:] = plain

    # --- where threads stand

    def next_cycle(self):
        """Cycle of the next event, or the present one when there is none."""
        if self.machine["event_heap_size"] == 0:
            return self.chip.cycle
        return int(self.chip.arrays["event_heap"][0]) >> KEY_BITS

    def next_event(self):
        """The next event, as the event heap numbers it; 0 without one."""
        return int(self.chip.arrays["event_heap"][1]) if self.machine["event_heap_size"] else 0

    def program(self, thread):
        """What a thread runs (a `ThreadProgram` or a compiled Python kernel), None without a kernel."""
        return self.chip.line_programs.get(int(self.chip.arrays["threads"][thread]["line_base"]))

    def plain_records(self, program):
        """The records of a program without BREAK."""
        return self._plain.get(program, program.decoded.records)

    def runs_instructions(self, thread):
        """Is the thread a RISC-V core that the interpreter runs?"""
        t = self.chip.arrays["threads"][thread]
        return bool(t["riscv"] != 0 and t["executes"] == 0)

    def at_break(self, thread):
        """Does a RISC-V core stand in front of an instruction, having posted nothing else?"""
        t = self.chip.arrays["threads"][thread]
        if not self.runs_instructions(thread) or t["state"] != st.RUNNING:
            return False
        return bool(t["operation"] == Op.SPEND and self.chip.loader.riscv.cores[thread]["pending"] == BROKEN)

    def row(self, thread):
        """The row of the line table of its program at which a thread stands."""
        return int(self.chip.arrays["threads"][thread]["line"])
