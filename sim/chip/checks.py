"""Checks of kernels on a chip: the checker's tables, what a launch puts into them, and its findings as errors."""

import numpy as np

from tensim.sim.cores.checks import shadow
from tensim.sim.cores.checks.dram_buffers import BASE, NAMED
from tensim.sim.cores.checks.faults import ADVICE, MESSAGES, Check
from tensim.sim.cores.slots import THREADS_PER_CORE
from tensim.sim.engine.entry_points import check_event
from tensim.sim.engine.limits import N_CIRCULAR_BUFFERS
from tensim.sim.errors import ProgramError


class Checks:
    """The checker of `chip`, a `tensim.sim.chip.chip.Chip`; made once, before its first launch."""

    def __init__(self, chip):
        self._chip, n = chip, chip.n_workers
        self._record = np.zeros(1, shadow.SHADOW)
        self._buffers = np.zeros((n, N_CIRCULAR_BUFFERS), shadow.BUFFER)
        self._configured = np.zeros((n, shadow.CONFIGURED), np.int64)
        self._threads = np.zeros(n * THREADS_PER_CORE, shadow.THREAD)
        self._writes = np.zeros((n * THREADS_PER_CORE, shadow.MAX_WRITES), shadow.WRITE)
        self._kept = {}  # launch slot -> arrays that the tables point to
        for name in ("buffers", "configured", "threads", "writes"):
            self._record[f"{name}_at"] = getattr(self, f"_{name}").ctypes.data
        self.forget()
        chip.machine["shadow_at"], chip.machine["checker_at"] = self._record.ctypes.data, check_event.address

    def forget(self):
        """No fault has been found."""
        for name in ("line", "other", "other_line"):
            self._record[name] = -1

    def launch(self, launch, slot):
        """A program is loaded: its threads and circular buffers begin anew."""
        for core in {core for kernel in launch.kernels for core in kernel.cores}:
            self._buffers[core] = 0
            self._configured[core] = 0
        for cb in launch.circular_buffers:
            for core in cb.cores:
                self._buffers[core, cb.index]["tensor"] = cb.on_buffer
                count = self._configured[core, 0] = self._configured[core, 0] + 1
                self._configured[core, count] = cb.index
        buffers = np.array(launch.dram_buffers, np.int64).reshape(-1, len(shadow.DRAM_BUFFER.names))
        buffers = np.ascontiguousarray(buffers[np.argsort(buffers[:, 0], kind="stable")])
        self._kept[slot] = [buffers]
        for kernel in launch.kernels:
            slots = (kernel.slot,) if kernel.slot is not None else range(2, THREADS_PER_CORE)
            for core in kernel.cores:
                words = (*kernel.args.get(core, ()), *kernel.common_args, *kernel.compile_args)
                named = self._named(buffers, np.array(words, np.int64))
                self._kept[slot].append(named)
                for thread in (core * THREADS_PER_CORE + slot for slot in slots):
                    t = self._threads[thread]
                    t["dram_at"], t["n_dram"] = buffers.ctypes.data, len(buffers)
                    t["named_at"], t["names"] = named.ctypes.data, named.max(initial=0)

    @staticmethod
    def _named(buffers, words):
        """For each buffer: whether an argument lies in it or is its address."""
        named = np.zeros(len(buffers), np.uint8)
        starts, ends = buffers[:, 0], buffers[:, 1]
        at = np.searchsorted(starts, words, "right") - 1
        found, words = at[at >= 0], words[at >= 0]
        np.maximum.at(named, found[words < ends[found]], NAMED)
        np.maximum.at(named, found[words == starts[found]], BASE)
        return named

    def error(self):
        """The error of the check that stopped the engine."""
        m, record = self._chip.machine, self._record[0]
        code, values = Check(int(m["error"])), [int(m[name]) for name in ("error_a", "error_b", "error_c")]
        line = int(record["line"])
        where = self._chip.thread_place(int(m["error_thread"]), None if line < 0 else line)
        text = MESSAGES[code].format(**dict(zip("abc", values, strict=True)))
        if record["other"] >= 0:
            other = self._chip.thread_place(int(record["other"]), int(record["other_line"]))
            where["other"] = other
            text += f" ({other['thread']}, {other.get('file')}:{other.get('line')})"
        return ProgramError(text, where=where | {"values": values}, hint=ADVICE[code], kind=code.name.lower())
