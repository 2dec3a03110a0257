"""What kernels print, shown line by line with core and thread."""

import functools
import sys

from tensim.sim.cores.slots import THREAD_NAMES, THREADS_PER_CORE


class Printer:
    """Shows the prints of `chip`, a `Chip`; `on_print`: called with each line."""

    def __init__(self, chip):
        self._chip, self._streams = chip, {}  # thread -> its `tensim.sim.chip.prints.Stream`
        self.on_print = functools.partial(print, file=sys.stderr)

    def show(self, rest=False):
        """Print what kernels have printed, with core and thread; `rest`: also lines that are not complete."""
        machine = self._chip.machine
        count, machine["n_prints"] = int(machine["n_prints"]), 0
        if count == 0 and not self._streams:
            return
        from tensim.sim.chip.prints import Stream

        for entry in self._chip.arrays["prints"][:count].copy():
            thread = int(entry["thread"])
            if thread not in self._streams:
                program = self._chip.line_programs[int(self._chip.arrays["threads"][thread]["line_base"])]
                self._streams[thread] = Stream(program.printed_text)
            self._show(thread, self._streams[thread].add(entry))
        for thread in sorted(self._streams) if rest else ():
            self._show(thread, self._streams.pop(thread).rest())

    def _show(self, thread, lines):
        core, slot = divmod(thread, THREADS_PER_CORE)
        y, x = divmod(core, self._chip.arch.grid[0])
        for line in lines:
            self.on_print(f"({x},{y}) {THREAD_NAMES[slot]}: {line}")
