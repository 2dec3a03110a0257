"""RISC-V cores of a chip: their state, made when the first such kernel starts, and what the loader does before one starts.

Text lies in L1 behind the runtime arguments of all threads, the kernels of a core one after the other; local memory holds the
firmware words, then the kernel's data, zeros, and the stack (`tensim.sim.cores.riscv.layout`).
"""

import numpy as np

from tensim.sim.chip.program_image import rows_of
from tensim.sim.cores.context import (
    KERNEL_X,
    KERNEL_Y,
    L1_ARGS,
    L1_COMMON_ARGS,
    LOGICAL_X,
    LOGICAL_Y,
    N_ARGS,
    N_COMMON_ARGS,
    NOC,
    RELATIVE_X,
    RELATIVE_Y,
)
from tensim.sim.cores.riscv import core as rv
from tensim.sim.cores.riscv import layout
from tensim.sim.cores.slots import FIRST_COMPUTE_SLOT, THREADS_PER_CORE
from tensim.sim.engine.entry_points import run_core
from tensim.sim.engine.limits import N_CIRCULAR_BUFFERS
from tensim.sim.errors import ProgramError

TEXT_ALIGNMENT = rv.ICACHE_LINE
# Of circular buffers, at the instruction level: address, size, pages, bytes of a page, as many as the chip has at most
TABLE_WORDS = 4
TABLE_BYTES = 4 * TABLE_WORDS * 2 * N_CIRCULAR_BUFFERS
# Context words that the firmware words of a thread are made of
FIRMWARE_WORDS = [
    L1_ARGS, L1_COMMON_ARGS, N_ARGS, N_COMMON_ARGS, NOC, KERNEL_X, KERNEL_Y, LOGICAL_X, LOGICAL_Y, RELATIVE_X, RELATIVE_Y,
]  # fmt: skip


# What `RiscvCores.prepare` writes into the records of cores
SETTINGS = (
    "text_at text_bytes text_l1 pc operands_at local_bytes data_end pending tainted args_end args_limit"
).split()


def firmware_words(words, semaphore_base, core, slot):
    """`layout.firmware_words` of a thread by its context block."""
    return layout.firmware_words(
        arguments=(words[L1_ARGS], words[L1_COMMON_ARGS], semaphore_base, words[N_ARGS], words[N_COMMON_ARGS]),
        place=(words[[KERNEL_X, KERNEL_Y]], words[[LOGICAL_X, LOGICAL_Y]], words[[RELATIVE_X, RELATIVE_Y]]),
        noc=words[NOC], core=core, slot=slot,
    )  # fmt: skip


