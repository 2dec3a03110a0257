"""RISC-V cores of a chip: their state, made when the first such kernel starts, and what the loader does before one starts.

Text lies in L1 behind the runtime arguments of all threads, the kernels of a core one after the other; local memory holds the
firmware words, then the kernel's data, zeros, and the stack (`tensim.sim.cores.riscv.layout`).
"""

import numpy as np

from tensim.sim.cores.context import L1_ARGS, L1_COMMON_ARGS, N_ARGS, N_COMMON_ARGS
from tensim.sim.cores.riscv import core as rv
from tensim.sim.cores.riscv import layout
from tensim.sim.cores.riscv.decode import STACK_POINTER
from tensim.sim.cores.slots import THREADS_PER_CORE
from tensim.sim.engine.entry_points import run_core
from tensim.sim.errors import ProgramError

PRINTS, MARGIN_PRINTS = 1 << 14, 64
TEXT_ALIGNMENT = rv.ICACHE_LINE


class RiscvCores:
    """State of all cores of a chip.  `machine`: the record of the engine; `l1`: (worker, byte); `text_base`: L1 address."""

    def __init__(self, arch, machine, l1, n_threads, text_base, semaphore_base):
        self.arch, self._l1, self._text_base, self._semaphore_base = arch, l1, text_base, semaphore_base
        self._sets = max(int(arch["riscv.icache_bytes"]) // (rv.ICACHE_LINE * rv.ICACHE_WAYS), 1)
        self._cores = np.zeros(n_threads, rv.CORE)
        self._registers = np.zeros((n_threads, 2 * rv.REGISTER_BYTES // 8), np.int64)
        self._icache = np.zeros((n_threads, self._sets, rv.ICACHE_WAYS), np.int64)
        largest = max(layout.local_bytes(arch, slot) for slot in range(THREADS_PER_CORE))
        self._local = np.zeros((n_threads, largest + largest // 4), np.uint8)
        self._banks, self._firmware_bytes = layout.bank_tables(arch), layout.firmware_bytes(arch)
        self._prints = np.zeros(PRINTS, rv.PRINT)
        self._machine = machine
        machine["prints_at"], machine["prints_room"] = self._prints.ctypes.data, PRINTS - MARGIN_PRINTS
        for name, table in (("registers_at", self._registers), ("icache_at", self._icache), ("local_at", self._local)):
            self._cores[name] = table.ctypes.data + np.arange(n_threads) * table.strides[0]
        self._cores["icache_sets"] = self._sets

    def place_texts(self, kernels, slots_of):
        """L1 address of the text of each (worker, slot) that the RISC-V kernels of a program take.  ProgramError without room."""
        ends, places = {}, {}
        for kernel in kernels:
            for core in kernel.cores:
                for slot in slots_of(kernel):
                    places[core, slot] = start = ends.get(core, self._text_base)
                    size = len(kernel.compiled.on(slot).image.text)
                    ends[core] = -(-(start + size) // TEXT_ALIGNMENT) * TEXT_ALIGNMENT
        end = max(ends.values(), default=0)
        if end > self.arch.l1_user_base:
            raise ProgramError(
                f"the kernels' code on a core ends at {end:#x}, beyond the kernel-configuration space, which ends at "
                f"{self.arch.l1_user_base:#x}"
            )
        return places

    def prepare(self, thread, program, text_l1, words, place):
        """Make a thread's core ready to run a `ThreadProgram`; returns (function, state) for its record.

        `words`: its context block; `place`: (NoC coordinates of the core, logical ones, relative ones, NoC index).
        """
        worker, slot = divmod(thread, THREADS_PER_CORE)
        image, decoded, core = program.image, program.decoded, self._cores[thread]
        size = layout.local_bytes(self.arch, slot)
        text = np.frombuffer(image.text, np.uint8)
        self._l1[worker, text_l1 : text_l1 + len(text)] = text
        local = self._local[thread]
        local[:] = 0
        for start, content in image.data:
            local[start : start + len(content)] = np.frombuffer(content, np.uint8)
        arguments = (words[L1_ARGS], words[L1_COMMON_ARGS], self._semaphore_base, words[N_ARGS], words[N_COMMON_ARGS])
        firmware = self._firmware(arguments, place, worker, slot)
        local[: len(firmware)] = np.frombuffer(firmware, np.uint8)
        self._registers[thread], self._icache[thread] = 0, -1
        self._registers[thread, STACK_POINTER] = np.int32(np.uint32(layout.LOCAL_BASE + size))
        core["text_at"], core["text_bytes"] = decoded.records.ctypes.data, len(image.text)
        core["operands_at"], core["text_l1"], core["pc"] = decoded.operands.ctypes.data, text_l1, image.entry
        core["local_bytes"], core["data_end"] = size, max(image.data_end, len(firmware))
        core["pending"], core["tainted"] = rv.NOTHING, 0
        return run_core.address, self._cores.ctypes.data + thread * self._cores.strides[0]

    def _firmware(self, arguments, place, worker, slot):
        *coordinates, noc = place
        words = layout.firmware_words(arguments=arguments, place=coordinates, noc=noc, core=worker, slot=slot)
        return (words + self._banks).ljust(self._firmware_bytes, b"\0")

    def drain_prints(self):
        """What the kernels have printed since the last time: PRINT records in simulated order."""
        count = int(self._machine["n_prints"])
        self._machine["n_prints"] = 0
        return self._prints[:count].copy()
