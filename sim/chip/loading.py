"""Loading a program into a chip: circular buffers, arguments, compute configuration and the first frame of each thread."""

import functools

import numpy as np

from tensim.sim.chip.arrays import ARGS_STRIDE, ROLES, SEMAPHORE_STRIDE
from tensim.sim.chip.riscv_cores import RiscvCores
from tensim.sim.cores import context as ctx
from tensim.sim.cores.numerics.data_format import tile_size
from tensim.sim.cores.numerics.tile import FACE_DATUMS, TILE_DATUMS, TILE_SIDE
from tensim.sim.cores.riscv.program import RiscvKernel
from tensim.sim.cores.slots import THREAD_NAMES, THREADS_PER_CORE, TRISC0
from tensim.sim.engine import state as st
from tensim.sim.engine.limits import MAX_RUNTIME_ARGS, N_CIRCULAR_BUFFERS
from tensim.sim.errors import ProgramError, SimulatorError, UsageError

FIDELITY_PHASES = {0: 1, 2: 2, 3: 3, 4: 4}
# Context words with the cost of plain code -> architecture keys
COST_WORDS = {
    ctx.COST_ALU: "riscv.alu",
    ctx.COST_BRANCH: "riscv.branch",
    ctx.COST_MUL: "riscv.mul",
    ctx.COST_DIV: "riscv.div",
    ctx.COST_LOAD: "riscv.local_load",
    ctx.COST_MUL_USE: "riscv.mul_use",
    ctx.FETCH_MISS: "riscv.fetch_miss",
}
ICACHE_LINE = 16  # bytes: one read of L1 (docs/hardware/riscv.md#instruction-fetch)
CB_TABLE_BYTES = N_CIRCULAR_BUFFERS * ctx.CB_WORDS * 8  # rows of a core's circular buffers
# What a thread starts without
THREAD_COUNTERS = (
    "phase step count wait sequence busy operations fraction reads_open issued issue_busy pushed drained fifo_head "
    "load_1 load_2 load_3 load_4 store_1 store_2 store_3 store_4"
).split()