class RiscvCores:
    """State of all cores of a chip.  `l1`: (worker, byte); `l1_banks`: as in `layout.bank_tables`.

    `cores`, `registers`, `local`: of each thread (`tensim.sim.cores.riscv.core`)."""

    def __init__(self, arch, l1, n_threads, semaphore_base, l1_banks=None):
        self.arch, self._l1, self._semaphore_base = arch, l1, semaphore_base
        self._sets = max(int(arch["riscv.icache_bytes"]) // (rv.ICACHE_LINE * rv.ICACHE_WAYS), 1)
        self.cores = np.zeros(n_threads, rv.CORE)
        self.registers = np.zeros((n_threads, 2 * rv.REGISTER_BYTES // 8), np.int64)
        self._icache = np.zeros((n_threads, self._sets, rv.ICACHE_WAYS), np.int64)
        largest = max(layout.local_bytes(arch, slot) for slot in range(THREADS_PER_CORE))
        self.local = np.zeros((n_threads, largest + largest // 4), np.uint8)
        banks = np.frombuffer(layout.bank_tables(arch, l1_banks), np.uint8)
        self._firmware = np.zeros((n_threads, layout.firmware_bytes(arch)), np.uint8)
        self._firmware[:, layout.BANKS_AT : layout.BANKS_AT + len(banks)] = banks
        self._firmware_of = np.full((n_threads, len(FIRMWARE_WORDS)), -1, np.int64)
        for name, table in (("registers_at", self.registers), ("icache_at", self._icache), ("local_at", self.local)):
            self.cores[name] = table.ctypes.data + np.arange(n_threads) * table.strides[0]
        self.cores["icache_sets"] = self._sets

    def place_texts(self, kernels, slots_of, base):
        """L1 address, from `base` on, of the text of each (worker, slot) that the RISC-V kernels of a program take.

        ProgramError without room.  At the instruction level the table of circular buffers lies in front of the first text.
        """
        ends, places = {}, {}
        for kernel in kernels:
            for core in kernel.cores:
                for slot in slots_of(kernel):
                    places[core, slot] = start = ends.get(core, base)
                    size = len(kernel.compiled.on(slot).image.text) + (
                        TABLE_BYTES if kernel.compiled.executes and slot == FIRST_COMPUTE_SLOT else 0
                    )
                    ends[core] = -(-(start + size) // TEXT_ALIGNMENT) * TEXT_ALIGNMENT
        end = max(ends.values(), default=0)
        if end > self.arch.l1_user_base:
            raise ProgramError(
                f"the kernels' code on a core ends at {end:#x}, beyond the kernel-configuration space, which ends at "
                f"{self.arch.l1_user_base:#x}"
            )
        return places

    def prepare(self, slot, threads, program, places, contexts, args_stride):
        """Make the cores of threads of a slot ready to run a `ThreadProgram`; returns (function, states) for their records.

        `places`: L1 address of each one's text; `contexts`: the context blocks of all threads; `args_stride`: bytes of L1 for
        the runtime arguments of each.
        """
        image, decoded, size = program.image, program.decoded, layout.local_bytes(self.arch, slot)
        text, workers = np.frombuffer(image.text, np.uint8), threads // THREADS_PER_CORE
        for place in set(places.tolist()):
            self._l1[workers[places == place], place : place + len(text)] = text
        local = np.zeros(self.local.shape[1], np.uint8)
        for start, content in image.data:
            local[start : start + len(content)] = np.frombuffer(content, np.uint8)
        self.local[threads] = local
        words = contexts[threads]
        self._write_firmware(slot, threads, words)
        self.registers[threads], self._icache[threads] = 0, -1
        self.registers[threads, layout.STACK_POINTER] = np.int32(np.uint32(layout.LOCAL_BASE + size))
        settings = {
            "text_at": decoded.records.ctypes.data, "text_bytes": len(image.text), "text_l1": places, "pc": image.entry,
            "operands_at": decoded.operands.ctypes.data, "local_bytes": size,
            "data_end": max(image.data_end, self._firmware.shape[1]), "pending": rv.NOTHING, "tainted": 0,
            "args_end": words[:, L1_COMMON_ARGS] + 4 * words[:, N_COMMON_ARGS], "args_limit": words[:, L1_ARGS] + args_stride,
        }  # fmt: skip
        for name, value in settings.items():
            self.cores[name][threads] = value
        return run_core.address, self.cores.ctypes.data + threads * self.cores.strides[0]

    def regions(self, threads):
        """[(addresses, sizes)] of what `prepare` writes outside L1 and the tables of the machine."""
        tables = self.local, self.registers, self._icache
        return [rows_of(self.cores, threads, SETTINGS), *(rows_of(table, threads) for table in tables)]

    def _write_firmware(self, slot, threads, contexts):
        """Put the firmware words into local memory; they are made anew where a thread's last ones were of other values."""
        for at in np.flatnonzero((self._firmware_of[threads] != contexts[:, FIRMWARE_WORDS]).any(1)).tolist():
            thread, words = int(threads[at]), contexts[at]
            self._firmware_of[thread] = words[FIRMWARE_WORDS]
            first = firmware_words(words, self._semaphore_base, thread // THREADS_PER_CORE, slot)
            self._firmware[thread, : len(first)] = np.frombuffer(first, np.uint8)
        self.local[threads, : self._firmware.shape[1]] = self._firmware[threads]
