"""Loading a program into a chip: circular buffers, arguments, compute configuration and the first frame of each thread."""

import functools
import math

import numpy as np

from tensim.sim import state as st
from tensim.sim.chip.arrays import ARGS_STRIDE, ROLES
from tensim.sim.chip.program_image import Images, ProgramImage, rows_of
from tensim.sim.chip.riscv_cores import RiscvCores
from tensim.sim.cores import context as ctx
from tensim.sim.cores.numerics.data_format import tile_size
from tensim.sim.cores.numerics.tile import FACE_DATUMS, TILE_DATUMS, TILE_SIDE
from tensim.sim.cores.operations import OPERATION_TILES
from tensim.sim.cores.riscv.core import ICACHE_LINE
from tensim.sim.cores.slots import BRISC, FIRST_COMPUTE_SLOT, THREAD_NAMES, THREADS_PER_CORE, TRISC0
from tensim.sim.engine.limits import N_CIRCULAR_BUFFERS, SEMAPHORE_STRIDE
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
CB_TABLE_BYTES = N_CIRCULAR_BUFFERS * ctx.CB_WORDS * 8  # rows of a core's circular buffers
# What a thread starts without
THREAD_COUNTERS = (
    "phase step count wait sequence busy operations fraction reads_open issued issue_busy pushed drained fifo_head attempts "
    "load_1 load_2 load_3 load_4 store_1 store_2 store_3 store_4"
).split()
# What else loading writes into the record of a thread
THREAD_SETTINGS = "launch state line_base first_line line n_lines executes function riscv frame".split()
# What the compute engine of a core starts without
CORE_COUNTERS = (
    "pack_relu pack_threshold l1_accumulate src_started src_filled src_taken src_released src_complete_0 src_complete_1 "
    "dst_acquired dst_committed dst_released fresh fpu_busy sfpu_busy flops products product_calls "
    "dst_terms dst_rounded long_sums sensitive_functions wide_products "
    "product_tiles unpack_hold"
).split()
CORE_SETTINGS = (
    "fidelity_phases fp32_dest sections capacity approx unpack_to_dst pack_precise source_rows other_tiles".split()
)