class ProgramLoader:
    """Loads programs into a chip's `arrays` (`tensim.sim.chip.arrays.MachineArrays`).

    `line_programs`: {first row in the line table: program}; `riscv`: the RISC-V cores' state, None before the first kernel
    that needs one.
    """

    def __init__(self, arch, arrays):
        self.arch, self._arrays = arch, arrays
        self.line_programs, self.riscv, self._kept = {}, None, {}

    def load(self, launch, launch_slot):
        """Make the threads of a program ready to start; returns their indices.  It occupies `launch_slot`."""
        self._check_launch(launch)
        for semaphore in launch.semaphores:
            for core in semaphore.cores:
                address = self._arrays.semaphore_base + SEMAPHORE_STRIDE * semaphore.id
                self._arrays.l1[core, address : address + 4].view(np.uint32)[0] = semaphore.initial & 0xFFFFFFFF
        self._configure_circular_buffers(launch)
        threads, texts = [], self._place_texts(launch)
        self._kept[launch_slot] = []
        for kernel in launch.kernels:
            threads += self._prepare_kernel(launch, kernel, launch_slot, texts)
        return threads

    def keep(self, launch_slot, held):
        """Keep alive what the threads of a program point to until the slot is used again."""
        self._kept[launch_slot] = [held]

    def drop(self):
        """Keep nothing alive any more."""
        self._kept.clear()

    def reset_threads(self, threads, slot, line_base, first, n_lines):
        """Make threads (an index or an array of them) ready to start as a part of the program in `slot`."""
        table = self._arrays["threads"]
        rows = table[threads]  # a copy, of which whole columns are written at once
        for name in THREAD_COUNTERS:
            rows[name] = 0
        rows["launch"], rows["state"] = slot, st.RUNNING
        rows["line_base"], rows["first_line"], rows["line"], rows["n_lines"] = line_base, first, first, n_lines
        table[threads] = rows
        self._arrays["stalls"][threads] = 0
        self._arrays["noc_words"][threads] = 0

    def _check_launch(self, launch):
        taken = self._arrays["threads"]["state"]
        for kernel in launch.kernels:
            reason = kernel.compiled.loaded_data_reaches_control
            if self._arrays.numerics == "off" and reason:
                raise ProgramError(
                    f"kernel {kernel.compiled.name} cannot run with numerics=off: {reason}",
                    hint="use numerics=fast",
                )
            for core in kernel.cores:
                for offset in self._slots(kernel):
                    if taken[core * THREADS_PER_CORE + offset] in (st.RUNNING, st.PARKED):
                        raise SimulatorError(f"core {core} {THREAD_NAMES[offset]} is busy with another program")

    @staticmethod
    def _slots(kernel):
        return (kernel.slot,) if kernel.slot is not None else (TRISC0, TRISC0 + 1, TRISC0 + 2)

    def _configure_circular_buffers(self, launch):
        table = self._arrays["circular_buffers"]
        for core in {core for kernel in launch.kernels for core in kernel.cores}:
            table[core] = 0
        for cb in launch.circular_buffers:
            tile = tile_size(cb.data_format) * cb.tile_hw // TILE_DATUMS
            row = np.zeros(ctx.CB_WORDS, np.int64)
            row[ctx.CB_PAGES], row[ctx.CB_PAGE_SIZE] = cb.size // cb.page_size, cb.page_size
            row[ctx.CB_BASE], row[ctx.CB_SIZE], row[ctx.CB_FORMAT] = cb.address, cb.size, cb.data_format
            row[ctx.CB_WRITE_PTR] = row[ctx.CB_READ_PTR] = cb.address
            row[ctx.CB_TILE_SIZE], row[ctx.CB_TILE_HW], row[ctx.CB_FACES] = (
                tile,
                cb.tile_hw,
                max(cb.tile_hw // FACE_DATUMS, 1),
            )
            for core in cb.cores:
                table[core, cb.index] = row

    def _place_texts(self, launch):
        """L1 address of the code of each (worker, slot) that runs a RISC-V kernel of the program."""
        kernels = [kernel for kernel in launch.kernels if isinstance(kernel.compiled, RiscvKernel)]
        if not kernels:
            return {}
        if self.riscv is None:
            text_base = self._arrays.args_base + THREADS_PER_CORE * ARGS_STRIDE
            n_threads = self._arrays.n_workers * THREADS_PER_CORE
            self.riscv = RiscvCores(
                self.arch, self._arrays.machine, self._arrays.l1, n_threads, text_base, self._arrays.semaphore_base
            )
        return self.riscv.place_texts(kernels, self._slots)

    def _prepare_kernel(self, launch, kernel, launch_slot, texts):
        compile_args = np.array([*kernel.compile_args, 0], np.int64)
        frames, prepared = [], {slot: [] for slot in self._slots(kernel)}
        common_words = self._common_words(kernel, compile_args)
        for core in kernel.cores:
            for slot, threads in prepared.items():
                index = core * THREADS_PER_CORE + slot
                self._write_context(launch, kernel, core, slot, index, common_words)
                t, program = self._arrays["threads"][index], kernel.compiled.on(slot)
                if (core, slot) in texts:
                    t["function"], t["riscv"] = self._prepare_core(index, program, texts[core, slot])
                else:
                    frames.append(program.code.frame(int(t["context"])))
                    t["function"], t["frame"], t["riscv"] = program.code.address, frames[-1].ctypes.data, 0
                threads.append(index)
            if kernel.slot is None:
                self._configure_compute(core, kernel.compute)
        for slot, threads in prepared.items():
            program = kernel.compiled.on(slot)
            self.reset_threads(threads, launch_slot, self._line_region(program), program.first_row, program.n_rows)
        self._kept[launch_slot].append((frames, compile_args, kernel.compiled))
        return [index for core in zip(*prepared.values(), strict=True) for index in core]

    def _prepare_core(self, index, program, text_l1):
        """(function, state) of a thread that runs a RISC-V program."""
        words, core = self._arrays["contexts"][index], index // THREADS_PER_CORE
        logical, relative = words[[ctx.LOGICAL_X, ctx.LOGICAL_Y]], words[[ctx.RELATIVE_X, ctx.RELATIVE_Y]]
        place = self.arch.kernel_coords[core], logical, relative, int(words[ctx.NOC])
        return self.riscv.prepare(index, program, text_l1, words, place)

    def _common_words(self, kernel, compile_args):
        """The context block as far as it is the same for all threads of a kernel."""
        words = self._chip_words.copy()
        words[ctx.NOC], words[ctx.N_COMMON_ARGS] = kernel.noc, len(kernel.common_args)
        words[ctx.N_COMPILE_ARGS], words[ctx.COMPILE_ARGS] = len(kernel.compile_args), compile_args.ctypes.data
        return words

    @functools.cached_property
    def _chip_words(self):
        """The context block as far as it is the same for all kernels."""
        arch, words = self.arch, np.zeros(ctx.CONTEXT_WORDS, np.int64)
        words[ctx.L1_SIZE] = arch.l1_size
        words[ctx.N_DRAM_BANKS], words[ctx.DRAM_BANKS] = arch.dram_banks, self._arrays.dram_bank_addresses.ctypes.data
        words[ctx.N_L1_BANKS], words[ctx.L1_BANKS] = self._arrays.n_workers, self._arrays.l1_bank_addresses.ctypes.data
        words[ctx.DRAM_ALIGNMENT], words[ctx.L1_ALIGNMENT] = arch.dram_alignment, arch.l1_alignment
        words[ctx.SEMAPHORE_BASE] = self._arrays.semaphore_base
        words[ctx.MAX_BURST] = self._arrays.machine["max_packet"]
        for word, key in COST_WORDS.items():
            words[word] = arch[key]
        words[ctx.ICACHE_LINES] = arch["riscv.icache_bytes"] // ICACHE_LINE
        return words

    def _write_context(self, launch, kernel, core, slot, index, common_words):
        words = self._arrays["contexts"][index]
        words[:] = common_words
        args, common = kernel.args.get(core, []), kernel.common_args
        if len(args) + len(common) > MAX_RUNTIME_ARGS:
            raise UsageError(
                f"{len(args)} unique and {len(common)} common runtime arguments; the limit is {MAX_RUNTIME_ARGS}"
            )
        l1 = int(self._arrays.machine["l1_at"]) + core * self.arch.l1_size
        unique_at = self._arrays.args_base + slot * ARGS_STRIDE
        common_at = unique_at + 4 * len(args)
        values = np.array([value & 0xFFFFFFFF for value in (*args, *common)], np.uint32)
        self._arrays.l1[core, unique_at : unique_at + values.nbytes] = values.view(np.uint8)
        words[ctx.L1], words[ctx.N_ARGS] = l1, len(args)
        words[ctx.ARGS], words[ctx.COMMON_ARGS] = l1 + unique_at, l1 + common_at
        words[ctx.L1_ARGS], words[ctx.L1_COMMON_ARGS] = unique_at, common_at
        words[ctx.MY_X], words[ctx.MY_Y] = self.arch.worker_coords[core]
        words[ctx.KERNEL_X], words[ctx.KERNEL_Y] = self.arch.kernel_coords[core]
        logical_y, logical_x = divmod(core, self.arch.grid[0])
        words[ctx.LOGICAL_X], words[ctx.LOGICAL_Y] = logical_x, logical_y
        words[ctx.RELATIVE_X] = logical_x - launch.sub_device_origin[0]
        words[ctx.RELATIVE_Y] = logical_y - launch.sub_device_origin[1]
        words[ctx.ROLE], words[ctx.CORE], words[ctx.THREAD] = int(ROLES[slot]), core, index
        words[ctx.CBS] = int(self._arrays.machine["circular_buffers_at"]) + core * CB_TABLE_BYTES

    def _configure_compute(self, core, compute):
        record = self._arrays["cores"][core]
        sections = 1 if compute.dst_full_sync_en else 2
        tiles = self.arch["tensix.dst.tiles32" if compute.fp32_dest_acc_en else "tensix.dst.tiles16"]
        if tiles == 0:
            raise UsageError(f"{self.arch.name} has no 32-bit Dst (fp32_dest_acc_en)")
        record["fidelity_phases"], record["fp32_dest"] = (
            FIDELITY_PHASES[compute.math_fidelity],
            compute.fp32_dest_acc_en,
        )
        record["sections"], record["capacity"] = sections, tiles // sections
        record["approx"] = compute.math_approx_mode
        to_dst = compute.unpack_to_dest_mode[:N_CIRCULAR_BUFFERS]
        record["unpack_to_dst"] = sum(1 << index for index, mode in enumerate(to_dst) if mode)
        record["pack_precise"] = compute.bfp8_pack_precise
        record["source_rows"] = TILE_SIDE
        for name in (
            "pack_relu pack_threshold l1_accumulate src_started src_filled src_taken src_released dst_acquired "
            "dst_committed dst_released fresh fpu_busy sfpu_busy flops"
        ).split():
            record[name] = 0

    def _line_region(self, program):
        """First row of a program in the line table; it keeps its rows over launches."""
        for base, known in self.line_programs.items():
            if known is program:
                return base
        old = self._arrays["lines"]
        base = len(old)
        self.line_programs[base] = program
        new = np.zeros((base + program.n_rows, 3), np.int64)
        new[: len(old)] = old
        self._arrays.place("lines", new)
        return base
