"""Compute threads at the instruction level: the tiles' states, made when the first such kernel starts, and what the loader does
before one starts.

Local memory holds the launch words, the kernel's data, zeros and the stack (`tensim.sim.cores.riscv.llk.build`); the table of
circular buffers that the vendor's start reads lies in L1.
"""

import numpy as np

from tensim.sim.chip.first_compilation import compile_instruction_level
from tensim.sim.chip.riscv_cores import TABLE_BYTES, TABLE_WORDS, firmware_words
from tensim.sim.cores import context as ctx
from tensim.sim.cores.coprocessor.baby_core import BabyText
from tensim.sim.cores.coprocessor.cluster import CLUSTER
from tensim.sim.cores.coprocessor.state import N_THREADS
from tensim.sim.cores.coprocessor.tile_state import TileState
from tensim.sim.cores.riscv import layout
from tensim.sim.cores.slots import FIRST_COMPUTE_SLOT, THREADS_PER_CORE
from tensim.sim.engine.entry_points import RUN_TILE, compute_event
from tensim.sim.engine.limits import N_CIRCULAR_BUFFERS

LAUNCH_WORDS = 0x40  # bytes
BUFFERS_AT, IN_USE_AT, FIRST_REMOTE_AT = 0x28, 0x2C, 0x38  # launch words behind the firmware words
FAST = 1  # `data_on` of the machine


class Coprocessors:
    """Tiles of a chip at the instruction level.  `arrays`: of the machine (`tensim.sim.chip.arrays.MachineArrays`)."""

    def __init__(self, arch, arrays, semaphore_base):
        compile_instruction_level(arch.name)
        self.arch, self._arrays, self._semaphore_base = arch, arrays, semaphore_base
        self._clusters = np.zeros(arrays.n_workers, CLUSTER)
        self.tiles, self._texts = {}, {}

    def forget(self):
        """Nothing runs: the tiles are as after reset when the next kernels start."""
        self.tiles.clear()

    def _tile(self, worker):
        if worker not in self.tiles:
            arrays, data = self._arrays, int(self._arrays.machine["data_on"])
            tile = TileState(
                self.arch, arrays.l1[worker], (layout.local_bytes(self.arch, FIRST_COMPUTE_SLOT),) * N_THREADS,
                arrays["circular_buffers"][worker], data != 0, data == FAST,
                None if arrays.l1_known is None else arrays.l1_known[worker],
            )  # fmt: skip
            tile.record["counter_delay"] = arrays.machine["cb_visible"]
            self.tiles[worker] = tile
            cluster = self._clusters[worker]
            cluster["coprocessor_at"], cluster["cores_at"] = tile.address, tile.cores.address
            cluster["run_at"] = RUN_TILE[self.arch.name].address
        return self.tiles[worker]

    def prepare(self, slot, threads, program, tables, contexts):
        """Make the cores of threads of a slot ready to run a `ThreadProgram`; returns (function, states) for their records.

        `tables`: L1 address of each one's table of circular buffers; `contexts`: the context blocks of all threads.
        """
        if program not in self._texts:
            self._texts[program] = BabyText(program.image.text, program.text_address, self.arch.name)
        text, image = self._texts[program], program.image
        workers = threads // THREADS_PER_CORE
        for thread, worker, table in zip(threads.tolist(), workers.tolist(), tables.tolist(), strict=True):
            tile, core = self._tile(worker), slot - FIRST_COMPUTE_SLOT
            if slot == FIRST_COMPUTE_SLOT:
                self._begin(worker, tile, table, program)
            local = tile.cores.local[core]
            local[:] = 0
            launch = np.frombuffer(self._launch_words(contexts[thread], worker, slot, table), np.uint8)
            local[: len(launch)] = launch
            for start, content in image.data:
                local[start : start + len(content)] = np.frombuffer(content, np.uint8)
            tile.cores.load(core, text, program.text_address + image.entry)
        return compute_event.address, self._clusters.ctypes.data + workers * CLUSTER.itemsize

    def _begin(self, worker, tile, table, program):
        """Count anew, and write the table of circular buffers."""
        self._clusters[worker]["started"] = tile.record["dst_access_16_as_32"] = 0
        if self._arrays.machine["log_on"]:
            tile.tell_spans()
        tile.record["first_stream"] = program.image.constant("tensim_first_stream", program.text_address)
        for name in ("issued", "worked", "flops"):
            tile.parts["units"][name] = 0
        rows = self._arrays["circular_buffers"][worker]
        words = np.zeros((2 * N_CIRCULAR_BUFFERS, TABLE_WORDS), np.uint32)
        words[:N_CIRCULAR_BUFFERS] = rows[:, [ctx.CB_BASE, ctx.CB_SIZE, ctx.CB_PAGES, ctx.CB_PAGE_SIZE]]
        self._arrays.l1[worker, table : table + TABLE_BYTES] = words.view(np.uint8).ravel()

    def _launch_words(self, words, worker, slot, table):
        first = firmware_words(words, self._semaphore_base, worker, slot)
        launch = np.zeros(LAUNCH_WORDS // 4, np.uint32)
        launch[: len(first) // 4] = np.frombuffer(first, np.uint32)
        pages = self._arrays["circular_buffers"][worker][:, ctx.CB_PAGES]
        launch[BUFFERS_AT // 4] = table
        launch[IN_USE_AT // 4] = sum(1 << index for index in np.flatnonzero(pages).tolist())
        launch[FIRST_REMOTE_AT // 4] = N_CIRCULAR_BUFFERS
        return launch.tobytes()

    def fault(self, worker):
        """What stopped a tile, in words."""
        tile = self.tiles[worker]
        return tile.fault() or tile.core_fault() or "the tile stopped"

    def waits(self, worker, slot):
        """What a compute thread stands at, in words."""
        return self.tiles[worker].waits(slot - FIRST_COMPUTE_SLOT)