class ProgramLoader:
    """Loads programs into a chip's `arrays` (`tensim.sim.chip.arrays.MachineArrays`).

    `line_programs`: {first row in the line table: program}; `riscv`: the RISC-V cores' state, None before the first kernel
    that needs one.
    """

    def __init__(self, arch, arrays):
        self.arch, self._arrays = arch, arrays
        self.line_programs, self.riscv, self.coprocessors, self._kept = {}, None, None, {}
        self.l1_banks = None  # the worker of each L1 bank, or None: bank i is worker i
        self.barrier_periods = {}  # kernel -> of how many read barriers one waits
        self._rotated_banks = None  # the table of DRAM banks that each worker has, where experiments rotate them
        self._images = Images()
        self._loaded = np.zeros(
            len(arch.worker_coords), np.int64
        )  # number of the image last loaded there, 0 where it had none
        self._worker_coords, self._kernel_coords = np.array(arch.worker_coords), np.array(arch.kernel_coords)

    def load(self, launch, launch_slot, cycle, alone):
        """Make the threads of a program ready to start at `cycle`; it occupies `launch_slot`; `alone`: no other program runs.

        Returns (their indices, cycles from the start of the program to that of each), int64.
        """
        image = self._images.of(launch)
        if image is not None:
            if not alone:
                self._check_free(image.threads)
            image.load(launch_slot, cycle, (self._loaded[image.cores] != image.number).any())
            self._loaded[image.cores] = image.number
            self._kept[launch_slot] = [image]
            return image.threads, image.setup
        return self._load_anew(launch, launch_slot, cycle)

    def _load_anew(self, launch, launch_slot, cycle):
        self._check_launch(launch)
        for semaphore in launch.semaphores:
            self._arrays["semaphore_writers"][semaphore.cores, semaphore.id] = 0
            for core in semaphore.cores:
                address = self._arrays.semaphore_base + SEMAPHORE_STRIDE * semaphore.id
                self._arrays.l1[core, address : address + 4].view(np.uint32)[0] = semaphore.initial & 0xFFFFFFFF
        self._configure_circular_buffers(launch, cycle)
        self._loaded[_cores_of(launch)] = 0
        stride, texts = self._place_texts(launch)
        self._kept[launch_slot] = []
        parts = [self._prepare_kernel(launch, kernel, launch_slot, texts, stride) for kernel in launch.kernels]
        threads, *lines = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        self.reset_threads(threads, launch_slot, *lines)
        for kernel in launch.kernels if self.barrier_periods else ():
            mine = np.add.outer(np.multiply(kernel.cores, THREADS_PER_CORE), self._slots(kernel)).ravel()
            self._arrays["traffic"]["barrier_period"][mine] = self.barrier_periods.get(kernel.compiled.name, 0)
        setup = self._setup_cycles(launch, threads)
        if self._images.wants(launch):
            self._images.keep(launch, self._image(launch, threads, setup, launch_slot, texts, stride))
        return threads, setup

    def forget_images(self):
        """Load programs anew: what that writes is not what it was."""
        self._images = Images()

    def _image(self, launch, threads, setup, launch_slot, texts, stride):
        """The `ProgramImage` of a program that has just been loaded."""
        arrays, regions = self._arrays, []
        regions.append(rows_of(arrays["threads"], threads, THREAD_COUNTERS + THREAD_SETTINGS))
        regions += (rows_of(arrays[name], threads) for name in ("contexts", "traffic"))
        # Compute threads have no NoC bookkeeping
        regions.append(rows_of(arrays["noc_words"], threads[threads % THREADS_PER_CORE < FIRST_COMPUTE_SLOT]))
        for semaphore in launch.semaphores:
            cores = np.array(semaphore.cores, np.int64)
            writers = arrays["semaphore_writers"].reshape(-1, 2)
            regions.append(rows_of(writers, cores * arrays["semaphore_writers"].shape[1] + semaphore.id))
            regions.append(self._l1_regions(cores, arrays.semaphore_base + SEMAPHORE_STRIDE * semaphore.id, 4))
        for kernel in launch.kernels:
            regions += self._kernel_regions(kernel, texts, stride)
        buffers, own = arrays["circular_buffers"].reshape(-1, ctx.CB_WORDS), launch.buffer_rows
        regions.append(rows_of(buffers, own))
        cores = np.unique(np.concatenate([kernel.cores for kernel in launch.kernels]))
        whole = np.add.outer(cores * N_CIRCULAR_BUFFERS, np.arange(N_CIRCULAR_BUFFERS)).ravel()
        frames = [frame for frames, *_ in self._kept[launch_slot] for frame in frames]
        if frames:
            regions.append(
                (np.array([frame.ctypes.data for frame in frames]), np.array([one.nbytes for one in frames]))
            )
        left = [rows_of(buffers, np.setdiff1d(whole, own))]
        numbered, dated = (arrays["threads"]["launch"], threads), (buffers[:, ctx.CB_LEVEL_AT], own)
        return ProgramImage(regions, left, _cores_of(launch), threads, setup, self._kept[launch_slot], numbered, dated)

    def _kernel_regions(self, kernel, texts, stride):
        """What loading writes of a kernel, besides the rows of its threads."""
        cores, regions = np.array(kernel.cores, np.int64), []
        for slot in self._slots(kernel):
            unique_at = self._arrays.args_base + slot * stride
            for members, values in _by_length(kernel).values():
                regions.append(self._l1_regions(cores[members], unique_at, values.shape[1]))
            if kernel.compiled.is_riscv:
                program = kernel.compiled.on(slot)
                places = np.array([texts[core, slot] for core in kernel.cores], np.int64)
                regions.append(self._l1_regions(cores, places, len(program.image.text)))
                regions += self.riscv.regions(cores * THREADS_PER_CORE + slot)
        if kernel.slot is None:
            regions.append(rows_of(self._arrays["cores"], cores, CORE_COUNTERS + CORE_SETTINGS))
        return regions

    def _l1_regions(self, cores, addresses, size):
        return self._arrays.l1.ctypes.data + cores * self.arch.l1_size + addresses, np.full(len(cores), size)

    def _setup_cycles(self, launch, threads):
        """Cycles (int64 of each thread) from the start of a program to that of its threads.

        The BRISC starts the others, sets up the circular buffers of its core and begins its own kernel last
        (docs/hardware/dispatch.md#worker-side): in split_reader, with two, 27 to 46 cycles after the NCRISC's.
        """
        cores, slots = np.divmod(np.asarray(threads, np.int64), THREADS_PER_CORE)
        buffers = np.zeros(self._arrays.n_workers, np.int64)
        for cb in launch.circular_buffers:
            buffers[cb.cores] += 1
        per_buffer = self.arch["dispatch.cb_setup_ns"] * self.arch.clock_mhz / 1000
        return np.where(slots == BRISC, np.rint(buffers[cores] * per_buffer).astype(np.int64), 0)

    def keep(self, launch_slot, held):
        """Keep alive what the threads of a program point to until the slot is used again."""
        self._kept[launch_slot] = [held]

    def drop(self):
        """Keep nothing alive any more."""
        self._kept.clear()
        self.forget_images()

    def reset_threads(self, threads, slot, line_base, first, n_lines):
        """Make threads ready to start as a part of the program in `slot`; the rest may be of each."""
        table = self._arrays["threads"]
        rows = table[threads]  # a copy, of which whole columns are written at once
        for name in THREAD_COUNTERS:
            rows[name] = 0
        rows["launch"], rows["state"] = slot, st.RUNNING
        rows["line_base"], rows["first_line"], rows["line"], rows["n_lines"] = line_base, first, first, n_lines
        table[threads] = rows
        self._arrays["stalls"][threads] = 0
        self._arrays["traffic"][threads] = 0
        self._arrays["noc_words"][threads] = 0

    def _check_launch(self, launch):
        for kernel in launch.kernels:
            reason = kernel.compiled.loaded_data_reaches_control
            if self._arrays.numerics == "off" and reason:
                raise ProgramError(
                    f"kernel {kernel.compiled.name} cannot run with numerics=off: {reason}", hint="use numerics=fast"
                )
            self._check_free(np.add.outer(np.multiply(kernel.cores, THREADS_PER_CORE), self._slots(kernel)).ravel())

    def _check_free(self, threads):
        """SimulatorError when one of the threads runs."""
        states = self._arrays["threads"]["state"][threads]
        busy = (states == st.RUNNING) | (states == st.PARKED)
        if busy.any():
            core, slot = divmod(int(threads[busy][0]), THREADS_PER_CORE)
            raise SimulatorError(f"core {core} {THREAD_NAMES[slot]} is busy with another program")

    @staticmethod
    def _slots(kernel):
        return (kernel.slot,) if kernel.slot is not None else (TRISC0, TRISC0 + 1, TRISC0 + 2)

    def _configure_circular_buffers(self, launch, cycle):
        table, others = self._arrays["circular_buffers"], self._arrays["cores"]["other_tiles"]
        for core in {core for kernel in launch.kernels for core in kernel.cores}:
            table[core] = 0
            others[core] = 0
        for cb in launch.circular_buffers:
            datums = math.prod(cb.tile)
            tile = tile_size(cb.data_format) * datums // TILE_DATUMS
            row = np.zeros(ctx.CB_WORDS, np.int64)
            row[ctx.CB_PAGES], row[ctx.CB_PAGE_SIZE] = cb.size // cb.page_size, cb.page_size
            row[ctx.CB_BASE], row[ctx.CB_SIZE], row[ctx.CB_FORMAT] = cb.address, cb.size, cb.data_format
            row[ctx.CB_LEVEL_AT] = cycle
            row[ctx.CB_LEVEL_SCALE] = (ctx.CB_LEVELS - 1) * ctx.CB_LEVEL_ONE // row[ctx.CB_PAGES]
            row[ctx.CB_WRITE_PTR] = row[ctx.CB_READ_PTR] = cb.address
            row[ctx.CB_OWN_POINTERS : ctx.CB_OWN_POINTERS + 2 * FIRST_COMPUTE_SLOT] = cb.address
            row[ctx.CB_TILE_SIZE], row[ctx.CB_TILE_HW], row[ctx.CB_FACES] = (
                tile,
                datums,
                max(datums // FACE_DATUMS, 1),
            )
            for core in cb.cores:
                table[core, cb.index] = row
            if cb.tile not in OPERATION_TILES:
                others[cb.cores] |= 1 << cb.index

    def _place_texts(self, launch):
        """(bytes of L1 for the runtime arguments of each thread, {(worker, slot): address of its RISC-V kernel's code}).

        Code that leaves no room for the usual number of arguments stands behind those that there are: the vendor's library has
        kernels that fill its kernel-configuration space but for a few words of arguments.
        """
        kernels, stride = [kernel for kernel in launch.kernels if kernel.compiled.is_riscv], _args_stride(launch)
        if not kernels:
            return stride, {}
        if self.riscv is None:
            n_threads = self._arrays.n_workers * THREADS_PER_CORE
            self.riscv = RiscvCores(self.arch, self._arrays.l1, n_threads, self._arrays.semaphore_base, self.l1_banks)
        if self.coprocessors is None and any(kernel.compiled.executes for kernel in kernels):
            from tensim.sim.chip.coprocessors import Coprocessors

            self.coprocessors = Coprocessors(self.arch, self._arrays, self._arrays.semaphore_base)
        try:
            return stride, self._texts_behind(kernels, stride)
        except ProgramError:
            stride = _args_stride(launch, ICACHE_LINE)
            return stride, self._texts_behind(kernels, stride)

    def _texts_behind(self, kernels, stride):
        return self.riscv.place_texts(kernels, self._slots, self._arrays.args_base + THREADS_PER_CORE * stride)

    def _prepare_kernel(self, launch, kernel, launch_slot, texts, stride):
        """(threads, core by core, then for each what `reset_threads` wants of its lines)."""
        compile_args = np.array([*kernel.compile_args, 0], np.int64)
        cores, slots = np.array(kernel.cores, np.int64), self._slots(kernel)
        words = self._core_words(launch, cores, self._common_words(kernel, compile_args))
        args, table, frames, lines = _by_length(kernel), self._arrays["threads"], [], []
        for slot in slots:
            threads, program = cores * THREADS_PER_CORE + slot, kernel.compiled.on(slot)
            self._write_contexts(slot, threads, words, args, stride)
            table["executes"][threads] = executes = kernel.compiled.is_riscv and kernel.compiled.executes
            if kernel.compiled.is_riscv:
                contexts = self._arrays["contexts"]
                if executes:
                    tables = np.array([texts[core, FIRST_COMPUTE_SLOT] for core in kernel.cores], np.int64)
                    function, state = self.coprocessors.prepare(slot, threads, program, tables, contexts)
                else:
                    places = np.array([texts[core, slot] for core in kernel.cores], np.int64)
                    function, state = self.riscv.prepare(slot, threads, program, places, contexts, stride)
                table["function"][threads], table["riscv"][threads] = function, state
            else:
                made = [program.code.frame(context) for context in table["context"][threads].tolist()]
                table["function"][threads], table["riscv"][threads] = program.code.address, 0
                table["frame"][threads] = [frame.ctypes.data for frame in made]
                frames += made
            lines.append((self._line_region(program), program.first_row, program.n_rows))
        if kernel.slot is None:
            self._configure_compute(cores, kernel.compute)
        self._kept[launch_slot].append((frames, compile_args, kernel.compiled))
        threads = (cores[:, None] * THREADS_PER_CORE + np.array(slots)).ravel()
        return threads, *np.tile(np.array(lines).T, len(cores))

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
        words[ctx.CHECKED] = self._arrays.machine["checker_at"] != 0
        words[ctx.MAX_BURST] = self._arrays.machine["max_packet"]
        for word, key in COST_WORDS.items():
            words[word] = arch[key]
        words[ctx.ICACHE_LINES] = arch["riscv.icache_bytes"] // ICACHE_LINE
        return words

    def rotate_banks(self):
        """Let DRAM bank b of worker i be bank b + i, modulo their number, in programs from now on."""
        table = self._arrays.dram_bank_addresses
        self.forget_images()
        self._rotated_banks = [
            np.ascontiguousarray(np.roll(table, -worker, axis=1)) for worker in range(self._arrays.n_workers)
        ]

    def _core_words(self, launch, cores, common_words):
        """The context block of each core as far as it is the same for all threads that a kernel has there."""
        words, machine, (x0, y0) = (
            common_words[None].repeat(len(cores), 0),
            self._arrays.machine,
            launch.sub_device_origin,
        )
        words[:, ctx.L1] = int(machine["l1_at"]) + cores * self.arch.l1_size
        words[:, [ctx.MY_X, ctx.MY_Y]] = self._worker_coords[cores]
        words[:, [ctx.KERNEL_X, ctx.KERNEL_Y]] = self._kernel_coords[cores]
        logical_y, logical_x = np.divmod(cores, self.arch.grid[0])
        words[:, ctx.LOGICAL_X], words[:, ctx.LOGICAL_Y] = logical_x, logical_y
        words[:, ctx.RELATIVE_X], words[:, ctx.RELATIVE_Y] = logical_x - x0, logical_y - y0
        words[:, ctx.CORE] = cores
        words[:, ctx.CBS] = int(machine["circular_buffers_at"]) + cores * CB_TABLE_BYTES
        if self._rotated_banks is not None:
            words[:, ctx.DRAM_BANKS] = [self._rotated_banks[core].ctypes.data for core in cores.tolist()]
        return words

    def _write_contexts(self, slot, threads, words, args, stride):
        """The context blocks of a kernel's threads in a slot, and their arguments in L1; `args`: see `_by_length`."""
        unique_at = self._arrays.args_base + slot * stride
        words[:, ctx.ARGS], words[:, ctx.L1_ARGS] = words[:, ctx.L1] + unique_at, unique_at
        for n_unique, (members, values) in args.items():
            cores, common_at = words[members, ctx.CORE], unique_at + 4 * n_unique
            self._arrays.l1[cores, unique_at : unique_at + values.shape[1]] = values
            words[members, ctx.N_ARGS], words[members, ctx.L1_COMMON_ARGS] = n_unique, common_at
            words[members, ctx.COMMON_ARGS] = words[members, ctx.L1] + common_at
        words[:, ctx.ROLE], words[:, ctx.THREAD] = int(ROLES[slot]), threads
        words[:, ctx.POINTERS] = ctx.CB_WRITE_PTR if slot >= FIRST_COMPUTE_SLOT else ctx.CB_OWN_POINTERS + 2 * slot
        self._arrays["contexts"][threads] = words

    def _configure_compute(self, cores, compute):
        table = self._arrays["cores"]
        sections = 1 if compute.dst_full_sync_en else 2
        tiles = self.arch["tensix.dst.tiles32" if compute.fp32_dest_acc_en else "tensix.dst.tiles16"]
        if tiles == 0:
            raise UsageError(f"{self.arch.name} has no 32-bit Dst (fp32_dest_acc_en)")
        to_dst = compute.unpack_to_dest_mode[:N_CIRCULAR_BUFFERS]
        settings = {
            "fidelity_phases": FIDELITY_PHASES[compute.math_fidelity], "fp32_dest": compute.fp32_dest_acc_en,
            "sections": sections, "capacity": tiles // sections, "approx": compute.math_approx_mode,
            "unpack_to_dst": sum(1 << index for index, mode in enumerate(to_dst) if mode),
            "pack_precise": compute.bfp8_pack_precise, "source_rows": TILE_SIDE,
        }  # fmt: skip
        for name, value in (settings | dict.fromkeys(CORE_COUNTERS, 0)).items():
            table[name][cores] = value

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


def _cores_of(launch):
    """Workers on which a program has kernels or circular buffers."""
    return sorted({core for one in (*launch.kernels, *launch.circular_buffers) for core in one.cores})


def _args_stride(launch, least=ARGS_STRIDE):
    """Bytes of L1 for the runtime arguments of each thread of a core, at least as many as given.

    The vendor's library bounds them by its kernel-configuration space alone, so a program of its may have more than the usual room.
    """
    most = (max(map(len, kernel.args.values()), default=0) + len(kernel.common_args) for kernel in launch.kernels)
    return max(least, -(-4 * max(most, default=0) // ICACHE_LINE) * ICACHE_LINE)


def _by_length(kernel):
    """{number of a core's unique runtime arguments: (places of such cores in `kernel.cores`, the bytes of their arguments)}.

    The common arguments follow the unique ones.
    """
    groups, common = {}, kernel.common_args
    for place, core in enumerate(kernel.cores):
        groups.setdefault(len(kernel.args.get(core, ())), []).append(place)
    result = {}
    for number, places in groups.items():
        rows = [[value & 0xFFFFFFFF for value in (*kernel.args.get(kernel.cores[i], ()), *common)] for i in places]
        result[number] = np.array(places), np.array(rows, np.uint32).reshape(len(places), -1).view(np.uint8)
    return result
